// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/prefix_sums.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/relational/join/expansion.hpp"
#include "karpos/detail/relational/join/gather.hpp"
#include "karpos/detail/relational/join/matches.hpp"
#include "karpos/detail/relational/join/plan.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/join_options.hpp"
#include "karpos/row_index.hpp"
#include "karpos/rows.hpp"

// Joins of two tables by equal rows. The right table is indexed (row_index.hpp): by the caller, who
// may then join it several times, or by the join.
//
//   left       | a | b | c | b |         right   | b | a | b | d |
//   begins     | 2 | 0 | . | 0 |         runs    | 0 2 | 1 | 3 |      b is in rows 0 and 2
//   offsets    | 0 | 1 | 3 | 3 | 5 |     a prefix sum over the matches of each left row
//   pairs      | 0,1 | 1,0 | 1,2 | 3,0 | 3,2 |
//
// A join finds the matches once and says how many rows it has. Then it writes these rows, or passes
// them to a function. Threads take rows of the output and find the left row of each by a search in
// the offsets, so the work for a frequent row, on either side, is shared
// (detail/relational/join/expansion.hpp). If the left table is the indexed one, swap the arguments,
// and use the mirrored kind: join_kind::right instead of left, right_semi instead of left_semi. The
// outputs and the arguments of a predicate are then swapped, too.
//
// A run is the numbers of the rows of one group of equal rows, side by side in the index; begins
// says where the run of each left row begins.

namespace karpos {

/// Predicate that accepts every pair of equal rows.
struct every_pair {};

/// Row numbers of pairs: pair j is (left(j), right(j)).
template <class Number, class MemorySpace>
struct join_pairs {
  Kokkos::View<Number*, MemorySpace> left, right;
};

/// Holds the matches of two tables. They are found once, by the constructor; then size() is known,
/// and the rows can be written any number of times. Rows come in the order of left rows, and for
/// each in the order of right rows. Rows that show no left row come last, in the order of right
/// rows: right rows without a match, and all rows of right_semi and right_anti joins.
///
/// Rows are compared by the functions and the rule for nulls of the index's rows. For SQL's joins
/// make the index of rows with_nulls(null_equality::unequal): rows with a null then match nothing,
/// and count as rows without a match. The right table is the rows that were indexed before the
/// join: those that the index's constructor took (row_index_options::rows, less those that its mask
/// left out), and those that insert appended. Exception: if nulls are unequal, a right row with a
/// null is listed as a row without a match even if the mask left it out.
///
/// A join shares the index's memory, and may read the right columns later: do not change them. The
/// left columns are not needed later. Rows appended to the index later do not change the join.
/// Copies of a join share its memory. write, pairs, rows and for_each_pair are asynchronous: call
/// exec.fence() before the last copy is destroyed. These four only read the join: several host
/// threads may call them at the same time on different instances.
template <class Left, class Index, class Predicate = every_pair>
class join {
  static_assert(detail::is_row_view<Left>, "karpos: the left side of a join is rows(column, ...)");
  static_assert(detail::is_row_index<Index>,
                "karpos: the right side of a join is rows(column, ...), or a row_index of them");
  static_assert(
      std::is_same_v<typename Left::row_type, typename Index::rows_type::row_type>,
      "karpos: the two sides of a join have columns of the same types, in the same order");

 public:
  using execution_space = typename Index::execution_space;
  using memory_space = typename Index::memory_space;
  using number_type = typename Index::number_type;
  using pairs_type = join_pairs<number_type, memory_space>;

  /// Finds the matches of every left row in the index of the right rows. An index that dropped
  /// duplicates gives at most one, the first of equal rows. Blocks.
  ///
  /// Complexity: a lookup for each left row and a prefix sum; for the kinds right, full, right_semi
  ///   and right_anti also a pass over the right rows.
  /// Concurrency: works on `exec`.
  /// Memory: bytes_for(left rows, right rows, kind), and what lookups by the index allocate.
  /// Throws: std::invalid_argument if `kind` is no join_kind, if options.memory is too small or not
  ///   aligned, for the four kinds above if the index dropped duplicates, and if both sides have
  ///   nullable columns, with or without nulls in them, and nulls are unequal in the left rows, but
  ///   equal in the index's rows; allocation_error.
  /// Source: Balkesen, Teubner, Alonso, Özsu, "Main-memory hash joins on multi-core CPUs", ICDE
  ///   2013, for the phases; Green, McColl, Bader, "GPU merge path", ICS 2012, for work that is
  ///   split by the output.
  join(execution_space const& exec, Left const& left, Index const& index, join_kind kind,
       join_options const& options = {})
      : join(exec, left, index, kind, Predicate{}, options) {}

