#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos paper` and checks the shape of what it prints and writes; never times.

    paper.py DRIVER PAGE all|first     PAGE: docs/reproduced.md; first: of papers that list many figures, only the first one
"""
import html.parser
import json
import math
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

import checks
from checks import check, run

# Published values, as their texts have them: paper, figure, series, points.
PUBLISHED = {
    ("cucollections", "T1", "NVIDIA H100-80GB-SXM"): [[0, 3352], [2, 256]],
    ("cucollections", "5", "cuco::static_map"): [[0, 87.5], [1, 134.6]],
    ("hashcsr", "multiplicity", "HashCSR"): [[1, 0.166843], [10, 0.165929], [100, 0.18318], [1e3, 0.272], [1e4, 0.625], [5e4, 3.507]],
    ("hashcsr", "multiplicity", "multiset of cuCollections, before"): [[1, 0.169364], [10, 0.251927], [100, 0.876574], [1e3, 6.816], [1e4, 56.742], [5e4, 286.811]],
    ("hashcsr", "multiplicity", "sort-merge join of cuDF"): [[1, 0.614171], [10, 0.596207], [100, 0.640105], [1e3, 0.999], [1e4, 1.845], [5e4, 4.264]],
    ("topk", "1", "less than"): [[1e7, 2000]],
    ("cuckoo", "construction", "cuckoo"): [[5e6, 35.7]],
    ("cuckoo", "retrieval", "binary search"): [[5e6, 79.5]],
    ("cuckoo", "abstract", "cuckoo"): [[0, 35.7], [1, 15.3], [2, 1.42]],
    ("cuckoo", "abstract", "sort, binary search"): [[0, 36.6], [1, 79.5]],
}
FIGURE = ["figure", "title", "command", "one_value", "seconds", "x", "y", "series", "claims"]
FEW = 3  # figures that are all measured


def papers_of(driver):
    """The papers that --help names."""
    return re.search(r"which: ((?:\w+, )*\w+)", " ".join(run(driver, "paper", "--help").stdout.split()))[1].split(", ")


def figures_of(driver, paper):
    """The numbers of a paper's figures, as --list prints them."""
    return [line.split()[0] for line in run(driver, "paper", paper, "--list").stdout.splitlines()[1:]]


def series(paper, figure):
    of = figure["figure"]
    for s in figure["series"]:
        what = f"{paper} {of}: {s['name']}"
        check(f"{what}: origin", s["origin"] in ("published", "ours", "peer", "ceiling"), True)
        check(f"{what}: finite", all(math.isfinite(x) and math.isfinite(y) and y >= 0 for x, y in s["points"]), True)
        check(f"{what}: values, or why there are none", bool(s["points"] or s.get("missing")), True)
        if categories := figure["x"].get("categories"):
            check(f"{what}: categories", all(x == int(x) and 0 <= x < len(categories) for x, _ in s["points"]), True)
        if s["origin"] == "published":
            check(f"{what}: the legend adds the word", "published" in s["name"], False)
            check(f"{what}: published values", s["points"], PUBLISHED.get((paper, of, s["name"]), s["points"]))
    check(f"{paper} {of}: ours", "table" in figure or any(s["origin"] == "ours" for s in figure["series"]), True)


def claims(paper, figure):
    for c in figure["claims"]:
        what = f"{paper} {figure['figure']}: '{c['claim']}'"
        check(f"{what} is not judged", c["holds"], None)
        check(f"{what} says why: {c['because']}", re.fullmatch("--quick measures too little to judge: .+", c["because"]) is not None, True)


