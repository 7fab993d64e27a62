// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/tables/multi_table/plan.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/space.hpp"
#include "karpos/device/team.hpp"

// A team (block) of a GPU groups the pairs of a partition, which has all pairs of its keys, in its
// scratch (shared memory):
//
//   pairs     | 7 a | 3 b | 7 c | 7 d | 3 e |
//   table     | . | 7 | . | 3 |               slots of distinct keys
//   counts    | . | 3 | . | 2 |               of their pairs; then where those begin: 0 and 3
//   places    | 1.0 | 3.0 | 1.1 | 1.2 | 3.1 |  of each pair: its slot, and its rank within the slot
//   sorted    | a | c | d | b | e |           the values, in the memory of the keys
//
// Frequent keys cost no more than others, except for additions to one word of scratch. A partition
// may be longer than scratch because some of its keys are frequent. Such a partition is read twice:
// first its keys are counted, then its values go where they belong.

namespace karpos::detail::multi_table {

inline constexpr std::uint32_t no_slot = ~std::uint32_t(0);

/// A team's scratch.
template <class ExecSpace, class Row>
class group_scratch {
  using sizes = group_sizes<ExecSpace, Row>;
  using bits = typename sizes::bits;
  static constexpr std::size_t key_bytes = (sizes::keys::bytes(sizes::slots) + 15) / 16 * 16;
  static_assert(16 + key_bytes + (sizes::slots + 1 + sizes::capacity) * sizeof(std::uint32_t) <=
                sizes::scratch_bytes);
  static_assert(sizes::capacity * sizes::value_bytes <= key_bytes);

 public:
  KOKKOS_FUNCTION explicit group_scratch(std::byte* memory)
      : bases(reinterpret_cast<std::uint64_t*>(memory)),
        keys(memory + 16, sizes::slots),
        sorted(memory + 16),
        counts(reinterpret_cast<std::uint32_t*>(memory + 16 + key_bytes)),
        places(counts + sizes::slots + 1) {}

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void clear(Team const& t) const {
    keys.clear(t);
    for (std::uint32_t i = device::rank(t); i < keys.end(); i += device::size(t)) counts[i] = 0;
    t.barrier();
  }
  /// Returns the place of a pair with that key: its slot, and its rank among the pairs of the slot.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t place(bits key) const {
    // There are more slots than pairs.
    std::uint32_t const slot = keys.find_or_claim(key, keys.max_probes(sizes::slots)).index;
    return slot << 16 | device::fetch_add(device::scratch(counts + slot), 1);
  }
  /// Returns the slot of a key, or no_slot if the table is nearly full.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t slot_of(bits key) const {
    constexpr std::uint32_t max_probes = 256;
    auto const slot = keys.find_or_claim(key, max_probes);
    return slot.present ? slot.index : no_slot;
  }
  /// Returns the index of a place among the pairs of the partition. Requires: counts say where
  /// groups begin.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t index(std::uint32_t place) const {
    return counts[place >> 16] + (place & 0xffff);
  }

  std::uint64_t* bases;  // indices among all of the partition's first pair and group
  typename sizes::keys keys;
  std::byte* sorted;
  std::uint32_t *counts, *places;
};

/// A step: a team groups the pairs of a partition. Values go to their blocks, from `begin` on.
/// Distinct keys that are no sentinels go to `distinct`, and the heads that the table gets for them
/// to `heads`.
template <class ExecSpace, class Row, class Table, class Blocks, class Key>
struct group_partitions {
  using sizes = group_sizes<ExecSpace, Row>;
  using scratch_type = group_scratch<ExecSpace, Row>;
  static constexpr int threads = 1024, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = sizes::scratch_bytes;
  static constexpr int width = Kokkos::min(32, int(device::warp_width<ExecSpace>));
  /// Pairs that a thread loads before it uses one.
  static constexpr std::uint32_t batch = 4;

