// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/relational/row_index/tuning.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/pipeline.hpp"
#include "karpos/device/space.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/hash.hpp"
#include "karpos/lane_mask.hpp"
#include "karpos/rows.hpp"

// The slots of different rows: open addressing over buckets of one memory sector or cache line.
//
//   slot     | row : 32 or 40 | tag |     the first row with these values, and low bits of its
//                                         hash, or the bits of its only value; or empty
//
// Buckets fill from the left, and a row that finds its bucket full goes on to the next. There are
// more slots than rows (slots_for), so that every search ends at an empty one. A tag that differs
// tells rows apart without a read of their columns. If rows have one value of up to four bytes, the
// tag is that value, and no search reads a column. A slot keeps its tag; while the index is built,
// its row may be replaced by a lower one that is equal.

namespace karpos::detail::row_index {

template <class RowNumber>
struct slot_word {
  static constexpr int low_bits = sizeof(RowNumber) == 4 ? 32 : 24;
  static constexpr std::uint64_t low_mask = (std::uint64_t(1) << low_bits) - 1;
  static constexpr std::uint64_t empty = ~std::uint64_t(0);

  KOKKOS_FUNCTION static constexpr std::uint64_t make(std::uint64_t tag, std::uint64_t row) {
    return row << low_bits | tag;
  }
  KOKKOS_FUNCTION static constexpr RowNumber row_of(std::uint64_t word) {
    return static_cast<RowNumber>(word >> low_bits);
  }
};

/// Maps a row to its code, from which hash and tag are computed. In general the code is the hash,
/// and rows with equal tags must be compared.
template <class Rows, class RowNumber>
struct row_code {
  using row = typename Rows::row_type;
  using key = std::uint64_t;  // what is split of a row (by_partitions.hpp): its code
  static constexpr bool is_exact = false;
  KOKKOS_FUNCTION static constexpr std::uint64_t of_key(key code) { return code; }
  KOKKOS_FUNCTION static std::uint64_t of(Rows const& rows, row const& r) { return rows.hash(r); }
  KOKKOS_FUNCTION static constexpr std::uint64_t hash(std::uint64_t code) { return code; }
  /// Returns the tag: a bit shorter than its field, so unlike that of an empty slot.
  KOKKOS_FUNCTION static constexpr std::uint64_t tag(std::uint64_t code) {
    return code & slot_word<RowNumber>::low_mask >> 1;
  }
  KOKKOS_FUNCTION static bool can_equal(Rows const& rows, row const& r) {
    return rows.can_equal(r);
  }
};
/// One value that fits the tag: code and tag are its bits, and an equal tag proves equality. An
/// empty slot looks as if it had the tag of ones.
template <class Rows, class RowNumber>
  requires(single_value<Rows>::is_key && sizeof(RowNumber) == 4 &&
           sizeof(typename single_value<Rows>::bits) == 4)
struct row_code<Rows, RowNumber> {
  using row = typename Rows::row_type;
  using key = typename single_value<Rows>::type;
  static constexpr bool is_exact = true;
  KOKKOS_FUNCTION static constexpr std::uint64_t of_key(key const& value) {
    return key_bits_of<std::uint32_t>(value);
  }
  KOKKOS_FUNCTION static constexpr std::uint64_t of(Rows const&, row const& r) {
    return of_key(r.template value<0>());
  }
  KOKKOS_FUNCTION static constexpr std::uint64_t hash(std::uint64_t code) {
    return row_hash{}(static_cast<std::uint32_t>(code));
  }
  KOKKOS_FUNCTION static constexpr std::uint64_t tag(std::uint64_t code) { return code; }
  /// Returns whether a row is no null, which rows of another table may be.
  KOKKOS_FUNCTION static constexpr bool can_equal(Rows const&, row const& r) {
    return r.nulls() == 0;
  }
};

// Predicates of slots. CPUs compare all slots of a bucket with `wanted_key` at once.
template <class RowNumber>
struct has_tag {
  using word = slot_word<RowNumber>;
  std::uint64_t tag;
  KOKKOS_FUNCTION bool operator()(std::uint64_t w) const { return (w & word::low_mask) == tag; }
  KOKKOS_FUNCTION std::uint32_t wanted_key() const
    requires(word::low_bits == 32)
  {
    return static_cast<std::uint32_t>(tag);
  }
};
struct is_empty {
  KOKKOS_FUNCTION bool operator()(std::uint64_t w) const { return w == wanted_key(); }
  KOKKOS_FUNCTION static std::uint64_t wanted_key() { return ~std::uint64_t(0); }
};

/// The position of a search: a slot, from which it goes on to later slots and buckets.
struct slot_path {
  std::uint64_t slot, code;
  bool compares;  // whether the slot has the row's tag; then its row, being fetched, is compared
};

/// Result of probing a bucket. has_tag: `slot` has the tag. ended: an empty slot proves that the
/// row is not in the index; if other threads insert, `slot` is the first one. Neither: the bucket
/// is full of other rows, and the next one begins at `slot`.
struct probe_result {
  std::uint64_t slot;
  bool has_tag, ended;
};

template <class ExecSpace, class RowNumber>
struct slot_table {
  using word = slot_word<RowNumber>;
  static constexpr int bucket_slots = tuning<ExecSpace>::bucket_slots;
  std::uint64_t* words;
  std::uint64_t slots;
  place_among buckets;

