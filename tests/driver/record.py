#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs perf/measure/record_cpu.sh on small inputs, and perf/measure/gap and perf/measure/machine on invented ones.

    record.py PERF DRIVER     PERF: the folder perf/; DRIVER: the program karpos
"""
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from checks import check

PARTS = {"hash": ["targets-large", "load-4-0.8", "size-4-16"], "mixed": ["mixed-hopscotch-20-20-60", "mixed-hash-40-40-20"],
         "cuckoo": ["cuckoo-dense-1e4"], "bfs": ["bfs-kron-scale-12-ef-16", "bfs-uniform-scale-12-ef-16", "bfs-grid"],
         "topk": ["topk-set-anticorrelated-1e4", "topk-fixed-uniform-1e3"]}
ONE_THREAD = ["targets-large", "targets-medium", "topk-exact-uniform-1e3", "topk-set-uniform-1e4"]
GAP = """#!/bin/sh
echo "$@" > "$(dirname "$0")/words"
echo 'Graph has 4096 nodes and 48386 undirected edges for degree: 11'
for t in 0.50000 0.00200 0.00200 0.00400; do echo "Trial Time:          $t"; done
echo 'Average Time:        0.1'
"""


def run(*words, **changes):
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_PROC_BIND": "false", "KARPOS_QUICK": "1", **changes}
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env=quiet)


def fake_gap(folder):
    folder.mkdir()
    program = folder / "bfs"
    program.write_text(GAP, encoding="ascii")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


def all_parts(perf, driver, folder):
    processors = len(os.sched_getaffinity(0))
    done = run(perf / "measure/record_cpu.sh", Path(driver).parent, folder / "out", THREADS=f"1 2 {processors + 1}", GAPBS=fake_gap(folder / "gap"))
    check(f"record: exit code; {done.stderr[-300:]}", (done.returncode, done.stdout), (0, ""))
    check("record: more threads than processors", f"{processors + 1} threads are left out: there are {processors}" in done.stderr, True)
    if done.returncode != 0 or processors < 2:
        return
    out = {threads: folder / "out" / f"{threads}-threads" for threads in (1, 2)}
    names = {threads: {file.stem for file in out[threads].glob("*.json")} for threads in out}
    expected = {name for part in PARTS.values() for name in part} | {"info", "noise-1", "noise-6"}
    check("record: files of two threads", expected - names[2], set())
    check("record: files of one thread", set(ONE_THREAD) - names[1], set())
    check("record: folders", sorted(path.name for path in (folder / "out").iterdir()), ["1-threads", "2-threads"])
    for threads, where in out.items():
        for file in where.glob("*.json"):
            value = json.loads(file.read_text(encoding="utf-8"))
            check(f"{where.name}/{file.name}: threads", value.get("context", value)["concurrency"], threads)
            wrong = [r["wrong"] for r in value.get("results", []) + value.get("peers", []) if "wrong" in r]
            check(f"{where.name}/{file.name}: wrong", sum(wrong) + value.get("wrong", 0), 0)
            if value.get("format") == "karpos-hash-1":
                check(f"{where.name}/{file.name}: ceilings", {c["name"] for c in value["ceilings"]} >= {"random_read", "random_cas"}, True)
    kron = json.loads((out[2] / "bfs-kron-scale-12-ef-16.json").read_text(encoding="utf-8"))
    check("record: GAP", [p["peer"] for p in kron["peers"]], ["GAP"])
    described(out[2])


def described(folder):
    text = (folder / "machine.md").read_text(encoding="utf-8")
    for word in ("| flags |", "| compiler |", "Model name", "| OMP_NUM_THREADS | `2` |", "| karpos bfs |", "| karpos hash |", "karpos::hash_map find hits | 6 |"):
        check(f"machine.md says '{word}'", word in text, True)


def wrong_words(perf, driver, folder):
    build = Path(driver).parent
    cases = [([folder], {}, "no driver karpos in"), ([build, folder / "x", "hash"], {"THREADS": "4096"}, "nothing was measured"), ([], {}, "usage")]
    for words, changes, named in cases:
        done = run(perf / "measure/record_cpu.sh", *words, **changes)
        check(f"record {words}: '{done.stderr.strip()}'", (done.returncode != 0, named in done.stderr), (True, True))


def gap(perf, folder):
    suite = fake_gap(folder / "suite")
    result = folder / "bfs.json"
    made = {"format": "karpos-bfs-1", "parameters": {"graph": "uniform:scale=20,ef=16,seed=1,permute=0"}, "peers": [{"peer": "GAP"}, {"peer": "x"}]}
    result.write_text(json.dumps(made), encoding="ascii")
    check("gap: exit code and complaints", (lambda d: (d.returncode, d.stderr))(run(perf / "measure/gap", suite, result)), (0, ""))
    peers = json.loads(result.read_text(encoding="utf-8"))["peers"]
    check("gap: peers", [p["peer"] for p in peers], ["x", "GAP"])
    check("gap: options", (suite / "words").read_text(encoding="ascii").split(), ["-u", "20", "-k", "16", "-n", "65"])
    check("gap: without the first", peers[1]["all_seconds"], [0.002, 0.002, 0.004])
    check("gap: rate", round(peers[1]["harmonic_mean_gteps"] * 1e9 * 0.008 / 3), 2 * 48386)
    for graph, named in (("grid:4x4,drop=0", "no graph like grid"), ("a.txt", "no graph like a.txt")):
        made["parameters"]["graph"] = graph
        result.write_text(json.dumps(made), encoding="ascii")
        done = run(perf / "measure/gap", suite, result)
        check(f"gap {graph}: '{done.stderr.strip()}'", (done.returncode, done.stderr.count("\n"), named in done.stderr), (1, 1, True))


def spread_and_drift(perf, folder):
    """Readings of 1, 2 and 4 ms have a spread of (1/1 - 1/4) / (1/2); noise of 1 and 3 ms is a drift of 200 %."""
    def result(*seconds):
        return {"format": "karpos-hash-1", "context": {"device": "x"}, "ceilings": [],
                "parameters": {"keys": 1, "load": 0.5, "key_bytes": 4, "miss": 0.5, "table_bytes": 1},
                "results": [{"map": "m", "operation": "insert", "operations": 1, "ceiling": "c", "of_ceiling": 1, "seconds": {"all": list(seconds)}}]}
    where = folder / "made"
    where.mkdir()
    (where / "info.json").write_text('{"flags": "-O9", "compiler": "c"}', encoding="ascii")
    for name, value in (("a", result(1e-3, 2e-3, 4e-3)), ("b", result(1, 2)), ("noise-1", result(1e-3)), ("noise-2", result(3e-3))):
        (where / f"{name}.json").write_text(json.dumps(value), encoding="ascii")
    done = run(perf / "measure/machine", where)
    check("machine: exit code and complaints", (done.returncode, done.stderr), (0, ""))
    for line in ("| karpos hash | 1 | 150.0% | 150.0% | 150.0% |", "| m insert | 2 | 200.0% |", "| flags | `-O9` |"):
        check(f"machine says '{line}'", line in done.stdout.splitlines(), True)


def main():
    perf, driver = Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        gap(perf, Path(folder))
        spread_and_drift(perf, Path(folder))
        wrong_words(perf, driver, Path(folder))
        all_parts(perf, driver, Path(folder))
    print(f"{checks.failures} failures" if checks.failures else "record_cpu.sh records")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