  partition::partitioned_rows<Row const> split;
  Table table;
  Blocks blocks;
  std::uint64_t begin;
  Key* distinct;
  typename Blocks::mapped* heads;
  group_counts* counts;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const p = static_cast<std::uint64_t>(t.league_rank());
    if (counts->overflowed != 0) return;
    auto const n = static_cast<std::uint32_t>(split.count(p));
    if (n == 0) return;
    Row const* const partition_rows = split.rows + split.begin(p);
    scratch_type const m(t.scratch());
    m.clear(t);
    if (n > sizes::capacity) return group_long_partition(t, m, partition_rows, n);
    for_each_row(t, partition_rows, n, [&](Row const& r, std::uint32_t i) {
      m.places[i] = m.place(reduce_by_key::key_of(r));
    });
    t.barrier();
    write_groups(t, m, n);
    if constexpr (Blocks::has_values) write_values(t, m, partition_rows, n);
  }

 private:
  /// Calls f(row, its index) for the rows of a thread.
  template <class Team, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_row(Team const& t, Row const* partition_rows,
                                                       std::uint32_t n, F const& f) {
    std::uint32_t const size = device::size(t);
    for (std::uint32_t first = device::rank(t); first < n; first += batch * size) {
      Row r[batch];
      KARPOS_UNROLL
      for (std::uint32_t j = 0; j < batch; ++j)
        if (first + j * size < n) r[j] = partition_rows[first + j * size];
      KARPOS_UNROLL
      for (std::uint32_t j = 0; j < batch; ++j)
        if (first + j * size < n) f(r[j], first + j * size);
    }
  }
  /// Groups a partition that is longer than scratch. If it has more keys than the table holds,
  /// counts it as full instead.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void group_long_partition(Team const& t, scratch_type const& m,
                                                        Row const* partition_rows,
                                                        std::uint32_t n) const {
    bool is_full = false;
    for_each_rank(t, m, partition_rows, n, [&](Row const&, std::uint32_t slot, std::uint32_t) {
      is_full |= slot == no_slot;
    });
    if (t.any(is_full)) {
      if (t.rank() == 0) device::fetch_add(&counts->full, 1u);  // teams read `overflowed` meanwhile
      return;
    }
    write_groups(t, m, n);
    if constexpr (Blocks::has_values) {
      auto* const to = blocks.values + begin + m.bases[0];
      for_each_rank(t, m, partition_rows, n,
                    [&](Row const& r, std::uint32_t, std::uint32_t at) { to[at] = r.value; });
    }
  }
  /// Calls f(row, slot of its key, the slot's count before this row) for the rows of a thread, and
  /// counts them. Rows of a warp with the slot of its first row are counted at once, because all
  /// may be equal.
  template <class Team, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_rank(Team const& t, scratch_type const& m,
                                                        Row const* partition_rows, std::uint32_t n,
                                                        F const& f) {
    auto const tile = t.template this_tile<width>();
    std::uint32_t const size = device::size(t), rank = device::rank(t);
    int const lane = t.rank() % width;
    for (std::uint32_t first = 0; first < n; first += batch * size) {
      Row r[batch];
      KARPOS_UNROLL
      for (std::uint32_t j = 0; j < batch; ++j)
        if (std::uint32_t const i = first + j * size + rank; i < n) r[j] = partition_rows[i];
      KARPOS_UNROLL
      for (std::uint32_t j = 0; j < batch; ++j) {
        bool const is_row = first + j * size + rank < n;
        std::uint32_t const slot = is_row ? m.slot_of(reduce_by_key::key_of(r[j])) : no_slot;
        std::uint32_t const before = count_row(tile, lane, m, slot);
        if (is_row) f(r[j], slot, before);
      }
    }
  }
  /// Adds each lane's row to the count of its slot, if it has one. Returns the slot's count before
  /// that row.
  template <class Tile>
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t count_row(Tile const& tile, int lane,
                                                             scratch_type const& m,
                                                             std::uint32_t slot) {
    bool const counts = slot != no_slot;
    auto const counting = tile.ballot([&](int) { return counts; });
    if (!counting) return 0;
    std::uint32_t const common = tile.get(tile.each([&](int) { return slot; }), counting.first());
    auto const same = tile.ballot([&](int) { return slot == common; });
    auto const all = static_cast<std::uint32_t>(same.count());
    std::uint32_t const base =
        tile.once([&] { return device::fetch_add(device::scratch(m.counts + common), all); });
    if (slot == common) return base + static_cast<std::uint32_t>(same.rank(lane));
    return counts ? device::fetch_add(device::scratch(m.counts + slot), 1) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION static Key key_at(scratch_type const& m, std::uint32_t slot) {
    return reduce_by_key::key_of_mixed<Key>(m.keys.key(slot));
  }
  /// The slots of a warp, whose lanes take adjacent ones.
  struct slot_range {
    std::uint32_t first, last;
    int lane;
  };
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static slot_range slots_of(Team const& t, scratch_type const& m) {
    auto const warps = static_cast<std::uint32_t>((t.size() + width - 1) / width);
    std::uint32_t const each = (m.keys.end() + warps * width - 1) / (warps * width) * width;
    std::uint32_t const first = static_cast<std::uint32_t>(t.rank() / width) * each;
    return {first, Kokkos::min(first + each, m.keys.end()), t.rank() % width};
  }
  /// Reserves space among all pairs and groups, and turns counts into where the pairs of a slot
  /// begin. Ends with a barrier.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_groups(Team const& t, scratch_type const& m,
                                                std::uint32_t n) const {
    constexpr std::uint64_t one_group = std::uint64_t(1) << 32;  // above the number of pairs
    slot_range const s = slots_of(t, m);
    std::uint64_t mine = 0, total = 0;
    for (std::uint32_t i = s.first + static_cast<std::uint32_t>(s.lane); i < s.last; i += width)
      if (m.keys.has(i)) mine += m.counts[i] + (table.reserved(key_at(m, i)) ? 0 : one_group);
    std::uint64_t before = t.prefix_sum(mine, total);
    if (t.rank() == 0) {
      m.bases[0] = device::fetch_add(&counts->pairs, n);
      m.bases[1] = device::fetch_add(&counts->groups, total >> 32);
    }
    t.barrier();
    auto const tile = t.template this_tile<width>();
    before = tile.get(tile.each([&](int) { return before; }), 0);
    write_groups_of(tile, s, m, static_cast<std::uint32_t>(before), m.bases[1] + (before >> 32));
    t.barrier();
  }
  /// Writes the groups of a warp's slots; `pairs` pairs of the partition, and `groups` groups of
  /// all, come before them.
  template <class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void write_groups_of(Tile const& tile, slot_range const& s,
                                                   scratch_type const& m, std::uint32_t pairs,
                                                   std::uint64_t groups) const {
    for (std::uint32_t first = s.first; first < s.last; first += width) {
      std::uint32_t const i = first + static_cast<std::uint32_t>(s.lane);
      bool const is_taken = i < s.last && m.keys.has(i);
      std::uint32_t const count = is_taken ? m.counts[i] : 0;
      bool const is_stored = is_taken && !table.reserved(key_at(m, i));
      auto const sums = tile.prefix_sum(tile.each([&](int) { return count; }));
      auto const ones = tile.ballot([&](int) { return is_stored; });
      std::uint32_t const at = pairs + sums.before[s.lane];
      if (is_taken) m.counts[i] = at;
      if (is_stored) {
        std::uint64_t const g = groups + static_cast<std::uint64_t>(ones.rank(s.lane));
        distinct[g] = key_at(m, i);
        heads[g] = blocks.write_block(begin + m.bases[0] + at, count);
      } else if (is_taken) {
        device::fetch_add(&counts->reserved, count);
      }
      pairs += sums.total;
      groups += static_cast<std::uint64_t>(ones.count());
    }
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_values(Team const& t, scratch_type const& m,
                                                Row const* partition_rows, std::uint32_t n) const {
    auto* const sorted = reinterpret_cast<typename Blocks::value_type*>(m.sorted);
    for_each_row(t, partition_rows, n,
                 [&](Row const& r, std::uint32_t i) { sorted[m.index(m.places[i])] = r.value; });
    t.barrier();
    auto* const to = blocks.values + begin + m.bases[0];
    for (std::uint32_t i = device::rank(t); i < n; i += device::size(t)) to[i] = sorted[i];
  }
};

}  // namespace karpos::detail::multi_table
