#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The house rules that a compiler cannot see.

    rules.py ROOT          checks the tree below ROOT; prints each violation, exits 1 if there is one
    rules.py --self-test   plants a violation of every rule and checks that exactly this rule reports it
"""
import re
import tempfile
from pathlib import Path

import script

LAYERS = ["lib", "backends", "algorithms", "compiled"]  # an arrow may point to the left only
FOLDERS = LAYERS + ["tests", "perf", "docs", ".ci"]
LICENSED = {".hpp", ".cpp", ".in", ".cmake", ".py", ".sh"}
LONGEST_PUBLIC_HEADER = 320  # lines of code, without comments
LONGEST_DETAIL = 30  # lines of code of a public header in a namespace detail

# Where a machine may show: intrinsics and architecture macros of the device, and those of the host.
DEVICE_FILES = {f"backends/karpos/device/native/{name}.hpp" for name in ("cuda", "cuda_program", "cuda_peers", "step_function")}
MACHINE_FILES = DEVICE_FILES | {f"backends/karpos/device/native/{name}.hpp" for name in ("host", "simd")} | {
    "backends/karpos/device/atomics.hpp"}
# Where a vendor may be named: its native part and library, and the files that choose them.
VENDOR_FILES = DEVICE_FILES | {f"backends/karpos/device/native/{name}.hpp" for name in ("native", "collectives", "nccl", "energy", "nvml")}

DEVICE_WORDS = re.compile(
    r"\b(__CUDA\w*__|__NVCC__|__HIP\w*__|__CUDACC\w*|__SYCL\w*"
    r"|__(?:ballot|shfl|any|all|match|activemask|syncwarp|syncthreads|reduce)\w*|__ldg|__ldcg|__popcll?|__ffsll?|__clzll?"
    r"|threadIdx|blockIdx|blockDim|__shared__|__global__|__device__)\b")
HOST_WORDS = re.compile(
    r"\b(__x86_64__|__i386__|__aarch64__|__ARM\w*|__AVX\w*|__SSE\w*|__BMI\w*|_mm\d*_\w+|__builtin_ia32\w*"
    r"|(?:__)?asm(?:__)?\s*(?:volatile|__volatile__)?\s*\()")
VENDOR_IF = re.compile(r"^\s*#\s*(?:el)?if.*KOKKOS_(?:ENABLE|ARCH)_\w+")
VENDOR_NAME = re.compile(r"\b(?:Kokkos::(?:Experimental::)?(?:Cuda|HIP|SYCL)\w*|(?:cuda|hip|sycl)\w*::|(?:cuda|hip|nccl)[A-Z]\w*)")
# Where MPI may show.
MPI_FOLDERS = ("algorithms/karpos/distributed/", "algorithms/karpos/detail/distributed/")
MPI_WORDS = re.compile(r'\bMPIX?_\w+|[<"]mpi(?:-ext)?\.h[>"]')
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
# A list whose items have run together, or a line of a comment without a word, as when lines are filled anew.
JOINED_LIST = re.compile(r"^\s*//.*[:;] - [a-zA-Z]|^\s*///? +%$")
# What no paragraph of comments begins with: the reader does not know yet what is meant.
RIDDLE = re.compile(r"\s*//[/!]?<? (The same|Of|Those|Who|One of|As \w+,|Where|What)(?!\w)")
BEFORE_PARAGRAPH = re.compile(r"(?!\s*//)|\s*//+\s*(\\file|SPDX-License-Identifier:.*)?$")
PUBLIC_HEADER = re.compile(r"algorithms/karpos/(?:(?:compiled|distributed)/)?[^/]+\.hpp")
DETAIL = re.compile(r"namespace (?:karpos::)?(?:(?:compiled|distributed)::)?detail\b[\w:]* \{$")
WINGS = ("common", "tables", "relational", "graph", "ranking", "distributed")  # of algorithms/karpos/detail
# Files below detail/ include few public headers that are algorithms themselves. detail/distributed lies above, and may.
MOST_UPWARD_INCLUDES = 3
LONGEST_COMMENT = 100  # columns
WIDEST_CODE = 100  # columns of a code block of a document: what a page of the site shows
# The loop of a program (device/program.hpp) that its kernel may call instead of inlining it.
CALLED_LOOP = re.compile(r"^\s*KOKKOS_(?:INLINE_)?FUNCTION void operator\(\)\(Grid& ")
# Private words that have become the field's (docs/glossary.md), as words of names, and of comments.
RETIRED_NAME = re.compile(r"(?<![A-Za-z])(rooms?|roomier|calm|uneven|holders?|looks|carried|carrying)(?![A-Za-z])")
RETIRED_WORD = re.compile(r"\b(rooms?|roomier|whoever)\b")
GLOSSARY_TERM = re.compile(r"\| ([^|]+) \|")
# Enumerations of options, which calls check (contract.hpp), and those that are no options.
OPTIONS = re.compile(r"(?:lib/karpos|algorithms/karpos(?:/distributed)?)/[^/]+\.hpp")
ENUMERATION = re.compile(r"^\s*enum class (\w+)")
NO_OPTIONS = {"hashed", "map_op", "outcome"}
# Exceptions that the library throws, classes of its own among them, and outcomes of calls in kernels: docs/errors.md explains them.
ERRORS = "docs/errors.md"
THROWN = re.compile(r"\b(?:throw\s+|reject<|class Exception = )((?:\w+::)*\w+)[(>]|^class (\w+_error) : public std::", re.M)
OUTCOME = re.compile(r"enum class outcome[^{]*\{(.*?)\}", re.S)
PERSONAL_PATH = re.compile(r"(?<![\w.$}])/(?:root|work|home)/\w+")


def code_of(text):
    """The lines of C++ without comments and without the insides of strings, numbered as in the file."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)

    def blank(match):
        found = match.group()
        if found.startswith('"'):
            before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
            return found if re.match(r"\s*#\s*include\s*$", before) else '""'
        return "\n" * found.count("\n")

    return token.sub(blank, text).splitlines()


