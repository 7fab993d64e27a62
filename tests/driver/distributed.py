#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs commands of the driver on ranks and checks that they answer what a run without ranks does.

    distributed.py DRIVER EDGES MPIEXEC FLAG...    the last flag takes the number of ranks
"""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import checks
from checks import check


def on_ranks(mpiexec, ranks, driver, *words):
    return subprocess.run([*mpiexec, str(ranks), driver, *map(str, words)], capture_output=True, text=True, check=False,
                          env={**os.environ, "OMP_PROC_BIND": "false"}, timeout=100)


def result(mpiexec, ranks, driver, *words):
    done = on_ranks(mpiexec, ranks, driver, *words, "--distributed", "--json")
    check(f"{words} on {ranks}: exit code", done.returncode, 0)
    return json.loads(done.stdout) if done.returncode == 0 else None


def searches(mpiexec, driver, graph):
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
        check(f"{graph} on {ranks}: the clock", seen["parameters"]["timing"], "clock of the slowest rank, after a barrier")
        permuted = result(mpiexec, ranks, driver, *words, "--permute")
        for a, b in zip(alone["searches"], permuted["searches"]):
            for name in ("source", "reached", "reached_edges", "levels", "depth", "sum_distance"):
                check(f"{graph} permuted, on {ranks}: {name}", b[name], a[name])
        check(f"{graph} permuted, on {ranks}: wrong", (permuted["wrong"], permuted["ranks"]["permuted"]), (0, True))
        one, other = (result(mpiexec, ranks, driver, "bfs", graph, "--reps", 1, *w) for w in ([], ["--permute"]))
        check(f"{graph} permuted, on {ranks}: first source", *(tuple(x[n] for n in ("source", "reached", "sum_distance")) for x in (one, other)))
        check(f"{graph}: each rank reports", [len(s["bytes_sent"]) for s in seen["ranks"]["searches"]], 3 * [ranks])


def tables(mpiexec, driver):
    for ranks in (1, 3):
        seen = result(mpiexec, ranks, driver, "hash", "--keys", 20000, "--reps", 2)
        for r in seen["results"] if seen else []:
            check(f"hash, {r['operation']}: wrong", r["wrong"], 0)
            check(f"hash, {r['operation']}: seconds of each rank", [len(s) for s in r["seconds"]], 2 * [ranks])


# Tables with: byte ranges of ranks without a beginning of a line, no newline at the end, fewer lines than ranks, values that are
# sentinels of a table, words with quotes, ties.
LONG = "7" * 19 + " " + "8" * 19
TABLES = {
    "numbers": "".join(f"{i * i % 37} {i % 5}\n" for i in range(400)),
    "no newline at the end": "1 2\n2 3\n3 1",
    "one line": "5 5",
    "two lines": "5 6\n6 5\n",
    "a line longer than a part": f"1 2\n{LONG}\n3 4\n",
    "a long line at the end": f"1 2\n{LONG}",
    "the largest numbers": "".join(f"{2**64 - 1 - i % 4} {i % 2}\n" for i in range(50)),
    "blank lines and comments": "# begin\n\n1 2\n\n# middle\n2 1\n\n\n",
    "words": "name,city\n" + "".join(f"n{i % 7},\"c, {i % 3}\"\n" for i in range(100)),
    "doubled quotes": "name,n\n" + "".join(f'"say ""{i % 4}""",{i}\n' for i in range(30)),
    "Windows ends": "a,b\r\n1,2\r\n2,2\r\n",
    "a header alone": "a,b\n",
    "signed integers": "".join(f"{i % 7 - 3} {i % 2}\n" for i in range(60)),
    "a word on the last line": "".join(f"{i % 7} 0{i % 2}\n" for i in range(60)) + "x 1\n",
    "ways to write a number": "a,b\n" + "".join(f"{i % 3},{i % 3}.0\n0.{i % 3}e1,\n" for i in range(30)),
    "integers beyond 64 bits": "".join(f"{10**25 + i % 3} 0{10**25}\n" for i in range(20)),
    "fields of several lines": "a,b\n" + "".join(f'"x\n""{i % 3}"",\n\n",{i % 2}\n{i % 4},"\n{i % 2}"\n' for i in range(40)),
    "a line that is longer than parts": 'a,b\n1,2\n"' + "x,1\n" * 50 + '",3\n4,5\n',
    "a matrix": "%%MatrixMarket matrix coordinate pattern general\n9 9 4\n1 2\n2 9\n9 1\n3 3\n",
}


