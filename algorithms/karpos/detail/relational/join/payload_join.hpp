// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/join/join_partitions.hpp"
#include "karpos/detail/relational/join/materialised_tables.hpp"
#include "karpos/detail/relational/join/payload_columns.hpp"
#include "karpos/detail/relational/join/split_rows.hpp"
#include "karpos/detail/relational/join/split_side.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"

// An inner join on GPUs with payload columns (payload_columns.hpp): as in split_join.hpp with
// fixed-capacity partitions, but keys and values are split apart, and right rows are materialised
// (materialised_tables.hpp). A left row's number is its index in the split, where its values lie
// side by side.
//
// Many partitions take two passes: a tile of one pass has so few rows per partition that less than
// a sector of a column would be written at once.

namespace karpos::detail::join {

/// Rows in partitions of fixed capacity, keys and values apart.
template <class Source>
struct payload_rows {
  using word = typename Source::loaded;
  using values_type = typename Source::payload;
  key_only_row<word>* keys = nullptr;
  values_type* values = nullptr;

  void allocate_from(arena& a, std::uint64_t places) {
    a.allocate(keys, places);
    a.allocate(values, places);
  }
  keys_and_payload<word, values_type> destination() const { return {&keys->key, values}; }
};
/// The split of a side. The rows of coarse partitions lie in memory that both sides use in turn.
template <class ExecSpace, class Source>
struct payload_side_split {
  partition::capacity_split<ExecSpace, typename Source::row> split;
  payload_rows<Source> rows, coarse_rows;

  auto out() const { return rows.destination(); }
  auto coarse_out() const { return coarse_rows.destination(); }
};

/// The join of two tables of one column each, both with exact words (split_rows.hpp). Functions is
/// the table whose functions compare rows.
template <class ExecSpace, class Left, class Right, class Functions, class LeftColumns,
          class RightColumns>
class payload_join {
  template <class Rows, class Columns>
  using source = payload_rows_to_split<Rows, Functions, Columns>;
  using left_side = payload_side_split<ExecSpace, source<Left, LeftColumns>>;
  using right_side = payload_side_split<ExecSpace, source<Right, RightColumns>>;
  using word = typename payload_rows<source<Left, LeftColumns>>::word;
  using row = key_only_row<word>;
  using table = payload_table<ExecSpace, word, typename RightColumns::values>;
  using sizes = split_sizes<ExecSpace, table>;

  struct memory {
    left_side left;
    right_side right;
    std::uint64_t *right_begins, *right_ends;
    partition::chunk* chunks;
    join_counts* counts;
    std::size_t bytes;

    memory(sizes const& s, std::byte* from) {
      constexpr std::uint64_t most = ~std::uint32_t(0);  // rows of the split are 32-bit indices
      left.split = s.template split<typename source<Left, LeftColumns>::row>(s.left, most, most);
      right.split =
          s.template split<typename source<Right, RightColumns>::row>(s.right, most, most);
      arena a(from);
      left.split.allocate_from(a);
      right.split.allocate_from(a);
      left.rows.allocate_from(a, left.split.places());
      right.rows.allocate_from(a, right.split.places());
      a.allocate(right_begins, s.partitions());
      a.allocate(right_ends, s.partitions());
      a.allocate(chunks, s.partitions() * s.chunks_per_partition(left.split.fine.capacity));
      a.allocate(counts, 1);
      if (from != nullptr) {
        left.split.count_overflow_in(&counts->overflowed[0]);
        right.split.count_overflow_in(&counts->overflowed[1]);
      }
      arena b = a;
      left.coarse_rows.allocate_from(a, left.split.coarse_places());
      right.coarse_rows.allocate_from(b, right.split.coarse_places());
      bytes = std::max(a.bytes(), b.bytes());
    }
  };

 public:
  payload_join(ExecSpace const& exec, Left const& left, Right const& right,
               Functions const& functions)
      : m_exec(exec),
        m_left(left),
        m_right(right),
        m_functions(functions),
        m_sizes{left.size(), right.size()} {}

  std::size_t bytes() const { return memory(m_sizes, nullptr).bytes; }
  /// Returns whether both sides can be split into partitions of fixed capacity.
  bool has_fixed_partitions() const {
    memory const m(m_sizes, nullptr);
    return m.left.split.is_possible() && m.right.split.is_possible();
  }

  /// Writes the payload columns of the join's rows, as far as the output has space. Returns the
  /// number of rows of the join; nothing if a partition has overflowed. Waits.
  template <class LeftOut, class RightOut>
  std::optional<std::uint64_t> run(LeftColumns const& left, RightColumns const& right,
                                   LeftOut const& left_out, RightOut const& right_out,
                                   std::uint64_t capacity, std::byte* workspace) const {
    memory const m(m_sizes, workspace);
    fill_words("karpos::partitioned_join: clear counts", m_exec, m.counts, 1, 0);
    std::uint64_t const multiplier = join::word_multiplier(m_sizes.partition_bits());
    join::split_into_capacities(
        m_exec, source<Right, RightColumns>{{m_right, m_functions, multiplier}, right}, m.right);
    join::split_into_capacities(
        m_exec, source<Left, LeftColumns>{{m_left, m_functions, multiplier}, left}, m.left);
    auto const chunks =
        static_cast<int>(join::write_chunks(m_exec, m_sizes, m.left.split.fine, m.right.split.fine,
                                            m.right_begins, m.right_ends, m.chunks));
    using emit = write_payload<LeftOut, RightOut>;
    using step = join_partitions<ExecSpace, row, same_word, emit, table>;
    device::for_each_in_league(
        "karpos::partitioned_join: join partitions", m_exec, chunks,
        step{{m.left.rows.keys, m.right.rows.keys, m.right_begins, m.right_ends, m.chunks},
             {m_sizes.partition_bits(), m.right.rows.keys, m.right.rows.values},
             m.counts,
             {},
             row_multiplicity(multiplicity::matches),
             {m.left.rows.values, left_out, right_out, capacity}});
    join_counts const c = read_back(m_exec, m.counts, "karpos::partitioned_join: rows are counted");
    if (c.overflowed[0] + c.overflowed[1] != 0) return {};
    return c.rows;
  }

 private:
  ExecSpace m_exec;
  Left m_left;
  Right m_right;
  Functions m_functions;
  sizes m_sizes;
};

/// Whether payload columns can be moved with the rows of two tables.
template <class ExecSpace, class Left, class Right, class LeftColumns, class RightColumns>
inline constexpr bool can_join_with_payload =
    device::is_device<ExecSpace> && has_exact_words<Left, Right, Right> && LeftColumns::fit &&
    RightColumns::fit;

/// Calls f(join, whether the sides are swapped). The smaller table becomes the right one, which is
/// held in scratch.
template <class ExecSpace, class Left, class Right, class LeftColumns, class RightColumns, class F>
auto with_payload_join(ExecSpace const& exec, Left const& left, Right const& right,
                       LeftColumns const&, RightColumns const&, F const& f) {
  if (left.size() < right.size())
    return f(payload_join<ExecSpace, Right, Left, Right, RightColumns, LeftColumns>(exec, right,
                                                                                    left, right),
             std::true_type{});
  return f(payload_join<ExecSpace, Left, Right, Right, LeftColumns, RightColumns>(exec, left, right,
                                                                                  right),
           std::false_type{});
}

}  // namespace karpos::detail::join
