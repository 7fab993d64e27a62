# SPDX-License-Identifier: Apache-2.0
"""Reading of results: what `compare` and `plot` share. Python's standard library only."""
import json
import statistics
from pathlib import Path


class Row:
    """One measured thing: its name, what it depends on, and its rates in operations per second."""

    def __init__(self, name, parameters, rates, extra=None):
        self.name = name
        self.parameters = parameters
        self.rates = rates
        self.extra = extra or {}

    @property
    def key(self):
        return (self.name, tuple(sorted(self.parameters.items())))

    @property
    def median(self):
        return statistics.median(self.rates)

    @property
    def low(self):
        return min(self.rates)

    @property
    def high(self):
        return max(self.rates)


def objects_of(path):
    """Every JSON object of a file: one, a list, JSON lines, or one after another."""
    text = Path(path).read_text(encoding="utf-8")
    decoder, at, found = json.JSONDecoder(), 0, []
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return found
        value, at = decoder.raw_decode(text, at)
        found += value if isinstance(value, list) else [value]


def rates_of(operations, seconds):
    return [operations / s for s in seconds if s > 0]


def rows_of_hash(run):
    p = run["parameters"]
    where = {"keys": p["keys"], "load": p["load"], "key_bytes": p["key_bytes"]}
    table = {"table_bytes": p["table_bytes"], "device": run["context"]["device"]}
    for c in run["ceilings"]:
        yield Row("ceiling " + c["name"], where, rates_of(c["operations"], c["seconds"]["all"]),
                  dict(table, ceiling=True))
    for r in run["results"]:
        parameters = dict(where, miss=p["miss"]) if r["operation"] == "find mixed" else where
        yield Row(r["map"] + " " + r["operation"], parameters, rates_of(r["operations"], r["seconds"]["all"]),
                  dict(table, map=r["map"], operation=r["operation"], bound=r["ceiling"], of_ceiling=r["of_ceiling"]))


def rows_of_mixed(run):
    p = run["parameters"]
    where = {"keys": p["keys"], "operations": p["operations"], "mix": "/".join(map(str, p["mix"])), "slots": p["slots"],
             "filled": p["filled"], "key_bytes": p["key_bytes"]}
    table = {"table_bytes": p["table_bytes"], "device": run["context"]["device"]}
    for c in run["ceilings"]:
        yield Row("ceiling " + c["name"], where, rates_of(c["operations"], c["seconds"]["all"]),
                  dict(table, ceiling=True))
    for r in run["results"]:
        yield Row(r["map"] + " " + r["operation"], where, rates_of(r["operations"], r["seconds"]["all"]),
                  dict(table, map=r["map"], operation=r["operation"]))


def rows_of_benchmark(run):
    """Google Benchmark's format: repetitions of one name are samples of one row."""
    samples = {}
    for b in run["benchmarks"]:
        if b.get("run_type", "iteration") == "iteration" and "error_occurred" not in b:
            rate = b["G/s"] * 1e9 if "G/s" in b else 1.0 / b["real_time"]
            samples.setdefault(b.get("run_name", b["name"]), []).append(rate)
    for name, rates in samples.items():
        yield Row(name, {}, rates)


def rows_of(path):
    rows = []
    for value in objects_of(path):
        if value.get("format") == "karpos-hash-1":
            rows += rows_of_hash(value)
        elif value.get("format") == "karpos-mixed-1":
            rows += rows_of_mixed(value)
        elif "benchmarks" in value:
            rows += rows_of_benchmark(value)
    if not rows:
        raise SystemExit(f"{path}: holds no result of `karpos hash --json`, `karpos mixed --json` or of a benchmark")
    return rows


def contexts_of(path):
    return [v["context"] for v in objects_of(path) if isinstance(v.get("context"), dict)]
