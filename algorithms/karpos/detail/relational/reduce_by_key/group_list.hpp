// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/tuning.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/atomics.hpp"

// The table in which a CPU thread aggregates rows. Its groups lie one after the other in the order
// in which their keys came, so that writing them needs no search. An index finds them, by open
// addressing with linear probing:
//
//   index    | 0 | 2 | 0 | 1 | 0 | 3 | …      of a slot: the number of its group, or 0
//   groups   | – | k v | k v | k v | …        1, 2, 3, …
//
// A slot takes only 16 bits. So two or more slots per group are cheap, and most rows need one
// probe.

namespace karpos::detail::reduce_by_key {

template <class ExecSpace, class Row, class Op>
class group_list {
  using tuned = tuning<ExecSpace>;
  using bits = decltype(reduce_by_key::key_of(Row{}));
  static constexpr std::uint32_t all_slots = 1 << 16;
  static constexpr int batch = tuned::batch(sizeof(Row));

 public:
  static constexpr int threads = 1, teams_at_once = 1;
  /// Maximum of groups.
  static constexpr std::uint32_t max_slots = tuned::chunk_rows(sizeof(Row));
  static_assert(2 * max_slots <= all_slots);
  /// A limit of probes that no row reaches for whose group there is space.
  static constexpr std::uint32_t max_probes = all_slots;
  KOKKOS_FUNCTION static constexpr std::uint32_t slots_for(std::uint32_t rows) { return rows; }

 private:
  KOKKOS_FUNCTION static constexpr std::uint32_t index_slots(std::uint32_t groups) {
    return Kokkos::clamp(4 * groups, 64u, std::uint32_t(all_slots));
  }
  /// Bytes of the index, rounded up so that the groups behind it are aligned.
  static constexpr std::size_t index_bytes =
      (index_slots(max_slots) * sizeof(std::uint16_t) + 63) / 64 * 64;
  static_assert(alignof(Row) <= 64);

 public:
  /// Space for two rows more than groups: number 0, and one for rows that find no group.
  static constexpr std::size_t scratch_bytes = index_bytes + (max_slots + 2) * sizeof(Row);
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t) { return scratch_bytes; }

  /// Begins with no groups, and capacity for `groups` of them.
  template <class Team>
  KOKKOS_FUNCTION group_list(Team const& t, std::uint32_t groups, Op const& op)
      : m_groups(reinterpret_cast<Row*>(t.scratch() + index_bytes)),
        m_index(reinterpret_cast<std::uint16_t*>(t.scratch())),
        m_slots(index_slots(groups)),
        m_max_groups(groups),
        m_op(op) {
    for (std::uint32_t i = 0; i < m_slots; ++i) m_index[i] = 0;
    m_groups[0] = {};
  }

  /// Aggregates rows [first, last) of a source. Each row of a batch probes its home slot first;
  /// then rows that need more probes go on. Rows that find neither a group within `probes` probes
  /// nor space for another one are written to `overflow`, at indices reserved by adding to *count.
  template <class Team, class Source>
  KOKKOS_FUNCTION void add(Team const&, Source const& source, std::uint64_t first,
                           std::uint64_t last, std::uint32_t probes,
                           partial_array<Row> const& overflow, std::uint64_t* count) {
    for (std::uint64_t i = first; i < last; i += batch) {
      Row unresolved[batch];
      std::uint64_t const end = Kokkos::min(i + batch, last);
      int const n = m_is_predictable || has_value<Row>
                        ? probe_home<true>(source, i, end, unresolved)
                        : probe_home<false>(source, i, end, unresolved);
      int without_group = 0;
      for (int k = 0; k < n; ++k) {
        unresolved[without_group] = unresolved[k];
        without_group += !try_add_past_home(unresolved[k], probes);
      }
      if (without_group == 0) continue;
      auto const overflowed = static_cast<std::uint64_t>(without_group);
      std::uint64_t const base = device::fetch_add(count, overflowed);
      for (std::uint64_t k = 0; k < overflowed; ++k) overflow.write(base + k, unresolved[k]);
    }
  }
  /// Writes the groups to sink, at indices reserved by adding to *count.
  template <class Team, class Sink>
  KOKKOS_FUNCTION void write_groups(Team const&, Sink const& sink, std::uint64_t* count) const {
    std::uint64_t const base = device::fetch_add(count, std::uint64_t(m_last));
    for (std::uint32_t i = 0; i < m_last; ++i) sink.write(base + i, m_groups[i + 1]);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t home(Row const& r) const {
    return by_low_bits(reduce_by_key::key_of(r), m_slots);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_key_of(std::uint32_t group, Row const& r) const {
    return reduce_by_key::key_of(m_groups[group]) == reduce_by_key::key_of(r);
  }
  KOKKOS_FORCEINLINE_FUNCTION void merge([[maybe_unused]] std::uint32_t group,
                                         [[maybe_unused]] Row const& r) const {
    using value = value_type<Row>;
    if constexpr (has_value<Row>)
      m_groups[group].value = static_cast<value>(m_op(m_groups[group].value, r.value));
  }
  /// Probes the home slot of each row of a batch. Returns the number of rows left in `unresolved`.
  template <bool Branches, class Source>
  KOKKOS_FORCEINLINE_FUNCTION int probe_home(Source const& source, std::uint64_t first,
                                             std::uint64_t last, Row (&unresolved)[batch]) {
    int n = 0;
    std::uint32_t const groups = m_last;
    for (std::uint64_t i = first; i < last; ++i) {
      Row const r = source.make(source.load(i), i);
      unresolved[n] = r;
      n += !try_add_at_home<Branches>(r);
    }
    std::uint64_t const rows = last - first, same = rows - n - (m_last - groups);
    m_is_predictable = same * 8 <= rows || same * 8 >= rows * 7;
    return n;
  }
  /// Adds a row if its home slot has its key or is empty. Returns whether it did. Branches: whether
  /// to branch on a key that is found. Processors predict that branch if nearly all rows find their
  /// key, or nearly none. Rows without values need no branch.
  template <bool Branches>
  KOKKOS_FORCEINLINE_FUNCTION bool try_add_at_home(Row const& r) {
    std::uint16_t& slot = m_index[home(r)];
    std::uint32_t const group = slot, next = m_last + 1;
    bool const is_new = (group == 0) & (m_last < m_max_groups),
               is_same = (group != 0) & has_key_of(group, r);
    if (Branches && is_same) {
      merge(group, r);
      return true;
    }
    slot = static_cast<std::uint16_t>(device::select(is_new, next, group));
    m_groups[next] = r;
    m_last += is_new;
    return is_new | is_same;
  }
  /// Adds a row, probing from its home slot on. Returns whether it did.
  KOKKOS_FORCEINLINE_FUNCTION bool try_add_past_home(Row const& r, std::uint32_t probes) {
    std::uint32_t i = home(r);
    for (std::uint32_t k = 0; k < probes; ++k) {
      std::uint32_t const group = m_index[i];
      if (group == 0) {
        if (m_last == m_max_groups) return false;
        m_index[i] = static_cast<std::uint16_t>(++m_last);
        m_groups[m_last] = r;
        return true;
      }
      if (has_key_of(group, r)) {
        merge(group, r);
        return true;
      }
      if (++i == m_slots) i = 0;
    }
    return false;
  }

  Row* m_groups;
  std::uint16_t* m_index;
  std::uint32_t m_slots, m_max_groups, m_last = 0;
  bool m_is_predictable =
      true;  // nearly all rows of the batch before found their key, or nearly none
  Op m_op;
};

}  // namespace karpos::detail::reduce_by_key
