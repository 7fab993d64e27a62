#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Records all measurements of this machine's GPU, in a few minutes.
#
#   perf/measure/record_cuda.sh BINARIES [OUT [PART]]
#
# BINARIES is the folder with the driver `karpos`, built with KARPOS_BACKEND=cuda (KARPOS_STATIC_RUNTIME=ON lets it run
# where nothing but the driver of the GPU is installed). OUT (default: perf/results/cuda of this checkout) gets one JSON
# file a run. PART: hash, bfs, hopscotch, cuckoo or topk; all by default. KARPOS_QUICK=1 measures small tables only, to try
# it out.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
binaries=${1:?usage: perf/measure/record_cuda.sh BINARIES [OUT [PART]]}
out=${2:-$here/../results/cuda}
part=${3:-hash bfs hopscotch cuckoo topk}
driver=$binaries/karpos
[ -x "$driver" ] && [ ! -d "$driver" ] || driver=$binaries/perf/karpos
mkdir -p "$out"

run() {
  name=$1
  shift
  echo "$name: karpos hash $*" >&2
  "$driver" hash --json "$@" > "$out/$name.json"
}

record_hash() {
  large=2^27 wide=2^26 cached=2^20
  [ -z "${KARPOS_QUICK:-}" ] || { large=2^20 wide=2^19 cached=2^18; }

  # 2^27 keys of 4+4 bytes, with Kokkos' own map in the same run at load 0.5.
  run large-0.5 --keys $large --load 0.5 --reps 9 --peers kokkos
  for load in 0.6 0.7 0.8 0.9 0.95; do
    run large-$load --keys $large --load $load --reps 9
  done
  # 2^26 keys of 8+8 bytes.
  for load in 0.5 0.8 0.9; do
    run wide-$load --keys $wide --key-bytes 8 --load $load --reps 9
  done
  # 2^20 keys: the table lies in the L2 cache.
  for load in 0.5 0.8 0.9; do
    run cached-$load --keys $cached --load $load --reps 21
  done
  # Rate against table size.
  for bits in 16 18 20 21 22 23 24 26 28; do
    [ -z "${KARPOS_QUICK:-}" ] || [ $bits -le 20 ] || continue
    run size-$bits --keys "2^$bits" --load 0.5 --reps 9
  done
}

record_bfs() {
  # Breadth-first search: 64 sources, harmonic mean.
  bfs() {
    name=$1
    shift
    echo "$name: karpos bfs $*" >&2
    "$driver" bfs --json --sources 64 --validate "$@" > "$out/$name.json"
  }
  graphs='kron:scale=20,ef=16 kron:scale=20,ef=128 kron:scale=22,ef=16 kron:scale=22,ef=64 kron:scale=24,ef=16 kron:scale=24,ef=32
          rmat:scale=22,ef=32 uniform:scale=22,ef=16'
  [ -z "${KARPOS_QUICK:-}" ] || graphs='kron:scale=16,ef=16'
  for graph in $graphs; do
    bfs "bfs-$(echo "$graph" | tr ':,=' '---')" "$graph"
  done
  # What each technique brings.
  graph=kron:scale=22,ef=16
  [ -z "${KARPOS_QUICK:-}" ] || graph=kron:scale=16,ef=16
  bfs ablation-baseline $graph --baseline
  bfs ablation-top-down $graph --direction top-down
  bfs ablation-beamer $graph --direction beamer
  bfs ablation-gamma $graph --direction gamma
  bfs ablation-scanned $graph --queue scanned
  bfs ablation-no-classes $graph --no-degree-classes
  bfs ablation-hub-cache $graph --hub-cache
  bfs ablation-unvisited-queue $graph --unvisited-queue
  bfs ablation-launches $graph --launches
  bfs ablation-parents $graph --parents
  [ -n "${KARPOS_QUICK:-}" ] || bfs bfs-grid grid:4096x4096,drop=0.3
}

record_hopscotch() {
  mixed() {
    name=$1
    shift
    echo "$name: karpos mixed $*" >&2
    "$driver" mixed --json --reps 5 "$@" > "$out/$name.json"
  }
  operations=10e6 large=2^27 half=2^26
  [ -z "${KARPOS_QUICK:-}" ] || { operations=1e5 large=2^20 half=2^19; }
  for map in hopscotch hash; do
    # The paper's size: a table of 36,419 slots, 30 K keys. hash runs out of slots there: it does not reuse erased slots.
    for mix in 20,20,60 40,40,20; do
      mixed "mixed-small-$map-$(echo $mix | tr , -)" --map $map --ops $operations --keys 30e3 --slots 36419 --mix $mix
    done
    # A table far beyond the cache, pre-filled to load 0.8.
    mixed mixed-large-$map-20-20-60 --map $map --ops $half --keys $large --slots $large --fill 0.8 --mix 20,20,60
    # Each kind of operation by itself, beside the other map.
    for load in 0.5 0.8 0.9; do
      run $map-$load --map $map --keys $large --load $load --reps 9
    done
  done
}

record_cuckoo() {
  sizes='5e6 2^27'
  [ -z "${KARPOS_QUICK:-}" ] || sizes='1e5 2^20'
  # With a sort and binary search, as in the paper, and our hash_map as peers; two_level takes about the memory of load 0.7.
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
  large=1e7 small=1e6 huge=1e8
  [ -z "${KARPOS_QUICK:-}" ] || { large=1e5 small=1e4 huge=1e6; }
  for result in set exact; do
    # nra and lara run on one thread of the host.
    for scores in uniform correlated zipf anticorrelated; do
      topk "topk-$result-$scores-$large" "$scores:m=$large,n=4" --result $result --reps 9 --peers
    done
    topk "topk-$result-uniform-$small" "uniform:m=$small,n=4" --result $result --reps 21 --peers
    topk "topk-$result-uniform-$huge" "uniform:m=$huge,n=4" --result $result --reps 9 --peers full
  done
  # The published strides.
  for scores in uniform correlated zipf; do
    topk "topk-fixed-$scores-$large" "$scores:m=$large,n=4" --stride fixed:100 --reps 1
  done
}

for p in $part; do record_$p; done
"$driver" info --json > "$out/info.json"
echo "$out" >&2
