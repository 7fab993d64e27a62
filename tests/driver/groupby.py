#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos groupby` on tables of many kinds and compares what it prints and writes with groups of its own.

    groupby.py DRIVER SCORES     SCORES: a CSV file with a header, numbers behind its first column
"""
import csv
import gzip
import math
import random
import subprocess
import sys
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import checks
from checks import check

REDUCE = {"sum": sum, "min": min, "max": max, "mean": lambda numbers: float(sum(map(Fraction, numbers)) / len(numbers))}


def result(driver, *words):
    """The object that a good run prints."""
    return checks.result(driver, "groupby", *words) or {"top": [], "results": []}


def groups_of(rows, values):
    """rows: keys with the numbers of a row, None for one that is left out; values: pairs (operation, place of the number)."""
    members = {}
    for key, *numbers in rows:
        members.setdefault(key, []).append(numbers)

    def reduced(how, numbers):
        return REDUCE[how](numbers) if numbers else None

    return {key: [len(m), *[reduced(how, [n[place] for n in m if n[place] is not None]) for how, place in values]] for key, m in members.items()}


def in_order(keys):
    """Numbers by size, words by their bytes, and what is empty first."""
    def rank(value):
        return (value != "", value.encode() if isinstance(value, str) else value)

    return sorted(keys, key=lambda key: tuple(map(rank, key)) if isinstance(key, tuple) else rank(key))


def check_groups(what, driver, path, words, rows, values):
    """Every group, in the JSON and in --output."""
    expected = groups_of(rows, values)
    out = Path(str(path) + ".groups")
    seen = result(driver, path, *words, "--top", 10**6, "--output", out)
    check(f"{what}: facts", (seen.get("lines"), seen.get("groups")), (len(rows), len(expected)))
    check(f"{what}: groups", {tuple(row["key"]) if isinstance(row["key"], list) else row["key"]: [row["count"], *row["values"]] for row in seen["top"]},
          {key: [float(v) if isinstance(v, Decimal) else v for v in g] for key, g in expected.items()})
    with open(out, newline="", encoding="utf-8") as file:
        written = list(csv.reader(file))
    ordered = in_order(expected)
    width = words[words.index("--by") + 1].count(",") + 1 if isinstance(words[words.index("--by") + 1], str) else 1
    check(f"{what}: columns", {len(row) for row in written}, {width + 1 + len(values)})
    check(f"{what}: order", [tuple(row[:width]) for row in written[1:]], [tuple(map(str, key if width > 1 else (key,))) for key in ordered])
    for key, row in zip(ordered, written[1:]):
        group = expected[key]
        check(f"{what}: {key!r}, written", [None if n == "" else type(v)(n) for v, n in zip(group, row[width:])], group)


# Text of a file, options, rows (a key and numbers), values.
TABLES = {
    "one row": ("k,v\n7,5\n", ["--by", "k", "--sum", "v"], [(7, 5)], [("sum", 0)]),
    "four rows of three keys": ("k,v\n5,1\n3,2\n5,4\n8,8\n", ["--by", "k", "--sum", "v"], [(5, 1), (3, 2), (5, 4), (8, 8)], [("sum", 0)]),
    "counts alone": ("1 2\n1 3\n2 2\n", ["--by", 1], [(1,), (1,), (2,)], []),
    "words": ("city,n\nRome,1\nParis,2\nRome,3\n", ["--by", "city", "--sum", "n"], [("Rome", 1), ("Paris", 2), ("Rome", 3)], [("sum", 0)]),
    "every operation": ("a 3 -4\nb 1 5\na -2 6\n", ["--by", 1, "--sum", "2,3", "--min", 2, "--max", 3],
                        [("a", 3, -4), ("b", 1, 5), ("a", -2, 6)], [("sum", 0), ("sum", 1), ("min", 0), ("max", 1)]),
    "the key added up": ("1\n1\n2\n", ["--by", 1, "--sum", 1], [(1, 1), (1, 1), (2, 2)], [("sum", 0)]),
    "decimals": ("k;v\nx;0.10\nx;+0.2\nx;-3\ny;.5\n", ["--by", "k", "--sum", "v", "--min", "v"],
                 [("x", Decimal("0.1")), ("x", Decimal("0.2")), ("x", Decimal(-3)), ("y", Decimal("0.5"))], [("sum", 0), ("min", 0)]),
    "decimals later": ("k,v\n1,2\n1,0.25\n1,3\n", ["--by", "k", "--sum", "v"], [(1, Decimal(2)), (1, Decimal("0.25")), (1, Decimal(3))], [("sum", 0)]),
    "exponents": ("k,v\n1,2\n1,5e-1\n2,-1e300\n", ["--by", "k", "--sum", "v", "--max", "v"], [(1, 2.0), (1, 0.5), (2, -1e300)], [("sum", 0), ("max", 0)]),
    "many digits": ("k,v\n1,0.5\n1,1234567890.5\n2,0.0000000000000000000000001\n", ["--by", "k", "--min", "v"],
                    [(1, 0.5), (1, 1234567890.5), (2, 1e-25)], [("min", 0)]),
    "large and small decimals": ("k,v\n1,9000000000000000000\n2,0.25\n", ["--by", "k", "--max", "v"], [(1, 9e18), (2, 0.25)], [("max", 0)]),
    "the largest keys": (f"{2**64 - 1} 1\n{2**64 - 2} 2\n{2**64 - 1} 3\n0 4\n", ["--by", 1, "--sum", 2],
                         [(2**64 - 1, 1), (2**64 - 2, 2), (2**64 - 1, 3), (0, 4)], [("sum", 0)]),
    "sums near the limits": (f"1 {2**63 - 1}\n1 -5\n2 {-2**63}\n2 {2**63 - 1}\n3 {2**62}\n3 {2**62 - 1}\n4 -1\n", ["--by", 1, "--sum", 2],
                             [(1, 2**63 - 1), (1, -5), (2, -2**63), (2, 2**63 - 1), (3, 2**62), (3, 2**62 - 1), (4, -1)], [("sum", 0)]),
    "numbers as words": ("k,v\n07,1\n7,2\n", ["--by", "k", "--sum", "v", "--text"], [("07", 1), ("7", 2)], [("sum", 0)]),
    "Windows ends": ("k,v\r\na,1\r\na,2\r\n", ["--by", "k", "--sum", "v"], [("a", 1), ("a", 2)], [("sum", 0)]),
    "a byte order mark": ("\ufeffk,v\na,1\n", ["--by", "k", "--sum", "v"], [("a", 1)], [("sum", 0)]),
    "quotes": ('k,v\n"a, ""b""","1"\n"a, ""b""",2\n#c,9\n" d ",3\n', ["--by", "k", "--sum", "v"], [('a, "b"', 1), ('a, "b"', 2), (" d ", 3)], [("sum", 0)]),
    "a key that is empty": ("k,v\n,1\na,2\n,3\n", ["--by", "k", "--sum", "v"], [("", 1), ("a", 2), ("", 3)], [("sum", 0)]),
    "tabs": ("city\tn\nNew York\t3\nNew York\t4\n", ["--by", "city", "--sum", "n"], [("New York", 3), ("New York", 4)], [("sum", 0)]),
    "a matrix": ("%%MatrixMarket matrix coordinate real general\n3 4 3\n1 4 0.5\n3 1 2\n1 2 1\n", ["--by", 1, "--sum", 3],
                 [(1, Decimal("0.5")), (3, Decimal(2)), (1, Decimal(1))], [("sum", 0)]),
    "a header that is denied": ("1,2\n1,3\n", ["--by", 1, "--sum", 2, "--header", "no"], [(1, 2), (1, 3)], [("sum", 0)]),
    "a key of 1, then of -1": ("k,v\n1,1\n-1,2\n", ["--by", "k", "--sum", "v"], [(1, 1), (-1, 2)], [("sum", 0)]),
    "a key of -1, then of 1": ("k,v\n-1,2\n1,1\n", ["--by", "k", "--sum", "v"], [(1, 1), (-1, 2)], [("sum", 0)]),
    "signed keys": ("k,v\n+5,1\n-0,2\n5,3\n0,4\n-5,5\n007,6\n7,7\n", ["--by", "k", "--sum", "v"], [(5, 1), (0, 2), (5, 3), (0, 4), (-5, 5), (7, 6), (7, 7)], [("sum", 0)]),
    "the least and the largest keys": (f"{-2**63} 1\n{2**63} 2\n{-2**63} 3\n{2**63 - 1} 4\n", ["--by", 1, "--sum", 2], [(-2**63, 1), (2**63, 2), (-2**63, 3), (2**63 - 1, 4)], [("sum", 0)]),
    "a number, then a word": ("k,v\n1,2\n01,3\nx,4\n", ["--by", "k", "--sum", "v"], [("1", 2), ("01", 3), ("x", 4)], [("sum", 0)]),
    "a word, then a number": ("k,v\nx,4\n01,3\n1,2\n", ["--by", "k", "--sum", "v"], [("1", 2), ("01", 3), ("x", 4)], [("sum", 0)]),
    "ways to write a number": ("k,v\n0,1\n-0,2\n1e3,3\n1000,4\n+1000.00,5\n0.1E4,6\n.0,7\n", ["--by", "k", "--sum", "v"], [(0, 1), (0, 2), (1000, 3), (1000, 4), (1000, 5), (1000, 6), (0, 7)], [("sum", 0)]),
    "numbers as they are written": ("k,v\n0,1\n-0,2\n1e3,3\n1000,4\n", ["--by", "k", "--sum", "v", "--text"], [("0", 1), ("-0", 2), ("1e3", 3), ("1000", 4)], [("sum", 0)]),
    "decimal keys": ("k,v\n1.50,1\n1.5,2\n-2,3\n0.015e2,4\n", ["--by", "k", "--sum", "v"], [("1.5", 1), ("1.5", 2), ("-2", 3), ("1.5", 4)], [("sum", 0)]),
    "integer keys beyond 64 bits": (f"k,v\n{2**64},1\n{2**64 + 1},2\n0{2**64},3\n", ["--by", "k", "--sum", "v"], [(str(2**64), 1), (str(2**64 + 1), 2), (str(2**64), 3)], [("sum", 0)]),
    "keys that are no numbers": ("k,v\n1,1\ninf,2\n01,3\n0x1,4\nnan,5\n", ["--by", "k", "--sum", "v"], [("1", 1), ("inf", 2), ("01", 3), ("0x1", 4), ("nan", 5)], [("sum", 0)]),
    "an empty key among numbers": ("k,v\n3,1\n,2\n-3,4\n,8\n", ["--by", "k", "--sum", "v"], [(3, 1), ("", 2), (-3, 4), ("", 8)], [("sum", 0)]),
    "two columns of keys": ("city,year,n\nRome,2001,1\nRome,2002,2\nOslo,2001,3\nRome,2001.0,4\n", ["--by", "city,year", "--sum", "n"],
                            [(("Rome", 2001), 1), (("Rome", 2002), 2), (("Oslo", 2001), 3), (("Rome", 2001), 4)], [("sum", 0)]),
    "two columns of keys, the other way round": ("city,year,n\nRome,10,1\nRome,9,2\nOslo,10,3\n,9,4\n,,5\n", ["--by", "year,city", "--max", "n"],
                                                 [((10, "Rome"), 1), ((9, "Rome"), 2), ((10, "Oslo"), 3), ((9, ""), 4), (("", ""), 5)], [("max", 0)]),
    "three columns of keys": ("1 2 3\n1 2 3\n1 3 2\n", ["--by", "3,1,2"], [((3, 1, 2),), ((3, 1, 2),), ((2, 1, 3),)], []),
    "keys that run together": ("a,b\n1,23\n12,3\n1,23\n", ["--by", "a,b", "--text"], [(("1", "23"),), (("12", "3"),), (("1", "23"),)], []),
    "means": ("k,v,w\na,1,0.25\na,2,0.5\nb,5,-1e0\na,2,3\n", ["--by", "k", "--sum", "v", "--mean", "v,w"],
              [("a", 1, 0.25), ("a", 2, 0.5), ("b", 5, -1.0), ("a", 2, 3.0)], [("sum", 0), ("mean", 0), ("mean", 1)]),
    "means of decimals": ("k,v\na,0.1\na,0.25\nb,-3\n", ["--by", "k", "--mean", "v"], [("a", Decimal("0.1")), ("a", Decimal("0.25")), ("b", Decimal(-3))], [("mean", 0)]),
    "a mean whose sum is beyond 64 bits": (f"1 {2**63 - 1}\n1 {2**63 - 1}\n", ["--by", 1, "--mean", 2], [(1, 2**63 - 1), (1, 2**63 - 1)], [("mean", 0)]),
    "nulls that are left out": ("k,v,w\na,1,\na,,2\nb,nan,NaN\nc,NA,4\na,4,null\nc,5,\n", ["--by", "k", "--sum", "v,w", "--min", "v", "--max", "v", "--mean", "v", "--nulls", "skip"],
                                [("a", 1, None), ("a", None, 2), ("b", None, None), ("c", None, 4), ("a", 4, None), ("c", 5, None)], [("sum", 0), ("sum", 1), ("min", 0), ("max", 0), ("mean", 0)]),
    "nulls among doubles": ("k,v\na,1e0\na,-nan\nb,\na,\" \"\n", ["--by", "k", "--sum", "v", "--mean", "v", "--nulls", "skip"], [("a", 1.0), ("a", None), ("b", None), ("a", None)], [("sum", 0), ("mean", 0)]),
    "nothing but nulls": ("k,v\na,\nb,\n", ["--by", "k", "--sum", "v", "--nulls", "skip"], [("a", None), ("b", None)], [("sum", 0)]),
    "nulls that are not there": ("k,v\na,1\na,2\n", ["--by", "k", "--sum", "v", "--nulls", "skip"], [("a", 1), ("a", 2)], [("sum", 0)]),
    "a header alone": ("k,v\n", ["--by", "k", "--sum", "v", "--mean", "v"], [], [("sum", 0), ("mean", 0)]),
    "a header alone, of one column": ("k", ["--by", "k"], [], []),
    "a header alone, and comments": ("k|v\r\n\r\n# none\r\n", ["--by", "v,k", "--min", "k"], [], [("min", 0)]),
    "bars": ("k|v\nNew York, N.Y.|1\nRome|2\nRome|3\n", ["--by", "k", "--sum", "v"], [("New York, N.Y.", 1), ("Rome", 2), ("Rome", 3)], [("sum", 0)]),
    "decimal commas": ("1,5;1\n2,5;2\n1,5;3\n", ["--by", 1, "--sum", 2], [("1,5", 1), ("2,5", 2), ("1,5", 3)], [("sum", 0)]),
    "fields of several lines": ('k,v\r\n"a\r\nb",1\r\n"say ""x"", or\n\n# y",2\r\n"a\r\nb","3"\r\n', ["--by", "k", "--sum", "v"],
                                [("a\r\nb", 1), ('say "x", or\n\n# y', 2), ("a\r\nb", 3)], [("sum", 0)]),
    "names of several lines": ('"k\nl";v\na;1\na;2\n', ["--by", "k\nl", "--sum", "v"], [("a", 1), ("a", 2)], [("sum", 0)]),
    "rows of empty cells between tabs": ("k\tv\n\t\n1\t2\n\t\n\n3\t4\n", ["--by", "k"], [("",), (1,), ("",), (3,)], []),
    "a row of empty cells between tabs that is the first": ("\t\n1\t2\n\t\n3\t4\n", ["--by", 1, "--separator", "tab", "--header", "no"], [("",), (1,), ("",), (3,)], []),
    "a row of empty cells below numbers between tabs": ("1\t2\n\t\n3\t4\n", ["--by", 1], [(1,), ("",), (3,)], []),
    "a sharp behind an empty cell": ("a\tb\nx\ty\n\t#x\n1\t2\n", ["--by", "a"], [("x",), ("",), ("1",)], []),
    "fields of several lines between tabs": ('k\tv\n"a\tb\nc"\t1\n"a\tb\nc"\t2\n"d\t3\n', ["--by", "k", "--sum", "v"], [("a\tb\nc", 1), ("a\tb\nc", 2), ('"d', 3)], [("sum", 0)]),
    "an empty column at the end": ("k,v,\na,1,\nb,2,\n", ["--by", "k", "--sum", "v"], [("a", 1), ("b", 2)], [("sum", 0)]),
    "an integer beyond 64 bits before an exponent": ("k,v\n1,9223372036854775808\n1,1e0\n", ["--by", "k", "--max", "v"], [(1, 2.0**63), (1, 1.0)], [("max", 0)]),
    "an integer beyond 64 bits behind an exponent": ("k,v\n1,1e0\n1,9223372036854775808\n", ["--by", "k", "--max", "v"], [(1, 2.0**63), (1, 1.0)], [("max", 0)]),
    "an integer beyond 64 bits among many digits": ("k,v\n1,9223372036854775808\n1,9000000000000000000\n1,0.25\n", ["--by", "k", "--max", "v"], [(1, 2.0**63), (1, 9e18), (1, 0.25)], [("max", 0)]),
    "letters of Greece": ("k,v\nάλφα,1\nβήτα,2\nάλφα,3\n", ["--by", "k", "--sum", "v"], [("άλφα", 1), ("βήτα", 2), ("άλφα", 3)], [("sum", 0)]),
}


