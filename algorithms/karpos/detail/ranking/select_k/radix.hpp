// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/ranking/ranked.hpp"
#include "karpos/detail/ranking/select_k/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/program.hpp"

// Radix selection (drawn in run.hpp), most significant digit first. No element is moved before the
// k-th is known. A team is a block on GPUs; scratch is shared memory.

namespace karpos::detail::select_k {

inline constexpr int digit_bits = 12;
inline constexpr int digits = 1 << digit_bits;

/// The digits known so far of the k-th element's radix key.
template <class Bits>
struct kth_prefix {
  // Its bits from `shift` on. Elements with a smaller prefix (larger scores) are selected.
  Bits prefix;
  int shift;
  bool complete;            // all elements with this prefix are selected, too
  std::uint64_t remaining;  // elements to select among those with this prefix
};

template <class Bits>
struct init_kth_prefix {
  kth_prefix<Bits>* kth;
  std::uint64_t* counts;
  std::uint64_t k;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    counts[i] = 0;
    if (i == 0) *kth = {0, 0, false, k};
  }
};

/// A digit of radix keys: `width` bits from `shift` on. The first one has no prefix before it.
struct radix_digit {
  int shift, width;
  bool first;
};

/// Counts the digit over the keys that share the prefix. visit(i, use) calls use(key) with the i-th
/// key, for i in [begin, end), or skips it. Called by all threads of a team.
template <class Bits, class Team, class Visit>
KOKKOS_FUNCTION void count_digit(Team const& team, std::uint64_t begin, std::uint64_t end,
                                 kth_prefix<Bits> const& c, radix_digit d, std::uint32_t* counts,
                                 Visit const& visit) {
  auto const step = static_cast<std::uint64_t>(team.size());
  for (auto i = begin + static_cast<std::uint64_t>(team.rank()); i < end; i += step)
    visit(i, [&](Bits key) {
      if (!d.first && key >> c.shift != c.prefix) return;
      device::add(device::scratch(counts + (key >> d.shift & ((Bits(1) << d.width) - 1))), 1u);
    });
}

/// Finds the digit of the k-th key by the counts of its `values`, which it clears. One thread
/// writes *kth. Called by all threads of a team; no barrier at the end.
template <class Bits, class Team, class Count>
KOKKOS_FUNCTION void find_digit(Team const& team, int values, kth_prefix<Bits> const& c,
                                radix_digit d, Count* counts, kth_prefix<Bits>* kth) {
  int const each = values / team.size(), first = team.rank() * each;
  std::uint64_t sum = 0, total = 0;
  for (int v = first; v < first + each; ++v) sum += counts[v];
  std::uint64_t before = team.prefix_sum(sum, total);  // a barrier: all threads have read *kth
  for (int v = first; v < first + each; ++v) {
    std::uint64_t const here = counts[v];
    counts[v] = 0;
    if (before < c.remaining && c.remaining <= before + here)
      *kth = {static_cast<Bits>(c.prefix << d.width | static_cast<Bits>(v)), d.shift,
              c.remaining - before == here, c.remaining - before};
    before += here;
  }
}

/// Counts a digit over the elements that share the prefix. Each team counts in a histogram in
/// scratch, and adds it to the shared one.
template <class Scores>
struct count_digits {
  using bits = radix_key<typename Scores::non_const_value_type>;
  static constexpr int threads = 512;
  static constexpr int teams_at_once = 4;
  static constexpr std::size_t scratch_bytes = digits * sizeof(std::uint32_t);
  static constexpr std::uint64_t chunk = 1u << 14;

  Scores scores;
  kth_prefix<bits> const* kth;
  std::uint64_t* counts;
  radix_digit digit;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    kth_prefix<bits> const c = *kth;
    if (c.complete) return;
    auto* const team_counts = reinterpret_cast<std::uint32_t*>(team.scratch());
    for (int d = team.rank(); d < digits; d += team.size()) team_counts[d] = 0;
    team.barrier();
    std::uint64_t const n = scores.extent(0);
    std::uint64_t const stride = chunk * static_cast<std::uint64_t>(team.league_size());
    for (auto b = chunk * static_cast<std::uint64_t>(team.league_rank()); b < n; b += stride)
      count_digit(team, b, Kokkos::min(b + chunk, n), c, digit, team_counts,
                  [&](std::uint64_t i, auto const& use) { use(descending_key(scores(i))); });
    team.barrier();
    for (int d = team.rank(); d < digits; d += team.size())
      if (team_counts[d] > 0) device::add(counts + d, static_cast<std::uint64_t>(team_counts[d]));
  }
};

/// Finds the digit of the k-th element, and clears the histogram. Runs on one team.
template <class Bits>
struct select_digit {
  static constexpr int threads = 512;
  static constexpr int teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = 64;

  kth_prefix<Bits>* kth;
  std::uint64_t* counts;
  radix_digit digit;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    kth_prefix<Bits> const c = *kth;
    if (!c.complete) find_digit(team, digits, c, digit, counts, kth);
  }
};

/// Output offsets: number of earlier elements that are above the k-th, and that share its prefix.
struct offsets {
  std::uint64_t above, equal;
};

