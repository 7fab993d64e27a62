// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/hash.hpp"

// Aggregation by key: groups rows with equal keys, and merges the values of a group.
//
//   source     the caller's rows: the bits of a key (hash.hpp: key_bits_of), mixed
//      |       (below), and its value
//      |
//      |  if a sample has equal keys: pre_aggregate (aggregate.hpp), a table in scratch per team
//      v
//   rows       partial rows: a key may be in several        <------------------------------+
//      |                                                                                   |
//      |  split by the mixed key (partition_of_bits): equal keys are in one partition      |
//      v                                                                                   |
//   partitions | 0      | 1      | 2               | ... |                                 |
//      |                                                                                   |
//      |  cut (partition/chunks.hpp): partitions too long for a table, in several chunks   |
//      v                                                                                   |
//   chunks     | 0      | 1      | 2   | 3   | 4   | ... |                                 |
//      |                                                                                   |
//      |  aggregate_chunks (aggregate.hpp): a team and a table in scratch per chunk        |
//      v                                                                                   |
//   groups     of a partition that is one chunk: the result; of others: partial rows ------+
//
// On GPUs the first round splits into fixed-capacity partitions instead (in_fixed_partitions.hpp),
// and makes few partial rows or none.
//
// A partition is too long if a key has many equals, and a chunk merges those: there are fewer
// partial rows from round to round. The table of a chunk cannot be full, and no row costs an atomic
// operation on global memory.
// Tests: reduce_by_key, aggregates, reproducible_plus, reduced_insertion, reduction_teams.
//
// A bijection, `mixed`, spreads every bit of a key over all of its bits when the key is loaded, and
// is undone when its group is written. In between, products of the mixed key choose its partition
// and its slot.
//
//   key  --mixed-->  bits  --unmixed-->  key
//                     |
//                     +-- times a multiplier of the split: high bits       partition
//                     +-- low bits, or times the golden ratio: high bits   slot of a table

namespace karpos::detail::reduce_by_key {

/// The two multipliers of mixed(). Each follows an exclusive or with the high half of the bits,
/// which is done once more at the end.
template <class Bits>
inline constexpr Bits first_multiplier = 0x0e9846af9b1a615d;
template <class Bits>
inline constexpr Bits second_multiplier = first_multiplier<Bits>;
template <>
inline constexpr std::uint32_t first_multiplier<std::uint32_t> = 0x21f0aaad;
template <>
inline constexpr std::uint32_t second_multiplier<std::uint32_t> = 0x735a2d97;

/// Returns the inverse of an odd number modulo 2^(8 * sizeof(Bits)). Each step of Newton's method
/// doubles the number of correct bits.
template <class Bits>
KOKKOS_FUNCTION constexpr Bits inverse_of_odd(Bits odd) {
  Bits inverse = odd;  // three bits
  for (int bits = 3; bits < 8 * static_cast<int>(sizeof(Bits)); bits *= 2)
    inverse *= 2 - odd * inverse;
  return inverse;
}

/// Spreads every bit of x over all of its bits; a bijection.
///
/// Source: Chris Wellons, "Prospecting for hash functions", 2018 (xor-shift, multiply, twice);
///   TheIronBorn's multipliers of 32 bits; Jon Maiga, "The construct of a bit mixer", 2020, for the
///   multiplier of 64 bits.
template <class Bits>
KOKKOS_FORCEINLINE_FUNCTION constexpr Bits mixed(Bits x) {
  constexpr int half = 4 * sizeof(Bits);
  x ^= x >> half;
  x *= first_multiplier<Bits>;
  x ^= x >> half;
  x *= second_multiplier<Bits>;
  return x ^ x >> half;
}
/// Returns the bits that `mixed` turns into x.
template <class Bits>
KOKKOS_FORCEINLINE_FUNCTION constexpr Bits unmixed(Bits x) {
  constexpr int half = 4 * sizeof(Bits);
  x ^= x >> half;
  x *= inverse_of_odd(second_multiplier<Bits>);
  x ^= x >> half;
  x *= inverse_of_odd(first_multiplier<Bits>);
  return x ^ x >> half;
}

/// Returns whether multiples i * q modulo 2^32 are spread evenly for i in any range: no partial
/// quotient of q / 2^32 is large.
///
/// Source: Niederreiter, "Random Number Generation and Quasi-Monte Carlo Methods", 1992, theorem
///   3.4.
constexpr bool has_even_multiples(std::uint32_t q) {
  std::uint64_t a = std::uint64_t(1) << 32, b = q;
  while (b != 0) {
    if (a / b > 12) return false;
    std::uint64_t const rest = a % b;
    a = b;
    b = rest;
  }
  return true;
}
/// Returns the odd number that mixed keys are multiplied by, for a split into `partitions`
/// partitions in round `round`. Other splits have other numbers: groups are written partition by
/// partition, and would crowd in some partitions of the next reduction. Few bits of a 32-bit key do
/// not choose the partition. So the number is one for which the keys of a partition spread evenly
/// over the slots of by_low_bits.
constexpr std::uint64_t partition_multiplier(std::uint64_t partitions, std::uint64_t round) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    std::uint64_t const m =
        place_multiplier(hashed::reduce_by_key, partitions + (round << 32) + (attempt << 48));
    if (has_even_multiples(golden_ratio * inverse_of_odd(static_cast<std::uint32_t>(m)))) return m;
  }
}