def tables(driver, folder, unpacks):
    for name, (text, words, rows, values) in TABLES.items():
        path = Path(folder) / "table"
        path.write_text(text, encoding="utf-8", newline="")
        check_groups(name, driver, path, words, rows, values)
        if unpacks:
            packed = Path(folder) / "packed"
            packed.write_bytes(gzip.compress(text.encode("utf-8")))
            check_groups(f"{name}, packed", driver, packed, words, rows, values)
        piped = subprocess.run([driver, "groupby", "-", *map(str, words)], input=text.encode("utf-8"), capture_output=True, check=False)
        check(f"{name}, from standard input", (piped.returncode, piped.stderr), (0, b""))


def large_tables(driver, folder):
    """Several parts of a file, and several chunks of a reduction; with few keys, many keys, and a key in half of the rows."""
    draw = random.Random(7)
    for what, key in (("few", lambda i: draw.randrange(7)), ("many", lambda i: draw.randrange(10**6)), ("half", lambda i: 5 if i % 2 else draw.randrange(10**5))):
        rows = [(key(i), draw.randrange(-10**6, 10**6), Decimal(draw.randrange(10**6)) / 100) for i in range(150000)]
        path = Path(folder) / "large.csv"
        path.write_text("key,n,price\n" + "".join(f"{k},{n},{p}\n" for k, n, p in rows), encoding="ascii")
        words = ["--by", "key", "--sum", "n,price", "--min", "n", "--max", "price"]
        values = [("sum", 0), ("sum", 1), ("min", 0), ("max", 1)]
        check_groups(f"large, {what}", driver, path, words, rows, values)
        check_groups(f"large, {what}, words", driver, path, [*words, "--text"], [(str(k), n, p) for k, n, p in rows], values)
    doubles = [(i % 11, i * 1e-3) for i in range(50000)]
    path.write_text("".join(f"{k} {v!r}e0\n" for k, v in doubles), encoding="ascii")
    for row in result(driver, path, "--by", 1, "--sum", 2, "--top", 20)["top"]:
        exact = math.fsum(v for k, v in doubles if k == row["key"])
        check(f"doubles of {row['key']}: {row['values'][0]} for {exact}", math.isclose(row["values"][0], exact, rel_tol=1e-12), True)


