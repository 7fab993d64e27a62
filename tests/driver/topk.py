#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos topk` and compares what it prints with a ranking of its own.

    topk.py DRIVER SCORES     SCORES: a CSV file with complete rows
"""
import csv
import gzip
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from checks import check

PEERS = ["full", "nra", "sc", "lara"]
AGGREGATES = {"sum": math.fsum, "min": min, "max": max}

# A file as spreadsheets write it: a byte order mark, Windows line ends, quotes, an empty line, cells without a score.
AWKWARD = ('\ufeffname,"speed, top",price\r\n"Zoë ""Z"", the first",1e2,+3\r\n\r\n007,  -2.5 ,\r\nnobody,,\r\n'
           '"two\r\nlines",inf,1\r\nlow,-inf,4\r\n,5,6\r\n')


def run(driver, *words):
    return checks.run(driver, "topk", *words)


def result(driver, *words):
    """The object that a good run prints."""
    return checks.result(driver, "topk", *words) or {"results": [], "peers": []}


def number(cell, missing):
    return missing if cell is None else float(cell)


def read_table(path):
    """Ids and scores; None: missing."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    table = {row[0]: [cell.strip() or None for cell in row[1:]] for row in rows[1:] if row}
    return {name: cells for name, cells in table.items() if any(cells)}


def ranking(table, aggregate="sum", weights=None, missing=0.0):
    """Pairs (score, id) by falling score; equal ones in the order of the file."""
    scores = {}
    for name, cells in table.items():
        values = [number(cell, missing) for cell in cells]
        if weights:
            values = [w * v for w, v in zip(weights, values) if w != 0]
        infinite = aggregate == "sum" and -math.inf in values
        scores[name] = -math.inf if infinite else AGGREGATES[aggregate](values)
    return sorted(((s, name) for name, s in scores.items()), key=lambda pair: -pair[0])


def close(a, b):
    return a == b or math.isclose(float(a), float(b), rel_tol=1e-12)


def check_answer(what, seen, expected, k, exact):
    best = expected[:k]
    check(f"{what}: found", seen.get("found"), len(best))
    check(f"{what}: wrong", seen.get("wrong"), 0)
    check(f"{what}: checked", seen.get("checked"), True)
    rows = seen["results"]
    names = [row["id"] for row in rows]
    if exact:
        check(f"{what}: ranks", [row["rank"] for row in rows], list(range(1, len(best) + 1)))
        check(f"{what}: scores", all(close(row["score"], s) for row, (s, _) in zip(rows, best)), True)
    of = {name: s for s, name in expected}
    check(f"{what}: ids", len(set(names)), len(best))
    check(f"{what}: the scores of the ids", all(close(a, b) for a, b in
          zip(sorted((of[n] for n in names), reverse=True), [s for s, _ in best])), True)


CHOICES = [
    [], ["--result", "set"], ["--ties", "smallest-id"], ["--stride", "fixed:1"], ["--stride", "fixed:7"], ["--stride", "fixed"],
    ["--bail-out", "never"], ["--bail-out", "at-once"], ["--validate"], ["--reps", 1], ["--repeat", 2],
    ["--result", "set", "--stride", "fixed:3"], ["--result", "set", "--bail-out", "never"],
]


def good_input(driver, path):
    table = read_table(path)
    lists = len(next(iter(table.values())))
    weights = [10.0 ** -i for i in range(2 * lists, 0, -2)]
    for choice in CHOICES:
        for k in (1, 5, len(table), 10 * len(table)):
            seen = result(driver, path, "--k", k, *choice)
            check_answer(f"{choice}, k {k}", seen, ranking(table), k, "set" not in choice)
            check(f"{choice}: objects", seen.get("objects"), len(table))
        for aggregate in AGGREGATES:
            seen = result(driver, path, "--k", 7, "--aggregate", aggregate, *choice)
            check_answer(f"{choice}, {aggregate}", seen, ranking(table, aggregate), 7, "set" not in choice)
        seen = result(driver, path, "--k", 7, "--weights", ",".join(map(str, weights)), *choice)
        check_answer(f"{choice}, weights", seen, ranking(table, weights=weights), 7, "set" not in choice)