class page_reader(html.parser.HTMLParser):
    """Counts tags, and lists what a page would load."""

    def __init__(self):
        super().__init__()
        self.open, self.count, self.loaded = [], {}, []

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.loaded += [value for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        check("page: closes what is open", self.open.pop() if self.open else None, tag)


def files(paper, folder, seen):
    check(f"{paper}: the file is what was printed", json.loads((folder / f"{paper}.json").read_text(encoding="utf-8")), seen)
    pictures = 0
    for figure in seen["figures"]:
        picture = folder / f"{paper}-{figure['figure']}.svg"
        drawn = any(s["points"] for s in figure["series"])
        check(f"{picture.name}: is there", picture.exists(), drawn)
        if drawn:
            pictures += 1
            root = xml.etree.ElementTree.fromstring(picture.read_text(encoding="utf-8"))
            words = " ".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text"))
            for s in figure["series"]:
                check(f"{picture.name}: legend has {s['name']}", s["name"] in words, bool(s["points"]))
            check(f"{picture.name}: numbers", "nan" in words or "inf " in words, False)
    text, reader = (folder / f"{paper}.html").read_text(encoding="utf-8"), page_reader()
    reader.feed(text)
    check(f"{paper}.html: open at its end", reader.open, [])
    check(f"{paper}.html: loads", reader.loaded, [])
    check(f"{paper}.html: pictures, figures", (reader.count.get("svg", 0), reader.count.get("section", 0)), (pictures, len(seen["figures"])))
    check(f"{paper}.html: commands", all(figure["command"] in text for figure in seen["figures"]), True)


def quick(driver, paper, numbers):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder) / "new" / "folder"
        done = run(driver, "paper", paper, "--quick", "--json", "--figure", ",".join(numbers), "--output", folder)
        check(f"{paper}: exit code; {done.stderr}", done.returncode, 0)
        seen = json.loads(done.stdout)
        check(f"{paper}: format", (seen["format"], seen["paper"], seen["quick"]), ("karpos-paper-1", paper, True))
        check(f"{paper}: published on", bool(seen["published_on"] and seen["reference"]), True)
        check(f"{paper}: figures", [f["figure"] for f in seen["figures"]], numbers)
        for figure in seen["figures"]:
            check(f"{paper}: fields", list(figure)[:len(FIGURE)], FIGURE)
            check(f"{paper} {figure['figure']}: wrong", (figure["wrong"], figure.get("failure")), (0, None))
            check(f"{paper} {figure['figure']}: one value", figure["one_value"].removeprefix("mpirun -n 2 ").startswith("karpos "), True)
            series(paper, figure)
            claims(paper, figure)
        files(paper, folder, seen)


def stopped(driver):
    """A run that is stopped leaves the figures that it has measured."""
    with tempfile.TemporaryDirectory() as folder:
        written, page = Path(folder) / "glht.json", Path(folder) / "glht.html"
        process = subprocess.Popen([driver, "paper", "glht", "--quick", "--figure", "11,12", "--output", folder],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not page.exists():  # which is written last
            time.sleep(0.005)
        running = process.poll() is None
        process.kill()
        process.wait()
        seen = [f["figure"] for f in json.loads(written.read_text())["figures"]]
        check("stopped: figures", seen, ["11"] if running else ["11", "12"])


def text(driver):
    done = run(driver, "paper", "topk", "--quick", "--figure", 1)
    check("text: exit code", done.returncode, 0)
    for word in ("Tegra", "Figure 1", "less than (published)", "karpos::top_k", "not tried", "karpos topk uniform"):
        check(f"text: {word}", word in done.stdout, True)
    check("text: one figure", "Figure 2" in done.stdout, False)


def bad_input(driver, folder):
    taken = Path(folder) / "taken"
    taken.write_text("", encoding="ascii")
    cases = [
        ([], "paper"), (["nonsense"], "choose one of"), (["topk", "--figure", 99], "choose of 1, 2"), (["topk", "--figure", "1,x"], "'x'"),
        (["topk", "--output", taken], f"{taken} ("), (["topk", "--output", taken / "below"], "choose another --output"), (["topk", "1"], "'1'"),
        (["topk", "--graph", "grid:3x3"], "no figure of graphs"), (["topk", "--list", "--output", "--json"], "'--output' lacks its value"),
    ]
    for words, named in cases:
        done = run(driver, "paper", *words)
        check(f"{words}: exit code", done.returncode, 2)
        check(f"{words}: output", done.stdout, "")
        check(f"{words}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def main():
    driver, page, which = sys.argv[1:]
    page = Path(page).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        bad_input(driver, folder)
    for paper in papers_of(driver):
        numbers = figures_of(driver, paper)
        check(f"{paper}: no number twice", len(set(numbers)), len(numbers))
        check(f"{paper}: figures without a command on the page", [n for n in numbers if f"karpos paper {paper} --figure {n}`" not in page], [])
        quick(driver, paper, numbers if which == "all" or len(numbers) <= FEW else numbers[:1])
    stopped(driver)
    text(driver)
    return checks.verdict("paper")


if __name__ == "__main__":
    sys.exit(main())
