#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to include a public header and use it once.

    measure.py COMPILE_COMMANDS [HEADER...]   compares with perf/results/compile_time.md; all headers by default
    measure.py COMPILE_COMMANDS --update      measures all headers and writes that table

Compiles the units beside this script at -O2 -DNDEBUG with the compiler and the includes of a build. Seconds are those of
the processor, compared as multiples of what including Kokkos alone takes in the same run: machines and neighbours
differ. Sizes are those of code and data in the object file; they are compared only if the compiler is the recorded one.
"""
import json
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TABLE = FOLDER.parents[1] / "perf/results/compile_time.md"
BASE = "kokkos"
MOST_SECONDS, MOST_SIZE = 2.0, 1.3  # times what is recorded
HEAD = """\
# Compile time and object size of the public headers

One unit for each header that includes it and uses it once (`tests/compile_time/`), compiled at -O2. `times Kokkos` is the
processor's seconds over those of a unit that only includes `Kokkos_Core.hpp`. CI fails when a unit takes twice that or
its object grows to 1.3 times the size (`tests/compile_time/measure.py`, which also writes this table with `--update`).

"""


def commands_of(path):
    """The compile command of each unit, by name, without its output and its optimisation."""
    found = {}
    for entry in json.loads(Path(path).read_text(encoding="utf-8")):
        file = Path(entry["file"])
        if file.parent.resolve() != FOLDER:
            continue
        words = shlex.split(entry["command"])
        if "-o" in words:
            del words[words.index("-o"):words.index("-o") + 2]
        if Path(words[0]).name in ("ccache", "sccache"):
            del words[0]
        found[file.stem] = [w for w in words if not re.fullmatch(r"-O.|-g\d?|-DNDEBUG", w)] + ["-O2", "-DNDEBUG"]
    if BASE not in found:
        sys.exit(f"{path} has no commands for the units in {FOLDER}: configure with KARPOS_ENABLE_TESTS=ON")
    return found


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(command):
    """(seconds, KiB of code and data) of one unit."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "unit.o"
        before = processor_seconds()
        subprocess.run(command + ["-o", str(out)], check=True)
        seconds = processor_seconds() - before
        sizes = subprocess.run(["size", str(out)], check=True, capture_output=True, text=True).stdout
    text, data, bss = (int(n) for n in sizes.splitlines()[1].split()[:3])
    return seconds, (text + data + bss) / 1024


def compiler_of(command):
    """The first line of its version, without the distribution's build number."""
    words = subprocess.run([command[0], "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
    return re.sub(r"^[cg]\+\+(-\d+)? ", "GCC ", re.sub(r"\s*\([^)]*\)", "", words))


def recorded():
    """(compiler, {header: (times Kokkos, KiB)}) of the table."""
    text = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
    compiler = re.search(r"^Recorded with (.*)\.$", text, re.M)
    rows = re.findall(r"^\| `(\w+)` \| +[\d.]+ \| +([\d.]+) \| +([\d.]+) \|$", text, re.M)
    return compiler and compiler[1], {name: (float(times), float(size)) for name, times, size in rows}


def write_table(compiler, measured, base):
    lines = [f"Recorded with {compiler}.", "", "| header | seconds | times Kokkos | KiB |", "|---|---:|---:|---:|"]
    lines += [f"| `{name}` | {s:.1f} | {s / base:.1f} | {size:.0f} |" for name, (s, size) in measured.items()]
    TABLE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def over_budget(name, times, size, table):
    """The sentences of what a unit exceeds."""
    if name not in table:
        return [f"{name} is not recorded: run measure.py with --update"]
    most_times, most_size = MOST_SECONDS * table[name][0], MOST_SIZE * table[name][1]
    over = []
    if times > most_times:
        over.append(f"{name} takes {times:.1f} times as long as Kokkos alone, the budget is {most_times:.1f}")
    if size > most_size:
        over.append(f"{name} compiles to {size:.0f} KiB, the budget is {most_size:.0f}")
    return over


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    commands = commands_of(arguments[0])
    update = arguments[1:] == ["--update"]
    names = arguments[1:] if arguments[1:] and not update else sorted(commands)
    if unknown := [n for n in names if n not in commands]:
        sys.exit(f"no unit {', '.join(unknown)}.cpp in {FOLDER}")
    compiler = compiler_of(commands[BASE])
    base = min(measure(commands[BASE])[0] for _ in range(3))
    print(f"{compiler}; Kokkos alone: {base:.1f} s", flush=True)
    old_compiler, table = recorded()
    if not update and compiler != old_compiler:
        print(f"SKIP: object sizes, recorded with {old_compiler}")
    measured, over = {}, []
    for name in (n for n in names if n != BASE):
        seconds, size = measure(commands[name])
        if not update and name in table and seconds > MOST_SECONDS * table[name][0] * base:
            seconds = min(seconds, measure(commands[name])[0])  # a busy machine takes longer, seldom twice
        measured[name] = seconds, size
        print(f"{name:24} {seconds:6.1f} s {seconds / base:6.1f} times Kokkos {size:8.0f} KiB", flush=True)
        if not update:
            over += over_budget(name, seconds / base, size if compiler == old_compiler else 0, table)
    if update:
        write_table(compiler, measured, base)
    print("\n".join(over))
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
