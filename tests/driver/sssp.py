#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos sssp` and compares what it prints with shortest paths of its own.

    sssp.py DRIVER GRAPH     GRAPH: a list of edges
"""
import heapq
import sys
import tempfile
from pathlib import Path

import checks
from checks import check

WORD = (1 << 64) - 1


def weight(u, v, most):
    """That of perf/driver/sssp/proof.hpp."""
    x = (min(u, v) << 32 | max(u, v)) * 0x9E3779B97F4A7C15 & WORD
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9 & WORD
    return 1 + (x ^ x >> 32) % most


def distances(edges, vertices, source, most, directed):
    rows = [[] for _ in range(vertices)]
    for u, v in edges:
        rows[u].append((v, weight(u, v, most)))
        if not directed:
            rows[v].append((u, weight(u, v, most)))
    found = [-1] * vertices
    queue = [(0, source)]
    while queue:
        d, u = heapq.heappop(queue)
        if found[u] >= 0:
            continue
        found[u] = d
        for v, w in rows[u]:
            heapq.heappush(queue, (d + w, v))
    return found


def check_file(driver, path, edges, vertices, source, *words, most=255, directed=False):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "distances"
        r = checks.result(driver, "sssp", path, "--source", source, "--max-weight", most, "--output", out, "--parents", *words)
        lines = [tuple(map(int, line.split())) for line in out.read_text().splitlines()] if r else []
    if r is None:
        return
    expected = distances(edges, vertices, source, most, directed)
    name = f"{path} from {source} {words}"
    check(f"{name}: distances", [d for d, _ in lines], expected)
    check(f"{name}: wrong", r["wrong"], 0)
    check(f"{name}: reached", r["results"][0]["reached"], sum(d >= 0 for d in expected))
    check(f"{name}: farthest", r["results"][0]["farthest"], max(expected))
    for v, (d, p) in enumerate(lines):
        if v == source or d < 0:
            check(f"{name}: parent of {v}", p, v if v == source else -1)
        else:
            check(f"{name}: parent of {v}", lines[p][0] + weight(p, v, most), d)


def edges_of(text):
    lines = [line.split() for line in text.splitlines() if line and not line.startswith(("#", "%"))]
    return [(int(u), int(v)) for u, v, *_ in lines]


def relabelled(driver):
    """Words, and ids with gaps: weights are those of the numbers that names get."""
    edges = [("b", "x1"), ("x1", "c"), ("a", "b"), ("7", "007"), ("7", "a")]
    order = ["7", "007", "a", "b", "c", "x1"]
    numbers = [(order.index(u), order.index(v)) for u, v in edges]
    expected = distances(numbers, len(order), 3, 255, False)
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "words.txt", Path(folder) / "out"
        path.write_text("".join(f"{u} {v}\n" for u, v in edges))
        r = checks.result(driver, "sssp", path, "--relabel", "--source", "b", "--parents", "--output", out)
        check("words: source", r and (r["results"][0]["source"], r["wrong"]), ("b", 0))
        lines = [line.split(" ") for line in out.read_text().splitlines()]
        check("words: distances", [line[:2] for line in lines], [[name, str(d)] for name, d in zip(order, expected)])
        check("words: parents", [line[2] for line in lines], ["a", "7", "b", "b", "x1", "b"])
        text = checks.run(driver, "sssp", path, "--relabel", "--source", "b").stdout
        check("words: text", "5 vertices are called by words" in text and "source b: reached 6" in text, True)
        for source, told in [("bb", "--source bb is no vertex"), ("12", "--source 12 is no vertex")]:
            refused = checks.run(driver, "sssp", path, "--relabel", "--source", source)
            check(f"no such word: '{refused.stderr.strip()}'", (refused.returncode, told in refused.stderr), (2, True))
        for words in [(), ("--source", "b")]:
            refused = checks.run(driver, "sssp", path, *words)
            check(f"words without --relabel: '{refused.stderr.strip()}'", (refused.returncode, "--relabel" in refused.stderr), (2, True))
        path.write_text("4000000000 3000000000\n")
        r = checks.result(driver, "sssp", path, "--relabel", "--source", 3000000000, "--output", out)
        check("gaps", r and (r["vertices"], r["results"][0]["reached"]), (2, 2))
        check("gaps: distances", out.read_text(), f"3000000000 0\n4000000000 {weight(0, 1, 255)}\n")


def main(driver, graph):
    relabelled(driver)
    edges = edges_of(Path(graph).read_text())
    vertices = 1 + max(map(max, edges))
    for words in [(), ("--delta", 3), ("--hops", 0), ("--reach", 20, "--hops", 0), ("--reach", 1e30), ("--launches",)]:
        check_file(driver, graph, edges, vertices, 1, *words)
    check_file(driver, graph, edges, vertices, 33, most=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "parts.txt"
        edges = [(0, 7), (7, 3), (2, 9), (3, 11), (11, 4), (0, 4), (5, 6)]
        path.write_text("".join(f"{u} {v}\n" for u, v in edges))
        check_file(driver, path, edges, 12, 0)
        check_file(driver, path, edges, 12, 7, "--directed", directed=True)
        path.write_text("".join(f"{v} {v + 1}\n" for v in range(502)))  # up to 4,291,950,059
        check_file(driver, path, [(v, v + 1) for v in range(502)], 503, 0, most=1 << 24)
    host = checks.run(driver, "sssp", "grid:8x8", "--baseline").returncode == 0
    for words in [("--baseline-delta", 1 << 30), ("--baseline-delta", 1)] if host else []:
        r = checks.result(driver, "sssp", "kron:scale=12,ef=8", "--baseline", *words)
        check(f"baseline {words}: wrong", r and r["wrong"], 0)
    for words in [("kron:scale=12,ef=8", "--sources", 3), ("grid:100x100,drop=0.3", "--parents"), ("kron:scale=12,ef=8", "--reach", 8, "--sort-rows", "--parents")]:
        r = checks.result(driver, "sssp", *words, "--reps", 1)
        check(f"{words}: wrong", r and r["wrong"], 0)
    text = checks.run(driver, "sssp", "grid:64x64").stdout
    check("grid: says valid", "valid: every distance" in text, True)
    for words in [("--source", 5000), ("--source", 1, "--seed", 2), ("--sources", 2, "--output", "x"), ("--delta", 0.5), ("--reach", -1), ("--baseline-delta", 3), ("--output", "-"), ("--sort-rows",)]:
        check(f"{words}: refused", checks.run(driver, "sssp", "grid:64x64", *words).returncode, 2)
    return checks.verdict("sssp")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
