// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/word_probing.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/relational/reduce_by_key/columns.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash.hpp"
#include "karpos/outcome.hpp"
#include "karpos/rows.hpp"

// Sums of floating-point numbers, in integers: the order of additions does not change them.

// Reproducible sums: numbers of a key are added in bins (Demmel, Nguyen 2015) of 90 bits.

namespace karpos::detail::reduce_by_key {

/// Bits of a number in each of three words. Sums of 2^32 such words take 63 bits.
inline constexpr int word_bits = 30, bin_bits = 3 * word_bits;
/// The exponent of the lowest bit of any double.
inline constexpr int lowest_exponent = -1074;

__extension__ using wide_integer = __int128;
__extension__ using wide_bits = unsigned __int128;

/// |x| = mantissa * 2^exponent, for finite x.
struct magnitude {
  std::uint64_t mantissa;
  int exponent;
};
KOKKOS_FORCEINLINE_FUNCTION bool is_finite(double x) { return x - x == 0; }
KOKKOS_FORCEINLINE_FUNCTION magnitude magnitude_of(double x) {
  auto const bits = Kokkos::bit_cast<std::uint64_t>(x);
  constexpr std::uint64_t hidden = std::uint64_t(1) << 52;
  auto const exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0) return {bits & (hidden - 1), lowest_exponent};
  return {(bits & (hidden - 1)) | hidden, exponent - 1 + lowest_exponent};
}

/// A number's bits are those of 2^low to 2^(top - 1); zeros, infinities and NaNs have none.
struct bit_range {
  int low, top;
};
KOKKOS_FORCEINLINE_FUNCTION bit_range exponent_range(double x) {
  if (x == 0 || !is_finite(x))
    return {Kokkos::Experimental::finite_max_v<int>, Kokkos::Experimental::finite_min_v<int>};
  magnitude const m = magnitude_of(x);
  return {m.exponent + Kokkos::countr_zero(m.mantissa),
          m.exponent + 64 - Kokkos::countl_zero(m.mantissa)};
}

/// Sums of the high, middle and low words of numbers, and flags of numbers that are not finite.
using fixed_sum = pack<std::int64_t, std::int64_t, std::int64_t, std::uint32_t>;
inline constexpr std::uint32_t positive_infinity = 1, negative_infinity = 2, not_a_number = 4;

struct bit_or {
  KOKKOS_FUNCTION constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a | b;
  }
};

/// Returns x in multiples of 2^low, without lower bits. Requires: |x| < 2^(low + bin_bits).
KOKKOS_FORCEINLINE_FUNCTION fixed_sum fixed_point(double x, int low) {
  if (!is_finite(x))
    return {{0}, {0}, {0}, {x > 0 ? positive_infinity : x < 0 ? negative_infinity : not_a_number}};
  magnitude const m = magnitude_of(x);
  int const shift = m.exponent - low;
  wide_bits const f = m.mantissa == 0 ? 0
                      : shift >= 0    ? static_cast<wide_bits>(m.mantissa) << shift
                      : shift > -64   ? m.mantissa >> -shift
                                      : 0;
  constexpr std::int64_t mask = (std::int64_t(1) << word_bits) - 1;
  std::int64_t const sign = x < 0 ? -1 : 1;
  return {{sign * static_cast<std::int64_t>(f >> (2 * word_bits))},
          {sign * (static_cast<std::int64_t>(f >> word_bits) & mask)},
          {sign * (static_cast<std::int64_t>(f) & mask)},
          {0}};
}

/// Returns x * 2^exponent, for an exponent of lowest_exponent or more. Multiplies by two factors,
/// neither of which is too small for a double.
KOKKOS_FORCEINLINE_FUNCTION double scaled(double x, int exponent) {
  auto const power = [](int e) {
    return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  };
  int const half = exponent / 2;
  return x * power(half) * power(exponent - half);
}

