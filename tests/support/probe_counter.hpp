// SPDX-License-Identifier: Apache-2.0
/// \file
/// A hash and an equality that count their calls: how many probes an operation makes.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <karpos/hash.hpp>

#include "support/space.hpp"

namespace karpos_test {

/// A counter of calls.
class probe_counter {
 public:
  std::uint64_t* at() const { return m_count.data(); }
  /// Returns the number of calls that the kernels of f make, divided by n, the number of keys.
  template <class F>
  double per_key(std::uint64_t n, F const& f) const {
    Kokkos::deep_copy(m_count, std::uint64_t(0));
    f();
    Kokkos::fence("karpos_test::probes: the kernels have run");
    std::uint64_t count = 0;
    Kokkos::deep_copy(count, m_count);
    return static_cast<double>(count) / static_cast<double>(n);
  }

 private:
  Kokkos::View<std::uint64_t, space::memory_space> m_count{"karpos_test::probes"};
};

template <class Key>
struct counting_equal {
  std::uint64_t* calls = nullptr;
  KOKKOS_FUNCTION bool operator()(Key const& a, Key const& b) const {
    Kokkos::atomic_add(calls, std::uint64_t(1));
    return a == b;
  }
};
template <class Key>
struct counting_hash {
  using is_avalanching = std::true_type;
  std::uint64_t* calls = nullptr;
  KOKKOS_FUNCTION std::uint64_t operator()(Key const& key) const {
    Kokkos::atomic_add(calls, std::uint64_t(1));
    return karpos::hash<Key>{}(key);
  }
};

}  // namespace karpos_test