def top(driver, folder, scores):
    """The largest sums come first, or the largest counts; equal ones by key."""
    path = Path(folder) / "top.csv"
    path.write_text("k,v\nb,1\na,1\nc,-9\nc,2\nc,1\nd,5\n", encoding="ascii")
    keys = lambda *words: [row["key"] for row in result(driver, path, "--by", "k", *words)["top"]]
    check("top by counts", keys(), ["c", "a", "b", "d"])
    check("top by sums", keys("--sum", "v"), ["d", "a", "b", "c"])
    check("top two", keys("--sum", "v", "--top", 2), ["d", "a"])
    check("top none", keys("--top", 0), [])
    names = Path(scores).read_text(encoding="utf-8").splitlines()[0].split(",")
    with open(scores, newline="", encoding="utf-8") as file:
        rows = [(int(row[-1]), int(row[1])) for row in list(csv.reader(file))[1:]]
    there = Path(folder) / "scores"
    there.write_bytes(Path(scores).read_bytes())
    check_groups("a real table", driver, there, ["--by", names[-1], "--sum", names[1]], rows, [("sum", 0)])


def text(driver, folder):
    path = Path(folder) / "text.csv"
    path.write_text("k,v\nx\x1b[2J,1\nx\x1b[2J,2.5\ny,3e0\n", encoding="utf-8")
    out = Path(folder) / "out.csv"
    shown = checks.run(driver, "groupby", path, "--by", "k", "--sum", "v", "--output", out).stdout
    for words in ("3 lines, by column 1 'k' (a header names them", "keys are compared as text", "2 groups, ", "sum of v: added and compared as doubles", "x?[2J      2       3.5", str(out)):
        check(f"text says {words}: {shown}", words in shown, True)
    check("text: no control characters", "\x1b" in shown, False)
    path.write_text("k,y,v\n1,2,\n1,2.5,3\n", encoding="utf-8")
    shown = checks.run(driver, "groupby", path, "--by", "k,y", "--sum", "v", "--nulls", "skip").stdout
    for words in ("by column 1 'k', column 2 'y' (a", "keys are compared as integers, numbers", "sum of v: 1 cell without a number left out (--nulls skip)"):
        check(f"text says {words}: {shown}", words in shown, True)
    check("output to the report", "k,y,count\n" in checks.run(driver, "groupby", path, "--by", "k,y", "--output", "/dev/stdout").stdout, True)


