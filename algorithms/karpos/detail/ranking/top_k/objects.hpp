// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/word_probing.hpp"
#include "karpos/detail/ranking/ranked.hpp"
#include "karpos/detail/ranking/top_k/tuning.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash.hpp"

// The objects of a ranked query: ids and their slots, which are the indices of accumulators and of
// score vectors; and results, which are objects with their bounds, in their order.

namespace karpos::detail::top_k {

/// No slot: the id is out of range, or the table is full.
inline constexpr std::uint64_t no_slot = ~std::uint64_t(0);

/// Ids and their slots. Between queries, a table of sparse ids is empty.
template <class Id>
struct id_table {
  using word =
      std::make_unsigned_t<std::conditional_t<sizeof(Id) == 4, std::int32_t, std::int64_t>>;
  static constexpr word empty = ~word(0);

  // Dense: ids are below it. Sparse: a power of two plus one; the last slot is for the id `empty`.
  std::uint64_t slots = 0;
  word* keys = nullptr;  // sparse: the id in each slot but the last

  /// Returns the number of slots for `ids` sparse ids: a load of two thirds at most.
  static std::uint64_t slots_for(std::uint64_t ids) {
    std::uint64_t n = 64;
    while (n < ids + ids / 2) n *= 2;
    return n + 1;
  }

  /// Inserts an id if it is absent. Returns: its slot; no_slot if the table is full, or a dense id
  /// is not below `slots`.
  KOKKOS_FUNCTION std::uint64_t insert(Id id) const {
    auto const key = static_cast<word>(id);
    if (keys == nullptr) return key < slots ? key : no_slot;
    if (key == empty) return slots - 1;
    auto const at = table().insert_or_find(hashed(key), key, [=](word w) { return w == key; });
    return at.ended == outcome::full ? no_slot : at.slot;
  }
  /// Returns: the slot of an id, or no_slot if it is absent.
  KOKKOS_FUNCTION std::uint64_t find(Id id) const {
    auto const key = static_cast<word>(id);
    if (keys == nullptr) return key < slots ? key : no_slot;
    if (key == empty) return slots - 1;
    auto const at = table().find(hashed(key), [=](word w) { return w == key; });
    return at.ended == outcome::found ? at.slot : no_slot;
  }
  /// Returns the first slot of an id's probe sequence, to prefetch it. May be out of range for
  /// dense ids.
  KOKKOS_FUNCTION std::uint64_t first_slot(Id id) const {
    auto const key = static_cast<word>(id);
    return keys == nullptr ? key : hashed(key);
  }
  KOKKOS_FUNCTION Id id_at(std::uint64_t slot) const {
    if (keys == nullptr) return static_cast<Id>(slot);
    return static_cast<Id>(slot + 1 == slots ? empty : keys[slot]);
  }

 private:
  KOKKOS_FUNCTION word_probing::table<word> table() const { return {keys, slots - 1, empty}; }
  KOKKOS_FUNCTION std::uint64_t hashed(word key) const {
    return mix(static_cast<std::uint64_t>(key)) & (slots - 2);
  }
};

/// An object and the bounds of its aggregate, which are equal once all its scores are known.
template <class Id>
struct ranked_object {
  double lower, upper;
  Id id;
  std::uint32_t slot;

  /// Returns whether a ranks higher: by lower bound, then by upper bound, then by smaller id.
  KOKKOS_FUNCTION friend bool operator<(ranked_object const& a, ranked_object const& b) {
    if (a.lower != b.lower) return a.lower > b.lower;
    if (a.upper != b.upper) return a.upper > b.upper;
    return a.id < b.id;
  }
};

/// The caller's arrays. Scores are written to an array of one of two types, or to none.
template <class Id>
struct results {
  Id* ids;
  float* floats;
  double* doubles;

  KOKKOS_FUNCTION void write(std::uint64_t rank, Id id, double score) const {
    ids[rank] = id;
    if (floats != nullptr) floats[rank] = static_cast<float>(score);
    if (doubles != nullptr) doubles[rank] = score;
  }
};

template <class Id>
struct write_results {
  ranked_object<Id> const* from;
  results<Id> to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to.write(i, from[i].id, from[i].lower); }
};

/// Sorts n objects, the highest rank first. Blocks if one host thread sorts.
template <class ExecSpace, class Id>
void sort_by_rank(ExecSpace const& exec, ranked_object<Id>* objects, std::uint64_t n) {
  if constexpr (tuning<ExecSpace>::sorts_on_one_thread) {
    exec.fence("karpos::top_k: before sorting");
    std::sort(objects, objects + n);
  } else {
    if (n > 1) Kokkos::sort(exec, unmanaged<ExecSpace>(objects, n), ranks_higher{});
  }
}

/// Writes the first n objects as results. Blocks.
template <class ExecSpace, class Id>
void write_ranks(ExecSpace const& exec, ranked_object<Id> const* objects, std::uint64_t n,
                 results<Id> const& to) {
  device::loop_over("karpos::top_k::write", exec, n, write_results<Id>{objects, to});
  exec.fence("karpos::top_k: results");
}

}  // namespace karpos::detail::top_k
