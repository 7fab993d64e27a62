#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what `karpos paper enterprise` does beside its figures' shape: graphs of the user's, and counters of a profiler.

    enterprise.py DRIVER EDGES     EDGES: a list of edges
"""
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import check, run, verdict

# A stand-in for the profiler: prints what it was called with, then the counters of two kernels; the second takes three times as long.
PROFILER = """#!/bin/sh
echo "==PROF== $*"
echo '"ID","Process Name","Kernel Name","Metric Name","Metric Unit","Metric Value"'
for id in 0 1; do
  echo "\\"$id\\",\\"karpos\\",\\"team_kernel<a, b>(int)\\",\\"gpu__time_duration.sum\\",\\"nsecond\\",\\"$((2 * id + 1)),000\\""
  echo "\\"$id\\",\\"karpos\\",\\"team_kernel<a, b>(int)\\",\\"sm__inst_executed.avg.per_cycle_active\\",\\"inst/cycle\\",\\"$id.5\\""
done
"""


def figure(driver, number, *words, path=None):
    env = {**os.environ, "OMP_PROC_BIND": "false", **({} if path is None else {"PATH": f"{path}:{os.environ['PATH']}"})}
    done = subprocess.run([driver, "paper", "enterprise", "--quick", "--json", "--figure", number, *map(str, words)],
                          capture_output=True, text=True, check=False, env=env)
    check(f"{number}: exit code; {done.stderr}", done.returncode, 0)
    return json.loads(done.stdout)["figures"][0]


def graphs(driver, edges):
    seen = figure(driver, "14", "--graph", edges, "--graph", "grid:10x10")
    check("graphs of the user's", seen["x"]["categories"][-2:], [str(edges), "grid:10x10"])
    check("are named by the command", f"--graph {edges} --graph grid:10x10" in seen["command"], True)
    last = len(seen["x"]["categories"]) - 1
    ours = [s for s in seen["series"] if s["origin"] in ("ours", "peer") and s["points"]]
    check("and are searched by all", [any(x == last and y > 0 for x, y in s["points"]) for s in ours], 4 * [True])
    check("none is wrong", seen["wrong"], 0)
    for graph in ("no/file", "krun:scale=3"):
        refused = run(driver, "paper", "enterprise", "--figure", "14", "--graph", graph)
        check(f"{graph}: '{refused.stderr}'", (refused.returncode, refused.stdout, graph[:4] in refused.stderr), (2, "", True))


def data_sets(driver, edges):
    """A claim about a published data set is decided by a file of its name, never by a stand-in."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"com-Orkut{Path(edges).suffix}"
        file.write_bytes(Path(edges).read_bytes())
        because = figure(driver, "5", "--graph", file)["claims"][0]["because"]
    for words, there in (("stand-in of Gowalla", True), ("stand-in of Orkut", False), ("% of Orkut below 32", True), ("% of Gowalla", False)):
        check(f"'{because}': '{words}'", words in because, there)


def counters(driver):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ncu"
        file.write_text(PROFILER, encoding="ascii")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        of = {s["name"]: s for s in figure(driver, "16", path=folder)["series"]}
        check("means are weighted by durations", of["instructions per cycle"]["points"], [[t, 1.25] for t in range(4)])
        check("a metric that was not counted", of["load/store units busy (%)"]["points"], [])
        file.write_text("#!/bin/sh\necho 'no permission to count'\n", encoding="ascii")
        told = {s["name"]: s for s in figure(driver, "16", path=folder)["series"]}["instructions per cycle"]
        check(f"why there are no counters: {told.get('missing')}", "no permission to count" in told.get("missing", ""), True)


def main():
    driver, edges = sys.argv[1:]
    graphs(driver, edges)
    data_sets(driver, edges)
    counters(driver)
    return verdict("paper enterprise")


if __name__ == "__main__":
    sys.exit(main())
