// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/slot.hpp"
#include "karpos/hash.hpp"

namespace karpos {

/// What a table may be told when it is made.
template <class Key>
struct hash_table_options {
  double load = 0.8;                  ///< keys per slot when max_keys are in; in (0, 0.98]
  std::optional<Key> empty_key = {};  ///< key that marks an unused slot; default: the largest value
  std::optional<Key> erased_key =
      {};  ///< key that marks an erased slot; default: the second largest
};

/// Memory of the caller's for a table to live in: at least bytes_for(...), aligned to a bucket.
struct wrapped_memory {
  void* data;
  std::size_t bytes;
};

namespace detail {

/// Slots that hold max_keys keys at that load. Throws std::invalid_argument (load), std::length_error
/// (capacity overflow).
inline std::uint64_t slots_for(std::uint64_t max_keys, double load) {
  if (!(load > 0.0 && load <= 0.98))
    reject("load out of range", "load = " + std::to_string(load), "pass a load in (0, 0.98]");
  double const slots = std::ceil(static_cast<double>(max_keys) / load);
  if (slots > 0x1p56)
    throw std::length_error("karpos: capacity overflow (max_keys = " + std::to_string(max_keys) +
                            ", load = " + std::to_string(load) + "): no memory is that large");
  return static_cast<std::uint64_t>(slots);
}

/// The keys that mark slots: those that the options name, else the defaults. Throws std::invalid_argument when
/// two of them are equal.
template <class Layout, class Key>
sentinels<typename Layout::key_bits> sentinels_of(hash_table_options<Key> const& o) {
  using key_bits = typename Layout::key_bits;
  auto const chosen = [](std::optional<Key> const& key, int i) {
    return key ? to_bits<key_bits>(*key) : default_sentinel<Key, key_bits>(i);
  };
  key_bits const empty = chosen(o.empty_key, 0), erased = chosen(o.erased_key, 1);
  if (empty == erased)
    reject("empty_key and erased_key are equal", std::to_string(empty),
           "choose two different keys");
  if constexpr (sizeof(typename Layout::word) <= 8) return {empty, erased, erased};
  // A claimed slot needs a third key: the largest default that the caller did not choose. Also where one
  // step does, so that every space stores the same keys and a table can be copied between them.
  key_bits busy = default_sentinel<Key, key_bits>(2);
  for (int i = 0; busy == empty || busy == erased; ++i) busy = default_sentinel<Key, key_bits>(i);
  return {empty, erased, busy};
}

}  // namespace detail
}  // namespace karpos
