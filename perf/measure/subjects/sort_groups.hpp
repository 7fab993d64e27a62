// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// The baseline of reductions by key: sorts the rows by key, then reduces each run of equal keys.
/// Allocates its memory once.
template <class Key>
class sort_groups {
 public:
  virtual ~sort_groups() = default;
  /// Writes each distinct key and the number of its rows. Returns the number of distinct keys.
  virtual std::uint64_t count(array<Key> const& keys, array<Key> const& out_keys,
                              array<Key> const& out_counts) = 0;
  /// Writes each distinct key and the sum of its values. Returns the number of distinct keys.
  virtual std::uint64_t sum(array<Key> const& keys, array<Key> const& values,
                            array<Key> const& out_keys, array<Key> const& out_sums) = 0;
};

template <class Key>
using sort_groups_factory = std::unique_ptr<sort_groups<Key>> (*)(space const&, std::uint64_t rows);

/// Makes this build's sort_groups; null if the build has none. Set by the file that defines it.
template <class Key>
inline sort_groups_factory<Key> make_sort_groups = nullptr;

template <template <class> class Groups>
struct register_sort_groups {
  register_sort_groups() {
    make_sort_groups<std::uint32_t> = make<std::uint32_t>;
    make_sort_groups<std::uint64_t> = make<std::uint64_t>;
  }
  template <class Key>
  static std::unique_ptr<sort_groups<Key>> make(space const& exec, std::uint64_t rows) {
    return std::make_unique<Groups<Key>>(exec, rows);
  }
};

}  // namespace karpos::perf