def smaller_is_better(driver, folder, path):
    """A negative weight ranks by smaller scores, which are printed as they are."""
    table = read_table(path)
    for weights in ([-1, 1e-4, 0], [-1e-6, -1e-4, -0.1], [1e-6, 0, -0.1]):
        for choice in CHOICES:
            seen = result(driver, path, "--k", 7, "--weights", ",".join(map(str, weights)), *choice)
            check_answer(f"{choice}, weights {weights}", seen, ranking(table, weights=weights), 7, "set" not in choice)
        for row in seen["results"]:
            check(f"weights {weights}: scores of {row['id']}", row["scores"], [float(cell) for cell in table[row["id"]]])
        check("weights as they were given", seen["parameters"]["weights"], weights)
    holes = Path(folder) / "holes.csv"
    holes.write_text("id,price,speed\na,5,1\nb,,1\nc,2,\nd,9,9\n", encoding="ascii")
    for missing in ("0", "-inf"):
        seen = result(driver, holes, "--weights=-1,1", "--missing", missing)
        check_answer(f"holes, {missing}", seen, holes_ranking(float(missing)), 4, True)
    seen = result(driver, "uniform:m=5000,n=3", "--k", 9, "--weights=-1,1,-2", "--peers")
    check("generator, negative weights: wrong", seen["wrong"], 0)
    check("generator, negative weights: peers", [p.get("wrong", 0) for p in seen["peers"]], len(PEERS) * [0])


def holes_ranking(missing):
    """Ranks by speed minus price; a missing score is 0, or minus infinity whatever its weight."""
    scores = {"a": -4.0, "b": 1.0, "c": -2.0, "d": 0.0} if missing == 0 else {"a": -4.0, "b": missing, "c": missing, "d": 0.0}
    return sorted(((s, name) for name, s in scores.items()), key=lambda pair: -pair[0])


def awkward_file(driver, folder):
    path = Path(folder) / "awkward.csv"
    path.write_text(AWKWARD, encoding="utf-8", newline="")
    table = read_table(path)
    check("awkward: rows", len(table), 5)
    for missing in (0.0, -7.5, 1000.0):
        for choice in CHOICES:
            seen = result(driver, path, "--k", 4, "--missing", missing, *choice)
            check_answer(f"awkward, {missing}, {choice}", seen, ranking(table, missing=missing), 4, "set" not in choice)
    seen = result(driver, path, "--missing", "-inf")
    check("awkward: without scores", seen["without_scores"], 1)
    check("awkward: attributes", seen["attributes"], ["speed, top", "price"])
    check("awkward: entries", seen["entries"], 9)
    rows = {row["id"]: row for row in seen["results"]}
    check("awkward: ids", sorted(rows), sorted(table))
    check("awkward: infinite", rows["two\r\nlines"]["score"], "inf")
    check("awkward: minus infinite", (rows["low"]["score"], rows["007"]["score"]), ("-inf", "-inf"))
    check("awkward: missing", rows["007"]["scores"], [-2.5, None])
    check("awkward: quotes", rows['Zoë "Z", the first']["scores"], [100, 3])
    seen = result(driver, path, "--peers")
    check("awkward: peers", [("skipped" in p, p["peer"]) for p in seen["peers"]], [(True, p) for p in PEERS])


