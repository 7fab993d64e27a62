// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/detail/arrays.hpp"
#include "karpos/detail/slot.hpp"
#include "karpos/hash.hpp"
#include "karpos/table_options.hpp"

// Sizes, settings and memory of tables of any family.

namespace karpos::detail {

/// The label of a kernel or an array of a table: karpos::<name>::<what>.
inline std::string table_label(std::string const& name, char const* what) {
  return "karpos::" + name + "::" + what;
}

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
    return key ? key_bits_of<key_bits>(*key) : default_sentinel<Key, key_bits>(i);
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

/// Returns the seed of a table whose options name none: another one at each call, so that keys in
/// the order of one table lie anywhere in the next. A count makes runs of a program repeat.
inline std::uint64_t next_seed() {
  static std::atomic<std::uint64_t> tables{0};
  return mix(~tables.fetch_add(1, std::memory_order_relaxed));
}

/// Returns these options with a seed if the memory is the caller's: several tables may be made
/// there, and they look for keys in one place.
template <class Options>
Options with_seed(Options o, bool is_wrapped) {
  if (is_wrapped && !o.seed) o.seed = 0;
  return o;
}

/// What a table was told when it was made, and the keys that mark its slots.
template <class Traits>
struct table_settings {
  using key_type = typename Traits::key_type;

  table_settings(std::string table_name, std::uint64_t keys, hash_table_options<key_type> const& o,
                 typename Traits::hasher const& h, typename Traits::key_equal const& e)
      : name(std::move(table_name)),
        max_keys(keys),
        options(o),
        hash(h),
        equal(e),
        reserved_keys(sentinels_of<typename Traits::layout>(o)),
        seed(o.seed ? *o.seed : next_seed()) {}

  std::string label(char const* what) const { return table_label(name, what); }
  /// Returns these settings, with their seed, for another number of keys.
  table_settings with_max_keys(std::uint64_t keys) const {
    table_settings s = *this;
    s.max_keys = keys;
    return s;
  }
  /// Everything of another table but its name.
  template <class Other>
  void copy_from(table_settings<Other> const& other) {
    max_keys = other.max_keys;
    options = other.options;
    hash = other.hash;
    equal = other.equal;
    reserved_keys = other.reserved_keys;
    seed = other.seed;
  }

  std::string name;
  std::uint64_t max_keys;
  hash_table_options<key_type> options;
  typename Traits::hasher hash;
  typename Traits::key_equal equal;
  sentinels<typename Traits::key_bits> reserved_keys;
  std::uint64_t seed;  ///< of the places of keys: refs, copies and rehashed tables share it
};

/// An array of a table's, or an explanation of why there is none.
template <class MemorySpace, class Make>
auto allocated(std::size_t bytes, Make const& make) {
  return allocate_or_explain<MemorySpace>(bytes, "a table", "ask for fewer keys or a higher load",
                                          make);
}

/// Bytes that a bucket is aligned to: it is read with vector instructions that want its natural alignment; more
/// than a cache line is what no allocation of Kokkos' promises.
constexpr std::size_t bucket_alignment(std::size_t bucket_bytes) {
  std::size_t const natural = bucket_bytes & (~bucket_bytes + 1);
  return Kokkos::min(natural, std::size_t(64));
}

/// Throws std::invalid_argument for memory of the caller's that is null, too small or not aligned.
inline void require_wrappable(wrapped_memory memory, std::size_t bytes, std::size_t alignment) {
  if (memory.data == nullptr)
    reject("the memory to wrap is a null pointer", std::to_string(memory.bytes) + " bytes",
           "pass memory of bytes_for(max_keys, load)");
  if (memory.bytes < bytes)
    reject("the memory to wrap is too small",
           std::to_string(memory.bytes) + " bytes for " + std::to_string(bytes),
           "allocate bytes_for(max_keys, load)");
  if (reinterpret_cast<std::uintptr_t>(memory.data) % alignment != 0)
    reject("the memory to wrap is not aligned",
           "buckets need " + std::to_string(alignment) + " bytes", "align it to that");
}

}  // namespace karpos::detail
