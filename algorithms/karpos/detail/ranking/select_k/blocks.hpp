// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "karpos/detail/ranking/ranked.hpp"
#include "karpos/detail/ranking/select_k/rows.hpp"

// Selects few elements on CPUs (drawn in run.hpp). If a buffer is full, nth_element compacts it to
// the k largest. Most elements fail one vectorized comparison with the smallest of these.

namespace karpos::detail::select_k {

/// Returns the number of elements in a block's buffer. The larger it is, the rarer it is compacted.
constexpr std::uint64_t buffer_for(std::uint64_t k) { return 2 * k + 1024; }

/// Moves the k largest of `size` entries to the front, in no particular order, but the k-th last.
template <class Entry>
void move_largest(Entry* entries, std::uint64_t k, std::uint64_t size) {
  std::nth_element(entries, entries + (k - 1), entries + size);
}

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

  /// Reads the elements below `size` of `count` chunks, in a strided order.
  void read_chunks(std::uint64_t first, std::uint64_t count, std::uint64_t size) {
    if (count == 0) return;
    strided_order order(count);
    for (std::uint64_t i = 0; i < count; ++i, order.next()) {
      std::uint64_t const from = (first + order.chunk()) * chunk;
      read(from, Kokkos::min(from + chunk, size));
    }
  }
  /// Moves the k largest to the front of the buffer, in no particular order.
  void finish() const { move_largest(m_entries, m_k, m_size); }
  std::uint64_t size() const { return m_size; }

  static constexpr std::uint64_t chunk = 1u << 14;

 private:
  static constexpr std::uint64_t group = 128;

  void read(std::uint64_t first, std::uint64_t end) {
    for (; first < end; first += group) {
      bool const whole = first + group <= end;
      if (m_bounded && whole && m_stride == 1 && none_above(first)) continue;
      std::uint64_t const last = whole ? first + group : end;
      for (std::uint64_t i = first; i < last; ++i) push(i);
    }
  }

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
    finish();
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

/// Scans one block on each thread.
template <class Score>
struct scan_blocks {
  using entry = ranked<radix_key<Score>>;
  static constexpr std::uint64_t chunk = block_scan<Score>::chunk;

  Score const* scores;
  std::uint64_t stride, size, k, blocks;
  entry* buffers;
  std::uint64_t* sizes;

  void operator()(std::uint64_t b) const {
    std::uint64_t const all = (size + chunk - 1) / chunk;
    std::uint64_t const first = all * b / blocks;
    block_scan<Score> scan(scores, stride, k, buffers + b * buffer_for(k));
    scan.read_chunks(first, all * (b + 1) / blocks - first, size);
    sizes[b] = scan.size();
  }
};

/// Selects from rows, each on one thread. A thread claims rows when it is idle; those longer than
/// `longest` are left out.
template <class Rows, class Results>
struct select_row_by_row {
  using score = typename Rows::score;
  using entry = ranked<radix_key<score>>;

  Rows rows;
  Results results;
  std::uint64_t k, longest, rows_at_once;
  bool sorted;
  entry* buffers;
  std::uint64_t buffer;  // entries of a thread
  std::uint64_t* next;

  void operator()(std::uint64_t thread) const {
    for (;;) {
      std::uint64_t const first = Kokkos::atomic_fetch_add(next, rows_at_once);
      if (first >= rows.rows) return;
      for (auto r = first; r < Kokkos::min(first + rows_at_once, rows.rows); ++r)
        if (rows.size(r) <= longest) select(r, buffers + thread * buffer);
    }
  }

 private:
  void select(std::uint64_t r, entry* entries) const {
    std::uint64_t const n = rows.size(r), selected = Kokkos::min(k, n);
    if (selected == 0) return;
    block_scan<score> scan(rows.row(r), rows.stride, selected, entries);
    scan.read_chunks(0, (n + scan.chunk - 1) / scan.chunk, n);
    scan.finish();
    if (sorted) std::sort(entries, entries + selected);
    for (std::uint64_t i = 0; i < selected; ++i)
      results.write(r, i, entries[i].index, rows.row(r)[entries[i].index * rows.stride]);
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
  move_largest(all, k, static_cast<std::uint64_t>(end - all));
  std::copy_n(all, k, selected.data());
}

/// How rows are divided among threads.
struct row_plan {
  std::uint64_t longest;  // longer rows are selected by all threads together
  std::uint64_t threads, buffer;
};
template <class ExecSpace>
row_plan plan_rows(ExecSpace const& exec, std::uint64_t rows, std::uint64_t elements,
                   std::uint64_t k) {
  std::uint64_t const longest =
      Kokkos::max(std::uint64_t(1) << 16, elements / (4 * blocks_for(exec)));
  return {longest, Kokkos::min(blocks_for(exec), rows),
          Kokkos::min(buffer_for(Kokkos::min(k, elements)), Kokkos::min(longest, elements))};
}

/// Selects from the rows that are not too long. Blocks.
template <class ExecSpace, class Rows, class Results>
void select_short_rows(ExecSpace const& exec, Rows const& rows, std::uint64_t k,
                       row_plan const& plan, Results const& results, bool sorted) {
  using entry = ranked<radix_key<typename Rows::score>>;
  using memory = typename ExecSpace::memory_space;
  auto const buffers = allocated_array<Kokkos::View<entry*, memory>>(
      exec, "karpos::select_k: blocks", plan.threads * plan.buffer);
  std::uint64_t next = 0;
  Kokkos::parallel_for("karpos::select_k: select from rows",
                       Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>>(
                           exec, 0, plan.threads, Kokkos::ChunkSize(1)),
                       select_row_by_row<Rows, Results>{rows, results, k, plan.longest,
                                                        1 + rows.rows / (plan.threads * 32), sorted,
                                                        buffers.data(), plan.buffer, &next});
  exec.fence("karpos::select_k: before the blocks are freed");
}

}  // namespace karpos::detail::select_k