def layer_of(root, include):
    """The layer that holds the header karpos/..., or None."""
    return next((layer for layer in LAYERS if (root / layer / include).exists()), None)


def violations(root):
    """Yields (rule, file, line, sentence) for every violation below root."""
    root = Path(root)
    files = [f for folder in FOLDERS for f in sorted((root / folder).rglob("*")) if f.is_file()]
    files += sorted(f for f in root.iterdir() if f.is_file() and f.name != ".git")  # a file in a linked work tree
    yield from upward_includes(root)
    yield from unexplained_errors(root)
    for file in files:
        name = file.relative_to(root).as_posix()
        if "__pycache__" in name:
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        lines = text.splitlines()

        for number, line in enumerate(lines, 1):
            if name != "tests/rules/rules.py" and PERSONAL_PATH.search(line):
                yield "personal-path", name, number, "names a folder of somebody's machine"

        if file.suffix == ".md" and not name.startswith("perf/"):
            yield from wide_code(name, lines)
        if name == "docs/glossary.md":
            yield from repeated_terms(name, lines)
        if file.suffix in LICENSED or file.name in ("CMakeLists.txt", "bootstrap", "run", "full"):
            if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
                yield "licence", name, 1, "has no line 'SPDX-License-Identifier: Apache-2.0' at its top"
        if file.suffix not in (".hpp", ".cpp"):
            continue

        layer = name.split("/")[0]
        code = code_of(text)
        if file.suffix == ".hpp" and "#pragma once" not in code:
            yield "pragma-once", name, 1, "is a header without #pragma once"
        if PUBLIC_HEADER.fullmatch(name):
            if sum(map(bool, map(str.strip, code))) > LONGEST_PUBLIC_HEADER:
                yield "length", name, len(lines), f"has more than {LONGEST_PUBLIC_HEADER} lines of code: move details to detail/"
            yield from long_details(name, code)
        if OPTIONS.fullmatch(name):
            yield from undescribed_enumerations(name, code)
        if name.startswith("algorithms/karpos/detail/") and name.split("/")[3] not in WINGS:
            yield "wing", name, 1, f"lies in no wing of detail/: {', '.join(WINGS)}"
        yield from unreadable_comments(name, lines)
        for number, line in enumerate(code, 1):
            if name not in DEVICE_FILES and (found := DEVICE_WORDS.search(line)):
                yield "device-word", name, number, f"'{found[0]}' belongs into {', '.join(sorted(DEVICE_FILES))}"
            if name not in MACHINE_FILES and (found := HOST_WORDS.search(line)):
                yield "host-word", name, number, f"'{found[0]}' belongs into {', '.join(sorted(MACHINE_FILES))}"
            if layer in LAYERS and name not in VENDOR_FILES and VENDOR_IF.search(line):
                yield "vendor-if", name, number, "asks for a vendor: choose by execution space, in native/native.hpp"
            if layer in LAYERS and name not in VENDOR_FILES and (found := VENDOR_NAME.search(line)):
                yield "vendor-name", name, number, f"'{found[0]}' belongs into {', '.join(sorted(VENDOR_FILES))}"
            if layer in LAYERS and not name.startswith(MPI_FOLDERS) and (found := MPI_WORDS.search(line)):
                yield "mpi", name, number, f"'{found[0]}' belongs into {', '.join(MPI_FOLDERS)}"
            if found := RETIRED_NAME.search(line):
                yield "retired", name, number, f"'{found[0]}' is no word of the field: see docs/glossary.md"
            if layer in LAYERS and CALLED_LOOP.search(line):
                yield "called-loop", name, number, "is the loop of a program: make it a KOKKOS_FORCEINLINE_FUNCTION (device/program.hpp)"
            if "Kokkos::Impl::" in line:
                yield "kokkos-impl", name, number, "uses Kokkos::Impl, which changes without notice"
            if "Kokkos::atomic_load" in line:
                yield "atomic-load", name, number, "Kokkos::atomic_load is a compare-and-swap loop: use karpos::device::load_relaxed"
            include = INCLUDE.match(line)
            if include and layer in LAYERS:
                yield from wrong_arrow(root, name, number, layer, include[1])
            if include and name.startswith("perf/measure/") and include[1].startswith(("perf/tool/", "CLI/")):
                yield "measure", name, number, f"includes '{include[1]}': measuring code reads neither users' files nor options"


