// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/ranked.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/program.hpp"

// Selection by digits: how many elements have each value of the highest digit, which of these values the k-th element
// has, and so on with the next digit among those that share it. Nothing is moved before the k-th element is known.

namespace karpos::detail::select_k {

inline constexpr int digit_bits = 12;
inline constexpr int digits = 1 << digit_bits;

/// What is known of the k-th element.
template <class Bits>
struct cut {
  Bits prefix;         // its bits from `shift` on
  int shift;           // all elements with a lower prefix are winners
  bool known;          // and so are all with the same
  std::uint64_t rest;  // winners with the same prefix
};

template <class Bits>
struct begin_cut {
  cut<Bits>* at;
  std::uint64_t* counts;
  std::uint64_t k;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    counts[i] = 0;
    if (i == 0) *at = {0, 0, false, k};
  }
};

/// Counts the values of a digit among the elements that share the prefix. Each team counts in scratch of its own.
template <class Scores>
struct count_digits {
  using bits = rank_bits<typename Scores::non_const_value_type>;
  static constexpr int threads = 512;
  static constexpr int teams_at_once = 4;
  static constexpr std::size_t scratch_bytes = digits * sizeof(std::uint32_t);
  static constexpr std::uint64_t chunk = 1u << 14;

  Scores scores;
  cut<bits> const* at;
  std::uint64_t* counts;
  int shift, width;
  bool first;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    cut<bits> const c = *at;
    if (c.known) return;
    auto* const mine = reinterpret_cast<std::uint32_t*>(team.scratch());
    for (int d = team.rank(); d < digits; d += team.size()) mine[d] = 0;
    team.barrier();
    std::uint64_t const n = scores.extent(0), step = static_cast<std::uint64_t>(team.size());
    std::uint64_t const stride = chunk * static_cast<std::uint64_t>(team.league_size());
    for (auto b = chunk * static_cast<std::uint64_t>(team.league_rank()); b < n; b += stride) {
      std::uint64_t const end = b + chunk < n ? b + chunk : n;
      for (auto i = b + static_cast<std::uint64_t>(team.rank()); i < end; i += step)
        count(mine, falling_bits(scores(i)), c);
    }
    team.barrier();
    for (int d = team.rank(); d < digits; d += team.size())
      if (mine[d] > 0) device::add(counts + d, static_cast<std::uint64_t>(mine[d]));
  }

 private:
  KOKKOS_FUNCTION void count(std::uint32_t* mine, bits falling, cut<bits> const& c) const {
    if (!first && falling >> c.shift != c.prefix) return;
    device::fetch_add(device::scratch(mine + (falling >> shift & ((bits(1) << width) - 1))), 1);
  }
};

/// Finds the digit of the k-th element, and clears the counts. One team.
template <class Bits>
struct pick_digit {
  static constexpr int threads = 512;
  static constexpr int teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = 64;

  cut<Bits>* at;
  std::uint64_t* counts;
  int shift, width;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    cut<Bits> const c = *at;
    if (c.known) return;
    int const share = digits / team.size(), first = team.rank() * share;
    std::uint64_t sum = 0, total = 0;
    for (int d = first; d < first + share; ++d) sum += counts[d];
    std::uint64_t before = team.prefix_sum(sum, total);  // from here on all have read the cut
    for (int d = first; d < first + share; ++d) {
      std::uint64_t const here = counts[d];
      counts[d] = 0;
      if (before < c.rest && c.rest <= before + here)
        *at = {static_cast<Bits>(c.prefix << width | static_cast<Bits>(d)), shift,
               c.rest - before == here, c.rest - before};
      before += here;
    }
  }
};

/// How many elements before one are above the k-th, and how many share its prefix.
struct places {
  std::uint64_t above, level;
};

/// Writes the winners one behind the other, those of the prefix last, both by rising index. A thread takes `Chunk`
/// elements at a time and moves them together first, which takes no branch that CPUs would have to guess.
template <class Scores, int Chunk>
struct collect {
  using bits = rank_bits<typename Scores::non_const_value_type>;
  using entry = ranked<bits>;
  using value_type = places;
  Scores scores;
  cut<bits> const* at;
  entry* winners;
  std::uint64_t k;

