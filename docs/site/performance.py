# SPDX-License-Identifier: Apache-2.0
"""Pages of performance, made of perf/results: each is a text in Markdown with its charts, and names the files that it is made of."""
import os
import statistics
import subprocess
import sys
from pathlib import Path

from svg import bar_chart, line_chart, short

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "perf" / "results"
MAP = "karpos::hash_map"
OPERATIONS = ("insert", "find hits", "find misses")
CEILINGS = {"random_read": "ceiling: random reads", "random_cas": "ceiling: random compare-and-swap"}
sys.path.insert(0, str(ROOT / "perf" / "measure"))
from results import objects_of  # noqa: E402 (perf/measure/results.py)


def runs_of(folder, form):
    """Pairs of a file and its run, for the runs of a format in a folder."""
    found = [(f, run) for f in sorted((RESULTS / folder).glob("*.json")) for run in objects_of(f)]
    return [(f, run) for f, run in found if run.get("format") == form]


def machine_of(run):
    c = run["context"]
    threads = f", {c['concurrency']} thread{'s' if c['concurrency'] > 1 else ''}" if c["backend"] in ("OpenMP", "Threads") else ""
    return c["device"] + threads


def rate_of(run, name, operation):
    return next((r["rate"] for r in run["results"] if r["map"] == name and r["operation"] == operation), None)


def map_runs(folder, **wanted):
    """Runs that are about hash_map, alone or with peers, input on the device, whose parameters are as wanted."""
    runs = [(f, r) for f, r in runs_of(folder, "karpos-hash-1") if "input" not in r["parameters"] and r["results"][0]["map"] == MAP]
    return [(f, r) for f, r in runs if all(r["parameters"][k] == v for k, v in wanted.items())]


def map_series(runs, parameter):
    """The lines of a chart: rates in G/s of our map, and its ceilings; the median if several runs have the same x."""
    def line(value):
        at = {}
        for _, run in runs:
            at.setdefault(run["parameters"][parameter], []).append(value(run) / 1e9)
        return sorted((x, statistics.median(ys)) for x, ys in at.items())
    ceiling = lambda name: lambda run: next(c["rate"] for c in run["ceilings"] if c["name"] == name)
    lines = [(f"hash_map, {o}", line(lambda run, o=o: rate_of(run, MAP, o)), False) for o in OPERATIONS]
    return lines + [(text, line(ceiling(name)), True) for name, text in CEILINGS.items()]


def names_of(runs):
    return ", ".join(f"`{f.relative_to(ROOT).as_posix()}`" for f in dict.fromkeys(f for f, _ in runs))


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def size_text(size):
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return f"{short(size / unit)} {name}"
    return str(size)


def load_chart(folder, keys):
    runs = [(f, r) for f, r in map_runs(folder, keys=keys, key_bytes=4) if r["parameters"]["load"] >= 0.5]  # maps that are in use
    subtitle = f"{machine_of(runs[0][1])}, {keys:,} keys of 4 + 4 bytes; higher is better, dashed lines are what the memory allows"
    return runs, line_chart("hash_map: rate against load", subtitle, ("load: keys a slot", "10⁹ operations a second"), map_series(runs, "load"))


def size_chart(folder, load):
    runs = map_runs(folder, load=load, key_bytes=4)
    subtitle = f"{machine_of(runs[0][1])}, load {load:g}, keys of 4 + 4 bytes; dashed lines are what the memory allows"
    return runs, line_chart("hash_map: rate against size", subtitle, ("size of the table", "10⁹ operations a second"),
                            map_series(runs, "table_bytes"), True, size_text)


def map_table(runs):
    """A row for each load and number of keys; of several such runs the last by name."""
    rows, places = [], {(r["parameters"]["load"], r["parameters"]["keys"]): r for _, r in runs}
    for _, run in sorted(places.items()):
        ceilings = {c["name"]: c["rate"] for c in run["ceilings"]}
        cells = []
        for operation in OPERATIONS:
            result = next(r for r in run["results"] if r["map"] == MAP and r["operation"] == operation)
            cells.append(f"{short(result['rate'] / 1e9)} ({result['rate'] / ceilings[result['ceiling']]:.2f})")
        rows.append([f"{run['parameters']['load']:g}", f"{run['parameters']['keys']:,}", size_text(run["parameters"]["table_bytes"]), *cells])
    return table(["load", "keys", "table", "insert", "hits", "misses"], rows)


def peer_rows(folders):
    """Bars of our map and its peers, from the largest run with peers of each folder."""
    rows, used = [], []
    for folder in folders:
        runs = [(f, r) for f, r in map_runs(folder) if len({x["map"] for x in r["results"]}) > 1]
        if not runs:
            continue
        file, run = max(runs, key=lambda r: r[1]["parameters"]["keys"])
        used.append((file, run))
        for operation in OPERATIONS:
            rows.append((f"{machine_of(run)}: {operation}, {run['parameters']['keys']:,} keys, load {run['parameters']['load']:g}", None, 0))
            found = [r for r in run["results"] if r["operation"] == operation]
            rows += [(r["map"], r["rate"] / 1e6, 0 if r["map"] == MAP else 5) for r in found]
    return used, rows


