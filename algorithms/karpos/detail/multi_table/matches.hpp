// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/join/expansion.hpp"
#include "karpos/detail/join/tuning.hpp"
#include "karpos/detail/multi_table/blocks.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/rows.hpp"

// Everything that belongs to some rows, to queries or to the slots of a table, one element after the other: counted, summed up,
// then emitted. Work is split by elements (detail/join/expansion.hpp), so that a key with many is shared.

namespace karpos::detail::multi_table {

/// Elements of each row; of those without any, `least`.
template <class Rows, class Blocks>
struct count_elements {
  Rows rows;
  std::uint64_t n;
  Blocks blocks;
  std::uint64_t least;
  std::uint64_t* counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (i + rows_ahead < n) blocks.fetch_link(rows.head(i + rows_ahead));
    auto const head = rows.head(i);
    counts[i] = head == Blocks::none ? least : blocks.count(head);
  }
};

/// Calls emit(element, row, value), or emit(element, row) of a set, for a slice of the elements; emit.without(element, row) for
/// the one of a row that has none. A slice is not shorter than a chain of blocks: its first block is searched once.
template <class Rows, class Blocks, class Emit>
struct emit_slice {
  join::expansion elements;
  std::uint64_t size, slice;
  Rows rows;
  Blocks blocks;
  Emit emit;

  KOKKOS_FUNCTION void operator()(std::uint64_t s) const {
    std::uint64_t element = s * slice;
    std::uint64_t const last = Kokkos::min(element + slice, size);
    for (std::uint64_t row = elements.row_of(element); element < last;
         row = elements.row_from(row + 1, element)) {
      std::uint64_t const begin = elements.offsets[row];
      std::uint64_t const end = Kokkos::min(elements.offsets[row + 1], last);
      if (row + rows_ahead < elements.rows) {
        blocks.fetch_link(rows.head(row + rows_ahead));
        blocks.fetch_values(rows.head(row + rows_ahead));
      }
      auto const head = rows.head(row);
      if (head == Blocks::none)
        emit.without(element++, row);
      else
        blocks.for_each(head, element - begin, end - begin,
                        [&](auto const&... value) { emit(element++, row, value...); });
      if (element == last) return;
    }
  }
};

/// The elements of n rows. They are found by the constructor, which waits.
template <class ExecSpace, class Rows, class Blocks>
class matches {
  using offsets_type = Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space>;

 public:
  matches(ExecSpace const& exec, Rows const& rows, std::uint64_t n, Blocks const& blocks,
          std::uint64_t least = 0)
      : m_rows(rows),
        m_blocks(blocks),
        m_n(n),
        m_offsets(allocate_or_explain<typename ExecSpace::memory_space>(
            (n + 1) * sizeof(std::uint64_t), "where the pairs of each key begin",
            "ask for fewer keys at once", [&] {
              return uninitialized_array<offsets_type>(exec, "karpos::multi_table: offsets", n + 1);
            })) {
    device::loop_over("karpos::multi_table: count", exec, n,
                      count_elements<Rows, Blocks>{rows, n, blocks, least, m_offsets.data()});
    m_size = join::scan(exec, m_offsets.data(), n);
  }

  std::uint64_t size() const { return m_size; }
  std::uint64_t const* offsets() const { return m_offsets.data(); }

  /// Emits all; chains have so many blocks at most. Asynchronous: keep the rows until then.
  template <class Emit>
  void emit(ExecSpace const& exec, std::uint64_t longest_chain, Emit const& emit) const {
    std::uint64_t const slice = Kokkos::max(join::tuning<ExecSpace>::slice_rows, longest_chain);
    device::loop_over("karpos::multi_table: emit", exec, (m_size + slice - 1) / slice,
                      emit_slice<Rows, Blocks, Emit>{
                          {m_offsets.data(), m_n}, m_size, slice, m_rows, m_blocks, emit});
  }

 private:
  Rows m_rows;
  Blocks m_blocks;
  std::uint64_t m_n;
  offsets_type m_offsets;
  std::uint64_t m_size = 0;
};

// What is done with an element.
template <class Queries, class Values, class T>
struct write_match {
  Queries queries;
  Values values;
  T missing;
  KOKKOS_FUNCTION void operator()(std::uint64_t to, std::uint64_t query, T const& value) const {
    queries(to) = static_cast<typename Queries::value_type>(query);
    values(to) = value;
  }
  KOKKOS_FUNCTION void without(std::uint64_t to, std::uint64_t query) const {
    (*this)(to, query, missing);
  }
};
template <class Queries>
struct write_query {
  Queries queries;
  KOKKOS_FUNCTION void operator()(std::uint64_t to, std::uint64_t query) const {
    queries(to) = static_cast<typename Queries::value_type>(query);
  }
  KOKKOS_FUNCTION void without(std::uint64_t to, std::uint64_t query) const { (*this)(to, query); }
};
template <class F>
struct visit_match {
  F f;
  template <class... T>
  KOKKOS_FUNCTION void operator()(std::uint64_t, std::uint64_t query, T const&... value) const {
    f(query, value...);
  }
  KOKKOS_FUNCTION void without(std::uint64_t, std::uint64_t) const {}
};
template <class Slots, class F>
struct visit_pair {
  Slots slots;
  F f;
  template <class... T>
  KOKKOS_FUNCTION void operator()(std::uint64_t, std::uint64_t slot, T const&... value) const {
    f(slots.key(slot), value...);
  }
  KOKKOS_FUNCTION void without(std::uint64_t, std::uint64_t) const {}
};
template <class Slots, class Keys, class... Values>
struct write_pair {
  Slots slots;
  Keys keys;
  pack<Values...> values;
  template <class... T>
  KOKKOS_FUNCTION void operator()(std::uint64_t to, std::uint64_t slot, T const&... value) const {
    keys(to) = slots.key(slot);
    ((get<0>(values)(to) = value), ...);
  }
  KOKKOS_FUNCTION void without(std::uint64_t, std::uint64_t) const {}
};
template <class T>
struct move_value {
  T* values;
  KOKKOS_FUNCTION void operator()(std::uint64_t to, std::uint64_t, T const& value) const {
    values[to] = value;
  }
  KOKKOS_FUNCTION void without(std::uint64_t, std::uint64_t) const {}
};

/// After the values were moved: one block for each key.
template <class Slots, class Blocks>
struct join_blocks {
  Slots slots;
  Blocks blocks;
  std::uint64_t const* offsets;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (slots.head(i) == Blocks::none) return;
    slots.set_head(i, blocks.write_block(offsets[i], offsets[i + 1] - offsets[i]));
  }
};

}  // namespace karpos::detail::multi_table