def separators(driver, folder):
    """The separator of fields is detected; a header alone has no objects."""
    path = Path(folder) / "table.csv"
    for mark in ",;|\t":
        path.write_text(mark.join(["id", "a", "b"]) + "\r\n" + mark.join(["#x y", "1", "2.5"]) + "\n" + mark.join(['"p\n""q"""', "", "3"]) + "\n", encoding="utf-8", newline="")
        rows = result(driver, path)["results"]
        check(f"separator {mark!r}", [(row["id"], row["scores"]) for row in rows], [("#x y", [1, 2.5]), ('p\n"q"', [None, 3])])
        for end in ("", "\n", "\r\n\r\n"):
            path.write_text(mark.join(["id", "a", "b"]) + end, encoding="utf-8", newline="")
            for choice in CHOICES:
                seen = result(driver, path, "--k", 3, *choice)
                check(f"a header alone, {mark!r}, {choice}", [seen.get(name) for name in ("objects", "found", "wrong", "attributes", "results")], [0, 0, 0, ["a", "b"], []])
    check("a header alone: text", "0 objects, 2 lists, 0 entries" in run(driver, path, "--peers").stdout, True)
    check("a header alone: weights", "1 weight for 2 lists" in run(driver, path, "--weights", "1").stderr, True)


def ties(driver, folder):
    path = Path(folder) / "ties.csv"
    path.write_text("id,a,b\n" + "".join(f"o{i},{i % 3},{(i + 1) % 3}\n" for i in range(60)), encoding="utf-8")
    expected = ranking(read_table(path))
    for choice in CHOICES:
        if "--ties" in choice:
            continue
        for k in (1, 10, 33, 60):
            seen = result(driver, path, "--k", k, *choice, "--ties", "smallest-id")
            rows = [row["id"] for row in seen["results"]]
            wanted = [name for _, name in expected[:k]]
            exact = "set" not in choice
            check(f"ties, {choice}, k {k}", rows if exact else set(rows), wanted if exact else set(wanted))


def generators(driver):
    for spec in ("uniform:m=5000,n=4", "correlated:m=5000,n=3", "anticorrelated:m=3000,n=4", "zipf:m=5000,n=4,s=1",
                 "zipf:m=1e3,s=0.5", "uniform:m=1,n=1", "uniform:m=2^10,n=32", "anticorrelated:m=7,n=1"):
        for choice in ([], ["--result", "set"], ["--stride", "fixed:100"], ["--bail-out", "at-once"]):
            seen = result(driver, spec, "--k", 10, *choice, "--peers", ",".join(PEERS))
            measured = [p for p in seen["peers"] if "skipped" not in p]
            check(f"{spec}, {choice}: wrong", [seen.get("wrong"), *[p["wrong"] for p in measured]], (1 + len(measured)) * [0])
            check(f"{spec}, {choice}: peers", [p["peer"] for p in measured], PEERS[:1] if "32" in spec else PEERS)
            check(f"{spec}, {choice}: times", all(p["seconds"]["median"] > 0 for p in [seen, *measured]), True)
    drawn = [[row["id"] for row in result(driver, "uniform:m=1e4", "--seed", seed)["results"]] for seed in (1, 1, 2)]
    check("same seed, same scores", drawn[0] == drawn[1], True)
    check("other seed, other scores", drawn[0] == drawn[2], False)
    # The first scores of seed 12345, which is the usual one; earlier measurements were made with them.
    rows = result(driver, "uniform:m=100,n=4", "--k", 100)["results"]
    first = next(row["scores"] for row in rows if row["id"] == 0)
    known = [0.019414233, 0.513172567, 0.801535845, 0.360526264]
    check("known scores", all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(first, known)), True)


