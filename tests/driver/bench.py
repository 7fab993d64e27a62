#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark binaries on small inputs: every benchmark has a time and a name of its own.

    bench.py BINARY...
"""
import json
import subprocess
import sys
from pathlib import Path

import checks
from checks import check

KEYS = "2^10"
# For each binary: counters that every result has, the first components of the names, and words that some name contains.
EXPECTED = {
    "hash_map": (["G/s", "of_ceiling"], {"insert", "find", "miss", "half", "erase", "insert_or_apply"}, ["karpos::hash_map", "Kokkos::UnorderedMap"]),
    "ceilings": (["G/s", "GB/s"], {"random_read", "random_cas_8", "random_cas_16", "copy"}, ["bytes:16384"]),
    "mixed": (["G/s", "of_random_read"], {"mixed"}, ["karpos::hopscotch_map", "karpos::hash_map", "mix:20,20,60", "mix:40,40,20"]),
    "bfs": (["GTEPS"], {"search"}, ["karpos::bfs auto/kron:scale=10", "karpos::bfs top-down/uniform", "karpos::bfs beamer/grid:32x32", "baseline/"]),
    "paths": ([], {"paths", "components"}, ["karpos::sssp/kron:scale=10", "karpos::bfs/grid:32x32", "karpos::connected_components/uniform", "label propagation/"]),
    "top_k": ([], {"query"}, ["karpos::top_k exact/uniform:m=1024", "karpos::top_k set/zipf", "full/correlated", "nra/anticorrelated", "lara/"]),
}
CANNOT = ("this map cannot erase", "this map has no reduction by key")


def run(binary, *words):
    return subprocess.run([binary, *words], capture_output=True, text=True, check=False, timeout=300)


def good_input(binary, name):
    counters, kinds, words = EXPECTED[name]
    done = run(binary, f"--keys={KEYS}", "--benchmark_min_time=0.001", "--benchmark_format=json")
    check(f"{name}: exit code", done.returncode, 0)
    if done.returncode != 0:
        return
    results = json.loads(done.stdout)["benchmarks"]
    errors = {r["error_message"] for r in results if r.get("error_occurred")}
    check(f"{name}: errors", errors - set(CANNOT), set())
    good = [r for r in results if not r.get("error_occurred")]
    names = [r["name"] for r in results]
    check(f"{name}: names are distinct", len(set(names)), len(names))
    check(f"{name}: kinds", {n.split("/")[0] for n in names}, kinds)
    for word in words:
        check(f"{name}: some name has '{word}'", any(word in n for n in names), True)
    for r in good:
        check(f"{name}, {r['name']}: time", r["real_time"] > 0, True)
        for counter in counters:
            check(f"{name}, {r['name']}: {counter}", r.get(counter, 0) > 0, True)


def main():
    for binary in sys.argv[1:]:
        name = Path(binary).name[len("karpos_bench_"):]
        good_input(binary, name)
        check(f"{name}: unknown option", run(binary, "--nonsense").returncode != 0, True)
        check(f"{name}: no count", run(binary, "--keys=x").returncode, 2)
    print(f"{checks.failures} failures" if checks.failures else "every benchmark runs")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
