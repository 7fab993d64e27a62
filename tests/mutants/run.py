#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Introduces mistakes into the library, one at a time, and checks that a test suite notices each.

    run.py [--jobs N] [--build-dir DIR] [--cmake-arg=ARG ...] [--space SPACE] [--time-limit S] [--only NAME ...]
    run.py --list     prints the mutants of mutants.txt
    run.py --check    checks that each still fits the tree: its text occurs once, its suites exist

Each worker has its own copy of the tree. For each mutant it applies the change, then builds and runs the named suites
one after another, until one fails. Exits 0 if every mutant was caught; 1 if one survived, hung a suite or did not
compile. README.md explains more.
"""
import argparse
import collections
import concurrent.futures
import os
import queue
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIST = HERE / "mutants.txt"
NOT_COPIED = re.compile(r"(build.*|\.git|\.cache|__pycache__|compile_commands\.json)$")
SETTINGS = ["CMAKE_BUILD_TYPE=Release", "KARPOS_FULL_TESTS=OFF", "KARPOS_ENABLE_PERF=OFF", "KARPOS_ENABLE_EXAMPLES=OFF"]

Mutant = collections.namedtuple("Mutant", "name file suites old new")


# The list.

def read_list(text):
    """The mutants of a list; see README.md for its format."""
    mutants = []
    for block in re.split(r"^mutant ", "\n" + text, flags=re.M)[1:]:
        head, *lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        words = dict(line.split(" ", 1) for line in lines if line[0] not in " +-")
        change = [line for line in lines if line[0] in " +-"]
        old, new = ("".join(line[1:] + "\n" for line in change if line[0] in kinds) for kinds in (" -", " +"))
        mutants.append(Mutant(head.strip(), words["file"], words["suites"].split(), old, new))
    return mutants


def target_of(suite, space):
    """The executable of a suite: "bfs" is that of the execution space, "unit.host" needs none, "join.ranks" has MPI."""
    return suite if "." in suite else f"{suite}.{space}"


def existing_suites(root):
    """The suites that tests/*/CMakeLists.txt add."""
    found = set()
    suffixes = {"": "", "host_": ".host", "rank_": ".ranks"}
    for file in (root / "tests").rglob("CMakeLists.txt"):
        for kind, name in re.findall(r"^ *karpos_add_(host_|rank_|)test\(NAME (\w+)", file.read_text(encoding="utf-8"), re.M):
            found.add(name + suffixes[kind])
    return found


def places(text, old):
    """Where whole lines occur."""
    return [m.start() for m in re.finditer(re.escape(old), text) if m.start() == 0 or text[m.start() - 1] == "\n"]


def mistakes(mutants, root):
    """Yields a sentence for each mutant that does not fit the tree."""
    suites = existing_suites(root)
    for name, n in collections.Counter(m.name for m in mutants).items():
        if n > 1:
            yield f"{name}: {n} mutants have this name"
    for m in mutants:
        file = root / m.file
        if not file.is_file():
            yield f"{m.name}: there is no file {m.file}"
            continue
        n = len(places(file.read_text(encoding="utf-8"), m.old)) if m.old else 0
        if n != 1:
            yield f"{m.name}: its text occurs {n} times in {m.file}"
        if m.old == m.new:
            yield f"{m.name}: changes nothing"
        for suite in m.suites:
            if suite not in suites:
                yield f"{m.name}: there is no suite {suite}"


# A copy of the tree, and what is built from it.

def files_of(root):
    """The files of a tree that git tracks or could track; without git all files that builds do not make."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        names = sorted(set(listed.decode().split("\0")) - {""})
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, folders, files in os.walk(root):
            folders[:] = [f for f in folders if not NOT_COPIED.match(f)]
            names += [os.path.relpath(os.path.join(folder, f), root) for f in files if not NOT_COPIED.match(f)]
    return [name for name in names if (root / name).is_file()]


class Tree:
    """A copy of the sources, its build folder and a log."""

    def __init__(self, folder, options):
        self.source, self.build, self.log = folder / "source", folder / "build", folder / "log.txt"
        self.options = options
        self.source.mkdir(parents=True, exist_ok=True)

    def prepare(self):
        """Copies what differs, so that a second run compiles little, and configures. Returns: whether that worked."""
        for name in files_of(ROOT):
            original, copy = ROOT / name, self.source / name
            if copy.is_file() and copy.read_bytes() == original.read_bytes():
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(original.read_bytes())
            copy.chmod(original.stat().st_mode)
        settings = [f"-D{setting}" for setting in (*SETTINGS, f"KARPOS_BACKEND={self.options.space}")]
        command = ["cmake", "-S", str(self.source), "-B", str(self.build), *settings, *self.options.cmake_arg]
        return self.call(command) == 0

    def call(self, command, limit=None):
        """Returns: the exit status, negative for a signal, or None after the time limit."""
        environment = dict(os.environ, OMP_PROC_BIND="false")
        with open(self.log, "ab") as log:
            log.write(f"\n$ {' '.join(command)}\n".encode())
            log.flush()
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                       start_new_session=True)
            try:
                return process.wait(limit)
            except BaseException as stopped:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if isinstance(stopped, subprocess.TimeoutExpired):
                    return None
                raise

    def make(self, targets, parallel):
        """Returns: whether the targets could be built; tried twice, for a build may have been interrupted."""
        command = ["cmake", "--build", str(self.build), "--parallel", str(parallel), "--target", *targets]
        return any(self.call(command) == 0 for _ in range(2))

    def run(self, target):
        """Runs a suite. Returns: its exit status (None: hung), and seconds."""
        program = next(f for f in sorted((self.build / "tests").rglob(target)) if f.is_file())
        start = time.monotonic()
        return self.call([str(program)], self.options.time_limit), time.monotonic() - start


def verdict_on(tree, mutant):
    """Returns: whether the mutant was caught, and a line with the result."""
    file = tree.source / mutant.file
    text = file.read_text(encoding="utf-8")
    try:
        file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        for suite in mutant.suites:
            target = target_of(suite, tree.options.space)
            if not tree.make([target], tree.options.parallel):
                return False, f"DOES NOT COMPILE ({suite}; see {tree.log})"
            status, seconds = tree.run(target)
            if status is None:
                return False, f"HUNG {suite} for {seconds:.0f} s"
            if status != 0:
                how = f", by signal {-status}" if status < 0 else ""
                return True, f"caught by {suite} in {seconds:.1f} s{how}"
        return False, f"SURVIVED {' '.join(mutant.suites)}"
    finally:
        file.write_text(text, encoding="utf-8")


# All of them.

def passes_unmutated(tree, mutants, options):
    """Whether the tree builds and passes the suites without a mutant; prints what fails."""
    targets = sorted({target_of(suite, options.space) for m in mutants for suite in m.suites})
    print(f"unmutated: {len(targets)} suites", flush=True)
    if not tree.prepare():
        print(f"The tree cannot be configured; see {tree.log}")
        return False
    if not tree.make(targets, options.jobs * options.parallel):
        print(f"The suites cannot be built; see {tree.log}")
        return False
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = dict(zip(targets, pool.map(tree.run, targets)))
    failed = [target for target, (status, _) in results.items() if status != 0]
    if failed:
        print(f"These fail without a mutant: {' '.join(failed)}; see {tree.log}")
    else:
        print(f"unmutated: all pass, {sum(seconds for _, seconds in results.values()):.0f} s in all", flush=True)
    return not failed


def judge(mutants, trees):
    """Yields (mutant, caught, line) as they finish, a worker for each tree."""
    results, waiting = queue.Queue(), queue.Queue()
    for mutant in mutants:
        waiting.put(mutant)

    def work(tree):
        ready = tree.prepare()
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                failed = (False, f"NOT TRIED: no configuration; see {tree.log}")
                results.put((mutant, *(verdict_on(tree, mutant) if ready else failed)))
            except Exception as e:  # a result for every mutant, whatever happens
                results.put((mutant, False, f"NOT TRIED: {e!r}"))

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        for tree in trees:
            pool.submit(work, tree)
        for _ in mutants:
            yield results.get()


def run_all(mutants, options):
    folder = Path(options.build_dir).resolve()
    trees = [Tree(folder / f"worker-{i}", options) for i in range(min(options.jobs, len(mutants)))]
    if not options.trust and not passes_unmutated(Tree(folder / "unmutated", options), mutants, options):
        return 1
    start, count = time.monotonic(), collections.Counter()
    width = max(len(m.name) for m in mutants)
    for mutant, caught, line in judge(mutants, trees):
        count["caught" if caught else "not caught"] += 1
        print(f"{mutant.name:<{width}}  {line}", flush=True)
    minutes = (time.monotonic() - start) / 60
    totals = ", ".join(f"{n} {what}" for what, n in sorted(count.items(), reverse=True))
    print(f"{len(mutants)} mutants in {minutes:.1f} minutes: {totals}")
    return 0 if count["caught"] == len(mutants) else 1


def check(mutants):
    found = list(mistakes(mutants, ROOT))
    print("\n".join(found) or f"{len(mutants)} mutants of {len({m.file for m in mutants})} files fit the tree")
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="workers")
    parser.add_argument("--parallel", type=int, default=1, help="compilers of a worker")
    parser.add_argument("--build-dir", default=str(ROOT / "build" / "mutants"), help="kept, for logs and a next run")
    parser.add_argument("--cmake-arg", action="append", default=[], help="more settings: --cmake-arg=-GNinja")
    parser.add_argument("--space", default="serial", help="execution space of the suites: serial, openmp or threads")
    parser.add_argument("--time-limit", type=float, default=300, help="seconds of a suite")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these mutants, or all of a prefix")
    parser.add_argument("--trust", action="store_true", help="do not run the suites without a mutant first")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    mutants = read_list(LIST.read_text(encoding="utf-8"))
    if options.only:
        mutants = [m for m in mutants if any(m.name.startswith(name) for name in options.only)]
    if options.list:
        for m in mutants:
            print(f"{m.name}: {m.file}: {' '.join(m.suites)}")
        return 0
    if not mutants:
        sys.exit("There is no such mutant.")
    status = check(mutants)
    return status if status != 0 or options.check else run_all(mutants, options)


if __name__ == "__main__":
    sys.exit(main())
