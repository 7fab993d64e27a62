// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include "karpos/detail/bfs/state.hpp"

// What a search knows of a graph in advance: isolated vertices, sizes of the degree classes, hubs.

namespace karpos::detail::bfs {

/// Degrees in buckets of one eighth of a power of two: fine enough to choose a threshold by.
struct degree_buckets {
  static constexpr int count = 64 * 8;
  KOKKOS_FUNCTION static int of(std::uint64_t degree) {
    if (degree < 8) return static_cast<int>(degree);
    int const exponent = 63 - Kokkos::Experimental::countl_zero_builtin(degree);
    return 8 * (exponent - 2) + static_cast<int>(degree >> (exponent - 3) & 7);
  }
  /// The smallest degree of a bucket.
  static std::uint64_t first(int bucket) {
    if (bucket < 8) return static_cast<std::uint64_t>(bucket);
    return (std::uint64_t(8) + static_cast<std::uint64_t>(bucket % 8)) << (bucket / 8 - 1);
  }
};

/// Isolated vertices, and bits beyond the last vertex, as a bitmap that searches start from.
template <class Rows>
struct mark_isolated {
  Rows out, in;
  bool has_in;
  std::uint64_t vertices;
  std::uint32_t* isolated;

  KOKKOS_FUNCTION void operator()(std::uint64_t w) const {
    std::uint32_t bits = 0;
    for (std::uint64_t i = 0; i < 32; ++i) {
      std::uint64_t const v = w * 32 + i;
      // Without a transpose nobody knows who leads to v.
      bool const alone = v >= vertices || (has_in && out.degree(v) == 0 && in.degree(v) == 0);
      bits |= static_cast<std::uint32_t>(alone) << i;
    }
    isolated[w] = bits;
  }
};

/// Sizes of the degree classes, the number of vertices that are not isolated, and a histogram of the upper degrees.
template <class Rows>
struct count_degrees {
  using value_type = std::uint64_t[];
  /// The classes; vertices that are not isolated; degrees that are too high for one tile, and for anything.
  static constexpr unsigned value_count = degree_classes + 3;

  Rows out, in;
  bool has_in;
  std::uint64_t limit[degree_classes - 1];
  std::uint64_t* histogram;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, value_type sum) const {
    std::uint64_t const degree = out.degree(v);
    int c = 0;
    for (int i = 0; i < degree_classes - 1; ++i) c += degree >= limit[i] ? 1 : 0;
    ++sum[c];
    if (!has_in || degree != 0 || in.degree(v) != 0) ++sum[degree_classes];
    if (degree >= highest_of_lane) ++sum[degree_classes + 1];
    if (degree >= highest) ++sum[degree_classes + 2];
    if (degree >= lowest_counted) Kokkos::atomic_inc(histogram + degree_buckets::of(degree));
  }
  /// Vertices of lower degree are no hubs, and too many to count one by one.
  static constexpr std::uint64_t lowest_counted = 32;
  /// Tiles add up the degrees of 32 vertices in 32 bits.
  static constexpr std::uint64_t highest_of_lane = std::uint64_t(1) << 27;
  static constexpr std::uint64_t highest = std::uint64_t(1) << 31;
};

template <class Rows>
struct list_hubs {
  Rows out;
  std::uint64_t hub_degree;
  std::uint32_t* hubs;
  std::uint32_t* count;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    if (out.degree(v) > hub_degree)
      hubs[Kokkos::atomic_fetch_add(count, 1u)] = static_cast<std::uint32_t>(v);
  }
};

/// The lowest degree threshold that at most `most` vertices pass. histogram: of degree_buckets.
inline std::uint64_t hub_threshold(std::uint64_t const* histogram, std::uint64_t most,
                                   std::uint64_t lowest) {
  int bucket = degree_buckets::count;
  std::uint64_t above = 0;
  while (bucket > degree_buckets::of(lowest) && above + histogram[bucket - 1] <= most)
    above += histogram[--bucket];
  return bucket == degree_buckets::count ? ~std::uint64_t(0) : degree_buckets::first(bucket) - 1;
}

}  // namespace karpos::detail::bfs
