#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the model of searches over ranks predicts every recorded time within 15 %, and that a time beyond is noticed.

    predict_ranks.py PERF     PERF: the folder perf/, with results/*/search_over_ranks.json
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from checks import check


def run(perf, *words):
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, perf / "measure/predict_ranks", *map(str, words)], capture_output=True, text=True, check=False, env=quiet)


def model(measured):
    """One search of 100 us on one GPU. On two: 12 + 60 / 2 + 2 (3 + 1 x 2) + 5 + 4 x 2 + 7 = 72 at scale 26."""
    terms = {"fixed": {"one": 10, "ranks": 12}, "narrow": {"one": 12, "ranks": 3, "each_rank": 1},
             "wide": {"one": 0, "ranks": 5, "each_other_rank_at_scale_24": 2}, "late": {"one": 6, "ranks": 7}}
    search = {"graph": "g", "scale": 26, "shared": 60, "narrow": 2, "wide": 1, "late": 1, "measured": measured}
    return {"format": "karpos-search-over-ranks-1", "terms": terms, "searches": [search]}


def check_recorded(perf):
    files = sorted((perf / "results").glob("*/search_over_ranks.json"))
    check("recorded files", len(files) > 0, True)
    for file in files:
        done = run(perf, file)
        check(f"{file}: exit code", (done.returncode, done.stderr), (0, ""))
        two = [s["graph"] for s in json.loads(file.read_text(encoding="utf-8"))["searches"] if "2" in s["measured"]]
        for graph in two:
            check(f"{file}: compares {graph} on two", f"{graph}, 2 GPU(s)" in done.stdout, True)


def check_uneven(perf, folder):
    """Of 60 us of shared work 1.5 times the mean share: 12 + 45 + 2 (3 + 2) + 5 + 8 + 7 = 87 on two."""
    invented = model({"2": [87]})
    invented["terms"]["uneven"] = {"one": 1, "ranks": 1.5}
    file = folder / "uneven.json"
    file.write_text(json.dumps(invented), encoding="utf-8")
    check("uneven shares", "| g | 100 | 87 |" in run(perf, file, 1, 2).stdout, True)


def check_invented(perf, folder):
    for times, code in (({"1": [100], "2": [72]}, 0), ({"2": [82]}, 0), ({"2": [84]}, 1), ({"1": [84]}, 0), ({"2": [72, 60]}, 1)):
        file = folder / "model.json"
        file.write_text(json.dumps(model(times)), encoding="utf-8")
        done = run(perf, file, 1, 2, 4)
        check(f"{times}: exit code", done.returncode, code)
        check(f"{times}: row", "| g | 100 | 72 | 77 |" in done.stdout, True)
    check("no file", run(perf).returncode, 1)


if __name__ == "__main__":
    perf_folder = Path(sys.argv[1])
    check_recorded(perf_folder)
    with tempfile.TemporaryDirectory() as name:
        check_invented(perf_folder, Path(name))
        check_uneven(perf_folder, Path(name))
    sys.exit(checks.verdict("predict_ranks"))
