#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the driver and checks what all its commands do alike: where output goes, threads, words that it cannot use.

    program.py DRIVER EDGES SCORES     EDGES: a list of edges; SCORES: a CSV file with a header
"""
import os
import subprocess
import sys
from pathlib import Path

import checks
from checks import check

OPENMP = ("OMP_", "GOMP_", "KMP_", "KOKKOS_")


def run(driver, *words, **changes):
    """Runs it in an environment that chooses nothing for OpenMP but what `changes` say."""
    free = {name: value for name, value in os.environ.items() if not name.startswith(OPENMP)}
    return subprocess.run([driver, *map(str, words)], capture_output=True, text=True, check=False, env={**free, **changes})


def commands(edges, scores):
    small = ["--keys", 1000, "--reps", 1]
    for words in (["info"], ["bfs", edges], ["count", edges], ["topk", scores], ["hash", *small], ["mixed", *small, "--ops", 1000]):
        yield words
        yield [*words, "--json"]
    yield ["--help"]
    yield ["bfs", "--help"]


def lost_output(driver, words):
    """Output that does not arrive is an error, whoever prints it."""
    if Path("/dev/full").exists():
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([driver, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        check(f"{words} to a full disk: exit code", done.returncode, 1)
        check(f"{words} to a full disk: '{done.stderr}'", "karpos: cannot write to standard output" in done.stderr, True)
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", driver, *map(str, words)], stderr=subprocess.PIPE, text=True, check=False)
    check(f"{words} to closed output: exit code", closed.returncode, 1)
    check(f"{words} to closed output: '{closed.stderr}'", "karpos: cannot write to standard output" in closed.stderr, True)


def complains(driver, words, named, **changes):
    done = run(driver, *words, **changes)
    check(f"{words} {changes}: exit code", done.returncode, 2)
    check(f"{words} {changes}: output", done.stdout, "")
    check(f"{words} {changes}: one line of the program", (done.stderr.count("\n"), done.stderr[:8]), (1, "karpos: "))
    check(f"{words} {changes}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def bad_threads(driver):
    for value in ("abc", "-3", "0", "2x", ""):
        complains(driver, ["info", f"--kokkos-num-threads={value}"], f"--kokkos-num-threads cannot be '{value}'")
        complains(driver, ["info"], f"KOKKOS_NUM_THREADS cannot be '{value}'", KOKKOS_NUM_THREADS=value)
    complains(driver, ["info", "--kokkos-num-threads", "2"], "--kokkos-num-threads=2")
    complains(driver, ["info", "--kokkos-device-id=first"], "--kokkos-device-id cannot be 'first'")
    complains(driver, ["info", "--kokkos-disable-warnings=maybe"], "true, false")


def openmp_threads(driver):
    """Kokkos has room for the data of 512 threads."""
    if '"openmp"' not in run(driver, "info", "--json").stdout:
        return
    complains(driver, ["info", "--kokkos-num-threads=600"], "at most 512")
    complains(driver, ["info"], "OMP_NUM_THREADS asks for 600 threads", OMP_NUM_THREADS="600")
    complains(driver, ["info"], "KOKKOS_NUM_THREADS asks for 513 threads", KOKKOS_NUM_THREADS="513")
    check("512 threads: exit code", run(driver, "info", OMP_NUM_THREADS="512").returncode, 0)


def thread_binding(driver):
    """Silent without a choice; bound where the whole machine is used; what the user chooses stands."""
    choices = {"SPREAD": {}, "FALSE": {"OMP_PROC_BIND": "false"}, "CLOSE": {"OMP_PROC_BIND": "close"}}
    for words in (["info"], ["info", "--kokkos-num-threads=1"]):
        check(f"{words}: silent", run(driver, *words).stderr, "")
    if os.cpu_count() == len(os.sched_getaffinity(0)) and '"backend": "OpenMP"' in run(driver, "info", "--json").stdout:
        for shown, chosen in choices.items():
            seen = run(driver, "info", OMP_DISPLAY_ENV="true", **chosen).stderr.split("OPENMP DISPLAY ENVIRONMENT BEGIN")[-1]
            check(f"{chosen}: binding {shown}", f"OMP_PROC_BIND = '{shown}'" in seen, True)


def mistyped_words(driver):
    cases = [
        (["cuont", "x"], "did you mean count?"), (["bsf"], "did you mean bfs?"), (["nonsense"], "no command 'nonsense': choose one of bfs, count"),
        ([], "there is no command"), (["bfs", "--sorce=3"], "did you mean --source?"), (["bfs", "x", "--max-depth", 3], "no option '--max-depth': karpos bfs"),
        (["topk", "x", "--weight", 1], "did you mean --weights?"), (["--versoin"], "did you mean --version?"), (["info", "-q"], "no option '-q'"),
        (["count", "x", "y"], "'y' is one word too many"), (["info", "x"], "'x' is one word too many"), (["bfs"], "graph is required"),
        (["topk", "x", "--k"], "--k"), (["mixed", "--keys", 5, "--keys", 6], "--keys"),
    ]
    for words, named in cases:
        complains(driver, words, named)


def main():
    driver, edges, scores = sys.argv[1:]
    for words in commands(edges, scores):
        lost_output(driver, words)
    mistyped_words(driver)
    bad_threads(driver)
    openmp_threads(driver)
    thread_binding(driver)
    return checks.verdict("program")


if __name__ == "__main__":
    sys.exit(main())
