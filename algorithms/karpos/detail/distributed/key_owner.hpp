// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>

#include "karpos/hash.hpp"

namespace karpos::detail::distributed {

/// Returns the rank that owns a hash. A number of ranks has a multiplier of its own. Without that,
/// the keys of a rank would fill only a part of its table; and if they were distributed again, over
/// fewer ranks, most would go to a few of them.
class owner_of_hash {
 public:
  KOKKOS_FUNCTION constexpr owner_of_hash(std::uint32_t ranks) : m_place(hashed::rank, ranks) {}
  KOKKOS_FUNCTION constexpr std::uint32_t operator()(std::uint64_t hash) const {
    return m_place.narrow(hash);
  }

 private:
  place_among m_place;
};
/// Returns the rank that owns a key.
template <class Key, class Hash = hash<Key>>
struct key_owner {
  owner_of_hash owner;
  Hash hash = {};
  KOKKOS_FUNCTION std::uint32_t operator()(Key const& key) const {
    return owner(hash_of(hash, key));
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
