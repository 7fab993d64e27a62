#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos bfs` and compares what it prints with a search of its own.

    bfs.py DRIVER EDGES CORPUS     EDGES: a list of edges; CORPUS: a folder with small graphs in other formats
"""
import gzip
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from checks import check


def run(driver, *words, stdin=None):
    return checks.run(driver, "bfs", *words, stdin=stdin)


def result(driver, *words):
    """The object that a good run prints."""
    return checks.result(driver, "bfs", *words) or {}


def read_edges(path):
    """Distinct edges without self loops, in the order of the file."""
    pairs = [tuple(map(int, line.split()[:2])) for line in Path(path).read_text().splitlines() if line[:1].isdigit()]
    return {(u, v) for u, v in pairs if u != v}


def neighbours(edges, directed):
    count = max(max(e) for e in edges) + 1
    rows = [set() for _ in range(count)]
    for u, v in edges:
        rows[u].add(v)
        if not directed:
            rows[v].add(u)
    return rows


def distances(rows, source):
    found = [-1] * len(rows)
    found[source], frontier = 0, [source]
    while frontier:
        following = []
        for u in frontier:
            for v in rows[u]:
                if found[v] < 0:
                    found[v] = found[u] + 1
                    following.append(v)
        frontier = following
    return found


def check_search(what, seen, rows, source):
    expected = distances(rows, source)
    reached = [d for d in expected if d >= 0]
    facts = {"reached": len(reached), "depth": max(reached), "levels": max(reached) + 1, "sum_distance": sum(reached),
             "reached_edges": sum(len(row) for row, d in zip(rows, expected) if d >= 0), "source": source}
    for name, value in facts.items():
        check(f"{what}, from {source}: {name}", seen.get(name), value)
    if "level" in seen:
        counts = [level["vertices"] for level in seen["level"]]
        check(f"{what}, from {source}: level", counts, [reached.count(d) for d in range(max(reached) + 1)])


CHOICES = [
    [], ["--directed"], ["--parents"], ["--baseline"], ["--launches"], ["--hub-cache"], ["--unvisited-queue"],
    ["--no-degree-classes"], ["--queue", "scanned"], ["--direction", "top-down"], ["--offset-bits", 64],
    ["--direction", "gamma", "--gamma", 0.1], ["--direction", "beamer", "--alpha", 2, "--beta", 100], ["--reps", 1],
    ["--preset", "enterprise"], ["--keep-duplicates", "--preset", "baseline"],
]


def good_input(driver, path, corpus):
    edges = read_edges(path)
    for choice in CHOICES:
        rows = neighbours(edges, "--directed" in choice)
        for source in (0, 1, 17):
            seen = result(driver, path, "--source", source, "--validate", *choice)
            check(f"{choice}: vertices", seen.get("vertices"), len(rows))
            check(f"{choice}: edges", seen.get("edges"), sum(map(len, rows)))
            check_search(str(choice), seen, rows, source)
    several(driver, path, neighbours(edges, False))
    presets(driver, path)
    switches(driver)
    degrees(driver, path)
    timelines(driver, path)
    energy(driver, path)
    duplicates(driver)
    at_once(driver, path, neighbours(edges, False))
    written(driver, path, neighbours(edges, False))
    isolated(driver, path, neighbours(edges, False))
    input_is_kept(driver, path)
    relabelled(driver, path, Path(corpus) / "undirected.sg")
    check("text output", "sum of distances" in run(driver, path).stdout, True)


def several(driver, path, rows):
    with_edges = [v for v, row in enumerate(rows) if row]
    words = ["--sources", len(with_edges), "--validate", "--baseline", "--parents"]
    seen = result(driver, path, *words)
    check("all sources", sorted(s["source"] for s in seen["searches"]), with_edges)
    check("sources", seen["sources"], len(with_edges))
    for search in seen["searches"]:
        check_search("all sources", search, rows, search["source"])
    check("rate", 0 < seen["harmonic_mean_gteps"] and 0 < seen["median_seconds"], True)
    drawn = [[s["source"] for s in result(driver, path, "--sources", 8, "--seed", seed)["searches"]] for seed in (1, 1, 2)]
    check("same seed, same sources", drawn[0] == drawn[1], True)
    check("other seed, other sources", drawn[0] == drawn[2], False)


RUNGS = ["baseline", "queue", "classes", "hubs"]


def presets(driver, path):
    """Presets: the driver itself compares each with the usual search; a wrong distance is a failure."""
    for words in ([path], [path, "--directed"], [path, "--launches"], ["kron:scale=11,ef=16"], ["grid:30x40,drop=0.2"]):
        seen = result(driver, *words, "--sources", 5, "--reps", 2, "--preset", "enterprise", "--validate")
        check(f"{words}: presets", [p["preset"] for p in seen["presets"]], RUNGS)
        check(f"{words}: wrong", seen["wrong"], 0)
        check(f"{words}: rates", all(p["harmonic_mean_gteps"] > 0 and p["median_seconds"] > 0 for p in seen["presets"]), True)
        gains = [a["median_seconds"] / b["median_seconds"] for a, b in itertools.pairwise(seen["presets"])]
        told = [p["over_previous"] for p in seen["presets"][1:]]
        check(f"{words}: gains", [abs(a - b) < 1e-6 * a for a, b in zip(gains, told)], 3 * [True])
        check(f"{words}: nothing before the first", "over_previous" in seen["presets"][0], False)
    shown = run(driver, path, "--preset", "enterprise", "--parents", "--validate").stdout
    check("text: presets say what they compare", ("presets: median time, harmonic mean of the rates, gain of the medians" in shown, shown.count("x as fast as the one before")), (True, 3))
    check("text: parents are proved", "valid: every distance and every parent are proved" in shown, True)
    check("text: distances are proved", "valid: every distance is exact" in run(driver, path, "--validate").stdout, True)
    for name in RUNGS:
        check(f"preset {name}", [p["preset"] for p in result(driver, path, "--preset", name)["presets"]], [name])
        check(f"text: preset {name}", f"\n  {name} " in run(driver, path, "--preset", name).stdout, True)
    turned = [[p["turned_up"] for p in result(driver, "kron:scale=10,ef=16", "--preset", "enterprise", "--reps", 1, *more)["presets"]]
              for more in ([], ["--alpha", 1e-9], ["--gamma", 1])]
    check("presets turn", all(t >= 0 for t in turned[0]), True)
    check("by alpha", turned[1][:3], 3 * [-1])
    check("and by gamma", turned[2], [*turned[0][:3], -1])
    check("no preset", "presets" in result(driver, path), False)
    check("an isolated source", [p["harmonic_mean_gteps"] for p in result(driver, path, "--source", 0, "--preset", "enterprise")["presets"]], 4 * [0])


def switches(driver):
    """Thresholds of the direction switch: a higher gamma never switches earlier."""
    told = result(driver, "kron:scale=12,ef=16", "--sources", 3, "--reps", 1, "--preset", "switches", "--validate")["presets"]
    check("switches", ([p["preset"] for p in told][:3], len(told)), (["gamma 1 %", "gamma 5 %", "gamma 10 %"], 13))
    turned = [p["turned_up"] for p in told if p["preset"].startswith("gamma") and p["turned_up"] >= 0]
    check("a higher gamma turns later", turned == sorted(turned) and len(turned) > 2, True)
    check("loads saved", all(0 <= p["status_loads_saved"] <= 1 for p in told) and max(p["status_loads_saved"] for p in told) > 0, True)
    check("no hub cache", "status_loads_saved" in result(driver, "kron:scale=8", "--preset", "classes")["presets"][0], False)
    check("text: loads saved", "of the status loads" in run(driver, "kron:scale=8", "--preset", "hubs").stdout, True)


def degrees(driver, path):
    rows = [len(row) for row in neighbours(read_edges(path), False)]
    seen = result(driver, path, "--degrees")["degrees"]
    descending = sorted(rows, reverse=True)
    for name, part in (("hubs_of_tenth", 0.1), ("hubs_of_fifth", 0.2)):
        expected = next(n for n in range(len(rows) + 1) if sum(descending[:n]) >= part * sum(rows))
        check(name, seen[name], expected)
    check("degrees", (seen["largest"], abs(seen["mean"] - sum(rows) / len(rows)) < 1e-9), (max(rows), True))
    for below in seen["below"]:
        few = [d for d in rows if d < below["degree"]]
        expected = len(few) / len(rows), sum(few) / sum(rows)
        check(f"below {below['degree']}", abs(below["vertices"] - expected[0]) + abs(below["edges"] - expected[1]) < 1e-9, True)
    check("all are below the last", [seen["below"][-1][of] for of in ("vertices", "edges")], [1, 1])
    check("text: degrees", "have a tenth of the edges" in run(driver, path, "--degrees").stdout, True)
    check("no edge has no hub", result(driver, "grid:1x1", "--degrees")["degrees"]["hubs_of_tenth"], 0)


def timelines(driver, path):
    """Every level is expanded once, in turn, and kernels take no longer than their search."""
    for words in ([path], ["kron:scale=12,ef=16"], [path, "--preset", "enterprise"], ["grid:30x40", "--preset", "enterprise"]):
        seen = result(driver, *words, "--timeline", "--reps", 1)
        of_presets = [p["preset"] for p in seen.get("presets", [])]
        check(f"{words}: timelines", [t.get("preset", "") for t in seen["timelines"]], ["", *of_presets])
        for t in seen["timelines"]:
            levels = [s["level"] for s in t["steps"]]
            check(f"{words}: levels of {t.get('preset')}", (levels == sorted(levels), levels[-1]), (True, seen["levels"] - 1))
            check(f"{words}: seconds", 0 < sum(s["seconds"] for s in t["steps"]) <= t["seconds"], True)
        check(f"{words}: steps", {"expand"} <= {s["step"] for s in seen["timelines"][0]["steps"]}, True)
    check("text: timeline", "timeline of preset queue: " in run(driver, path, "--preset", "queue", "--timeline").stdout, True)


def energy(driver, path):
    """Energy: numbers if the machine has counters that may be read, the reason if not; never neither."""
    seen = result(driver, path, "--sources", 4, "--reps", 1, "--energy")["energy"]
    for part in ("host", "device"):
        check(f"{part}: joules and an obstacle", f"{part}_joules" in seen and f"{part}_obstacle" in seen, False)
    check("the processors are reported", "host_joules" in seen or len(seen["host_obstacle"]) > 0, True)
    told = [seen[f"{part}_joules"] for part in ("host", "device") if f"{part}_joules" in seen]
    if told:
        check("joules", abs(sum(told) - seen["joules_per_search"] * seen["searches"]) < 1e-6 * sum(told), True)
        check("searches", (seen["searches"] % 4, seen["seconds"] >= 2, seen["watts"] > 0), (0, True, True))
    else:
        check("no number", sorted(seen), sorted(f for f in seen if f.endswith("_obstacle")))
    text = run(driver, path, "--energy").stdout
    check("text: energy", "energy of the processors: " in text, True)
    check("text: energy of searches", " a search (" in text, bool(told))
    presets_told = result(driver, path, "--reps", 1, "--energy", "--preset", "queue")["presets"][0]["energy"]
    check("energy of a preset", "joules_per_search" in presets_told, bool(told))
    check("no energy", "energy" in result(driver, path), False)


def duplicates(driver):
    """Repeated edges and self loops count if they are kept, and change no distance."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "edges.txt"
        file.write_text("0 1\n0 1\n1 0\n1 1\n1 2\n3 3\n", encoding="ascii")
        for words, edges, reached in (([], 4, 4), (["--keep-duplicates"], 10, 9), (["--directed"], 3, 3), (["--directed", "--keep-duplicates"], 6, 5)):
            seen = result(driver, file, "--source", 0, "--validate", "--parents", "--baseline", "--preset", "enterprise", *words)
            told = [seen[f] for f in ("edges", "reached_edges", "reached", "depth", "wrong")]
            check(f"{words}: duplicates", told, [edges, reached, 3, 2, 0])
    drawn = result(driver, "kron:scale=9,ef=32", "--sources", 3, "--validate", "--keep-duplicates", "--preset", "enterprise")
    check("all that is drawn", 2 * 32 * 2**9 - drawn["edges"] in range(0, 2**9 * 32 // 10), True)
    check("duplicates of what is drawn", drawn["edges"] > result(driver, "kron:scale=9,ef=32")["edges"], True)


def at_once(driver, path, rows):
    with_edges = [v for v, row in enumerate(rows) if row]
    for choice in ([], ["--launches"], ["--directed"]):
        seen = result(driver, path, "--batch", 9, "--reps", 1, *choice)
        check(f"at once {choice}: searches", (len(seen["searches"]), seen["wrong"], seen["batch"]["distance_bits"]), (9, 0, 8))
        check(f"at once {choice}: time", seen["batch"]["over_single"] > 0, True)
    seen = result(driver, "grid:1x400", "--batch", 70)
    check("at once: long paths", seen["batch"]["distance_bits"], 32)
    if seen["context"]["backend"].lower() in ("openmp", "threads", "serial"):
        check("at once: one by one", seen["batch"]["one_by_one"], 70)
        check("text: one by one", "70 searches were made one by one" in run(driver, "grid:1x400", "--batch", 70).stdout, True)
    text = run(driver, path, "--batch", len(with_edges)).stdout
    check("text: at once", "all at once" in text and "levels pulled" in text, True)
    check("text: one at once", "all at once" in run(driver, path, "--batch", 1).stdout, True)


def written(driver, path, rows):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "distances"
        result(driver, path, "--source", 17, "--output", out)
        check("distances", list(map(int, out.read_text().split())), distances(rows, 17))
        result(driver, path, "--source", 17, "--output", out, "--parents")
        lines = [tuple(map(int, line.split())) for line in out.read_text().splitlines()]
        check("distances beside parents", [line[0] for line in lines], distances(rows, 17))
        for v, (distance, parent) in enumerate(lines):
            sound = parent == -1 if distance < 0 else v == 17 == parent if distance == 0 else \
                parent in rows[v] and lines[parent][0] == distance - 1
            check(f"parent {parent} of {v}", sound, True)


def isolated(driver, path, rows):
    """The search starts at the first vertex with an edge by default; a chosen source without edges is reported."""
    first = next(v for v, row in enumerate(rows) if row)
    check("the file has an isolated vertex 0", first > 0, True)
    check_search("default source", result(driver, path), rows, first)
    check("default source: isolated", result(driver, path)["isolated"], False)
    check("isolated source", [result(driver, path, "--source", 0)[f] for f in ("isolated", "reached")], [True, 1])
    text = run(driver, path, "--source", 0).stdout
    check("text: isolated", f"vertex 0 is isolated, no edge leads out of it: the first vertex with edges is {first}" in text, True)
    check("text: not isolated", "isolated" in run(driver, path, "--source", first).stdout, False)
    check("text: no edge at all", "the graph has no edge" in run(driver, "grid:1x1").stdout, True)
    check("directed: default source", result(driver, path, "--directed")["isolated"], False)


def hub_shares(driver):
    """--direction gamma prints the fraction of the hubs in each level, by which it switches."""
    words = ["kron:scale=12,ef=16", "--source", 0, "--direction"]
    seen = result(driver, *words, "gamma")
    text = run(driver, *words, "gamma").stdout
    check("text: hubs", f"of {seen['hubs']} hubs (degree above {seen['hub_degree']})" in text, True)
    shares = [float(line.split()[-2]) for line in text.splitlines() if line.endswith(" %")]
    counted = [100 * level["hubs"] / seen["hubs"] for level in seen["level"] if level["hubs"] > 0]
    check("text: shares", len(shares) > 0 and [abs(a - b) < 0.06 for a, b in zip(shares, counted)] == [True] * len(counted), True)
    check("text: no hubs elsewhere", " hubs " in run(driver, *words, "auto").stdout, False)


def input_is_kept(driver, path):
    """The output is not written over the graph, whatever path names it."""
    with tempfile.TemporaryDirectory() as folder:
        graph, link, hard = (Path(folder) / name for name in ("graph.txt", "link", "hard"))
        graph.write_bytes(Path(path).read_bytes())
        link.symlink_to(graph)
        hard.hardlink_to(graph)
        for out in (graph, link, hard, Path(folder) / ".." / Path(folder).name / "graph.txt"):
            done = run(driver, graph, "--output", out)
            check(f"output {out}: exit code", done.returncode, 2)
            check(f"output {out}: '{done.stderr.strip()}'", f"--output {out} is the graph itself" in done.stderr, True)
            check(f"output {out}: the graph is kept", graph.read_bytes(), Path(path).read_bytes())
        with graph.open("rb") as standard_input:
            done = run(driver, "-", "--output", link, stdin=standard_input)
        check("standard input: exit code", done.returncode, 2)
        check(f"standard input: '{done.stderr.strip()}'", "is the graph itself" in done.stderr, True)
        check("standard input: the graph is kept", graph.read_bytes(), Path(path).read_bytes())


def relabelled(driver, path, corpus_graph):
    """Ids with gaps give the answers of a dense graph, and are printed as the file has them."""
    edges = read_edges(path)
    far = {v: 100_000_000 * v + v % 7 for edge in edges for v in edge}
    far[max(far)] = 2**32 - 1
    ids, rows = sorted(far), neighbours(edges, False)
    with tempfile.TemporaryDirectory() as folder:
        sparse, out = Path(folder) / "sparse.txt", Path(folder) / "out"
        sparse.write_text("".join(f"{far[u]} {far[v]}\n" for u, v in edges), encoding="ascii")
        for source in (ids[0], 17):
            seen = result(driver, sparse, "--relabel", "--source", far[source], "--validate", "--baseline", "--parents", "--output", out)
            check("relabelled: vertices", (seen["vertices"], seen["without_edges"]), (len(ids), 0))
            check_search("relabelled", {**seen, "source": source}, rows, source)
            check("relabelled: source", (seen["source"], seen["parameters"]["source"]), (far[source], far[source]))
            lines = [tuple(map(int, line.split())) for line in out.read_text(encoding="ascii").splitlines()]
            found = distances(rows, source)
            check("relabelled: distances", [line[:2] for line in lines], [(far[v], found[v]) for v in ids])
            near = {far[v]: {far[w] for w in rows[v]} | {far[v]} for v in ids}
            check("relabelled: parents", all(parent in near[v] for v, _, parent in lines), True)
        several = result(driver, sparse, "--relabel", "--sources", len(ids))
        check("relabelled: sources", sorted(s["source"] for s in several["searches"]), sorted(far.values()))
        check("relabelled: text", f"ids up to {2**32 - 1:,} in the file" in run(driver, sparse, "--relabel").stdout, True)
        sparse.write_text("0 1\n1 100\n", encoding="ascii")
        check("text: without an edge", "98 vertices are without an edge (--relabel" in run(driver, sparse).stdout, True)
        done = run(driver, sparse, "--relabel", "--source", 2)
        check("relabelled: no such id", (done.returncode, "--source 2 is no vertex (no edge names it)" in done.stderr), (2, True))
        for name, text in (("gaps.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n7 7 2\n3 2\n7 3\n"), ("gaps.gr", "p sp 7 4\na 2 3 1\na 3 2 1\na 3 7 1\na 7 3 1\n")):
            file, out = Path(folder) / name, Path(folder) / "of_gaps"  # formats whose ids count from 1
            file.write_text(text)
            result(driver, file, "--relabel", "--source", 7, "--output", out)
            check(f"relabelled {name}: ids of the file", sorted(line.split()[:2] for line in out.read_text().splitlines()), [["2", "2"], ["3", "1"], ["7", "0"]])
    for graph in ("grid:3x3", corpus_graph):
        check(f"relabelled {graph}: refused", run(driver, graph, "--relabel").returncode, 2)


def mix(x):
    """karpos::mix."""
    for shift in (32, 32):
        x = ((x ^ x >> shift) * 0x0e9846af9b1a615d) % 2**64
    return x ^ x >> 28


def words_of_one_hash(count):
    """Different words with the same key in the driver (hash_of in perf/tool/bfs/vertex_numbers.cpp)."""
    size, end, first, words = 16, int.from_bytes(b"zyxwvuts", "little"), b"first-00", []
    goal = (mix(size + int.from_bytes(first, "little")) + end) % 2**64
    for i in itertools.count():
        begin = b"%08d" % i
        rest = (goal - mix(size + int.from_bytes(begin, "little"))) % 2**64
        rest = rest.to_bytes(8, "little")
        if all(33 <= c < 127 and c not in b'",;#%' for c in rest):
            words.append((begin + rest).decode("ascii"))
            if len(words) == count:
                return words


def names_of(edges):
    """A name for each vertex: words, some with equal hashes, some with letters beyond ASCII, and numbers of every size."""
    vertices = sorted({v for edge in edges for v in edge})
    alike = words_of_one_hash(6)
    special = [*alike, "0", "007", "7", str(2**32), str(2**62 - 1), str(2**62), str(2**64 - 1), str(10**30), "-1", "1e3", "Zürich", "3com"]
    return {v: special[i] if i < len(special) else f"name-{i}" for i, v in enumerate(vertices)}


def by_name(name):
    """The order of vertices: numbers below 2^62 as they are usually written, then words by their bytes."""
    number = name.isascii() and name.isdigit() and str(int(name)) == name and int(name) < 2**62
    return (0, int(name), b"") if number else (1, 0, name.encode())


def told(name):
    """A name as --json has it."""
    return name if by_name(name)[0] else int(name)


def words(driver, path):
    """A graph whose vertices are words gives the answers of the same graph with numbers."""
    edges = read_edges(path)
    rows, name = neighbours(edges, False), names_of(edges)
    ordered = sorted(name, key=lambda v: by_name(name[v]))
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "words.txt", Path(folder) / "out"
        for between, weight in ((" ", ""), (", ", ",0.5"), ("\t", "\t1e9")):
            file.write_text("".join(f"{name[u]}{between}{name[v]}{weight}\n" for u, v in sorted(edges)), encoding="utf-8")
            for source in (*ordered[:1], *ordered[5:9], *ordered[-1:]):
                seen = result(driver, file, "--relabel", f"--source={name[source]}", "--validate", "--parents", "--output", out)
                check_search(f"words, '{between}'", {**seen, "source": source}, rows, source)
                check("words: source", (seen["source"], seen["parameters"]["source"]), (told(name[source]),) * 2)
                lines = [line.split(" ") for line in out.read_text(encoding="utf-8").splitlines()]
                found = distances(rows, source)
                check("words: distances", [line[:2] for line in lines], [[name[v], str(found[v])] for v in ordered])
                near = {name[v]: {name[w] for w in rows[v]} | {name[v]} for v in ordered}
                check("words: parents", all(parent in near[v] for v, _, parent in lines), True)
        several = result(driver, file, "--relabel", "--sources", len(name))
        check("words: sources", {str(s["source"]) for s in several["searches"]}, set(name.values()))
        file.write_text("St. Louis\tNew York\t1\nBath\tNew York\n", encoding="ascii")
        result(driver, file, "--relabel", "--source", "Bath", "--output", out, "--parents")
        check("names with blanks", out.read_text(encoding="ascii"), "Bath\t0\tBath\nNew York\t1\tBath\nSt. Louis\t2\tNew York\n")
        for edges, source, answer in (("c d\nd p\np a\n", "c", "a 3\nc 0\nd 1\np 2\n"), ("p sp 5 3\nsp x\n", "x", "p 2\nsp 1\nx 0\n"), ("a b\n", "a", "a 0\nb 1\n"), ("c p\np sp 5 3\na b\n", "a", "a 0\nb 1\nc -1\np -1\nsp -1\n")):
            file.write_text(edges, encoding="ascii")
            result(driver, file, "--relabel", "--source", source, "--output", out)
            check(f"letters of DIMACS: {edges!r}", out.read_text(encoding="ascii"), answer)
        file.write_text("c a comment\np sp 3 2\nc 1\na 1 2 5\na 2 3 5\n", encoding="ascii")
        result(driver, file, "--relabel", "--source", 1, "--output", out)
        check("DIMACS relabelled", out.read_text(encoding="ascii"), "1 0\n2 1\n3 2\n")
        file.write_text("St. Louis\tNew York\t1\nBath\tNew York\n", encoding="ascii")
        text = run(driver, file, "--relabel", "--source", "Bath").stdout
        check("words: text", "3 vertices are called by words" in text and "source Bath: reached 3" in text, True)
        words_refused(driver, file)


def words_refused(driver, file):
    for source, named in (("New Yorck", "did you mean New York? "), ("Bats", "did you mean Bath? "), ("12", "--source 12 is no vertex")):
        done = run(driver, file, "--relabel", "--source", source)
        check(f"no such word {source}: '{done.stderr.strip()}'", (done.returncode, named in done.stderr), (2, True))
    done = run(driver, file)
    check(f"words without --relabel: '{done.stderr.strip()}'", (done.returncode, "--relabel" in done.stderr), (2, True))
    file.write_text("0 1000\n1000 18446744073709551615\n", encoding="ascii")
    check("a count names a number", result(driver, file, "--relabel", "--source", "1e3")["source"], 1000)
    done = run(driver, file)
    check(f"large numbers: '{done.stderr.strip()}'", (done.returncode, "--relabel" in done.stderr), (2, True))
    done = run(driver, file, "--source", "ann")
    check(f"a word for a source: '{done.stderr.strip()}'", (done.returncode, "--source: 'ann'" in done.stderr), (2, True))


def many_words(driver):
    """More words than are numbered in a batch: a tree whose vertices are words, each of which occurs early and late."""
    vertices = 400_000
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree.txt"
        tree.write_text("".join(f"v{i} v{i // 2}\n" for i in range(2, vertices)), encoding="ascii")
        seen = result(driver, tree, "--relabel", "--source", "v1", "--reps", 1)
        depths = [i.bit_length() - 1 for i in range(1, vertices)]
        check("many words", [seen.get(f) for f in ("vertices", "reached", "depth", "sum_distance")],
              [vertices - 1, vertices - 1, max(depths), sum(depths)])


def other_graphs(driver, corpus):
    names = ["directed.sg", "undirected.sg", "colouring.col", "road.gr", "pattern_general.mtx", "real_symmetric.mtx"]
    for name in names:
        for directed in ([], ["--directed"]):
            result(driver, Path(corpus) / name, "--validate", "--baseline", *directed)
    for generator in ("kron:scale=8", "rmat:scale=8,ef=4", "uniform:scale=8", "grid:20x30,drop=0.2", "powerlaw:vertices=300,edges=2e3"):
        result(driver, generator, "--sources", 4, "--validate", "--baseline")
    piped = subprocess.run([driver, "bfs", "-", "--json"], input=(Path(corpus) / "road.gr").read_bytes(), capture_output=True, check=False)
    check("from standard input", json.loads(piped.stdout)["vertices"], result(driver, Path(corpus) / "road.gr")["vertices"])
    with tempfile.TemporaryDirectory() as folder:
        marked = Path(folder) / "marked.txt"
        marked.write_bytes(b"\xef\xbb\xbf0 1\n1 2\n")
        check("behind a byte order mark", result(driver, marked)["vertices"], 3)
    check("vertices of a grid", result(driver, "grid:20x30")["vertices"], 600)
    check("edges of a grid", result(driver, "grid:20x30")["edges"], 2 * (19 * 30 + 20 * 29))
    check("depth of a grid", result(driver, "grid:20x30")["depth"], 48)


LOOKALIKES = {
    "no_banner.mtx": "5 5 3\n2 3 1.0\n3 4 2.0\n3 5 3.0\n",
    "no_banner.txt": "5 5 3\n2 3 1.0\n3 4 2.0\n3 5 3.0\n",
    "one_percent.mtx": "%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n",
    "one_percent.txt": "\n%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n",
    "late_banner.txt": "% c\n%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n",
    "counts.txt": "4 3\n1 2\n2 3\n3 4\n",
    "percent.txt": "% c\n1 2\n2 3\n",
    "edges.mtx": "1 2\n2 3\n",
    "ring.txt": "4 4\n2 4\n1 3\n2 4\n1 3\n",
    "sizes_0.txt": "5 5 4\n0 1 9\n1 2 9\n2 3 9\n3 4 9\n",
    "sizes_commas.csv": "5,4\n0,1\n1,2\n2,3\n3,4\n",
    "sizes_matrix.csv": "10,10,3\n1,2,7\n2,3,7\n9,10,7\n",
    "sizes_mixed.txt": "5;4\n0 1\n1 2\n2 3\n3 4\n",
    "neighbours.adjlist": "#write.py\n# GMT Thu Nov 26 06:00:00 2026\n#\n0 1 2\n1 2 3\n2 3 0\n3 0 1\n",
    "neighbours.txt": "0 1 2\n1 2 3\n2 3 0\n3 0 1\n",
    "hash.txt": "# c\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n",
    "wrong_count.txt": "7 12\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n",
    "wrong_count.graph": "7 12\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n",
}


def lookalikes(driver):
    """A file that looks like a format is read as that format, or refused with advice on --format, by every command and from every source."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in LOOKALIKES.items():
            file = Path(folder) / name
            file.write_text(text)
            for command in ("bfs", "sssp", "components"):
                for words in ((), ("--relabel",)):
                    done = checks.run(driver, command, file, *words)
                    said = done.stderr.strip()
                    check(f"{command} {name} {words}: '{said}'", (done.returncode, done.stdout, said.startswith(f"karpos: cannot read {file}:")), (2, "", True))
                    check(f"{command} {name} {words}: '{said}' says how to go on", "--format" in said or "header" in said, True)
        for name in ("no_banner.mtx", "one_percent.mtx", "edges.mtx", "percent.txt"):
            file = Path(folder) / name
            seen = result(driver, file, "--format", "edges")
            check(f"{name} as edges", (seen["vertices"], seen["parameters"]["format"]), (6 if name == "no_banner.mtx" else 4, "edges"))
        refused = run(driver, "grid:3x3", "--format", "edges")
        check(f"a generator: '{refused.stderr.strip()}'", (refused.returncode, "--format does not apply to grid:3x3" in refused.stderr), (2, True))


GRAPHS = {  # a path 0-1-2-3, an edge 1-3, and a vertex alone
    "metis.graph": "% c\n5 4\n2\n1 3 4\n2 4\n2 3\n\n",
    "metis_stdin": "5 4\r\n2\r\n1\t3 4\r\n2 4\r\n2 3\r\n\r\n",
    "blank_line.mtx": "\n%%MatrixMarket matrix coordinate unsigned-integer symmetric\n%" + 70000 * "x" + "\n5 5 4\n1 2 7\n3 2 7\n4 2 7\n4 3 7\n",
    "nodes.col": "c c\np col 5 4\nn 1 4\nn 5 2\ne 1 2\ne 2 3\ne 2 4\ne 3 4\n",
    "bom.gr": "\ufeffp sp 5 4\r\nn 1 s\r\na 1 2 3\r\na 2 3 3\r\na 2 4 3\r\na 3 4 3\r\n",
}


def formats(driver):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in GRAPHS.items():
            file = Path(folder) / name
            file.write_text(text, encoding="utf-8", newline="")
            seen = result(driver, file, "--source", 0, "--validate")
            check(f"{name}: graph and search", [seen[f] for f in ("vertices", "edges", "reached", "depth", "sum_distance", "wrong")], [5, 8, 4, 2, 5, 0])
            with file.open("rb") as stdin:
                piped = run(driver, "-", "--source", 0, "--json", stdin=stdin)
            check(f"{name} from standard input: {piped.stderr}", piped.returncode == 0 and json.loads(piped.stdout)["edges"], 8)
            if checks.unpacks(driver):
                packed = Path(folder) / (name + ".gz")
                packed.write_bytes(gzip.compress(text.encode()))
                check(f"{name} packed", result(driver, packed, "--source", 0)["edges"], 8)
        file = Path(folder) / "networkx.edgelist"
        file.write_text("#nx\n1 2 {}\n2 3 {}\n")
        check("networkx", [result(driver, file)[f] for f in ("vertices", "edges", "depth")], [4, 4, 2])
        file.write_text("source,target\n5,7\n7,9\n")
        for words, vertices in (((), 10), (("--relabel",), 3)):
            seen = result(driver, file, *words)
            check(f"header {words}", (seen["vertices"], seen["edges"], seen["header"]), (vertices, 4, "source,target"))
            text = run(driver, file, *words).stdout
            check(f"header {words}: text", "the line 'source,target' is taken for a header, not for an edge" in text, True)
            components = checks.result(driver, "components", file, *words)
            check(f"header {words}: components", components["header"], "source,target")
        file.write_text("0 1\n1 2\n")
        check("no header", [name in result(driver, file) for name in ("header", "columns")], 2 * [False])
        check("two columns", "third column" in run(driver, file).stdout, False)
        for line, columns, times in (("0 1 7\n", 3, False), ("0,1,7\n", 3, False), ("0 1 7 1300000000\n", 4, True)):
            file.write_text(line)
            seen, text = result(driver, file), run(driver, file).stdout
            check(f"{line!r}: columns", (seen["columns"], seen["edges"]), (columns, 2))
            check(f"{line!r}: text", ("the third column is taken for weights, which are not used" in text, "the fourth for times" in text), (True, times))
            weighted = checks.run(driver, "sssp", file).stdout
            check(f"{line!r}: weights", ("the third column is taken for weights" in weighted, "which are not used" in weighted), (True, False))
            drawn = checks.run(driver, "sssp", file, "--random-weights").stdout
            check(f"{line!r}: no weights", "the third column is taken for weights, which are not used" in drawn, True)
            check(f"{line!r}: components", "which are not used" in checks.run(driver, "components", file).stdout, True)


def excluded_options(driver):
    """A message never advises an option beside one that excludes it."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "loop.txt", Path(folder) / "out.txt"
        file.write_text("0 0\n")
        for command, words, place in (("bfs", ("--batch", 3), "--source in place of --batch"), ("bfs", ("--sources", 3), "--source in place of --sources"),
                                      ("sssp", ("--sources", 3), "--source in place of --sources"), ("sssp", (), "choose a vertex by --source")):
            for more in ((), ("--relabel",)):
                done = checks.run(driver, command, file, *words, *more)
                check(f"{command} {words}: '{done.stderr.strip()}'", (done.returncode, done.stderr.rstrip().endswith(place)), (2, True))
        for words, place in ((("--batch", 3, "--output", out), "--source in place of --batch"), (("--sources", 3, "--output", out), "--source in place of --sources"),
                             (("--source", 0, "--seed", 7), "--sources in place of --source"), (("--seed", 7), "choose --sources or --batch")):
            done = run(driver, file, *words)
            check(f"bfs {words}: '{done.stderr.strip()}'", (done.returncode, done.stderr.rstrip().endswith(place)), (2, True))


def fewer_vertices_than_asked_for(driver):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "path.txt"
        file.write_text("0 1\n1 2\n2 3\n")
        for option, other in (("--batch", "--sources"), ("--sources", "--batch")):
            done = run(driver, file, option, 65)
            check(f"{option} 65: '{done.stderr.strip()}'", (done.returncode, done.stderr.count(option), other in done.stderr, "4 vertices have a neighbour" in done.stderr), (2, 1, False, True))
        file.write_text("0 0\n")
        for option in ("--batch", "--sources"):
            done = run(driver, file, option, 2)
            check(f"no edge, {option}: '{done.stderr.strip()}'", (done.returncode, "the graph has no edge" in done.stderr, "by --source" in done.stderr), (2, True, True))
        check("no edge: reached", result(driver, file)["reached"], 1)


def bad_input(driver, path):
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / "broken.txt"
        broken.write_text("0 1\n1 x\n")
        mac, mixed = Path(folder) / "mac.txt", Path(folder) / "mixed.txt"
        mac.write_bytes(b"1 2\r2 3\r")
        mixed.write_bytes(b"1 2\n2 3\r3 4\n")
        out = Path(folder) / "out"
        cases = [
            ([mac], "carriage returns alone"), ([mixed], f"{mixed}:2"), ([path, "--output", "-"], "--output - names no file"),
            (["no/such/file"], "no/such/file"), ([broken], f"{broken}:2"), ([folder], "directory"),
            ([path, "--source", 35], "--source 35"), ([path, "--source", -1], "--source"),
            ([path, "--source", 1, "--sources", 2], "--source"), ([path, "--sources", 35], "--sources"),
            ([path, "--sources", 0], "--sources"), ([path, "--seed", 2], "--sources"),
            ([path, "--direction", "sideways"], "--direction"), ([path, "--gamma", 0.5], "--direction gamma"),
            ([path, "--sources", 2, "--output", out], "--output"), ([path, "--batch", 2, "--output", out], "--output"),
            ([path, "--source", 1, "--batch", 2], "--source"), ([path, "--sources", 2, "--batch", 2], "--sources"), ([path, "--source", 99, "--output", out], "--source"),
            ([path, "--output", Path(folder) / "no" / "out"], "cannot write"),
            ([path, "--preset", "graph500"], "--preset"), ([path, "--permute"], "--distributed"), (["torus:4x4"], "torus"), (["kron:scale=99"], "scale"), (["kron:scale=8", "--directed"], "--directed"), ([], "graph"),
        ]
        for words, named in cases:
            done = run(driver, *words)
            check(f"{words}: exit code", done.returncode, 2)
            check(f"{words}: output", done.stdout, "")
            check(f"{words}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)
        check("nothing is written", out.exists(), False)


def main():
    driver, path, corpus = sys.argv[1:]
    good_input(driver, path, corpus)
    hub_shares(driver)
    words(driver, path)
    many_words(driver)
    other_graphs(driver, corpus)
    lookalikes(driver)
    formats(driver)
    excluded_options(driver)
    fewer_vertices_than_asked_for(driver)
    bad_input(driver, path)
    return checks.verdict("bfs")


if __name__ == "__main__":
    sys.exit(main())
