#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds links of documents that lead nowhere.

    links.py ROOT          checks every *.md below ROOT: the file or folder that a link names is there, below ROOT, and so is
                           the heading behind its '#'; and the sections of README.md that the site's first page takes;
                           prints each that is not, exits 1 if there is one
    links.py --html FOLDER checks every *.html below FOLDER likewise: what href and src name, and ids behind '#'
    links.py --self-test   plants one bad link of each kind and checks that exactly this one is reported

Links with a scheme (https:) are not followed. Standard library only."""
import re
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import script

FENCE = re.compile(r"^\s*(```|~~~)")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^()\s<>]+(?:\([^()\s]*\)[^()\s]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
NOT_FOLLOWED = re.compile(r"^[a-z][a-z0-9+.-]*:|^//", re.I)
FIRST_PAGE = "docs/site/index.md.in"
SKIPPED = re.compile(r"^(build[^/]*|\.git|\.cache)(/|$)")


def prose_of(text):
    """The lines, numbered from 1, outside of code blocks, without code between backticks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors_of(text):
    """The names of a document's headings, as hosts of repositories make them; of equal ones the second ends in -1."""
    seen, names = {}, set()
    for _, line in prose_of(text):
        if not (heading := re.match(r"#{1,6}\s+(.*?)\s*#*$", line)):
            continue
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "").lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = seen[name] = seen.get(name, -1) + 1
        names.add(f"{name}-{count}" if count else name)
    return names


class Page(HTMLParser):
    """The links of an HTML page, and the ids that links may name."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names |= {values[a] for a in ("id", "name") if values.get(a)}
        self.links += [(self.getpos()[0], values[a]) for a in ("href", "src") if values.get(a)]


def markdown(text):
    links = [(n, m[1]) for n, line in prose_of(text) for m in LINK.finditer(CODE.sub("", line))]
    return links, anchors_of(text)


def html(text):
    page = Page(text)
    return page.links, page.names


def bad_links(root, pattern, read):
    """Yields (file, line, sentence) for every link that leads nowhere."""
    root = Path(root).resolve()
    files = [f for f in sorted(root.rglob(pattern)) if not SKIPPED.match(f.relative_to(root).as_posix())]
    pages = {f: read(f.read_text(encoding="utf-8")) for f in files}
    for file, (links, _) in pages.items():
        for line, link in links:
            if NOT_FOLLOWED.match(link):
                continue
            path, _, anchor = unquote(link).partition("#")
            target = (file.parent / path.partition("?")[0]).resolve() if path else file
            where = file.relative_to(root).as_posix()
            if root != target and root not in target.parents:
                yield where, line, f"'{link}' leaves the tree"
            elif not target.exists():
                yield where, line, f"'{link}' is not there"
            elif anchor and target in pages and anchor not in pages[target][1]:
                yield where, line, f"'{link}': {target.relative_to(root).as_posix()} has no heading of that name"


def missing_sections(root):
    """Yields (file, line, sentence) for every section that the site's first page takes from the README and that is not there."""
    page, readme = Path(root) / FIRST_PAGE, Path(root) / "README.md"
    if not page.exists():
        return
    headings = {line for _, line in prose_of(readme.read_text(encoding="utf-8"))}
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if (section := re.fullmatch("@(#.*)@", line)) and section[1] not in headings:
            yield FIRST_PAGE, number, f"README.md has no heading '{section[1]}'"


CLEAN = {
    "README.md": "# A `map` of (two) maps\n[one](docs/one.md#the-way) [self](#a-map-of-two-maps) ![p](docs/p.svg \"title\")\n"
                 "[folder](docs) [out](https://nowhere.invalid/x#y)\n```\n[code](is/no/link)\n```\n`[nor](this)`\n",
    "docs/one.md": "## The way\n## The way\n[second](#the-way-1) [up](../README.md)\n",
    "docs/p.svg": "<svg/>",
    "build/copy.md": "[left alone](nowhere.md)\n",
}
PLANTED = ["[x](nowhere.md)", "[x](docs/one.md#no-such)", "[x](#no-such)", "![x](docs/q.svg)", "[x](../outside.md)",
           "[`x` and [y]](nowhere.md)"]
CLEAN_HTML = {"a.html": '<a href="b.html#there" id="here">', "b.html": '<p id="there"><a href="a.html?x=1#here"><img src="a.html">'}
PLANTED_HTML = ['<a href="c.html">', '<a href="b.html#nowhere">', '<img src="c.png">']


def planted(tree, name, extra, pattern, read):
    with tempfile.TemporaryDirectory() as root:
        for file, text in tree.items():
            path = Path(root) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + (extra if file == name else ""), encoding="utf-8")
        return list(bad_links(root, pattern, read))


def self_test():
    failures, cases = [], 0
    for tree, name, texts, pattern, read in ((CLEAN, "README.md", PLANTED, "*.md", markdown),
                                             (CLEAN_HTML, "a.html", PLANTED_HTML, "*.html", html)):
        failures += [f"a clean tree is reported: {found}" for found in planted(tree, name, "", pattern, read)]
        for text in texts:
            cases += 1
            found = planted(tree, name, text + "\n", pattern, read)
            if len(found) != 1:
                failures.append(f"planted {text}, reported {found}")
    for section, expected in (("## Install", 0), ("## Instal", 1)):
        with tempfile.TemporaryDirectory() as root:
            page = Path(root) / FIRST_PAGE
            page.parent.mkdir(parents=True)
            page.write_text("@## Install@\n@MORE@\n", encoding="utf-8")
            (Path(root) / "README.md").write_text(f"# A\n{section}\n", encoding="utf-8")
            if len(found := list(missing_sections(root))) != expected:
                failures.append(f"the first page takes a section, README.md has {section}: reported {found}")
    print("\n".join(failures) or f"{cases} planted links that lead nowhere were found")
    return failures


def find(words):
    if len(words) == 2 and words[0] == "--html":
        found = bad_links(words[1], "*.html", html)
    elif len(words) == 1:
        found = [*bad_links(words[0], "*.md", markdown), *missing_sections(words[0])]
    else:
        return None
    return [f"{file}:{line}: {sentence}" for file, line, sentence in found]


if __name__ == "__main__":
    script.main(__doc__, self_test, find, "links that lead nowhere")
