// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/join/carried_columns.hpp"
#include "karpos/detail/join/join_parts.hpp"
#include "karpos/detail/join/split_rows.hpp"
#include "karpos/detail/join/split_side.hpp"
#include "karpos/detail/join/tuning.hpp"
#include "karpos/detail/join/whole_tables.hpp"
#include "karpos/detail/partition/chunks.hpp"
#include "karpos/detail/partition/rooms.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"

// An inner join on GPUs that carries payload columns (carried_columns.hpp). Both tables are split
// into fixed-capacity partitions (`rooms`), keys and values apart. Partitions are joined as in
// split_join.hpp, but the right rows in scratch are materialised (whole_tables.hpp). A left row's
// number is its index in the split, where its values lie side by side.
//
// Many partitions take two passes: a tile of one pass has so few rows per partition that less than
// a sector of a column would be written at once.

namespace karpos::detail::join {

/// Rows in fixed-capacity partitions, keys and values apart.
template <class Source>
struct rooms_of_carried {
  using word = typename Source::loaded;
  using values_type = typename Source::rest;
  using rooms_type = partition::rooms<typename Source::row>;
  lone_word<word>* keys;
  values_type* values;
  std::uint32_t *taken, *filled;
  std::uint32_t room = 0;

  void take_from(arena& a, std::uint64_t parts) {
    a.take(keys, parts * room);
    a.take(values, parts * room);
    a.take(taken, parts);
    a.take(filled, parts);
  }
  rooms_type rooms(std::uint64_t parts, std::uint32_t* no_place) const {
    return {taken, filled, nullptr, no_place, room, 0, static_cast<int>(parts)};
  }
  keys_and_carried<word, values_type> places() const { return {&keys->key, values}; }
  carried_rows_in_rooms<Source> rows() const { return {&keys->key, values}; }
};

/// The join of two tables of one column each, both with exact words (split_rows.hpp). Functions is
/// the table whose functions compare rows.
template <class ExecSpace, class Left, class Right, class Functions, class LeftColumns,
          class RightColumns>
class carrying_join {
  template <class Rows, class Columns>
  using source = carried_rows_to_split<Rows, Functions, Columns>;
  using left_side = rooms_of_carried<source<Left, LeftColumns>>;
  using right_side = rooms_of_carried<source<Right, RightColumns>>;
  using word = typename left_side::word;
  using row = lone_word<word>;
  using table = carried_table<ExecSpace, word, typename RightColumns::values>;
  using sizes = split_sizes<ExecSpace, table>;

  struct memory {
    left_side left, coarse_left;
    right_side right, coarse_right;  // in the same memory as coarse_left
    std::uint64_t *right_begins, *right_ends;
    partition::chunk* chunks;
    part_counts* counts;
    std::size_t bytes;

    memory(sizes const& s, std::byte* from) {
      std::uint64_t const parts = s.parts(), coarse = s.passes().coarse_parts();
      left.room = room_of_side<ExecSpace>(s.left, parts, ~std::uint32_t(0));
      right.room = room_of_side<ExecSpace>(s.right, parts, ~std::uint32_t(0));
      arena a(from);
      left.take_from(a, parts);
      right.take_from(a, parts);
      a.take(right_begins, parts);
      a.take(right_ends, parts);
      a.take(chunks, parts * s.chunks_each(left.room));
      a.take(counts, 1);
      bytes = a.bytes();
      if (coarse == 0) return;
      coarse_left.room = room_of_side<ExecSpace>(s.left, coarse, ~std::uint32_t(0));
      coarse_right.room = room_of_side<ExecSpace>(s.right, coarse, ~std::uint32_t(0));
      arena b = a;
      coarse_left.take_from(a, coarse);
      coarse_right.take_from(b, coarse);
      bytes = std::max(a.bytes(), b.bytes());
    }
  };

 public:
  carrying_join(ExecSpace const& exec, Left const& left, Right const& right, Functions const& by)
      : m_exec(exec),
        m_left(left),
        m_right(right),
        m_by(by),
        m_sizes{left.size(), right.size()} {}

  std::size_t bytes() const { return memory(m_sizes, nullptr).bytes; }
  /// Returns whether both sides can be split into fixed-capacity partitions, in which rows are
  /// counted in 32 bits.
  bool has_rooms() const {
    memory const m(m_sizes, nullptr);
    std::uint64_t const parts = m_sizes.parts();
    bool const has_coarse = m.coarse_left.room > 0 && m.coarse_right.room > 0;
    return m.left.room > 0 && m.right.room > 0 && parts * m.left.room <= ~std::uint32_t(0) &&
           parts * m.right.room <= ~std::uint32_t(0) &&
           (m_sizes.passes().coarse_bits == 0 || has_coarse);
  }

