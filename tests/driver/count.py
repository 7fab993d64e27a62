#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos count` on tables of many kinds and compares what it prints with counts of its own.

    count.py DRIVER EDGES CORPUS     EDGES: a list of edges; CORPUS: a folder with small graphs in other formats
"""
import collections
import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from checks import check

ALL = ["--top", 1000]


def result(driver, *words):
    """The object that a good run prints."""
    return checks.result(driver, "count", "--json", *ALL, *words) or {"top": []}


def check_counts(what, seen, values, lines):
    """Compares with counts of `values`, the list of everything that the driver counts."""
    expected = collections.Counter(values)
    check(f"{what}: counts", {row["value"]: row["count"] for row in seen["top"]}, dict(expected))
    facts = {"values": len(values), "distinct": len(expected), "lines": lines}
    check(f"{what}: facts", {name: seen.get(name) for name in facts}, facts)


# Text of a file, options, what is counted, lines, names of columns.
TABLES = {
    "edges": ("# a comment\n0 1\n1 2\n\n2 0\n", [], [0, 1, 1, 2, 2, 0], 3, []),
    "integers below names": ("from,to\n1,2\n2,3\n", [], [1, 2, 2, 3], 2, ["from", "to"]),
    "decimals below names": ("a,b\n1.5,2\n1.5,3\n", [], ["1.5", "2", "1.5", "3"], 2, ["a", "b"]),
    "one column of decimals": ("x\n0.5\n0.5\n", [], ["0.5", "0.5"], 2, ["x"]),
    "negative numbers below names": ("a;b\n-1;x\n-1;y\n", [], ["-1", "x", "-1", "y"], 2, ["a", "b"]),
    "a year as a name": ("id,2020\n7,5\n8,5\n", [], [7, 5, 8, 5], 2, ["id", "2020"]),
    "words below names": ("name,city\nAnn,Rome\nBob,Rome\n", [], ["Ann", "Rome", "Bob", "Rome"], 2, ["name", "city"]),
    "words without names": ("Ann,Rome\nBob,Paris\nAnn,Rome\n", [], ["Ann", "Rome", "Bob", "Paris", "Ann", "Rome"], 3, []),
    "a first row with a gap": ("NA,3\n5,4\n", [], ["NA", "3", "5", "4"], 2, []),
    "a header that is denied": ("a,b\nx,y\n", ["--header", "no"], ["a", "b", "x", "y"], 2, []),
    "a header that is asked for": ("a b\nx y\n", ["--header", "yes"], ["x", "y"], 1, ["a", "b"]),
    "prose": ("so it is\nso be it\n", [], ["so", "it", "is", "so", "be", "it"], 2, []),
    "numbers without names": ("0.5,2\n0.5,3\n", [], ["0.5", "2", "0.5", "3"], 2, []),
    "a byte order mark": ("\ufeff1,2\n1,3\n", [], [1, 2, 1, 3], 2, []),
    "a byte order mark before names": ("\ufeffa,b\n1,2\n", ["--column", "a"], [1], 1, ["a", "b"]),
    "quotes": ('name,n\n"a, b",1\n"say ""x""",2\n"say ""x""",3\nplain,4\n', ["--column", 1],
               ["a, b", 'say "x"', 'say "x"', "plain"], 4, ["name", "n"]),
    "quotes in the header": ('"the ""n""",m\n5,6\n', ["--column", 'the "n"'], [5], 1, ['the "n"', "m"]),
    "Windows ends": ('a,b\r\n1,"2"\r\n', [], [1, 2], 1, ["a", "b"]),
    "tabs around blanks": ("New York\t3\nLos Angeles\t4\nNew York\t5\n", ["--column", 1], ["New York", "Los Angeles", "New York"], 3, []),
    "tabs below names": ("city\tn\nNew York\t3\nNew York\t4\n", ["--column", "city"], ["New York", "New York"], 2, ["city", "n"]),
    "commas between tabs": ("a, b\t1\na, b\t2\n", ["--column", 1], ["a, b", "a, b"], 2, []),
    "a quote between tabs": ('6" nail\t1\n"big\t2\n', ["--column", 1], ['6" nail', '"big'], 2, []),
    "an empty cell between tabs": ("1\t\t3\n4\t5\t3\n", ["--column", 3], [3, 3], 2, []),
    "tabs between numbers": ("1\t2\n2\t 3\n", [], [1, 2, 2, 3], 2, []),
    "a weighted list": ("0 1 7\n1 2 7\n", [], [0, 1, 1, 2], 2, []),
    "a weighted list with times": ("0 1 0.5 1300000000\n1 2 -1 1300000000\n", [], [0, 1, 1, 2], 2, []),
    "weights asked for": ("0 1 7\n1 2 7\n", ["--column", "all"], [0, 1, 7, 1, 2, 7], 2, []),
    "weights alone": ("0 1 0.5\n1 2 0.5\n", ["--column", 3], ["0.5", "0.5"], 2, []),
    "columns by name and number": ("a,b,c\n1,2,3\n", ["--column", "c,1"], [1, 3], 1, ["a", "b", "c"]),
    "numbers as text": ("01 1\n1 1\n", ["--text"], ["01", "1", "1", "1"], 2, []),
    "a matrix": ("%%MatrixMarket matrix coordinate real general\n% rows\n3 4 2\n1 4 0.5\n3 1 2\n", [], [1, 4, 3, 1], 2, []),
    "a matrix behind empty lines": ("\n \r\n%%MatrixMarket matrix coordinate pattern general\n3 4 1\n3 1\n", [], [3, 1], 1, []),
    "a matrix behind a byte order mark": ("\ufeff%%matrixmarket matrix coordinate pattern general\n3 4 1\n3 1\n", [], [3, 1], 1, []),
    "values of a matrix": ("%%MatrixMarket matrix coordinate real general\n3 4 2\n1 4 5\n3 1 5\n", ["--column", 3], [5, 5], 2, []),
    "one column with some quotes": ('name\nd1\n"d1"\n"d, ""2"""\n', ["--header", "yes"], ["d1", "d1", 'd, "2"'], 3, ["name"]),
    "longer lines than the first": ("1 2\n2 3 7\n", ["--column", "1,2"], [1, 2, 2, 3], 2, []),
    "a header alone": ("a,b\n", [], [], 0, ["a", "b"]),
    "a header alone, without an end": ("a|b", ["--column", "b"], [], 0, ["a", "b"]),
    "a header alone, of one column": ("a\n", ["--header", "yes"], [], 0, ["a"]),
    "a header alone, behind a byte order mark": ("\ufeffa;b\r\n", ["--text"], [], 0, ["a", "b"]),
    "signed integers": ("a\n1\n-1\n+1\n", [], [1, -1, 1], 3, ["a"]),
    "signed integers, the least first": ("a\n-1\n1\n001\n", [], [1, -1, 1], 3, ["a"]),
    "ways to write a number": ("a,b\n0,-0\n1e3,1000\n1000.0,0.0e7\n", [], [0, 0, 1000, 1000, 1000, 0], 3, ["a", "b"]),
    "numbers as they are written": ("a,b\n0,-0\n1e3,1000\n", ["--text"], ["0", "-0", "1e3", "1000"], 2, ["a", "b"]),
    "decimals that are equal": ("a\n2.50\n2.5\n25e-1\n-3\n", [], ["2.5", "2.5", "2.5", "-3"], 4, ["a"]),
    "integers beyond 64 bits": (f"a\n{10**30 + 1}\n{10**30}\n0{10**30}.\n", ["--column", "a"], [str(10**30 + 1), "1e30", "1e30"], 3, ["a"]),
    "numbers near nothing": ("a\n1e-400\n0\n0.1e-399\n", [], ["1e-400", "0", "1e-400"], 3, ["a"]),
    "a word behind numbers": ("a,b\n1,2\n01,x\n", [], ["1", "2", "01", "x"], 2, ["a", "b"]),
    "a word before numbers": ("a,b\n01,x\n1,2\n", [], ["1", "2", "01", "x"], 2, ["a", "b"]),
    "no numbers": ("a\n1\n0x1\n01\ninf\n", [], ["1", "0x1", "01", "inf"], 4, ["a"]),
    "an empty cell among numbers": ("a,b\n1,2\n,2\n", [], [1, 2, "", 2], 2, ["a", "b"]),
    "bars": ("city|n\nNew York|3\nLos Angeles|4\nNew York|3\n", ["--column", "city"], ["New York", "Los Angeles", "New York"], 3, ["city", "n"]),
    "bars without names": ("1|2\n3|2\n", [], [1, 2, 3, 2], 2, []),
    "bars that are asked for": ("a b|c\na b|d\n", ["--separator", "bar", "--column", 1], ["a b", "a b"], 2, []),
    "semicolons and decimal commas": ("x;y\n1,5;2\n1,25;3\n", ["--column", "x"], ["1,5", "1,25"], 2, ["x", "y"]),
    "a comma inside of quotes alone": ('"a, b"|1\n"a, b"|2\n', ["--column", 1], ["a, b", "a, b"], 2, []),
    "fields of several lines": ('a,b\n"x,1\ny",2\n"x,1\ny",3\n"\n""\n""",3\n', [], ["x,1\ny", "2", "x,1\ny", "3", '\n"\n"', "3"], 3, ["a", "b"]),
    "a field of several lines at the end": ('a,b\n1,"x\r\n\r\n# no comment\r\n"', ["--column", "b"], ["x\r\n\r\n# no comment\r\n"], 1, ["a", "b"]),
    "a column of fields of several lines": ('a\n"x\ny"\nz\n"x\ny"\n', ["--header", "yes"], ["x\ny", "z", "x\ny"], 3, ["a"]),
    "a column of words in quotes": ('"New York"\n"Rome"\n"New York"\n', [], ["New York", "Rome", "New York"], 3, []),
    "a name of several lines": ('"a\nb",c\n1,2\n', ["--column", "a\nb"], [1], 1, ["a\nb", "c"]),
    "quotes in a comment": ('a,b\n# it\'s 5" long\n"x\ny",2\n', ["--column", "a"], ["x\ny"], 1, ["a", "b"]),
    "fields of several lines between bars": ('a|b\n"x|1\ny"|2\n', ["--column", "a"], ["x|1\ny"], 1, ["a", "b"]),
    "fields of several lines between tabs": ('a\tb\n"x\t1\ny"\t2\n"z\t3\n', ["--column", "a"], ["x\t1\ny", '"z'], 2, ["a", "b"]),
    "the largest numbers": (f"{2**64 - 1} {2**64 - 1}\n{2**64 - 2} 0\n", [], [2**64 - 1, 2**64 - 1, 2**64 - 2, 0], 2, []),
}


