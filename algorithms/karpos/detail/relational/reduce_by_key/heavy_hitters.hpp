// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/common/key_sampler.hpp"
#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/detail/relational/reduce_by_key/group_table.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"

// Heavy hitters of a reduction on GPUs: keys that a sample shows more than once. While rows are
// split, every team keeps the rows of heavy hitters back, in a table in its scratch (shared
// memory), so that no single key makes a partition long. Then the tables are merged.
//
//   keys     | k |   | k | k |   | …      by find_heavy_hitters: the same in every team
//   values   | 3 |   | 1 |   |   | …      of a team: what op makes of its rows
//   present  | 1 | 0 | 1 | 0 | 0 | …      of a team: bits of the slots that have a value

namespace karpos::detail::reduce_by_key {

template <class ExecSpace, class Row>
struct heavy_hitter_table {
  using bits = decltype(reduce_by_key::key_of(Row{}));
  using value = value_type<Row>;
  static constexpr bits empty = static_cast<bits>(~bits(0));
  /// A seventh of a team's scratch: 4,096 slots for rows of 8 bytes if there are 227 KB.
  static constexpr std::uint32_t slots =
      Kokkos::min(std::uint32_t(4096),
                  std::bit_floor(static_cast<std::uint32_t>(device::max_scratch_bytes<ExecSpace>) /
                                 7 / static_cast<std::uint32_t>(sizeof(Row))));
  /// Slots of a bucket, which are read at once. A key is in its home bucket, or not in the table.
  static constexpr std::uint32_t width = 16 / sizeof(bits);
  static_assert(slots >= 32);
  /// All slots: behind the others is one for the key whose bits equal `empty`. That key is a heavy
  /// hitter if the slot holds other bits.
  static constexpr std::uint32_t special = slots, all = slots + width, words = (all + 31) / 32;

  bits* keys;              // of `all` slots
  value* values;           // of team t and slot s at t * all + s
  std::uint32_t* present;  // a bit per slot; of team t and slot s in word t * words + s / 32

  /// Returns the first slot of the key's bucket.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t home(bits key) {
    return by_low_bits(key, slots / width) * width;
  }
};

/// A step of one team: samples n keys, and writes the most frequent ones to a heavy_hitter_table.
template <class ExecSpace, class Source>
struct find_heavy_hitters {
  using table = heavy_hitter_table<ExecSpace, typename Source::row>;
  using bits = typename table::bits;
  using sampler = key_sampler<ExecSpace, Source, 8192, table::all * sizeof(bits)>;
  static constexpr int threads = sampler::threads, teams_at_once = sampler::teams_at_once;
  static constexpr std::uint32_t max_keys = sampler::max_keys;
  static constexpr std::size_t scratch_bytes = sampler::scratch_bytes;

  Source source;
  std::uint32_t n;  // at most max_keys
  sample_statistics* to;
  bits* table_keys;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    sampler const s(t);
    auto* const heavy_hitters = reinterpret_cast<bits*>(s.callers_bytes);
    std::uint32_t const rank = device::rank(t), size = device::size(t);
    for (std::uint32_t i = rank; i < table::all; i += size) heavy_hitters[i] = table::empty;
    s.sample(t, source, n);
    insert_heavy_hitters(t, s, heavy_hitters);
    for (std::uint32_t i = rank; i < table::all; i += size) table_keys[i] = heavy_hitters[i];
    if (rank == 0) *to = *s.statistics;
  }

 private:
  /// Inserts heavy hitters into the heavy_hitter_table, the most frequent first. Has barriers.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static void insert_heavy_hitters(Team const& t, sampler const& s,
                                                               bits* heavy_hitters) {
    constexpr std::uint32_t least[] = {16, 4, 2};
    std::uint32_t below = ~std::uint32_t(0);
    std::uint64_t rows = 0, all = 0;
    for (int k = 0; k < 3; ++k) {
      s.for_each_count(t, [&](bits key, std::uint32_t count) {
        if (count >= least[k] && count < below && try_insert(heavy_hitters, key)) rows += count;
      });
      below = least[k];
      t.barrier();
    }
    t.prefix_sum(rows, all);
    if (t.rank() == 0) s.statistics->heavy_hitter_rows = static_cast<std::uint32_t>(all);
  }
  KOKKOS_FORCEINLINE_FUNCTION static bool try_insert(bits* heavy_hitters, bits key) {
    if (key == table::empty) {
      heavy_hitters[table::special] = 0;
      return true;
    }
    std::uint32_t const first = table::home(key);
    for (std::uint32_t s = first; s < first + table::width; ++s)
      if (device::compare_and_swap(device::scratch(heavy_hitters + s), table::empty, key) ==
          table::empty)
        return true;
    return false;
  }
};

