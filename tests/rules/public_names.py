#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The names that public headers put into namespace karpos, compared with a recorded list.

    public_names.py ROOT            compares with tests/rules/public_names.txt; exits 1 if a name came or went
    public_names.py ROOT --update   writes that list
    public_names.py --self-test     parses planted declarations of every kind

Public headers are those of lib/karpos, algorithms/karpos and algorithms/karpos/distributed; their includes from karpos/ count, wherever they lie.
karpos::detail and karpos::device are not public. The parser knows declarations at namespace scope and skips everything
else by its brackets; preprocessor conditions are ignored, both branches count.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from rules import INCLUDE, LAYERS, code_of, layer_of  # noqa: E402

LIST = "tests/rules/public_names.txt"
PRIVATE = {"detail", "device"}
TOKEN = re.compile(r'[A-Za-z_]\w*|\d[\w.\']*|""|\'(?:\\.|[^\'])\'|::|->|&&|\|\||<<|<=|>=|==|!=|\[\[|\]\]|\S')
OPEN = {"(": ")", "{": "}", "[": "]", "[[": "]]"}
# Words with a bracket after them that is no parameter list.
BRACKETED = {"alignas", "decltype", "noexcept", "explicit", "__attribute__"}
OPERATORS = {"<", ">", "=", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "==", "!=", "<=", ">=", "<<", "&&", "||", "->", ","}


def reachable_headers(root):
    """The public headers and what they include from karpos/."""
    todo = [f for folder in ("lib/karpos", "algorithms/karpos", "algorithms/karpos/distributed")
            for f in sorted((root / folder).glob("*.hpp"))]
    seen = []
    while todo:
        file = todo.pop()
        if file in seen:
            continue
        seen.append(file)
        for line in code_of(file.read_text(encoding="utf-8")):
            include = INCLUDE.match(line)
            if include and (layer := layer_of(root, include[1])) in LAYERS:
                todo.append(root / layer / include[1])
    return sorted(seen)


