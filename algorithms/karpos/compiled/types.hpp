// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

// Compiled calls: karpos/compiled.hpp.

namespace karpos::compiled {

using execution_space = Kokkos::DefaultExecutionSpace;
using memory_space = execution_space::memory_space;
/// Views that calls read and write.
template <class T>
using input = Kokkos::View<T const*, memory_space>;
template <class T>
using output = Kokkos::View<T*, memory_space>;

namespace detail {
template <class T, class... Types>
concept one_of = (std::is_same_v<T, Types> || ...);
}  // namespace detail
/// The types of keys and of values that the library was compiled for.
template <class T>
concept key = detail::one_of<T, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
template <class T>
concept value = key<T> || detail::one_of<T, float, double>;

namespace detail {
template <class Key, class Value>
constexpr void require_types() {
  static_assert(key<Key> && value<Value>,
                "karpos: compiled calls take keys of std::(u)int32_t or std::(u)int64_t, and such "
                "values, float or double: for others include the header of the implementation, "
                "such as karpos/hash_map.hpp, and call it in namespace karpos");
}
template <class VertexId, class EdgeOffset>
constexpr void require_graph() {
  static_assert(key<VertexId> && key<EdgeOffset> && sizeof(EdgeOffset) >= sizeof(VertexId) &&
                    std::is_signed_v<EdgeOffset> == std::is_signed_v<VertexId>,
                "karpos: compiled searches take graphs with ids and offsets of std::uint32_t or "
                "std::uint64_t, or both signed, and ids not longer than offsets: for others "
                "include karpos/bfs.hpp or karpos/sssp.hpp, and call it in namespace karpos");
}
}  // namespace detail

}  // namespace karpos::compiled