  /// Finds the matches among pairs of equal rows (candidates): those that a predicate accepts.
  /// accepts(left, right) is called in a kernel with their row numbers, of type std::uint64_t, once
  /// for each candidate. It may not throw (operations.hpp says what functors may do).
  ///
  /// Complexity: also a pass over the candidates.
  /// Memory: also allocates a quarter of a byte for each candidate.
  join(execution_space const& exec, Left const& left, Index const& index, join_kind kind,
       Predicate const& accepts, join_options const& options = {})
      : m_index(index),
        m_kind(kind),
        m_left(left.size()),
        m_right(detail::row_index::index_access::groups(index).end()),
        m_workspace(exec, "join::bytes_for(left rows, right rows, kind)",
                    (detail::user_call("join"), require_rows(),
                     detail::require_rule_for_nulls(left, index.rows()), options.memory),
                    arrays(m_left, m_right, marks_right(kind), has_predicate).bytes,
                    detail::workspace_lifetime::object),
        m_arrays(m_left, m_right, marks_right(kind), has_predicate, m_workspace.data()) {
    detail::user_call const call("join");
    find_matches(exec, left);
    if constexpr (has_predicate) {
      apply_predicate(exec, accepts);
      m_of_left = scan(exec, m_arrays.offsets);
    } else {
      m_of_left = count_rows(exec);
    }
    if (marks_right(kind)) mark_right_rows(exec);
    exec.fence("karpos::join: matched");
  }

  /// Indexes the right rows, and finds the matches as above: join(exec, rows(a), rows(b), kind).
  /// The index belongs to the join. How it is built and searched, directly or by partitions, is the
  /// index's decision (bulk_strategy::automatic). partitioned_join (partitioned_join.hpp) writes
  /// the rows of such a join without an index, and is faster if they are wanted once.
  ///
  /// Complexity: also that of building an index (row_index.hpp).
  /// Memory: also that of an index; options.memory is for the join alone.
  /// Throws: also std::invalid_argument for more than 2^31 - 8 right rows; 2^40 - 8 if Index is
  ///   given as a template argument with RowNumber = std::uint64_t.
  join(execution_space const& exec, Left const& left, typename Index::rows_type const& right,
       join_kind kind, join_options const& options = {})
      : join(exec, left, right, kind, Predicate{}, options) {}
  join(execution_space const& exec, Left const& left, typename Index::rows_type const& right,
       join_kind kind, Predicate const& accepts, join_options const& options = {})
      : join(exec, left, (detail::user_call("join"), Index(exec, right)), kind, accepts, options) {}

  /// Returns the bytes of a join; they do not depend on columns or matches. For each left row 12,
  /// or 20 with a predicate; 4 more if the index has row numbers of 64 bits. For the kinds right,
  /// full, right_semi and right_anti also 4 for each right row. `right` counts all rows indexed or
  /// appended so far, also those with nulls or left out by a mask. To call this before there is a
  /// join, name its type:
  /// join<Left, Index>::bytes_for(…), or join<Left, Index, Predicate>::bytes_for(…).
  /// Throws: std::invalid_argument for an unknown kind.
  static std::size_t bytes_for(std::uint64_t left, std::uint64_t right, join_kind kind) {
    detail::user_call const call("join::bytes_for");
    detail::require_enumerators(kind);
    return arrays(left, right, marks_right(kind), has_predicate).bytes;
  }

  /// Returns the number of rows of the join.
  std::uint64_t size() const { return m_of_left + m_of_right; }
  join_kind kind() const { return m_kind; }
  /// Returns whether the join's rows are pairs, not single numbers.
  bool has_pairs() const { return detail::join::has_pairs(m_kind); }

