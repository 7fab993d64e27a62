#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page of the driver, made of what its commands print for --help.

    man_page.py DRIVER > karpos.1
"""
import re
import subprocess
import sys

EXIT_CODES = [("0", "good"), ("1", "wrong answers, or output that did not arrive"),
              ("2", "input or options that cannot be used; a sentence on standard error says which and why")]
ENVIRONMENT = [("OMP_NUM_THREADS", "threads of the OpenMP backend; also --kokkos-num-threads=N"),
               ("OMP_PROC_BIND, OMP_PLACES", "where neither is set, a thread for each processor is bound to it")]


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def escaped(text):
    """As roff prints it: no line begins with a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def verbatim(text):
    return f".EX\n{escaped(text.strip())}\n.EE"


def definitions(pairs):
    return "\n".join(f".TP\n.B {escaped(name)}\n{escaped(words)}" for name, words in pairs)


def commands_of(help_text):
    """Name and summary of each command, from the driver's own help."""
    block = re.search(r"^Commands:\n((?:  .*\n)+)", help_text, re.M)[1]
    return re.findall(r"^  (\S+)\s+(.*)$", block, re.M)


def example_of(help_text):
    """The line that begins with "Example: " in the help of a command."""
    return re.search(r"^Example: (karpos .*)$", help_text, re.M)[1]


def page(driver):
    main = output_of(driver, "--help")
    version = output_of(driver, "--version").split()[-1]
    commands = commands_of(main)
    helps = {name: output_of(driver, name, "--help") for name, _ in commands}
    sections = [
        ("NAME", escaped("karpos - irregular parallel algorithms on graphs, tables and maps, measured and checked")),
        ("SYNOPSIS", ".B karpos\n.I command\n[\n.I options\n]"),
        ("DESCRIPTION", escaped("Counts, groups, joins, searches and ranks what text files hold, or what it generates, by the algorithms of the library "
                                "Karpos, and measures these beside what the machine allows. Every command checks its answers.")),
        ("COMMANDS", definitions(commands)),
        *((f"KARPOS {name.upper()}", verbatim(text)) for name, text in helps.items()),
        ("OPTIONS", definitions([("--version", "print the version"), ("--help", "print the commands; behind a command, its options"),
                                 ("--kokkos-...", "goes to Kokkos, e.g. --kokkos-num-threads=2")])),
        ("EXIT STATUS", definitions(EXIT_CODES)),
        ("ENVIRONMENT", definitions(ENVIRONMENT)),
        ("EXAMPLES", verbatim("\n".join(map(example_of, helps.values())))),
    ]
    body = "\n".join(f".SH {title}\n{text}" for title, text in sections)
    return f'.\\" Made of what the driver prints for --help.\n.TH KARPOS 1 "" "Karpos {version}" "User Commands"\n{body}\n'


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(page(sys.argv[1]))
