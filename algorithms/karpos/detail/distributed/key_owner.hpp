// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>

#include "karpos/hash.hpp"

namespace karpos::detail::distributed {

/// Returns the rank that owns a hash. Mixes the hash again, with the number of ranks. Without that,
/// the keys of a rank would fill only a part of its table; and if they were distributed again, over
/// fewer ranks, most would go to a few of them.
struct owner_of_hash {
  std::uint32_t ranks;
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint64_t hash) const {
    constexpr std::uint64_t other = 0x9e3779b97f4a7c15ULL;
    return static_cast<std::uint32_t>((mix(hash + ranks * other) >> 32) * ranks >> 32);
  }
};
/// Returns the rank that owns a key.
template <class Key, class Hash = hash<Key>>
struct key_owner {
  std::uint32_t ranks;
  Hash hash = {};
  KOKKOS_FUNCTION std::uint32_t operator()(Key const& key) const {
    return owner_of_hash{ranks}(hash_of(hash, key));
  }
};

/// Returns each rank's capacity, if all together have `keys`: its share and, because owners are
/// random, a few standard deviations more.
inline std::uint64_t keys_of_rank(std::uint64_t keys, int ranks) {
  if (ranks == 1) return keys;
  std::uint64_t const share = keys / static_cast<std::uint64_t>(ranks) + 1;
  return share + static_cast<std::uint64_t>(6 * std::sqrt(static_cast<double>(share))) + 8;
}

/// Returns one member of rows in memory, the keys or the values, as a view with a stride.
template <class Member, class Row, class MemorySpace>
auto member_of_rows(Kokkos::View<Row*, MemorySpace> const& rows, Member Row::*member) {
  static_assert(sizeof(Row) % sizeof(Member) == 0);
  using view =
      Kokkos::View<Member const*, Kokkos::LayoutStride, MemorySpace, Kokkos::MemoryUnmanaged>;
  Member const* const first = rows.extent(0) == 0 ? nullptr : &(rows.data()->*member);
  return view(first, Kokkos::LayoutStride(rows.extent(0), sizeof(Row) / sizeof(Member)));
}

}  // namespace karpos::detail::distributed
