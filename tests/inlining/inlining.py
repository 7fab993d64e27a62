#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether loops on CPUs call anything for each index.

    inlining.py COMPILE_COMMANDS [-O2] [-O3] [NAME...]   looks at the units of tests/compile_time; all by default, at -O2
    inlining.py --self-test                              finds planted calls

A compiler inlines less once a source is large. So that a small unit shows what a large one gets, g++ is told that its budget
for inlining is spent: only what is inlined by force is. The assembly of each function that holds a loop (pipeline.hpp,
loops.hpp, league.hpp) may then call nothing but what runs once for many indices or ends the program. clang inlines by the size of the
function called, whatever else is in the source: its units are compiled as they are.
"""
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "compile_time"))
from measure import commands_of, compiler_of  # noqa: E402

SPENT = ["large-unit-insns=1", "inline-unit-growth=0", "large-function-growth=0", "early-inlining-insns=0",
         "max-inline-insns-auto=0", "max-inline-insns-single=0", "max-inline-insns-small=0"]
# Functions that hold a loop over indices, by the beginning of their mangled names.
LOOPS = re.compile(r"_ZNK?6karpos6device(6detail(8pipelineI|8run_partI|9reductionI.*7of_part)|4host13league_kernelI)")
# What such a function may call: look, once for many indices; memset, for the scratch of a team; what is rare, such as a tie;
# what waits or ends the program.
MAY_CALL = re.compile(r"_ZN6karpos6device6detail8pipelineI.*10unfinished4look|memset|.*9break_tie|sched_yield|__popcountdi2|abort|_ZN6Kokkos.*abort|"
                      r"__stack_chk_fail|_Unwind_Resume|_ZSt9terminatev|__assert_fail|.*\.cold")
MOST_LINES = 20  # calls of a unit that are named
CALL = re.compile(r"\t(?:callq?|bl|jmp|b)\t(?!\.L|\d)(\S+)")


def functions_of(assembly):
    """The lines of each function of an assembly, by name."""
    found, name = {}, None
    for line in assembly.splitlines():
        if start := re.match(r'"?([\w.$]+)"?:', line):
            if start[1] in found or not start[1].startswith(".L"):
                name = start[1]
                found[name] = []
        elif re.match(r"\t\.size\t", line):
            name = None
        elif name:
            found[name].append(line)
    return found


def calls_in_loops(assembly):
    """(number of loops, [(loop, what it calls)])."""
    loops = {name: lines for name, lines in functions_of(assembly).items() if LOOPS.match(name) and ".cold" not in name}
    calls = []
    for name, lines in loops.items():
        for line in lines:
            call = CALL.match(line)
            if not call:
                continue
            target = call[1].removesuffix("@PLT")
            if target.startswith("*") and "jmp" in line:  # a table of branches
                continue
            if not MAY_CALL.match(target):
                calls.append((name, target))
    return len(loops), sorted(set(calls))


def readable(names):
    """Names as a person reads them, without most of their template arguments."""
    try:
        text = subprocess.run(["c++filt"], input="\n".join(names), check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return dict(zip(names, names))
    return dict(zip(names, (line[:160] for line in text.splitlines())))


def look_at(name, command, optimisation, is_gcc):
    """The number of loops of a unit; prints the calls in them, and returns how many there are."""
    command = [w for w in command if not re.fullmatch(r"-O.", w)] + [optimisation, "-S", "-o", "-"]
    if is_gcc:
        command += [f"--param={p}" for p in SPENT]
    run = subprocess.run([w for w in command if w != "-c"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{name} does not compile: {run.stderr}")
    loops, calls = calls_in_loops(run.stdout)
    words = readable([n for call in calls for n in call])
    for loop, target in calls[:MOST_LINES]:
        print(f"{name}, {optimisation}: {words[loop]}\n    calls {words[target]} for each index")
    print(f"{name}, {optimisation}: {loops} loops, {len(calls)} calls", flush=True)
    return loops, len(calls)


def self_test():
    loop = "_ZNK6karpos6device6detail8pipelineIN6Kokkos6OpenMPEEclEm"
    look = "_ZN6karpos6device6detail8pipelineIN6Kokkos6OpenMPEE10unfinished4lookEv"
    text = f"{loop}:\n.LFB1:\n\tcall\t{look}\n\tjmp\t.L3\n.L3:\n%s\n\tret\n\t.size\t{loop}, .-{loop}\n"
    clean = calls_in_loops(text % "\tcall\tabort@PLT" + "_ZN5other1fEv:\n\tcall\t_Z1gv\n")
    assert clean == (1, []), clean
    for planted in ("\tcall\t_Z1gv", "\tcall\t_Z1gv@PLT", "\tjmp\t_Z1gv", "\tbl\t_Z1gv"):
        assert calls_in_loops(text % planted) == (1, [(loop, "_Z1gv")]), planted
    assert calls_in_loops(text % "\tcall\t*%rax") == (1, [(loop, "*%rax")])
    assert calls_in_loops(text % "\tjmp\t*%rax") == (1, [])
    print("ok")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments:
        sys.exit(__doc__)
    commands = commands_of(arguments[0])
    levels = [a for a in arguments[1:] if a.startswith("-O")] or ["-O2"]
    names = [a for a in arguments[1:] if not a.startswith("-")] or sorted(commands)
    if unknown := [n for n in names if n not in commands]:
        sys.exit(f"no unit {', '.join(unknown)}.cpp in tests/compile_time")
    compiler = compiler_of(commands[names[0]])
    is_gcc = compiler.startswith("GCC")
    if not is_gcc and "clang" not in compiler:
        print(f"SKIP: this reads the assembly of g++ and clang, not of {compiler}")
        return
    loops = calls = 0
    for name in names:
        for level in levels:
            more, called = look_at(name, commands[name], level, is_gcc)
            loops, calls = loops + more, calls + called
    if loops == 0:
        sys.exit("no unit has a loop: their functions are no longer named as LOOPS says")
    if calls:
        sys.exit(f"{calls} calls in loops: inline what they call by force")


if __name__ == "__main__":
    main(sys.argv[1:])
