// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"

// The values of keys that may be stored several times. They lie in blocks: an insertion makes one
// block per key. The blocks of a key are chained, the last one first:
//
//   table     | 7 : 5 | 3 : 0, 2 | 4 : 7, 1 |     the head of a key: where its first block begins,
//                                                and that block's length if there is no other
//   values    | d | e | a | b | c | f | g | h |
//   links     | . | 2 | . | 3 |   | 2 | 2 | . |   7 has the block f g, then a b c; 3 has d e;
//                                                4 has h
//
// The link at a block's first value is the next block, and says whether this block has more than
// one value. If so, its length is at the second value. The head of a key with one block of few
// values has their number, so that its link is not read. A set has no values: its table counts.
//
//   insert        groups the pairs by key (batch.hpp), writes a block for each key, and inserts the
//                 heads into the table, which chains a new block before the stored ones (push)
//   in a kernel   appends the pair to a list, which a later call inserts (pending.hpp)
//   look up       finds the heads of the queries (index.hpp), adds up their numbers of values, and
//                 emits the values, one query after the other (matches.hpp)
//   erase         removes the key from the table; its pairs become dead pairs
//   consolidate   moves all values to new memory, one block for each key, without dead pairs
// Tests: hash_multimap, hash_multiset, multi_table_teams, nested_structures.

namespace karpos::detail::multi_table {

/// Rows between the prefetch for a row and its use, on CPUs. One thread, 2^22 pairs of as many
/// keys: 9 M/s are emitted without prefetches, 33 with them.
inline constexpr std::uint64_t rows_ahead = 16;

/// The blocks of values as kernels see them.
template <class T, class Number>
struct value_blocks {
  /// A head, which the table stores for a key: where the key's first block begins. The lowest bits
  /// have the number of its values if that block is the only one and they are few; else 0.
  using mapped = Number;
  using value_type = T;
  static constexpr bool has_values = true;
  /// Stands for no block.
  static constexpr Number none = static_cast<Number>(~Number(0));

  struct block {
    Number begin, next;  // next: a head without a number of values
    std::uint64_t count;
  };
  T* values;
  Number* links;
  /// Bits of a head for the number of values.
  int count_bits = 1;

  /// Returns the number of these bits: what a capacity of `pairs` pairs leaves, and at most 16.
  static int count_bits_for(std::uint64_t pairs) {
    constexpr int bits = 8 * sizeof(Number);
    int n = 1;
    while (n < 16 && pairs <= (std::uint64_t(1) << (bits - n - 1)) - 8) ++n;
    return n;
  }
  KOKKOS_FUNCTION Number max_head_count() const {
    return static_cast<Number>((Number(1) << count_bits) - 1);
  }
  KOKKOS_FUNCTION Number begin_of(Number head) const {
    return static_cast<Number>(head >> count_bits);
  }
  KOKKOS_FUNCTION block at(Number head) const {
    Number const begin = begin_of(head), counted = max_head_count();
    if ((head & counted) != 0) return {begin, none, static_cast<std::uint64_t>(head & counted)};
    Number const link = links[begin];
    return {begin, static_cast<Number>((link | counted) == none ? none : link & ~counted),
            (link & 1) != 0 ? static_cast<std::uint64_t>(links[begin + 1]) : 1};
  }
  /// Writes a block that is the only one of its key so far. Returns the head of that key.
  KOKKOS_FUNCTION Number write_block(std::uint64_t begin, std::uint64_t count) const {
    links[begin] = static_cast<Number>((none & ~max_head_count()) | Number(count > 1));
    if (count > 1) links[begin + 1] = static_cast<Number>(count);
    return static_cast<Number>(begin << count_bits | (count <= max_head_count() ? count : 0));
  }
  /// Puts the block of one head before the blocks of another (`before`). Returns the head of both.
  KOKKOS_FUNCTION Number chain(Number head, Number before) const {
    Number& link = links[begin_of(head)];
    link = static_cast<Number>((before & ~max_head_count()) | (link & 1));
    return static_cast<Number>(head & ~max_head_count());
  }

  /// Prefetches the link of a head if it will be read; fetch_values prefetches its values. For
  /// CPUs.
  KOKKOS_FORCEINLINE_FUNCTION void fetch_link(Number head) const {
    if ((head & max_head_count()) == 0) device::prefetch(links + begin_of(head));
  }
  KOKKOS_FORCEINLINE_FUNCTION void fetch_values(Number head) const {
    if (head != none) device::prefetch(values + begin_of(head));
  }