def generators(driver):
    for spec in ("uniform:rows=1,distinct=1", "uniform:rows=4,distinct=2", "uniform:rows=2e5,distinct=100", "uniform:rows=2e5,distinct=1e9", "zipf:rows=2e5,distinct=1e5",
                 "zipf:rows=2e5,distinct=1e5,s=0.75", "zipf:rows=1e5,distinct=1e9,s=1.25", "uniform:rows=3e5,distinct=1"):
        for width in (4, 8):
            seen = result(driver, spec, "--key-bytes", width, "--peers", "sort", "--reps", 2)
            names = [(r["name"], r["operation"], r["bytes_each"]) for r in seen["results"]]
            check(f"{spec}: results", names, [(n, o, b * width) for n in ("karpos", "sort") for o, b in (("count", 1), ("sum", 2))])
            check(f"{spec}: wrong", [seen.get("wrong"), *[r["wrong"] for r in seen["results"]]], [0] * 5)
            check(f"{spec}: readings", [len(r["seconds"]["all"]) for r in seen["results"]], [2] * 4)
            check(f"{spec}: rates", all(r["rate"] > 0 and r["of_copy"] > 0 for r in seen["results"]), True)
            check(f"{spec}: {seen['groups']} groups", 1 <= seen["groups"] <= int(float(spec.split("distinct=")[1].split(",")[0])), True)
    few = [result(driver, "zipf:rows=2e5,distinct=1e5", "--seed", seed)["groups"] for seed in (1, 1, 2)]
    check("same seed, same rows; other seed, others", (few[0] == few[1], few[0] == few[2]), (True, False))
    check("Zipf has fewer groups", few[0] < result(driver, "uniform:rows=2e5,distinct=1e5")["groups"], True)
    shown = checks.run(driver, "groupby", "uniform:rows=1e4,distinct=10", "--peers").stdout
    for words in ("10,000 rows of 4 + 4 bytes, 10 groups", "karpos  count", "sort    sum", "a sort on the host agrees"):
        check(f"text says {words}", words in shown, True)


