#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the driver and checks what all commands have in common: output, threads, arguments that it cannot use.

    program.py DRIVER EDGES SCORES     EDGES: a list of edges; SCORES: a CSV file with a header
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from checks import check

OPENMP = ("OMP_", "GOMP_", "KMP_", "KOKKOS_")


def run(driver, *words, **changes):
    """Runs it in an environment that sets nothing of OpenMP but the waiting policy, apart from `changes`."""
    free = {name: value for name, value in os.environ.items() if not name.startswith(OPENMP) or name == "OMP_WAIT_POLICY"}
    return subprocess.run([driver, *map(str, words)], capture_output=True, text=True, check=False, env={**free, **changes})


def commands(edges, scores):
    small = ["--keys", 1000, "--reps", 1]
    for words in (["info"], ["bfs", edges], ["count", edges], ["distinct", edges], ["groupby", edges, "--by", 1], ["join", scores, scores, "--on", 1], ["topk", scores], ["hash", *small], ["mixed", *small, "--ops", 1000]):
        yield words
        yield [*words, "--json"]
    yield ["--help"]
    yield ["bfs", "--help"]


def lost_output(driver, words):
    """Output that cannot be written is an error of every command."""
    if Path("/dev/full").exists():
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([driver, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        check(f"{words} to a full disk: exit code", done.returncode, 1)
        check(f"{words} to a full disk: '{done.stderr}'", "karpos: cannot write to standard output" in done.stderr, True)
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", driver, *map(str, words)], stderr=subprocess.PIPE, text=True, check=False)
    check(f"{words} to closed output: exit code", closed.returncode, 1)
    check(f"{words} to closed output: '{closed.stderr}'", "karpos: cannot write to standard output" in closed.stderr, True)


def lost_files(driver, edges, scores):
    """A file that cannot be written to a full disk is an error, too."""
    if not Path("/dev/full").exists():
        print("skipped: there is no /dev/full")
        return
    for words in (["bfs", edges, "--source", 1], ["distinct", edges], ["groupby", edges, "--by", 1], ["join", scores, scores, "--on", 1]):
        done = run(driver, *words, "--output", "/dev/full")
        check(f"{words} to a file on a full disk: exit code", done.returncode, 1)
        check(f"{words} to a file on a full disk: '{done.stderr}'", "karpos: cannot write /dev/full" in done.stderr and "not all of it arrived" in done.stderr, True)


def complains(driver, words, named, **changes):
    done = run(driver, *words, **changes)
    check(f"{words} {changes}: exit code", done.returncode, 2)
    check(f"{words} {changes}: output", done.stdout, "")
    check(f"{words} {changes}: one line of the program", (done.stderr.count("\n"), done.stderr[:8]), (1, "karpos: "))
    check(f"{words} {changes}: '{done.stderr.strip()}' names the program once", (done.stderr.count("karpos: "), done.stderr[8:15] == "karpos "), (1, False))
    check(f"{words} {changes}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def bad_values(driver, edges):
    maps = {"hash": ["--load", "--miss"], "mixed": ["--load", "--fill"]}
    for command, parts in maps.items():
        for option in parts:
            for value in ("nan", "-nan", "inf", "-1", "1.5", "x", ""):
                complains(driver, [command, f"{option}={value}"], option)
    for option, direction in (("--alpha", "beamer"), ("--beta", "beamer"), ("--gamma", "gamma")):
        for value in ("nan", "inf", "-1", "x"):
            complains(driver, ["bfs", edges, "--direction", direction, option, value], option)
    counts = {"bfs": ["--source", "--reps"], "count": ["--top"], "distinct": ["--top"], "groupby": ["--top", "--reps", "--seed"], "join": ["--top", "--reps", "--seed"], "topk": ["--k", "--reps", "--seed"],
              "hash": ["--keys", "--reps", "--seed"], "mixed": ["--keys", "--ops", "--slots", "--reps", "--seed"]}
    inputs = {"bfs": [edges], "count": [edges], "distinct": [edges], "groupby": [edges], "join": [edges, edges], "topk": ["uniform:m=10"]}
    for command, options in counts.items():
        for option in options:
            for value in ("-1", "1.5", "ten", "1e30", "18446744073709551616"):
                complains(driver, [command, *inputs.get(command, []), option, value], f"{option}: '{value}'")
    complains(driver, ["topk", "uniform:m=10", "--stride", "fixed:1e30"], "--stride fixed:1e30: '1e30'")
    for value in ("nan", "5", "1e1"):
        complains(driver, ["hash", "--key-bytes", value], f"--key-bytes: {value} not in {{4,8,16}}")
    complains(driver, ["bfs", edges, "--sources", 2, "--seed", "-1"], "--seed")
    twice = [("bfs", "kron:scale=5,scale=6", "scale"), ("bfs", "grid:3x3,seed=1,seed=1", "seed"),
             ("join", "join:left=5,right=2,left=5", "left"), ("topk", "uniform:m=10,n=2,m=11", "m"), ("topk", "zipf:s=1,s=2", "s")]
    for command, generator, name in twice:
        complains(driver, [command, generator], f"{name} of a generator is given twice")


def empty_values(driver, edges):
    for words in (["hash", "--key-bytes"], ["hash", "--layout"], ["hash", "--peers"], ["mixed", "--slots"], ["topk", "uniform:m=10", "--missing"],
                  ["topk", "uniform:m=10", "--peers"], ["bfs", edges, "--output"]):
        complains(driver, [*words, ""], f"there is an empty word behind '{words[-1]}'")
        complains(driver, [*words[:-1], f"{words[-1]}="], f"'{words[-1]}=' lacks its value")


def unreadable(driver, folder):
    """Every command that reads prints the same message about unreadable files, and never blocks on them."""
    pipe = Path(folder) / "pipe"
    os.mkfifo(pipe)
    good = Path(folder) / "good.csv"
    good.write_text("k,v\n1,2\n", encoding="ascii")
    for command, *more in (("bfs",), ("count",), ("distinct",), ("groupby", "--by", 1), ("join", good, "--on", 1), ("topk",)):
        for path, why in ((pipe, "it is not a regular file"), (folder, "it is a directory"), (Path(folder) / "none", "No such file")):
            complains(driver, [command, path, *more], f"cannot read {path} ({why}")
        for redirection, why in (("<&-", "it is closed"), (f"< {folder}", "Is a directory"), ("< /dev/null", "it is empty")):
            done = subprocess.run(["sh", "-c", f'"$@" {redirection}', "sh", driver, command, "-", *map(str, more)], capture_output=True, text=True, check=False)
            check(f"{command} - {redirection}: '{done.stderr}'", (done.returncode, f"karpos: cannot read standard input ({why})" in done.stderr), (2, True))


def too_large_a_file(driver, folder):
    """A limit of file sizes is reported like a full disk. The partial file is removed, but no link to it, such as /dev/stdout."""
    file, link = Path(folder) / "out", Path(folder) / "link"
    link.symlink_to(Path(folder) / "linked")
    for path in (file, link):
        done = subprocess.run(["sh", "-c", 'ulimit -f 1 && exec "$@"', "sh", driver, "bfs", "grid:99x99", "--output", path],
                              capture_output=True, text=True, check=False)
        check(f"large output: '{done.stderr}'", (done.returncode, "(File too large)" in done.stderr), (1, True))
    check("what is left of large outputs", (file.exists(), link.is_symlink()), (False, True))


def counts_with_exponents(driver, edges):
    """Every option that takes a count accepts 1e6 and 2^20."""
    for words in (["bfs", "grid:1e1x2^2,seed=1e3", "--reps", "2e0"], ["bfs", edges, "--sources", "1e1", "--seed", "1e6"],
                  ["bfs", edges, "--source", "1e1"], ["count", edges, "--top", "1e6"], ["groupby", "uniform:rows=1e3", "--reps", "1e0", "--seed", "2^40"], ["join", "join:left=1e3,right=2^10", "--reps", "1e0", "--seed", "2^40"], ["topk", "uniform:m=1e3,n=2", "--k", "1e1", "--seed", "2^40"],
                  ["hash", "--keys", "1e3", "--reps", "1e0", "--seed", "1e9"], ["mixed", "--keys", "1e3", "--ops", "2^10", "--slots", "1e4", "--reps", "1e0"]):
        done = run(driver, *words)
        check(f"{words}: exit code and complaints", (done.returncode, done.stderr), (0, ""))


def too_little_memory(driver):
    """Input that memory cannot hold is refused before the system kills the program."""
    limited = ["sh", "-c", 'ulimit -v 2000000 && exec "$@"', "sh", driver]
    usable = subprocess.run([*limited, "info", "--json"], capture_output=True, text=True, check=False)
    if usable.returncode != 0 or "Cuda" in usable.stdout:
        return  # no limits here, or one below what the machine's libraries map
    with tempfile.TemporaryDirectory() as folder:
        sparse = Path(folder) / "sparse.txt"
        sparse.write_text("0 1\n1 500000000\n", encoding="ascii")
        lines, equal = Path(folder) / "lines.txt", Path(folder) / "equal.txt"
        lines.write_text("1\n" * 32000000, encoding="ascii")
        equal.write_text("1\n" * 20000, encoding="ascii")
        cases = [
            (["bfs", sparse], "a search among 500,000,001 vertices takes 10.2 GB", "--relabel"),
            (["bfs", "kron:scale=25"], "33,554,432 vertices takes", "smaller graph"), (["bfs", "grid:30000x30000"], "900,000,000 vertices", "smaller graph"),
            (["hash", "--keys", "2^28"], "the measurement takes", "fewer keys"), (["mixed", "--keys", 1000, "--ops", "1e9"], "20.0 GB", "fewer keys"),
            (["mixed", "--ops", "1e18"], "the measurement takes", "fewer keys"), (["topk", "uniform:m=1e9"], "48.0 GB", "fewer objects"), (["groupby", "uniform:rows=1e9"], "40.0 GB", "fewer rows"),
            (["join", "join:left=1e9,right=1e9"], "a measurement of such tables takes 96.1 GB", "fewer rows"), (["join", "join:left=1e6,right=1e6,multiplicity=1e6"], "TB", "a smaller multiplicity="),
            (["join", lines, lines, "--on", 1], "joining 64,000,000 rows takes", "smaller tables"), (["distinct", lines], "comparing 32,000,000 rows takes", "a part of the table"),
            (["join", equal, equal, "--on", 1], "a join of 400,000,000 rows takes 3.20 GB", "join by more columns"),
        ]
        for words, takes, remedy in cases:
            done = subprocess.run([*limited, *map(str, words)], capture_output=True, text=True, check=False)
            check(f"{words}: exit code", done.returncode, 2)
            for named in ("karpos: out of memory", takes, " are left", remedy):
                check(f"{words}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def limited(driver, kilobytes, words):
    script = f'ulimit -v {kilobytes} && ulimit -c 0 && exec "$@"'
    quiet = {**os.environ, "OMP_PROC_BIND": "false", "OMP_NUM_THREADS": "2"}
    return subprocess.run(["sh", "-c", script, "sh", driver, *map(str, words)], capture_output=True, text=True, check=False, env=quiet)


def no_memory_on_the_way(driver):
    """If memory runs out in any thread, a message says so."""
    starts = (size for size in range(20000, 200000, 4000) if limited(driver, size, ["info"]).returncode == 0)
    least = next(starts, None)
    if least is None or "Cuda" in run(driver, "info").stdout:
        return
    with tempfile.TemporaryDirectory() as folder:
        edges, scores = Path(folder) / "edges", Path(folder) / "scores.csv"
        edges.write_text("".join(f"{i} {i * 7919 % 500000}\n" for i in range(500000)), encoding="ascii")
        scores.write_text("id,a,b\n" + "".join(f"name{i},{i % 977},{i * 7919 % 1000}\n" for i in range(100000)), encoding="ascii")
        seen = set()
        small = ["--keys", "2^17", "--reps", 1, "--peers"]
        for step, words in ((6000, ["count", edges]), (6000, ["count", "--text", edges]), (6000, ["groupby", "--by", 1, "--sum", 2, edges]), (12000, ["join", "--on", 1, edges, edges]), (6000, ["distinct", edges]), (6000, ["topk", scores]), (6000, ["bfs", edges]),
                            (1500, ["hash", *small]), (1500, ["mixed", "--ops", "2^17", *small])):
            for more in range(0, 12 * step, step):
                done = limited(driver, least + more, words)
                seen.add((words[0], done.returncode))
                good = done.returncode == 0 or (done.returncode == 2 and done.stderr.startswith("karpos: out of memory (") and "bad_alloc" not in done.stderr)
                check(f"{words} in {least + more} kB: {done.returncode}, '{done.stderr.strip()}'", good, True)
        check("memory ended somewhere", {("count", 2), ("hash", 2)} <= seen, True)


def bounded_ceilings(driver):
    """The ceilings take seconds, whatever the number of readings."""
    seen = json.loads(run(driver, "hash", "--keys", 1000, "--reps", 200, "--json").stdout)
    for c in seen["ceilings"]:
        if c["name"] != "copy":
            check(f"ceiling {c['name']}: readings", len(c["seconds"]["all"]) <= 25, True)
    words = ["--map", "hopscotch", "--mix", "0,0,100", "--keys", 1000, "--ops", "1e7", "--reps", 10]
    for c in json.loads(run(driver, "mixed", *words, "--json").stdout)["ceilings"]:
        check(f"ceiling {c['name']}: seconds", sum(c["seconds"]["all"]) < 3, True)


def one_of_each(driver):
    """A count of one has no plural."""
    one = run(driver, "bfs", "grid:1x1", "--reps", 1, "--kokkos-num-threads=1").stdout
    for words in ("1 vertex, 0 directed edges", "reached 1 vertex with 0 edges in 1 level ", "1 thread, one reading"):
        check(f"text says {words}", words in one, True)
    check("text says 1 object", "1 object, 1 list, 1 entry" in run(driver, "topk", "uniform:m=1,n=1").stdout, True)
    check("text says 1 key", run(driver, "hash", "--keys", 1, "--reps", 1).stdout.startswith("1 key of"), True)


def bad_threads(driver):
    for value in ("abc", "-3", "0", "2x", ""):
        complains(driver, ["info", f"--kokkos-num-threads={value}"], f"--kokkos-num-threads cannot be '{value}'")
        complains(driver, ["info"], f"KOKKOS_NUM_THREADS cannot be '{value}'", KOKKOS_NUM_THREADS=value)
    complains(driver, ["info", "--kokkos-num-threads", "2"], "--kokkos-num-threads=2")
    complains(driver, ["info", "--kokkos-num-thread=2"], "did you mean --kokkos-num-threads?")
    complains(driver, ["info", "--kokkos-device-id=first"], "--kokkos-device-id cannot be 'first'")
    complains(driver, ["info", "--kokkos-disable-warnings=maybe"], "true, false")


def kokkos_help(driver):
    """--kokkos-help prints Kokkos' help once, without a command or with an incomplete one."""
    for words in (["--kokkos-help"], ["bfs", "--kokkos-help"], ["info", "--kokkos-help"]):
        done = run(driver, *words)
        check(f"{words}: exit code and complaints", (done.returncode, done.stderr), (0, ""))
        check(f"{words}: says --kokkos-num-threads", done.stdout.count("--kokkos-num-threads"), 1)


def openmp_threads(driver):
    """Kokkos has memory for the data of 512 threads."""
    if '"openmp"' not in run(driver, "info", "--json").stdout:
        return
    complains(driver, ["info", "--kokkos-num-threads=600"], "at most 512")
    complains(driver, ["info"], "OMP_NUM_THREADS asks for 600 threads", OMP_NUM_THREADS="600")
    complains(driver, ["info"], "KOKKOS_NUM_THREADS asks for 513 threads", KOKKOS_NUM_THREADS="513")
    for value in ("abc", "-1", "0", "1.5", "1e9", "99999999999", "2,x"):
        done = run(driver, "info", OMP_NUM_THREADS=value)  # libgomp warns of it, too
        check(f"OMP_NUM_THREADS={value}: '{done.stderr}'", (done.returncode, "karpos: OMP_NUM_THREADS cannot be '" in done.stderr), (2, True))
    check("threads of nested teams: exit code", run(driver, "info", OMP_NUM_THREADS="2, 1").returncode, 0)
    check("512 threads: exit code", run(driver, "info", OMP_NUM_THREADS="512").returncode, 0)


def thread_binding(driver):
    """No message by default; threads are bound if the whole machine is used; the user's settings are kept."""
    choices = {"SPREAD": {}, "FALSE": {"OMP_PROC_BIND": "false"}, "CLOSE": {"OMP_PROC_BIND": "close"}}
    for words in (["info"], ["info", "--kokkos-num-threads=1"]):
        check(f"{words}: silent", run(driver, *words).stderr, "")
    if os.cpu_count() == len(os.sched_getaffinity(0)) and '"backend": "OpenMP"' in run(driver, "info", "--json").stdout:
        for shown, chosen in choices.items():
            seen = run(driver, "info", OMP_DISPLAY_ENV="true", **chosen).stderr.split("OPENMP DISPLAY ENVIRONMENT BEGIN")[-1]
            check(f"{chosen}: binding {shown}", f"OMP_PROC_BIND = '{shown}'" in seen, True)


def lists_with_gaps(driver, edges, scores):
    """An empty element of a list is refused: it would mean all peers, or fewer weights than lists."""
    for lack in (",", "a,", ",a", "a,,b"):
        cases = [(["hash", "--keys", 100, "--peers", lack], "--peers", "kokkos"), (["hash", f"--peers={lack}"], "--peers", "hopscotch"),
                 (["mixed", "--keys", 100, "--peers", lack], "--peers", "hash, hopscotch"), (["topk", scores, "--peers", lack], "--peers", "full, nra, sc, lara"),
                 (["topk", scores, "--weights", lack], "--weights", "w1,w2"), (["count", edges, "--column", lack], "--column", "names of the header")]
        for words, option, choice in cases:
            for named in (f"{option} '{lack}' lacks a value beside a comma", choice):
                complains(driver, words, named)
    complains(driver, ["topk", scores, "--weights", "-1,1,"], "--weights '-1,1,' lacks")
    complains(driver, ["mixed", "--mix", "20,,80"], "--mix 20,,80")


def mistyped_words(driver):
    cases = [
        (["cuont", "x"], "did you mean count?"), (["bsf"], "did you mean bfs?"), (["nonsense"], "no command 'nonsense': choose one of bfs, components, count, distinct"),
        ([], "there is no command"), (["bfs", "--sorce=3"], "did you mean --source?"), (["bfs", "x", "--max-depth", 3], "no option '--max-depth': karpos bfs"),
        (["topk", "x", "--weight", 1], "did you mean --weights?"), (["--versoin"], "did you mean --version?"), (["info", "-q"], "no option '-q'"), (["--versoin", "info"], "there is no option '--versoin': did you mean --version? karpos --help lists all"),
        *(([command, "x", "--no-such-option"], f"karpos: {command} has no option '--no-such-option': karpos {command} --help lists all") for command in ("bfs", "components", "count", "distinct", "groupby", "hash", "info", "join", "mixed", "sssp", "topk")),
        (["groupby", "x", "--summ", "v"], "groupby has no option '--summ': did you mean --sum? karpos groupby --help"),
        (["count", "x", "y"], "'y' is one word too many"), (["info", "x"], "'x' is one word too many"), (["bfs"], "graph is required"),
        (["topk", "x", "--k"], "--k"), (["mixed", "--keys", 5, "--keys", 6], "--keys"),
    ]
    for words, named in cases:
        complains(driver, words, named)


def main():
    driver, edges, scores = sys.argv[1:]
    for words in commands(edges, scores):
        lost_output(driver, words)
    lost_files(driver, edges, scores)
    mistyped_words(driver)
    bad_values(driver, edges)
    counts_with_exponents(driver, edges)
    empty_values(driver, edges)
    lists_with_gaps(driver, edges, scores)
    with tempfile.TemporaryDirectory() as folder:
        unreadable(driver, folder)
        too_large_a_file(driver, folder)
    one_of_each(driver)
    too_little_memory(driver)
    no_memory_on_the_way(driver)
    bounded_ceilings(driver)
    bad_threads(driver)
    kokkos_help(driver)
    openmp_threads(driver)
    thread_binding(driver)
    return checks.verdict("program")


if __name__ == "__main__":
    sys.exit(main())
