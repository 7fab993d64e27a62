#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether loops on CPUs call anything for each index, and whether pipelines prefetch.

    inlining.py COMPILE_COMMANDS [-O2] [-O3] [NAME...]   looks at units, all by default, at -O2: those of tests/compile_time and those
                                                         beside this script. --every-kind: fails unless each kind of loop
                                                         (KINDS) is among them
    inlining.py --self-test                              finds planted calls

A compiler inlines less once a source is large. So that a small unit shows what a large one gets, g++ is told that its budget
for inlining is spent: only what is inlined by force is. clang inlines by the size of the function called, whatever else is in
the source: its units are compiled as they are.

Looks at the assembly of the functions that hold loops over indices (LOOPS), and of all functions of the unit that they call.
Each call that lies on a cycle of its function's branches is one for each index, but for those that MAY_CALL allows by name.

A pipeline (PIPELINE), and the function in which its deferred indices wait, prefetches what an index needs: g++ drops calls
of functions that only prefetch.

Of Kokkos' own loops, which are not flattened, it looks at those over the slots of tables (KOKKOS_KIND). They may also call
the small functions of KOKKOS_MAY_CALL.
"""
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "compile_time"))
from measure import BASE, commands_of, compiler_of  # noqa: E402

SPENT = ["large-unit-insns=1", "inline-unit-growth=0", "large-function-growth=0", "early-inlining-insns=0",
         "max-inline-insns-auto=0", "max-inline-insns-single=0", "max-inline-insns-small=0"]
# Functions that hold a loop over indices, by the beginning of their mangled names.
KINDS = {
    "pipeline.hpp": r"_ZNK?6karpos6device6detail8pipelineI",
    "loops.hpp: run_part": r"_ZN6karpos6device6detail8run_partI",
    "loops.hpp: reduction": r"_ZNK?6karpos6device6detail9reductionI.*(7of_part|3run)E",
    "league.hpp": r"_ZNK?6karpos6device4host13league_kernelI",
    "program.hpp": r"_ZN6karpos6device13launched_gridI.*8run_stepI",
}
# Kokkos' own loops over the slots of tables.
KOKKOS_KIND = "scans.hpp: loops of Kokkos"
KINDS[KOKKOS_KIND] = (r"_ZNK?6Kokkos4Impl\d+Parallel(Reduce|Scan|ScanWithTotal)I.*"
                      r"6karpos6detail\d+(count_slots_body|reduce_body|retrieve_body)I.*"
                      r"(4execI|7execute|10exec_range|_omp_fn|omp_outlined)")
LOOPS = re.compile("|".join(KINDS.values()))
KOKKOS_LOOP = re.compile(KINDS[KOKKOS_KIND])
PIPELINE = re.compile(KINDS["pipeline.hpp"] + r".*(Ecl[EI]|14probe_deferredI)")
PREFETCH = re.compile(r"\t(prefetch\w*|prfm)\t")
# What may be called on a cycle, and why.
MAY_CALL = re.compile("|".join((
    r"_ZN6karpos6device6detail8pipelineI.*10unfinished14probe_deferred.*",  # once for 4 * Distance indices that wait
    r"_ZNK?6karpos.*9break_tie.*",  # cuckoo: rare, and large
    r"_ZNK?6karpos.*(9set_marks|10is_refused).*",  # for a key whose walk has passed a whole stretch of full buckets
    r"_ZNK?6karpos.*9hopscotch.*(15insert_anywhere|10try_remove)I.*",  # for a key that is not, or has no space, in its home line
    r"_ZNK?6karpos.*9bfs_batch.*6counts5flushE.*",  # bfs_batch: before sums of thousands of vertices overflow
    r"_ZZN6karpos6detail5top_k14for_each_entryI.*",  # top_k: once for 256 entries of a list
    r"exp2|log2",  # top_k: once for each choice of a unit
    r"memset|memcpy",  # of more bytes than a few registers hold: the scratch of a team, the rows of a chunk
    r"__popcountdi2",  # for processors before x86-64-v2
    r"sched_yield|nanosleep|clock_nanosleep",  # waits
    r"abort|.*terminate.*|_ZN6Kokkos.*abort.*|__assert_fail|__stack_chk_fail|_Unwind_Resume|.*\.cold",  # ends the program
)))
# What Kokkos' loops may call as well, if g++'s budget for inlining is spent: small functions that read a slot.
KOKKOS_MAY_CALL = re.compile(r"_ZN6karpos6device(12load_relaxed|4host4load)I.*|"
                             r"_ZNK6karpos6detail.*(7slot_at|4live|6erased|9sentinels.*8contains)E.*")
# Units whose kernels are Kokkos' own, or that have none.
WITHOUT_LOOPS = {"build_csr", "build_sorted_lists", "kokkos", "rows"}
MOST_LINES = 20  # calls of a unit that are named
CALL = re.compile(r"\t(?:notrack |bnd )?(?:callq?|bl)\t(\S+)")
# Prefixes: notrack by -fcf-protection, which Ubuntu's g++ has by default, bnd by -mmpx, and rep for branch predictors of old
# processors.
JUMP = re.compile(r"\t(?:notrack |bnd )?(?:jmpq?|br?)\t(\S+)")
RETURN = re.compile(r"\t(?:rep |repz |bnd )*ret")
LABEL = re.compile(r"\.L[\w$.]+")


def functions_of(assembly):
    """The lines of each function of an assembly, by name, and the labels in each table of branches, by the table's."""
    functions, tables, name, table = {}, {}, None, None
    for line in assembly.splitlines():
        if start := re.match(r'"?([\w.$]+)"?:', line):
            table = start[1]
            if not start[1].startswith(".L"):
                name = start[1]
                functions[name] = []
            elif name:
                functions[name].append(start[1] + ":")
        elif re.match(r"\t\.size\t", line):
            name = None
        elif entry := re.match(r"\t\.(?:quad|long|word|xword|hword|byte)\t\(?(\.L[\w$.]+)", line):
            tables.setdefault(table, set()).add(entry[1])
        elif name and re.match(r"\t[a-z]", line):
            functions[name].append(line)
    return functions, tables


