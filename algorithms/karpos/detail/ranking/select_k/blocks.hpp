// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>

#include "karpos/detail/ranking/ranked.hpp"

// Selects few elements on CPUs (drawn in run.hpp). If a buffer is full, nth_element compacts it to
// the k largest. Most elements fail one vectorized comparison with the smallest of these.

namespace karpos::detail::select_k {

/// Returns the number of elements in a block's buffer. The larger it is, the rarer it is compacted.
constexpr std::uint64_t buffer_for(std::uint64_t k) { return 2 * k + 1024; }

/// Keeps the k largest of the elements read, and up to buffer_for(k) - k others. Among equal
/// elements, smaller indices rank higher.
template <class Score>
class block_scan {
 public:
  using entry = ranked<radix_key<Score>>;

  block_scan(Score const* scores, std::uint64_t stride, std::uint64_t k, entry* buffer)
      : m_scores(scores),
        m_stride(stride),
        m_k(k),
        m_entries(buffer) {}

  void read(std::uint64_t first, std::uint64_t end) {
    for (; first < end; first += group) {
      bool const whole = first + group <= end;
      if (m_bounded && whole && m_stride == 1 && none_above(first)) continue;
      std::uint64_t const last = whole ? first + group : end;
      for (std::uint64_t i = first; i < last; ++i) push(i);
    }
  }
  std::uint64_t size() const { return m_size; }

 private:
  static constexpr std::uint64_t group = 128;

  /// Returns whether no element of a group ranks above the bound; may return false for such a
  /// group. NaN does not compare above anything.
  bool none_above(std::uint64_t first) const {
    if (m_bound != m_bound) return false;  // NaN: every other element ranks above
    return first > m_kth.index ? none<std::greater<Score>>(m_scores + first)
                               : none<std::greater_equal<Score>>(m_scores + first);
  }
  template <class Better>
  bool none(Score const* p) const {
    Score const bound = m_bound;  // in a register
    int better = 0;
    for (std::uint64_t i = 0; i < group; ++i) better += Better()(p[i], bound);
    return better == 0;
  }
  void push(std::uint64_t i) {
    entry const e{descending_key(m_scores[i * m_stride]), i};
    if (m_bounded && !(e < m_kth)) return;
    m_entries[m_size++] = e;
    if (m_size == buffer_for(m_k)) compact();
  }
  void compact() {
    std::nth_element(m_entries, m_entries + (m_k - 1), m_entries + m_size);
    m_size = m_k;
    m_kth = m_entries[m_k - 1];
    m_bound = m_scores[m_kth.index * m_stride];
    m_bounded = true;
  }

  Score const* m_scores;
  std::uint64_t m_stride, m_k;
  entry* m_entries;
  std::uint64_t m_size = 0;
  entry m_kth{};
  Score m_bound{};
  bool m_bounded = false;
};

/// Scans one block on each thread. It reads the block's chunks in a strided order. Otherwise each
/// of ascending scores would be the largest so far, and cost more.
template <class Score>
struct scan_blocks {
  using entry = ranked<radix_key<Score>>;
  static constexpr std::uint64_t chunk = 1u << 14;

  Score const* scores;
  std::uint64_t stride, size, k, blocks;
  entry* buffers;
  std::uint64_t* sizes;

  void operator()(std::uint64_t b) const {
    std::uint64_t const all = (size + chunk - 1) / chunk;
    std::uint64_t const first = all * b / blocks, chunks = all * (b + 1) / blocks - first;
    block_scan<Score> scan(scores, stride, k, buffers + b * buffer_for(k));
    std::uint64_t step = chunks * 5 / 8 + 1;
    while (std::gcd(step, chunks) > 1) ++step;
    for (std::uint64_t i = 0, c = 0; i < chunks; ++i, c = (c + step) % chunks) {
      std::uint64_t const from = (first + c) * chunk;
      scan.read(from, Kokkos::min(from + chunk, size));
    }
    sizes[b] = scan.size();
  }
};

/// Returns the number of blocks: one for each thread.
template <class ExecSpace>
std::uint64_t blocks_for(ExecSpace const& exec) {
  return static_cast<std::uint64_t>(exec.concurrency());
}
/// Returns whether k is small enough for a buffer of each thread.
template <class ExecSpace>
bool can_use_blocks(ExecSpace const& exec, std::uint64_t size, std::uint64_t k) {
  return k <= size / 8 && blocks_for(exec) * buffer_for(k) <= size / 4;
}
template <class Bits, class ExecSpace>
std::size_t blocks_bytes(ExecSpace const& exec, std::uint64_t k) {
  return blocks_for(exec) * (buffer_for(k) * sizeof(ranked<Bits>) + sizeof(std::uint64_t));
}

/// Writes the k selected elements, in no particular order. Blocks. Complexity: reads the scores
/// once; compares more, the more elements are among the largest so far.
template <class ExecSpace, class Scores, class Selected>
void select_by_blocks(ExecSpace const& exec, Scores const& scores, std::uint64_t k,
                      Selected const& selected) {
  using score = typename Scores::non_const_value_type;
  using entry = typename Selected::value_type;
  using memory = typename ExecSpace::memory_space;
  std::uint64_t const blocks = blocks_for(exec);
  auto const buffers = allocated_array<Kokkos::View<entry*, memory>>(
      exec, "karpos::select_k: blocks", blocks * buffer_for(k));
  auto const sizes = allocated_array<Kokkos::View<std::uint64_t*, memory>>(
      exec, "karpos::select_k: sizes", blocks);
  Kokkos::parallel_for("karpos::select_k: scan",
                       Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>>(
                           exec, 0, blocks, Kokkos::ChunkSize(1)),
                       scan_blocks<score>{scores.data(), scores.stride(0), scores.extent(0), k,
                                          blocks, buffers.data(), sizes.data()});
  exec.fence("karpos::select_k: before the blocks are merged");
  entry* const all = buffers.data();
  entry* end = all + sizes(0);
  for (std::uint64_t b = 1; b < blocks; ++b)
    end = std::copy_n(all + b * buffer_for(k), sizes(b), end);
  std::nth_element(all, all + (k - 1), end);
  std::copy_n(all, k, selected.data());
}

}  // namespace karpos::detail::select_k