def published_scheme(driver, path):
    """The published scheme finds the same objects, by strides, and only when it knows all their scores."""
    for spec, k, stride in (("uniform:m=5000,n=4", 10, 100), ("correlated:m=5000,n=3", 5000, 7), ("anticorrelated:m=3000,n=4", 1, 1),
                            ("zipf:m=5000,n=4,s=1", 100, 64), ("uniform:m=1,n=1", 1, 3), ("uniform:m=300,n=16", 7, 1000), (path, 9, 5)):
        seen = result(driver, spec, "--k", k, "--scheme", f"published:{stride}", "--peers", "nra", "--reps", 2)
        nra, published = seen["peers"]
        objects = seen["objects"]
        check(f"{spec}: published scheme", (published["peer"], published["wrong"], seen["wrong"]), ("published", 0, 0))
        check(f"{spec}: reads strides", published["depth"] % stride == 0 or published["depth"] == objects, True)
        check(f"{spec}: grows as far as NRA, up to a stride", 0 <= published["depth_growing"] - nra["depth_growing"] < stride or published["depth_growing"] == objects, True)
        check(f"{spec}: reads no less than NRA", published["depth"] >= nra["depth"], True)
        check(f"{spec}: parameter", seen["parameters"]["published_stride"], stride)
    skipped = result(driver, "uniform:m=100", "--scheme", "published", "--aggregate", "min")["peers"]
    check("published scheme: sums only", [p["peer"] for p in skipped if "skipped" in p], ["published"])
    check("no published scheme", "published_stride" in result(driver, path)["parameters"], False)


def energy(driver):
    """Numbers of the query and of each peer, or why there are none."""
    seen = result(driver, "uniform:m=1000", "--reps", 1, "--energy", "--peers", "full,nra")
    for of in [seen, *seen["peers"]]:
        told = [of["energy"][name] for name in ("device_joules", "host_joules") if name in of["energy"]]
        check("energy: why not, or a number", "host_obstacle" in of["energy"] or "host_joules" in of["energy"], True)
        check("energy: a query's", bool(told), of["energy"].get("joules_per_query", 0) > 0)
    check("no energy", "energy" in result(driver, "uniform:m=1000"), False)


FIELDS = """format context parameters objects without_scores lists attributes entries score_bytes load_seconds sort_seconds
prepare_seconds workspace_bytes found depth_growing depth depth_completing candidates finalists strides entries_read
bytes_read bailed_out seconds results peers checked wrong""".split()


def shape(driver, path):
    seen = result(driver, path, "--k", 3, "--peers", "full", "--bail-out", "at-once")
    check("fields", list(seen), FIELDS)
    check("format", seen["format"], "karpos-topk-1")
    check("bailed out", seen["bailed_out"], True)
    check("seconds", list(seen["seconds"]), ["median", "low", "high", "batch", "all"])
    check("a row", list(seen["results"][0]), ["rank", "id", "score", "scores"])
    check("a peer", set(seen["peers"][0]) >= {"peer", "threads", "depth", "over_karpos", "wrong", "seconds"}, True)
    check("reads no more than all", 0 < seen["entries_read"] <= 2 * seen["entries"], True)
    text = run(driver, path, "--k", 3, "--peers")
    check("text: exit code", text.returncode, 0)
    best = ranking(read_table(path))[0][1]
    for word in ("rank", best, "depth", "lists sorted in", "ids read", "brute force agrees", *PEERS):
        check(f"text names {word}", word in text.stdout, True)
    of_set = run(driver, path, "--k", 3, "--result", "set").stdout
    check("text of a set has no ranks", "rank  id" in of_set, False)


def packed_and_piped(driver, folder, path):
    """A file, the same packed, and the same from standard input."""
    text = Path(path).read_bytes()
    expected = [row["id"] for row in result(driver, path, "--k", 3)["results"]]
    piped = subprocess.run([driver, "topk", "-", "--k", "3", "--json"], input=text, capture_output=True, check=False)
    check("from standard input", [row["id"] for row in json.loads(piped.stdout)["results"]], expected)
    if checks.unpacks(driver):
        packed = Path(folder) / "packed.csv.gz"
        packed.write_bytes(gzip.compress(text))
        check("packed", [row["id"] for row in result(driver, packed, "--k", 3)["results"]], expected)


