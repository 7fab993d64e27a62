#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian's own Kokkos into a private folder, for machines that reach a Debian mirror but not GitHub.
#
#   fetch_debian_kokkos.sh CACHE_DIR     (prints the CMake prefix of the unpacked Kokkos on stdout, the log on stderr)
#
# Nothing is installed system-wide: Debian "sid" packages need a newer C library than a stable release has, so the
# packages and the C/C++ runtimes they were linked with are only downloaded and unpacked below CACHE_DIR. The apt state
# (package lists, sources) is private to CACHE_DIR too. Packages are verified with the Debian archive keyring.
set -euo pipefail

cache=$(mkdir -p "${1:?usage: fetch_debian_kokkos.sh CACHE_DIR}" && cd "$1" && pwd)
suite=${KARPOS_DEBIAN_SUITE:-sid}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
say() { echo "karpos: $*" >&2; }
die() { say "$*"; exit 1; }

kokkos_prefix="$cache/root/usr"
stamp="$cache/complete-3"
exec 9> "$cache/lock"
flock 9  # two builds may start at the same time
if [[ -f $stamp ]]; then echo "$kokkos_prefix"; exit 0; fi

command -v apt-get >/dev/null || die "apt-get not found: install Kokkos 4.6 or newer and set Kokkos_ROOT"
[[ -f $keyring ]] || die "$keyring not found (package debian-archive-keyring): install it, or set Kokkos_ROOT"

# The mirror this machine already uses; the public one when its configuration names none (an Ubuntu machine, say).
mirror=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
         awk '$1 == "Debian" && $2 !~ /security/ { print $2; exit }')
mirror=${KARPOS_DEBIAN_MIRROR:-${mirror:-http://deb.debian.org/debian}}
say "unpacking Kokkos from Debian '$suite' into $cache (nothing is installed system-wide)"

state="$cache/apt"
rm -rf "$cache/packages" "$cache/root" "$cache/runtimes"  # what an interrupted run left
mkdir -p "$state/lists/partial" "$state/archives/partial" "$state/empty" "$cache/packages" "$cache/root" "$cache/runtimes"
echo "deb [signed-by=$keyring] $mirror $suite main" > "$state/sources.list"
# apt's own sandbox user cannot write into a private folder. The mirror of an air-gapped site is often a snapshot: its
# lists are past their date, but signed all the same.
options=(-o "Dir::State::lists=$state/lists" -o "Dir::Etc::sourcelist=$state/sources.list"
         -o "Dir::Etc::sourceparts=$state/empty" -o "Dir::Etc::preferencesparts=$state/empty"
         -o "Dir::Etc::preferences=$state/none" -o "Dir::Cache=$state" -o "Dir::Cache::archives=$state/archives"
         -o "Acquire::Check-Valid-Until=false" -o "APT::Sandbox::User="
         -o "Acquire::Languages=none" -o "Acquire::Retries=3" -qq)
apt-get "${options[@]}" update >&2 || die "cannot read the package lists of $suite from the Debian mirror"

kokkos_library=$(apt-cache "${options[@]}" depends libkokkos-dev | awk '/Depends: libkokkos[0-9]/ { print $2; exit }')
[[ -n $kokkos_library ]] || die "libkokkos-dev of '$suite' names no Kokkos library"
runtimes=(libc6 libstdc++6 libgcc-s1 libgomp1)
libraries=$(apt-cache "${options[@]}" depends "$kokkos_library" | awk '/Depends: lib/ { print $2 }' |
            grep -v -x -E 'libc6|libstdc\+\+6|libgcc-s1|libgomp1' || true)
# shellcheck disable=SC2086
(cd "$cache/packages" && apt-get "${options[@]}" download libkokkos-dev "$kokkos_library" ${libraries} >&2)
for package in "$cache"/packages/*.deb; do dpkg -x "$package" "$cache/root"; done
rm "$cache"/packages/*.deb
(cd "$cache/packages" && apt-get "${options[@]}" download "${runtimes[@]}" >&2)
for package in "$cache"/packages/*.deb; do dpkg -x "$package" "$cache/runtimes"; done

# The package's CMake files name /usr as it would be once installed, and two archives that the package does not ship.
library_dir=$(dirname "$(find "$cache/root/usr/lib" -name 'libkokkoscore.so' | head -n 1)")
[[ -d $library_dir ]] || die "the package libkokkos-dev holds no libkokkoscore.so"
# The runtimes lie in a folder below Kokkos' libraries (KarposKokkosLink.cmake looks there): among them they would hide those
# of the compiler, and CMake would warn every consumer of it.
mkdir "$library_dir/runtime"
for folder in "$cache"/runtimes/{lib,usr/lib}/"$(basename "$library_dir")"; do
  [[ ! -d $folder ]] || cp -a "$folder/." "$library_dir/runtime"
done
while IFS= read -r file; do
  sed -i -e "s|/usr/include/kokkos|$kokkos_prefix/include/kokkos|g" "$file"
done < <(find "$cache/root/usr" -path '*cmake*' -name '*.cmake')
for name in libkokkosalgorithms.a libkokkossimd.a; do
  [[ -e $library_dir/$name ]] || ar cr "$library_dir/$name"
done

touch "$stamp"
say "Kokkos unpacked"
echo "$kokkos_prefix"
