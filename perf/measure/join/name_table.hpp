// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/common/prefix_sums.hpp"
#include "karpos/rows.hpp"
#include "perf/measure/support/sequences.hpp"
#include "perf/measure/support/space.hpp"

// Tables whose rows are two columns of strings, the first and the last name of a person, as in the
// join of the article on cuCollections. Names are numerals of syllables, so that rows are equal
// exactly if the keys that they are made of are:
//
//   key      | 22 bits of the last name | 10 bits of the first |
//   names    Ronisoba, Lemi

namespace karpos::perf {

/// A name: the numeral of a number in base 32, with syllables as digits, the lowest first.
struct name_of_number {
  /// Calls f(i, byte) for each byte of the name. Returns their number.
  template <class F>
  KOKKOS_FUNCTION static std::uint32_t spell(std::uint32_t number, F const& f) {
    constexpr char consonants[] = "blnrtdmk", vowels[] = "aeio";
    std::uint32_t n = 0;
    do {
      char const first = consonants[number & 7];
      f(n, n == 0 ? static_cast<char>(first - 'a' + 'A') : first);
      f(n + 1, vowels[number >> 3 & 3]);
      n += 2;
      number >>= 5;
    } while (number > 0);
    return n;
  }
};

/// The number of a name: some bits of a row's scrambled key.
struct number_of_name {
  array<std::uint32_t> keys;
  int shift, bits;
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint64_t i) const {
    return scramble(keys(i)) >> shift & ((std::uint32_t(1) << bits) - 1);
  }
};
struct count_letters {
  number_of_name number;
  array<std::uint64_t> to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    to(i) = name_of_number::spell(number(i), [](std::uint32_t, char) {});
  }
};
struct write_letters {
  number_of_name number;
  array<std::uint64_t> offsets;
  array<char> to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    char* const begin = to.data() + offsets(i);
    name_of_number::spell(number(i), [=](std::uint32_t k, char c) { begin[k] = c; });
  }
};

using name_column = string_column<array<char>, array<std::uint64_t>>;
inline name_column make_names(space const& exec, number_of_name const& number) {
  std::uint64_t const n = number.keys.extent(0);
  auto const offsets = make_array<std::uint64_t>("offsets of names", n + 1);
  Kokkos::parallel_for("karpos::perf::count_letters", range(exec, n),
                       count_letters{number, offsets});
  std::uint64_t const bytes =
      detail::exclusive_scan("karpos::perf::offsets of names", exec, offsets.data(), n);
  Kokkos::deep_copy(exec, Kokkos::subview(offsets, n), bytes);
  auto const letters = make_array<char>("names", bytes);
  Kokkos::parallel_for("karpos::perf::write_letters", range(exec, n),
                       write_letters{number, offsets, letters});
  return {exec, letters, offsets};
}

/// A table of the measurement (measurement.hpp).
struct table_of_names {
  using key_type = std::uint32_t;
  name_column first, last;

  table_of_names(space const& exec, array<std::uint32_t> const& keys)
      : first(make_names(exec, {keys, 0, 10})),
        last(make_names(exec, {keys, 10, 22})) {}
  auto rows() const { return karpos::rows(first, last); }
  std::uint64_t bytes() const {
    auto const of = [](name_column const& c) {
      return c.bytes().extent(0) + c.offsets().extent(0) * sizeof(std::uint64_t);
    };
    return of(first) + of(last);
  }
};

}  // namespace karpos::perf
