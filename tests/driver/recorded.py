#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs perf/measure/compare and perf/measure/plot on every recorded result.

    recorded.py PERF     PERF: the folder perf/, with results/*/*.json
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from checks import check

WITHOUT_MATPLOTLIB = "import sys; sys.modules['matplotlib'] = None; import runpy; sys.argv = sys.argv[1:]; " \
    "sys.path.insert(0, {folder!r}); runpy.run_path(sys.argv[0], run_name='__main__')"


def run(*words):
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False, env=quiet)


def refuses(what, done, code, named):
    """One line on standard error that names something, and nothing else."""
    check(f"{what}: exit code", done.returncode, code)
    check(f"{what}: output", done.stdout, "")
    check(f"{what}: lines of '{done.stderr}'", done.stderr.count("\n"), 1)
    check(f"{what}: '{done.stderr.strip()}' names {named}", named in done.stderr, True)


def command_of(path):
    """What a recorded result is of: the driver's commands hash, mixed, bfs, topk, paper, info; hash-ranks for `hash
    --distributed`; search-over-ranks for what predict_ranks reads."""
    return json.loads(path.read_text(encoding="utf-8")).get("format", "karpos-info-1").removeprefix("karpos-").rsplit("-", 1)[0]


def compare_with_themselves(perf, files):
    for file in files:
        done = run(perf / "measure/compare", file, file)
        if command_of(file) in ("info", "paper", "search-over-ranks", "hash-ranks"):
            refuses(f"compare {file.name}", done, 2, "holds no result")
            continue
        check(f"compare {file.name}: exit code and complaints", (done.returncode, done.stderr), (0, ""))
        rows = done.stdout.splitlines()[3:]
        check(f"compare {file.name}: rows", len(rows) > 0 and all("%    1.000  " in row for row in rows), True)


def compare_two(perf, folder):
    """perf/measure/compare compares results of different machines, faster and slower, but never of two commands."""
    done = run(perf / "measure/compare", *(perf / "results" / machine / "topk-exact-uniform-1e7.json" for machine in ("cpu", "h200")))
    for word in ("karpos::top_k scores=uniform", "full scores", " ms ", " us ", "faster"):
        check(f"compare of two machines says '{word}'", word in done.stdout, True)
    fast, slow = (folder / f"ablation-{name}.json" for name in ("baseline", "top-down"))
    done = run(perf / "measure/compare", fast, slow)
    check("compare of two techniques", (done.returncode, "karpos::bfs graph=kron:scale=22" in done.stdout, "slower" in done.stdout), (1, True, True))
    names = {"hash": "hash-0.5", "mixed": "mixed-small-hash-20-20-60", "bfs": "bfs-grid", "topk": "topk-set-zipf-1e7"}
    for one, a in names.items():
        for other, b in names.items():
            if one != other:
                refuses(f"compare {one} {other}", run(perf / "measure/compare", folder / f"{a}.json", folder / f"{b}.json"), 2, f"karpos {other}")
    refuses("compare without common rows", run(perf / "measure/compare", folder / "hash-0.5.json", folder / "hash-0.8.json"), 2, "in common")


def unreadable_files(perf):
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / "broken.json"
        for text, named in (('{"format": ', "is no JSON"), ("[1]", "other than objects"), ("", "holds no result"),
                            ('{"format": "karpos-hash-1"}', "has no 'parameters'")):
            broken.write_text(text, encoding="ascii")
            refuses(f"compare of '{text}'", run(perf / "measure/compare", broken, broken), 2, named)
        refuses("compare of a missing file", run(perf / "measure/compare", Path(folder) / "none", broken), 2, "none")


def plot_selects(perf, files, drawn):
    """Without matplotlib: a line for each file that is not drawn, then one that says what is missing."""
    code = WITHOUT_MATPLOTLIB.format(folder=str(perf / "measure"))
    done = run("-c", code, perf / "measure/plot", *files)
    lines = done.stderr.splitlines()
    check("plot without matplotlib: exit code", done.returncode, 1)
    check("plot without matplotlib: the last line", "install matplotlib" in lines[-1], True)
    left_out = {Path(line.split()[3]).name for line in lines[:-1] if line.startswith("plot: left out: ")}
    check("plot: one line each", len(left_out), len(lines) - 1)
    check("plot: other commands' results are left out", {f.name for f in files if command_of(f) != "hash"} <= left_out, True)
    check("plot: drawn files are not left out", left_out & drawn, set())
    done = run("-c", code, perf / "measure/plot", "--help")
    check("plot --help", (done.returncode, "--out FOLDER" in done.stdout, done.stderr), (0, True, ""))


def plot_nothing(perf, folder):
    done = run(perf / "measure/plot", folder / "bfs-grid.json")
    check("plot of bfs alone", (done.returncode, done.stderr.count("\n"), "nothing to draw" in done.stderr), (1, 2, True))


def plot_draws(perf, files):
    if run("-c", "import matplotlib").returncode != 0:
        print("skipped: drawing, for there is no matplotlib")
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "new" / "folder"
        done = run(perf / "measure/plot", "--out", out, *files)
        check("plot: exit code", done.returncode, 0)
        names = sorted(path.name for path in out.glob("*"))
        check("plot: pictures", done.stdout.split(), [str(out / name) for name in ("hash-load-4.svg", "hash-size-4.svg", "hash-load-8.svg")])
        check("plot: files", names, ["hash-load-4.svg", "hash-load-8.svg", "hash-size-4.svg"])


def main():
    perf = Path(sys.argv[1])
    h200, cpu = (sorted((perf / "results" / machine).glob("*.json")) for machine in ("h200", "cpu"))
    compare_with_themselves(perf, sorted((perf / "results").rglob("*.json")))
    compare_two(perf, perf / "results" / "h200")
    unreadable_files(perf)
    plot_selects(perf, h200, {f"large-0.{n}.json" for n in (5, 6, 7, 8, 9, 95)} | {f"size-{n}.json" for n in (16, 20, 28)})
    plot_selects(perf, cpu, {"cuckoo-dense-224.json", "cuckoo-two_level-224.json"})
    plot_nothing(perf, perf / "results" / "h200")
    plot_draws(perf, h200)
    print(f"{checks.failures} failures" if checks.failures else "compare and plot take every recorded result")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