def maps_page():
    loads, load_svg = load_chart("h200", 1 << 27)
    sizes, size_svg = size_chart("h200", 0.5)
    hosts, host_svg = size_chart("cpu/16-threads", 0.5)
    peers, rows = peer_rows(["h200", "cpu/16-threads", "cpu/1-threads"])
    text = f"""# hash_map

Rates of `karpos hash`, every answer checked, beside what the memory of the machine allowed in the same run. [hash_map](../docs/hash_map.md) explains them.

![Rate against load](maps-load.svg)

In 10⁹ operations a second, and as a fraction of the ceiling:

{map_table(loads)}

From {names_of(loads)}.

![Rate against size](maps-size.svg)

{map_table(sizes)}

From {names_of(sizes)}.

## On a CPU

![Rate against size, on 16 threads](maps-cpu.svg)

{map_table(hosts)}

From {names_of(hosts)}.

## Beside other maps

In the same run, on the same keys; on one thread the peers are maps for one thread.

![Beside peers](maps-peers.svg)

From {names_of(peers)}.
"""
    charts = {"maps-load.svg": load_svg, "maps-size.svg": size_svg, "maps-cpu.svg": host_svg,
              "maps-peers.svg": bar_chart("hash_map beside other maps", "10⁶ operations a second; longer is better", "M/s", rows, "each group at a scale of its own")}
    return text, charts


def short_graph(run):
    return ",".join(w for w in run["parameters"]["graph"].split(",") if not w.startswith(("seed", "permute")))


def plain_bfs(folder):
    p = lambda run: run["parameters"]
    return [(f, r) for f, r in runs_of(folder, "karpos-bfs-1") if f.name.startswith("bfs-") and p(r)["direction"] == "auto"]


def bfs_page():
    device, host = plain_bfs("h200"), plain_bfs("cpu/16-threads")
    host_rows, lines = [], []
    for _, run in device + host:
        peers = ", ".join(f"{p['peer']} {short(p['harmonic_mean_gteps'])} ({run['harmonic_mean_gteps'] / p['harmonic_mean_gteps']:.2f}x)"
                          for p in run.get("peers", [])) or "none in the run"
        lines.append([machine_of(run), short_graph(run), f"{run['vertices']:,}", f"{run['edges']:,}", short(run["harmonic_mean_gteps"]),
                      f"{short(run['median_seconds'] * 1e3)}\u00a0ms", peers])
    for _, run in host:
        if run.get("peers"):
            host_rows += [(short_graph(run), None, 0), ("karpos::bfs", run["harmonic_mean_gteps"], 0)]
            host_rows += [(p["peer"], p["harmonic_mean_gteps"], 5) for p in run["peers"]]
    device_rows = [(short_graph(run), run["harmonic_mean_gteps"], 0) for _, run in device]
    text = f"""# bfs

`karpos bfs --validate` from random sources: the harmonic mean of 10⁹ edges of the component a second (GTEPS), every distance proved. [bfs](../docs/bfs.md) explains them.

![On a GPU](bfs-device.svg)

![Beside a peer, on a CPU](bfs-peers.svg)

{table(["machine", "graph", "vertices", "edges", "GTEPS", "a search", "peer, and how many times as fast we are"], lines)}

From {names_of(device + host)}.
"""
    return text, {"bfs-device.svg": bar_chart("bfs", f"{machine_of(device[0][1])}, GTEPS; longer is better", "GTEPS", device_rows),
                  "bfs-peers.svg": bar_chart("bfs beside its peer", f"{machine_of(host[0][1])}, GTEPS; longer is better", "GTEPS", host_rows)}


PEERS = {"full": "full aggregation", "nra": "NRA, one thread", "sc": "Stream-Combine, one thread", "lara": "LARA, one thread"}


def topk_page():
    machines, charts, sections = ("h200", "cpu/16-threads"), {}, []
    for folder in machines:
        runs = [(f, r) for f, r in runs_of(folder, "karpos-topk-1") if r["peers"] and r["parameters"]["result"] == "set"]
        rows, lines = [], []
        columns = [n for n in PEERS if any(p["peer"] == n for _, run in runs for p in run["peers"])]
        for _, run in runs:
            peers = {p["peer"]: p for p in run["peers"] if "seconds" in p}
            rows += [(run["parameters"]["scores"], None, 0), ("karpos::top_k", run["seconds"]["median"] * 1e3, 0)]
            rows += [(PEERS[n], p["seconds"]["median"] * 1e3, 5) for n, p in peers.items()]
            ratios = [f"{short(p['over_karpos'])}x" if (p := peers.get(n)) else "" for n in columns]
            lines.append([run["parameters"]["scores"], f"{short(run['seconds']['median'] * 1e3)}\u00a0ms", *ratios])
        name = f"topk-{folder.split('/')[0]}.svg"
        charts[name] = bar_chart("top_k, the best 100 as a set", f"{machine_of(runs[0][1])}, milliseconds; shorter is better", "ms", rows, "logarithmic")
        sections.append(f"""## {machine_of(runs[0][1])}

![Time beside peers]({name})

{table(["lists", "top_k", *(f"{PEERS[n]}: times as long" for n in columns)], lines)}

From {names_of(runs)}.
""")
    text = "# top_k\n\n`karpos topk`, 100 best of n sorted lists, every answer checked by brute force. [top_k](../docs/topk.md) explains them.\n\n" + "\n".join(sections)
    return text, charts


