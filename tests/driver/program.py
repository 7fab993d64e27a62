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


def main():
    driver, edges, scores = sys.argv[1:]
    for words in commands(edges, scores):
        lost_output(driver, words)
    return checks.verdict("program")


if __name__ == "__main__":
    sys.exit(main())
