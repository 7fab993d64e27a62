#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks whether a compiler accepts a header, with the includes and definitions of a build, perhaps by another compiler. Only parses.

    takes_header.py COMPILE_COMMANDS COMPILER HEADER     exits 1 if not; 77 if this compiler does not accept Kokkos either"""
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path


def options_of_build(commands):
    """Includes, definitions and OpenMP, as the units of tests/compile_time have them."""
    entry = next(e for e in json.loads(Path(commands).read_text(encoding="utf-8")) if e["file"].endswith("compile_time/kokkos.cpp"))
    words = shlex.split(entry["command"])
    return [w for before, w in zip([""] + words, words) if before == "-isystem" or re.match(r"-isystem$|-[ID]|-std=|-fopenmp$", w)]


def complaint(compiler, options, text):
    """The compiler's messages about a source; empty if it accepts it."""
    done = subprocess.run([compiler, *options, "-fsyntax-only", "-x", "c++", "-"], input=text, stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr if done.returncode else ""


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    commands, compiler, header = arguments
    options = options_of_build(commands)
    said = complaint(compiler, options, "#include <Kokkos_Core.hpp>\n")
    if said:
        print(f"SKIP: {compiler} does not take Kokkos alone:\n{said[:2000]}")
        return 77
    said = complaint(compiler, options, f'#include "{header}"\n')
    print(said or f"{compiler} takes {header}")
    return bool(said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
