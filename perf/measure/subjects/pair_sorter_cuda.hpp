// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <stdexcept>
#include <string>

#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Sorts pairs of keys and values by key: cub::DeviceRadixSort. Allocates its memory once.
template <class Key, class Value>
class pair_sorter {
 public:
  pair_sorter(space const& exec, std::uint64_t most)
      : m_scratch(make_array<char>("scratch", scratch_bytes(exec, most))) {}

  void operator()(space const& exec, array<Key> const& keys, array<Value> const& values,
                  array<Key> const& sorted_keys, array<Value> const& sorted_values) const {
    std::size_t bytes = m_scratch.extent(0);
    sort(exec, m_scratch.data(), bytes, keys.data(), sorted_keys.data(), values.data(),
         sorted_values.data(), keys.extent(0));
  }

 private:
  static std::size_t scratch_bytes(space const& exec, std::uint64_t most) {
    std::size_t bytes = 0;
    sort(exec, nullptr, bytes, nullptr, nullptr, nullptr, nullptr, most);
    return bytes;
  }
  /// Sorts n pairs. If `scratch` is null, only sets `bytes` to the size of the scratch memory
  /// needed.
  static void sort(space const& exec, void* scratch, std::size_t& bytes, Key const* keys,
                   Key* sorted_keys, Value const* values, Value* sorted_values, std::uint64_t n) {
    cudaError_t const error =
        cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values, n,
                                        0, static_cast<int>(8 * sizeof(Key)), exec.cuda_stream());
    if (error != cudaSuccess)
      throw std::runtime_error("cub::DeviceRadixSort of " + std::to_string(n) +
                               " pairs failed: " + cudaGetErrorString(error));
  }

  array<char> m_scratch;
};

}  // namespace karpos::perf