  /// Writes the payload columns of the join's rows, as far as the output has space. Returns the
  /// number of rows of the join; nothing if a partition has overflowed. Waits.
  template <class LeftOut, class RightOut>
  std::optional<std::uint64_t> run(LeftColumns const& left, RightColumns const& right,
                                   LeftOut const& left_out, RightOut const& right_out,
                                   std::uint64_t room, std::byte* workspace) const {
    memory const m(m_sizes, workspace);
    fill_words("karpos::partitioned_join: clear counts", m_exec, m.counts, 1, 0);
    std::uint64_t const multiplier = join::word_multiplier(m_sizes.part_bits());
    split(source<Right, RightColumns>{{m_right, m_by, multiplier}, right}, m.right, m.coarse_right,
          &m.counts->no_place[1]);
    split(source<Left, LeftColumns>{{m_left, m_by, multiplier}, left}, m.left, m.coarse_left,
          &m.counts->no_place[0]);
    auto const chunks = static_cast<int>(find_parts(m));
    using emit = write_carried<LeftOut, RightOut>;
    using step = join_parts<ExecSpace, row, same_word, emit, table>;
    device::for_each_in_league(
        "karpos::partitioned_join: join parts", m_exec, chunks,
        step{{m.left.keys, m.right.keys, m.right_begins, m.right_ends, m.chunks},
             {m_sizes.part_bits(), m.right.keys, m.right.values},
             m.counts,
             {},
             row_multiplicity(multiplicity::matches),
             {m.left.values, left_out, right_out, room}});
    part_counts const c = read_back(m_exec, m.counts, "karpos::partitioned_join: rows are counted");
    if (c.no_place[0] + c.no_place[1] != 0) return {};
    return c.rows;
  }

 private:
  template <class Source, class Side>
  void split(Source const& from, Side const& to, Side const& coarse,
             std::uint32_t* no_place) const {
    split_passes const passes = m_sizes.passes();
    auto const rooms = to.rooms(m_sizes.parts(), no_place);
    auto const coarse_rooms = coarse.rooms(passes.coarse_parts(), no_place);
    join::split_into_rooms(m_exec, from, passes, rooms, to.places(), coarse_rooms, coarse.places(),
                           coarse.rows());
  }
  /// Returns the number of chunks.
  std::uint64_t find_parts(memory const& m) const {
    std::uint64_t const parts = m_sizes.parts(), each = m_sizes.chunks_each(m.left.room);
    device::loop_over(
        "karpos::partitioned_join: find parts", m_exec, parts * each,
        find_parts_in_rooms<typename left_side::rooms_type, typename right_side::rooms_type>{
            m.left.rooms(parts, &m.counts->no_place[0]),
            m.right.rooms(parts, &m.counts->no_place[1]), m.right_begins, m.right_ends,
            static_cast<std::uint32_t>(each), m.chunks});
    return parts * each;
  }

  ExecSpace m_exec;
  Left m_left;
  Right m_right;
  Functions m_by;
  sizes m_sizes;
};

/// Whether payload columns can travel with the rows of two tables.
template <class ExecSpace, class Left, class Right, class LeftColumns, class RightColumns>
inline constexpr bool may_carry =
    device::is_device<ExecSpace> && has_exact_words<Left, Right, Right> && LeftColumns::fit &&
    RightColumns::fit;

/// Calls f(join, whether the sides are swapped). The smaller table becomes the right one, which is
/// held in scratch.
template <class ExecSpace, class Left, class Right, class LeftColumns, class RightColumns, class F>
auto with_carrying_join(ExecSpace const& exec, Left const& left, Right const& right,
                        LeftColumns const&, RightColumns const&, F const& f) {
  if (left.size() < right.size())
    return f(carrying_join<ExecSpace, Right, Left, Right, RightColumns, LeftColumns>(exec, right,
                                                                                     left, right),
             std::true_type{});
  return f(carrying_join<ExecSpace, Left, Right, Right, LeftColumns, RightColumns>(exec, left,
                                                                                   right, right),
           std::false_type{});
}

}  // namespace karpos::detail::join