def calls_of(lines, tables):
    """[(what a function calls, whether on a cycle of its branches)]"""
    blocks, of_label = [[]], {}  # a block: lines without a branch but at their end
    for line in lines:
        if line.endswith(":"):
            if blocks[-1]:
                blocks.append([])
            of_label[line[:-1]] = len(blocks) - 1
            continue
        blocks[-1].append(line)
        if JUMP.match(line) or RETURN.match(line) or re.match(r"\t(?:bnd )?(j|b\.|cb|tb)", line):
            blocks.append([])
    in_tables = {of_label[x] for table in tables.values() for x in table if x in of_label}
    next_of, calls = [], []
    for i, block in enumerate(blocks):
        to = set()
        last = block[-1] if block else ""
        jump = JUMP.match(last)
        if not RETURN.match(last) and not jump and i + 1 < len(blocks):
            to.add(i + 1)
        if jump and jump[1] not in of_label:
            if jump[1].startswith("*") or last.startswith("\tbr\t"):
                to |= in_tables  # to an address that is computed
            else:
                calls.append((i, jump[1]))
        to |= {of_label[x] for x in LABEL.findall(last) if x in of_label}
        next_of.append(to)
        calls += [(i, call[1]) for line in block if (call := CALL.match(line))]

    def is_on_cycle(block):
        seen, todo = set(), list(next_of[block])
        while todo:
            i = todo.pop()
            if i == block:
                return True
            if i not in seen:
                seen.add(i)
                todo += next_of[i]
        return False

    cycles = {i: is_on_cycle(i) for i, _ in calls}
    return [(target.removesuffix("@PLT"), cycles[i]) for i, target in calls]


