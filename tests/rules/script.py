# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder do with their words: ROOT reports what is wrong there, --self-test tests the script."""
import sys


def main(doc, self_test, find, what):
    """find(words): lines about what is wrong, or None if the words are wrong. what: their name in the last line. Exits."""
    words = sys.argv[1:]
    if words == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    found = find(words)
    if found is None:
        sys.exit(doc)
    print(*found, f"{len(found)} {what}", sep="\n")
    sys.exit(1 if found else 0)
