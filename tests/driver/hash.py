#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos hash` and checks that what it prints adds up.

    hash.py DRIVER
"""
import json
import re
import sys

import checks
from checks import check, run

SMALL = ["--keys", 20000, "--reps", 2]
CASES = [SMALL, [*SMALL, "--key-bytes", 8], [*SMALL, "--load", 0.95], [*SMALL, "--seed", 5], ["--keys", 1],
         ["--keys", 700]]
# One of five hopscotch maps refuses some of 20,000 keys at load 0.95, one of 500 does at 0.9.
OF_HOPSCOTCH = [[0.9 if word == 0.95 else word for word in words] for words in CASES]
OF_TWO_LEVELS = [words for words in CASES if "--load" not in words]  # which have a load of their own
FINDS = ["find hits", "find misses", "find mixed"]
LAYOUTS = {"two_level": "cuckoo", "dense": "cuckoo-dense"}


def result(driver, *words):
    """The object that a good run prints."""
    return checks.result(driver, "hash", *words) or {"parameters": {}, "results": []}


def check_results(what, seen, operations):
    """Every answer is right, and every operation that the map can do is there."""
    for r in seen:
        check(f"{what}, {r['map']} {r['operation']}: wrong", r["wrong"], 0)
        check(f"{what}, {r['map']} {r['operation']}: rate", r["rate"] > 0, True)
    check(f"{what}: operations", [r["operation"] for r in seen], operations)


def our_maps(driver):
    named = re.search(r"--map \{([^}]*)\}", run(driver, "hash", "--help").stdout)
    check("the help names the maps", named is not None, True)
    return named[1].split(",") if named else []


def maps(driver):
    for name in our_maps(driver):
        for more in {"cuckoo": OF_TWO_LEVELS, "hopscotch": OF_HOPSCOTCH}.get(name, CASES):
            words = ["--map", name, *more]
            erase = [] if name == "cuckoo" else ["erase"]
            check_results(words, result(driver, *words)["results"], ["insert", *erase, *FINDS])


def multiplicities(driver):
    """Rates of pairs of a multimap, beside those of hash_map."""
    for m in (1, 8, 700, 20000):
        for more in ([], ["--key-bytes", 8], ["--load", 0.9]):
            words = ["--map", "multi", *SMALL, "--multiplicity", m, *more]
            seen = result(driver, *words)
            check(f"{words}: multiplicity", seen["parameters"].get("multiplicity"), m)
            check_results(words, seen["results"], ["insert", "count", "retrieve", "insert", "find hits"])
            check(f"{words}: maps", [r["map"] for r in seen["results"]], 3 * ["karpos::hash_multimap"] + 2 * ["karpos::hash_map"])
            check(f"{words}: pairs", {r["operations"] for r in seen["results"]}, {20000})
    words = ["--map", "multi", *SMALL, "--multiplicity", 8, "--width", "1,4,32"]
    seen = result(driver, *words)
    by_width = [f"{what} by {w}" for w in (1, 4, 32) for what in ("count", "visit")]
    check(f"{words}: widths", seen["parameters"].get("widths"), [1, 4, 32])
    check_results(words, seen["results"], ["insert", "count", "retrieve", *by_width, "insert", "find hits"])
    seen = result(driver, *SMALL, "--width", "1,4", "--load", 0.95)
    by_width = [f"{what} by {w}" for w in (1, 4) for what in ("insert", "find")]
    check("widths of a map", seen["parameters"].get("widths"), [1, 4])
    check_results("widths of a map", seen["results"][-4:], by_width)
    seen = result(driver, *SMALL, "--key-bytes", 16, "--load", 0.9)
    check_results("keys of 16 bytes", seen["results"], ["insert", "erase", *FINDS, "insert", *FINDS])
    check("keys of 16 bytes: bytes", {r["bytes_each"] for r in seen["results"]}, {24})
    shown = run(driver, "hash", "--map", "multi", *SMALL, "--multiplicity", 8).stdout
    for word in ("8 pairs a key", "count", "retrieve", "karpos::hash_map"):
        check(f"text names {word}", word in shown, True)


def layouts(driver):
    for layout, name in LAYOUTS.items():
        for more in OF_TWO_LEVELS if layout == "two_level" else CASES:
            words = ["--map", "cuckoo", "--layout", layout, *more]
            seen = result(driver, *words)
            check(f"{words}: maps", seen["parameters"].get("maps"), [name])
            check_results(words, seen["results"], ["insert", *FINDS])
            for r in seen["results"][:1]:
                check(f"{words}: name", layout in r["map"], True)
                check(f"{words}: facts", list(r["facts"]), ["space_factor", "restarts", "group_restarts"])
                check(f"{words}: space factor", 1 <= r["facts"]["space_factor"], True)
    usual = result(driver, "--map", "cuckoo", *SMALL)["results"]
    check("two_level is the usual layout", "two_level" in usual[0]["map"] if usual else None, True)


def peers(driver):
    """A peer may be one of ours, and has the operations that it can do."""
    seen = result(driver, "--map", "cuckoo", *SMALL, "--peers", "sorted,hash,cuckoo-dense")
    operations = ["insert", *FINDS]
    check_results("peers", seen["results"], 2 * operations + ["insert", "erase", *FINDS] + operations)
    for n in (1, 2, 3, 1000, 4099):
        for width in (4, 8):
            seen = result(driver, "--keys", n, "--key-bytes", width, "--reps", 1, "--peers", "sorted")
            check_results(f"{n} sorted keys", seen["results"][5:], operations)


def published(driver):
    """Tables from published descriptions, at every load and size."""
    for more in CASES:
        seen = result(driver, "--map", "cuckoo", "--layout", "dense", *more, "--peers", "linear,quadratic,fks")["results"]
        check_results(f"published {more}", seen, 4 * ["insert", *FINDS])
        facts = [r["facts"] for r in seen if r["map"].startswith("FKS") and r["operation"] == "insert"]
        check(f"published {more}: facts", [list(f) for f in facts], [["space_factor", "slot_load", "restarts", "hashes"]])
    seen = result(driver, "--map", "cuckoo", "--keys", "1e5", "--load", 0.25, "--reps", 1, "--peers", "fks")["results"]
    check("FKS has the load asked for", abs(seen[4]["facts"]["slot_load"] - 0.25) < 0.02, True)


def inputs(driver):
    """Input on the host: a line says if the maps are in that memory, too; else copies over the link are the ceilings."""
    for where in ("host", "pinned", "shared"):
        done = run(driver, "hash", *SMALL, "--input", where, "--json")
        check(f"{where}: exit code", done.returncode, 0)
        seen = json.loads(done.stdout)
        if "measured as device" in done.stderr:
            check(f"{where}: lines", len(done.stderr.strip().splitlines()), 1)
            check(f"{where}: parameters", "input" in seen["parameters"], False)
            check_results(where, seen["results"], ["insert", "erase", *FINDS])
        else:
            check(f"{where}: parameters", seen["parameters"].get("input"), where)
            check(f"{where}: ceilings", [c["name"] for c in seen["ceilings"]], ["link_in", "link_in_out"])
            check_results(where, seen["results"], ["insert", *FINDS])
            check(f"{where}: bounds", {r["ceiling"] for r in seen["results"]}, {"link_in", "link_in_out"})


def text(driver):
    words = ["20,000 keys", "space_factor", "restarts", "group_restarts", "insert", "find misses", "x as fast"]
    done = run(driver, "hash", "--map", "cuckoo", *SMALL, "--peers", "hash")
    check("text: exit code", done.returncode, 0)
    for word in words:
        check(f"text names {word}", word in done.stdout, True)
    check("text: nothing is wrong", "WRONG" in done.stdout, False)
    check("text: a load that does not matter", "load" in done.stdout, False)
    erase = next((line for line in done.stdout.splitlines() if line.startswith("  erase")), "")
    check("text: erase is compared with nothing", "as fast" in erase, False)
    dense = run(driver, "hash", "--map", "cuckoo", "--layout", "dense", "--load", 0.95, *SMALL).stdout
    check("text: a load that matters", "load 0.95" in dense, True)


def bad_input(driver):
    cases = [
        (["--layout", "dense"], "'hash' has no layout 'dense'"),
        (["--map", "hopscotch", "--layout", "two_level"], "'hopscotch' has no layout 'two_level'"),
        (["--map", "cuckoo", "--layout", "flat"], "'cuckoo' has no layout 'flat'"),
        (["--input", "elsewhere"], "elsewhere"),
        (["--multiplicity", 2], "--map multi"), (["--map", "multi", "--multiplicity", 0], "--multiplicity"),
        (["--map", "multi", *SMALL, "--multiplicity", 20001], "--multiplicity is out of range (20001 of 20000 pairs)"),
        (["--map", "multi", *SMALL, "--multiplicity", 2, "--peers", "hash"], "without peers"),
        (["--map", "multi", *SMALL, "--width", 4], "--multiplicity"), (["--map", "cuckoo", *SMALL, "--width", 4], "--map hash"), (["--map", "multi", *SMALL, "--multiplicity", 2, "--width", 3], "--width"),
        (["--key-bytes", 16, "--map", "hopscotch"], "--key-bytes 16"), (["--key-bytes", 16, "--width", 4], "--key-bytes 16"),
        (["--map", "nonsense"], "nonsense"), (["--map", "sorted"], "sorted"), (["--peers", "nonsense"], "nonsense"),
        (["--map", "cuckoo", "--load", 0.9], "--load does not apply"), (["--keys", 0], "--keys"), (["--load", 1], "--load"), (["--reps", 0], "--reps"),
    ]
    for words, named in cases:
        done = run(driver, "hash", *words)
        check(f"{words}: exit code", done.returncode, 2)
        check(f"{words}: output", done.stdout, "")
        check(f"{words}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def energy(driver):
    seen = {r["operation"]: r.get("energy") for r in result(driver, *SMALL, "--energy")["results"]}
    check("energy of find hits alone", [o for o, e in seen.items() if e is not None], ["find hits"])
    told = [seen["find hits"][f"{part}_joules"] for part in ("host", "device") if f"{part}_joules" in seen["find hits"]]
    check("the processors are reported", "host_joules" in seen["find hits"] or len(seen["find hits"]["host_obstacle"]) > 0, True)
    check("energy of a query", seen["find hits"].get("nanojoules_each", 0) > 0, bool(told))
    text = run(driver, "hash", *SMALL, "--energy").stdout
    check("text: energy", ("energy of the processors: " in text, " a query (" in text), (True, bool(told)))
    done = run(driver, "hash", "--map", "multi", *SMALL, "--multiplicity", 8, "--energy")
    check("energy of a multimap: refused", (done.returncode, "--energy is measured without" in done.stderr), (2, True))


def main():
    (driver,) = sys.argv[1:]
    maps(driver)
    multiplicities(driver)
    layouts(driver)
    peers(driver)
    published(driver)
    inputs(driver)
    text(driver)
    energy(driver)
    bad_input(driver)
    return checks.verdict("hash")


if __name__ == "__main__":
    sys.exit(main())
