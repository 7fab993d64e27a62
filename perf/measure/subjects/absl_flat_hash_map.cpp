// SPDX-License-Identifier: Apache-2.0
#include <absl/container/flat_hash_map.h>

#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

#include "perf/measure/subjects/one_thread.hpp"

namespace karpos::perf {
namespace {

/// An absl::flat_hash_map that tries to allocate its memory beforehand, since the map is left in an
/// invalid state when its allocator throws.
template <class Key>
struct flat_map : absl::flat_hash_map<Key, Key> {
  void reserve(std::uint64_t max_keys) {
    // At most 7 of 8 slots are taken, and each slot has a control byte.
    std::uint64_t const slots = std::bit_ceil(max_keys + max_keys / 7 + 16);
    void* volatile memory = std::malloc(slots * (sizeof(std::pair<Key const, Key>) + 1));
    std::free(memory);
    if (memory == nullptr) throw std::bad_alloc();
    absl::flat_hash_map<Key, Key>::reserve(max_keys);
  }
};

template <class Key>
struct absl_map : one_thread_subject<Key, flat_map<Key>> {
  using one_thread_subject<Key, flat_map<Key>>::one_thread_subject;
};

register_host_peer<absl_map> const registration("absl", "absl::flat_hash_map");

}  // namespace
}  // namespace karpos::perf
