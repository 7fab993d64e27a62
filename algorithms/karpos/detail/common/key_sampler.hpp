// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/team.hpp"
#include "karpos/hash.hpp"

// Estimates how frequent equal keys are, from a sample: one team (a block of GPU threads) counts
// the sample's keys in a table in its scratch (shared memory).

namespace karpos::detail {

struct sample_statistics {
  std::uint32_t keys;         ///< keys in the sample
  std::uint32_t distinct;     ///< distinct keys
  std::uint32_t once, twice;  ///< distinct keys that occur once, and twice, in the sample
  std::uint32_t most;         ///< number of occurrences of the most frequent key in the sample
  /// Keys in the sample that are heavy hitters, if looked for (reduce_by_key/heavy_hitters.hpp).
  std::uint32_t heavy_hitter_rows;

  /// Returns the number of distinct keys that occur more than once in the sample.
  std::uint32_t repeated() const { return distinct - once; }
};

/// A team's sampler. Reads one key of a source from each of n ranges, at irregular distances, and
/// counts equal ones. Source: of rows with mixed keys (partition/rows.hpp). In the team's scratch,
/// with at least twice as many slots as the sample has keys:
///
///   statistics | the caller's bytes | keys | counts
template <class ExecSpace, class Source, std::uint32_t MostKeys, std::size_t CallersBytes = 0>
class key_sampler {
 public:
  using bits = decltype(Source::key_of(std::declval<typename Source::loaded>()));
  static constexpr int threads = device::is_device<ExecSpace> ? 1024 : 1, teams_at_once = 1;

 private:
  using table = scratch_table<bits, true>;
  static constexpr std::size_t front_bytes = 32;
  static_assert(sizeof(sample_statistics) <= front_bytes && CallersBytes % 16 == 0);
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t slots) {
    return front_bytes + CallersBytes + table::bytes(slots) + (slots + 1) * sizeof(std::uint32_t);
  }

 public:
  static constexpr std::uint32_t max_keys = Kokkos::min(
      MostKeys,
      std::bit_floor(static_cast<std::uint32_t>((device::max_scratch_bytes<ExecSpace> - bytes(1)) /
                                                (2 * (sizeof(bits) + sizeof(std::uint32_t))))));
  static constexpr std::uint32_t slots = 2 * max_keys;
  static constexpr std::size_t scratch_bytes = bytes(slots);

  template <class Team>
  KOKKOS_FUNCTION explicit key_sampler(Team const& t)
      : statistics(reinterpret_cast<sample_statistics*>(t.scratch())),
        callers_bytes(t.scratch() + front_bytes),
        m_table(callers_bytes + CallersBytes, slots),
        m_counts(
            reinterpret_cast<std::uint32_t*>(callers_bytes + CallersBytes + table::bytes(slots))) {}

  /// Samples n keys. Has barriers; thread 0 has the statistics afterwards. Requires: n <= max_keys,
  /// and the source has at least n keys.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void sample(Team const& t, Source const& source,
                                          std::uint32_t n) const {
    m_table.clear(t);
    for (std::uint32_t i = device::rank(t); i < m_table.end(); i += device::size(t))
      m_counts[i] = 0;
    if (t.rank() == 0) *statistics = {n, 0, 0, 0, 0, 0};
    t.barrier();
    count_keys(t, source, n);
    t.barrier();
    compute_statistics(t);
  }
  /// Calls f(key, its count) for a thread's share of the slots. Empty slots have a count of 0.
  template <class Team, class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_count(Team const& t, F const& f) const {
    for (std::uint32_t i = device::rank(t); i < m_table.end(); i += device::size(t))
      f(m_table.key(i), m_counts[i]);
  }

  sample_statistics* statistics;
  std::byte* callers_bytes;

 private:
  /// Counts the sampled keys of a thread. On GPUs, several loads are in flight.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void count_keys(Team const& t, Source const& source,
                                              std::uint32_t n) const {
    constexpr std::uint32_t at_once = device::is_device<ExecSpace> ? 8 : 1;
    std::uint32_t const size = device::size(t);
    std::uint64_t const each = source.size() / n;
    for (std::uint32_t first = device::rank(t); first < n; first += at_once * size) {
      bits found[at_once] = {};
      KARPOS_UNROLL
      for (std::uint32_t j = 0; j < at_once; ++j)
        if (std::uint64_t const i = first + j * size; i < n)
          found[j] = Source::key_of(source.load(i * each + multiply_high(mix(i), each)));
      // Keys move to the front one by one, so that the long code of a search exists once.
      KARPOS_UNROLL_BY(1)
      for (std::uint32_t i = first; i < n && i < first + at_once * size; i += size) {
        count(found[0]);
        KARPOS_UNROLL
        for (std::uint32_t j = 1; j < at_once; ++j) found[j - 1] = found[j];
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void count(bits key) const {
    scratch_slot const slot = m_table.find_or_claim(key, table::max_probes(slots));
    if (slot.present) device::add(device::scratch(m_counts + slot.index), 1);
  }
  /// Computes the statistics from the counts. Three sums below 2^21 share a word. Has a barrier.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void compute_statistics(Team const& t) const {
    constexpr int bits_each = 21;
    std::uint64_t mine = 0, all = 0;
    std::uint32_t most = 0;
    for_each_count(t, [&](bits, std::uint32_t count) {
      mine += std::uint64_t(count != 0) | std::uint64_t(count == 1) << bits_each |
              std::uint64_t(count == 2) << 2 * bits_each;
      most = Kokkos::max(most, count);
    });
    if (most > device::load_relaxed(device::scratch(&statistics->most)))
      device::fetch_max(device::scratch(&statistics->most), most);
    t.prefix_sum(mine, all);
    if (t.rank() != 0) return;
    auto const sum = [&](int k) {
      return static_cast<std::uint32_t>(all >> k * bits_each & ((1u << bits_each) - 1));
    };
    statistics->distinct = sum(0);
    statistics->once = sum(1);
    statistics->twice = sum(2);
  }

  table m_table;
  std::uint32_t* m_counts;
};

/// A step of one team: writes the statistics of a sample of n keys.
template <class ExecSpace, class Source>
struct sample_keys {
  using sampler = key_sampler<ExecSpace, Source, 4096>;
  static constexpr int threads = sampler::threads, teams_at_once = sampler::teams_at_once;
  static constexpr std::size_t scratch_bytes = sampler::scratch_bytes;

  Source source;
  std::uint32_t n;
  sample_statistics* to;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    sampler const s(t);
    s.sample(t, source, n);
    if (t.rank() == 0) *to = *s.statistics;
  }
};

/// Writes the statistics of a sample of n keys, or of as many as a team's scratch holds.
/// Asynchronous. Requires: the source has that many keys.
template <class ExecSpace, class Source>
void count_sample(ExecSpace const& exec, Source const& source, std::uint32_t n,
                  sample_statistics* to) {
  using step = sample_keys<ExecSpace, Source>;
  device::for_each_in_league(
      "karpos::sample of keys", exec, 1,
      step{source, Kokkos::min(n, std::uint32_t(step::sampler::max_keys)), to});
}

}  // namespace karpos::detail