  /// Writes row j of the join, a pair, to left(j) and right(j); no_row of their types if there is
  /// no such row. The views have at least size() elements, integers of 32 or 64 bits; elements from
  /// size() on are not written. Asynchronous, on any instance.
  ///
  /// Requires: the outputs overlap no other view, nor the index's columns.
  /// Complexity: O(size), and a search of O(log left rows) for each slice of neighbouring rows of
  ///   the output, however skewed the rows are; for the kinds right, full, right_semi and
  ///   right_anti also a pass over the right rows.
  /// Throws: std::invalid_argument if views are too short (the message says how many rows there
  ///   are), if their integers are too small for the row numbers, and for a kind without pairs.
  ///   Nothing is written then.
  template <view_1d LeftOut, view_1d RightOut>
  void write(execution_space const& exec, LeftOut const& left, RightOut const& right) const {
    detail::user_call const call("join", "write");
    detail::join::require_kind(m_kind, true);
    require_output("the output for left rows", left, m_left);
    require_output("the output for right rows", right, m_right);
    emit(exec, detail::join::write_pair<LeftOut, RightOut>{left, right});
  }
  /// Writes row j of a semi or anti join, one number, to out(j). Otherwise as write of pairs.
  ///
  /// Throws: as write of pairs, except that kinds with pairs are refused.
  template <view_1d Out>
  void write(execution_space const& exec, Out const& out) const {
    detail::user_call const call("join", "write");
    detail::join::require_kind(m_kind, false);
    bool const of_left = detail::join::is_of_left(m_kind);
    require_output("the output of a join", out, of_left ? m_left : m_right);
    if (of_left)
      emit(exec, detail::join::write_side<Out, true>{out});
    else
      emit(exec, detail::join::write_side<Out, false>{out});
  }

  /// Returns the pairs in new views. Asynchronous.
  ///
  /// Throws: as write; also std::invalid_argument if the index's row numbers are too small for the
  ///   left rows; allocation_error.
  pairs_type pairs(execution_space const& exec) const {
    detail::user_call const call("join", "pairs");
    detail::join::require_kind(m_kind, true);
    require_own_numbers();
    pairs_type const out{allocate(exec), allocate(exec)};
    write(exec, out.left, out.right);
    return out;
  }
  /// Returns the rows of a semi or anti join in a new view. Asynchronous. Throws: as pairs.
  Kokkos::View<number_type*, memory_space> rows(execution_space const& exec) const {
    detail::user_call const call("join", "rows");
    detail::join::require_kind(m_kind, false);
    if (detail::join::is_of_left(m_kind)) require_own_numbers();
    auto const out = allocate(exec);
    write(exec, out);
    return out;
  }

  /// Calls f(left, right) in a kernel, with std::uint64_t, once for each pair, in any order;
  /// no_row<std::uint64_t> if there is no such row. Nothing is stored. Asynchronous.
  ///
  /// Throws: std::invalid_argument for a kind without pairs.
  template <class F>
  void for_each_pair(execution_space const& exec, F const& f) const {
    detail::user_call const call("join", "for_each_pair");
    static_assert(std::is_invocable_v<F const&, std::uint64_t, std::uint64_t>,
                  "karpos: the visitor of a join is called as f(left, right), const");
    detail::join::require_kind(m_kind, true);
    emit(exec, detail::join::visit_pair<F>{f});
  }

 private:
  static constexpr bool has_predicate = !std::is_same_v<Predicate, every_pair>;
  using arrays = detail::join::arrays<number_type>;
  using runs = detail::join::runs<number_type>;
  using matches =
      std::conditional_t<has_predicate, detail::join::accepted_matches<number_type>, runs>;
  using right_row_filter = detail::join::right_row_filter<typename Index::rows_type, number_type>;