def tables(driver, folder, unpacks):
    for name, (text, words, values, lines, names) in TABLES.items():
        path = Path(folder) / "table"
        path.write_text(text, encoding="utf-8", newline="")
        seen = result(driver, path, *words)
        check_counts(name, seen, values, lines)
        check(f"{name}: names", seen.get("names"), names)
        if not unpacks:
            continue
        packed = Path(folder) / "packed"
        packed.write_bytes(gzip.compress(text.encode("utf-8")))
        check_counts(f"{name}, packed", result(driver, packed, *words), values, lines)
    for name, (text, words, *_) in TABLES.items():
        piped = subprocess.run([driver, "count", "-", "--json", *map(str, [*ALL, *words])], input=text.encode("utf-8"), capture_output=True, check=False)
        check(f"{name}, from standard input", piped.returncode, 0)


def large_table(driver, folder):
    """Several batches of parts of the file, each with long words that have doubled quotes (longer than a short string)."""
    n = 680000
    rows = [f'"a ""long"" word that lies on the heap, number {i % 1000}",{i % 11}' for i in range(n)]
    path = Path(folder) / "large.csv"
    path.write_text("what,n\n" + "\n".join(rows) + "\n", encoding="ascii")
    assert path.stat().st_size > 33 << 20, "the file is read in one batch"
    check_counts("large", result(driver, path, "--column", "what"), [f'a "long" word that lies on the heap, number {i % 1000}' for i in range(n)], n)
    # Rows of several lines, one of which is longer than the parts that threads read; integers, and a word at the very end.
    rows = ['%d,"%s"' % (i, "line\n" * (500000 if i == 7000 else i % 5)) for i in range(60000)]
    for end in ("60000,x\n", "word,x\n"):
        path.write_text("n,what\n" + "\n".join(rows) + "\n" + end, encoding="ascii")
        seen = result(driver, path, "--column", "n")
        facts = (seen.get("lines"), seen.get("values"), seen.get("distinct"), seen.get("compared"))
        check(f"large, rows of several lines, {end[0]}", facts, (60001, 60001, 60001, "integers" if end[0] == "6" else "text"))


