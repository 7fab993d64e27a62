#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs perf/measure/portability on invented results whose table is known, and on the recorded ones.

    portability.py PERF     PERF: the folder perf/, with results/*/*.json
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

import checks
from checks import check


def run(perf, *words):
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, perf / "measure/portability", *map(str, words)], capture_output=True, text=True, check=False, env=quiet)


def context(device, threads):
    return {"device": device, "backend": "OpenMP" if threads else "Cuda", "concurrency": threads or 270336}


def hash_run(where, rates, keys=1000, load=0.5, reads=100.0, **changes):
    """Rates of insert, hits, misses; the ceilings are `reads`, and half as many compare-and-swaps."""
    results = [{"map": "karpos::hash_map", "operation": o, "rate": r, "ceiling": "random_cas" if o == "insert" else "random_read"}
               for o, r in zip(("insert", "find hits", "find misses"), rates)]
    other = [{"map": "peer", "operation": "insert", "rate": 1, "ceiling": "random_cas"}]
    ceilings = [{"name": "random_read", "rate": reads}, {"name": "random_cas", "rate": reads / 2}]
    return {"format": "karpos-hash-1", "context": where, "parameters": {"keys": keys, "load": load, "key_bytes": 4},
            "ceilings": ceilings, "results": other + results, **changes}


def bfs_run(where, gteps, peers, **changes):
    p = {"graph": "kron:scale=22,ef=16,seed=1,permute=1", "direction": "auto", "queue": "collected", "degree_classes": True,
         "hub_cache": False, "unvisited_queue": False, "launches": False, "parents": False, "directed": False, **changes}
    return {"format": "karpos-bfs-1", "context": where, "parameters": p, "harmonic_mean_gteps": gteps, "over_baseline": 300,
            "peers": [{"peer": name, "harmonic_mean_gteps": g} for name, g in peers]}


def mixed_run(where, rate):
    results = [{"map": "karpos::hopscotch_map", "operation": "mixed", "rate": rate}]
    ceilings = [{"name": "random_read", "rate": 100.0}, {"name": "random_cas", "rate": 50.0}]
    return {"format": "karpos-mixed-1", "context": where, "parameters": {"keys": 9, "load": 0.8, "key_bytes": 4, "mix": [20, 20, 60]},
            "ceilings": ceilings, "results": results}


def topk_run(where, over):
    p = {"scores": "uniform:m=10000000,n=4", "k": 100, "result": "set", "stride": "adaptive"}
    return {"format": "karpos-topk-1", "context": where, "parameters": p,
            "peers": [{"peer": "full", "over_karpos": over}, {"peer": "nra", "skipped": "why"}, {"peer": "lara", "over_karpos": 9}]}


def write(folder, runs):
    folder.mkdir(parents=True)
    for i, value in enumerate(runs):
        (folder / f"{i}.json").write_text(json.dumps(value), encoding="ascii")
    (folder / "info.json").write_text('{"version": "0"}', encoding="ascii")
    return folder


def rows_of(done):
    """The cells of each row by its first one."""
    lines = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    return {cells[0]: cells[1:] for cells in lines}


def known_table(perf, folder):
    gpu, cpu = context("GPU", 0), context("CPU", 16)
    a = write(folder / "a", [hash_run(gpu, (40, 80, 60)), bfs_run(gpu, 20, [("GAP", 10), ("other", 16)]), topk_run(gpu, 2.5)])
    b = write(folder / "b", [
        hash_run(cpu, (20, 40, 30), keys=1000), hash_run(cpu, (9, 9, 9), keys=100),  # the smaller table does not count
        hash_run(cpu, (1, 1, 1), load=0.8), bfs_run(cpu, 10, [("GAP", 20)]), bfs_run(cpu, 1, [("GAP", 20)], direction="top-down"),
        topk_run(context("CPU", 1), 7), topk_run(cpu, 0.5)])  # of two numbers of threads the larger
    done = run(perf, "--svg", folder / "p.svg", a, b, "--graph", "kron", "--scores", "uniform")
    check("known table: exit code and complaints", (done.returncode, done.stderr), (0, ""))
    check("known table", rows_of(done), {
        "operation": ["part of", "a", "b", "Pennycook's metric"],
        "insert, load 0.5": ["ceiling", "0.80", "0.40", "0.53"],
        "find hits, load 0.5": ["ceiling", "0.80", "0.40", "0.53"],
        "find misses, load 0.5": ["ceiling", "0.60", "0.30", "0.40"],
        "bfs kron": ["best peer", "1.00 (1.25x other)", "0.50 (0.5x GAP)", "0.67"],
        "top_k uniform": ["best peer", "1.00 (2.5x full)", "0.50 (0.5x full)", "0.67"]})
    for line in ("- a: GPU", "- b: CPU, 16 threads"):
        check(f"known table: '{line}'", line in done.stdout.splitlines(), True)
    picture = xml.etree.ElementTree.parse(folder / "p.svg").getroot()
    words = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}text")]
    check("picture", {"a", "b", "insert, load 0.5", "bfs kron", "0.53", "0.67"} - set(words), set())
    fast = write(folder / "c", [hash_run(gpu, (60, 80, 60)), bfs_run(gpu, 9, [("GAP", 10)], graph="kron:scale=22,ef=160")])
    rows = rows_of(run(perf, fast, "--graph", "kron:scale=22,ef=16"))
    check("above a ceiling", rows["insert, load 0.5"][1:], ["1.00 (1.2x random_cas)", "1.00"])
    check("another edge factor", rows["bfs kron:scale=22,ef=16"][1:], ["0 (no result)", "0.00"])
    cuckoo = hash_run(cpu, (10, 20, 30), load=0.7)
    for result in cuckoo["results"]:
        result["map"] = "karpos::cuckoo_map two_level"
    rows = rows_of(run(perf, a, write(folder / "d", [mixed_run(cpu, 50), cuckoo])))
    check("mixed: 0.4 compare-and-swaps and 0.6 reads", rows["hopscotch_map: mixed 20-20-60"], ["ceilings", "0 (no result)", "0.70", "0.00"])
    check("cuckoo_map", rows["cuckoo_map two_level: find misses, load 0.7"], ["ceiling", "0 (no result)", "0.30", "0.00"])
    check("rows that nobody has", [name for name in rows if "dense" in name or name.startswith("hash_map")], [])
    check("another load", rows_of(run(perf, a, b, "--load", 0.8))["insert, load 0.8"][1:], ["0 (no result)", "0.02", "0.00"])


def what_is_not_there(perf, folder):
    """The metric is 0 if a machine lacks the operation; it is unknown if a run lacks its bound."""
    cpu = context("CPU", 2)
    full = write(folder / "full", [hash_run(cpu, (40, 80, 60)), bfs_run(cpu, 20, [("GAP", 10)]), topk_run(cpu, 2.5)])
    none = write(folder / "none", [hash_run(cpu, (40, 80, 60), ceilings=[{"name": "random_cas", "rate": 50}]), bfs_run(cpu, 20, [])])
    rows = rows_of(run(perf, full, none, "--graph", "kron", "--scores", "uniform"))
    check("a ceiling that lacks", rows["find hits, load 0.5"][2:], ["no ceiling random_read in the run", "not known"])
    check("the other ceiling", rows["insert, load 0.5"][2:], ["0.80", "0.80"])
    check("a peer that lacks", rows["bfs kron"][2:], ["no peer in the run", "not known"])
    check("an operation that lacks", rows["top_k uniform"][2:], ["0 (no result)", "0.00"])
    other = write(folder / "other" / "full", [hash_run(cpu, (40, 80, 60))])
    check("folders of one name", rows_of(run(perf, full, other))["operation"][1:3], [f"{folder.name}/full", "other/full"])
    threads = write(folder / "cpu" / "16-threads", [hash_run(cpu, (40, 80, 60))])
    check("the folder of a number of threads", rows_of(run(perf, threads))["operation"][1], "cpu/16-threads")
    empty = folder / "empty"
    empty.mkdir()
    broken = write(folder / "broken", [{"format": "karpos-topk-1", "parameters": topk_run(cpu, 1)["parameters"], "peers": []}])
    (folder / "text").mkdir()
    (folder / "text" / "x.json").write_text("no", encoding="ascii")
    for where, named in ((empty, "holds no results"), (folder / "text", "is no JSON"), (broken, "has no 'context'")):
        done = run(perf, full, where)
        check(f"{where}: '{done.stderr.strip()}'", (done.returncode, done.stdout, done.stderr.count("\n"), named in done.stderr), (1, "", 1, True))


def recorded(perf):
    done = run(perf, perf / "results" / "h200", perf / "results" / "cpu")
    check("recorded: exit code and complaints", (done.returncode, done.stderr), (0, ""))
    for name, cells in list(rows_of(done).items())[1:4]:
        for part in cells[1:3]:
            check(f"recorded: {name} has a fraction {part}", 0 < float(part) <= 1, True)


def main():
    perf = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        known_table(perf, Path(folder) / "known")
        what_is_not_there(perf, Path(folder) / "lacks")
    recorded(perf)
    print(f"{checks.failures} failures" if checks.failures else "portability says what results hold")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