class Parser:
    """Declarations of one file: names is a list of (namespace, name, kind, line)."""

    def __init__(self, text):
        lines = code_of(text)
        self.tokens = []
        continued = False
        for number, line in enumerate(lines, 1):
            directive = continued or line.lstrip().startswith("#")
            continued = directive and line.rstrip().endswith("\\")
            if not directive:
                self.tokens += [(t, number) for t in TOKEN.findall(line)]
        self.at = 0
        self.names = []

    def peek(self, ahead=0):
        i = self.at + ahead
        return self.tokens[i][0] if i < len(self.tokens) else ""

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1][0] if self.at <= len(self.tokens) else ""

    def line(self):
        return self.tokens[min(self.at, len(self.tokens) - 1)][1]

    def is_word(self, ahead=0):
        return re.match(r"[A-Za-z_]", self.peek(ahead)) is not None

    def skip_brackets(self):
        """From an opening bracket to behind its closing one."""
        closing = [OPEN[self.take()]]
        while closing and self.peek():
            token = self.take()
            if token in OPEN:
                closing.append(OPEN[token])
            elif token == closing[-1]:
                closing.pop()

    def skip_angles(self):
        """From < to behind its >. Comparisons inside stand in parentheses."""
        depth = 0
        while self.peek():
            if self.peek() in OPEN:
                self.skip_brackets()
                continue
            token = self.take()
            depth += (token == "<") - (token == ">")
            if token == "<<":
                depth += 2
            if depth == 0:
                return

    def skip_to_end(self):
        """Behind the ; or the body that ends a declaration. An initialiser may hold braces, a body ends it."""
        initialiser = False
        while self.peek():
            if self.peek() == ";":
                self.take()
                return
            if self.peek() == "{":
                self.skip_brackets()
                if self.peek() == ";":
                    self.take()
                    return
                if not initialiser:
                    return
            elif self.peek() in OPEN:
                self.skip_brackets()
            elif self.peek() == "}":
                return
            else:
                initialiser |= self.take() == "="

    def skip_requires(self):
        """Behind a requires clause, which stands before a declaration."""
        while True:
            if self.peek() == "requires":  # a requires expression
                self.take()
                if self.peek() == "(":
                    self.skip_brackets()
                self.skip_brackets()
            elif self.peek() == "(":
                self.skip_brackets()
            else:
                self.take()
                while self.peek() in ("::", "<"):
                    if self.peek() == "<":
                        self.skip_angles()
                    else:
                        self.take()
                        self.take()
            if self.peek() not in ("&&", "||"):
                return
            self.take()

    def add(self, namespace, name, kind):
        self.names.append((namespace, name, kind, self.line()))

    def scope(self, namespace=()):
        """The declarations up to the } that ends a namespace, or the end of the file."""
        while self.peek() and self.peek() != "}":
            self.declaration(namespace)
        self.take()

    def declaration(self, namespace):
        while self.peek() == "[[":
            self.skip_brackets()
        word = self.peek()
        if word == ";":
            self.take()
        elif word == "namespace" or (word == "inline" and self.peek(1) == "namespace"):
            self.namespace(namespace, inline=word == "inline")
        elif word == "template":
            self.take()
            if self.peek() == "<":
                self.skip_angles()
                if self.peek() == "requires":
                    self.take()
                    self.skip_requires()
                self.declaration(namespace)
            else:
                self.skip_to_end()  # an explicit instantiation
        elif word == "extern" and self.peek(1) == "template" or word in ("static_assert", "friend"):
            self.skip_to_end()
        elif word == "using":
            self.using(namespace)
        elif word == "concept":
            self.take()
            self.add(namespace, self.take(), "concept")
            self.skip_to_end()
        elif word == "enum":
            self.enumeration(namespace)
        elif word in ("class", "struct", "union"):
            self.type(namespace)
        else:
            self.function_or_variable(namespace)

    def namespace(self, namespace, inline):
        if inline:
            self.take()
        self.take()
        path = ()
        while self.peek() not in ("{", "=", ""):
            word = self.take()
            path += (word,) if re.match(r"\w", word) and word != "inline" else ()
        if self.peek() == "=":
            self.add(namespace, path[-1], "namespace")
            self.skip_to_end()
            return
        self.take()
        if not path:  # without a name: another unit does not see it
            path = ("",)
        self.scope(namespace if inline else namespace + path)

    def using(self, namespace):
        self.take()
        if self.peek() != "namespace":
            name = self.take()
            while self.peek() == "::":
                self.take()
                name = self.take()
            self.add(namespace, name, "type" if self.peek() == "=" else "using")
        self.skip_to_end()

    def enumeration(self, namespace):
        self.take()
        scoped = self.peek() in ("class", "struct")
        if scoped:
            self.take()
        if self.is_word():
            self.add(namespace, self.take(), "enum")
        while self.peek() not in ("{", ";", ""):
            self.take()
        if self.peek() == "{" and not scoped:
            self.take()
            while self.peek() not in ("}", ""):
                self.add(namespace, self.take(), "enumerator")
                while self.peek() not in (",", "}", ""):
                    if self.peek() in OPEN:
                        self.skip_brackets()
                    else:
                        self.take()
                if self.peek() == ",":
                    self.take()
            self.take()
        self.skip_to_end()

    def type(self, namespace):
        self.take()
        name = ""
        while self.is_word() or self.peek() in ("[[", "(", "::"):
            if self.peek() in ("[[", "("):
                self.skip_brackets()
            elif self.peek() == "final":
                self.take()
            else:
                name = self.take()
        if name:
            self.add(namespace, name, "type")
        self.skip_to_end()

    def function_or_variable(self, namespace):
        name, qualified, started = "", False, self.at
        while self.peek() not in ("=", ";", "{", "}", ""):
            if self.peek() == "operator":
                qualified = self.at > started and self.tokens[self.at - 1][0] == "::"
                name = self.operator_name()
            elif self.peek() == "<" and name:
                self.skip_angles()
            elif self.peek() == "(":
                macro = name.isupper() and self.is_word_behind_brackets()
                if name and name not in BRACKETED and not macro:
                    break
                self.skip_brackets()
            elif self.peek() in OPEN:
                self.skip_brackets()
            elif self.is_word():
                qualified = self.at > started and self.tokens[self.at - 1][0] == "::"
                name = self.take()
            else:
                self.take()
        if name and not qualified:
            self.add(namespace, name, "function" if self.peek() == "(" else "constant")
        self.skip_to_end()

    def is_word_behind_brackets(self):
        here = self.at
        self.skip_brackets()
        answer = self.is_word()
        self.at = here
        return answer

    def operator_name(self):
        name = self.take()
        if self.peek() in ("(", "["):  # operator() and operator[]
            return name + self.take() + self.take()
        while self.peek() in OPERATORS or self.is_word() or self.peek() == '""':
            name += self.take()
        return name


def public_names(texts):
    """{name: (kind, file, line)} of the (file, text) pairs, names below karpos:: with their inner namespaces."""
    found = {}
    for file, text in texts:
        parser = Parser(text)
        while parser.peek():
            parser.scope()
        for namespace, name, kind, line in parser.names:
            if namespace[:1] == ("karpos",) and not PRIVATE & set(namespace) and "" not in namespace:
                found.setdefault("::".join(namespace[1:] + (name,)), (kind, file, line))
    return found