/// Compacts the selected elements to the output: first those above the prefix, then those with it,
/// both by ascending index. A thread handles `Chunk` elements at a time, and first compacts them in
/// private arrays, without a branch to mispredict.
template <class Scores, int Chunk>
struct collect {
  using bits = radix_key<typename Scores::non_const_value_type>;
  using entry = ranked<bits>;
  using value_type = offsets;
  Scores scores;
  kth_prefix<bits> const* kth;
  entry* selected;
  std::uint64_t k;

  KOKKOS_FUNCTION void operator()(std::uint64_t chunk, offsets& p, bool last_pass) const {
    kth_prefix<bits> const c = *kth;
    std::uint64_t const first = chunk * Chunk, left = scores.extent(0) - first;
    int const n = left < Chunk ? static_cast<int>(left) : Chunk;
    if (last_pass)
      write(c, first, n, p);
    else
      count(c, first, n, p);
  }
  KOKKOS_FUNCTION void init(offsets& p) const { p = {0, 0}; }
  KOKKOS_FUNCTION void join(offsets& p, offsets const& other) const {
    p.above += other.above;
    p.equal += other.equal;
  }

 private:
  KOKKOS_FUNCTION void count(kth_prefix<bits> const& c, std::uint64_t first, int n,
                             offsets& p) const {
    unsigned above = 0, equal = 0;
    for (int j = 0; j < n; ++j) {
      bits const prefix = descending_key(scores(first + static_cast<unsigned>(j))) >> c.shift;
      above += prefix < c.prefix;
      equal += prefix == c.prefix;
    }
    p.above += above;
    p.equal += equal;
  }
  KOKKOS_FUNCTION void write(kth_prefix<bits> const& c, std::uint64_t first, int n,
                             offsets& p) const {
    entry higher[Chunk], same[Chunk];
    unsigned above = 0, equal = 0;
    for (int j = 0; j < n; ++j) {
      std::uint64_t const i = first + static_cast<unsigned>(j);
      entry const e{descending_key(scores(i)), i};
      higher[above] = e;
      same[equal] = e;
      above += e.key >> c.shift < c.prefix;
      equal += e.key >> c.shift == c.prefix;
    }
    for (unsigned j = 0; j < above; ++j) selected[p.above + j] = higher[j];
    for (unsigned j = 0; j < equal && p.equal + j < c.remaining; ++j)
      selected[k - c.remaining + p.equal + j] = same[j];
    p.above += above;
    p.equal += equal;
  }
};

/// Returns the number of teams that fill the machine; enough for each to count fewer than 2^32
/// elements.
template <class ExecSpace>
int teams_for(ExecSpace const& exec, std::uint64_t n) {
  std::uint64_t const at_once =
      static_cast<std::uint64_t>(device::processors(exec) * tuning<ExecSpace>::teams_per_processor);
  std::uint64_t const chunks = (n + (1u << 14) - 1) >> 14, min_teams = (n >> 31) + 1;
  return static_cast<int>(Kokkos::max(Kokkos::min(chunks, at_once), min_teams));
}

/// Returns the bytes of memory that it allocates while it runs.
template <class Bits>
constexpr std::size_t radix_bytes() {
  return digits * sizeof(std::uint64_t) + sizeof(kth_prefix<Bits>);
}

/// Writes the k selected elements, not sorted by score. Blocks at the end, because it frees memory.
/// Complexity: reads the scores once for every 12 bits until the prefix separates the selected
/// elements from the others, and twice more.
template <class ExecSpace, class Scores, class Selected>
void select_by_radix(ExecSpace const& exec, Scores const& scores, std::uint64_t k,
                     Selected const& selected) {
  using bits = radix_key<typename Scores::non_const_value_type>;
  using memory = typename ExecSpace::memory_space;
  auto const counts = allocated_array<Kokkos::View<std::uint64_t*, memory>>(
      exec, "karpos::select_k: counts", digits);
  auto const kth = allocated_array<Kokkos::View<kth_prefix<bits>*, memory>>(
      exec, "karpos::select_k: the k-th", 1);
  Kokkos::parallel_for("karpos::select_k: begin", index_range(exec, digits),
                       init_kth_prefix<bits>{kth.data(), counts.data(), k});
  int const teams = teams_for(exec, scores.extent(0));
  constexpr int all = 8 * sizeof(bits);
  for (int done = 0; done < all; done += digit_bits) {
    int const width = Kokkos::min(all - done, digit_bits);
    radix_digit const digit{all - done - width, width, done == 0};
    device::for_each_in_league("karpos::select_k: count", exec, teams,
                               count_digits<Scores>{scores, kth.data(), counts.data(), digit});
    device::for_each_in_league("karpos::select_k: select digit", exec, 1,
                               select_digit<bits>{kth.data(), counts.data(), digit});
  }
  constexpr int chunk = tuning<ExecSpace>::collect_chunk;
  Kokkos::parallel_scan("karpos::select_k: collect",
                        index_range(exec, (scores.extent(0) + chunk - 1) / chunk),
                        collect<Scores, chunk>{scores, kth.data(), selected.data(), k});
  exec.fence("karpos::select_k: before the counts are freed");
}

}  // namespace karpos::detail::select_k
