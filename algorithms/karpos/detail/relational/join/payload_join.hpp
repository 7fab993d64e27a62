// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
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
#include "karpos/detail/relational/partition/fixed_partitions.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"

// An inner join on GPUs with payload columns (payload_columns.hpp). Both tables are split into
// fixed-capacity partitions, keys and values apart. Partitions are joined as in split_join.hpp, but
// the right rows in scratch are materialised (materialised_tables.hpp). A left row's number is its
// index in the split, where its values lie side by side.
//
// Many partitions take two passes: a tile of one pass has so few rows per partition that less than
// a sector of a column would be written at once.

namespace karpos::detail::join {

/// Rows in fixed-capacity partitions, keys and values apart.
template <class Source>
struct payload_partitions {
  using word = typename Source::loaded;
  using values_type = typename Source::payload;
  using fixed_partitions_type = partition::fixed_partitions<typename Source::row>;
  key_only_row<word>* keys;
  values_type* values;
  std::uint32_t *taken, *filled;
  std::uint32_t capacity = 0;

  void allocate_from(arena& a, std::uint64_t partitions) {
    a.allocate(keys, partitions * capacity);
    a.allocate(values, partitions * capacity);
    a.allocate(taken, partitions);
    a.allocate(filled, partitions);
  }
  fixed_partitions_type fixed_partitions(std::uint64_t partitions,
                                         std::uint32_t* overflowed) const {
    return {taken, filled, nullptr, overflowed, capacity, 0, static_cast<int>(partitions)};
  }
  keys_and_payload<word, values_type> destination() const { return {&keys->key, values}; }
  payload_rows_in_partitions<Source> rows() const { return {&keys->key, values}; }
};

/// The join of two tables of one column each, both with exact words (split_rows.hpp). Functions is
/// the table whose functions compare rows.
template <class ExecSpace, class Left, class Right, class Functions, class LeftColumns,
          class RightColumns>
class payload_join {
  template <class Rows, class Columns>
  using source = payload_rows_to_split<Rows, Functions, Columns>;
  using left_side = payload_partitions<source<Left, LeftColumns>>;
  using right_side = payload_partitions<source<Right, RightColumns>>;
  using word = typename left_side::word;
  using row = key_only_row<word>;
  using table = payload_table<ExecSpace, word, typename RightColumns::values>;
  using sizes = split_sizes<ExecSpace, table>;

  struct memory {
    left_side left, coarse_left;
    right_side right, coarse_right;  // in the same memory as coarse_left
    std::uint64_t *right_begins, *right_ends;
    partition::chunk* chunks;
    join_counts* counts;
    std::size_t bytes;

    memory(sizes const& s, std::byte* from) {
      std::uint64_t const partitions = s.partitions(), coarse = s.passes().coarse_partitions();
      left.capacity = side_capacity<ExecSpace>(s.left, partitions, ~std::uint32_t(0));
      right.capacity = side_capacity<ExecSpace>(s.right, partitions, ~std::uint32_t(0));
      arena a(from);
      left.allocate_from(a, partitions);
      right.allocate_from(a, partitions);
      a.allocate(right_begins, partitions);
      a.allocate(right_ends, partitions);
      a.allocate(chunks, partitions * s.chunks_per_partition(left.capacity));
      a.allocate(counts, 1);
      bytes = a.bytes();
      if (coarse == 0) return;
      coarse_left.capacity = side_capacity<ExecSpace>(s.left, coarse, ~std::uint32_t(0));
      coarse_right.capacity = side_capacity<ExecSpace>(s.right, coarse, ~std::uint32_t(0));
      arena b = a;
      coarse_left.allocate_from(a, coarse);
      coarse_right.allocate_from(b, coarse);
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
  /// Returns whether both sides can be split into fixed-capacity partitions, in which rows are
  /// counted in 32 bits.
  bool has_fixed_partitions() const {
    memory const m(m_sizes, nullptr);
    std::uint64_t const partitions = m_sizes.partitions();
    bool const has_coarse = m.coarse_left.capacity > 0 && m.coarse_right.capacity > 0;
    return m.left.capacity > 0 && m.right.capacity > 0 &&
           partitions * m.left.capacity <= ~std::uint32_t(0) &&
           partitions * m.right.capacity <= ~std::uint32_t(0) &&
           (m_sizes.passes().coarse_bits == 0 || has_coarse);
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
    split(source<Right, RightColumns>{{m_right, m_functions, multiplier}, right}, m.right,
          m.coarse_right, &m.counts->overflowed[1]);
    split(source<Left, LeftColumns>{{m_left, m_functions, multiplier}, left}, m.left, m.coarse_left,
          &m.counts->overflowed[0]);
    auto const chunks = static_cast<int>(write_chunks(m));
    using emit = write_payload<LeftOut, RightOut>;
    using step = join_partitions<ExecSpace, row, same_word, emit, table>;
    device::for_each_in_league(
        "karpos::partitioned_join: join partitions", m_exec, chunks,
        step{{m.left.keys, m.right.keys, m.right_begins, m.right_ends, m.chunks},
             {m_sizes.partition_bits(), m.right.keys, m.right.values},
             m.counts,
             {},
             row_multiplicity(multiplicity::matches),
             {m.left.values, left_out, right_out, capacity}});
    join_counts const c = read_back(m_exec, m.counts, "karpos::partitioned_join: rows are counted");
    if (c.overflowed[0] + c.overflowed[1] != 0) return {};
    return c.rows;
  }

 private:
  template <class Source, class Side>
  void split(Source const& from, Side const& to, Side const& coarse,
             std::uint32_t* overflowed) const {
    split_passes const passes = m_sizes.passes();
    auto const fixed_partitions = to.fixed_partitions(m_sizes.partitions(), overflowed);
    auto const coarse_fixed_partitions =
        coarse.fixed_partitions(passes.coarse_partitions(), overflowed);
    join::split_into_fixed_partitions(m_exec, from, passes, fixed_partitions, to.destination(),
                                      coarse_fixed_partitions, coarse.destination(), coarse.rows());
  }
  /// Returns the number of chunks.
  std::uint64_t write_chunks(memory const& m) const {
    std::uint64_t const partitions = m_sizes.partitions(),
                        each = m_sizes.chunks_per_partition(m.left.capacity);
    device::loop_over(
        "karpos::partitioned_join: write chunks and bounds", m_exec, partitions * each,
        write_chunks_and_bounds<typename left_side::fixed_partitions_type,
                                typename right_side::fixed_partitions_type>{
            m.left.fixed_partitions(partitions, &m.counts->overflowed[0]),
            m.right.fixed_partitions(partitions, &m.counts->overflowed[1]), m.right_begins,
            m.right_ends, static_cast<std::uint32_t>(each), m.chunks});
    return partitions * each;
  }

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