def counts(mpiexec, driver, what, text):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.txt"
        file.write_text(text, encoding="utf-8", newline="")
        for top, all_ranks in ((1000, (1, 2, 7) if "line" in what else (2, 3)), (2, (3,) if len(text) > 400 else ())):
            words = ["count", file, "--top", top]
            alone = checks.result(driver, *words)
            for ranks in all_ranks:
                seen = result(mpiexec, ranks, driver, *words)
                for name in ("lines", "values", "distinct", "top", "columns", "names", "numeric", "compared"):
                    check(f"count, {what} on {ranks}: {name}", seen and seen[name], alone and alone[name])
                if seen:
                    check(f"count, {what} on {ranks}: lines of ranks", (len(seen["ranks"]["lines"]), sum(seen["ranks"]["lines"])), (ranks, alone["lines"]))


def counts_refused(mpiexec, driver, edges):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.txt"
        shown = on_ranks(mpiexec, 2, driver, "count", edges, "--distributed").stdout
        check("count: the first rank alone prints", (shown.count("2 ranks"), shown.count("distinct")), (1, 1))
        for text, what in (("", "it is empty"), ("1 2\n3\n", f"{file}:2"), (TABLES["a matrix"].replace(" 4\n", " 5\n"), "its header announces 5"),
                           ("\x1f\x8b", "gzip")):
            file.write_bytes(text.encode("latin-1"))
            done = on_ranks(mpiexec, 3, driver, "count", file, "--distributed")
            check(f"count, {text!r}: exit code", done.returncode != 0, True)
            check(f"count, {text!r}: '{done.stderr}' says why", what in done.stderr, True)
        done = on_ranks(mpiexec, 2, driver, "count", "-", "--distributed")
        check("count, standard input: says why", "does not read standard input" in done.stderr, True)


def two_files(mpiexec, driver, one, other, *words):
    """Runs two ranks that see different files by the same name, as two nodes may. A shell chooses the file: mpiexec of Open MPI 5
    crashes if it starts two programs while /sys is not mounted."""
    script = 'if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:?}}" = 0 ]; then file=$1; else file=$2; fi; shift 2; exec "$0" count "$file" "$@"'
    return on_ranks(mpiexec, 2, "sh", "-c", script, driver, one, other, *words, "--distributed", "--json")


def grown(mpiexec, driver):
    """If a file grows while ranks open it, all ranks read the shortest length that one has seen; different files are refused."""
    with tempfile.TemporaryDirectory() as folder:
        short, long, words, other = (Path(folder) / name for name in ("short", "long", "words", "other"))
        text = "".join(f"{i} {i % 7}\n" for i in range(3000))
        short.write_text(text + "12", encoding="ascii")  # a line that is not whole yet
        long.write_text(text + "12 5\n" + 500 * "1 2\n", encoding="ascii")
        alone = checks.result(driver, "count", short, "--column", 1, "--header", "no")
        for files in ((short, long), (long, short)):
            done = two_files(mpiexec, driver, *files, "--column", "1")
            check(f"grown: exit code, '{done.stderr[-300:]}'", done.returncode, 0)
            seen = json.loads(done.stdout) if done.returncode == 0 else {}
            for name in ("lines", "values", "distinct"):
                check(f"grown: {name}", seen.get(name), alone[name])
        words.write_text("so it is\n" * 3000, encoding="ascii")
        other.write_text(text.replace("2999 3", "2999 4"), encoding="ascii")
        for files in ((short, words), (words, short), (long, other)):
            done = two_files(mpiexec, driver, *files)
            check(f"other files {[f.name for f in files]}: fail", done.returncode != 0, True)
            check(f"other files {[f.name for f in files]}: '{done.stderr}' says why", "is not the same on all ranks" in done.stderr, True)


