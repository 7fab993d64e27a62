// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace karpos {

/// A Kokkos execution space.
template <class T>
concept execution_space = Kokkos::is_execution_space_v<T>;

/// A Kokkos view of rank one.
template <class T>
concept view_1d =
    Kokkos::is_view_v<std::remove_cvref_t<T>> && (std::remove_cvref_t<T>::rank() == 1);

namespace detail {
template <class ExecSpace, class View>
inline constexpr bool reaches =
    Kokkos::SpaceAccessibility<ExecSpace, typename View::memory_space>::accessible;

/// Fails to compile, with an explanation, if a view lies in memory that the execution space cannot
/// reach.
template <class ExecSpace, class... Views>
constexpr void require_reachable() {
  static_assert(
      (reaches<ExecSpace, Views> && ...),
      "karpos: a view lies in a memory space that the execution space cannot reach; copy it "
      "with Kokkos::create_mirror_view_and_copy first");
}
/// Fails to compile, with an explanation, if keys would be converted: -1 would become a sentinel,
/// and 2^32 + 5 would become 5.
template <class Key, class Keys>
constexpr void require_key_type() {
  static_assert(std::is_same_v<typename Keys::non_const_value_type, Key>,
                "karpos: keys must come in a view of the container's key type");
}
/// Fails to compile, with an explanation, if values would be converted: 2.75 would become 2.
template <class T, class Values>
constexpr void require_value_type() {
  static_assert(std::is_same_v<typename Values::non_const_value_type, T>,
                "karpos: values must come in a view of the container's value type");
}
}  // namespace detail

}  // namespace karpos
