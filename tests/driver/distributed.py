#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs commands of the driver on ranks and checks that they answer what a run without ranks does.

    distributed.py DRIVER EDGES MPIEXEC FLAG...    the last flag takes the number of ranks
"""
import json
import os
import subprocess
import sys

import checks
from checks import check


def on_ranks(mpiexec, ranks, driver, *words):
    return subprocess.run([*mpiexec, str(ranks), driver, *map(str, words)], capture_output=True, text=True, check=False,
                          env={**os.environ, "OMP_PROC_BIND": "false"}, timeout=100)


def result(mpiexec, ranks, driver, *words):
    done = on_ranks(mpiexec, ranks, driver, *words, "--distributed", "--json")
    check(f"{words} on {ranks}: exit code", done.returncode, 0)
    return json.loads(done.stdout) if done.returncode == 0 else None


def searches(mpiexec, driver, edges):
    for graph in ("kron:scale=12,ef=8", "uniform:scale=10,ef=4", "grid:20x30,drop=0.2", edges):
        words = ["bfs", graph, "--sources", 3, "--reps", 1, "--parents", "--validate"]
        alone = checks.result(driver, *words)
        for ranks in (1, 3):
            seen = result(mpiexec, ranks, driver, *words)
            if seen is None or alone is None:
                continue
            for name in ("vertices", "edges", "undirected", "without_edges", "wrong"):
                check(f"{graph} on {ranks}: {name}", seen[name], alone[name])
            for a, b in zip(alone["searches"], seen["searches"]):
                for name in ("source", "reached", "reached_edges", "levels", "depth", "sum_distance"):
                    check(f"{graph} on {ranks}: {name}", b[name], a[name])
            check(f"{graph}: ranks", seen["ranks"]["count"], ranks)
            check(f"{graph}: each rank tells", [len(s["bytes_sent"]) for s in seen["ranks"]["searches"]], 3 * [ranks])


def tables(mpiexec, driver):
    for ranks in (1, 3):
        seen = result(mpiexec, ranks, driver, "hash", "--keys", 20000, "--reps", 2)
        for r in seen["results"] if seen else []:
            check(f"hash, {r['operation']}: wrong", r["wrong"], 0)
            check(f"hash, {r['operation']}: seconds of each rank", [len(s) for s in r["seconds"]], 2 * [ranks])


def refused(mpiexec, driver):
    for words, what in ((["bfs", "kron:scale=5", "--source", 32], "the graph has 32"),
                        (["bfs", "no such file"], "no such file"),
                        (["bfs", "kron:scale=5", "--baseline"], "--baseline does not apply"),
                        (["hash", "--key-bytes", 8], "keys of 4 bytes")):
        done = on_ranks(mpiexec, 2, driver, *words, "--distributed")
        check(f"{words}: fails", done.returncode != 0, True)
        check(f"{words}: says why", what in done.stderr, True)


def main(driver, edges, *mpiexec):
    searches(mpiexec, driver, edges)
    tables(mpiexec, driver)
    refused(mpiexec, driver)
    shown = on_ranks(mpiexec, 2, driver, "bfs", edges, "--distributed").stdout
    check("the first rank alone prints", shown.count("2 ranks"), 1)
    return checks.verdict("--distributed")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
