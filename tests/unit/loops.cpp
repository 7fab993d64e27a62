// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops and reductions over indices: each index once, for any number of threads.
#include <cstdint>
#include <karpos/device/loop_arguments.hpp>
#include <karpos/device/loops.hpp>
#include <type_traits>

#include "support/check.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::same;
using karpos_test::space;
using karpos_test::to_host;
using karpos_test::view;

constexpr std::uint64_t loop_sizes[] = {0, 1, 2, 3, 7, 64, 1000, 100'001};

struct count_visit {
  karpos::device::held_by_loop<space, view<std::uint32_t>> visits;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { Kokkos::atomic_inc(&visits(i)); }
};
TEST_CASE("loop_over visits each index once, and none beyond") {
  for (std::uint64_t const n : loop_sizes) {
    view<std::uint32_t> const visits("visits", n + 8);
    Kokkos::fence();
    karpos::device::loop_over("karpos_test::loop", space{}, n,
                              count_visit{karpos::device::for_loop<space>(visits)});
    space{}.fence();
    auto const got = to_host(visits);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < n + 8; ++i) wrong += got[i] != (i < n ? 1u : 0u);
    same("indices visited wrongly of " + std::to_string(n), wrong, 0);
  }
}

struct add_index {
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& sum) const { sum += i + 1; }
};
struct least_from {
  std::uint64_t from;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& least) const {
    if (i >= from && i < least) least = i;
  }
};
TEST_CASE("reduce_over reduces every index, and nothing to the reducer's identity") {
  for (std::uint64_t const n : loop_sizes) {
    auto const sum = karpos::device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos_test::sum", space{}, n, add_index{});
    same("sum of " + std::to_string(n), sum, n * (n + 1) / 2);
    auto const least = karpos::device::reduce_over<Kokkos::Min<std::uint64_t>>(
        "karpos_test::least", space{}, n, least_from{n / 2});
    same("least of " + std::to_string(n), least, n == 0 ? ~std::uint64_t(0) : n / 2);
  }
}

// The types that bodies of loops on CPUs store of a view or a function object.
struct with_view {
  Kokkos::View<int*, Kokkos::HostSpace> view;
};
template <class X>
using held = karpos::device::held_by_loop<Kokkos::DefaultHostExecutionSpace, X>;
template <class Layout, class T = int, class Traits = Kokkos::MemoryTraits<0>>
using host_view = Kokkos::View<T*, Layout, Kokkos::HostSpace, Traits>;
template <class View, bool Strided>
constexpr bool holds_elements =
    std::is_same_v<held<View>,
                   karpos::device::strided_elements<typename View::value_type, Strided>> &&
    std::is_trivially_copyable_v<held<View>>;
static_assert(holds_elements<host_view<Kokkos::LayoutLeft>, false>);
static_assert(holds_elements<host_view<Kokkos::LayoutRight, int const>, false>);
static_assert(holds_elements<host_view<Kokkos::LayoutStride>, true>);
static_assert(holds_elements<Kokkos::View<int[7], Kokkos::HostSpace>, false>);
using atomic_view =
    host_view<Kokkos::LayoutRight, int, Kokkos::MemoryTraits<Kokkos::Atomic>>;  // proxy elements
static_assert(std::is_same_v<held<atomic_view>, atomic_view const&>);
static_assert(std::is_same_v<held<with_view>, with_view const&>);
static_assert(std::is_same_v<held<add_index>, add_index>);

TEST_CASE("elements are those of the view, wherever they lie") {
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> const table("table", 5, 3);
  for (int i = 0; i < 15; ++i) table.data()[i] = i;
  auto const row = Kokkos::subview(table, 2, Kokkos::ALL);
  auto const column = Kokkos::subview(table, Kokkos::ALL, 1);
  using host = Kokkos::DefaultHostExecutionSpace;
  auto const of_row = karpos::device::for_loop<host>(row);
  auto const of_column = karpos::device::for_loop<host>(column);
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(&of_row(i) == &row(i));
  for (std::uint64_t i = 0; i < 5; ++i) CHECK(&of_column(i) == &column(i));
}

}  // namespace
