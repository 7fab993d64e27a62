// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/hash.hpp"

// Estimates how frequent equal keys are, from a sample: one team (a block of GPU threads) counts
// the sample's keys in a table in its scratch (shared memory).

namespace karpos::detail {

/// The counts of a sample.
struct key_sample {
  std::uint32_t keys;      ///< keys in the sample
  std::uint32_t distinct;  ///< distinct keys
  std::uint32_t repeated;  ///< distinct keys that occur more than once in the sample
  std::uint32_t most;      ///< number of occurrences of the most frequent key in the sample
};

/// A step of one team: reads n keys of a source, one from each of n ranges, at varying distances.
/// Keys are told apart by 31 bits of their hashes: in one sample of 250 with 4,096 distinct keys,
/// two count as equal.
template <class ExecSpace, class Source>
struct sample_keys {
  static constexpr int threads = device::is_device<ExecSpace> ? 1024 : 1, teams_at_once = 1;
  static constexpr std::uint32_t max_keys = Kokkos::min(
      std::uint32_t(4096),
      std::bit_floor(static_cast<std::uint32_t>(device::max_scratch_bytes<ExecSpace> - 1024) / 16));
  static constexpr std::uint32_t slots = 2 * max_keys;
  static constexpr std::size_t scratch_bytes =
      sizeof(key_sample) + 2 * slots * sizeof(std::uint32_t);

  Source source;
  std::uint32_t n;
  key_sample* to;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto* const sample = reinterpret_cast<key_sample*>(t.scratch());
    auto* const hashes = reinterpret_cast<std::uint32_t*>(sample + 1);
    std::uint32_t* const counts = hashes + slots;
    auto const rank = static_cast<std::uint32_t>(t.rank());
    auto const size = static_cast<std::uint32_t>(t.size());
    for (std::uint32_t i = rank; i < 2 * slots; i += size) hashes[i] = 0;
    if (rank == 0) *sample = {n, 0, 0, 0};
    t.barrier();
    for (std::uint32_t i = rank; i < n; i += size) count(hash_at(i), hashes, counts);
    t.barrier();
    key_sample mine{};
    for (std::uint32_t i = rank; i < slots; i += size) {
      mine.distinct += counts[i] != 0;
      mine.repeated += counts[i] > 1;
      mine.most = Kokkos::max(mine.most, counts[i]);
    }
    device::add(device::scratch(&sample->distinct), mine.distinct);
    device::add(device::scratch(&sample->repeated), mine.repeated);
    device::fetch_max(device::scratch(&sample->most), mine.most);
    t.barrier();
    if (rank == 0) *to = *sample;
  }

 private:
  /// Returns the hash of a key of range i. It is never 0.
  KARPOS_STEP_FUNCTION std::uint32_t hash_at(std::uint64_t i) const {
    std::uint64_t const each = source.size() / n;
    auto const bits = Source::key_of(source.load(i * each + mix(i) % each));
    return static_cast<std::uint32_t>(mix(bits) >> 32) | 1;
  }
  KARPOS_STEP_FUNCTION static void count(std::uint32_t hash, std::uint32_t* hashes,
                                         std::uint32_t* counts) {
    for (std::uint32_t i = hash / 2 % slots;; i = (i + 1) % slots) {
      std::uint32_t stored = device::load_relaxed(device::scratch(hashes + i));
      if (stored == 0) stored = device::compare_and_swap(device::scratch(hashes + i), 0, hash);
      if (stored != 0 && stored != hash) continue;
      device::add(device::scratch(counts + i), 1);
      return;
    }
  }
};

/// Writes the counts of a sample of n keys of a source, or of as many as a team's scratch holds.
/// Asynchronous. Requires: the source has at least that many keys.
template <class ExecSpace, class Source>
void count_sample(ExecSpace const& exec, Source const& source, std::uint32_t n, key_sample* to) {
  using step = sample_keys<ExecSpace, Source>;
  device::for_each_in_league("karpos::sample of keys", exec, 1,
                             step{source, Kokkos::min(n, step::max_keys), to});
}

}  // namespace karpos::detail