  KOKKOS_FUNCTION void operator()(std::uint64_t chunk, places& p, bool last_pass) const {
    cut<bits> const c = *at;
    std::uint64_t const first = chunk * Chunk, left = scores.extent(0) - first;
    int const n = left < Chunk ? static_cast<int>(left) : Chunk;
    if (last_pass)
      write(c, first, n, p);
    else
      count(c, first, n, p);
  }
  KOKKOS_FUNCTION void init(places& p) const { p = {0, 0}; }
  KOKKOS_FUNCTION void join(places& p, places const& other) const {
    p.above += other.above;
    p.level += other.level;
  }

 private:
  KOKKOS_FUNCTION void count(cut<bits> const& c, std::uint64_t first, int n, places& p) const {
    unsigned above = 0, level = 0;
    for (int j = 0; j < n; ++j) {
      bits const prefix = falling_bits(scores(first + static_cast<unsigned>(j))) >> c.shift;
      above += prefix < c.prefix;
      level += prefix == c.prefix;
    }
    p.above += above;
    p.level += level;
  }
  KOKKOS_FUNCTION void write(cut<bits> const& c, std::uint64_t first, int n, places& p) const {
    entry higher[Chunk], same[Chunk];
    unsigned above = 0, level = 0;
    for (int j = 0; j < n; ++j) {
      std::uint64_t const i = first + static_cast<unsigned>(j);
      entry const e{falling_bits(scores(i)), i};
      higher[above] = e;
      same[level] = e;
      above += e.falling >> c.shift < c.prefix;
      level += e.falling >> c.shift == c.prefix;
    }
    for (unsigned j = 0; j < above; ++j) winners[p.above + j] = higher[j];
    for (unsigned j = 0; j < level && p.level + j < c.rest; ++j)
      winners[k - c.rest + p.level + j] = same[j];
    p.above += above;
    p.level += level;
  }
};

/// Teams that fill the machine; a team counts in 32 bits.
template <class ExecSpace>
int teams_for(ExecSpace const& exec, std::uint64_t n) {
  std::uint64_t const at_once =
      static_cast<std::uint64_t>(device::processors(exec)) * (device::is_device<ExecSpace> ? 4 : 1);
  std::uint64_t const chunks = (n + (1u << 14) - 1) >> 14, least = (n >> 31) + 1;
  std::uint64_t const teams = chunks < at_once ? chunks : at_once;
  return static_cast<int>(teams < least ? least : teams);
}

/// Bytes of memory while it runs.
template <class Bits>
constexpr std::size_t radix_bytes() {
  return digits * sizeof(std::uint64_t) + sizeof(cut<Bits>);
}

/// Writes the k winners, in no order. Asynchronous but for the memory that it frees.
/// Complexity: reads the scores once for every 12 bits until the k-th element is alone, and twice more.
template <class ExecSpace, class Scores, class Winners>
void by_radix(ExecSpace const& exec, Scores const& scores, std::uint64_t k,
              Winners const& winners) {
  using bits = rank_bits<typename Scores::non_const_value_type>;
  using memory = typename ExecSpace::memory_space;
  auto const counts =
      rank_array<Kokkos::View<std::uint64_t*, memory>>(exec, "karpos::select_k: counts", digits);
  auto const at =
      rank_array<Kokkos::View<cut<bits>*, memory>>(exec, "karpos::select_k: the k-th", 1);
  Kokkos::parallel_for("karpos::select_k: begin", index_range(exec, digits),
                       begin_cut<bits>{at.data(), counts.data(), k});
  int const teams = teams_for(exec, scores.extent(0));
  constexpr int all = 8 * sizeof(bits);
  for (int done = 0; done < all; done += digit_bits) {
    int const width = all - done < digit_bits ? all - done : digit_bits;
    int const shift = all - done - width;
    device::for_each_in_league(
        "karpos::select_k: count", exec, teams,
        count_digits<Scores>{scores, at.data(), counts.data(), shift, width, done == 0});
    device::for_each_in_league("karpos::select_k: pick", exec, 1,
                               pick_digit<bits>{at.data(), counts.data(), shift, width});
  }
  constexpr int chunk = is_on_host<ExecSpace> ? 128 : 1;
  Kokkos::parallel_scan("karpos::select_k: collect",
                        index_range(exec, (scores.extent(0) + chunk - 1) / chunk),
                        collect<Scores, chunk>{scores, at.data(), winners.data(), k});
  exec.fence("karpos::select_k: before the counts are freed");
}

}  // namespace karpos::detail::select_k