def unreadable_comments(name, lines):
    for number, (before, line) in enumerate(zip([""] + lines, lines), 1):
        if "//" in line and len(line) > LONGEST_COMMENT:
            yield "comment-length", name, number, f"has a comment beyond column {LONGEST_COMMENT}"
        if "//" in line and (found := RETIRED_WORD.search(line[line.index("//"):])):
            yield "retired", name, number, f"says '{found[0]}', which is no word of the field: see docs/glossary.md"
        if JOINED_LIST.search(line):
            yield "comment-list", name, number, "has an item of a list within a line: begin a line with '- '"
        if BEFORE_PARAGRAPH.match(before) and (found := RIDDLE.match(line)):
            yield "comment-begin", name, number, f"begins with '{found[1]}': say what it is, or what the function does"


def long_details(name, code):
    """A public header declares: what it consists of belongs into detail/."""
    depth, lines = 0, 0
    for line in code:
        if depth > 0 or DETAIL.match(line):
            depth += line.count("{") - line.count("}")
            lines += bool(line.strip()) and depth > 0 and not DETAIL.match(line)
    if lines > LONGEST_DETAIL:
        yield "detail", name, 1, f"has {lines} lines of code in a namespace detail: move them to detail/"


def undescribed_enumerations(name, code):
    """Every call refuses numbers that are no enumerators of its options: require_enumerators asks enumeration_of."""
    for number, line in enumerate(code, 1):
        found = ENUMERATION.match(line)
        if found and found[1] not in NO_OPTIONS and not any(f"enumeration_of<{found[1]}>" in other for other in code):
            yield "enumeration", name, number, f"specialise enumeration_of<{found[1]}> beside it, and check it by require_enumerators"


def wide_code(name, lines):
    """A page of the site shows WIDEST_CODE columns of code."""
    is_code = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif is_code and len(line) > WIDEST_CODE:
            yield "code-length", name, number, f"has more than {WIDEST_CODE} columns of code"


def repeated_terms(name, lines):
    """A word has one meaning: no two rows of the glossary explain it."""
    seen = set()
    for number, line in enumerate(lines, 1):
        term = GLOSSARY_TERM.match(line)
        if not term or term[1] == "term":
            continue
        if term[1] in seen:
            yield "glossary", name, number, f"explains '{term[1]}' once more: say of what it is"
        seen.add(term[1])


def wrong_arrow(root, name, number, layer, include):
    if re.search(r"(^|/)(tests|perf|doctest|benchmark)/", include):
        yield "arrow", name, number, f"includes '{include}': the library knows neither tests nor measurements"
    elif include.startswith("karpos/") and include != "karpos/version.hpp":
        target = layer_of(root, include)
        if target is None:
            yield "arrow", name, number, f"includes '{include}', which no layer has"
        elif LAYERS.index(target) > LAYERS.index(layer):
            yield "arrow", name, number, f"includes '{include}' of {target}/: arrows point from algorithms to backends to lib"