def calls_in_loops(assembly):
    """(functions with a loop, [(function, what it calls for each index)])."""
    functions, tables = functions_of(assembly)
    loops = [name for name in functions if LOOPS.match(name) and ".cold" not in name]
    seen, todo, calls = set(loops), list(loops), set()
    while todo:
        name = todo.pop()
        for target, on_cycle in calls_of(functions[name], tables):
            is_kokkos = KOKKOS_LOOP.match(name)
            if MAY_CALL.fullmatch(target) or (is_kokkos and KOKKOS_MAY_CALL.fullmatch(target)):
                continue
            if on_cycle:
                calls.add((name, target))
            elif not is_kokkos and target in functions and target not in seen and ".cold" not in target:
                seen.add(target)
                todo.append(target)
    return loops, sorted(calls)


def pipelines_without_prefetch(assembly):
    return sorted(name for name, lines in functions_of(assembly)[0].items()
                  if PIPELINE.match(name) and ".cold" not in name and not any(map(PREFETCH.match, lines)))


def readable(names):
    """Names as a person reads them, without most of their template arguments."""
    try:
        text = subprocess.run(["c++filt"], input="\n".join(names), check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return dict(zip(names, names))
    return dict(zip(names, (line[:160] for line in text.splitlines())))


def units_of(path):
    """The compile command of each unit, by name."""
    commands = commands_of(path)
    for file in sorted(Path(__file__).resolve().parent.glob("*.cpp")):
        commands[file.stem] = [str(file) if w.endswith(f"/{BASE}.cpp") else w for w in commands[BASE]]
    return commands


def look_at(name, command, optimisation, is_gcc):
    """The loops of a unit; prints their faults, and returns how many there are."""
    command = [w for w in command if not re.fullmatch(r"-O.", w)] + [optimisation, "-S", "-o", "-"]
    if is_gcc:
        command += [f"--param={p}" for p in SPENT]
    run = subprocess.run([w for w in command if w != "-c"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{name} does not compile: {run.stderr}")
    loops, calls = calls_in_loops(run.stdout)
    bare = pipelines_without_prefetch(run.stdout)
    words = readable([n for call in calls for n in call] + bare)
    for loop, target in calls[:MOST_LINES]:
        print(f"{name}, {optimisation}: {words[loop]}\n    calls {words[target]} for each index")
    for loop in bare:
        print(f"{name}, {optimisation}: {words[loop]}\n    does not prefetch")
    print(f"{name}, {optimisation}: {len(loops)} loops, {len(calls)} calls, {len(bare)} without prefetch", flush=True)
    return loops, len(calls) + len(bare)


def self_test():
    loop = "_ZNK6karpos6device6detail8pipelineIN6Kokkos6OpenMPEEclEm"
    step = "_ZN6karpos6device13launched_gridIN6Kokkos6OpenMPEE8run_stepINS_4stepEEEvPKv"
    probe = "_ZN6karpos6device6detail8pipelineIN6Kokkos6OpenMPEE10unfinished14probe_deferredEv"

    def function(name, before="", inside="", after=""):
        return (f"{name}:\n.LFB1:\n{before}.L3:\n\tcmpq\t%rax, %rbx\n\tje\t.L4\n{inside}\tjmp\t.L3\n"
                f".L4:\n{after}\tret\n\t.size\t{name}, .-{name}\n")

    other = "_ZN5other1fEv:\n\tcall\t_Z1gv\n\tret\n\t.size\t_ZN5other1fEv, .-_ZN5other1fEv\n"
    clean = calls_in_loops(function(loop, inside=f"\tcall\t{probe}\n\tcall\tabort@PLT\n") + other)
    assert clean == ([loop], []), clean
    for planted in ("\tcall\t_Z1gv\n", "\tcall\t_Z1gv@PLT\n", "\tbl\t_Z1gv\n", "\tcallq\t_Z1gv  # 8-byte spill\n"):
        for name in (loop, step):
            assert calls_in_loops(function(name, inside=planted)) == ([name], [(name, "_Z1gv")]), planted
            assert calls_in_loops(function(name, before=planted, after=planted)) == ([name], []), planted
    assert calls_in_loops(function(loop, inside="\tcall\t*%rax\n")) == ([loop], [(loop, "*%rax")])
    # A cycle through a table of branches, and one in a function that is called once.
    table = f"{loop}:\n.L3:\n\tjmp\t*%rax\n.L5:\n\tcall\t_Z1gv\n\tjmp\t.L3\n\t.size\t{loop}, .-{loop}\n.L7:\n\t.long\t.L5-.L7\n"
    assert calls_in_loops(table) == ([loop], [(loop, "_Z1gv")])
    for prefix in ("notrack ", "bnd "):
        text = table.replace("\tjmp\t*%rax\n", f"\t{prefix}jmp\t*%rax\n.L4:\n\tret\n")
        assert calls_in_loops(text) == ([loop], [(loop, "_Z1gv")]), prefix
    # A call behind a return is on no cycle, whatever prefix the return has.
    for prefix in ("", "rep ", "bnd "):
        text = function(loop, after=f"\t{prefix}ret\n\tcall\t_Z1gv\n\tjmp\t.L3\n")
        assert calls_in_loops(text) == ([loop], []), prefix
    # A loop of Kokkos' may read slots by calls, and may call nothing else.
    scan = "_ZNK6Kokkos4Impl21ParallelScanWithTotalIN6karpos6detail13retrieve_bodyIiEEE10exec_rangeIvEEv"
    live, load = "_ZNK6karpos6detail13slot_protocolIiE4liveEm", "_ZN6karpos6device12load_relaxedImEET_PKS2_"
    if_live = "_ZN6karpos6detail7if_liveIiEEvv"
    inside = "".join(f"\tcall\t{name}\n" for name in (live, load, if_live))
    assert calls_in_loops(function(scan, inside=inside)) == ([scan], [(scan, if_live)])
    assert len(calls_in_loops(function(loop, inside=inside))[1]) == 3
    for call in ("call", "jmp"):
        text = function(loop, after=f"\t{call}\t_Z4loopv\n") + function("_Z4loopv", inside="\tcall\t_Z1gv\n")
        assert calls_in_loops(text) == ([loop], [("_Z4loopv", "_Z1gv")]), call
    for name in (loop, probe.replace("Ev", "I6look_upEEv")):
        assert pipelines_without_prefetch(function(name)) == [name]
        for prefetch in ("\tprefetcht0\t(%rax)\n", "\tprfm\tpldl1keep, [x0]\n"):
            assert pipelines_without_prefetch(function(name, inside=prefetch)) == []
    assert not MAY_CALL.fullmatch("memset_slowly") and not MAY_CALL.fullmatch("_Z5aborti")
    print("ok")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments:
        sys.exit(__doc__)
    commands = units_of(arguments[0])
    levels = [a for a in arguments[1:] if a.startswith("-O")] or ["-O2"]
    names = [a for a in arguments[1:] if not a.startswith("-")] or sorted(commands)
    if unknown := [n for n in names if n not in commands]:
        sys.exit(f"no unit {', '.join(unknown)}.cpp in tests/compile_time or tests/inlining")
    compiler = compiler_of(commands[names[0]])
    is_gcc = compiler.startswith("GCC")
    if not is_gcc and "clang" not in compiler:
        print(f"SKIP: this reads the assembly of g++ and clang, not of {compiler}")
        return
    faults, kinds = 0, set()
    for name in names:
        for level in levels:
            loops, found = look_at(name, commands[name], level, is_gcc)
            faults += found
            kinds |= {kind for kind, pattern in KINDS.items() if any(re.match(pattern, loop) for loop in loops)}
            if not loops and name not in WITHOUT_LOOPS:
                sys.exit(f"{name} has no loop: the functions of loops are no longer named as KINDS says")
    if "--every-kind" in arguments and (missing := sorted(KINDS.keys() - kinds)):
        sys.exit(f"no unit has a loop of {', '.join(missing)}: its function is no longer named as KINDS says")
    if faults:
        sys.exit(f"{faults} faults of loops: inline what they call by force, and prefetch by device::prefetch")


if __name__ == "__main__":
    main(sys.argv[1:])
