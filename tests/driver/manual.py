#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the manual page has everything that --help prints, that roff reads it, that bash completes its words, and
that the example in every command's help runs in the root of the repository.

    manual.py DRIVER FOLDER     FOLDER: perf/tool/manual
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import checks
from checks import check, run


def page_of(driver, folder):
    return subprocess.run([sys.executable, "-B", folder / "man_page.py", driver], capture_output=True, text=True, check=True).stdout


def plain(roff):
    """A line of roff as it is printed."""
    return roff.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def commands_of(driver):
    return re.findall(r"^  ([a-z]\w*) ", run(driver, "--help").stdout.partition("Commands:")[2], re.M)


def manual_page(driver, folder):
    page = page_of(driver, folder)
    lines = [plain(line) for line in page.splitlines()]
    for command in commands_of(driver):
        said = run(driver, command, "--help").stdout.strip().splitlines()
        check(f"karpos {command}: lines of --help that the page lacks", [line for line in said if line not in lines], [])
    check("lines of text that begin as a request", [line for line in page.splitlines() if re.match(r"[.'](?!\\\"|EX|EE|SH|TP|TH|B |I )", line)], [])
    # Containers of Ubuntu have a stub of man, which only prints a message.
    known = shutil.which("man") and subprocess.run(["man", "--version"], capture_output=True, text=True, check=False).stdout
    if not known or "minimized" in known:
        print("SKIP: no man, so that roff has not read the page")
    else:
        done = subprocess.run(["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True, check=False,
                              env={"LC_ALL": "C.UTF-8", "MANWIDTH": "200", "MANPAGER": "cat", "PATH": "/usr/bin:/bin"})
        check("man: exit code and warnings", (done.returncode, done.stderr), (0, ""))
        check("man: shows the options", "--validate" in done.stdout, True)


def completed(driver, folder, *words):
    """The completions that bash offers for the last of the words after the driver's name."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _karpos; '
              '[[ ${#COMPREPLY[@]} == 0 ]] || printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", folder / "karpos.bash", driver, *words], capture_output=True, text=True, check=False)
    check(f"{words}: complaints", done.stderr, "")
    return done.stdout.split()


def completion(driver, folder):
    check("commands", completed(driver, folder, ""), ["--help", "--version", *commands_of(driver)])
    check("a command that is begun", completed(driver, folder, "bf"), ["bfs"])
    check("options that are begun", completed(driver, folder, "bfs", "--val"), ["--validate"])
    check("the second name of an option", completed(driver, folder, "topk", "--repe"), ["--repeat"])
    options = completed(driver, folder, "hash", "--")
    check("all options of a command", sorted(options), sorted(set(re.findall(r"^  (?:-h,)?(--[\w-]+)", run(driver, "hash", "--help").stdout, re.M))))
    check("values", completed(driver, folder, "bfs", "--direction", ""), ["auto", "top-down", "gamma", "beamer"])
    for command in ("bfs", "sssp", "components"):
        check(f"formats of {command}", completed(driver, folder, command, "--format", ""), ["auto", "edges", "matrixmarket", "dimacs", "metis", "sg"])
    check("values that are begun", completed(driver, folder, "topk", "--result", "e"), ["exact"])
    check("a value that may be anything: left to the shell", completed(driver, folder, "hash", "--keys", ""), [])
    check("a file: left to the shell", completed(driver, folder, "count", ""), [])


def pages(driver):
    """Help begins with its example, which may be longer than a line, and fits a screen of 80 columns and 40 rows or comes in groups."""
    for words in ([], *([command] for command in commands_of(driver))):
        lines = run(driver, *words, "--help").stdout.splitlines()
        check(f"karpos {words} --help: begins with an example", lines[0].startswith("Example: karpos "), True)
        check(f"karpos {words} --help: lines beyond column 80", [line for line in lines[1:] if len(line) > 80], [])
        groups = sum(re.fullmatch(r"\w[\w ]*:", line) is not None for line in lines)
        check(f"karpos {words} --help: {len(lines)} lines in {groups} groups", len(lines) <= 40 or groups > 2, True)


def examples(driver, folder):
    """The examples of the help run as they are written."""
    os.chdir(folder.parents[2])
    for command in commands_of(driver):
        lines = re.findall(r"^Example: (.*)$", run(driver, command, "--help").stdout, re.M)
        check(f"karpos {command} --help: examples", len(lines), 1)
        for line in lines:
            check(f"{line}: of which program and command", line.split()[:2], ["karpos", command])
            words = subprocess.run(["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
            done = run(driver, *words)
            check(f"{line}: exit code; {done.stderr}", (done.returncode, done.stdout != ""), (0, True))


def main():
    driver, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    manual_page(driver, folder)
    completion(driver, folder)
    pages(driver)
    examples(driver, folder)
    return checks.verdict("--help")


if __name__ == "__main__":
    sys.exit(main())
