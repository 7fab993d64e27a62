# SPDX-License-Identifier: Apache-2.0
"""Helpers of the driver's tests: they run it, and count failed checks."""
import json
import os
import subprocess

failures = 0


def check(what, seen, expected):
    global failures
    if seen != expected:
        failures += 1
        print(f"{what}: {seen!r}, expected {expected!r}")


def run(driver, *words, stdin=None):
    quiet = {**os.environ, "OMP_PROC_BIND": "false"}
    return subprocess.run([driver, *map(str, words)], stdin=stdin, capture_output=True, text=True, check=False, env=quiet)


def result(driver, command, *words):
    """The object that a good run prints, or nothing."""
    done = run(driver, command, "--json", *words)
    check(f"{words}: exit code", done.returncode, 0)
    check(f"{words}: complaints", [line for line in done.stderr.splitlines() if "karpos" in line], [])
    return json.loads(done.stdout) if done.returncode == 0 else None


def unpacks(driver):
    """Whether this build reads gzip'ed files."""
    return "no zlib" not in subprocess.run([driver, "count", "-"], input=b"\x1f\x8b", capture_output=True, check=False).stderr.decode()


def verdict(command):
    """Prints the verdict. Returns: the exit code."""
    print(f"{failures} failures" if failures else f"karpos {command} does as it says")
    return 1 if failures else 0
