#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos components` and compares what it prints with components of its own.

    components.py DRIVER GRAPH     GRAPH: a list of edges
"""
import sys
import tempfile
from pathlib import Path

import checks
from checks import check


def component_ids_of(edges, vertices):
    ids = list(range(vertices))
    changed = True
    while changed:
        changed = False
        for u, v in edges:
            least = min(ids[u], ids[v])
            if ids[u] != least or ids[v] != least:
                ids[u] = ids[v] = least
                changed = True
    return ids


def check_file(driver, path, edges, vertices, *words):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "ids.txt"
        r = checks.result(driver, "components", path, "--output", out, "--baseline", *words)
        expected = component_ids_of(edges, vertices)
        check(f"{path}: component ids", [int(line) for line in out.read_text().split()], expected)
    if r is None:
        return
    sizes = [expected.count(v) for v in set(expected)]
    check(f"{path}: components", r["components"], len(sizes))
    check(f"{path}: isolated", r["isolated"], sizes.count(1))
    check(f"{path}: largest", r["largest"], max(sizes))
    check(f"{path}: wrong", r["wrong"], 0)
    check(f"{path}: peers", [p["name"] for p in r["peers"]], ["plain afforest", "label propagation"])


def edges_of(text):
    lines = [line.split() for line in text.splitlines() if line and not line.startswith(("#", "%"))]
    return [(int(u), int(v)) for u, v, *_ in lines]


def relabelled(driver):
    """Words, and ids with gaps."""
    edges = [("b", "x1"), ("x1", "c"), ("a", "d e"), ("7", "007"), ("7", "7")]
    order = ["7", "007", "a", "b", "c", "d e", "x1"]  # numbers first
    ids = component_ids_of([(order.index(u), order.index(v)) for u, v in edges], len(order))
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "words.txt", Path(folder) / "ids.txt"
        path.write_text("".join(f"{u},{v}\n" for u, v in edges))
        r = checks.result(driver, "components", path, "--relabel", "--output", out, "--baseline")
        check("words: components", r and (r["components"], r["largest"], r["largest_label"], r["wrong"]), (3, 3, "b", 0))
        check("words: component ids", out.read_text().splitlines(), [f"{name}\t{order[ids[v]]}" for v, name in enumerate(order)])
        text = checks.run(driver, "components", path, "--relabel").stdout
        check("words: text", "6 vertices are called by words" in text and "of vertex b on" in text, True)
        refused = checks.run(driver, "components", path)
        check(f"words without --relabel: '{refused.stderr.strip()}'", (refused.returncode, "--relabel" in refused.stderr), (2, True))
        path.write_text("4000000000 3000000000\n5 3000000000\n17 18\n")
        r = checks.result(driver, "components", path, "--relabel", "--output", out)
        check("gaps", r and (r["vertices"], r["components"], r["isolated"], r["largest_label"]), (5, 2, 0, 5))
        check("gaps: component ids", out.read_text(), "5 5\n17 17\n18 17\n3000000000 5\n4000000000 5\n")
    check("a generator relabelled", checks.run(driver, "components", "grid:3x3", "--relabel").returncode, 2)


def vertex_0(driver):
    """Vertex 0 is a component of its own if a file counts from 1, and the output says so."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.txt"
        for text, words, told in [("1 2\n", (), True), ("0 1\n", (), False), ("0 0\n1 2\n", (), False), ("1 2\n", ("--relabel",), False), ("p sp 3 1\na 2 3 1\n", (), False)]:
            path.write_text(text)
            seen = checks.run(driver, "components", path, *words).stdout
            check(f"vertex 0 of {text!r} {words}", "vertex 0, which the file does not name" in seen, told)


def main(driver, graph):
    relabelled(driver)
    vertex_0(driver)
    edges = edges_of(Path(graph).read_text())
    check_file(driver, graph, edges, 1 + max(map(max, edges)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "parts.txt"
        edges = [(0, 7), (7, 3), (2, 9), (9, 9), (11, 4), (4, 11), (5, 6)]
        path.write_text("".join(f"{u} {v}\n" for u, v in edges))
        check_file(driver, path, edges, 12)
        check_file(driver, path, edges, 12, "--directed")
        check_file(driver, path, edges, 12, "--sampled", 0)
    r = checks.result(driver, "components", "kron:scale=12,ef=8", "--reps", 1)
    check("kron: wrong", r and r["wrong"], 0)
    text = checks.run(driver, "components", "grid:64x64,drop=0.4", "--baseline").stdout
    check("grid: says valid", "valid: every component id" in text, True)
    refused = checks.run(driver, "components", "grid:64x64", "--output", "-")
    check("output on standard output", refused.returncode, 2)
    return checks.verdict("components")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