def names_of_tree(root):
    return public_names((f.relative_to(root).as_posix(), f.read_text(encoding="utf-8")) for f in reachable_headers(root))


def compare(root):
    found = names_of_tree(root)
    file = root / LIST
    recorded = set(file.read_text(encoding="utf-8").split("\n")[1:]) - {""} if file.exists() else set()
    listed = {f"{name} ({kind})": where for name, (kind, *where) in found.items()}
    for entry in sorted(set(listed) - recorded):
        print(f"{listed[entry][0]}:{listed[entry][1]}: karpos::{entry} is new: move it into karpos::detail or "
              "karpos::device, or make it public by public_names.py ROOT --update")
    for entry in sorted(recorded - set(listed)):
        print(f"karpos::{entry} is gone: users may have it; if it is meant to go, public_names.py ROOT --update")
    print(f"{len(found)} public names")
    return 1 if set(listed) ^ recorded else 0


def update(root):
    found = names_of_tree(root)
    lines = [f"{name} ({kind})" for name, (kind, *_) in sorted(found.items())]
    head = "# What public headers put into karpos::, by tests/rules/public_names.py ROOT --update."
    (root / LIST).write_text("\n".join([head] + lines) + "\n", encoding="utf-8")
    print(f"{len(found)} public names are recorded")
    return 0


PLANTED = """
#define IGNORED(x) namespace karpos { int from_a_macro; }
#include <vector>
namespace karpos {
namespace detail { struct hidden { int x; }; inline int hidden_function() { return 1 < 2; } }
namespace device { template <class T> concept hidden_concept = true; }
namespace { int without_namespace; }
class forward;
struct plain { int member; void method() { if (1 > 2) { } } enum inner { red }; };
template <class A, int N = (3 > 2)> class generic final : public std::vector<A> { friend void hidden_friend(generic) {} };
template <class A> class generic<A, 4> {};
template <class A, bool = (sizeof(A) > 4)> inline constexpr bool constant_template = requires(A a) { a.x; };
inline constexpr std::array<int, 2> constant{1, 2};
constexpr int with_lambda = [] { return 3; }();
enum class scoped : unsigned char { a, b };
enum loose { first_of_loose = 1, second_of_loose };
using alias = std::vector<std::pair<int, int>>;
template <class T> using alias_template = typename T::type;
template <class T> concept a_concept = requires(T t) { { t.f() } -> std::same_as<int>; } && true;
template <a_concept T> requires std::is_same_v<T, int> && (sizeof(T) > 2) void constrained(T const& t);
template <class T> auto returns(T const& t) -> decltype(t.x) { return t.x; }
KOKKOS_FUNCTION inline std::vector<int> macro_prefixed(int a, int b = (1 < 2)) noexcept { return {}; }
KOKKOS_DEPRECATED("use another") void macro_with_text();
[[nodiscard]] alignas(8) int attributed(int);
template <class T> void generic<T, 3>::a_member(int) { }
template <class T> auto generic<T, 3>::operator=(generic&&) -> generic& { }
bool operator==(plain const&, plain const&);
generic(int) -> generic<int>;
extern template class generic<int>;
static_assert(sizeof(int) > 2, "text; with } signs");
inline namespace v1 { struct versioned; }
namespace nested { struct in_nested; int nested_function(); }
namespace nested::detail { struct hidden_too; }
}  // namespace karpos
namespace karpos::detail::deep { struct hidden_again; }
namespace karpos { void second_time(); }  /* namespace karpos { void comment(); } */
namespace other { void elsewhere(); }
void global();
"""
EXPECTED = {
    "forward": "type", "plain": "type", "generic": "type", "constant_template": "constant", "constant": "constant",
    "with_lambda": "constant", "scoped": "enum", "loose": "enum", "first_of_loose": "enumerator",
    "second_of_loose": "enumerator", "alias": "type", "alias_template": "type", "a_concept": "concept",
    "constrained": "function", "returns": "function", "macro_prefixed": "function", "macro_with_text": "function",
    "attributed": "function", "operator==": "function", "versioned": "type", "nested::in_nested": "type",
    "nested::nested_function": "function", "second_time": "function",
}


def self_test():
    found = {name: kind for name, (kind, *_) in public_names([("planted.hpp", PLANTED)]).items()}
    wrong = [f"{n}: expected {EXPECTED.get(n)}, found {found.get(n)}"
             for n in sorted(EXPECTED.keys() | found.keys()) if EXPECTED.get(n) != found.get(n)]
    print("\n".join(wrong) or f"{len(EXPECTED)} planted names were found, and no other")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) == 1:
        return compare(Path(arguments[0]).resolve())
    if len(arguments) == 2 and arguments[1] == "--update":
        return update(Path(arguments[0]).resolve())
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
