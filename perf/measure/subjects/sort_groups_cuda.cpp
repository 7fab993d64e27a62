// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <stdexcept>
#include <string>

#include "karpos/operations.hpp"
#include "perf/measure/subjects/sort_groups.hpp"

namespace karpos::perf {
namespace {

void require_success(cudaError_t error, char const* what) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string(what) + " failed: " + cudaGetErrorString(error));
}

template <class Key>
class cub_sort_groups : public sort_groups<Key> {
 public:
  cub_sort_groups(space const& exec, std::uint64_t rows)
      : m_exec(exec),
        m_keys(make_array<Key>("sorted keys", rows)),
        m_values(make_array<Key>("sorted values", rows)),
        m_runs(make_array<std::int64_t>("runs", 1)) {
    if (rows >= std::uint64_t(1) << 31)
      throw std::invalid_argument("karpos: --peers sort takes fewer than 2^31 rows on this device");
    array<Key> const none(nullptr, rows);
    std::size_t bytes[4] = {};
    sort_keys(nullptr, bytes[0], none);
    sort_pairs(nullptr, bytes[1], none, none);
    encode_runs(nullptr, bytes[2], rows, none, none);
    reduce_runs(nullptr, bytes[3], rows, none, none);
    m_scratch = make_array<char>("scratch", *std::max_element(bytes, bytes + 4));
  }

  std::uint64_t count(array<Key> const& keys, array<Key> const& out_keys,
                      array<Key> const& out_counts) override {
    std::size_t bytes = m_scratch.extent(0);
    sort_keys(m_scratch.data(), bytes, keys);
    bytes = m_scratch.extent(0);
    encode_runs(m_scratch.data(), bytes, keys.extent(0), out_keys, out_counts);
    return runs();
  }
  std::uint64_t sum(array<Key> const& keys, array<Key> const& values, array<Key> const& out_keys,
                    array<Key> const& out_sums) override {
    std::size_t bytes = m_scratch.extent(0);
    sort_pairs(m_scratch.data(), bytes, keys, values);
    bytes = m_scratch.extent(0);
    reduce_runs(m_scratch.data(), bytes, keys.extent(0), out_keys, out_sums);
    return runs();
  }

 private:
  static constexpr int bits = static_cast<int>(8 * sizeof(Key));

  // If `scratch` is null, these functions only set `bytes` to the size of the scratch memory
  // needed.
  void sort_keys(void* scratch, std::size_t& bytes, array<Key> const& keys) const {
    require_success(cub::DeviceRadixSort::SortKeys(
                        scratch, bytes, static_cast<Key const*>(keys.data()), m_keys.data(),
                        keys.extent(0), 0, bits, m_exec.cuda_stream()),
                    "cub::DeviceRadixSort::SortKeys");
  }
  void sort_pairs(void* scratch, std::size_t& bytes, array<Key> const& keys,
                  array<Key> const& values) const {
    require_success(cub::DeviceRadixSort::SortPairs(
                        scratch, bytes, static_cast<Key const*>(keys.data()), m_keys.data(),
                        static_cast<Key const*>(values.data()), m_values.data(), keys.extent(0), 0,
                        bits, m_exec.cuda_stream()),
                    "cub::DeviceRadixSort::SortPairs");
  }
  void encode_runs(void* scratch, std::size_t& bytes, std::uint64_t n, array<Key> const& out_keys,
                   array<Key> const& out_counts) const {
    require_success(cub::DeviceRunLengthEncode::Encode(
                        scratch, bytes, m_keys.data(), out_keys.data(), out_counts.data(),
                        m_runs.data(), static_cast<int>(n), m_exec.cuda_stream()),
                    "cub::DeviceRunLengthEncode");
  }
  void reduce_runs(void* scratch, std::size_t& bytes, std::uint64_t n, array<Key> const& out_keys,
                   array<Key> const& out_sums) const {
    require_success(
        cub::DeviceReduce::ReduceByKey(scratch, bytes, m_keys.data(), out_keys.data(),
                                       m_values.data(), out_sums.data(), m_runs.data(), plus{},
                                       static_cast<int>(n), m_exec.cuda_stream()),
        "cub::DeviceReduce::ReduceByKey");
  }
  std::uint64_t runs() const {
    std::int64_t n = 0;
    Kokkos::View<std::int64_t, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const to(&n);
    Kokkos::deep_copy(m_exec, to, Kokkos::subview(m_runs, 0));
    m_exec.fence("karpos::perf: runs are counted");
    return static_cast<std::uint64_t>(n);
  }

  space m_exec;
  array<Key> m_keys, m_values;
  array<std::int64_t> m_runs;
  array<char> m_scratch;
};

register_sort_groups<cub_sort_groups> const registration;

}  // namespace
}  // namespace karpos::perf