/// Keeps the rows of heavy hitters back in a split: their groups stay in the team's scratch until
/// its end. The thread that marks a group's slot as present stores its row's value. Other threads
/// merge theirs after a barrier, after each has merged its consecutive rows of one group. If the
/// operation has an identity, every group begins with it, even if a team has no row of it.
template <class ExecSpace, class Source, class Op>
class heavy_hitter_filter {
  using row = typename Source::row;
  using loaded = typename Source::loaded;
  using table = heavy_hitter_table<ExecSpace, row>;
  using bits = typename table::bits;
  using value = value_type<row>;
  using values = slot_values<value>;
  static constexpr std::size_t value_bytes = has_value<row> ? values::bytes(table::all) : 0;
  static constexpr bool has_identity = !has_value<row> || identity_of<Op, value>::exists;
  static constexpr std::uint32_t done =
      (1u << 15) - 1;  // instead of a slot: the row needs nothing more

 public:
  static constexpr std::size_t scratch_bytes =
      (table::all * sizeof(bits) + value_bytes + table::words * sizeof(std::uint32_t) + 15) / 16 *
      16;
  static constexpr std::uint32_t none = ~std::uint32_t(0);
  static_assert(table::all < done);
  /// A value that a thread has not merged yet, and the slot of its group.
  struct pending {
    std::uint32_t slot = none;
    value v = {};
  };

  heavy_hitter_filter(Source const& s, Op const& op, table const& t)
      : m_source(s),
        m_op(op),
        m_table(t) {}

