#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs bootstrap with stubs of its tools: which file the demo reads, which progress is shown, how a failure ends.

    bootstrap.py BOOTSTRAP
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from checks import check

STUBS = {
    "dpkg-query": "echo installed",
    "apt-get": "exit 1",
    "ninja": "exit 0",
    "ctest": """echo "    Start 7: smoke"; echo " 1/2 Test  #7: smoke ..........   Passed    0.10 sec"
echo " 2/2 Test #12: driver.bfs ..........***Failed    0.20 sec"; echo "50% tests passed, 1 tests failed out of 2"; exit $CTEST_EXIT""",
    "cmake": """case $1 in
--version) echo "cmake version 3.30.1" ;;
-S) echo "words: $*" ;;
--build) echo "words: $*"; echo "[0/2] Re-checking globbed directories..."; echo "[1/2] Building CXX object perf/main.cpp.o"; echo "a warning"; echo "[2/2] Linking CXX executable perf/karpos" ;;
esac""",
}


def write_script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
    path.chmod(0o755)


def run(bootstrap, root, *words, ctest_exit=0):
    """Runs it in the folder root/caller, with the stubs before all other tools and a driver that prints its arguments."""
    stubbed = {**os.environ, "PATH": f"{root / 'stubs'}:{os.environ['PATH']}", "KARPOS_BUILD_DIR": str(root / "build"),
               "CTEST_EXIT": str(ctest_exit)}
    return subprocess.run([str(bootstrap), *words], cwd=root / "caller", capture_output=True, text=True, check=False, env=stubbed)


def prepare(root):
    for folder in ("stubs", "caller", "build/perf"):
        (root / folder).mkdir(parents=True)
    for name, text in STUBS.items():
        write_script(root / "stubs" / name, text)
    write_script(root / "build/perf/karpos", 'echo "driver: $*"')
    (root / "caller/mine.txt").write_text("0 1\n", encoding="ascii")


def demo_files(bootstrap, root):
    """A path is relative to the caller's folder; a missing file is reported before anything is built."""
    mine = root / "caller" / "mine.txt"
    for word in ("mine.txt", mine, "../caller/mine.txt"):
        done = run(bootstrap, root, "demo", str(word))
        check(f"demo {word}: exit code and complaints", (done.returncode, done.stderr), (0, ""))
        read = [Path(line.split()[2]).resolve() for line in done.stdout.splitlines() if line.startswith("driver: count")]
        check(f"demo {word}: reads", read, [mine.resolve()])
    built = (root / "build/log/build.log").read_text(encoding="utf-8")
    check("demo: builds all that is installed with the driver", "--target karpos_driver" in built, True)
    check("demo: reads ours", "driver: count docs/examples/data/karate.mtx" in run(bootstrap, root, "demo").stdout, True)
    done = run(bootstrap, root, "demo")
    steps = [line for line in done.stdout.splitlines() if line.startswith("== ")]
    measured = [line for line in done.stdout.splitlines() if line.startswith("driver: ") and "--reps" in line]
    check("demo: says what each command shows, and what is next", (len(steps) > 9, steps[-1]), (True, "== Next"))
    check("demo: measurements without a peer", [line for line in measured if "--peers" not in line], [])
    check("demo: next steps", [line[:2] for line in done.stdout.splitlines()[-3:]], ["1.", "2.", "3."])
    check("demo: says how long it takes", "minutes" in done.stdout, True)
    for word in ("none.txt", "docs/examples/data/karate.mtx", "/none.txt", "."):
        done = run(bootstrap, root, "demo", word)
        check(f"demo {word}: exit code and output", (done.returncode, done.stdout), (1, ""))
        check(f"demo {word}: '{done.stderr.strip()}'", "karpos: cannot read /" in done.stderr and word in done.stderr, True)


def progress(bootstrap, root):
    """Each step of a build and each test has a line; the log has everything; a failure is one."""
    done = run(bootstrap, root, "test")
    check("test: exit code", done.returncode, 0)
    for line in ("[1/2] perf/main.cpp.o", "[2/2] perf/karpos", "[1/2] smoke", "[2/2] driver.bfs", "50% tests passed"):
        check(f"test says {line}", line in done.stdout, True)
    check("test leaves the rest to the log", "a warning" in done.stdout or "[0/2]" in done.stdout, False)
    check("the log has them", "a warning" in (root / "build/log/build.log").read_text(encoding="ascii"), True)
    done = run(bootstrap, root, "test", ctest_exit=8)
    check("failed test: exit code", done.returncode, 1)
    check("failed test says where", "failed; the end of" in done.stdout, True)


def configuration(bootstrap, root):
    """Passes on the options of CMake, and builds nothing."""
    built = root / "build/log/build.log"
    built.unlink(missing_ok=True)
    done = run(bootstrap, root, "configure", "-DKARPOS_UNITY=OFF")
    check("configure: exit code", done.returncode, 0)
    check("configure: options", (root / "build/log/configure.log").read_text(encoding="ascii").strip().endswith(" -DKARPOS_UNITY=OFF"), True)
    check("configure: builds", built.exists(), False)


def main():
    bootstrap = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        prepare(root)
        demo_files(bootstrap, root)
        progress(bootstrap, root)
        configuration(bootstrap, root)
    print(f"{checks.failures} failures" if checks.failures else "bootstrap does as it says")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
