#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures everything of the GPU on this machine, in a few minutes.
#
#   perf/record_cuda.sh BINARIES [OUT]
#
# BINARIES is the folder with the driver `karpos`, built with KARPOS_BACKEND=cuda (KARPOS_STATIC_RUNTIME=ON lets it run
# where nothing but the driver of the GPU is installed). OUT (default: perf/results/cuda of this checkout) gets one JSON
# file a run. KARPOS_QUICK=1 measures small tables only, to try it out.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
binaries=${1:?usage: perf/record_cuda.sh BINARIES [OUT]}
out=${2:-$here/results/cuda}
driver=$binaries/karpos
[ -x "$driver" ] && [ ! -d "$driver" ] || driver=$binaries/perf/karpos
mkdir -p "$out"

run() {
  name=$1
  shift
  echo "$name: karpos hash $*" >&2
  "$driver" hash --json "$@" > "$out/$name.json"
}

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
"$driver" info --json > "$out/info.json"
echo "$out" >&2
