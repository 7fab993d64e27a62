#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures: those of the guide, and the first page's plot of what perf/results holds.

    draw.py            writes them
    draw.py --check    exits 1 if one is not as it would be written, or a page of performance cannot be made
"""
import sys
import tempfile
from pathlib import Path

import performance
import pictures

FOLDER = Path(__file__).resolve().parents[1] / "pictures"


def drawn():
    texts = {f"{make.__name__}.svg": make().text() for make in pictures.ALL}
    texts["peers.svg"] = performance.peers_chart()
    return texts


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    texts = drawn()
    there = {f.name: f.read_text(encoding="utf-8") for f in FOLDER.glob("*.svg")}
    stale = sorted(name for name in texts.keys() | there.keys() if texts.get(name) != there.get(name))
    if arguments:
        with tempfile.TemporaryDirectory() as folder:
            performance.write(Path(folder))
        print("\n".join([*(f"docs/pictures/{name} is not as docs/site/draw.py draws it: run it" for name in stale), f"{len(texts)} pictures"]))
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
