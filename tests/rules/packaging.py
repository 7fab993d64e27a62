#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the files that packagers and hosts of repositories read.

    packaging.py ROOT          runs the recipe of Spack with stand-ins for Spack, for every variant: it has this version, and gives
                               CMake only options that CMake knows; the workflow of hosted CI calls scripts that are there
    packaging.py --self-test   plants mistakes in both and checks that each is found

The standard library is enough; the workflow is parsed as YAML if PyYAML is installed."""
import contextlib
import itertools
import re
import sys
import types
from pathlib import Path

import script

RECIPE, WORKFLOW = "docs/packaging/spack/package.py", ".github/workflows/ci.yml"
DIRECTIVES = ("license", "depends_on", "conflicts", "generator", "maintainers")
ROOT = Path(__file__).resolve().parents[2]


class Spec:
    """A concrete specification, as far as the recipe uses it."""

    kokkos_cxx = "compiler of Kokkos"

    def __init__(self, enabled):
        self.enabled = enabled

    def satisfies(self, words):
        return words.startswith("+") and words[1:] in self.enabled


class Package:
    """CMakePackage, as far as a recipe uses it."""

    def __init__(self, enabled, run_tests):
        self.spec, self.run_tests = Spec(enabled), run_tests

    def __getitem__(self, name):
        return self.spec

    def define(self, name, value):
        return f"-D{name}={value}"

    def define_from_variant(self, name, variant):
        if variant not in self.variants:
            raise KeyError(f"the recipe has no variant '{variant}'")
        return self.define(name, variant in self.spec.enabled)


def stand_ins(recorded):
    """Modules by the names that a recipe imports."""
    package, cmake, cuda = (types.ModuleType(n) for n in ("spack.package", "cmake", "cuda"))
    for name in DIRECTIVES:
        setattr(package, name, lambda *words, **more: None)
    package.version = lambda number, **more: recorded["versions"].append(number)
    package.variant = lambda name, **more: recorded["variants"].append(name)
    package.when = package.default_args = lambda *words, **more: contextlib.nullcontext()
    package.__all__ = [n for n in vars(package) if not n.startswith("_")]
    cmake.CMakePackage = type("CMakePackage", (Package,), {"variants": recorded["variants"]})
    cuda.CudaPackage = type("CudaPackage", (), {"cuda_arch_values": ("80", "90")})
    parents = {n: types.ModuleType(n) for n in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems")}
    systems = "spack_repo.builtin.build_systems"
    return {**parents, "spack.package": package, f"{systems}.cmake": cmake, f"{systems}.cuda": cuda}


def options_of_cmake(root):
    """Options and cache variables of Karpos, and of CMake what recipes set."""
    text = "".join(f.read_text(encoding="utf-8") for f in [root / "CMakeLists.txt", *sorted((root / "lib/cmake").glob("*.cmake"))])
    return {"CMAKE_CXX_COMPILER", *re.findall(r"(?:option\(|set\()\s*(KARPOS_\w+)\s+(?=[^)]*(?:\"|CACHE))", text)}


def problems_of_recipe(text, root):
    """What is wrong with the recipe, a sentence each."""
    recorded = {"versions": [], "variants": ["cuda"]}
    modules = stand_ins(recorded)
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        names = {}
        exec(compile(text, RECIPE, "exec"), names)  # pylint: disable=exec-used
        recipe = names["Karpos"]
        defined = set()
        for enabled in itertools.chain.from_iterable(itertools.combinations(recorded["variants"], n) for n in (0, 1, 2)):
            for tests in (False, True):
                defined |= {re.match(r"-D(\w+)=", word)[1] for word in recipe(set(enabled), tests).cmake_args()}
    except Exception as error:  # pylint: disable=broad-except
        return [f"the recipe does not run: {error!r}"]
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    version = re.search(r"project\(\s*karpos\s+VERSION\s+([\d.]+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    wrong = [f"CMake knows no {name}" for name in sorted(defined - options_of_cmake(root))]
    return wrong + ([] if version in recorded["versions"] else [f"the recipe has no version {version}"])


def problems_of_workflow(text, root):
    """What is wrong with the workflow, a sentence each."""
    called = set(re.findall(r"(?<![\w/.])(\.ci/\w+)", "\n".join(line.partition("#")[0] for line in text.splitlines())))
    wrong = [] if ".ci/run" in called else ["the workflow does not call .ci/run"]
    for script in sorted(called):
        if not (root / script).is_file() or not (root / script).stat().st_mode & 0o100:
            wrong.append(f"the workflow calls {script}, which cannot be run")
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("SKIP: no PyYAML, so that the workflow has been read as lines only")
        return wrong
    try:
        steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        return [*wrong, f"the workflow is none: {error!r}"]
    return wrong + [f"a step does nothing: {step}" for step in steps if ("run" in step) == ("uses" in step)]


def self_test():
    recipe, workflow = ((ROOT / f).read_text(encoding="utf-8") for f in (RECIPE, WORKFLOW))
    planted = [(problems_of_recipe, recipe, 'version("0', 'version("9'), (problems_of_recipe, recipe, "KARPOS_CONTRACTS", "KARPOS_CONTRACT"),
               (problems_of_recipe, recipe, '"KARPOS_ENABLE_PERF", "driver"', '"KARPOS_ENABLE_PERF", "perf"'),
               (problems_of_recipe, recipe, "def cmake_args(self):", "def cmake_args(self)"),
               (problems_of_workflow, workflow, "else .ci/run;", "else true;"), (problems_of_workflow, workflow, "then .ci/full;", "then .ci/all;")]
    failures = 0
    for check, text, old, new in planted:
        found = check(text.replace(old, new, 1), ROOT)
        if text.count(old) == 0 or len(found) != 1:
            failures += 1
            print(f"{new!r} for {old!r}: {found}")
    print(f"{failures} planted mistakes were not found" if failures else "every planted mistake is found")
    return failures


def find(words):
    if len(words) != 1:
        return None
    root = Path(words[0])
    return problems_of_recipe((root / RECIPE).read_text(encoding="utf-8"), root) + problems_of_workflow((root / WORKFLOW).read_text(encoding="utf-8"), root)


if __name__ == "__main__":
    script.main(__doc__, self_test, find, "problems of packaging")
