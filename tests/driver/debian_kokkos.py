#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs fetch_debian_kokkos.sh with apt sources of many kinds and stubs of what would download: which archives it tries, in which
order, and what it prints if none has the packages.

    debian_kokkos.py SCRIPT
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import checks
from checks import check

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# The stub calls the real apt-get to read sources; a download succeeds if $ARCHIVES has the address.
APT_GET = """if [[ $1 == indextargets ]]; then exec REAL "$@"; fi
sources=$(printf '%s\\n' "$@" | sed -n 's/^Dir::Etc::sourcelist=//p')
read -r deb by address suite component < "$sources"
if [[ " $* " == *" update "* ]]; then
  echo "$address $suite $component" >> "$ASKED"
  [[ " $ARCHIVES " == *" $address "* ]] || { echo "E: no $address" >&2; exit 100; }
elif [[ " $* " == *" download "* ]]; then
  touch some.deb
fi"""
STUBS = {
    "apt-cache": 'if [[ " $* " == *" libkokkos-dev "* ]]; then echo "  Depends: libkokkos5.2"; else echo "  Depends: libc6"; fi',
    "dpkg": 'mkdir -p "$3/usr/lib/x86_64-linux-gnu"; touch "$3/usr/lib/x86_64-linux-gnu/libkokkoscore.so"',
    "ar": 'touch "$2"',
}

ONE_LINE = f"deb [arch=amd64 signed-by={KEYRING}] http://a.example/debian bookworm main contrib\n"
DEB822 = f"Types: deb deb-src\nURIs: http://b.example/debian/\nSuites: trixie trixie-updates\nComponents: main\nSigned-By: {KEYRING}\n"
SECURITY = "Types: deb\nURIs: http://s.example/debian-security\nSuites: trixie-security\nComponents: main\n"
OTHERS = ("deb http://ubuntu.example/ubuntu noble main\ndeb http://flat.example/repo ./\ndeb http://node.example/20 nodistro main\n"
          "deb cdrom:[Debian 12]/ bookworm main\ndeb-src http://src.example/debian sid main\n# deb http://off.example/debian sid main\n")
OFF = "Enabled: no\n" + DEB822.replace("b.example", "disabled.example")

# Files of sources, the archives that exist, KARPOS_DEBIAN_MIRROR, the archives that are tried, and the output.
CASES = {
    "one line": ({"a.list": ONE_LINE}, "a", "", ["a"], "the archive is http://a.example/debian"),
    "deb822, of another release": ({"b.sources": DEB822}, "b", "", ["b"], "the archive is http://b.example/debian"),
    "security, and sources that are off": ({"b.sources": SECURITY + "\n" + OFF + "\n" + DEB822}, "b", "", ["b"], "the archive is http://b.example/debian"),
    "both formats, one of which has no sid": ({"a.list": ONE_LINE, "b.sources": DEB822}, "b", "", ["a", "b"], "the archive is http://b.example/debian"),
    "archives of others come last": ({"0.list": OTHERS, "a.list": ONE_LINE}, "a", "", ["a"], "the archive is http://a.example/debian"),
    "a mirror of no telling name": ({"0.list": "deb http://proxy.example/deb bookworm main\n"}, "proxy", "", ["proxy"], "the archive is http://proxy.example/deb"),
    "a list of mirrors": ({"0.list": "deb mirror+file:/etc/apt/mirrors/debian.list bookworm main\n"}, "list", "", ["list"], "the archive is mirror+file:/etc/apt/mirrors/debian.list"),
    "the user's": ({"a.list": ONE_LINE}, "a user", "http://user.example/debian/", ["user"], "the archive is http://user.example/debian"),
    "the user's, which is none": ({"a.list": ONE_LINE}, "a", "http://user.example/debian", ["user"], "found no libkokkos-dev of 'sid' at http://user.example/debian: set KARPOS_DEBIAN_MIRROR"),
    "none of Debian's": ({"0.list": OTHERS}, "a", "", ["ubuntu", "node"], "found no libkokkos-dev of 'sid' at http://ubuntu.example/ubuntu http://node.example/20: set KARPOS_DEBIAN_MIRROR"),
    "no source at all": ({}, "a", "", [], "this machine has no apt source that could be a Debian archive: set KARPOS_DEBIAN_MIRROR"),
}
ADDRESSES = {"a": "http://a.example/debian", "b": "http://b.example/debian", "proxy": "http://proxy.example/deb", "list": "mirror+file:/etc/apt/mirrors/debian.list",
             "user": "http://user.example/debian", "ubuntu": "http://ubuntu.example/ubuntu", "node": "http://node.example/20"}


def run(script, root, files, archives, mirror):
    (root / "stubs").mkdir(parents=True)
    (root / "sources").mkdir()
    (root / "lists/partial").mkdir(parents=True)
    for name, text in {**STUBS, "apt-get": APT_GET.replace("REAL", shutil.which("apt-get"))}.items():
        stub = root / "stubs" / name
        stub.write_text(f"#!/usr/bin/env bash\n{text}\n", encoding="ascii")
        stub.chmod(0o755)
    for name, text in files.items():
        (root / "sources" / name).write_text(text, encoding="ascii")
    (root / "apt.conf").write_text(f'Dir::Etc::sourcelist "{root}/none";\nDir::Etc::sourceparts "{root}/sources";\nDir::State::lists "{root}/lists";\n', encoding="ascii")
    words = {"PATH": f"{root / 'stubs'}:{os.environ['PATH']}", "APT_CONFIG": str(root / "apt.conf"), "ASKED": str(root / "asked"),
             "ARCHIVES": " ".join(ADDRESSES[a] for a in archives.split()), "KARPOS_DEBIAN_MIRROR": mirror}
    return subprocess.run(["bash", script, root / "cache"], capture_output=True, text=True, check=False, env={**os.environ, **words})


def main():
    script = Path(sys.argv[1]).resolve()
    text = script.read_text(encoding="utf-8")
    check("an address of its own", [word for word in text.split() if "://" in word], [])
    if not shutil.which("apt-get") or not Path(KEYRING).exists():
        print("SKIP: no apt-get, or no keyring of Debian's")
        return checks.verdict("fetch_debian_kokkos.sh")
    for what, (files, archives, mirror, asked, said) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            done = run(script, root, files, archives, mirror)
            good = said.startswith("the archive")
            check(f"{what}: exit code; {done.stderr}", done.returncode, 0 if good else 1)
            check(f"{what}: the folder", done.stdout, f"{root}/cache/root/usr\n" if good else "")
            log = root / "asked"
            check(f"{what}: asks", log.read_text(encoding="ascii").splitlines() if log.exists() else [], [f"{ADDRESSES[a]} sid main" for a in asked])
            check(f"{what}: '{done.stderr}' says {said}", said in done.stderr, True)
    return checks.verdict("fetch_debian_kokkos.sh")


if __name__ == "__main__":
    sys.exit(main())
