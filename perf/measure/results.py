# SPDX-License-Identifier: Apache-2.0
"""Reading of results: what `compare` and `plot` share. Python's standard library only."""
import json
import statistics
from pathlib import Path


class Row:
    """One measured thing: its name, what it depends on, and its rates in operations per second. One of which each operation
    is a whole search or query is `timed`: shown as the seconds that it takes."""

    def __init__(self, name, parameters, rates, extra=None, timed=False):
        self.name = name
        self.parameters = parameters
        self.rates = rates
        self.extra = extra or {}
        self.timed = timed

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
            break
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError as error:
            raise ValueError(f"{path} is no JSON: {error}") from error
        found += value if isinstance(value, list) else [value]
    if not all(isinstance(value, dict) for value in found):
        raise ValueError(f"{path} holds something other than objects")
    return found


def rates_of(operations, seconds):
    return [operations / s for s in seconds if s > 0]


def rows_of_hash(run):
    p = run["parameters"]
    where = {"keys": p["keys"], "load": p["load"], "key_bytes": p["key_bytes"]}
    if "input" in p:  # on the host
        where["input"] = p["input"]
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


def asked(parameters, names):
    """Those of the parameters that say what was asked for, not by which technique it was answered; lists as text."""
    values = {name: parameters[name] for name in names if parameters.get(name) not in (None, [])}
    return {name: ",".join(map(str, v)) if isinstance(v, list) else v for name, v in values.items()}


def rows_of_bfs(run):
    """One row for all sources: the mean time of their first readings is a sample, that of their second ones another."""
    where = asked(run["parameters"], ["graph", "directed", "source", "sources", "seed", "parents"])
    searches = run.get("searches", [run])
    times = [statistics.mean(readings) for readings in zip(*(s["all_seconds"] for s in searches))]
    yield Row("karpos::bfs", where, rates_of(1, times), timed=True)
    if "baseline_seconds" in searches[0]:
        baseline = statistics.mean(s["baseline_seconds"] for s in searches)
        yield Row("baseline", where, rates_of(1, [baseline]), timed=True)


def rows_of_topk(run):
    where = asked(run["parameters"], ["scores", "seed", "k", "aggregate", "weights", "result", "ties", "missing"])
    yield Row("karpos::top_k", where, rates_of(1, run["seconds"]["all"]), timed=True)
    for peer in run["peers"]:
        if "seconds" in peer:  # it may have been skipped
            yield Row(peer["peer"], where, rates_of(1, peer["seconds"]["all"]), timed=True)


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


READERS = {"karpos-hash-1": ("karpos hash", rows_of_hash), "karpos-mixed-1": ("karpos mixed", rows_of_mixed),
           "karpos-bfs-1": ("karpos bfs", rows_of_bfs), "karpos-topk-1": ("karpos topk", rows_of_topk),
           "benchmark": ("a benchmark", rows_of_benchmark)}


def format_of(value):
    return "benchmark" if "benchmarks" in value else value.get("format")


def command_of(path):
    """What the results of a file come from, as a text: of one command, or an error."""
    commands = sorted({READERS[format_of(v)][0] for v in objects_of(path) if format_of(v) in READERS})
    if not commands:
        raise ValueError(f"{path} holds no result of `karpos hash|mixed|bfs|topk --json` or of a benchmark")
    if len(commands) > 1:
        raise ValueError(f"{path} holds results of {' and of '.join(commands)}: give each a file of its own")
    return commands[0]


def rows_of(path):
    command_of(path)
    try:
        return [row for v in objects_of(path) if format_of(v) in READERS for row in READERS[format_of(v)][1](v)]
    except KeyError as missing:
        raise ValueError(f"{path}: a result has no {missing}") from missing


def contexts_of(path):
    return [v["context"] for v in objects_of(path) if isinstance(v.get("context"), dict)]