  template <class Team>
  KOKKOS_FUNCTION void begin(Team const& t, std::byte* memory) const {
    std::uint32_t const rank = device::rank(t), size = device::size(t);
    for (std::uint32_t i = rank; i < table::all; i += size) keys(memory)[i] = m_table.keys[i];
    for (std::uint32_t i = rank; i < table::words; i += size)
      present(memory)[i] = has_identity ? ~0u : 0;
    if constexpr (has_identity && has_value<row>)
      for (std::uint32_t i = rank; i < table::all; i += size)
        values_in(memory).store(i, identity_of<Op, value>::get());
  }
  /// Keeps a row back if its key is a heavy hitter. Returns the slot of its group for add(), or
  /// `done`. Returns `none` if the row is not kept back.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t try_filter(std::byte* memory, loaded const& l,
                                                       std::uint64_t i) const {
    std::uint32_t const s = find(memory, Source::key_of(l));
    if (s == none) return none;
    if constexpr (!has_value<row>) return done;
    if constexpr (has_value<row> && !has_identity)
      if (try_mark_present(memory, s)) {
        values_in(memory).store(s, m_source.make(l, i).value);
        return done;
      }
    return s;
  }
  /// Merges a row into the group whose slot try_filter() has returned. Call after a barrier.
  KOKKOS_FORCEINLINE_FUNCTION void add(std::byte* memory, pending& p, std::uint32_t slot,
                                       loaded const& l, std::uint64_t i) const {
    if constexpr (has_value<row>) {
      if (slot == done) return;
      value const v = m_source.make(l, i).value;
      if (slot == p.slot) {
        p.v = static_cast<value>(m_op(p.v, v));
      } else {
        merge(memory, p);
        p = {slot, v};
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void merge(std::byte* memory, pending const& p) const {
    if constexpr (has_value<row>)
      if (p.slot != none) values_in(memory).merge(p.slot, p.v, m_op);
  }
  /// Writes the groups of the team to global memory.
  template <class Team>
  KOKKOS_FUNCTION void end(Team const& t, std::byte* memory) const {
    t.barrier();
    std::uint32_t const rank = device::rank(t), size = device::size(t);
    auto const team = static_cast<std::uint64_t>(t.league_rank());
    for (std::uint32_t i = rank; i < table::words; i += size)
      m_table.present[team * table::words + i] = present(memory)[i];
    if constexpr (has_value<row>)
      for (std::uint32_t i = rank; i < table::all; i += size)
        m_table.values[team * table::all + i] = values_in(memory).get(i);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static bits* keys(std::byte* memory) {
    return reinterpret_cast<bits*>(memory);
  }
  KOKKOS_FORCEINLINE_FUNCTION static values values_in(std::byte* memory) {
    return values(memory + table::all * sizeof(bits), table::all);
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t* present(std::byte* memory) {
    return reinterpret_cast<std::uint32_t*>(memory + scratch_bytes) - table::words;
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t find(std::byte* memory, bits key) {
    std::uint32_t const first = table::home(key);
    bits stored[table::width];
    device::load_relaxed(device::scratch(keys(memory) + first), stored);
    std::uint32_t found = none;
    KARPOS_UNROLL
    for (std::uint32_t i = 0; i < table::width; ++i)
      if (stored[i] == key) found = first + i;
    if (key == table::empty)
      found = keys(memory)[table::special] == table::empty ? none : table::special;
    return found;
  }
  /// Marks a slot as having a group. Returns whether the caller is the first to do so.
  KOKKOS_FORCEINLINE_FUNCTION static bool try_mark_present(std::byte* memory, std::uint32_t slot) {
    std::uint32_t* const word = present(memory) + slot / 32;
    std::uint32_t const bit = 1u << slot % 32;
    std::uint32_t old = device::load_relaxed(device::scratch(word));
    while ((old & bit) == 0) {
      std::uint32_t const found = device::compare_and_swap(device::scratch(word), old, old | bit);
      if (found == old) return true;
      old = found;
    }
    return false;
  }

  Source m_source;
  Op m_op;
  table m_table;
};

/// Writes the group of the heavy hitter in slot s, merged from `teams` teams. One thread per slot.
template <class ExecSpace, class Row, class Op, class Result>
KOKKOS_FUNCTION void write_heavy_hitter(heavy_hitter_table<ExecSpace, Row> const& table,
                                        std::uint32_t s, std::uint64_t teams, Op const& op,
                                        Result const& result, std::uint64_t* count) {
  using heavy_hitters = heavy_hitter_table<ExecSpace, Row>;
  if (table.keys[s] == heavy_hitters::empty) return;
  auto const key = s == heavy_hitters::special ? typename heavy_hitters::bits(heavy_hitters::empty)
                                               : table.keys[s];
  bool has = false;
  value_type<Row> v{};
  for (std::uint64_t t = 0; t < teams; ++t) {
    if ((table.present[t * heavy_hitters::words + s / 32] >> s % 32 & 1) == 0) continue;
    if constexpr (has_value<Row>) {
      auto const of_team = table.values[t * heavy_hitters::all + s];
      v = has ? static_cast<value_type<Row>>(op(v, of_team)) : of_team;
    }
    has = true;
  }
  if (!has) return;
  std::uint64_t const at = device::fetch_add(count, 1);
  if constexpr (has_value<Row>)
    result.write(at, Row{key, v});
  else
    result.write(at, key);
}

}  // namespace karpos::detail::reduce_by_key
