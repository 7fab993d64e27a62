// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_radix_sort.cuh>
#include <stdexcept>
#include <string>

#include "perf/subjects/sorted_array.hpp"

namespace karpos::perf {
namespace {

template <class Key>
class cub_sorted_array : public sorted_array<Key> {
  using base = sorted_array<Key>;
  using base::m_keys, base::m_values, base::m_size;

 public:
  cub_sorted_array(space const& exec, std::uint64_t max_keys, double)
      : base(max_keys),
        m_scratch(make_array<char>("scratch", scratch_bytes(exec, max_keys))) {}

  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    m_size = keys.extent(0);
    std::size_t bytes = m_scratch.extent(0);
    sort(exec, m_scratch.data(), bytes, keys.data(), m_keys.data(), values.data(), m_values.data(),
         m_size);
  }

 private:
  static std::size_t scratch_bytes(space const& exec, std::uint64_t max_keys) {
    std::size_t bytes = 0;
    sort(exec, nullptr, bytes, nullptr, nullptr, nullptr, nullptr, max_keys);
    return bytes;
  }
  /// Without scratch memory, tells in `bytes` how much is needed.
  static void sort(space const& exec, void* scratch, std::size_t& bytes, Key const* keys,
                   Key* sorted_keys, Key const* values, Key* sorted_values, std::uint64_t n) {
    cudaError_t const error =
        cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values, n,
                                        0, static_cast<int>(8 * sizeof(Key)), exec.cuda_stream());
    if (error != cudaSuccess)
      throw std::runtime_error("cub::DeviceRadixSort of " + std::to_string(n) +
                               " pairs failed: " + cudaGetErrorString(error));
  }

  array<char> m_scratch;
};

register_subject<cub_sorted_array> const here("sorted", "array sorted by cub::DeviceRadixSort",
                                              true);

}  // namespace
}  // namespace karpos::perf