def bad_tables(driver, folder):
    banner = "%%MatrixMarket matrix coordinate pattern general\n"
    cases = {
        "zero.mtx": (banner + "3 3 1\n0 1\n", [], "zero.mtx:3: '0' is no row of the matrix, whose rows are 1 to 3"),
        "beyond.mtx": (banner + "3 4 1\n3 5\n", [], "beyond.mtx:3: '5' is no column of the matrix, whose columns are 1 to 4"),
        "few.mtx": (banner + "3 3 2\n1 1\n", [], "has 1 entry, its header announces 2"), "many.mtx": (banner + "3 3 1\n1 1\n2 2\n", [], "has 2 entries, its header announces 1"),
        "value.mtx": (banner + "3 3 1\n1 1 5\n", [], "value.mtx:3: the line has 3 fields, the banner announces 2"),
        "banner.mtx": ("%%MatrixMarket matrix coordinate real odd\n1 1 1\n1 1 1\n", [], "'odd' in the place of the symmetry"),
        "sizes.mtx": (banner + "3 3\n1 1\n", [], "sizes.mtx:2"), "open.csv": ('a,b\n1,2\n"x,1\ny,2\n', [], "open.csv:3: a field begins with a quote that nothing ends"), "close.csv": ('a,b\n"x,1\ny"z,2\n', [], "close.csv:2: a field goes on behind"), "quoted.csv": ('a,b\n"x\n\ny",1\n2\n', [], "quoted.csv:5: the line has 1 column, 2 are needed"),
        "behind.csv": ('a,b\n"x"y,1\n', [], "behind.csv:2: a field goes on behind the quote that ends it"), "open_names.csv": ('"a,b\n1,2\n', ["--header", "yes"], "open_names.csv:1"),
        "name.csv": ("a,b\n1,2\n", ["--column", "c"], "there is no column 'c' in "), "names.csv": ("a,b\n1,2\n", ["--column", "c"], "which has 'a', 'b'"), "third.csv": ("a,b\n1,2\n", ["--column", 3], "third.csv:2: the line has 2 columns, column 3 was asked for: choose one from 1 to 2"),
        "one_percent.mtx": ("%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n", [], "one_percent.mtx:1: the banner"), "one_percent.txt": ("\n%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n", ["--column", 1], "one_percent.txt:2: the banner"),
        "header.csv": ("\na,b\n", ["--column", 3], "header.csv:2: the line has 2 columns, column 3 was asked for"), "none.mtx": ("% sizes\n2 2 1\n1 1 1\n", [], "none.mtx:2: a MatrixMarket file begins with %%MatrixMarket"), "no_names.csv": ("1,2\n3,4\n", ["--column", "a"], "there is none"),
        "short.csv": ("a,b\n1,2\n3\n", [], "short.csv:3: the line has 1"), "word.mtx": (banner + "3 3 2\n1 1\n1 x\n", [], "'x' is no column of the matrix"), "empty.txt": ("", [], "is empty"),
        "long.txt": ("1 2\n2 3 7\n3 1 7\n", [], "long.txt:2: the line has 3 columns, the first one 2: choose some, like --column 1"),
        "longer.txt": ("1 2 7\n2 3 7 5\n", [], "longer.txt:2: the line has 4 columns"), "long.csv": ("a,b\n1,2,3\n", ["--column", "all"], "long.csv:2"),
        "one_short.csv": ("a,b\n1,2\n3\n", [], "the line has 1 column, 2 are needed"), "road.gr": ("c roads\np sp 3 1\na 1 2 7\n", [], "road.gr:2: a graph in DIMACS' format"),
        "col.col": ("p edge 3 1\ne 1 2\n", [], "--column 2,3"), "mac.txt": ("1 2\r2 3\r", [], "carriage returns alone"), "zeros.txt": ("1 2\n\0 3\n", [], "at byte 4"),
        "packed.bz2": ("BZh91AY&SY\x01\x02", [], "it is no text"), "torn.gz": (gzip.compress(b"1 2\n" * 1000)[:30].decode("latin-1"), [], "gzip"),
    }
    for name, (text, words, named) in cases.items():
        path = Path(folder) / name
        path.write_bytes(text.encode("latin-1"))
        done = checks.run(driver, "count", path, *words)
        check(f"{name}: exit code", done.returncode, 2)
        check(f"{name}: output", done.stdout, "")
        check(f"{name}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def text(driver, folder, edges):
    path = Path(folder) / "weights.txt"
    path.write_text("0 1 7\n", encoding="ascii")
    shown = checks.run(driver, "count", path).stdout
    check("text: one line", "1 line, columns 1, 2" in shown, True)
    check("text: what is left out", "left out: column 3, no ids (--column all counts everything)" in shown, True)
    path.write_text("x\x1b[2J\u009b1m\u00e9 y\n" * 2, encoding="utf-8")
    check("text: no control characters", ("x?[2J?1m\u00e9 " in checks.run(driver, "count", path).stdout, "\x1b" in checks.run(driver, "count", path).stdout), (True, False))
    path.write_text("w\u00f6rter\nword\nw\u00f6rter\n", encoding="utf-8")
    rows = checks.run(driver, "count", path).stdout.splitlines()[-3:]
    check("text: columns of characters, not of bytes", {row.index(end) + len(end) for row, end in zip(rows, ("value", "\u00f6rter", "word"))}, {14})
    path.write_text("a,b\nx,y\n", encoding="ascii")
    check("text: names", "columns 1 'a', 2 'b' (a header names them" in checks.run(driver, "count", path).stdout, True)
    check("text: how values are compared", "4 values, 4 distinct as text, " in checks.run(driver, "count", path, "--header", "no").stdout, True)
    path.write_text("a,b\n", encoding="ascii")
    check("text: a header alone", ("0 lines, columns 1 'a', 2 'b'" in checks.run(driver, "count", path).stdout, "0 values, 0 distinct" in checks.run(driver, "count", path).stdout), (True, True))
    check("text: a list of edges", "left out" in checks.run(driver, "count", edges).stdout, False)


def graphs(driver, edges, corpus):
    """The degrees of a real list, and of the matrices that bfs reads."""
    ids = [int(word) for line in Path(edges).read_text(encoding="ascii").splitlines() if line[:1].isdigit() for word in line.split()[:2]]
    check_counts("a list of edges", result(driver, edges), ids, len(ids) // 2)
    for name in ("pattern_general.mtx", "real_symmetric.mtx", "integer_skew.mtx", "complex_hermitian.mtx"):
        lines = [line.split() for line in (Path(corpus) / name).read_text(encoding="ascii").splitlines() if line.strip() and line[0] != "%"]
        check_counts(name, result(driver, Path(corpus) / name), [int(i) for line in lines[1:] for i in line[:2]], len(lines) - 1)


def main():
    driver, edges, corpus = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        tables(driver, folder, checks.unpacks(driver))
        large_table(driver, folder)
        bad_tables(driver, folder)
        text(driver, folder, edges)
    graphs(driver, edges, corpus)
    return checks.verdict("count")


if __name__ == "__main__":
    sys.exit(main())
