#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `karpos mixed` and checks that what it prints adds up.

    mixed.py DRIVER
"""
import re
import sys

import checks
from checks import check, run

SMALL = ["--keys", 2000, "--ops", 20000, "--reps", 2]


def result(driver, *words):
    """The object that a good run prints."""
    return checks.result(driver, "mixed", *words) or {"parameters": {}, "results": []}


def maps_of(driver):
    """Our maps, as the help names them: all of them run mixed operations."""
    named = re.search(r"--map \{([^}]*)\}", run(driver, "mixed", "--help").stdout)
    check("the help names the maps", named is not None, True)
    return named[1].split(",") if named else ["hash"]


def check_result(what, seen, operations):
    outcomes = seen["outcomes"]
    check(f"{what}: wrong", (seen["wrong"], sum(seen["defects"].values())), (0, 0))
    check(f"{what}: outcomes", sum(outcomes.values()), operations)
    check(f"{what}: invalid", outcomes["invalid"], 0)
    check(f"{what}: rates", 0 < seen["rate"] and 0 < seen["of_random_read"] and 0 < seen["of_random_cas"], True)


def near(part, whole, percent):
    """Whether about that percentage of the random operations are of a kind."""
    return abs(part / whole - percent / 100) < 0.02


def good_input(driver, name):
    for mix in ("20,20,60", "40,40,20", "100,0,0", "0,100,0", "0,0,100"):
        for more in ([], ["--key-bytes", 8], ["--seed", 5], ["--slots", 4000, "--fill", 0.8], ["--load", 0.5]):
            words = ["--map", name, "--mix", mix, *SMALL, *more]
            seen = result(driver, *words)
            for r in seen["results"]:
                check_result(words, r, 20000)
                check(f"{words}: readings", len(r["seconds"]["all"]), 2)
                o, (insert, erase, find) = r["outcomes"], seen["parameters"]["mix"]
                check(f"{words}: insertions", near(o["inserted"] + o["existing"] + o["full"], 20000, insert), True)
                check(f"{words}: found at most", o["found"] <= 20000 * (find / 100 + 0.02), True)
                check(f"{words}: erased at most", o["erased"] <= 20000 * (erase / 100 + 0.02), True)
            check(f"{words}: results", len(seen["results"]), 1)


def sizes(driver, name):
    p = result(driver, "--map", name, *SMALL)["parameters"]
    check("sizes by load", [p[k] for k in ("keys", "filled", "max_keys", "slots")], [2000, 1000, 1000, 1250])
    p = result(driver, "--map", name, *SMALL, "--slots", 1000, "--fill", 0.1, "--load", 0.5)["parameters"]
    check("sizes by slots", [p[k] for k in ("filled", "max_keys", "slots")], [200, 500, 1000])
    check("load by slots", p["filled_load"], 0.2)
    p = result(driver, "--map", name, *SMALL, "--slots", "2^10", "--fill", 0)["parameters"]
    check("an empty start", p["filled"], 0)
    p = result(driver, "--map", name, "--keys", 1, "--ops", 1000, "--slots", 100, "--fill", 1)["parameters"]
    check("one key", p["filled"], 1)


def text(driver, name):
    done = run(driver, "mixed", "--map", name, *SMALL)
    check("text: exit code", done.returncode, 0)
    for word in ("20,000 operations", "2,000 keys", "random read", "random_cas", "inserted", "erased", "found", "full"):
        check(f"text names {word}", word in done.stdout, True)
    check("text: nothing is wrong", "WRONG" in done.stdout, False)


def peers(driver, name):
    """Peers that cannot run mixed operations are skipped, unless the user names them."""
    seen = result(driver, "--map", name, *SMALL, "--peers")
    for r in seen["results"]:
        check_result(f"{r['map']} as a peer", r, 20000)
    for other in ("kokkos", "chained"):
        check(f"{other} is left out", other in seen["parameters"].get("maps", []), False)


def published(driver):
    """Tables from published descriptions, which are measured if they are named."""
    names = ["chained", "chained-alloc", "hopscotch-locked"]
    few_keys = ["--keys", 10, "--ops", 20000, "--reps", 2, "--slots", 2000, "--fill", 0]
    for more in (SMALL, [*SMALL, "--key-bytes", 8], [*SMALL, "--mix", "50,50,0"], few_keys):
        seen = result(driver, *more, "--peers", ",".join(names))
        check(f"{more}: maps", seen["parameters"].get("maps", [])[1:], names)
        for r in seen["results"]:
            check_result(f"{r['map']} {more}", r, 20000)


def copies(driver):
    """Insertions of one key beside each erasure of another: half of the keys comes, half goes, and none is stored twice."""
    names = ["hash", "chained", "hopscotch-locked"]
    for n, more in ((1, []), (2, ["--key-bytes", 8]), (30, ["--slots", 4000, "--load", 0.5])):
        words = ["--map", "hopscotch", "--keys", 2000, "--reps", 2, "--copies", n, *more, "--peers", ",".join(names)]
        seen = result(driver, *words)
        check(f"{words}: copies", (seen["parameters"].get("copies"), len(seen["results"])), (n, 4))
        for r in seen["results"]:
            check_result(f"{words}, {r['map']}", r, 1000 * (n + 1))
            o = r["outcomes"]
            check(f"{words}, {r['map']}: erased", o["erased"], 1000)
            if "--slots" in more:
                check(f"{words}, {r['map']}: inserted", (o["inserted"], o["existing"]), (1000, 1000 * (n - 1)))
    shown = run(driver, "mixed", "--map", "hopscotch", "--keys", 2000, "--copies", 2).stdout
    check("text says what is inserted", "2 insertions of a key beside each erasure" in shown, True)


def bad_input(driver):
    cases = [
        (["--mix", "20,20,50"], "20,20,50"), (["--mix", "20,80"], "20,80"), (["--mix", "20,20,60,0"], "20,20,60,0"),
        (["--mix", "120,-20,0"], "--mix"), (["--mix", "a,b,c"], "a,b,c"), (["--mix", ""], "--mix"),
        (["--keys", 0], "--keys"), (["--keys", "2^40"], "--keys"), (["--keys", "10x"], "10x"), (["--ops", 0], "--ops"),
        (["--slots", 0], "--slots"), (["--slots", 10], "--slots"), (["--fill", 0], "--slots"), (["--fill", 1.5], "--fill"),
        (["--load", 1], "--load"), (["--map", "nonsense"], "nonsense"), (["--map", "kokkos"], "kokkos"),
        (["--map", "cuckoo"], "'cuckoo' cannot insert, erase and find at once"),
        (["--map", "multi"], "'multi' cannot insert, erase and find at once"),
        (["--peers", "nonsense"], "nonsense"), (["--peers", "kokkos"], "kokkos"), (["--reps", 0], "--reps"),
        (["--map", "unordered"], "'unordered' cannot insert, erase and find at once"),
        (["--copies", 0], "--copies"), (["--copies", "2e9"], "--copies"), (["--copies", 2, "--keys", 3], "even number"), (["--copies", 2, "--fill", 0.3], "--fill"), (["--copies", 2, "--ops", 5], "--ops"), (["--copies", 2, "--mix", "20,20,60"], "--mix"),
    ]
    for words, named in cases:
        done = run(driver, "mixed", *words)
        check(f"{words}: exit code", done.returncode, 2)
        check(f"{words}: output", done.stdout, "")
        check(f"{words}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def main():
    (driver,) = sys.argv[1:]
    names = maps_of(driver)
    for name in names:
        good_input(driver, name)
        sizes(driver, name)
        text(driver, name)
        peers(driver, name)
    published(driver)
    copies(driver)
    bad_input(driver)
    return checks.verdict("mixed")


if __name__ == "__main__":
    sys.exit(main())
