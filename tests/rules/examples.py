#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds C++ of the README and the guide that no example has: what they show is compiled and run by the tests.

    examples.py ROOT         each block ```cpp of README.md and docs/guide/*.md is code of one file of docs/examples; comments,
                             line breaks and what the block leaves out at its blank lines do not count
    examples.py --self-test  plants blocks that differ from their example and checks that each is reported"""
import re
import tempfile
from pathlib import Path

import script

BLOCK = re.compile(r"^```cpp\n(.*?)^```", re.M | re.S)


def code_of(text):
    """The code without comments and white space."""
    return re.sub(r"//[^\n]*|\s", "", text)


def is_in(parts, code):
    """Whether the code has these parts, in this order."""
    at = 0
    for part in parts:
        found = code.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def unknown_blocks(root):
    """Yields (file, line) of every block that no example has."""
    root = Path(root)
    examples = [code_of(f.read_text(encoding="utf-8")) for f in sorted((root / "docs/examples").glob("*.cpp"))]
    for page in [root / "README.md", *sorted((root / "docs/guide").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            parts = [code_of(part) for part in re.split(r"\n\s*\n", block[1])]
            if not any(is_in(parts, example) for example in examples):
                yield page.relative_to(root).as_posix(), text.count("\n", 0, block.start()) + 1


def self_test():
    example = "#include <x>\nint f() { return 1; }  // one\nint g() {\n  return 2; }\nint h();\n"
    known = ["int f() { return 1; }\n", "#include <x>  // why\n\nint g() { return 2; }\n", "int f() { return 1; }\nint g() {\n"]
    unknown = ["int f() { return 3; }\n", "int h();\n\nint f() { return 1; }\n", "int f() { return 1; }\nint h();\n"]
    failures = []
    for block in known + unknown:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "docs/examples").mkdir(parents=True)
            (Path(folder) / "docs/examples/a.cpp").write_text(example, encoding="utf-8")
            (Path(folder) / "README.md").write_text(f"# A\n\n```cpp\n{block}```\n", encoding="utf-8")
            if list(unknown_blocks(folder)) != ([("README.md", 3)] if block in unknown else []):
                failures.append(f"{block!r} is {'not ' if block in unknown else ''}reported")
    print("\n".join(failures) or f"{len(unknown)} planted blocks that no example has were found")
    return failures


def find(words):
    return [f"{page}:{line}: no file of docs/examples has this code" for page, line in unknown_blocks(words[0])] if len(words) == 1 else None


if __name__ == "__main__":
    script.main(__doc__, self_test, find, "blocks that no example has")
