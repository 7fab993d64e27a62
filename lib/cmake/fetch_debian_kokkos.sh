#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian's own Kokkos into a private folder, for machines that reach a Debian mirror but not GitHub.
#
#   fetch_debian_kokkos.sh CACHE_DIR     (prints the CMake prefix of the unpacked Kokkos on stdout, the log on stderr)
#
# The archive's address is that of KARPOS_DEBIAN_MIRROR, or else of an apt source of this machine that has the suite 'sid'
# (KARPOS_DEBIAN_SUITE), whatever release the source names. There is no address here.
#
# Nothing is installed system-wide: Debian "sid" packages need a newer C library than a stable release has, so the
# packages and the C/C++ runtimes they were linked with are only downloaded and unpacked below CACHE_DIR. The apt state
# (package lists, sources) is private to CACHE_DIR too. Packages are verified with the Debian archive keyring.
set -euo pipefail

cache=$(mkdir -p "${1:?usage: fetch_debian_kokkos.sh CACHE_DIR}" && cd "$1" && pwd)
suite=${KARPOS_DEBIAN_SUITE:-sid}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -f $keyring ]] || keyring=${keyring%.gpg}.pgp
say() { echo "karpos: $*" >&2; }
die() { say "$*"; exit 1; }

kokkos_prefix="$cache/root/usr"
stamp="$cache/complete-3"
exec 9> "$cache/lock"
flock 9  # two builds may start at the same time
if [[ -f $stamp ]]; then echo "$kokkos_prefix"; exit 0; fi

command -v apt-get >/dev/null || die "apt-get not found: install Kokkos 4.6 or newer and set Kokkos_ROOT"
[[ -f $keyring ]] || die "${keyring%.pgp}.gpg not found (package debian-archive-keyring): install it, or set Kokkos_ROOT"

# Prints the addresses of the machine's apt sources: first those that are Debian's by their lists, then those whose lists
# nobody has fetched yet, as in a fresh container, the ones called debian first.
sources() {
  local known
  known=$(apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null || true)
  { awk -F '|' '$1 == "Debian" { print $2 }' <<< "$known"
    apt-get indextargets --no-release-info --format '$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
      awk -F '|' -v known="$known" '
        BEGIN { n = split(known, lines, "\n"); for (i = 1; i <= n; ++i) { split(lines[i], pair, "|"); listed[pair[2]] = 1 } }
        $1 == "main" && !($2 in listed) { if ($2 ~ /debian/) print $2; else others = others $2 "\n" }
        END { printf "%s", others }' || true
  } | sed 's|/*$||' | awk '!/security/ && !/^cdrom:/ && !/ / && !seen[$0]++'
}

if [[ -n ${KARPOS_DEBIAN_MIRROR:-} ]]; then
  mirrors=("${KARPOS_DEBIAN_MIRROR%/}")
else
  mapfile -t mirrors < <(sources)
fi
how="set KARPOS_DEBIAN_MIRROR to the address of a Debian archive that has '$suite', or Kokkos_ROOT to an installed Kokkos 4.6 or newer"
[[ ${#mirrors[@]} -gt 0 ]] || die "this machine has no apt source that could be a Debian archive: $how"
say "unpacking Kokkos from Debian '$suite' into $cache (nothing is installed system-wide)"

state="$cache/apt"
rm -rf "$cache/packages" "$cache/root" "$cache/runtimes"  # what an interrupted run left
mkdir -p "$state/lists/partial" "$state/archives/partial" "$state/empty" "$cache/packages" "$cache/root" "$cache/runtimes"
# apt's own sandbox user cannot write into a private folder. The mirror of an air-gapped site is often a snapshot: its
# lists are past their date, but signed all the same.
options=(-o "Dir::State::lists=$state/lists" -o "Dir::Etc::sourcelist=$state/sources.list"
         -o "Dir::Etc::sourceparts=$state/empty" -o "Dir::Etc::preferencesparts=$state/empty"
         -o "Dir::Etc::preferences=$state/none" -o "Dir::Cache=$state" -o "Dir::Cache::archives=$state/archives"
         -o "Acquire::Check-Valid-Until=false" -o "APT::Sandbox::User="
         -o "Acquire::Languages=none" -o "Acquire::Retries=3" -qq)

# An archive that is not Debian's fails here, since the keyring is.
kokkos_library=""
: > "$state/log"
for mirror in "${mirrors[@]}"; do
  echo "deb [signed-by=$keyring] $mirror $suite main" > "$state/sources.list"
  apt-get "${options[@]}" -o APT::Update::Error-Mode=any update >> "$state/log" 2>&1 || continue
  kokkos_library=$(apt-cache "${options[@]}" depends libkokkos-dev 2>/dev/null |
                   awk '/Depends: libkokkos[0-9]/ && !n++ { print $2 }')
  [[ -z $kokkos_library ]] || break
done
[[ -n $kokkos_library ]] || cat "$state/log" >&2
[[ -n $kokkos_library ]] || die "found no libkokkos-dev of '$suite' at ${mirrors[*]}: $how"
say "the archive is $mirror"
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