/// Returns the number nearest to a sum in multiples of 2^low; of two, the one whose last bit is 0.
template <class T>
KOKKOS_FUNCTION T rounded(fixed_sum const& sum, int low) {
  std::uint32_t const flags = get<3>(sum);
  if (flags != 0) {
    T const infinity = Kokkos::Experimental::infinity_v<T>;
    if (flags == positive_infinity) return infinity;
    return flags == negative_infinity ? -infinity : Kokkos::Experimental::quiet_NaN_v<T>;
  }
  constexpr wide_integer unit = wide_integer(1) << word_bits;
  wide_integer const total = (get<0>(sum) * unit + get<1>(sum)) * unit + get<2>(sum);
  auto m = static_cast<wide_bits>(total < 0 ? -total : total);
  bool rest = false;  // whether a bit was left out
  int exponent = low;
  for (; m >> 64 != 0; m >>= 1, ++exponent) rest |= (m & 1) != 0;
  auto const r = static_cast<T>(static_cast<std::uint64_t>(m) | (rest ? 1 : 0));
  return static_cast<T>(scaled(static_cast<double>(total < 0 ? -r : r), exponent));
}

/// The exponents of a column's numbers, as a column that reduce_by_key can read.
template <class Column>
struct exponents_of {
  Column column;
  KOKKOS_FUNCTION std::uint64_t extent(int) const { return column.extent(0); }
  KOKKOS_FUNCTION std::int32_t operator()(std::uint64_t i) const {
    return exponent_range(static_cast<double>(column(i))).top;
  }
  template <class F>
  auto transformed(F const& f) const {
    return exponents_of<decltype(f(column))>{f(column)};
  }
};

/// Finds the exponents between which all finite numbers of a column lie, except zeros.
template <class Column>
struct reduce_exponent_range {
  Column column;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, Kokkos::MinMaxScalar<int>& r) const {
    bit_range const x = exponent_range(static_cast<double>(column(i)));
    r.min_val = Kokkos::min(r.min_val, x.low);
    r.max_val = Kokkos::max(r.max_val, x.top);
  }
};

/// A hash table of each key's largest exponent, by linear probing. A slot holds the index of a
/// group, or no_group; the number of slots is a power of two.
template <class Keys, class MaxExponents, class Slots>
struct group_exponents {
  static constexpr std::uint64_t no_group = ~std::uint64_t(0);
  Keys keys;
  MaxExponents max_exponents;
  Slots slots;

  /// Inserts group g. Requires: no other group has its key; there are more slots than groups.
  KOKKOS_FUNCTION void operator()(std::uint64_t g) const {
    table().insert_or_find(home(keys(g)), g, [](std::uint64_t) { return false; });
  }
  /// Returns the largest exponent of a key, or the lowest exponent of all if there is no such key.
  template <class Bits>
  KOKKOS_FUNCTION int top(Bits key) const {
    auto const at = table().template find<device::access::frozen>(
        home(key), [&](std::uint64_t g) { return keys(g) == key; });
    return at.ended == outcome::found ? max_exponents(at.word) : lowest_exponent;
  }
  template <class F>
  auto transformed(F const& f) const {
    return group_exponents<decltype(f(keys)), decltype(f(max_exponents)), decltype(f(slots))>{
        f(keys), f(max_exponents), f(slots)};
  }

 private:
  KOKKOS_FUNCTION word_probing::table<std::uint64_t> table() const {
    return {&slots(0), slots.extent(0), no_group};
  }
  template <class Bits>
  KOKKOS_FUNCTION std::uint64_t home(Bits key) const {
    return mix(key) & (slots.extent(0) - 1);
  }
};
template <class MemorySpace, class Bits>
using group_exponent_views =
    group_exponents<Kokkos::View<Bits*, MemorySpace>, Kokkos::View<std::int32_t*, MemorySpace>,
                    Kokkos::View<std::uint64_t*, MemorySpace>>;

/// The bins that numbers are added in: one for all keys, or one per key, below its largest number.
template <class Groups>
struct bins {
  int low;
  bool per_key = false;
  Groups groups = {};
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION int low_of(Bits key) const {
    if (!per_key) return low;
    return Kokkos::max(groups.top(key), lowest_exponent + bin_bits) - bin_bits;
  }
  template <class F>
  auto transformed(F const& f) const {
    return bins<decltype(f(groups))>{low, per_key, f(groups)};
  }
};

