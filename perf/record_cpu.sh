#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures everything of the CPU on this machine.
#
#   perf/record_cpu.sh BUILD [OUT [PART]]
#
# BUILD is the build folder, or the one that holds the driver; OUT (default: perf/results/cpu of this checkout) gets one
# JSON file a run. PART: hash, hopscotch, cuckoo or topk; all by default. KARPOS_QUICK=1 measures small tables only, to
# try it out. Leave the machine alone meanwhile.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: perf/record_cpu.sh BUILD [OUT [PART]]}
out=${2:-$here/results/cpu}
part=${3:-hash hopscotch cuckoo topk}
driver=$build/karpos
[ -x "$driver" ] && [ ! -d "$driver" ] || driver=$build/perf/karpos
mkdir -p "$out"

export OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}" OMP_PROC_BIND="${OMP_PROC_BIND:-spread}" OMP_PLACES="${OMP_PLACES:-threads}"

run() {
  name=$1
  shift
  echo "$name: karpos hash $*" >&2
  "$driver" hash --json "$@" > "$out/$name.json"
}

record_hash() {
  large=2^26 medium=2^22
  [ -z "${KARPOS_QUICK:-}" ] || { large=2^20 medium=2^18; }

  # The targets: two threads against the peers, in the same run.
  run targets-large --keys $large --load 0.5 --miss 0.5 --peers kokkos,absl,tbb
  run targets-medium --keys $medium --load 0.5 --miss 0.5 --reps 9 --peers kokkos,absl,tbb,std

  # Rate against load factor, and against table size.
  for load in 0.5 0.6 0.7 0.8 0.9 0.95; do
    run load-4-$load --keys $large --load $load
    run load-8-$load --keys $medium --key-bytes 8 --load $load
  done
  for bits in 14 16 18 20 22 24; do
    run size-4-$bits --keys "2^$bits" --load 0.5 --reps 9
  done
}

record_hopscotch() {
  # Mixed operations, two threads against the peer that can do them.
  count=10e6
  [ -z "${KARPOS_QUICK:-}" ] || count=1e5
  for map in hopscotch hash; do
    echo "mixed-$map: karpos mixed --map $map" >&2
    "$driver" mixed --json --map $map --ops $count --keys $count --mix 20,20,60 --peers tbb > "$out/mixed-$map.json"
  done
}

record_cuckoo() {
  sizes='5e6 2^24'
  [ -z "${KARPOS_QUICK:-}" ] || sizes='1e5 2^20'
  # Beside a sort with binary search, as in the paper, and our hash_map; two_level takes about the memory of load 0.7.
  for keys in $sizes; do
    run "cuckoo-two_level-$keys" --map cuckoo --keys "$keys" --load 0.7 --reps 9 --peers sorted,hash
    run "cuckoo-dense-$keys" --map cuckoo --layout dense --keys "$keys" --load 0.95 --reps 9 --peers sorted,hash
  done
}

record_topk() {
  topk() {
    name=$1
    shift
    echo "$name: karpos topk $*" >&2
    "$driver" topk --json --k 100 "$@" > "$out/$name.json"
  }
  large=1e7 small=1e6
  [ -z "${KARPOS_QUICK:-}" ] || { large=1e5 small=1e4; }
  for result in set exact; do
    for scores in uniform correlated zipf anticorrelated; do
      topk "topk-$result-$scores-$large" "$scores:m=$large,n=4" --result $result --peers
    done
    topk "topk-$result-uniform-$small" "uniform:m=$small,n=4" --result $result --reps 21 --peers
    # The references have one thread: here the query has one, too.
    (
      export OMP_NUM_THREADS=1
      topk "topk-$result-uniform-$small-1-thread" "uniform:m=$small,n=4" --result $result --reps 21 --peers
      topk "topk-$result-uniform-$large-1-thread" "uniform:m=$large,n=4" --result $result --peers
    )
  done
  # The published strides.
  topk "topk-fixed-uniform-$small" "uniform:m=$small,n=4" --stride fixed:100 --reps 1
}

for p in $part; do record_$p; done
"$driver" info --json > "$out/info.json"
echo "$out" >&2
