#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site: the guide, pages of performance made of perf/results, and the reference made of the headers.

    build.py FOLDER     writes FOLDER/html/index.html; Debian: python3-sphinx furo python3-myst-parser python3-breathe doxygen

Documents are copied with the folders of the tree, so that their links hold. A link to a public header leads to its page of the
reference; a link to another file of the tree leads to a copy of it. Exits 1 if Sphinx warns, or a link leads nowhere."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import performance

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "rules"))
from links import LINK, NOT_FOLLOWED, bad_links, html  # noqa: E402

DOCUMENTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/guide/*.md", "docs/design/*.md", "perf/results/**/*.md"]
COPIED = ["docs/pictures/*.svg", "perf/results/**/*.svg"]
HEADERS = [("The library", "algorithms/karpos", "*.hpp"), ("Several ranks", "algorithms/karpos", "distributed/*.hpp"), ("Words that all share", "lib/karpos", "*.hpp"),
           ("The machine", "backends/karpos", "device/*.hpp")]


def version():
    return re.search(r"project\(karpos VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def headers():
    """Path in the tree -> name as it is included."""
    return {f"{root}/{h.relative_to(ROOT / root).as_posix()}": f"karpos/{h.relative_to(ROOT / root).as_posix()}"
            for _, root, pattern in HEADERS for h in sorted((ROOT / root).glob(pattern))}


def api_page(header):
    return "api/" + re.sub(r"[^a-z0-9_]", "_", header.removesuffix(".hpp"))


def stage_document(source, path, pages):
    """Copies a document; its links lead to pages of the site, or to copies of files."""
    folder = Path(path).parent

    def moved(match):
        link, _, anchor = match[1].partition("#")
        if not link or NOT_FOLLOWED.match(match[1]):
            return match[0]
        target = os.path.normpath(folder / link)
        if target == "README.md":
            return match[0].replace(link, os.path.relpath("index.md", folder))
        if target in pages:
            return match[0].replace(match[1], os.path.relpath(api_page(pages[target]), folder) + ".md")
        if (ROOT / target).is_dir():
            if (ROOT / target / "README.md").exists() and target.startswith("perf/results"):
                return match[0].replace(match[1], os.path.relpath(f"{target}/README.md", folder))
            return match[0].partition("](")[0].lstrip("!")[1:]
        if not (source / target).exists():
            (source / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / target, source / target)
        return match[0]

    text = (ROOT / path).read_text(encoding="utf-8")
    blocks = re.split(r"(^```.*?^```\s*?$)", text, flags=re.M | re.S)
    (source / path).parent.mkdir(parents=True, exist_ok=True)
    (source / path).write_text("".join(b if b.startswith("```") else LINK.sub(moved, b) for b in blocks), encoding="utf-8")


def dark_as_well(picture):
    """Inverts a picture on dark pages, but keeps its hues, if it has no colours for them (pictures of perf/measure/plot and perf/measure/portability)."""
    if "prefers-color-scheme" in picture:
        return picture
    style = "<style>@media (prefers-color-scheme: dark) { svg { filter: invert(0.88) hue-rotate(180deg); } }</style>"
    return re.sub(r"(<svg[^>]*>)", lambda m: m[1] + style, picture, count=1)


def stage_documents(source):
    found = [f.relative_to(ROOT).as_posix() for pattern in DOCUMENTS for f in sorted(ROOT.glob(pattern))]
    for pattern in COPIED:
        for f in ROOT.glob(pattern):
            (source / f.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            (source / f.relative_to(ROOT)).write_text(dark_as_well(f.read_text(encoding="utf-8")), encoding="utf-8")
    for path in found:
        stage_document(source, path, headers())
    return found


def stage_index(source, documents):
    """The first page, with sections of the README, which is no page of its own; documents that it does not name yet come last."""
    readme = source / "README.md"
    sections = {s.partition("\n")[0]: s for s in re.split("^(?=## )", readme.read_text(encoding="utf-8"), flags=re.M)}
    readme.unlink()
    text = re.sub("^@(#.*)@\n", lambda m: sections[m[1]], (ROOT / "docs/site/index.md.in").read_text(encoding="utf-8"), flags=re.M)
    parts = [d.removesuffix(".md") for d in documents if re.fullmatch(r"docs/\w+\.md", d)]
    more = [p for p in parts if not re.search(rf"^{p}$", text, re.M)]
    (source / "index.md").write_text(text.replace("@MORE@", "\n".join(more)), encoding="utf-8")


def stage_reference(source):
    (source / "api").mkdir()
    names, lines = headers(), ["# Reference", "", "What each header declares; to include it as it is called here.", ""]
    for title, root, pattern in HEADERS:
        mine = [names[f"{root}/{h.relative_to(ROOT / root).as_posix()}"] for h in sorted((ROOT / root).glob(pattern))]
        lines += [f"## {title}", "", *(f"- [{name}](../{api_page(name)}.md)" for name in mine), ""]
    lines += ["```{toctree}", ":hidden:", *(Path(api_page(n)).name for n in names.values()), "```", ""]
    (source / "api/index.md").write_text("\n".join(lines), encoding="utf-8")
    for path, name in names.items():
        text = f"# {name}\n\n```cpp\n#include <{name}>\n```\n\n```{{eval-rst}}\n.. doxygenfile:: {path}\n```\n"
        (source / f"{api_page(name)}.md").write_text(text, encoding="utf-8")


def is_private(element):
    """Whether a reader cannot use what the element declares: it is private, a friend, in a namespace detail, or of a type there."""
    named = element.find("type") if element.tag == "memberdef" else element if element.tag in ("innerclass", "innernamespace") else None
    return element.get("kind", "").startswith(("private", "friend")) or named is not None and re.search(r"(^|::)detail\b", "".join(named.itertext()))


def leave_public(root):
    """Removes what is private from a file of Doxygen's, and namespaces detail from its names, and what a base is made of. Members that a class
    inherits become its own: Breathe leaves out of the page of a header what is declared in another."""
    for parent in root.iter():
        parent[:] = [child for child in parent if not is_private(child)]
        parent.text, parent.tail = (re.sub(r"\b(karpos::)?detail::(\w+::)*", "", t) if t else t for t in (parent.text, parent.tail))
    for compound in root.iterfind("compounddef[@kind!='file'][@kind!='namespace']"):
        for base in compound.iterfind("basecompoundref"):
            base.text = base.text.partition("<")[0]
        for place in compound.iterfind(".//memberdef/location"):
            place.set("file", compound.find("location").get("file"))


def run_doxygen(folder):
    """The headers as XML, without what is private."""
    text = (ROOT / "docs/Doxyfile.in").read_text(encoding="utf-8")
    for name, value in (("PROJECT_VERSION", version()), ("PROJECT_DESCRIPTION", ""), ("PROJECT_BINARY_DIR", str(folder)), ("PROJECT_SOURCE_DIR", str(ROOT))):
        text = text.replace(f"@{name}@", value)
    text += f'\nOUTPUT_DIRECTORY = "{folder}"\nGENERATE_HTML = NO\nGENERATE_XML = YES\nXML_PROGRAMLISTING = NO\nFILE_PATTERNS = *.hpp\nINPUT_FILTER = "sed -E -f {ROOT}/docs/site/fields.sed"\nSTRIP_FROM_PATH = "{ROOT}"\n'
    (folder / "Doxyfile").write_text(text, encoding="utf-8")
    subprocess.run(["doxygen", folder / "Doxyfile"], cwd=ROOT, check=True)
    for file in (folder / "xml").glob("*.xml"):
        tree = ElementTree.parse(file)
        leave_public(tree.getroot())
        tree.write(file, encoding="utf-8")


def run_sphinx(folder, source):
    """Builds the pages. Returns: whether Sphinx warned, except of what Breathe declares twice and of C++20 that it cannot parse."""
    settings = {**os.environ, "KARPOS_VERSION": version(), "KARPOS_XML": str(folder / "xml")}
    words = [sys.executable, "-B", "-m", "sphinx", "-q", "-d", folder / "doctrees", "-c", ROOT / "docs/site", source, folder / "html"]
    done = subprocess.run(words, env=settings, stderr=subprocess.PIPE, text=True, check=False)
    of_breathe = re.compile(r"/api/\S+: WARNING: (Duplicate|Invalid) (C\+\+ declaration|explicit target)")
    lines = [line for line in done.stderr.splitlines() if ("WARNING" in line or "ERROR" in line) and not of_breathe.search(line)]
    print("\n".join(lines if done.returncode == 0 else done.stderr.splitlines()))
    return bool(done.returncode or lines)


def dark_by_preference(style):
    """Repeats the style sheet's rules for dark pages, for readers whose system prefers dark pages and who chose no theme."""
    rules = re.search(r"^@media not print \{(.*?\n  [^\n]*\} *\})\n", style, re.M | re.S)[1]
    rules = rules.replace('[data-theme="dark"]', ':not([data-theme="light"])')
    return f"{style}\n@media screen and (prefers-color-scheme: dark) {{{rules}\n"


def mend_theme(static):
    """Debian's furo leaves it to a bundler to join its scripts, and to a web server to have a style sheet in a folder of Debian's; its style
    sheet has lost what readers prefer. Its text is made 6 em wider: 100 columns of code fit."""
    scripts, style = static / "scripts", static / "styles/furo.css"
    furo = (scripts / "furo.js").read_text(encoding="utf-8").replace('import Gumshoe from "./gumshoe-patched.js";\n', "")
    (scripts / "furo.js").write_text((scripts / "gumshoe-patched.js").read_text(encoding="utf-8") + furo, encoding="utf-8")
    text = re.sub(r"@import url\(/javascript/\S*\);", "", style.read_text(encoding="utf-8"))
    text = re.sub(r"\b(46|52|67|82)em\b", lambda m: f"{int(m[1]) + 6}em", text)
    style.write_text(text if "prefers-color-scheme" in text else dark_by_preference(text), encoding="utf-8")


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    folder = Path(arguments[0]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "source"
    source.mkdir(parents=True)
    run_doxygen(folder)
    stage_index(source, stage_documents(source))
    stage_reference(source)
    performance.write(source / "performance")
    warned = run_sphinx(folder, source)
    mend_theme(folder / "html/_static")
    lost = list(bad_links(folder / "html", "*.html", html))
    print("\n".join([*(f"{file}:{line}: {sentence}" for file, line, sentence in lost), f"{len(lost)} links that lead nowhere", f"{folder}/html/index.html"]))
    return 1 if warned or lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