/// Reduces the exponents of a column by key. Waits.
template <class ExecSpace, class Keys, class Column>
auto reduce_exponents(ExecSpace const& exec, Keys const& keys, Column const& column) {
  using bits = bits_of<typename Keys::non_const_value_type>;
  using space = typename ExecSpace::memory_space;
  using device::for_loop, device::held_by_loop;
  exponents_of<Column> const exponents{column};
  char const* const label = "karpos::reduce_by_key: largest exponents";
  std::uint64_t const n = keys.extent(0);
  auto const array = [&]<class T>(T, std::uint64_t size) {
    return allocate_array<Kokkos::View<T*, space>>(
        exec, label, "the exponents of a reproducible sum", "pass fewer rows", size);
  };
  group_exponent_views<space, bits> g{array(bits{}, n), array(std::int32_t{}, n), {}};
  using result = result_views<held_by_loop<ExecSpace, decltype(g.keys)>,
                              held_by_loop<ExecSpace, decltype(g.max_exponents)>>;
  std::uint64_t const count = reduce_by_key::run(
      exec, source_of_rows<key_value<bits, std::int32_t>, ExecSpace>(keys, exponents),
      result{for_loop<ExecSpace>(g.keys), for_loop<ExecSpace>(g.max_exponents), n}, maximum{},
      {nullptr, 0}, "");
  g.slots = array(std::uint64_t{}, std::bit_ceil(2 * count));
  fill(label, exec, g.slots, g.no_group);
  device::loop_over(label, exec, count, for_loop<ExecSpace>(g));
  return g;
}

/// Chooses the bins of a column. Waits.
template <class ExecSpace, class Keys, class Column>
auto compute_bins(ExecSpace const& exec, Keys const& keys, Column const& column) {
  using bits = bits_of<typename Keys::non_const_value_type>;
  bins<group_exponent_views<typename ExecSpace::memory_space, bits>> b{0};
  std::uint64_t const n = column.extent(0);
  if (n > std::uint64_t(1) << 32)
    reject("too many rows for a reproducible sum", std::to_string(n) + " of at most 2^32",
           "reduce them in two calls");
  Kokkos::MinMaxScalar<int> range;
  Kokkos::parallel_reduce("karpos::reduce_by_key: range of exponents", index_range(exec, n),
                          reduce_exponent_range<Column>{column}, Kokkos::MinMax<int>(range));
  if (range.min_val >= range.max_val) return b;  // only zeros and numbers that are not finite
  b.low = range.min_val;
  b.per_key = range.max_val - range.min_val > bin_bits;
  if (b.per_key) b.groups = reduce_by_key::reduce_exponents(exec, keys, column);
  return b;
}

template <int Column, class Out, class Bins>
struct reproducible_field {
  using state = fixed_sum;
  using merge = merge_each<plus, plus, plus, bit_or>;
  merge op;
  Out out;
  Bins bin;

  template <class Bits, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION state first(Bits key, Columns const& columns) const {
    return fixed_point(static_cast<double>(detail::get<Column>(columns)), bin.low_of(key));
  }
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, Bits key, state const& s) const {
    using number = typename std::remove_cvref_t<Out>::value_type;
    out(i) = rounded<number>(s, bin.low_of(key));
  }
  template <class F>
  auto transformed(F const& f) const {
    return reproducible_field<Column, decltype(f(out)), decltype(f(bin))>{op, f(out), f(bin)};
  }
};

template <class ExecSpace, class Key, class Columns, int Column, class Out>
struct reproducible_field_of {
  using column = std::tuple_element_t<Column, Columns>;
  static_assert(!is_nullable<column>,
                "karpos: a column with nulls takes plus, minimum, maximum, mean, variance and "
                "count_valid");
  using from = number_of<column>;
  using to = typename Out::value_type;
  static_assert(std::is_same_v<from, float> || std::is_same_v<from, double>,
                "karpos: reproducible sums are those of floats and doubles; plus adds integers "
                "exactly");
  static_assert(std::is_same_v<to, from> || std::is_same_v<to, double>,
                "karpos: reproducible sums have the type of their column, or are doubles");
  using type = reproducible_field<
      Column, Out, bins<group_exponent_views<typename ExecSpace::memory_space, bits_of<Key>>>>;

  template <class Keys, class Output>
  static type make(ExecSpace const& exec, Keys const& keys, Columns const& columns,
                   Output const& o) {
    return {{}, o.out, reduce_by_key::compute_bins(exec, keys, std::get<Column>(columns))};
  }
};

}  // namespace karpos::detail::reduce_by_key
