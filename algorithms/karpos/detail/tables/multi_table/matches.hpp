// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/prefix_sums.hpp"
#include "karpos/detail/relational/join/expansion.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/detail/tables/multi_table/blocks.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/rows.hpp"

// Emits all elements of some rows, one row after the other. A row is a query or a slot of the
// table, its elements are the values of its key. They are counted first. Work is split by elements
// (detail/relational/join/expansion.hpp), so that several threads emit a row of many elements. GPUs
// split it by rows if no row has more than a few elements. Then the prefix sum that says where a
// row's elements go also emits them, and nothing is stored.

namespace karpos::detail::multi_table {

/// Maximum of a row's elements for which one GPU thread writes all of them.
inline constexpr std::uint64_t max_row_elements = 4;

/// Number of elements of some rows, and of rows with more elements than a thread emits.
struct element_counts {
  std::uint64_t elements = 0, long_rows = 0;
  KOKKOS_FUNCTION element_counts& operator+=(element_counts const& other) {
    elements += other.elements;
    long_rows += other.long_rows;
    return *this;
  }
};

/// Rows, and the number of elements of each. Rows without elements count `unmatched_count`.
template <class Rows, class Blocks>
struct rows_of_elements {
  Rows rows;
  std::uint64_t row_count;
  Blocks blocks;
  std::uint64_t unmatched_count;
  KOKKOS_FUNCTION std::uint64_t count(typename Blocks::mapped head) const {
    return head == Blocks::none ? unmatched_count : blocks.count(head);
  }
};
template <class Rows, class Blocks>
struct count_elements : rows_of_elements<Rows, Blocks> {
  std::uint64_t* counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (i + rows_ahead < this->row_count) this->blocks.fetch_link(this->rows.head(i + rows_ahead));
    counts[i] = this->count(this->rows.head(i));
  }
};
template <class Rows, class Blocks>
struct sum_elements : rows_of_elements<Rows, Blocks> {
  std::uint64_t max_elements;  // maximum of a row that is not long
  KOKKOS_FUNCTION void operator()(std::uint64_t i, element_counts& sum) const {
    std::uint64_t const n = this->count(this->rows.head(i));
    sum.elements += n;
    sum.long_rows += n > max_elements;
  }
};
/// Emits the elements by a scan over rows, if no row has more than a few.
template <class Rows, class Blocks, class Emit>
struct emit_rows : rows_of_elements<Rows, Blocks> {
  Emit emit;
  KOKKOS_FUNCTION void operator()(std::uint64_t row, std::uint64_t& sum, bool final) const {
    auto const head = this->rows.head(row);
    std::uint64_t const first = sum, n = this->count(head);
    sum += n;
    if (!final || n == 0) return;
    if (head == Blocks::none) return emit.unmatched(first, row);
    std::uint64_t element = first;
    this->blocks.for_each(head, 0, n,
                          [&](auto const&... value) { emit(element++, row, value...); });
  }
};

/// Calls emit(element, row, value), or emit(element, row) for a set, for a slice of the elements.
/// Calls emit.unmatched(element, row) for the one element of a row that has no match. A slice is at
/// least as long as a chain of blocks, so that finding its first block costs no more than the
/// slice.
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
        emit.unmatched(element++, row);
      else
        blocks.for_each(head, element - begin, end - begin,
                        [&](auto const&... value) { emit(element++, row, value...); });
      if (element == last) return;
    }
  }
};

/// The elements of n rows. The constructor counts them, and waits. heads: memory of the rows, which
/// this object keeps.
template <class ExecSpace, class Rows, class Blocks>
class matches {
  using offsets_type = Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space>;
  using heads_type = Kokkos::View<typename Blocks::mapped*, typename ExecSpace::memory_space>;

 public:
  matches(ExecSpace const& exec, Rows const& rows, std::uint64_t n, Blocks const& blocks,
          std::uint64_t unmatched_count = 0, heads_type const& heads = {})
      : m_rows{rows, n, blocks, unmatched_count},
        m_heads(heads) {
    if constexpr (device::is_device<ExecSpace>) {
      auto const sum = device::reduce_over<Kokkos::Sum<element_counts>>(
          "karpos::multi_table: count", exec, n,
          sum_elements<Rows, Blocks>{m_rows, max_row_elements});
      m_size = sum.elements;
      m_has_long_rows = sum.long_rows > 0;
    } else {
      offsets(exec);
    }
  }