  KOKKOS_FUNCTION slot_table(std::uint64_t* memory, std::uint64_t n)
      : words(memory),
        slots(n),
        buckets(hashed::row_index, n / bucket_slots, n) {}

  KOKKOS_FUNCTION std::uint64_t home_of(std::uint64_t hash) const {
    return buckets(hash) * bucket_slots;
  }
  KOKKOS_FUNCTION slot_path home(std::uint64_t hash, std::uint64_t code) const {
    return {home_of(hash), code, false};
  }
  KOKKOS_FUNCTION std::uint64_t wrap(std::uint64_t slot) const { return slot == slots ? 0 : slot; }
  KOKKOS_FUNCTION std::uint64_t bucket_of(std::uint64_t slot) const {
    return slot / bucket_slots * bucket_slots;
  }

  template <device::access Access, class Code>
  KARPOS_STEP_FUNCTION probe_result probe_bucket(slot_path const& p) const {
    device::tile_for<ExecSpace, 1> const thread{};
    std::uint64_t const first = bucket_of(p.slot);
    auto const window = device::load_window<bucket_slots, Access>(thread, words + first);
    mask const behind(static_cast<typename mask::word>(mask::all << (p.slot - first)) & mask::all);
    auto hits = window.match(has_tag<RowNumber>{Code::tag(p.code)}) & behind;
    bool ended = false;
    std::uint64_t next = wrap(first + bucket_slots);
    // While other threads insert, a bucket must not appear full before all of it was read. So only
    // frozen buckets are read again.
    if constexpr (Access == device::access::shared) {
      auto const empties = window.match(is_empty{});
      ended = static_cast<bool>(empties);
      next = device::select(ended, first_of(first, empties), next);
      if constexpr (Code::is_exact) hits = hits & ~empties;
    } else {
      if constexpr (Code::is_exact)
        if (Code::tag(p.code) == word::low_mask) hits = hits & ~window.match(is_empty{});
      if constexpr (device::is_device<ExecSpace>)
        ended = window.any(is_empty{});
      else
        ended = is_empty{}(words[first + bucket_slots - 1]);
    }
    bool const hit = static_cast<bool>(hits);
    return {hit ? first_of(first, hits) : next, hit, ended && !hit};
  }

 private:
  using mask = lane_mask<bucket_slots>;
  /// Returns the first slot of a mask of the bucket that begins at `bucket`; if it is empty, any.
  KOKKOS_FUNCTION static std::uint64_t first_of(std::uint64_t bucket, mask of) {
    return bucket + static_cast<std::uint64_t>((of | mask::of(bucket_slots - 1)).first());
  }
};

/// Searches the slots for rows equal to queries; query i is row begin + i. The body of a bulk
/// operation derives from this class, and has
///
///   on_miss(continues, i, code, slot)
///                       called when a search may end without a match; returns whether it ends.
///                       continues: the search goes on; do nothing, return false. slot: the first
///                       empty one, if other threads insert
///   on_match(i, slot)   called for the slot of an equal row
///   on_excluded(i)      called for a query that is not searched for, or equals no row
///   is_searched(i)      returns whether query i is searched for
///
/// CPUs search in two steps, between which they search for other queries: they probe a bucket for
/// the tag, then compare the columns of the row that the slot names. No branch depends on whether
/// the first step suffices. If equal tags prove equality, there is no second step.
template <int Distance, device::access Access, class Body, class Rows, class Queries,
          class ExecSpace, class RowNumber>
struct slot_search {
  using word = slot_word<RowNumber>;
  using code = row_code<std::remove_cvref_t<Rows>, RowNumber>;
  Rows rows;
  Queries queries;
  std::uint64_t begin;
  slot_table<ExecSpace, RowNumber> table;