def unexplained_errors(root):
    """What the headers throw and docs/errors.md does not explain, and what it explains and they do not throw."""
    page = root / ERRORS
    if not page.exists():
        if (root / "docs").exists():
            yield "errors", ERRORS, 1, "is missing"
        return
    code = "\n".join("\n".join(code_of(f.read_text(encoding="utf-8"))) for layer in ("lib", "backends", "algorithms")
                     for f in sorted((root / layer).rglob("*.hpp")))
    thrown = {(m[1] or m[2]).split("::")[-1] for m in THROWN.finditer(code)} - {"Exception"}
    outcomes = {w for m in OUTCOME.finditer(code) for w in re.findall(r"\w+", m[1])}
    text = page.read_text(encoding="utf-8")
    for name in sorted(thrown - set(re.findall(r"^\| `(?:\w+::)*(\w+)` \|", text, re.M))):
        yield "errors", ERRORS, 1, f"does not explain {name}, which is thrown"
    for name in sorted(outcomes - set(re.findall(r"^\| `outcome::(\w+)` \|", text, re.M))):
        yield "errors", ERRORS, 1, f"does not explain outcome::{name}"
    for number, line in enumerate(text.splitlines(), 1):
        for name in re.findall(r"\b\w+_(?:error|argument)\b", line):
            if name not in thrown and name != "karpos_last_error":
                yield "errors", ERRORS, number, f"explains {name}, which is not thrown"
        for name in re.findall(r"`outcome::(\w+)`", line):
            if name not in outcomes:
                yield "errors", ERRORS, number, f"explains outcome::{name}, which is none"


def upward_includes(root):
    """Includes from detail/ to public headers that are no leaves, if there are too many.

    A leaf includes nothing of detail/ but common/, nor does a public header that it includes. A header and a file that
    include each other are a class and its bodies.
    """
    folder = root / "algorithms/karpos"
    detail = folder / "detail"
    lines = {}  # of the includes of each header: {included header: number of the line}
    for file in sorted(folder.rglob("*.hpp")):
        found = map(INCLUDE.match, file.read_text(encoding="utf-8").splitlines())
        lines[file] = {folder.parent / match[1]: number for number, match in enumerate(found, 1) if match}

    def is_leaf(header):
        return all(is_leaf(other) if other.parent == folder else detail / "common" in other.parents
                   for other in lines[header] if other in lines)

    upward = [(file, header) for file in lines for header in lines[file]
              if detail in file.parents and detail / "distributed" not in file.parents and header.parent == folder
              and header in lines and file not in lines[header] and not is_leaf(header)]
    if len(upward) > MOST_UPWARD_INCLUDES:
        for file, header in upward:
            yield ("upward", file.relative_to(root).as_posix(), lines[file][header], f"includes karpos/{header.name}, which "
                   f"is no leaf: detail/ has {len(upward)} such includes, more than {MOST_UPWARD_INCLUDES}")


