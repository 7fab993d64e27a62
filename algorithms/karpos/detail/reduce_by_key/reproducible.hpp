// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/arrays.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/reduce_by_key/aggregation.hpp"
#include "karpos/detail/reduce_by_key/columns.hpp"
#include "karpos/detail/reduce_by_key/fixed_point.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash.hpp"

// Reproducible sums: which window of bits the numbers of a key are added in.

namespace karpos::detail::reduce_by_key {

/// The exponents of a column: numbers as reduce_by_key takes them.
template <class Column>
struct exponents_of {
  Column column;
  KOKKOS_FUNCTION std::uint64_t extent(int) const { return column.extent(0); }
  KOKKOS_FUNCTION std::int32_t operator()(std::uint64_t i) const {
    return exponent_range(static_cast<double>(column(i))).top;
  }
};

/// Finds the exponents that all finite numbers of a column but zeros lie between.
template <class Column>
struct find_range {
  Column column;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, Kokkos::MinMaxScalar<int>& r) const {
    bit_range const x = exponent_range(static_cast<double>(column(i)));
    r.min_val = Kokkos::min(r.min_val, x.low);
    r.max_val = Kokkos::max(r.max_val, x.top);
  }
};

/// The largest exponent of each key: indices of groups by open addressing with linear probing.
template <class MemorySpace, class Bits>
struct group_exponents {
  Kokkos::View<Bits*, MemorySpace> keys;
  Kokkos::View<std::int32_t*, MemorySpace> tops;
  Kokkos::View<std::uint64_t*, MemorySpace> slots;  // 1 + an index, or 0; a power of two of them

  /// Inserts group g.
  KOKKOS_FUNCTION void operator()(std::uint64_t g) const {
    std::uint64_t i = mix(keys(g));
    while (device::compare_and_swap(&slots(i & (slots.extent(0) - 1)), std::uint64_t(0), g + 1) !=
           0)
      ++i;
  }
  /// Of a key that is there.
  KOKKOS_FUNCTION int top(Bits key) const {
    for (std::uint64_t i = mix(key);; ++i) {
      std::uint64_t const g = slots(i & (slots.extent(0) - 1)) - 1;
      if (keys(g) == key) return tops(g);
    }
  }
};

/// The window that a key's numbers are added in: one for all, or one below the largest number of each.
template <class MemorySpace, class Bits>
struct windows {
  int low;
  bool each = false;
  group_exponents<MemorySpace, Bits> groups = {};
  KOKKOS_FORCEINLINE_FUNCTION int low_of(Bits key) const {
    if (!each) return low;
    return Kokkos::max(groups.top(key), lowest_exponent + window_bits) - window_bits;
  }
};

/// Reduces the exponents of a column by key. Waits.
template <class ExecSpace, class Keys, class Column>
auto exponents_by_key(ExecSpace const& exec, Keys const& keys, Column const& column) {
  using bits = bits_of<typename Keys::non_const_value_type>;
  using space = typename ExecSpace::memory_space;
  using source = keys_and_values<key_value<bits, std::int32_t>, Keys, exponents_of<Column>>;
  char const* const label = "karpos::reduce_by_key: largest exponents";
  std::uint64_t const n = keys.extent(0);
  auto const array = [&]<class T>(T, std::uint64_t size) {
    return allocate_or_explain<space>(
        size * sizeof(T), "the exponents of a reproducible sum", "pass fewer rows",
        [&] { return uninitialized_array<Kokkos::View<T*, space>>(exec, label, size); });
  };
  group_exponents<space, bits> g{array(bits{}, n), array(std::int32_t{}, n), {}};
  using result = result_views<decltype(g.keys), decltype(g.tops)>;
  std::uint64_t const count = reduce_by_key::run(
      exec, source(keys, {column}), result{g.keys, g.tops, n}, maximum{}, {nullptr, 0}, "");
  g.slots = array(std::uint64_t{}, std::bit_ceil(2 * count));
  fill(label, exec, g.slots, 0);
  device::loop_over(label, exec, count, g);
  return g;
}

/// Chooses the windows of a column. Waits.
template <class ExecSpace, class Keys, class Column>
auto windows_of(ExecSpace const& exec, Keys const& keys, Column const& column) {
  using bits = bits_of<typename Keys::non_const_value_type>;
  windows<typename ExecSpace::memory_space, bits> w{0};
  std::uint64_t const n = column.extent(0);
  if (n > std::uint64_t(1) << 32)
    reject("too many rows for a reproducible sum", std::to_string(n) + " of at most 2^32",
           "reduce them in two calls");
  Kokkos::MinMaxScalar<int> range;
  Kokkos::parallel_reduce("karpos::reduce_by_key: range of exponents", index_range(exec, n),
                          find_range<Column>{column}, Kokkos::MinMax<int>(range));
  if (range.min_val >= range.max_val) return w;  // none but zeros
  w.low = range.min_val;
  w.each = range.max_val - range.min_val > window_bits;
  if (w.each) w.groups = reduce_by_key::exponents_by_key(exec, keys, column);
  return w;
}

template <int Column, class Bits, class Out, class MemorySpace>
struct reproducible_field {
  using state = fixed_sum;
  using merge = merge_each<plus, plus, plus, bit_or>;
  merge op;
  Out out;
  windows<MemorySpace, Bits> window;

  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION state first(Bits key, Columns const& columns) const {
    return fixed_point(static_cast<double>(detail::get<Column>(columns)), window.low_of(key));
  }
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, Bits key, state const& s) const {
    out(i) = rounded<typename Out::value_type>(s, window.low_of(key));
  }
};

template <class ExecSpace, class Key, class Columns, int Column, class Out>
struct reproducible_field_of {
  using column = std::tuple_element_t<Column, Columns>;
  using from = typename column::non_const_value_type;
  using to = typename Out::value_type;
  static_assert(std::is_same_v<from, float> || std::is_same_v<from, double>,
                "karpos: reproducible sums are those of floats and doubles; plus adds integers "
                "exactly");
  static_assert(std::is_same_v<to, from> || std::is_same_v<to, double>,
                "karpos: reproducible sums have the type of their column, or are doubles");
  using type = reproducible_field<Column, bits_of<Key>, Out, typename ExecSpace::memory_space>;

  template <class Keys, class Output>
  static type make(ExecSpace const& exec, Keys const& keys, Columns const& columns,
                   Output const& o) {
    return {{}, o.out, reduce_by_key::windows_of(exec, keys, std::get<Column>(columns))};
  }
};

}  // namespace karpos::detail::reduce_by_key
