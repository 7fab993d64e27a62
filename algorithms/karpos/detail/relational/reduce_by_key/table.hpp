// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/slot_values.hpp"

namespace karpos::detail::reduce_by_key {

/// A hash table of groups in the scratch (shared memory) of a team (block) of a GPU: a
/// scratch_table of their keys, and the value of each slot in arrays behind it.
template <class Row, bool Sparse = false>
class group_table : public scratch_table<decltype(reduce_by_key::key_of(Row{})), Sparse> {
  using keys = scratch_table<decltype(reduce_by_key::key_of(Row{})), Sparse>;
  using value = value_type<Row>;
  using values = slot_values<value>;

 public:
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t slots) {
    return keys::bytes(slots) + (has_value<Row> ? values::bytes(slots + 1) : 0);
  }
  /// Requires: memory is aligned to 16 bytes, slots to a bucket.
  KOKKOS_FUNCTION group_table(std::byte* memory, std::uint32_t slots)
      : keys(memory, slots),
        m_values(memory + keys::bytes(slots), slots + 1) {}

  /// Empties the table, and sets all values to the operation's identity. Then a row that claims a
  /// slot merges its value like every other row.
  template <class Op, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void clear_to_identity(Team const& t) const {
    this->clear(t);
    if constexpr (has_value<Row>)
      for (auto i = static_cast<std::uint32_t>(t.rank()); i < this->end();
           i += static_cast<std::uint32_t>(t.size()))
        m_values.store(i, identity_of<Op, value>::get());
  }
  /// Does what find_or_claim does for a row's key. The row that claims a slot stores its value.
  /// Other rows merge theirs after a barrier.
  KOKKOS_FORCEINLINE_FUNCTION scratch_slot find_or_store(Row const& r, std::uint32_t probes) const {
    return this->find_or_claim(reduce_by_key::key_of(r), probes, [&](std::uint32_t i) {
      if constexpr (has_value<Row>) m_values.store(i, r.value);
    });
  }
  /// Merges a value into the value of a slot.
  template <class Op>
  KOKKOS_FORCEINLINE_FUNCTION void merge(std::uint32_t i, value const& v, Op const& op) const {
    m_values.merge(i, v, op);
  }
  template <class Team, class Op>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t merge_columns(Team const& t, Op const& op) const {
    return keys::merge_columns(t, [&](std::uint32_t to, std::uint32_t from) {
      if constexpr (has_value<Row>) merge(to, m_values.get(from), op);
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION Row get(std::uint32_t i) const {
    if constexpr (has_value<Row>)
      return {this->key(i), m_values.get(i)};
    else
      return this->key(i);
  }

 private:
  values m_values;
};

}  // namespace karpos::detail::reduce_by_key