HEAD = "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n"
CLEAN = {
    "lib/karpos/low.hpp": HEAD + "// __CUDA_ARCH__, Kokkos::Impl::x and asm() may be talked about\n"
                                 '#include <karpos/version.hpp>\nchar const* s = "__CUDA_ARCH__";\n',
    "backends/karpos/device/native/cuda.hpp": HEAD + '#if defined(__CUDACC__)\nint v = __ballot_sync(1, 2);\n#endif\n',
    "backends/karpos/device/native/host.hpp": HEAD + '#if defined(__x86_64__)\ninline void f() { asm volatile(""); }\n#endif\n',
    "backends/karpos/device/tile.hpp": HEAD + '#include "karpos/low.hpp"\n',
    "backends/karpos/device/native/native.hpp": HEAD + '#ifdef KOKKOS_ENABLE_CUDA\nnamespace native_device = cuda;\n#endif\n',
    "algorithms/karpos/map.hpp": HEAD + '#include "karpos/device/tile.hpp"\n#include <karpos/low.hpp>\n',
    "lib/karpos/order.hpp": HEAD + "enum class outcome { done };\nenum class order { rising };\n"
                                   "template <>\ninline constexpr enumeration<order> enumeration_of<order> = {};\n",
    "algorithms/karpos/distributed/plan.hpp": HEAD + "#include <mpi.h>\ninline int f() { return MPI_SUCCESS; }\n",
    "algorithms/karpos/detail/common/long.hpp": HEAD + "int f();\n" * (LONGEST_PUBLIC_HEADER + 1),
    "lib/karpos/outcome.hpp": HEAD + "enum class outcome : int { done };\nclass hash_error : public std::runtime_error {};\n"
                                     "inline void f() { reject<std::length_error>(1); }\n",
    ERRORS: "| `outcome::done` | ends |\n| `std::length_error` | long |\n| `karpos::hash_error` | hash |\n",
    "algorithms/karpos/long.hpp": HEAD + "int f();\n\n// says what f does\n" * (LONGEST_PUBLIC_HEADER - 1),
    "algorithms/karpos/detail/common/short.hpp": HEAD + "/// Returns n.\n/// The same without a tile.\nint n(); // " + "x" * 88 + "\n",
    "algorithms/karpos/search.hpp": HEAD + '#include "karpos/detail/graph/run.hpp"\n#include "karpos/map.hpp"\n',
    "algorithms/karpos/detail/graph/run.hpp": HEAD + '#include "karpos/search.hpp"\n#include "karpos/map.hpp"\n',
    "algorithms/karpos/detail/distributed/search.hpp": HEAD + '#include "karpos/search.hpp"\n',
    **{f"algorithms/karpos/detail/graph/step_{n}.hpp": HEAD + '#include "karpos/search.hpp"\n'
       for n in range(MOST_UPWARD_INCLUDES)},
    "perf/measure/run.hpp": HEAD + "#include <karpos/map.hpp>\n",
    "perf/tool/read_table.hpp": HEAD + '#include "perf/measure/run.hpp"\n#include <CLI/CLI.hpp>\n',
    "tests/unit/map.cpp": HEAD.splitlines()[0] + "\n#include <karpos/map.hpp>\n",
}
PLANTED = [
    ("device-word", "algorithms/karpos/map.hpp", "#if defined(__CUDA_ARCH__)\n#endif\n"),
    ("device-word", "lib/karpos/low.hpp", "int f() { return __shfl_sync(~0u, 1, 0); }\n"),
    ("device-word", "backends/karpos/device/native/host.hpp", "#ifdef __NVCC__\n#endif\n"),
    ("device-word", "tests/unit/map.cpp", "#ifdef __HIP_DEVICE_COMPILE__\n#endif\n"),
    ("host-word", "backends/karpos/device/tile.hpp", 'inline void f() { asm("nop"); }\n'),
    ("host-word", "algorithms/karpos/map.hpp", "#ifdef __AVX2__\n#endif\n"),
    ("vendor-if", "algorithms/karpos/map.hpp", "#ifdef KOKKOS_ENABLE_CUDA\n#endif\n"),
    ("vendor-if", "lib/karpos/low.hpp", "#if defined(KOKKOS_ENABLE_HIP)\n#endif\n"),
    ("vendor-if", "backends/karpos/device/tile.hpp", "#if defined(KOKKOS_ENABLE_CUDA)\n#endif\n"),
    ("vendor-name", "backends/karpos/device/tile.hpp", "inline void f() { cuda::sleep(1); }\n"),
    ("vendor-name", "backends/karpos/device/tile.hpp", "using space = Kokkos::Cuda;\n"),
    ("vendor-name", "backends/karpos/device/native/host.hpp", "inline void f() { hipDeviceSynchronize(); }\n"),
    ("vendor-name", "algorithms/karpos/map.hpp", "using space = Kokkos::HIP;\n"),
    ("vendor-name", "algorithms/karpos/map.hpp", "void f() { ncclGroupStart(); }\n"),
    ("kokkos-impl", "tests/unit/map.cpp", "using x = Kokkos::Impl::SharedAllocationTracker;\n"),
    ("atomic-load", "backends/karpos/device/tile.hpp", "int f(int* p) { return Kokkos::atomic_load(p); }\n"),
    ("called-loop", "algorithms/karpos/map.hpp", "  KOKKOS_FUNCTION void operator()(Grid& grid, shared& p) const;\n"),
    ("arrow", "lib/karpos/low.hpp", '#include "karpos/device/tile.hpp"\n'),
    ("arrow", "backends/karpos/device/tile.hpp", "#include <karpos/map.hpp>\n"),
    ("arrow", "algorithms/karpos/map.hpp", '#include "perf/timer.hpp"\n'),
    ("arrow", "algorithms/karpos/map.hpp", '#include "../../tests/support/oracle.hpp"\n'),
    ("arrow", "algorithms/karpos/map.hpp", "#include <karpos/nowhere.hpp>\n"),
    ("measure", "perf/measure/run.hpp", '#include "perf/tool/read_table.hpp"\n'),
    ("measure", "perf/measure/run.hpp", "#include <CLI/CLI.hpp>\n"),
    ("length", "algorithms/karpos/map.hpp", "int f();\n" * LONGEST_PUBLIC_HEADER),
    ("length", "algorithms/karpos/distributed/plan.hpp", "int f();\n" * LONGEST_PUBLIC_HEADER),
    ("comment-length", "algorithms/karpos/detail/common/long.hpp", "int g();  // " + "x" * 89 + "\n"),
    ("comment-length", "tests/unit/map.cpp", "int g();  // " + "x" * 89 + "\n"),
    ("code-length", "docs/new.md", "```cpp\n" + "x" * 101 + "\n```\n"),
    ("comment-length", "lib/karpos/low.hpp", "/// Returns " + "x" * 89 + "\n"),
    ("comment-list", "lib/karpos/low.hpp", "/// Throws: - if n is 0; - if n is 1.\n"),
    ("comment-list", "lib/karpos/low.hpp", "///   %\n"),
    ("comment-begin", "backends/karpos/device/tile.hpp", "\n/// The same, for two.\nint g();\n"),
    ("comment-begin", "algorithms/karpos/map.hpp", "struct s {\n  // Of a row.\n  int n;\n};\n"),
    ("comment-begin", "tests/unit/map.cpp", "/// \\file\n/// Where a map is stored.\n"),
    ("comment-begin", "lib/karpos/low.hpp", "/// Returns n.\n///\n/// What it is.\nint g();\n"),
    ("retired", "algorithms/karpos/map.hpp", "inline int rows_in_room() { return 1; }\n"),
    ("retired", "tests/unit/map.cpp", "int g();  // of whoever comes first\n"),
    ("glossary", "docs/glossary.md", "| chunk | some rows | - |\n| tile | a warp | - |\n| chunk | an item | - |\n"),
    ("errors", "algorithms/karpos/map.hpp", "inline void g() { throw std::logic_error(1); }\n"),
    ("errors", "algorithms/karpos/map.hpp", "class key_error : public std::runtime_error {};\n"),
    ("errors", "algorithms/karpos/map.hpp", "enum class outcome { found };\n"),
    ("errors", ERRORS, "See `std::range_error`.\n"),
    ("errors", ERRORS, "See `outcome::lost`.\n"),
    ("detail", "algorithms/karpos/map.hpp", "namespace karpos {\nnamespace detail {\n" + "int f();\n" * (LONGEST_DETAIL + 1) + "}\n}\n"),
    ("wing", "algorithms/karpos/detail/new.hpp", HEAD),
    ("upward", "algorithms/karpos/detail/graph/step.hpp", HEAD + '#include "karpos/search.hpp"\n'),
    ("upward", "algorithms/karpos/map.hpp", '#include "karpos/detail/graph/step_0.hpp"\n'),
    ("enumeration", "algorithms/karpos/map.hpp", "enum class order { rising, falling };\n"),
    ("mpi", "algorithms/karpos/map.hpp", "#include <mpi.h>\n"),
    ("mpi", "lib/karpos/low.hpp", "inline int f() { return MPI_SUCCESS; }\n"),
    ("pragma-once", "lib/karpos/new.hpp", "// SPDX-License-Identifier: Apache-2.0\n// #pragma once\n"),
    ("licence", "lib/karpos/new.hpp", "#pragma once\n"),
    ("licence", "lib/cmake/new.cmake", "set(x 1)\n"),
    ("personal-path", "docs/new.md", "Look into /ro" "ot/somewhere.\n"),
]


def planted(extra_file=None, extra_text=""):
    """The rules that report something in the clean tree with one text added."""
    with tempfile.TemporaryDirectory() as root:
        tree = dict(CLEAN)
        if extra_file:
            tree[extra_file] = tree.get(extra_file, "") + extra_text
        for name, text in tree.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return {rule for rule, *_ in violations(root)}


def self_test():
    failures = [] if planted() == set() else [f"a clean tree is reported: {planted()}"]
    for rule, file, text in PLANTED:
        reported = planted(file, text)
        if reported != {rule}:
            failures.append(f"{rule}: planted {text!r} in {file}, reported {sorted(reported)}")
    print("\n".join(failures) or f"{len(PLANTED)} planted violations of {len({p[0] for p in PLANTED})} rules were caught")
    return failures


def find(words):
    return [f"{file}:{line}: [{rule}] {sentence}" for rule, file, line, sentence in violations(words[0])] if len(words) == 1 else None


if __name__ == "__main__":
    script.main(__doc__, self_test, find, "violations")
