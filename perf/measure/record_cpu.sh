#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Records all measurements of this machine's CPU.
#
#   [THREADS="1 2 16"] perf/measure/record_cpu.sh BUILD [OUT [PART]]
#
# BUILD is the build folder, or the one that holds the driver; OUT (default: perf/results/cpu of this checkout) gets a folder
# for each number of threads, OUT/16-threads, with one JSON file for each run, and machine.md: the machine, the build, and the
# spread of the figures. THREADS (default: 1 2 16, but no more than there are processors); one thread is measured beside the
# peers that have one: hash and topk. PART: hash, mixed, cuckoo, bfs or topk; all by default. GAPBS, a folder with the programs of
# the GAP benchmark suite, adds its search to bfs. KARPOS_QUICK=1 measures small inputs only, to try it out. Run nothing else on
# the machine meanwhile.
# shellcheck disable=SC2046  # peers prints two words, or none
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: perf/measure/record_cpu.sh BUILD [OUT [PART]]}
all=${2:-$here/../results/cpu}
part=${3:-hash mixed cuckoo bfs topk}
driver=$build/karpos
[ -x "$driver" ] && [ ! -d "$driver" ] || driver=$build/perf/karpos
[ -x "$driver" ] || { echo "record_cpu.sh: there is no driver karpos in $build" >&2; exit 2; }
quick=${KARPOS_QUICK:-}
processors=$(env -u OMP_NUM_THREADS nproc)
known=$("$driver" hash --help | tr '\n' ' ')

export OMP_PROC_BIND="${OMP_PROC_BIND:-spread}" OMP_PLACES="${OMP_PLACES:-threads}"

run() {
  command=$1 name=$2
  shift 2
  echo "$threads threads, $name: karpos $command $*" >&2
  "$driver" "$command" --json "$@" > "$out/$name.json"
}

# peers NAME...: --peers with those that this build has, or nothing.
peers() {
  list=
  for peer in "$@"; do
    case " $known" in *[\ ,]"$peer"[,\;]*) list=$list${list:+,}$peer ;; esac
  done
  [ -z "$list" ] || echo "--peers $list"
}

# Repeats a small measurement at the beginning and after every PART: its drift is what the machine adds to every figure.
record_noise() {
  noise=$((noise + 1))
  run hash "noise-$noise" --keys "$noise_keys" --load 0.5 --reps 9
}

record_hash() {
  large=2^26 medium=2^22 top=24
  [ -z "$quick" ] || { large=2^16 medium=2^14 top=16; }

  # The targets, with the peers in the same run. Peers with one thread are measured beside a run with one thread.
  if [ "$threads" = 1 ]; then
    run hash targets-large --keys $large --load 0.5 --miss 0.5 $(peers absl boost)
    run hash targets-medium --keys $medium --load 0.5 --miss 0.5 --reps 9 $(peers absl boost std)
    return
  fi
  run hash targets-large --keys $large --load 0.5 --miss 0.5 $(peers kokkos tbb)
  run hash targets-medium --keys $medium --load 0.5 --miss 0.5 --reps 9 $(peers kokkos tbb)

  # Rate against load factor, and against table size.
  for load in 0.5 0.6 0.7 0.8 0.9 0.95; do
    run hash load-4-$load --keys $large --load $load
    run hash load-8-$load --keys $medium --key-bytes 8 --load $load
  done
  for bits in 14 16 18 20 22 24; do
    [ "$bits" -gt "$top" ] || run hash size-4-$bits --keys "2^$bits" --load 0.5 --reps 9
  done
}

record_mixed() {
  [ "$threads" != 1 ] || return 0
  count=10e6
  [ -z "$quick" ] || count=1e4
  for map in hopscotch hash; do
    for mix in 20,20,60 40,40,20; do
      run mixed "mixed-$map-$(echo $mix | tr , -)" --map $map --ops $count --keys $count --mix $mix $(peers tbb)
    done
  done
}

record_cuckoo() {
  [ "$threads" != 1 ] || return 0
  sizes='5e6 2^24'
  [ -z "$quick" ] || sizes='1e4 2^14'
  # With a sort and binary search, as in the paper, and our hash_map as peers; two_level takes about the memory of load 0.7.
  for keys in $sizes; do
    run hash "cuckoo-two_level-$keys" --map cuckoo --keys "$keys" --load 0.7 --reps 9 --peers sorted,hash
    run hash "cuckoo-dense-$keys" --map cuckoo --layout dense --keys "$keys" --load 0.95 --reps 9 --peers sorted,hash
  done
}

record_bfs() {
  [ "$threads" != 1 ] || return 0
  graphs='kron:scale=20,ef=16 kron:scale=22,ef=16 uniform:scale=22,ef=16'
  [ -z "$quick" ] || graphs='kron:scale=12,ef=16 uniform:scale=12,ef=16'
  for graph in $graphs; do
    name=bfs-$(echo "$graph" | tr ':,=' '---')
    run bfs "$name" "$graph" --sources 64 --validate
    [ -z "${GAPBS:-}" ] || OMP_NUM_THREADS=$threads "$here/gap" "$GAPBS" "$out/$name.json"
  done
  grid=grid:4096x4096,drop=0.3
  [ -z "$quick" ] || grid=grid:64x64,drop=0.3
  run bfs bfs-grid $grid --sources 16 --validate
}

record_topk() {
  large=1e7 small=1e6
  [ -z "$quick" ] || { large=1e4 small=1e3; }
  for result in set exact; do
    # The references have one thread, so the query has one, too.
    if [ "$threads" = 1 ]; then
      run topk "topk-$result-uniform-$large" "uniform:m=$large,n=4" --k 100 --result $result --peers
    else
      for scores in uniform correlated zipf anticorrelated; do
        run topk "topk-$result-$scores-$large" "$scores:m=$large,n=4" --k 100 --result $result --peers
      done
    fi
    run topk "topk-$result-uniform-$small" "uniform:m=$small,n=4" --k 100 --result $result --reps 21 --peers
  done
  # The published strides.
  [ "$threads" = 1 ] || run topk "topk-fixed-uniform-$small" "uniform:m=$small,n=4" --k 100 --stride fixed:100 --reps 1
}

measured=
for threads in ${THREADS:-1 2 16}; do
  if [ "$threads" -gt "$processors" ]; then
    echo "$threads threads are left out: there are $processors processors" >&2
    continue
  fi
  measured=1 noise=0 noise_keys=2^22
  [ -z "$quick" ] || noise_keys=2^14
  out=$all/$threads-threads
  mkdir -p "$out"
  export OMP_NUM_THREADS="$threads"
  "$driver" info --json > "$out/info.json"
  record_noise
  for p in $part; do
    "record_$p"
    record_noise
  done
  "$here/machine" "$out" > "$out/machine.md"
  echo "$out" >&2
done
[ -n "$measured" ] || { echo "record_cpu.sh: nothing was measured: THREADS are all above the $processors processors" >&2; exit 2; }
