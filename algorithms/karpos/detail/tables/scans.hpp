// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/detail/tables/probe.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash.hpp"

// Bodies of kernels that read every slot of a table, and of kernels that read many queries. Each
// slot is read by one load, concurrently with writers.
// Kokkos' own loops have no KARPOS_FLATTEN; so their bodies have it, and are inlined by force.

namespace karpos::detail {

/// Calls f(key, value), or f(key) for a set, if slot i is live.
template <class Table, class F>
KARPOS_STEP_FUNCTION void if_live(Table const& table, std::uint64_t i, F const& f) {
  using layout = typename Table::layout;
  auto const slot = device::load_relaxed(table.slot_at(i));
  if (!table.slot().live(slot)) return;
  auto const key = from_bits<typename Table::key_type>(layout::key_of(slot));
  if constexpr (layout::has_value) {
    KARPOS_INLINE_CALLS f(key, layout::value_of(slot));
  } else {
    KARPOS_INLINE_CALLS f(key);
  }
}

struct slot_counts {
  std::uint64_t live = 0, dead = 0;
};
/// Counts the slots that hold keys (live) and those that hold tombstones (dead).
template <class Table>
struct count_slots_body {
  Table table;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& live, std::uint64_t& dead) const {
    auto const slot = device::load_relaxed(table.slot_at(i));
    live += table.slot().live(slot);
    dead += table.slot().erased(slot);
  }
};

/// Calls visit(key, value), or visit(key) for a set, for a live slot.
template <class Table, class Visit>
struct visit_body {
  Table table;
  Visit visit;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { if_live(table, i, visit); }
};

/// Calls visit(key, value) for a live slot, with the value by reference, and stores what visit
/// changes.
/// Requires: no other thread writes.
template <class Table, class Visit>
struct update_body {
  using plain_table = std::remove_cvref_t<Table>;
  using layout = typename plain_table::layout;
  Table table;
  Visit visit;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto* const slot = table.slot_at(i);
    auto const before = device::load_relaxed(slot);
    if (!table.slot().live(before)) return;
    auto value = layout::value_of(before);
    visit(from_bits<typename plain_table::key_type>(layout::key_of(before)), value);
    auto const after = layout::pack(layout::key_of(before), layout::bits_of(value));
    if (!(after == before)) *slot = after;
  }
};

/// Calls visit(key, value, partial), or visit(key, partial) for a set, for a live slot.
template <class Table, class Visit, class Partial>
struct reduce_body {
  Table table;
  Visit visit;
  KARPOS_FLATTEN KOKKOS_FORCEINLINE_FUNCTION void operator()(std::uint64_t i,
                                                             Partial& partial) const {
    if_live(table, i, [&](auto const&... pair) { visit(pair..., partial); });
  }
};

/// Erases every key with predicate(key, value), or predicate(key) for a set, and counts them.
template <class Table, class Predicate>
struct erase_if_body {
  Table table;
  Predicate predicate;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    if_live(table, i, [&](auto const& key, auto const&... value) {
      if (predicate(key, value...))
        n += erase_from(table, one_thread<Table>{}, key) == outcome::erased;
    });
  }
};

/// Counts the queries that are stored in a table. Requires: no other thread changes the table.
template <class Table, class Queries>
struct count_present_body {
  Table table;
  Queries queries;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    auto const query = device::element(queries, i);
    n += !table.reserved(query) &&
         find_in<device::access::frozen>(table, one_thread<Table>{}, query).present;
  }
};

/// Counts the keys that are equal to a sentinel.
template <class Protocol, class Keys>
struct count_reserved {
  Protocol protocol;
  Keys keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    n += protocol.reserved(device::element(keys, i));
  }
};
template <class ExecSpace, class Protocol, class Keys>
std::uint64_t count_reserved_keys(std::string const& label, ExecSpace const& exec,
                                  Protocol const& protocol, Keys const& keys) {
  return device::reduce_over<Kokkos::Sum<std::uint64_t>>(
      label, exec, keys.extent(0), device::make_body<ExecSpace, count_reserved>(protocol, keys));
}

/// Writes the live slots contiguously: the scan gives each its index.
template <class Table, class KeysOut, class ValuesOut>
struct retrieve_body {
  Table table;
  KeysOut keys;
  ValuesOut values;
  KARPOS_FLATTEN KOKKOS_FORCEINLINE_FUNCTION void operator()(std::uint64_t i, std::uint64_t& place,
                                                             bool final) const {
    if_live(table, i, [&](auto const& key, auto const&... value) {
      if (final) {
        keys(place) = key;
        ((values(place) = value), ...);
      }
      ++place;
    });
  }
};

// These functors read the keys, the values and the liveness of a table's slots, in place of the
// views and stencils that bulk kernels read.

template <class Table>
using held_table = device::held_by_loop<typename Table::execution_space, Table>;

template <class Table>
struct keys_of_slots {
  held_table<Table> table;
  KOKKOS_FUNCTION auto operator()(std::uint64_t i) const {
    using layout = typename Table::layout;
    return from_bits<typename Table::key_type>(
        layout::key_of(device::load_relaxed(table.slot_at(i))));
  }
};
template <class Table>
struct values_of_slots {
  held_table<Table> table;
  KOKKOS_FUNCTION auto operator()(std::uint64_t i) const {
    return Table::layout::value_of(device::load_relaxed(table.slot_at(i)));
  }
};
/// Stencil that selects the live slots; if refusals are counted, none after the first refusal.
template <class Table>
struct is_live_slot {
  held_table<Table> table;
  erase_report* refused;  ///< counts keys that found no slot; or null
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    if (refused != nullptr && device::load_relaxed(&refused->erased) != 0) return false;
    return table.slot().live(device::load_relaxed(table.slot_at(i)));
  }
};

/// Rehash: copies the live slots of a table into another one, in which their positions are
/// unrelated.
/// Requires: both tables outlive the loop.
template <int Distance, class Table>
struct reinsert_body : insert_body<Distance, Table, keys_of_slots<Table>, values_of_slots<Table>,
                                   keep_stored, is_live_slot<Table>> {
  using base = typename reinsert_body::insert_body;
  using space = typename Table::execution_space;

  reinsert_body(Table const& from, Table const& to, erase_report* refused)
      : base{{device::for_loop<space>(to), {device::for_loop<space>(from)}},
             {device::for_loop<space>(from)},
             {},
             {device::for_loop<space>(from), refused}} {}

  KOKKOS_FUNCTION typename Table::path stage(std::uint64_t i) const {
    return this->table.start_at(hash(i));
  }
  KOKKOS_FUNCTION std::uint64_t home(std::uint64_t i) const { return this->table.home_of(hash(i)); }
  KARPOS_STEP_FUNCTION device::staged_result operator()(std::uint64_t i,
                                                        typename Table::path& p) const {
    auto const result = base::operator()(i, p);
    erase_report* const refused = this->stencil.refused;
    if (refused != nullptr && result.counts(insert_report::counter_of(outcome::full)))
      device::add(&refused->erased, std::uint64_t(1));
    return result;
  }

 private:
  /// Returns the hash of the key in slot i, or 0 if the slot is not live and has no key to hash.
  KOKKOS_FUNCTION std::uint64_t hash(std::uint64_t i) const {
    auto const& from = this->stencil.table;
    bool const live = from.slot().live(device::load_relaxed(from.slot_at(i)));
    return live ? this->table.hash(this->keys(i)) : 0;
  }
};

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
