// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/frontier/graph_size.hpp"
#include "karpos/detail/index_range.hpp"

// Makes a workspace for a graph: allocates arrays, and reads the degrees once.

namespace karpos::detail::frontier {

/// Returns an array with unspecified contents. CPUs map its pages now, evenly among the threads,
/// instead of in the first search.
template <class View, class ExecSpace>
View mapped_array(ExecSpace const& exec, std::string const& label, std::uint64_t n) {
  View const array = uninitialized_array<View>(exec, label, n);
  if constexpr (!device::is_device<ExecSpace>) fill(label, exec, array, 0);
  return array;
}

/// Histogram of degrees with eight buckets for each power of two, fine enough to choose a threshold
/// from.
struct degree_histogram {
  static constexpr int buckets = 64 * 8;
  std::uint64_t count[buckets];

  KOKKOS_FUNCTION static int bucket_of(std::uint64_t degree) {
    if (degree < 8) return static_cast<int>(degree);
    int const exponent = 63 - Kokkos::Experimental::countl_zero_builtin(degree);
    return 8 * (exponent - 2) + static_cast<int>(degree >> (exponent - 3) & 7);
  }
  /// Returns the smallest degree of a bucket.
  static std::uint64_t first_of(int bucket) {
    if (bucket < 8) return static_cast<std::uint64_t>(bucket);
    return (std::uint64_t(8) + static_cast<std::uint64_t>(bucket % 8)) << (bucket / 8 - 1);
  }
  /// Returns the lowest threshold, among borders of buckets, that at most `max_above` vertices
  /// exceed. lowest: degrees below it were not counted.
  std::uint64_t threshold(std::uint64_t max_above, std::uint64_t lowest) const {
    int bucket = buckets;
    std::uint64_t above = 0;
    while (bucket > bucket_of(lowest) && above + count[bucket - 1] <= max_above)
      above += count[--bucket];
    return bucket == buckets ? ~std::uint64_t(0) : first_of(bucket) - 1;
  }
};

/// Counts the vertices of each degree class, the vertices that are not isolated and the vertices of
/// very high degree. If `histogram` is not null, adds degrees from lowest_counted on to it.
template <class Rows>
struct count_degrees {
  using value_type = std::uint64_t[];
  /// The degree classes; vertices that are not isolated; degrees above max_of_lane; degrees above
  /// max_degree.
  static constexpr unsigned value_count = degree_classes + 3;
  /// Hub vertices have at least this degree. There are too many vertices of lower degree to count
  /// them by atomic increments.
  static constexpr std::uint64_t lowest_counted = 32;
  /// A tile adds up the degrees of 32 vertices in 32 bits, which holds if each is at most this.
  static constexpr std::uint64_t max_of_lane = (std::uint64_t(1) << 27) - 1;
  static constexpr std::uint64_t max_degree = (std::uint64_t(1) << 31) - 1;

  Rows out, in;
  bool has_in;
  std::uint64_t limit[degree_classes - 1];
  degree_histogram* histogram;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, value_type sum) const {
    std::uint64_t const degree = out.degree(v);
    ++sum[class_of(limit, degree)];
    if (!has_in || degree != 0 || in.degree(v) != 0) ++sum[degree_classes];
    if (degree > max_of_lane) ++sum[degree_classes + 1];
    if (degree > max_degree) ++sum[degree_classes + 2];
    if (histogram != nullptr && degree >= lowest_counted)
      Kokkos::atomic_inc(histogram->count + degree_histogram::bucket_of(degree));
  }
};

/// Returns the sums of count_degrees over n vertices. Throws std::length_error for a row that is
/// too long. Blocks.
template <class Tuned, class ExecSpace, class Rows>
auto read_degrees(std::string const& user, ExecSpace const& exec, std::uint64_t n, Rows const& out,
                  Rows const& in, bool has_in, degree_histogram* histogram) {
  count_degrees<Rows> const body{
      out, in, has_in, {Tuned::tile_degree, Tuned::team_degree, Tuned::grid_degree}, histogram};
  Kokkos::Array<std::uint64_t, body.value_count> sums{};
  Kokkos::parallel_reduce("karpos::" + user + "::degrees", index_range(exec, n), body,
                          Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                              sums.data(), sums.size()));
  exec.fence("karpos::" + user + ": degrees");
  require_no_long_row(user, sums[degree_classes + 2]);
  return sums;
}

}  // namespace karpos::detail::frontier