def scaling(mpiexec, driver):
    """Figure 15 of the paper Enterprise: the ranks that mpirun has started, and parts of them, in one run. No other figure."""
    words = ("paper", "enterprise", "--quick", "--json", "--figure")
    done = on_ranks(mpiexec, 3, driver, *words, 15)
    check(f"scaling: exit code; {done.stderr}", done.returncode, 0)
    seen = json.loads(done.stdout)["figures"][0]
    ours = [s["points"] for s in seen["series"] if s["origin"] == "ours"]
    check("scaling: ranks", [[x for x, _ in points] for points in ours], 3 * [[1, 2]])
    check("scaling: rates", (all(y > 0 for points in ours for _, y in points), [points[0][1] for points in ours], seen["wrong"]), (True, 3 * [1], 0))
    other = on_ranks(mpiexec, 2, driver, *words, "15,13")
    check(f"scaling: '{other.stderr}'", (other.returncode, other.stdout, "Figure 13 is not measured over ranks" in other.stderr), (2, "", True))


def refused(mpiexec, driver):
    for words, what in ((["bfs", "kron:scale=5", "--source", 32], "the graph has 32"),
                        (["bfs", "no such file"], "no such file"),
                        (["bfs", "kron:scale=5", "--baseline"], "--baseline does not apply"),
                        (["bfs", "kron:scale=5", "--preset", "hubs"], "--preset does not apply"),
                        (["bfs", "kron:scale=5", "--batch", 8], "--batch does not apply"),
                        (["bfs", "kron:scale=5", "--queue", "collected"], "--queue does not apply"),
                        (["bfs", "kron:scale=5", "--sorces", 3], "did you mean --source"),
                        (["bfz", "kron:scale=5"], "did you mean bfs?"),
                        (["hash", "--key-bytes", 8], "keys of 4 bytes")):
        done = on_ranks(mpiexec, 2, driver, *words, "--distributed")
        check(f"{words}: fails", done.returncode != 0, True)
        check(f"{words}: messages of {done.stderr}", sum(line.startswith("karpos:") for line in done.stderr.splitlines()), 1)
        check(f"{words}: says why", what in done.stderr, True)


def oversubscribed_host(mpiexec, driver):
    """A message if the ranks have more threads than the host has processors, and none otherwise."""
    if checks.result(driver, "bfs", "grid:3x3")["context"]["backend"] != "OpenMP":
        return
    processors = len(os.sched_getaffinity(0))
    for ranks, threads, policy in ((1, processors, ""), (2, processors, ""), (2, processors, "passive"), (processors + 1, 1, "")):
        if ranks > 8:
            continue
        words = [driver, "bfs", "grid:3x3", "--distributed", "--reps", "1"]
        settings = {**os.environ, "OMP_PROC_BIND": "false", "OMP_NUM_THREADS": str(threads), **({"OMP_WAIT_POLICY": policy} if policy else {})}
        done = subprocess.run([*mpiexec, str(ranks), *words], capture_output=True, text=True, check=False, env=settings, timeout=100)
        said = [line for line in done.stderr.splitlines() if "processor" in line]
        name = f"{ranks} ranks of {threads} threads, {policy}: {said}"
        check(f"{name}: lines", (done.returncode, len(said)), (0, 1 if ranks * threads > processors else 0))
        if said:
            sleeps = threads > 1 and policy == ""
            check(name, (f" {ranks * threads} threads on {processors} processor" in said[0], "OMP_WAIT_POLICY=passive" in said[0], "OMP_NUM_THREADS" in said[0], "start fewer ranks" in said[0]),
                  (True, sleeps, threads > 1, threads == 1))


def main(driver, edges, *mpiexec):
    jobs = [(counts_refused, edges), (refused,), (scaling,), (oversubscribed_host,), (grown,), (tables,),
            *((searches, graph) for graph in ("kron:scale=12,ef=8", "uniform:scale=10,ef=4", "grid:20x30,drop=0.2", edges)),
            *((counts, what, text) for what, text in TABLES.items())]
    # Ranks start and end for half a second, asleep: three runs at a time take the time of one.
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(run, mpiexec, driver, *data) for run, *data in jobs]:
            done.result()
    shown = on_ranks(mpiexec, 2, driver, "bfs", edges, "--distributed").stdout
    check("the first rank alone prints", shown.count("2 ranks"), 1)
    return checks.verdict("--distributed")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
