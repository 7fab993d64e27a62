// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "perf/measure/subjects/subject.hpp"

namespace karpos::perf {

/// A map with the interface of std::unordered_map, used by one thread.
template <class Key, class Map>
class one_thread_subject : public subject<Key> {
 public:
  one_thread_subject(space const&, std::uint64_t max_keys, double) : m_keys(max_keys) {
    keep_freed_memory();
    m_map.reserve(max_keys);
  }

  int threads(space const&) const override { return 1; }
  void clear(space const&) override {
    m_map.clear();
    m_map.reserve(m_keys);  // clear() may have freed the memory
  }
  void insert(space const&, array<Key> const& keys, array<Key> const& values) override {
    for (std::uint64_t i = 0; i < keys.extent(0); ++i) m_map.emplace(keys(i), values(i));
  }
  void find(space const&, array<Key> const& queries, array<Key> const& answers) override {
    for (std::uint64_t i = 0; i < queries.extent(0); ++i) {
      auto const at = m_map.find(queries(i));
      answers(i) = at != m_map.end() ? at->second : static_cast<Key>(~Key(0));
    }
  }
  void erase(space const&, array<Key> const& keys) override {
    for (std::uint64_t i = 0; i < keys.extent(0); ++i) m_map.erase(keys(i));
  }
  std::uint64_t size(space const&) override { return m_map.size(); }

 private:
  /// Keeps freed memory in the process, so that page faults occur in the warm-up and not in every
  /// timed insertion.
  static void keep_freed_memory() {
#if defined(__GLIBC__)
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
#endif
  }

  std::uint64_t m_keys;
  Map m_map;
};

}  // namespace karpos::perf
