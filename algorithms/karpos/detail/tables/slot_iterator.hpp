// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos::detail {

/// Forward iterator over the live slots of a table in the host's memory. It returns copies.
template <class Table>
class slot_iterator {
  using layout = typename Table::layout;
  using key_type = typename Table::key_type;
  using mapped_type = typename Table::mapped_type;

 public:
  using value_type =
      std::conditional_t<layout::has_value, std::pair<key_type, mapped_type>, key_type>;
  using reference = value_type;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;  // gives no references
  using iterator_concept = std::forward_iterator_tag;

  slot_iterator() = default;
  slot_iterator(Table const& table, std::uint64_t first, std::uint64_t slots)
      : m_table(table),
        m_slot(first),
        m_slots(slots) {
    to_live();
  }

  value_type operator*() const {
    auto const slot = *m_table.slot_at(m_slot);
    auto const key = from_bits<key_type>(layout::key_of(slot));
    if constexpr (layout::has_value)
      return {key, layout::value_of(slot)};
    else
      return key;
  }
  slot_iterator& operator++() {
    ++m_slot;
    to_live();
    return *this;
  }
  slot_iterator operator++(int) {
    slot_iterator const before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(slot_iterator const& a, slot_iterator const& b) {
    return a.m_slot == b.m_slot;
  }

 private:
  void to_live() {
    while (m_slot < m_slots && !m_table.slot().live(*m_table.slot_at(m_slot))) ++m_slot;
  }
  Table m_table{};
  std::uint64_t m_slot = 0, m_slots = 0;
};

}  // namespace karpos::detail
