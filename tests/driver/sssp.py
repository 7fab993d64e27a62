#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos sssp` and compares what it prints with shortest paths of its own.

    sssp.py DRIVER GRAPH     GRAPH: a list of edges
"""
import gzip
import heapq
import json
import random
import sys
import tempfile
from pathlib import Path

import checks
from checks import check

WORD = (1 << 64) - 1


def weight(u, v, most):
    """The random weight of an edge, as perf/measure/sssp/proof.hpp draws it."""
    x = (min(u, v) << 32 | max(u, v)) * 0x9E3779B97F4A7C15 & WORD
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9 & WORD
    return 1 + (x ^ x >> 32) % most


def distances(edges, vertices, source, most, directed):
    return dijkstra([(u, v, weight(u, v, most)) for u, v in edges], vertices, source, directed)


def dijkstra(edges, vertices, source, directed):
    """Distances by edges (u, v, weight)."""
    rows = [[] for _ in range(vertices)]
    for u, v, w in edges:
        rows[u].append((v, w))
        if not directed:
            rows[v].append((u, w))
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
    """Words, and ids with gaps: random weights depend on the numbers that the names get."""
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


def draw_edges(rng, vertices, count, weights):
    """Repeats some edges with other weights, and adds self loops."""
    edges = [(rng.randrange(vertices), rng.randrange(vertices), rng.choice(weights)) for _ in range(count)]
    return edges + [(v, u, rng.choice(weights)) for u, v, _ in edges[:count // 4]]


def metis_text(edges, vertices):
    """Removes self loops and repetitions, which METIS does not have. Returns: the remaining edges, and the text."""
    kept = {}
    for u, v, w in edges:
        if u != v:
            kept.setdefault((min(u, v), max(u, v)), w)
    rows = [[] for _ in range(vertices)]
    for (u, v), w in kept.items():
        rows[u].append(f"{v + 1} {w}")
        rows[v].append(f"{u + 1} {w}")
    text = f"% a comment\n{vertices} {len(kept)} 011 2\n" + "".join("3 0 " + " ".join(row) + "\n" for row in rows)
    return [(u, v, w) for (u, v), w in kept.items()], text


def texts_of(edges, vertices):
    """Name of a file, its edges, and its text."""
    m = len(edges)
    whole = all(isinstance(w, int) for _, _, w in edges)
    mtx = "".join(f"{u + 1} {v + 1} {w}\n" for u, v, w in edges)
    yield "real.mtx", edges, f"%%MatrixMarket matrix coordinate real general\n{vertices} {vertices} {m}\n" + mtx
    if whole:
        for field in ("integer", "unsigned-integer"):
            yield f"{field}.mtx", edges, f"\n%%MatrixMarket matrix coordinate {field} symmetric\n{vertices} {vertices} {m}\n" + mtx
    yield "road.gr", edges, f"c roads\np sp {vertices} {m}\nn 1 s\n" + "".join(f"a {u + 1} {v + 1} {w}\n" for u, v, w in edges)
    yield "col.col", edges, f"p edge {vertices} {m}\n" + "".join(f"e {u + 1} {v + 1} {w}\n" for u, v, w in edges)
    last = [(vertices - 1, 0, edges[0][2])]  # so that a list has all vertices
    for name, line in (("list.txt", "{} {} {}\n"), ("list.csv", "{},{},{}\r\n"), ("times.tsv", "{}\t{}\t{}\t1300000000\n"),
                       ("networkx.edgelist", "{} {} {{'colour': 'red, or {{', 'weight': {}}}\n")):
        yield name, edges + last, "".join(line.format(*edge) for edge in edges + last)
    yield "header.csv", edges + last, "source,target,weight\n" + "".join(f"{u},{v},{w}\n" for u, v, w in edges + last)
    yield ("metis.graph", *metis_text(edges, vertices))


def lines_of(path):
    return [tuple(map(float, line.split())) for line in path.read_text().splitlines()]


def file_weights(driver):
    """Weights of each format, integers and others: distances are exact, as Python's floats are."""
    rng = random.Random(1)
    vertices = 40
    choices = {"uint32": [1, 2, 3, 100, 4000], "zeros": [0, 0, 0, 1], "double": [0.25, 1.5, 3, 1e-3, 1e3, 0], "large": [2**32, 5, 2**40, 7]}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        for kind, weights in choices.items():
            edges = draw_edges(rng, vertices, 90, weights)
            for name, kept, text in texts_of(edges, vertices):
                path = Path(folder) / name
                path.write_text(text)
                if kind == "uint32":
                    path = path.with_name(f"{name}.gz")
                    path.write_bytes(gzip.compress(text.encode()))
                for words in [(), ("--directed",)] if kind in ("uint32", "double") else [()]:
                    what = f"{kind} of {name} {words}"
                    directed = bool(words) and not any(s in text for s in ("symmetric", "p edge", "% a comment"))
                    r = checks.result(driver, "sssp", path, "--source", 3, "--output", out, "--parents", "--reps", 1, *words)
                    if not r:
                        continue
                    expected = dijkstra(kept, vertices, 3, directed)
                    check(f"{what}: distances", [d for d, _ in lines_of(out)], expected)
                    check(f"{what}: farthest and wrong", (r["results"][0]["farthest"], r["wrong"]), (max(expected), 0))
                    told = r["weights"]
                    used = [w for _, _, w in kept]
                    check(f"{what}: weights", (told["from"], told["least"], told["most"]), ("file", min(used), max(used)))
                    check(f"{what}: type", told["type"], "double" if kind in ("double", "large") else "uint32")
        path = Path(folder) / "far.gr"
        path.write_text("p sp 4 3\na 1 2 4000000000\na 2 3 4000000000\na 3 4 1\n")
        r = checks.result(driver, "sssp", path, "--source", 0, "--output", out)
        check("integers whose sums leave 32 bits", r and (out.read_text(), r["weights"]["type"], r["wrong"]), ("0\n4000000000\n8000000000\n8000000001\n", "double", 0))
        with path.open("rb") as stdin:
            piped = checks.run(driver, "sssp", "-", "--source", 0, "--json", stdin=stdin)
        check(f"from standard input {piped.stderr}", piped.returncode == 0 and json.loads(piped.stdout)["results"][0]["farthest"], 8000000001)
        path.write_text("p sp 3 3\na 1 2 0\na 2 3 0\na 3 1 0\n")
        r = checks.result(driver, "sssp", path, "--parents")
        check("a ring of nothing but zeros", r and (r["wrong"], r["results"][0]["farthest"]), (0, 0))