  KOKKOS_FUNCTION std::uint64_t count(Number head) const {
    std::uint64_t n = 0;
    while (head != none) {
      block const b = at(head);
      n += b.count;
      head = b.next;
    }
    return n;
  }
  KOKKOS_FUNCTION T const& any(Number head) const { return values[begin_of(head)]; }
  /// Calls f(value) for values [first, last) of a key.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Number head, std::uint64_t first, std::uint64_t last,
                                            F const& f) const {
    while (first < last) {
      block const b = at(head);
      std::uint64_t const end = Kokkos::min(b.count, last);
      for (std::uint64_t k = first; k < end; ++k) f(values[b.begin + k]);
      first = first > b.count ? first - b.count : 0;
      last -= end;
      head = b.next;
    }
  }
  /// Calls f(value) for each value of a key, on adjacent values by the lanes of a tile.
  template <device::tile Tile, class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Tile const& t, Number head, F const& f) const {
    while (head != none) {
      block const b = at(head);
      t.on(lane_mask<Tile::width>(lane_mask<Tile::width>::all), [&](int lane) {
        for (auto k = static_cast<std::uint64_t>(lane); k < b.count; k += Tile::width)
          f(values[b.begin + k]);
      });
      head = b.next;
    }
  }
};

/// The counts of a set's keys, with the functions of value_blocks.
template <class Number>
struct key_counts {
  using mapped = Number;  // how often a key is stored
  using value_type = reduce_by_key::no_value;
  static constexpr bool has_values = false;
  static constexpr Number none = 0;

  KOKKOS_FUNCTION static Number write_block(std::uint64_t, std::uint64_t count) {
    return static_cast<Number>(count);
  }
  KOKKOS_FUNCTION static Number chain(Number head, Number before) { return head + before; }
  KOKKOS_FUNCTION void fetch_link(Number) const {}
  KOKKOS_FUNCTION void fetch_values(Number) const {}
  KOKKOS_FUNCTION std::uint64_t count(Number n) const { return n; }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Number, std::uint64_t first, std::uint64_t last,
                                            F const& f) const {
    for (; first < last; ++first) f();
  }
  template <device::tile Tile, class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Tile const& t, Number n, F const& f) const {
    t.on(lane_mask<Tile::width>(lane_mask<Tile::width>::all), [&](int lane) {
      for (auto k = static_cast<std::uint64_t>(lane); k < n; k += Tile::width) f();
    });
  }
};

/// Merges a new head of a key with the stored one: puts its block first, or adds counts. May be
/// called again for the same block if another thread came between.
template <class Blocks>
struct push {
  using has_distinct_keys = void;
  Blocks blocks;
  KOKKOS_FUNCTION typename Blocks::mapped operator()(typename Blocks::mapped stored,
                                                     typename Blocks::mapped block) const {
    return blocks.chain(block, stored);
  }
};

/// Memory of values and links.
template <class T, class Number, class ExecSpace>
struct value_storage {
  using blocks_type = value_blocks<T, Number>;
  using memory_space = typename ExecSpace::memory_space;
  Kokkos::View<T*, memory_space> values;
  Kokkos::View<Number*, memory_space> links;

  value_storage() = default;
  value_storage(ExecSpace const& exec, std::uint64_t pairs) {
    allocate_or_explain<memory_space>(bytes_for(pairs), "pairs", "ask for fewer pairs", [&] {
      values = uninitialized_array<Kokkos::View<T*, memory_space>>(
          exec, "karpos::multi_table::values", pairs);
      links = uninitialized_array<Kokkos::View<Number*, memory_space>>(
          exec, "karpos::multi_table::links", pairs);
      return true;
    });
  }
  static std::size_t bytes_for(std::uint64_t pairs) { return pairs * (sizeof(T) + sizeof(Number)); }
  std::uint64_t pair_capacity() const { return values.extent(0); }
  blocks_type blocks() const {
    return {values.data(), links.data(), blocks_type::count_bits_for(pair_capacity())};
  }

  /// Copies the first n pairs of another storage, which may lie in another space. Asynchronous.
  template <class Other>
  void copy_from(ExecSpace const& exec, Other const& from, std::uint64_t n) const {
    auto const part = std::pair<std::uint64_t, std::uint64_t>(0, n);
    Kokkos::deep_copy(exec, Kokkos::subview(values, part), Kokkos::subview(from.values, part));
    Kokkos::deep_copy(exec, Kokkos::subview(links, part), Kokkos::subview(from.links, part));
  }
};

/// Storage of a set, which has no values.
template <class Number, class ExecSpace>
struct count_storage {
  using blocks_type = key_counts<Number>;

  count_storage() = default;
  count_storage(ExecSpace const&, std::uint64_t) {}
  static std::size_t bytes_for(std::uint64_t) { return 0; }
  static std::uint64_t pair_capacity() { return row_index::max_rows<Number>; }
  static blocks_type blocks() { return {}; }
  template <class Other>
  void copy_from(ExecSpace const&, Other const&, std::uint64_t) const {}
};

}  // namespace karpos::detail::multi_table