/// Maps a mixed key to its partition.
struct partition_of_bits {
  std::uint32_t partitions;
  std::uint64_t multiplier;

  partition_of_bits(std::uint64_t n, std::uint64_t round)
      : partitions(static_cast<std::uint32_t>(n)),
        multiplier(partition_multiplier(n, round)) {}
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(Bits mixed_key) const {
    return by_high_bits(static_cast<Bits>(mixed_key * static_cast<Bits>(multiplier)), partitions);
  }
};

/// Stands for the values of rows that have none.
struct no_value {};

template <class Key>
using bits_of = std::conditional_t<sizeof(Key) <= 4, std::uint32_t, std::uint64_t>;

/// The row that is split and aggregated: a key's bits with a value, or alone.
template <class Key, class T>
using row_type = std::type_identity<
    std::conditional_t<std::is_same_v<T, no_value>, bits_of<Key>, key_value<bits_of<Key>, T>>>;

template <class Row>
inline constexpr bool has_value = !std::is_integral_v<Row>;

/// The type of a row's value. For rows without values, the type of their keys.
template <class Row>
struct value_type_of {
  using type = Row;
};
template <class Bits, class T>
struct value_type_of<key_value<Bits, T>> {
  using type = T;
};
template <class Row>
using value_type = typename value_type_of<Row>::type;

template <class Row>
KOKKOS_FORCEINLINE_FUNCTION auto key_of(Row const& r) {
  if constexpr (has_value<Row>)
    return r.key;
  else
    return r;
}

// Sources of rows (partition/rows.hpp).

/// Returns the bits of a key. Unless Mixes, the caller mixes them after the load (move.hpp).
template <bool Mixes, class Bits, class Key>
KOKKOS_FORCEINLINE_FUNCTION Bits bits_of_key(Key const& key) {
  Bits const bits = key_bits_of<Bits>(key);
  return Mixes ? mixed(bits) : bits;
}
/// Loads the bits of keys i, …, i + N - 1.
template <bool Mixes, int N, class Keys, class Bits>
KOKKOS_FORCEINLINE_FUNCTION void load_keys(Keys const& keys, std::uint64_t i, Bits* to) {
  typename std::remove_cvref_t<Keys>::non_const_value_type k[N];
  partition::load_elements<N>(keys, i, k);
  for (int j = 0; j < N; ++j) to[j] = bits_of_key<Mixes, Bits>(k[j]);
}
/// Returns the key whose mixed bits these are.
template <class Key, class Bits>
KOKKOS_FORCEINLINE_FUNCTION Key key_of_mixed(Bits bits) {
  return from_bits<Key>(unmixed(bits));
}

template <class Row, class Keys, class Values, bool Mixes = true>
struct keys_and_values : partition::plain_rows<Row> {
  Keys keys;
  Values values;
  KOKKOS_FUNCTION keys_and_values(Keys const& k, Values const& v) : keys(k), values(v) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION Row load(std::uint64_t i) const {
    return {bits_of_key<Mixes, decltype(Row::key)>(device::element(keys, i)), values(i)};
  }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, Row* to) const {
    decltype(Row::key) k[N];
    decltype(Row::value) v[N];
    load_keys<Mixes, N>(keys, i, k);
    partition::load_elements<N>(values, i, v);
    for (int j = 0; j < N; ++j) to[j] = {k[j], v[j]};
  }
  KOKKOS_FUNCTION keys_and_values<Row, Keys, Values, false> unmixed_source() const {
    return {keys, values};
  }
  KOKKOS_FORCEINLINE_FUNCTION static void mix_key(Row& r) { r.key = mixed(r.key); }
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(Row const& r) { return r.key; }
};

template <class Row, class Keys, bool Mixes = true>
struct keys_only : partition::plain_rows<Row> {
  Keys keys;
  KOKKOS_FUNCTION explicit keys_only(Keys const& k) : keys(k) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION Row load(std::uint64_t i) const {
    return bits_of_key<Mixes, Row>(device::element(keys, i));
  }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, Row* to) const {
    load_keys<Mixes, N>(keys, i, to);
  }
  KOKKOS_FUNCTION keys_only<Row, Keys, false> unmixed_source() const {
    return keys_only<Row, Keys, false>(keys);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void mix_key(Row& r) { r = mixed(r); }
  KOKKOS_FORCEINLINE_FUNCTION static Row key_of(Row const& r) { return r; }
};