def chosen_weights(driver):
    """The output about weights, and the weights that are refused."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "g.txt", Path(folder) / "out"
        path.write_text("0 1 3\n1 2 4\n2 3 5.5\n")
        text = checks.run(driver, "sssp", path).stdout
        check("text: weights of the file", "weights of the file, 3 to 5.5, as doubles (--random-weights draws others)" in text, True)
        r = checks.result(driver, "sssp", path, "--random-weights", "--max-weight", 9, "--source", 0, "--output", out)
        expected = distances([(0, 1), (1, 2), (2, 3)], 4, 0, 9, False)
        check("random weights", r and (r["weights"]["from"], [int(d) for d in out.read_text().split()]), ("random", expected))
        text = checks.run(driver, "sssp", path, "--random-weights").stdout
        check("text: random weights", "random weights, 1 to 255\n" in text, True)
        for words, named in ((("--max-weight", 9), "--max-weight does not apply"), (("--baseline",), "--baseline does not apply"), (("--format", "chaco"), "--format"),
                             (("--format", "metis"), f"{path}:1")):
            refused = checks.run(driver, "sssp", path, *words)
            check(f"{words}: '{refused.stderr.strip()}'", (refused.returncode, named in refused.stderr), (2, True))
        path.write_text("0 1\n1 2\n2 3\n")
        text = checks.run(driver, "sssp", path).stdout
        check("text: no weights", "random weights, 1 to 255: the file has none\n" in text, True)
        for words, named in ((("--delta", "1e-30"), "--delta 1e-30 is below 1, and the weights are integers"), (("--delta", 0.5), "--delta 0.5 is below 1")):
            refused = checks.run(driver, "sssp", path, *words)
            check(f"{words}: '{refused.stderr.strip()}'", (refused.returncode, refused.stderr.count("delta"), named in refused.stderr), (2, 1, True))
        for line, named in (("2 3 -1", "'-1' is negative"), ("2 3 nan", "'nan' is not finite"), ("2 3 inf", "'inf' is not finite"), ("2 3", "no weight, but those before have one"), ("2 3 x", "'x' is no number")):
            path.write_text(f"0 1 1\n1 2 1\n{line}\n")
            refused = checks.run(driver, "sssp", path)
            check(f"{line}: '{refused.stderr.strip()}'", (refused.returncode, f"{path}:3 " in refused.stderr, named in refused.stderr), (2, True, True))
            drawn = checks.run(driver, "sssp", path, "--random-weights").returncode
            check(f"{line}: random weights", drawn, 2 if line in ("2 3", "2 3 x") else 0)
        for name, text, line, named in (("w.gr", "p sp 3 2\na 1 2 4\na 2 3 -1\n", 3, "'-1' is negative"), ("none.gr", "p sp 3 1\na 1 2\n", 2, "the arc has no weight"),
                                        ("nan.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 nan\n", 4, "'nan' is not finite"),
                                        ("less.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 1\n2 1 -7\n", 3, "'-7' is negative"),
                                        ("w.graph", "3 2 001\n2 5\n1 5 3 -2\n2 -2\n", 3, "'-2' is negative")):
            path.with_name(name).write_text(text)
            refused = checks.run(driver, "sssp", path.with_name(name))
            check(f"{name}: '{refused.stderr.strip()}'", (refused.returncode, f"{name}:{line} " in refused.stderr, named in refused.stderr, len(refused.stderr.splitlines())), (2, True, True, 1))
        path.write_text("0 1 1e308\n1 2 1e308\n")
        refused = checks.run(driver, "sssp", path, "--source", 0)
        check(f"endless sums: '{refused.stderr.strip()}'", (refused.returncode, "beyond what a double holds" in refused.stderr), (2, True))
        path.write_text("ann,bob,2.5\nbob,carol,0.25\n7,ann,100\n")
        for words in [(), ("--parents",)]:
            r = checks.result(driver, "sssp", path, "--relabel", "--source", "ann", "--output", out, *words)
            check(f"weights between words {words}", r and [line.split()[:2] for line in out.read_text().splitlines()], [["7", "100"], ["ann", "0"], ["bob", "2.5"], ["carol", "2.75"]])
        path.write_text("0 0\n")
        for words in [(), ("--sources", 2)]:
            refused = checks.run(driver, "sssp", path, *words)
            check(f"no edge {words}: '{refused.stderr.strip()}'", (refused.returncode, "the graph has no edge" in refused.stderr, "by --source" in refused.stderr), (2, True, True))
        check("no edge: a source", checks.run(driver, "sssp", path, "--source", 0).returncode, 0)


def many_decades(driver):
    """Weights over 30 decades take about as long as uniform ones: the bucket width adapts."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decades.txt"
        side = 150
        ends = [(v, v + 1) for v in range(side * side - 1) if (v + 1) % side] + [(v, v + side) for v in range(side * (side - 1))]
        edges = [(u, v, 10**rng.uniform(-15, 15)) for u, v in ends]
        path.write_text("".join(f"{u} {v} {w!r}\n" for u, v, w in edges))
        out = Path(folder) / "out"
        r = checks.result(driver, "sssp", path, "--source", 0, "--output", out, "--reps", 1)
        expected = dijkstra(edges, side * side, 0, False)
        check("30 decades: distances", r and [float(d) for d in out.read_text().split()] == expected, True)
        check(f"30 decades: {r and r['results'][0]['edges_looked_at']} edges inspected", r and r["results"][0]["edges_looked_at"] < 40 * len(edges), True)


def main(driver, graph):
    file_weights(driver)
    chosen_weights(driver)
    many_decades(driver)
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