def portability_page(folder):
    """perf/measure/portability makes it; the picture goes into the folder."""
    machines = ["perf/results/h200", "perf/results/cpu/16-threads"]
    made = subprocess.run([sys.executable, "-B", "perf/measure/portability", "--svg", str(folder / "portability.svg"), *machines],
                          cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ})
    text = f"""# All machines side by side

The fraction of what each machine allows, or of the best peer in the same run, and Pennycook's metric: the harmonic mean over the machines.

![As bars](portability.svg)

{made.stdout}
What is not here: no search on a GPU has been recorded with a peer in its run, so that the metric of bfs is not known ([what was measured](../perf/results/h200/README.md#bfs-on-an-nvidia-h200)).
Sums by key, joins, components and shortest paths are recorded as tables of text, whose inputs differ from machine to machine: [reduce_by_key on a GPU](../perf/results/h100/reduce_by_key.md),
[on a CPU](../perf/results/cpu/reduce_by_key.md), [join](../perf/results/h200/join.md), [components and paths](../perf/results/components_and_paths.md).

Printed by `perf/measure/portability {' '.join(machines)}`.
"""
    return text, {}


PAGES = {"maps": maps_page, "bfs": bfs_page, "topk": topk_page}


def write(folder):
    """Writes all pages and charts into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in [*PAGES.items(), ("portability", lambda: portability_page(folder))]:
        text, charts = make()
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        for file, chart in charts.items():
            (folder / file).write_text(chart, encoding="utf-8")


def recorded(file):
    return next(iter(objects_of(RESULTS / file)))


def plain(name):
    return name.removeprefix("karpos::").replace("_map two_level", "_map").replace("array sorted by cub::DeviceRadixSort", "CUB: sort, search")


def map_ratios(file, ours, colour, operations):
    """Bars of a map's rates by those of its peers, which are not ours."""
    run = recorded(file)
    peers = dict.fromkeys(r["map"] for r in run["results"] if not r["map"].startswith("karpos::"))
    return run, [(f"{plain(ours)}, {o} / {plain(p)}", rate_of(run, ours, o) / rate_of(run, p, o), colour) for p in peers for o in operations]


def figure_ratios(file, figure, ours, colour):
    """Bars of a map's rates in a figure of a paper, by the published ones and those of its peers."""
    run = recorded(file)
    plot = next(f for f in run["figures"] if f["figure"] == figure)
    rates = {(s["name"], s["origin"]): [y for _, y in s["points"]] for s in plot["series"]}
    mine = rates[ours, "ours"]
    return run, [(f"{plain(ours)}, {o} / {name}{', published' * (origin == 'published')}", mine[i] / ys[i], colour)
                 for (name, origin), ys in rates.items() if ys and origin != "ours" and "," not in name for i, o in enumerate(plot["x"]["categories"])]


def bfs_ratios(file, colour):
    run = recorded(file)
    return run, [(f"bfs, {short_graph(run)} / {p['peer']}", run["harmonic_mean_gteps"] / p["harmonic_mean_gteps"], colour) for p in run["peers"]]


def topk_ratios(file, colour):
    run = recorded(file)
    return run, [(f"top_k, {run['parameters']['scores'].partition(':')[0]} / {PEERS[p['peer']]}", p["over_karpos"], colour)
                 for p in run["peers"] if p["peer"] == "full"]


def peers_chart():
    """The plot of the first page: how many times as fast as their peers the parts are, in one run each."""
    rows, last = [], None
    for run, bars in (figure_ratios("h100/paper/cucollections.json", "5", MAP, 0),
                      map_ratios("h200/cuckoo-two_level-2^27.json", "karpos::cuckoo_map two_level", 2, ("insert", "find hits")),
                      bfs_ratios("h200/bfs-kron-scale-22-ef-16.json", 1), bfs_ratios("h200/bfs-uniform-scale-22-ef-16.json", 1),
                      topk_ratios("h200/topk-set-uniform-1e7.json", 3), topk_ratios("h200/topk-set-anticorrelated-1e7.json", 3),
                      map_ratios("cpu/16-threads/targets-224.json", MAP, 0, ("insert", "find hits")),
                      bfs_ratios("cpu/16-threads/bfs-kron-scale-22-ef-16.json", 1), bfs_ratios("cpu/16-threads/bfs-uniform-scale-22-ef-16.json", 1),
                      map_ratios("cpu/1-threads/targets-medium.json", MAP, 0, ("insert", "find hits")), topk_ratios("cpu/2-threads/topk-set-anticorrelated-1e7.json", 3)):
        if machine_of(run) != last:
            last = machine_of(run)
            rows.append((last, None, 0))
        rows += bars
    return bar_chart("Karpos and others", "times as fast as the peer in the same run, or as published; longer is better", "x", rows)
