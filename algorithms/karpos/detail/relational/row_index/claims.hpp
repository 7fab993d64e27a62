// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/relational/row_index/slots.hpp"
#include "karpos/device/atomics.hpp"

// The first step of a build: rows claim slots.

namespace karpos::detail::row_index {

/// Stands for no slot, no row, and no group.
template <class RowNumber>
inline constexpr RowNumber none = static_cast<RowNumber>(~RowNumber(0));

/// The results of claims, for the steps after them.
template <class RowNumber>
struct claimed_slots {
  RowNumber* slot_of;       // of each query; null: not kept
  std::uint32_t* repeated;  // becomes 1 if a row has an equal, or is left out

  KOKKOS_FUNCTION void keep(std::uint64_t i, RowNumber slot) const {
    if (slot_of != nullptr) slot_of[i] = slot;
  }
  KOKKOS_FUNCTION void repeat() const {
    if (device::load_relaxed(repeated) == 0) device::store_relaxed(repeated, std::uint32_t(1));
  }
};

/// Claims a slot for query i, or finds the slot of an equal row. The slot keeps the lowest row
/// number. Queries are rows begin, begin + 1, …, or have the member number(i).
template <int Distance, class Rows, class Queries, class Members, class ExecSpace, class RowNumber>
struct claim_slots
    : slot_search<Distance, device::access::shared,
                  claim_slots<Distance, Rows, Queries, Members, ExecSpace, RowNumber>, Rows,
                  Queries, ExecSpace, RowNumber> {
  using word = slot_word<RowNumber>;
  Members members;
  claimed_slots<RowNumber> to;

  KOKKOS_FUNCTION std::uint64_t number(std::uint64_t i) const {
    if constexpr (requires { this->queries.number(i); })
      return this->queries.number(i);
    else
      return this->begin + i;
  }
  KOKKOS_FUNCTION bool is_searched(std::uint64_t i) const { return members(number(i)); }
  KOKKOS_FUNCTION void on_excluded(std::uint64_t i) const {
    to.keep(i, none<RowNumber>);
    to.repeat();
  }
  /// Claims an empty slot. Returns false if another thread has stored a row there meanwhile, which
  /// may be equal: then the bucket is searched again.
  KOKKOS_FUNCTION bool on_miss(bool continues, std::uint64_t i, std::uint64_t code_of_row,
                               std::uint64_t slot) const {
    if (continues) return false;
    std::uint64_t const claim = word::make(claim_slots::code::tag(code_of_row), number(i));
    if (device::compare_and_swap(this->table.words + slot, word::empty, claim) != word::empty)
      return false;
    to.keep(i, static_cast<RowNumber>(slot));
    return true;
  }
  KOKKOS_FUNCTION void on_match(std::uint64_t i, std::uint64_t slot) const {
    to.keep(i, static_cast<RowNumber>(slot));
    to.repeat();
    std::uint64_t* const at = this->table.words + slot;
    std::uint64_t const row = number(i), held = device::load_relaxed(at);
    // The slot keeps its tag, so that words of lower rows are lower words.
    if (row < word::row_of(held)) device::fetch_min(at, word::make(held & word::low_mask, row));
  }
};

}  // namespace karpos::detail::row_index
