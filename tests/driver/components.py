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


def labels_of(edges, vertices):
    label = list(range(vertices))
    changed = True
    while changed:
        changed = False
        for u, v in edges:
            least = min(label[u], label[v])
            if label[u] != least or label[v] != least:
                label[u] = label[v] = least
                changed = True
    return label


def check_file(driver, path, edges, vertices, *words):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "labels"
        r = checks.result(driver, "components", path, "--output", out, "--baseline", *words)
        expected = labels_of(edges, vertices)
        check(f"{path}: labels", [int(line) for line in out.read_text().split()], expected)
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


def main(driver, graph):
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
    check("grid: says valid", "valid: every label" in text, True)
    refused = checks.run(driver, "components", "grid:64x64", "--output", "-")
    check("output on standard output", refused.returncode, 2)
    return checks.verdict("components")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