  KOKKOS_FUNCTION std::uint64_t home(std::uint64_t i) const { return code::hash(code_of(i)); }
  /// Reads the query again, if its code is not its hash: that is cheaper than to hash it again.
  KOKKOS_FUNCTION slot_path first_stage(std::uint64_t i, std::uint64_t home) const {
    return table.home(home, code::is_exact ? code_of(i) : home);
  }
  KOKKOS_FUNCTION slot_path stage(std::uint64_t i) const { return first_stage(i, home(i)); }
  KARPOS_STEP_FUNCTION void fetch(slot_path const& p) const {
    if (p.compares)
      rows.for_each_address(row_at(p.slot), [](void const* at) { device::prefetch(at); });
    else
      device::prefetch(table.words + p.slot);
  }
  KARPOS_STEP_FUNCTION device::staged_result operator()(std::uint64_t i, slot_path const& p) const {
    if (!self().is_searched(i) || !code::can_equal(rows, queries[begin + i])) {
      self().on_excluded(i);
      return device::staged_result::done();
    }
    if constexpr (Distance == 0)
      return search(i, p);
    else
      return search_staged(i, p);
  }
  /// Moves on: from a slot with the tag to its row, from there to the next slot, else bucket.
  KOKKOS_FUNCTION void move_on(slot_path& p) const {
    if (p.compares) {
      p = {table.wrap(p.slot + 1), p.code, false};
    } else {
      auto const a = probe(p);
      p = {a.ended ? p.slot : a.slot, p.code, a.has_tag && !code::is_exact};
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t code_of(std::uint64_t i) const {
    return code::of(rows, queries[begin + i]);
  }
  KARPOS_STEP_FUNCTION probe_result probe(slot_path const& p) const {
    return table.template probe_bucket<Access, code>(p);
  }
  KOKKOS_FORCEINLINE_FUNCTION Body const& self() const { return *static_cast<Body const*>(this); }
  KARPOS_STEP_FUNCTION RowNumber row_at(std::uint64_t slot) const {
    if constexpr (Access == device::access::frozen)
      return word::row_of(device::load_frozen(table.words + slot));
    else
      return word::row_of(device::load_relaxed(table.words + slot));
  }
  /// Returns whether query i equals the row of a slot that has its tag.
  KARPOS_STEP_FUNCTION bool is_equal(std::uint64_t i, std::uint64_t slot) const {
    if constexpr (code::is_exact)
      return true;
    else
      return rows.equal(rows[row_at(slot)], queries[begin + i]);
  }
  KARPOS_STEP_FUNCTION device::staged_result search_staged(std::uint64_t i,
                                                           slot_path const& p) const {
    if (p.compares) {
      bool const equal = is_equal(i, p.slot);
      if (equal) self().on_match(i, p.slot);
      return device::staged_result::done_unless(!equal);
    }
    auto const a = probe(p);
    if (code::is_exact && a.has_tag) {
      self().on_match(i, a.slot);
      return device::staged_result::done();
    }
    return device::staged_result::done_unless(!self().on_miss(!a.ended, i, p.code, a.slot));
  }
  KARPOS_STEP_FUNCTION device::staged_result search(std::uint64_t i, slot_path p) const {
    for (;;) {
      auto const a = probe(p);
      if (a.has_tag && is_equal(i, a.slot)) {
        self().on_match(i, a.slot);
        break;
      }
      if (a.ended) {
        if (self().on_miss(false, i, p.code, a.slot)) break;
      } else {
        p.slot = a.has_tag ? table.wrap(a.slot + 1) : a.slot;
      }
    }
    return device::staged_result::done();
  }
};

}  // namespace karpos::detail::row_index
