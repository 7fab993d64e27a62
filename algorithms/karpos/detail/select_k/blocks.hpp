// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>

#include "karpos/detail/ranked.hpp"

// Selection of few elements on CPUs: each thread reads a block of the scores once and keeps what may be among its k
// best. Nearly all elements are told to be too low by one comparison, many at a time.

namespace karpos::detail::select_k {

/// Room of a block, in elements: the more there is beyond k, the rarer it is tidied.
constexpr std::uint64_t room_for(std::uint64_t k) { return 2 * k + 1024; }

/// Keeps the k best of the elements that it reads, and some others. Of equal elements, those with smaller indices are
/// better.
template <class Score>
class block_scan {
 public:
  using entry = ranked<rank_bits<Score>>;

  block_scan(Score const* scores, std::uint64_t stride, std::uint64_t k, entry* room)
      : m_scores(scores),
        m_stride(stride),
        m_k(k),
        m_entries(room) {}

  void read(std::uint64_t first, std::uint64_t end) {
    for (; first < end; first += group) {
      bool const whole = first + group <= end;
      if (m_bounded && whole && m_stride == 1 && none_better(first)) continue;
      std::uint64_t const last = whole ? first + group : end;
      for (std::uint64_t i = first; i < last; ++i) offer(i);
    }
  }
  std::uint64_t size() const { return m_size; }

 private:
  static constexpr std::uint64_t group = 128;

  /// May say false of a group that has none. NaN is not above anything.
  bool none_better(std::uint64_t first) const {
    if (m_bound != m_bound) return false;  // NaN: all others are better
    return first > m_lowest.index ? none<std::greater<Score>>(m_scores + first)
                                  : none<std::greater_equal<Score>>(m_scores + first);
  }
  template <class Better>
  bool none(Score const* p) const {
    Score const bound = m_bound;  // in a register
    int better = 0;
    for (std::uint64_t i = 0; i < group; ++i) better += Better()(p[i], bound);
    return better == 0;
  }
  void offer(std::uint64_t i) {
    entry const e{falling_bits(m_scores[i * m_stride]), i};
    if (m_bounded && !(e < m_lowest)) return;
    m_entries[m_size++] = e;
    if (m_size == room_for(m_k)) tidy();
  }
  void tidy() {
    std::nth_element(m_entries, m_entries + (m_k - 1), m_entries + m_size);
    m_size = m_k;
    m_lowest = m_entries[m_k - 1];
    m_bound = m_scores[m_lowest.index * m_stride];
    m_bounded = true;
  }

  Score const* m_scores;
  std::uint64_t m_stride, m_k;
  entry* m_entries;
  std::uint64_t m_size = 0;
  entry m_lowest{};
  Score m_bound{};
  bool m_bounded = false;
};

/// One block for each thread. Its chunks are read in an order that jumps about, so that rising scores, of which each
/// would be the best so far, cost little more than others.
template <class Score>
struct scan_blocks {
  using entry = ranked<rank_bits<Score>>;
  static constexpr std::uint64_t chunk = 1u << 14;

  Score const* scores;
  std::uint64_t stride, size, k, blocks;
  entry* rooms;
  std::uint64_t* sizes;

  void operator()(std::uint64_t b) const {
    std::uint64_t const all = (size + chunk - 1) / chunk;
    std::uint64_t const first = all * b / blocks, chunks = all * (b + 1) / blocks - first;
    block_scan<Score> scan(scores, stride, k, rooms + b * room_for(k));
    std::uint64_t jump = chunks * 5 / 8 + 1;
    while (std::gcd(jump, chunks) > 1) ++jump;
    for (std::uint64_t i = 0, c = 0; i < chunks; ++i, c = (c + jump) % chunks) {
      std::uint64_t const from = (first + c) * chunk;
      scan.read(from, from + chunk < size ? from + chunk : size);
    }
    sizes[b] = scan.size();
  }
};

/// The best of all blocks, at the front of `rooms`.
template <class Entry>
struct merge_blocks {
  Entry* rooms;
  std::uint64_t const* sizes;
  std::uint64_t k, blocks;
  Entry* winners;

  void operator()(int) const {
    std::uint64_t n = sizes[0];
    for (std::uint64_t b = 1; b < blocks; ++b) {
      Entry const* const from = rooms + b * room_for(k);
      std::copy(from, from + sizes[b], rooms + n);
      n += sizes[b];
    }
    std::nth_element(rooms, rooms + (k - 1), rooms + n);
    std::copy(rooms, rooms + k, winners);
  }
};

/// As many blocks as there are threads.
template <class ExecSpace>
std::uint64_t blocks_for(ExecSpace const& exec) {
  return static_cast<std::uint64_t>(exec.concurrency());
}
/// Whether few enough are wanted.
template <class ExecSpace>
bool fits_blocks(ExecSpace const& exec, std::uint64_t size, std::uint64_t k) {
  return k <= size / 8 && blocks_for(exec) * room_for(k) <= size / 4;
}
template <class Bits, class ExecSpace>
std::size_t blocks_bytes(ExecSpace const& exec, std::uint64_t k) {
  return blocks_for(exec) * (room_for(k) * sizeof(ranked<Bits>) + sizeof(std::uint64_t));
}

/// Writes the k winners, in no order. Complexity: reads the scores once; the more of them are among the best so far,
/// the more it compares.
template <class ExecSpace, class Scores, class Winners>
void by_blocks(ExecSpace const& exec, Scores const& scores, std::uint64_t k,
               Winners const& winners) {
  using score = typename Scores::non_const_value_type;
  using entry = typename Winners::value_type;
  using memory = typename ExecSpace::memory_space;
  std::uint64_t const blocks = blocks_for(exec);
  auto const rooms = rank_array<Kokkos::View<entry*, memory>>(exec, "karpos::select_k: blocks",
                                                              blocks * room_for(k));
  auto const sizes =
      rank_array<Kokkos::View<std::uint64_t*, memory>>(exec, "karpos::select_k: sizes", blocks);
  Kokkos::parallel_for("karpos::select_k: scan",
                       Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>>(
                           exec, 0, blocks, Kokkos::ChunkSize(1)),
                       scan_blocks<score>{scores.data(), scores.stride(0), scores.extent(0), k,
                                          blocks, rooms.data(), sizes.data()});
  Kokkos::parallel_for("karpos::select_k: merge",
                       Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<int>>(exec, 0, 1),
                       merge_blocks<entry>{rooms.data(), sizes.data(), k, blocks, winners.data()});
  exec.fence("karpos::select_k: before the blocks are freed");
}

}  // namespace karpos::detail::select_k
