// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/hash.hpp"

// The probe path of a key, for any probing scheme (karpos/probing.hpp).

namespace karpos::detail {

/// The probe path of a key: the buckets in which it may be stored, in the order of the probe
/// sequence.
template <class Probing>
class probe_path {
 public:
  probe_path() = default;
  /// Makes the path of a hash in a table in which `home` maps hashes to buckets.
  KOKKOS_FUNCTION constexpr probe_path(std::uint64_t hash, place_among const& home)
      : probe_path(hash, home(hash), 1) {}
  /// Makes a path that consists of one bucket: the hash is not known.
  KOKKOS_FUNCTION static constexpr probe_path at_home(std::uint64_t bucket) {
    return {0, bucket, 1};
  }

  KOKKOS_FUNCTION constexpr std::uint64_t hash() const { return m_hash; }
  KOKKOS_FUNCTION constexpr std::uint64_t bucket() const { return m_bucket; }
  KOKKOS_FUNCTION constexpr std::uint64_t pair() const { return m_bucket / 2; }
  /// Returns the number of buckets on the path so far, this one included.
  KOKKOS_FUNCTION constexpr std::uint32_t tried() const { return m_tried; }

  KOKKOS_FUNCTION constexpr void advance(std::uint64_t pairs) {
    if (m_tried % 2 == 1) {
      m_bucket ^= 1;
    } else {
      std::uint64_t const sum = pair() + Probing::stride(m_hash, pairs);
      m_bucket = 2 * (sum < pairs ? sum : sum - pairs) + (m_bucket & 1);
    }
    ++m_tried;
  }

 private:
  KOKKOS_FUNCTION constexpr probe_path(std::uint64_t hash, std::uint64_t bucket,
                                       std::uint32_t tried)
      : m_hash(hash),
        m_bucket(bucket),
        m_tried(tried) {}

  std::uint64_t m_hash, m_bucket;
  std::uint32_t m_tried;
};

}  // namespace karpos::detail