def bad_input(driver, folder, path):
    broken = Path(folder) / "broken.csv"
    files = {
        "empty.csv": ("", "is empty"), "blank.csv": ("\n\n", "no header"),
        "one.csv": ("id\nx\n", "at least one attribute"), "word.csv": ("id,a,b\nx,1,2\ny,3,tall\n", "word.csv:3, column 3 'b' ('tall'"),
        "nan.csv": ("id,a\nx,nan\n", "nan.csv:2, column 2"), "hex.csv": ("id,a\nx,0x10\n", "hex.csv:2, column 2"),
        "huge.csv": ("id,a\nx,1e999\n", "range"), "short.csv": ("id,a,b\nx,1\n", "short.csv:2"),
        "narrow.csv": ("id,a,b\nx\n", "the row has 1 column, the header 3"),
        "long.csv": ("id,a\nx,1,2\n", "long.csv:2"), "twice.csv": ("id,a\nx,1\ny,2\nx,3\n", "twice.csv:4"),
        "open.csv": ('id,a\n"x,1\ny,2\n', "open.csv:2, column 1"), "behind.csv": ('id,a\n"x"y,1\n', "behind.csv:2"),
        "later.csv": ('id,a\r\n"x\r\ny",1\r\nz,?\r\n', "later.csv:4"), "none.csv": ("id,a\nx,\n", "no row has a score"),
        "wide.csv": ("id" + ",a" * 33 + "\n", "33 attributes"), "nameless.csv": ("x,1,2\ny,3,4\n", "is the header missing?"),
    }
    cases = [
        (["no/such/file"], "no/such/file"), ([folder], "directory"), ([], "scores"), ([path, "--k", 0], "--k"),
        ([path, "--k", "many"], "many"), ([path, "--k", -1], "-1"), ([path, "--k", 1.5], "whole number"), ([path, "--weights", "1"], "1 weight for "),
        ([path, "--weights", "1,-1,1", "--missing", 3], "--missing"), ([path, "--weights", "1,inf,1"], "finite"), ([path, "--weights", "1,x,1"], "x"),
        ([path, "--weights", "1,1,1", "--aggregate", "min"], "--aggregate min"), ([path, "--aggregate", "mean"], "mean"),
        ([path, "--missing", "nan"], "nan"), ([path, "--missing", "inf"], "inf"), ([path, "--result", "some"], "some"),
        ([path, "--stride", "long"], "long"), ([path, "--stride", "fixed:0"], "fixed"), ([path, "--scheme", "published:0"], "--scheme published:0"), ([path, "--scheme", "published:x"], "'x'"), ([path, "--scheme", "other"], "'other'"), ([path, "--stride", "fixed:x"], "x"),
        ([path, "--ties", "all"], "all"), ([path, "--bail-out", "later"], "later"), ([path, "--reps", 0], "--reps"),
        ([path, "--peers", "ta"], "no peer 'ta'"), ([path, "--seed", 1], "--seed"), (["normal:m=10"], "normal"), (["uniform:m=0"], "m of"), (["uniform:m=x"], "'x'"),
        (["uniform:m=10,n=0"], "n of"), (["uniform:n=33"], "n of"), (["correlated:n=16"], "n of"), (["uniform:s=1"], "'s'"),
        (["zipf:s=0"], "s of"), (["uniform:m=1e10"], "m of"),
    ]
    for name, (text, named) in files.items():
        broken = Path(folder) / name
        broken.write_text(text, encoding="utf-8", newline="")
        cases.append(([broken], named))
    for words, named in cases:
        done = run(driver, *words)
        check(f"{words}: exit code", done.returncode, 2)
        check(f"{words}: output", done.stdout, "")
        check(f"{words}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def main():
    driver, path = sys.argv[1:]
    good_input(driver, path)
    with tempfile.TemporaryDirectory() as folder:
        smaller_is_better(driver, folder, path)
        awkward_file(driver, folder)
        separators(driver, folder)
        ties(driver, folder)
        packed_and_piped(driver, folder, path)
        bad_input(driver, folder, path)
    generators(driver)
    published_scheme(driver, path)
    energy(driver)
    shape(driver, path)
    return checks.verdict("topk")


if __name__ == "__main__":
    sys.exit(main())
