// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace karpos {

/// A Kokkos execution space.
template <class T>
concept execution_space = Kokkos::is_execution_space_v<T>;

namespace detail {
template <class T>
constexpr bool has_rank_one() {
  if constexpr (Kokkos::is_view_v<T>)
    return T::rank() == 1;
  else
    return false;
}
}  // namespace detail

/// Whether T, or what it refers to, is a Kokkos view of rank one.
template <class T>
inline constexpr bool is_view_1d = detail::has_rank_one<std::remove_cvref_t<T>>();

namespace detail {
template <class T>
concept owning_container = requires(T const& t) {
  typename T::value_type;
  t.data();
  t.size();
} && !Kokkos::is_view_v<T> && !std::is_trivially_copyable_v<T>;

/// Returns is_view_1d<T>. Fails to compile, with an explanation, if T is another array: a view of
/// another rank, or a container such as std::vector.
template <class T>
constexpr bool accept_view_1d() {
  if constexpr (Kokkos::is_view_v<T>)
    static_assert(
        is_view_1d<T>,
        "karpos: this argument is a view of rank one, not of another rank: pass the "
        "columns one by one, as Kokkos::subview(view, Kokkos::ALL, column), or all elements "
        "as an unmanaged view of rank one");
  else
    static_assert(!owning_container<T>,
                  "karpos: this argument is a Kokkos::View of rank one, not a container: copy it "
                  "to a view, or wrap it on the host, as Kokkos::View<T*, Kokkos::HostSpace, "
                  "Kokkos::MemoryTraits<Kokkos::Unmanaged>>(vector.data(), vector.size())");
  return is_view_1d<T>;
}
}  // namespace detail

/// A Kokkos view of rank one, as an argument of a call. Views of other ranks, and containers such
/// as std::vector, fail a static_assert, in a requires expression too. To test a type: is_view_1d.
template <class T>
concept view_1d = detail::accept_view_1d<std::remove_cvref_t<T>>();

namespace detail {
/// A type that cannot be the first argument of a bulk call.
template <class T, class ExecSpace>
concept not_an_instance = !std::is_convertible_v<T const&, ExecSpace const&>;
/// Return type of overloads for calls without an execution space instance: it does not compile, and
/// its static_assert says why.
template <class First>
struct call_without_instance {
  static_assert(sizeof(First) == 0,
                "karpos: bulk calls take an instance of the container's execution space first; "
                "kernels capture ref() of the container, and call that");
};

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
