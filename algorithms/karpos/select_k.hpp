// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/view_of_rank.hpp"
#include "karpos/detail/ranking/ranked.hpp"
#include "karpos/detail/ranking/select_k/run.hpp"

namespace karpos {

/// Options of a selection.
struct select_k_options {
  /// Sorts the results, the largest element first. Off: they come in no particular order.
  bool sorted = true;
};

/// Returns the bytes that select_k takes, while it runs, for k of `size` elements of type Score.
/// On GPUs, if k > 2,048 and size > 4,096, sorting takes about another 16 * k bytes, which are not
/// counted.
template <class Score, execution_space ExecSpace>
std::size_t select_k_bytes(ExecSpace const& exec, std::uint64_t size, std::uint64_t k) {
  return detail::select_k::rows_bytes<Score>(exec, 1, size, size, k);
}

/// Returns the bytes that select_k_rows takes at most, while it runs, for k elements of each of
/// `rows` rows of type Score: `size` elements in all, at most `longest` in a row. Sorts are not
/// counted.
template <class Score, execution_space ExecSpace>
std::size_t select_k_rows_bytes(ExecSpace const& exec, std::uint64_t rows, std::uint64_t size,
                                std::uint64_t longest, std::uint64_t k) {
  return detail::select_k::rows_bytes<Score>(exec, rows, size, longest, k);
}

/// Selects the k largest elements of a view of float, double or integers of 32 or 64 bits: writes
/// their indices and their values, out_values(r) = scores(out_indices(r)) for r in [0, k). Blocks
/// on CPUs, on GPUs if k > 2,048 and there are more than 4,096 elements, and if it allocates
/// without stream-ordered memory.
///
/// Among equal elements those with the smallest indices are selected; sorted results list them by
/// rising index. Either view of results may have no elements if it is not wanted. Elements from k
/// on are not written. Infinities are values like others; 0.0 and -0.0 are equal, and each is
/// written as it is in the view. NaN ranks behind everything else, and all NaNs are equal.
///
/// Complexity: one pass of comparisons
///   - on GPUs, if k <= 2,048 or there are at most 4,096 elements;
///   - on CPUs, by one thread, if there are at most 65,536 elements;
///   - on CPUs, by all threads, if k is at most an eighth of the elements, and the buffers of all
///     threads together (see Memory) have space for at most a quarter of the elements.
///   Otherwise one pass for each 12 bits, until the bits read separate the selected elements from
///   the others (at most 3 passes for 32 bits, 6 for 64), and two to collect. Sorting adds a sort
///   of k pairs, by one thread on CPUs.
/// Requires: the views do not overlap (not checked), the results go to views that are not const,
///   and the scores are not written meanwhile.
/// Concurrency: works on `exec`.
/// Memory: select_k_bytes, allocated and freed: 16 * k bytes and 32 KiB. In one pass: 32 * k bytes
///   for each team of a GPU, or 32 * k bytes and 16 KiB for each thread of a CPU.
/// Throws: std::invalid_argument if k is larger than the number of elements, if a view of results
///   has elements, but fewer than k, or if the type of indices is too small; allocation_error.
/// Source: the radix selection of Alabi, Blanchard, Gordon, Steinbach, "Fast k-selection algorithms
///   for graphics processing units", JEA 17, 2012.
template <execution_space ExecSpace, view_1d Scores, view_1d Indices, view_1d Values>
void select_k(ExecSpace const& exec, Scores const& scores, std::uint64_t k,
              Indices const& out_indices, Values const& out_values,
              select_k_options const& options = {}) {
  using namespace detail::select_k;
  require_types<ExecSpace, Scores, Indices, Values>();
  detail::user_call const call("select_k");
  std::uint64_t const n = scores.extent(0);
  require_selectable<Indices>("selected", k, n, n, out_indices.extent(0), out_values.extent(0));
  uniform_rows<typename Scores::non_const_value_type> const row{
      scores.data(), 1, n, n, static_cast<std::uint64_t>(scores.stride(0))};
  select_from_rows(exec, row, k, results_of_row(out_indices, out_values), options.sorted);
}

/// Selects the k largest elements of each row of a view [rows][columns], as select_k does of one:
/// out_indices(r, i) is the column, and out_values(r, i) the value, of the i-th element selected
/// from row r, for i in [0, k). Blocks as select_k of one row.
///
/// Rows that lie one after the other (LayoutRight) are read at the rate of memory; those of
/// LayoutLeft take GPUs up to eight times as long.
///
/// Complexity: one pass of comparisons. On GPUs a team reads a row, all rows in one kernel; if rows
///   are few and long, teams share them. Some rows are searched one after the other instead, each
///   by the whole machine as select_k does it:
///   - on GPUs all rows, if k > 2,048 and rows have more than 4,096 elements;
///   - on CPUs each row that has more than 65,536 elements and more than 1 / (4 * threads) of all
///     elements.
/// Requires, Concurrency, Source: as select_k.
/// Memory: select_k_rows_bytes, allocated and freed. On GPUs rows that teams read take nothing if
///   there are at least 2.5 rows for each multiprocessor, or at most 16,384 elements in all.
/// Throws: std::invalid_argument if k is larger than the number of columns, if a nonempty view of
///   results has too few rows, or fewer than k columns, or if the type of indices is too small;
///   allocation_error.
template <execution_space ExecSpace, detail::view_of_rank<2> Scores,
          detail::view_of_rank<2> Indices, detail::view_of_rank<2> Values>
void select_k_rows(ExecSpace const& exec, Scores const& scores, std::uint64_t k,
                   Indices const& out_indices, Values const& out_values,
                   select_k_options const& options = {}) {
  using namespace detail::select_k;
  require_types<ExecSpace, Scores, Indices, Values>();
  detail::user_call const call("select_k_rows");
  std::uint64_t const rows = scores.extent(0), columns = scores.extent(1);
  require_selectable<Indices>("selected", k, columns, columns, out_indices.extent(1),
                              out_values.extent(1));
  require_rows_of_results(rows, out_indices, out_values);
  uniform_rows<typename Scores::non_const_value_type> const all{
      scores.data(), rows, columns, static_cast<std::uint64_t>(scores.stride(0)),
      static_cast<std::uint64_t>(scores.stride(1))};
  select_from_rows(exec, all, k, results_of_rows(out_indices, out_values), options.sorted);
}

/// Selects the k largest elements of each row of a view, as above. Row r is the elements at
/// [offsets(r), offsets(r + 1)) of scores; the first of them has index 0. A row of fewer than k
/// elements gives all of them; results after them are not written. Blocks as if scores were one
/// row.
///
/// Requires: offsets are integers of 32 or 64 bits that do not fall, and the last is at most the
///   number of scores (not checked).
/// Memory: select_k_rows_bytes, with scores.extent(0) as the longest row if it is not known.
/// Throws: std::invalid_argument if a nonempty view of results has too few rows, or fewer than k
///   columns, if offsets are strided, or if the type of indices is too small for scores.extent(0);
///   allocation_error.
template <execution_space ExecSpace, detail::view_of_rank<1> Scores,
          detail::view_of_rank<1> Offsets, detail::view_of_rank<2> Indices,
          detail::view_of_rank<2> Values>
void select_k_rows(ExecSpace const& exec, Scores const& scores, Offsets const& offsets,
                   std::uint64_t k, Indices const& out_indices, Values const& out_values,
                   select_k_options const& options = {}) {
  using namespace detail::select_k;
  using offset = typename Offsets::non_const_value_type;
  require_types<ExecSpace, Scores, Indices, Values>();
  detail::require_reachable<ExecSpace, Offsets>();
  static_assert(std::is_integral_v<offset> && (sizeof(offset) == 4 || sizeof(offset) == 8),
                "karpos: offsets of rows come in a view of integers of 32 or 64 bits");
  detail::user_call const call("select_k_rows");
  std::uint64_t const n = scores.extent(0);
  std::uint64_t const rows = offsets.extent(0) == 0 ? 0 : offsets.extent(0) - 1;
  detail::require_contiguous("the offsets of rows", offsets);
  require_selectable<Indices>("selected", k, k, n, out_indices.extent(1), out_values.extent(1));
  require_rows_of_results(rows, out_indices, out_values);
  segment_rows<typename Scores::non_const_value_type, offset> const all{
      scores.data(), offsets.data(), rows, n, static_cast<std::uint64_t>(scores.stride(0))};
  select_from_rows(exec, all, Kokkos::min(k, n), results_of_rows(out_indices, out_values),
                   options.sorted);
}

}  // namespace karpos