  std::uint64_t size() const { return m_size; }
  /// Returns where the elements of each row begin, and behind the last row their number. Computes
  /// that at the first call. Waits.
  std::uint64_t const* offsets(ExecSpace const& exec) {
    if (m_offsets.extent(0) > 0) return m_offsets.data();
    std::uint64_t const n = m_rows.row_count;
    m_offsets = allocate_or_explain<typename ExecSpace::memory_space>(
        (n + 1) * sizeof(std::uint64_t), "where the pairs of each key begin",
        "ask for fewer keys at once", [&] {
          return uninitialized_array<offsets_type>(exec, "karpos::multi_table: offsets", n + 1);
        });
    device::loop_over("karpos::multi_table: offsets", exec, n,
                      count_elements<Rows, Blocks>{m_rows, m_offsets.data()});
    m_size = detail::exclusive_scan("karpos::multi_table: scan", exec, m_offsets.data(), n);
    return m_offsets.data();
  }

  /// Emits all elements. Chains have at most longest_chain blocks. Asynchronous if there are no
  /// long rows; else waits for the offsets. Keep the rows until the elements are emitted.
  template <class Emit>
  void emit(ExecSpace const& exec, std::uint64_t longest_chain, Emit const& emit) {
    if constexpr (device::is_device<ExecSpace>)
      if (!m_has_long_rows)
        return Kokkos::parallel_scan("karpos::multi_table: emit rows",
                                     index_range(exec, m_rows.row_count),
                                     emit_rows<Rows, Blocks, Emit>{m_rows, emit});
    std::uint64_t const slice = Kokkos::max(join::tuning<ExecSpace>::slice_rows, longest_chain);
    offsets(exec);
    device::loop_over("karpos::multi_table: emit", exec, (m_size + slice - 1) / slice,
                      emit_slice<Rows, Blocks, device::held_by_loop<ExecSpace, Emit>>{
                          {m_offsets.data(), m_rows.row_count},
                          m_size,
                          slice,
                          m_rows.rows,
                          m_rows.blocks,
                          device::for_loop<ExecSpace>(emit)});
  }

 private:
  rows_of_elements<Rows, Blocks> m_rows;
  heads_type m_heads;
  offsets_type m_offsets;
  std::uint64_t m_size = 0;
  bool m_has_long_rows = true;  // CPUs do not count these rows
};

/// Writes an element: the key or query number of its row, and its value. Names: keys_of_slots or
/// query_numbers. Missing: the type of what a map writes for a row without a match; else no_value.
template <class Names, class Missing, class Out, class... Values>
struct write_element {
  Names names;
  Missing missing;
  Out out;
  pack<Values...> values;  // none of a set
  template <class... Value>
  KOKKOS_FUNCTION void operator()(std::uint64_t to, std::uint64_t row,
                                  Value const&... value) const {
    out(to) = static_cast<typename std::remove_cvref_t<Out>::value_type>(names.key(row));
    ((get<0>(values)(to) = value), ...);
  }
  KOKKOS_FUNCTION void unmatched(std::uint64_t to, std::uint64_t row) const {
    if constexpr (is_no_value<Missing>)
      (*this)(to, row);
    else
      (*this)(to, row, missing);
  }
  template <class Change>
  auto transformed(Change const& change) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using result = write_element<Names, Missing, decltype(change(out)),
                                   decltype(change(detail::get<I>(values)))...>;
      return result{names, missing, change(out), {{change(detail::get<I>(values))}...}};
    }(std::index_sequence_for<Values...>{});
  }
};
/// Calls f(key or query number, value), or f(key or query number) of a set, for an element.
template <class Names, class F>
struct visit_element {
  Names names;
  F f;
  template <class... T>
  KOKKOS_FUNCTION void operator()(std::uint64_t, std::uint64_t row, T const&... value) const {
    f(names.key(row), value...);
  }
  KOKKOS_FUNCTION void unmatched(std::uint64_t, std::uint64_t) const {}
  template <class Change>
  auto transformed(Change const& change) const {
    return visit_element<Names, decltype(change(f))>{names, change(f)};
  }
};
template <class T>
struct move_value {
  T* values;
  KOKKOS_FUNCTION void operator()(std::uint64_t to, std::uint64_t, T const& value) const {
    values[to] = value;
  }
  KOKKOS_FUNCTION void unmatched(std::uint64_t, std::uint64_t) const {}
};

/// Makes one block of each key's values, after these were moved.
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

template <>
struct Kokkos::reduction_identity<karpos::detail::multi_table::element_counts> {
  KOKKOS_FUNCTION static karpos::detail::multi_table::element_counts sum() { return {}; }
};
