// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/device/space.hpp"

// Members of the body of a loop on CPUs. Each thread copies the body to its stack. Compilers keep
// the copy in registers only if its address goes to no function that is not inlined. The copy
// constructor of a Kokkos::View is such a function: it gets the address, and in a large source it
// is not inlined. Each turn of the loop would then read the whole body again. A body therefore
// holds
//
//   a view        of rank one as strided_elements: a pointer and a stride
//   a function    itself if it is trivially copyable, else a reference to it. A view of another
//                 rank, or whose elements are proxies, likewise
//   a structure   of such members, with transformed(f), which returns a copy of it with f(member)
//                 in place of each member
//
// Loops assert that their bodies are trivially copyable. GPUs get views and functions unchanged.
// Measured: perf/results/cpu/crowded_sources.md.

namespace karpos::device {

template <class ExecSpace>
struct hold_for_loop;

/// Elements of a view of rank one, as a pointer and a stride. If `Strided` is false, the elements
/// are contiguous. Does not keep the memory alive.
template <class T, bool Strided>
class strided_elements {
 public:
  using is_elements = std::true_type;
  using value_type = T;
  using non_const_value_type = std::remove_const_t<T>;

  template <class View>
  explicit strided_elements(View const& view)
      : m_first(view.data()),
        m_stride(static_cast<std::uint64_t>(view.stride(0))),
        m_size(view.extent(0)) {}

  KOKKOS_FUNCTION std::uint64_t extent(int /*0*/) const { return m_size; }
  KOKKOS_FUNCTION T* data() const { return m_first; }

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(std::uint64_t i) const {
    if constexpr (Strided)
      return m_first[i * m_stride];
    else
      return m_first[i];
  }
  KOKKOS_FORCEINLINE_FUNCTION T& operator[](std::uint64_t i) const { return (*this)(i); }

 private:
  T* m_first;
  std::uint64_t m_stride, m_size;
};

namespace detail {

/// Whether X is a view of rank one whose elements are objects in memory, and not proxies.
template <class X>
inline constexpr bool has_elements = false;
template <class View>
  requires Kokkos::is_view_v<View>
inline constexpr bool has_elements<View> =
    View::rank() == 1 && std::is_same_v<typename View::reference_type, typename View::value_type&>;

template <class View>
inline constexpr bool may_be_strided =
    !std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft> &&
    !std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>;
template <class View>
using elements_of = strided_elements<typename View::value_type, may_be_strided<View>>;

template <class X, class ExecSpace>
concept can_be_transformed =
    requires(X const& x, hold_for_loop<ExecSpace> const& f) { x.transformed(f); };

template <class ExecSpace, class X>
constexpr auto loop_argument() {
  if constexpr (is_device<ExecSpace>)
    return std::type_identity<X>{};
  else if constexpr (can_be_transformed<X, ExecSpace>)
    return std::type_identity<decltype(std::declval<X const&>().transformed(
        std::declval<hold_for_loop<ExecSpace> const&>()))>{};
  else if constexpr (has_elements<X>)
    return std::type_identity<elements_of<X>>{};
  else if constexpr (std::is_trivially_copyable_v<X>)
    return std::type_identity<X>{};
  else
    return std::type_identity<X const&>{};
}
template <class ExecSpace, class X>
struct loop_argument_of : decltype(loop_argument<ExecSpace, X>()) {};

}  // namespace detail

/// The type that the body of a loop of ExecSpace holds in place of an object of type X.
template <class ExecSpace, class X>
using held_by_loop = typename detail::loop_argument_of<ExecSpace, X>::type;

/// Converts an object to what the body of a loop of ExecSpace holds in its place.
/// Requires: the object outlives the loop. On CPUs the loop ends before the call that starts it
/// returns.
template <class ExecSpace>
struct hold_for_loop {
  template <class X>
  void operator()(X const&&) const = delete;
  template <class X>
  held_by_loop<ExecSpace, X> operator()(X const& x) const {
    using held = held_by_loop<ExecSpace, X>;
    if constexpr (std::is_same_v<held, X> || std::is_reference_v<held>)
      return x;
    else if constexpr (detail::can_be_transformed<X, ExecSpace>)
      return x.transformed(*this);
    else
      return held(x);
  }
};
template <class ExecSpace, class X>
held_by_loop<ExecSpace, X> for_loop(X const& x) {
  return hold_for_loop<ExecSpace>{}(x);
}
template <class ExecSpace, class X>
void for_loop(X const&&) = delete;

/// Makes the body of a loop, which holds these members. Requires: the members outlive the loop.
template <class ExecSpace, template <class...> class Body, class... Members>
auto make_body(Members const&... members) {
  return Body<held_by_loop<ExecSpace, Members>...>{for_loop<ExecSpace>(members)...};
}

/// Returns element i of a view as a value, even if the view returns a proxy, as views with
/// MemoryTraits<Atomic> do. If `keys` is a function, returns keys(i).
template <class Keys>
KOKKOS_FORCEINLINE_FUNCTION auto element(Keys const& keys, std::uint64_t i) {
  if constexpr (requires { typename Keys::non_const_value_type; })
    return static_cast<typename Keys::non_const_value_type>(keys(i));
  else
    return keys(i);
}

namespace detail {

/// Returns the copy of a body that a CPU thread works with.
template <class Body>
Body copy_for_loop(Body const& body) {
  static_assert(std::is_trivially_copyable_v<Body>,
                "karpos: the body of a loop on CPUs must be trivially copyable: give it views and "
                "functions by device::for_loop (loop_arguments.hpp)");
  return body;
}

}  // namespace detail
}  // namespace karpos::device