  static bool marks_right(join_kind k) {
    return k == join_kind::right || k == join_kind::full || k >= join_kind::right_semi;
  }
  /// Finds the run of each left row: its group id for now, or its only row if there are no runs.
  void find_matches(execution_space const& exec, Left const& left) {
    auto const found = detail::unmanaged<memory_space>(m_arrays.begins, m_left);
    if (groups().has_runs)
      m_index.label(exec, left, found);
    else
      m_index.find(exec, left, found);
  }
  /// Writes the prefix sums of the numbers of rows that left rows become. Returns the sum of all.
  std::uint64_t scan_matches(execution_space const& exec, std::uint64_t* sums,
                             detail::join::multiplicity of) {
    if (!groups().has_runs)
      return detail::exclusive_scan("karpos::join: scan", exec,
                                    detail::join::count_of_one<number_type>{runs_of_left(), of},
                                    sums, m_left);
    device::loop_over(
        "karpos::join: count matches", exec, m_left,
        detail::join::count_matches<number_type>{groups(), m_arrays.begins, sums, of});
    return scan(exec, sums);
  }
  std::uint64_t scan(execution_space const& exec, std::uint64_t* sums) const {
    return detail::exclusive_scan("karpos::join: scan", exec, sums, m_left);
  }
  /// Counts the rows that left rows become. An index without runs needs no offsets if all left rows
  /// become one row, or all none.
  std::uint64_t count_rows(execution_space const& exec) {
    auto const of = detail::join::multiplicity_of(m_kind);
    if (!groups().has_runs) {
      auto const rows = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
          "karpos::join: count rows", exec, m_left,
          detail::join::count_of_one<number_type>{runs_of_left(), of});
      if (rows == 0 || rows == m_left) {
        m_arrays.offsets = nullptr;
        return rows;
      }
    }
    return scan_matches(exec, m_arrays.offsets, of);
  }
  /// Calls the predicate for every candidate, and counts the accepted ones.
  void apply_predicate(execution_space const& exec, Predicate const& accepts) {
    m_candidates = scan_matches(exec, m_arrays.candidates, detail::join::multiplicity::matches);
    detail::arena sizes;
    m_accepted.allocate_from(sizes, m_candidates);
    m_bits_memory = detail::allocate_byte_array<memory_space>(exec, "karpos::join: candidates",
                                                              sizes.bytes(), "candidates of a join",
                                                              "join fewer rows at once");
    detail::arena memory(m_bits_memory.data());
    m_accepted.allocate_from(memory, m_candidates);
    using body = detail::join::accept_candidates<number_type,
                                                 device::held_by_loop<execution_space, Predicate>>;
    device::loop_over("karpos::join: accept", exec, m_accepted.words,
                      body{runs_of_left(), candidates(), m_candidates,
                           device::for_loop<execution_space>(accepts), m_accepted});
    m_accepted.rank("karpos::join: scan", exec);
    device::loop_over(
        "karpos::join: count accepted", exec, m_left,
        detail::join::count_accepted<number_type>{matches_of_left(), m_arrays.offsets,
                                                  detail::join::multiplicity_of(m_kind)});
  }
  /// Marks the right rows that have a match, and counts the output rows that have no left row.
  void mark_right_rows(execution_space const& exec) {
    detail::fill_words("karpos::join: clear marks", exec, m_arrays.marks, m_right, 0);
    if constexpr (has_predicate)
      device::loop_over("karpos::join: mark", exec, m_accepted.words,
                        detail::join::mark_accepted<number_type>{matches_of_left(), m_candidates,
                                                                 m_arrays.marks});
    else
      device::loop_over("karpos::join: mark", exec, m_left,
                        detail::join::mark_runs<number_type>{runs_of_left(), m_arrays.marks});
    right_row_filter const all = chosen();
    m_of_right = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::join: count right rows", exec, m_right,
        device::make_body<execution_space, detail::join::count_chosen>(all));
  }

  template <class Emit>
  void emit(execution_space const& exec, Emit const& emit) const {
    constexpr std::uint64_t slice = detail::join::tuning<execution_space>::slice_rows;
    device::loop_over(
        "karpos::join: write", exec, (m_of_left + slice - 1) / slice,
        detail::join::emit_slice<slice, matches, device::held_by_loop<execution_space, Emit>>{
            {m_arrays.offsets, m_left},
            m_of_left,
            matches_of_left(),
            device::for_loop<execution_space>(emit)});
    if (m_of_right > 0)
      Kokkos::parallel_scan(
          "karpos::join: write right rows", detail::index_range(exec, m_right),
          detail::join::emit_chosen<right_row_filter, Emit>{chosen(), m_of_left, emit});
  }

  auto groups() const { return detail::row_index::index_access::groups(m_index).runs(); }
  runs runs_of_left() const {
    return {m_arrays.begins, groups().has_runs ? groups().grouped : nullptr};
  }
  detail::join::expansion candidates() const { return {m_arrays.candidates, m_left}; }
  matches matches_of_left() const {
    if constexpr (has_predicate)
      return {runs_of_left(), candidates(), m_accepted};
    else
      return runs_of_left();
  }
  right_row_filter chosen() const {
    return {m_index.rows(), groups(), m_arrays.marks, !has_predicate,
            m_kind == join_kind::right_semi};
  }

  void require_rows() const {
    detail::require_enumerators(m_kind);
    if (marks_right(m_kind) && !detail::row_index::index_access::groups(m_index).keeps_duplicates())
      detail::reject("a join cannot list right rows of an index that dropped duplicates",
                     "it holds the first of equal rows only", "build it with duplicates::kept");
  }
  void require_own_numbers() const {
    detail::require_holds<number_type>(
        "the index's RowNumber", m_left,
        "write to views of std::uint64_t, or make the index with RowNumber = std::uint64_t");
  }
  template <class Out>
  void require_output(char const* what, Out const& out, std::uint64_t rows) const {
    detail::join::require_numbers<execution_space>(what, out, rows);
    detail::require_length(what, out.extent(0), size());
  }
  Kokkos::View<number_type*, memory_space> allocate(execution_space const& exec) const {
    return detail::allocate_array<Kokkos::View<number_type*, memory_space>>(
        exec, "karpos::join: rows", "the rows of a join", "visit them by for_each_pair", size());
  }

  Index m_index;
  join_kind m_kind;
  std::uint64_t m_left, m_right;  // rows of the two sides
  detail::workspace<execution_space> m_workspace;
  arrays m_arrays;
  std::uint64_t m_candidates = 0;
  Kokkos::View<std::byte*, memory_space> m_bits_memory;
  detail::ranked_bits m_accepted;
  std::uint64_t m_of_left = 0;   // rows of the join that have a left row
  std::uint64_t m_of_right = 0;  // rows of the join that have none
};

