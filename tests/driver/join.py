#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos join` and `karpos distinct` on tables of many kinds and compares what they print and write with joins of its
own.

    join.py DRIVER STATES CAPITALS     two CSV files with headers: the first columns name states, not all of them in both
"""
import csv
import gzip
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import checks
from checks import check

NUMBER = re.compile(r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")
KINDS = ("inner", "left", "right", "full", "semi", "anti", "right_semi", "right_anti")


def result(driver, *words, command="join"):
    """The object that a good run prints."""
    return checks.result(driver, command, *words) or {"top": [], "results": []}


def joined(left, right, on, how, text):
    """Two tables, lists of rows with a header first, joined row by row; on: pairs of columns. Returns: rows, header first."""
    def is_numeric(values):
        return not text and all(v == "" or NUMBER.fullmatch(v) for v in values)

    readers = [Fraction if is_numeric([r[a] for r in left[1:]] + [r[b] for r in right[1:]]) else str for a, b in on]
    keys = [[tuple("" if r[pair[side]] == "" else read(r[pair[side]]) for pair, read in zip(on, readers)) for r in table[1:]]
            for side, table in enumerate((left, right))]
    by_key = {}
    for j, key in enumerate(keys[1]):
        by_key.setdefault(key, []).append(j)
    matches = [[] if "" in key else by_key.get(key, []) for key in keys[0]]
    matched = {j for m in matches for j in m}
    if how in ("semi", "anti"):
        return [left[0], *[row for row, m in zip(left[1:], matches) if bool(m) == (how == "semi")]]
    if how in ("right_semi", "right_anti"):
        return [right[0], *[row for j, row in enumerate(right[1:]) if (j in matched) == (how == "right_semi")]]
    pairs = [(i, j) for i, m in enumerate(matches) for j in m or ([None] if how in ("left", "full") else [])]
    if how in ("right", "full"):
        pairs += [(None, j) for j in range(len(right) - 1) if j not in matched]
    more = [[c for c in range(len(table[0])) if c not in [pair[side] for pair in on]] for side, table in enumerate((left, right))]
    names = [left[0][a] for a, _ in on] + [left[0][c] for c in more[0]] + [right[0][c] for c in more[1]]
    shown = [name + ("" if names.count(name) == 1 or i < len(on) else "_left" if i < len(on) + len(more[0]) else "_right") for i, name in enumerate(names)]
    rows = [shown]
    for i, j in pairs:
        a, b = left[i + 1] if i is not None else None, right[j + 1] if j is not None else None
        rows.append([a[x] if a else b[y] for x, y in on] + [a[c] if a else "" for c in more[0]] + [b[c] if b else "" for c in more[1]])
    return rows


def written(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def with_nulls(rows):
    return [[None if cell == "" else cell for cell in row] for row in rows]


def save(path, rows):
    """Writes rows as CSV; quotes all fields if one begins like a comment."""
    marks = any(cell.startswith(("#", "%")) for row in rows for cell in row)
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL if marks else csv.QUOTE_MINIMAL).writerows(rows)
    return path


def check_joins(what, driver, folder, files, words, tables, on):
    """Every kind of join, in the JSON and in --output."""
    out = Path(folder) / "joined"
    for how in KINDS:
        expected = joined(*tables, on, how, "--text" in words)
        seen = result(driver, *files, *words, "--how", how, "--top", 10**6, "--output", out)
        check(f"{what}, {how}: rows", seen.get("rows"), len(expected) - 1)
        check(f"{what}, {how}: names", seen.get("names"), expected[0])
        check(f"{what}, {how}: JSON", seen["top"], with_nulls(expected[1:]))
        check(f"{what}, {how}: output", written(out), expected)


# Two tables, options, pairs of columns.
TABLES = {
    "one row each": ([["k", "v"], ["7", "5"]], [["k", "w"], ["7", "6"]], ["--on", "k"], [(0, 0)]),
    "none matches": ([["k", "v"], ["7", "5"]], [["k", "w"], ["8", "6"]], ["--on", "k"], [(0, 0)]),
    "equal rows on both sides": ([["k", "v"], ["1", "a"], ["2", "b"], ["1", "c"], ["3", "d"]], [["k", "w"], ["1", "x"], ["4", "y"], ["1", "z"], ["2", "u"]], ["--on", "k"], [(0, 0)]),
    "names that differ": ([["a", "v"], ["1", "x"], ["2", "y"]], [["w", "b"], ["p", "2"], ["q", "3"]], ["--on", "a=b"], [(0, 1)]),
    "numbers of columns": ([["a", "v"], ["1", "x"], ["2", "y"]], [["w", "b"], ["p", "2"], ["q", "3"]], ["--on", "1=2"], [(0, 1)]),
    "names that clash": ([["k", "v", "n"], ["1", "x", "l"]], [["v", "k", "m"], ["y", "1", "r"], ["z", "2", "s"]], ["--on", "k"], [(0, 1)]),
    "a key with the name of another column": ([["a", "b"], ["1", "2"]], [["c", "a"], ["1", "9"]], ["--on", "a=c"], [(0, 0)]),
    "words": ([["city", "n"], ["Rome", "1"], ["Paris", "2"], ["Rome", "3"]], [["city", "land"], ["Rome", "Italy"], ["Oslo", "Norway"]], ["--on", "city"], [(0, 0)]),
    "letters of Greece": ([["k", "v"], ["άλφα", "1"], ["βήτα", "2"]], [["k", "w"], ["άλφα", "ένα"], ["άλφ", "3"], ["βήτα", "δύο"]], ["--on", "k"], [(0, 0)]),
    "long words": ([["k", "v"], ["abcdefghijklmnop", "1"], ["abcdefghijklmnoq", "2"]], [["k", "w"], ["abcdefghijklmnoq", "3"], ["abcdefgh", "4"], ["ijklmnop", "5"]], ["--on", "k"], [(0, 0)]),
    "two columns": ([["a", "b", "v"], ["1", "x", "p"], ["1", "y", "q"], ["2", "x", "r"]], [["a", "b", "w"], ["1", "y", "s"], ["2", "y", "t"], ["1", "x", "u"]], ["--on", "a,b"], [(0, 0), (1, 1)]),
    "two columns, crossed": ([["a", "b"], ["1", "2"], ["2", "1"]], [["c", "d"], ["1", "2"], ["3", "3"]], ["--on", "a=d,b=c"], [(0, 1), (1, 0)]),
    "three columns": ([["a", "b", "c"], ["1", "x", "-1"], ["1", "x", "-2"]], [["a", "b", "c"], ["1", "x", "-2"], ["1", "x", ""]], ["--on", "a,b,c"], [(0, 0), (1, 1), (2, 2)]),
    "one column for two": ([["a", "b"], ["1", "1"], ["1", "2"]], [["k", "w"], ["1", "p"], ["2", "q"]], ["--on", "a=k,b=k"], [(0, 0), (1, 0)]),
    "nulls": ([["k", "v"], ["", "a"], ["1", ""], ["", "c"]], [["k", "w"], ["", "x"], ["1", "y"], ["1", ""]], ["--on", "k"], [(0, 0)]),
    "nulls in one of two": ([["a", "b"], ["x", ""], ["x", "1"], ["", "1"]], [["a", "b"], ["x", ""], ["x", "1"], ["", "1"]], ["--on", "a,b"], [(0, 0), (1, 1)]),
    "nothing but nulls": ([["k", "v"], ["", "a"]], [["k", "w"], ["", "x"]], ["--on", "k"], [(0, 0)]),
    "keys alone": ([["k", "j"], ["1", "2"], ["1", "2"], ["4", "5"]], [["k", "j"], ["1", "2"], ["7", ""]], ["--on", "k,j"], [(0, 0), (1, 1)]),
    "integers": ([["k", "v"], ["007", "a"], ["-0", "b"], ["+5", "c"], [str(2**63 - 1), "d"]], [["k", "w"], ["7", "x"], ["0", "y"], ["5", "z"], [str(2**63 - 1), "u"], [str(-2**63 + 1), "v"]], ["--on", "k"], [(0, 0)]),
    "integers with decimals": ([["k", "v"], ["1", "a"], ["1000", "b"], ["-0", "c"], ["", "d"], ["2", "e"]], [["k", "w"], ["1.0", "x"], ["1e3", "y"], ["0", "z"], ["", "u"], ["0.2e1", "v"], ["1.5", "w"]], ["--on", "k"], [(0, 0)]),
    "decimals": ([["k", "v"], [".5", "a"], ["0.1", "b"], ["1e-400", "c"]], [["k", "w"], ["0.50", "x"], ["0.10000000000000000555", "y"], ["0", "z"]], ["--on", "k"], [(0, 0)]),
    "decimals as text": ([["k", "v"], ["1", "a"], ["1.0", "b"]], [["k", "w"], ["1.0", "x"]], ["--on", "k", "--text"], [(0, 0)]),
    "decimals on one side": ([["k", "v"], ["1", "a"], ["1.0", "b"]], [["k", "w"], ["1.0", "x"], ["one", "y"]], ["--on", "k"], [(0, 0)]),
    "infinities are words": ([["k", "v"], ["1", "a"], ["inf", "b"]], [["k", "w"], ["1.0", "x"], ["inf", "y"]], ["--on", "k"], [(0, 0)]),
    "decimals in one of two columns": ([["a", "b", "v"], ["1", "x", "p"], ["2", "y", "q"]], [["a", "b", "w"], ["1.0", "x", "s"], ["2e0", "x", "t"]], ["--on", "a,b"], [(0, 0), (1, 1)]),
    "fields of several lines": ([["k", "v"], ["a\nb", "1\n2"], ["c,\r\n\"d\"", "3"]], [["k", "w\nx"], ["c,\r\n\"d\"", "4"], ["a\nb", "\n"], ["a", ""]], ["--on", "k"], [(0, 0)]),
    "integers as text": ([["k", "v"], ["007", "a"], ["7", "b"]], [["k", "w"], ["7", "x"]], ["--on", "k", "--text"], [(0, 0)]),
    "integers on one side": ([["k", "v"], ["007", "a"], ["7", "b"]], [["k", "w"], ["7", "x"], ["seven", "y"]], ["--on", "k"], [(0, 0)]),
    "quotes": ([["k", "a, b"], ['a, "b"', '"'], ["#c", " d "]], [["k", "a, b"], ["#c", "%"], ['a, "b"', ""]], ["--on", "k"], [(0, 0)]),
    "a left table without rows": ([["k", "v"]], [["k", "w"], ["7", "6"], ["", "5"]], ["--on", "k"], [(0, 0)]),
    "a right table without rows": ([["k", "v"], ["7", "6"], ["", "5"]], [["k", "w"]], ["--on", "k"], [(0, 0)]),
    "tables without rows": ([["k", "v"]], [["w", "k", "u"]], ["--on", "k"], [(0, 1)]),
    "a pair of one with many": ([["k", "v"], ["1", "a"]], [["k", "w"], *[["1", str(i)] for i in range(300)]], ["--on", "k"], [(0, 0)]),
}


def tables(driver, folder, unpacks):
    paths = [Path(folder) / "left", Path(folder) / "right"]
    for name, (left, right, words, on) in TABLES.items():
        check_joins(name, driver, folder, [save(paths[0], left), save(paths[1], right)], words, (left, right), on)
    if unpacks:
        left, right, words, on = TABLES["words"]
        for path in paths:
            path.write_bytes(gzip.compress(save(path, left if path == paths[0] else right).read_bytes()))
        check_joins("packed", driver, folder, paths, words, (left, right), on)


def other_formats(driver, folder):
    """Separators, ends of lines, --header no, standard input."""
    left, right = Path(folder) / "left", Path(folder) / "right"
    left.write_text("\ufeffk;v\r\n1;a b\r\n# none\r\n\r\n2;c\r\n", encoding="utf-8", newline="")
    right.write_text("k\tw\n2\tx y\n3\tz\n", encoding="utf-8")
    check("separators", result(driver, left, right, "--on", "k", "--how", "full")["top"], [["1", "a b", None], ["2", "c", "x y"], ["3", None, "z"]])
    left.write_text("1 2\n2 3\n", encoding="ascii")
    seen = result(driver, left, left, "--on", "2=1", "--header", "no")
    check("without headers", (seen.get("names"), seen["top"]), (["column 2", "column 1", "column 2_right"], [["2", "1", "3"]]))
    piped = subprocess.run([driver, "join", "-", str(right), "--on", "k"], input=b"k,v\n3,x\n", capture_output=True, check=False)
    check("standard input", (piped.returncode, piped.stderr, b"inner join on k (integers): 1 row," in piped.stdout), (0, b"", True))
    left.write_text(f"k,v\n{2**64 - 1},a\n{-2**63},b\n", encoding="ascii")
    right.write_text(f"k,w\n{2**64 - 1},x\n{-2**63},y\n18446744073709551614,z\n", encoding="ascii")
    seen = result(driver, left, right, "--on", "k")
    check("integers of 64 bits without a sign", (seen.get("compared"), seen["top"]), (["integers"], [[str(2**64 - 1), "a", "x"], [str(-2**63), "b", "y"]]))
    left.write_text(f"k,v\n{2**64},a\n{2**64 + 1},b\n", encoding="ascii")
    right.write_text(f"k,w\n{2**64 + 1}.0,x\n1,y\n", encoding="ascii")
    seen = result(driver, left, right, "--on", "k")
    check("numbers beyond 64 bits", (seen.get("compared"), seen["top"]), (["numbers"], [[str(2**64 + 1), "b", "x"]]))
    left.write_text("k|v\n1|a, b\n", encoding="ascii")
    right.write_text("k\tw\n1\t\"x\ny\"\n2\t\"z\n", encoding="ascii")
    check("bars and tabs", result(driver, left, right, "--on", "k", "--how", "full")["top"], [["1", "a, b", "x\ny"], ["2", None, '"z']])


def large_tables(driver, folder):
    """Several parts of a file; keys that many rows have on both sides."""
    draw = random.Random(7)
    left = [["key", "name", "n"], *[[str(draw.randrange(20000)), draw.choice(["x", "y", "ä", ""]), str(i)] for i in range(60000)]]
    right = [["key", "name", "m"], *[[str(draw.choice([draw.randrange(40000), 5])), draw.choice(["x", "ä", "z"]), f"r{i}"] for i in range(40000)]]
    files = [save(Path(folder) / "left", left), save(Path(folder) / "right", right)]
    out = Path(folder) / "joined"
    for how in KINDS:
        for words, on in ((["--on", "key,name"], [(0, 0), (1, 1)]), (["--on", "key", "--text"], [(0, 0)])):
            expected = joined(left, right, on, how, "--text" in words)
            seen = result(driver, *files, *words, "--how", how, "--output", out)
            check(f"large, {words}, {how}: rows", seen.get("rows"), len(expected) - 1)
            check(f"large, {words}, {how}: output", written(out) == expected, True)


def real_tables(driver, folder, states, capitals):
    left, right = (written(path) for path in (capitals, states))
    check_joins("states", driver, folder, [capitals, states], ["--on", f"{left[0][0]}={right[0][0]}"], (left, right), [(0, 0)])
    back = Path(folder) / "back"
    result(driver, capitals, states, "--on", f"{left[0][0]}={right[0][0]}", "--how", "left", "--output", back)
    again = result(driver, back, states, "--on", f"{left[0][0]}={right[0][0]}", "--how", "semi", "--top", 100)
    check("an output is read again", again.get("rows"), len(right) - 1)


def distinct(driver, folder):
    table = [["k", "v", "w"], ["b", "1", "x"], ["a", "1", "x"], ["b", "01", "y"], ["", "2", "x"], ["b", "1", "x"], ["", "2", ""], ["c", "", "x"], ["", "2", "x"]]
    path, out = save(Path(folder) / "table", table), Path(folder) / "different"
    for words, columns, readers in ((["--by", "k"], [0], [str]), (["--by", "v"], [1], [int]), (["--by", "v", "--text"], [1], [str]), (["--by", "w,k"], [2, 0], [str, str]),
                                    (["--by", "3,2"], [2, 1], [str, int]), ([], [0, 1, 2], [str, int, str]), (["--text"], [0, 1, 2], [str] * 3)):
        seen, rows = set(), [[table[0][c] for c in columns]]
        for row in table[1:]:
            key = tuple(None if row[c] == "" else read(row[c]) for c, read in zip(columns, readers))
            if key not in seen:
                rows.append([row[c] for c in columns])
            seen.add(key)
        found = result(driver, path, *words, "--output", out, command="distinct")
        check(f"distinct {words}", (found.get("distinct"), found.get("lines"), found.get("names"), found["top"]), (len(rows) - 1, 8, rows[0], with_nulls(rows[1:])))
        check(f"distinct {words}: output", written(out), rows)
        again = result(driver, out, *([] if "--text" not in words else ["--text"]), "--header", "yes", command="distinct")
        check(f"distinct {words}: of its output", again.get("distinct"), len(rows) - 1)
    for words, names, lines in (([], ["k", "v"], []), (["--by", "v"], ["v"], []), (["--header", "no"], ["column 1", "column 2"], [["k", "v"]])):
        path.write_text("k,v\n", encoding="ascii")
        found = result(driver, path, *words, "--output", out, command="distinct")
        check(f"distinct {words}: a header alone", (found.get("lines"), found.get("names"), found["top"]), (len(lines), names, lines))
        check(f"distinct {words}: a header alone, output", written(out), [names, *lines])
    for words, firsts in (([], ["1", "", "2.5", "1e400"]), (["--text"], ["1", "1.0", "", "2.5", "2.50", "1e400", "10e399"])):
        path.write_text("n,m\n1,a\n1.0,a\n,a\n2.5,a\n2.50,a\n1e400,a\n10e399,a\n", encoding="ascii")
        found = result(driver, path, "--by", "n", *words, command="distinct")
        check(f"distinct {words}: ways to write a number", ([row[0] or "" for row in found["top"]], found.get("compared")), (firsts, ["text" if words else "numbers"]))
    path.write_text("k, v \n a b , c\n\" a b \",c\n", encoding="ascii")
    check("distinct: blanks around fields without quotes are no part of them", result(driver, path, command="distinct")["top"], [["a b", "c"], [" a b ", "c"]])
    numbers = [i * 7919 % 50021 % 9973 for i in range(200000)]
    path.write_text("n\n" + "".join(f"{n}\n" for n in numbers), encoding="ascii")
    found = result(driver, path, "--top", 10**5, command="distinct")
    check("distinct: many", [int(row[0]) for row in found["top"]], list(dict.fromkeys(numbers)))
    shown = checks.run(driver, "distinct", path, "--top", 2).stdout
    for words in ("200,000 lines below a header", "9,973 different rows of 1 column", "and 9,971 more"):
        check(f"distinct: text says {words}: {shown}", words in shown, True)


def text(driver, folder):
    left, right, out = Path(folder) / "l.csv", Path(folder) / "r.csv", Path(folder) / "out.csv"
    left.write_text("k,v\nx\x1b[2J,1\n,2\ny,3\n", encoding="utf-8")
    right.write_text("id,w\ny,3e0\nx\x1b[2J,\n", encoding="utf-8")
    shown = checks.run(driver, "join", left, right, "--on", "k=id", "--how", "left", "--output", out).stdout
    for words in ("l.csv: 3 lines below a header, 1 without a key", "r.csv: 2 lines below a header", "left join on k = id (text): 3 rows, ", "memory: ", "x?[2J  1", "y  3  3e0", str(out)):
        check(f"text says {words}: {shown}", words in shown, True)
    check("text: no control characters", "\x1b" in shown, False)
    check("text: one of three", "... and 2 more" in checks.run(driver, "join", left, right, "--on", "k=id", "--how", "left", "--top", 1).stdout, True)
    check("output to the report", "k,v,w\n" in checks.run(driver, "join", left, right, "--on", "k=id", "--output", "/dev/stdout").stdout, True)


def generators(driver):
    few, all_of_them = ("full", "right_anti"), KINDS
    for spec, kinds in (("left=1,right=1,match=1", few), ("left=5,right=3,match=0", few), ("left=4,right=4,multiplicity=2,match=1", few), ("left=1000,right=1e5,multiplicity=10", few),
                        ("left=5e4,right=300,multiplicity=7,match=0.9", all_of_them), ("left=1e4,right=1e4,multiplicity=16,skew=zipf:1", all_of_them),
                        ("left=3e4,right=1e4,match=1,skew=zipf:1.5", few), ("left=100,right=1e4,multiplicity=1e4", few), ("left=1e5,right=1e5,multiplicity=5e4,match=0.0003", few)):
        for how in kinds:
            width = 4 if how in ("inner", "right", "semi") else 8
            seen = result(driver, f"join:{spec}", "--how", how, "--key-bytes", width, "--peers", "sort", "--reps", 2)
            check(f"{spec}, {how}: results", [(r["name"], r["phase"]) for r in seen["results"]], [(n, p) for n in ("karpos", "sort") for p in ("index", "match", "write", "all", "once") if (n, p) != ("sort", "once")])
            check(f"{spec}, {how}: wrong", seen.get("wrong"), 0)
            check(f"{spec}, {how}: readings", [len(r["seconds"]["all"]) for r in seen["results"]], [2] * 9)
    sizes = {how: result(driver, "join:left=1e4,right=2e4,multiplicity=2,match=0.5", "--how", how, "--reps", 1).get("rows") for how in KINDS}
    check(f"sizes: {sizes}", (sizes["inner"], sizes["left"], sizes["full"]), (2 * sizes["semi"], sizes["inner"] + sizes["anti"], sizes["inner"] + sizes["anti"] + sizes["right_anti"]))
    check("sizes: half of the left rows match", 4700 < sizes["semi"] < 5300, True)
    check("sizes: right rows", sizes["right_semi"] + sizes["right_anti"], 20000)
    skewed = [result(driver, f"join:left=1e4,right=1e4,match=1,skew={skew}", "--how", "right_semi", "--reps", 1).get("rows") for skew in ("uniform", "zipf:1", "zipf:2")]
    check(f"skew: fewer right rows match: {skewed}", skewed == sorted(skewed, reverse=True) and skewed[2] < skewed[0] / 2, True)
    few = [result(driver, "join:left=1e4,right=1e4", "--seed", seed, "--reps", 1).get("rows") for seed in (1, 1, 2)]
    check("same seed, same tables; other seed, others", (few[0] == few[1], few[0] == few[2]), (True, False))
    names = result(driver, "join:left=1e4,right=2e4,multiplicity=2,match=0.5", "--how", "full", "--keys", "names", "--reps", 1)
    check("rows of a join by names", names.get("rows"), sizes["full"])
    check("how they are joined", names["parameters"].get("keys"), "names")
    shown = checks.run(driver, "join", "join:left=1e4,right=1e3,multiplicity=2", "--peers").stdout
    for words in ("inner join by keys of 4 bytes", "karpos  index", "karpos  once", "sort    all", "memory: ", "a join by sorting on the host agrees"):
        check(f"text says {words}", words in shown, True)


def bad_input(driver, folder, states, capitals):
    files = {"empty.csv": "", "comments.csv": "# k\n\n", "short.csv": "k,v\n1,2\n1\n", "long.csv": "k,v\n1,2\n1,2,3\n", "twice.csv": "k,k,v\n1,2,3\n",
             "open.csv": 'k,v\n"x,1\n', "lines.csv": 'k,v\n"x\n\ny",1\n2\n', "good.csv": "k,v\n1,2\n"}
    path = {name: Path(folder) / name for name in files}
    for name, content in files.items():
        path[name].write_text(content, encoding="ascii")
    good, on = path["good.csv"], ["--on", "k"]
    both = ["--on", "name=state"]
    cases = [
        *[([*pair, *on], named) for name, named in (("empty.csv", "is empty"), ("comments.csv", "has no line of data"), ("short.csv", "short.csv:3: the line has 1 column, 2 are needed"),
                                                    ("long.csv", "long.csv:3: the line has 3 columns, the first one 2"), ("open.csv", "open.csv:2: a field begins with a quote that nothing ends"), ("lines.csv", "lines.csv:5: the line has 1 column, 2 are needed"), ("twice.csv", "twice.csv are called 'k': choose one by its number"))
          for pair in ((path[name], good), (good, path[name]))],
        ([good, good], "--on is missing"), ([good, *on], "the right table is missing"), ([good, states, "--on", "none"], "there is no column 'none' in " + str(good)), ([good, states, "--on", "k"], f"there is no column 'k' in {states}"), ([good, states, "--on", "k=none"], f"there is no column 'none' in {states}"),
        ([good, good, "--on", "k="], "names no two columns"), ([good, good, "--on", "k,v,k"], "--on compares column 1 'k' of"), ([good, good, "--on", "v=k,2=1"], "--on compares column 2 'v' of"), ([good, good, "--on", "=k"], "names no two columns"), ([good, good, "--on", "k=v=k"], "names no two columns"), ([good, good, "--on", "k,,v"], "lacks a value"),
        ([good, good, "--on", 99], "column 99 was asked for"), ([good, good, "--on", 0], "'0'"), ([good, good, "--on", "all"], "there is no column 'all'"),
        ([capitals, states, *both, "--how", "outer"], "outer"), ([capitals, states, *both, "--top", "x"], "--top"), ([capitals, states, *both, "--separator", "dots"], "dots"),
        ([capitals, states, *both, "--peers"], "--peers does not apply"), ([capitals, states, *both, "--reps", 3], "--reps does not apply"), ([capitals, states, *both, "--seed", 3], "--seed does not apply"),
        ([capitals, states, *both, "--output", "-"], "--output - names no file"), ([good, capitals, *on, "--output", good], "is the left table itself"), ([capitals, good, "--on", "name=k", "--output", good], "is the right table itself"),
        ([capitals, states, *both, "--output", f"{folder}/no/out"], "cannot write"), ([capitals, "no/such/file", *both], "no/such/file"), ([folder, capitals, *both], "directory"), ([], "left"), (["-", "-", *on], "standard input cannot be both"),
        ([good, good, good, *on], "one word too many"), ([good, "join:left=5", *on], "is a generator"),
        (["merge:left=10"], "there is no generator of tables 'merge'"), (["join:left=0"], "left of a generator is out of range ('0')"), (["join:right=2^31"], "right of a generator"), (["join:rows=5"], "no setting 'rows'"),
        (["join:multiplicity=x"], "multiplicity of a generator"), (["join:match=1.5"], "match of a generator is out of range ('1.5'): choose a number from 0 to 1"), (["join:match=nan"], "match of a generator"), (["join:match=-1"], "match of"),
        (["join:skew=zipf"], "skew of a generator cannot be 'zipf'"), (["join:skew=zipf:0"], "above 0"), (["join:skew=zipf:x"], "'x'"), (["join:left=1,left=2"], "given twice"), (["join:left=10", *on], "--on does not apply"),
        (["join:left=10", good], "is one word too many"), (["join:left=10", "--output", "x"], "--output does not apply"), (["join:left=10", "--text"], "--text does not apply"), (["join:left=10", "--peers", "ta"], "ta"), (["join:left=10", "--key-bytes", 2], "--key-bytes"), (["join:left=10", "--keys", "names", "--peers"], "names are measured without --peers"),
    ]
    lone = [([good, "--by", "k,v,1"], f"--by has column 1 'k' of {good} twice"), ([good, "--by", "none"], "there is no column 'none'"), ([path["empty.csv"]], "is empty"), ([path["long.csv"]], "long.csv:3"),
            ([good, "--output", good], "is the table itself"), ([good, "--output", "-"], "names no file"), ([], "file"), ([path["twice.csv"], "--by", "k"], "twice.csv are called 'k'")]
    for command, words, named in [("join", *case) for case in cases] + [("distinct", *case) for case in lone]:
        done = checks.run(driver, command, *words)
        check(f"{command} {words}: exit code", done.returncode, 2)
        check(f"{command} {words}: output", done.stdout, "")
        check(f"{command} {words}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def main():
    driver, states, capitals = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        tables(driver, folder, checks.unpacks(driver))
        other_formats(driver, folder)
        large_tables(driver, folder)
        real_tables(driver, folder, states, capitals)
        distinct(driver, folder)
        text(driver, folder)
        bad_input(driver, folder, states, capitals)
    generators(driver)
    return checks.verdict("join")


if __name__ == "__main__":
    sys.exit(main())