def bad_input(driver, folder, scores):
    files = {
        "empty.csv": ("", [], "is empty"), "order.csv": ("k,v\n1,9223372036854775808\n1,0.5\n", [], "order.csv:2: '9223372036854775808' in column 2 'v' does not fit"), "comments.csv": ("# k\n\n", [], "has no line of data"),
        "word.csv": ("k,v\n1,2\n1,tall\n", [], "word.csv:3: 'tall' in column 2 'v' is no number"), "cell.csv": ("k,v\n1,2\n\n1,\n", [], "cell.csv:4: '' in column 2 'v' is no number (--nulls skip leaves such cells out)"),
        "nan.csv": ("k,v\n1,2\n1,nan\n", [], "nan.csv:3: 'nan' in column 2 'v' is no number"), "inf.csv": ("k,v\n1,2\n1,inf\n", ["--nulls", "skip"], "'inf' in column 2 'v' is no number"),
        "hex.csv": ("k,v\n1,2\n1,0x10\n", [], "'0x10' in column 2 'v' is no number"), "units.csv": ("k,v\n1,2\n1,3 kg\n", [], "'3 kg'"),
        "short.csv": ("k,v\n1,2\n1\n", [], "short.csv:3: the line has 1"), "third.csv": ("k,v,w\n1,2,3\n1,2\n", [], "third.csv:3: the line has 2 columns, 3 are needed"), "long.csv": ("k,v\n1,2\n1,2,3\n", [], "long.csv:3: the line has 3 columns, the first one 2"), "lines.csv": ('k,v\n"a\n\nb",1\n"c\n",x\n', [], "lines.csv:5: 'x' in column 2 'v' is no number"),
        "huge.csv": ("k,v\n1,9223372036854775808\n", [], "huge.csv:2: '9223372036854775808' in column 2 'v' does not fit into 64 bits"),
        "tiny.csv": ("k,v\n1,-9223372036854775809\n", [], "does not fit into 64 bits"), "range.csv": ("k,v\n1,2\n1,1e999\n", [], "range.csv:3: '1e999' in column 2 'v' lies outside of double's range"),
        "sum.csv": (f"k,v\n1,{2**63 - 1}\n2,5\n1,1\n", [], "the sum of column 2 'v' for the key '1' does not fit into 64 bits"),
        "words.csv": (f"k,v\nx,{-2**63}\nx,-1\n", [], "the sum of column 2 'v' for the key 'x' does not fit into 64 bits"),
        "signs.csv": ("k,v\n1,2\n1,+-3\n", [], "'+-3'"), "sign.csv": ("k,v\n1,2\n1,-\n", [], "'-'"), "open.csv": ('k,v\n"x,1\n', [], "open.csv:2: a field begins with a quote that nothing ends"),
        "mac.csv": ("k,v\r1,2\r", [], "carriage returns alone"), "torn.gz": (gzip.compress(b"1,2\n" * 1000)[:30].decode("latin-1"), [], "gzip"),
    }
    cases = [
        ([scores], "--by is missing"), ([scores, "--by", "none"], "there is no column 'none'"), ([scores, "--by", 1, "--sum", "none"], "there is no column 'none'"), ([scores, "--by", 0], "'0'"),
        ([scores, "--by", 1, "--sum", "all"], "there is no column 'all'"), ([scores, "--by", 99], "column 99 was asked for"), ([scores, "--by", 2, "--sum", 1], "states.csv:2: 'Alabama' in column 1 'state' is no number"),
        ([scores, "--by", "1,state"], "--by has column 1 'state' of"), ([scores, "--by", "state,,1"], "lacks a value"), ([scores, "--by", 1, "--nulls", "drop"], "--nulls"), ([scores, "--by", 1, "--mean", 1], "states.csv:2: 'Alabama' in column 1 'state' is no number"),
        ([scores, "--by", 1, "--top", "x"], "--top"), ([scores, "--by", 1, "--separator", "\n"], "--separator"), ([scores, "--by", 1, "--header", "maybe"], "maybe"), ([scores, "--by", 1, "--separator", "dots"], "dots"),
        ([scores, "--by", 1, "--peers"], "--peers does not apply"), ([scores, "--by", 1, "--reps", 3], "--reps does not apply"), ([scores, "--by", 1, "--seed", 3], "--seed does not apply"),
        ([scores, "--by", 1, "--output", "-"], "--output - names no file"), ([scores, "--by", 1, "--output", scores], "is the table itself"), ([scores, "--by", 1, "--output", f"{folder}/no/out"], "cannot write"),
        (["no/such/file", "--by", 1], "no/such/file"), ([folder, "--by", 1], "directory"), ([], "rows"), (["normal:rows=10"], "there is no generator of rows 'normal'"),
        (["uniform:rows=0"], "rows of a generator is out of range ('0')"), (["uniform:distinct=x"], "distinct of a generator"), (["uniform:rows=1e10"], "rows of"), (["uniform:s=1"], "no setting 's'"),
        (["zipf:s=0"], "s of a generator"), (["zipf:s=nan"], "s of a generator"), (["zipf:s=1x"], "s of a generator"), (["uniform:rows=10,rows=11"], "given twice"), (["uniform:rows=10", "--by", 1], "--by does not apply"), (["uniform:rows=10", "--mean", 1], "--mean does not apply"), (["uniform:rows=10", "--nulls", "skip"], "--nulls does not apply"),
        (["uniform:rows=10", "--output", "x"], "--output does not apply"), (["uniform:rows=10", "--peers", "ta"], "ta"), (["uniform:rows=10", "--key-bytes", 2], "--key-bytes"), (["uniform:rows=10", "--reps", 0], "--reps"),
    ]
    for name, (table, words, named) in files.items():
        path = Path(folder) / name
        path.write_bytes(table.encode("latin-1"))
        cases.append(([path, "--by", 1, "--sum", 2, *words], named))
    for words, named in cases:
        done = checks.run(driver, "groupby", *words)
        check(f"{words}: exit code", done.returncode, 2)
        check(f"{words}: output", done.stdout, "")
        check(f"{words}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def main():
    driver, scores = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        tables(driver, folder, checks.unpacks(driver))
        large_tables(driver, folder)
        top(driver, folder, scores)
        text(driver, folder)
        bad_input(driver, folder, scores)
    generators(driver)
    return checks.verdict("groupby")


if __name__ == "__main__":
    sys.exit(main())