template <class ExecSpace, class Left, class Index>
join(ExecSpace const&, Left const&, Index const&, join_kind, join_options const& = {})
    -> join<Left, Index>;
template <class ExecSpace, class Left, class Index, class Predicate>
join(ExecSpace const&, Left const&, Index const&, join_kind, Predicate const&,
     join_options const& = {}) -> join<Left, Index, Predicate>;

template <class ExecSpace, class Left, class Hash, class Equal, class... Columns>
join(ExecSpace const&, Left const&, row_view<Hash, Equal, Columns...> const&, join_kind,
     join_options const& = {})
    -> join<Left, row_index<row_view<Hash, Equal, Columns...>, ExecSpace>>;
template <class ExecSpace, class Left, class Hash, class Equal, class... Columns, class Predicate>
join(ExecSpace const&, Left const&, row_view<Hash, Equal, Columns...> const&, join_kind,
     Predicate const&, join_options const& = {})
    -> join<Left, row_index<row_view<Hash, Equal, Columns...>, ExecSpace>, Predicate>;

/// Returns the number of rows of a join without a predicate, in memory that it allocates. Blocks.
/// The right side is rows, or an index of them. Otherwise as the constructor of join.
template <execution_space ExecSpace, class Left, class Right>
std::uint64_t join_size(ExecSpace const& exec, Left const& left, Right const& right,
                        join_kind kind) {
  detail::user_call const call("join_size");
  return karpos::join(exec, left, right, kind).size();
}

/// Writes column(indices(i)) to out(i); `missing` if indices(i) is no_row of its type or the value
/// is a null. The column is a view or nullable(values, mask). Asynchronous.
///
/// Requires: every other index is below the length of the column (checked with KARPOS_CONTRACTS;
///   without, memory beyond the column is read); the output does not overlap the column.
/// Throws: std::invalid_argument if the output is not as long as the indices.
template <execution_space ExecSpace, view_1d Indices, detail::column Column, view_1d Out>
void gather(ExecSpace const& exec, Indices const& indices, Column const& column,
            typename detail::column_traits<Column>::value_type const& missing, Out const& out) {
  using value = typename detail::column_traits<Column>::value_type;
  detail::require_reachable<ExecSpace, Indices, Out>();
  detail::require_reachable_columns<ExecSpace, detail::column_traits<Column>>();
  static_assert(std::is_same_v<typename Out::value_type, value>,
                "karpos: gather writes to a view of the column's value type, which is not const");
  static_assert(std::is_integral_v<typename Indices::non_const_value_type>,
                "karpos: rows are gathered by a view of integers");
  detail::user_call const call("gather");
  detail::require_same_extent("the indices", indices.extent(0), "the output", out.extent(0));
  detail::join::gather(exec, indices, column, missing, out);
}
/// Calls gather above with a value-initialised `missing`: zero for numbers.
template <execution_space ExecSpace, view_1d Indices, detail::column Column, class Out>
  requires is_view_1d<Out>
void gather(ExecSpace const& exec, Indices const& indices, Column const& column, Out const& out) {
  karpos::gather(exec, indices, column, typename detail::column_traits<Column>::value_type{}, out);
}
/// Returns what gather above writes, in a new view. Asynchronous. Throws: allocation_error.
template <execution_space ExecSpace, view_1d Indices, detail::column Column>
auto gather(ExecSpace const& exec, Indices const& indices, Column const& column,
            typename detail::column_traits<Column>::value_type const& missing = {}) {
  using value = typename detail::column_traits<Column>::value_type;
  detail::user_call const call("gather");
  auto const out = detail::allocate_array<Kokkos::View<value*, typename ExecSpace::memory_space>>(
      exec, "karpos::gather", "the values of a gather", "gather fewer rows at once",
      indices.extent(0));
  karpos::gather(exec, indices, column, missing, out);
  return out;
}

}  // namespace karpos
