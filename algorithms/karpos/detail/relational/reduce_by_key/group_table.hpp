// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/device/team.hpp"
#include "karpos/operations.hpp"
#include "karpos/rows.hpp"

// The values of a table's slots, column by column: a value of n numbers takes n arrays.

namespace karpos::detail::reduce_by_key {

KOKKOS_FUNCTION constexpr std::size_t round_up_to_even(std::size_t n) { return (n + 1) / 2 * 2; }

/// The array of values that are one number each.
template <class T>
class slot_values {
  using word = bits_of<T>;

 public:
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t slots) {
    return round_up_to_even(slots) * sizeof(word);
  }
  KOKKOS_FUNCTION slot_values(std::byte* memory, std::uint32_t)
      : m_words(reinterpret_cast<word*>(memory)) {}

  KOKKOS_FORCEINLINE_FUNCTION T get(std::uint32_t i) const { return from_bits<T>(m_words[i]); }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::uint32_t i, T const& v) const {
    m_words[i] = to_bits<word>(v);
  }
  template <class Op>
  KOKKOS_FORCEINLINE_FUNCTION void merge(std::uint32_t i, T const& v, Op const& op) const {
    merge_in_scratch(m_words + i, v, op);
  }

 private:
  word* m_words;
};

/// Values of several numbers, each merged by an operation of its own: get<I>(op.each).
template <std::size_t... I, class... T>
class slot_values<pack_of<std::index_sequence<I...>, T...>> {
  using value = pack<T...>;

 public:
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t slots) {
    return (slot_values<T>::bytes(slots) + ...);
  }
  /// Allocates the arrays one after the other: initializers of an aggregate run in order.
  KOKKOS_FUNCTION slot_values(std::byte* memory, std::uint32_t slots)
      : m_each{{slot_values<T>(allocate(memory, slot_values<T>::bytes(slots)), slots)}...} {}

  KOKKOS_FORCEINLINE_FUNCTION value get(std::uint32_t i) const {
    return {{detail::get<I>(m_each).get(i)}...};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::uint32_t i, value const& v) const {
    (detail::get<I>(m_each).store(i, detail::get<I>(v)), ...);
  }
  template <class Op>
  KOKKOS_FORCEINLINE_FUNCTION void merge(std::uint32_t i, value const& v, Op const& op) const {
    (detail::get<I>(m_each).merge(i, detail::get<I>(v), detail::get<I>(op.each)), ...);
  }

 private:
  KOKKOS_FUNCTION static std::byte* allocate(std::byte*& memory, std::size_t bytes) {
    std::byte* const first = memory;
    memory += bytes;
    return first;
  }

  pack<slot_values<T>...> m_each;
};

/// Whether an operation has an identity, a value that changes no other. Only the library's
/// operations on numbers do: those of the caller are unknown, and the minimum or maximum of
/// floating-point numbers may be a NaN.
template <class Op, class T>
struct identity_of {
  static constexpr bool is_sum = std::is_same_v<Op, plus>, is_minimum = std::is_same_v<Op, minimum>;
  static constexpr bool exists =
      is_sum ? std::is_arithmetic_v<T>
             : std::is_integral_v<T> && (is_minimum || std::is_same_v<Op, maximum>);
  KOKKOS_FORCEINLINE_FUNCTION static T get()
    requires exists
  {
    if constexpr (is_sum)
      return -T(0);
    else
      return is_minimum ? Kokkos::Experimental::finite_max_v<T>
                        : Kokkos::Experimental::finite_min_v<T>;
  }
};

/// An operation for each number of a value.
template <class... Op>
struct merge_each {
  pack<Op...> each;
  template <std::size_t... I, class... T>
  KOKKOS_FORCEINLINE_FUNCTION pack_of<std::index_sequence<I...>, T...> operator()(
      pack_of<std::index_sequence<I...>, T...> const& a,
      pack_of<std::index_sequence<I...>, T...> const& b) const {
    return {{static_cast<T>(get<I>(each)(detail::get<I>(a), detail::get<I>(b)))}...};
  }
};

template <class... Op, std::size_t... I, class... T>
struct identity_of<merge_each<Op...>, pack_of<std::index_sequence<I...>, T...>> {
  static constexpr bool exists = (identity_of<Op, T>::exists && ...);
  KOKKOS_FORCEINLINE_FUNCTION static pack<T...> get() { return {{identity_of<Op, T>::get()}...}; }
};

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
      for (std::uint32_t i = device::rank(t); i < this->end(); i += device::size(t))
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