/// Returns the source of keys, with values (a view or a function) if any are passed.
template <class Row, class ExecSpace, class Keys, class... Values>
auto source_of_rows(Keys const& keys, Values const&... values) {
  using device::for_loop, device::held_by_loop;
  if constexpr (sizeof...(Values) == 0)
    return keys_only<Row, held_by_loop<ExecSpace, Keys>>(for_loop<ExecSpace>(keys));
  else
    return keys_and_values<Row, held_by_loop<ExecSpace, Keys>, held_by_loop<ExecSpace, Values>...>(
        for_loop<ExecSpace>(keys), for_loop<ExecSpace>(values)...);
}

/// The keys of rows that lie in memory.
template <class Row>
struct keys_of_rows {
  using row = Row;
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(Row const& r) { return reduce_by_key::key_of(r); }
};
template <class Row>
using partial_rows = partition::rows_of_array<keys_of_rows<Row>>;

/// Rows of keys that share one value, after the keys alone have been split.
template <class Row, class Value>
struct mixed_keys_with_value : partial_rows<decltype(Row::key)> {
  using row = Row;
  using loaded = decltype(Row::key);
  Value value;
  mixed_keys_with_value(loaded const* bits, std::uint64_t n, Value const& v)
      : partial_rows<loaded>(bits, n),
        value(v) {}
  KOKKOS_FORCEINLINE_FUNCTION row make(loaded const& bits, std::uint64_t) const {
    return {bits, value};
  }
};

/// Rows of keys that share one value. Keys are split alone; aggregation adds the value.
template <class Row, class Keys, class Value = decltype(Row::value)>
struct keys_with_value : keys_only<decltype(Row::key), Keys> {
  using row = Row;
  using loaded = decltype(Row::key);
  Value value;
  keys_with_value(Keys const& k, Value const& v) : keys_only<loaded, Keys>(k), value(v) {}
  KOKKOS_FORCEINLINE_FUNCTION row make(loaded const& bits, std::uint64_t) const {
    return {bits, value};
  }
  keys_only<loaded, Keys> split_source() const { return *this; }
  mixed_keys_with_value<Row, Value> source_after_split(loaded const* bits, std::uint64_t n) const {
    return {bits, n, value};
  }
};

/// The number 1, as a constant for compilers: GPUs then count equal addresses of a warp at once.
template <class T>
struct one {
  KOKKOS_FUNCTION constexpr operator T() const { return 1; }
};
/// Whether the rows of a source add 32-bit ones. Then threads do not wait at the slot of one key.
template <class Source>
inline constexpr bool adds_ones = false;
template <class Row, class Keys, class T>
inline constexpr bool adds_ones<keys_with_value<Row, Keys, one<T>>> = sizeof(T) == 4;

/// Returns the source that is split in place of `source`: its keys alone, for instance.
template <class Source>
decltype(auto) split_source(Source const& source) {
  if constexpr (requires { source.split_source(); })
    return source.split_source();
  else
    return (source);
}
/// Returns the source of n rows that split_source(source) has been split into.
template <class Source, class Row>
auto source_after_split(Source const& source, Row const* rows, std::uint64_t n) {
  if constexpr (requires { source.split_source(); })
    return source.source_after_split(rows, n);
  else
    return partial_rows<Row>(rows, n);
}

/// Rows whose number is in device memory; size() is at most the capacity, whatever that number is.
template <class Row>
struct counted_rows : partial_rows<Row> {
  std::uint64_t const* counted;
  counted_rows(Row const* r, std::uint64_t capacity, std::uint64_t const* n)
      : partial_rows<Row>(r, capacity),
        counted(n) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return Kokkos::min(*counted, this->count); }
};

/// Counters of kernels, in global memory.
struct counters {
  std::uint64_t groups;   // of the result, including groups that exceed its capacity
  std::uint64_t partial;  // rows of the next round, including those that exceed the capacity
  // For fixed-capacity partitions (aggregate_partitions.hpp):
  std::uint64_t first = 0;       // groups and overflowed rows that pre_aggregate has written
  std::uint32_t overflowed = 0;  // rows that overflowed their partition
  std::uint32_t max_groups = 0;  // of a partition aggregated so far, or more
  std::uint32_t again = 0;       // partitions that need a larger table
};

/// The views that complete groups are written to.
template <class Keys, class Values>
struct result_views {
  Keys keys;
  Values values;
  std::uint64_t capacity;
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t at, Row const& r) const {
    if (at >= capacity) return;
    keys(at) = key_of_mixed<typename std::remove_cvref_t<Keys>::non_const_value_type>(
        reduce_by_key::key_of(r));
    if constexpr (has_value<Row>) values(at) = r.value;
  }
};
template <class Row>
struct partial_array {
  Row* rows;
  std::uint64_t capacity;
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t at, Row const& r) const {
    if (at < capacity) rows[at] = r;
  }
};

}  // namespace karpos::detail::reduce_by_key
