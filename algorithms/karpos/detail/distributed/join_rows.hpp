// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/exchange_plan.hpp"
#include "karpos/hash.hpp"
#include "karpos/join.hpp"
#include "karpos/rows.hpp"

namespace karpos::detail::distributed {

/// Hashes and compares rows that are stored as the elements of one column, by the functions of
/// `Rows`.
template <class Rows>
struct row_functions {
  Rows functions;
  KOKKOS_FUNCTION std::uint64_t operator()(typename Rows::row_type const& r) const {
    return functions.hash(r);
  }
  KOKKOS_FUNCTION bool operator()(typename Rows::row_type const& a,
                                  typename Rows::row_type const& b) const {
    return functions.equal(a, b);
  }
};
template <class Rows, class View>
auto as_rows(Rows const& functions, View const& received) {
  row_functions<Rows> const of_row{functions};
  return karpos::rows(received).with_functions(of_row, of_row);
}

template <class Rows, class Row>
struct copy_rows {
  Rows from;
  Row* to;
  std::uint64_t* hash;
  std::uint64_t first;
  std::uint64_t* number;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    Row const r = from[i];
    to[i] = r;
    hash[i] = from.hash(r);
    number[i] = first + i;
  }
};

/// Rows that this rank owns, and their numbers in the whole table.
template <class Row, class MemorySpace>
struct owned_rows {
  Kokkos::View<Row*, MemorySpace> rows;
  Kokkos::View<std::uint64_t*, MemorySpace> numbers;
};
/// Sends rows to the owners of their hashes. Collective.
template <class ExecSpace, class Rows>
auto send_rows(karpos::distributed::communicator<ExecSpace> const& ranks, Rows const& from) {
  using row = typename Rows::row_type;
  using memory_space = typename ExecSpace::memory_space;
  auto const counts = ranks.all_gather(from.size());
  std::uint64_t const first =
      std::accumulate(counts.begin(), counts.begin() + ranks.rank(), std::uint64_t(0));
  owned_rows<row, memory_space> sent;
  Kokkos::View<std::uint64_t*, memory_space> hashes;
  run_collectively(ranks, [&] {
    auto const& exec = ranks.exec();
    sent.rows = distributed::allocate<row>(exec, "karpos::join: rows", from.size());
    sent.numbers = distributed::allocate<std::uint64_t>(exec, "karpos::join: numbers", from.size());
    hashes = distributed::allocate<std::uint64_t>(exec, "karpos::join: hashes", from.size());
    device::loop_over("karpos::join: rows to be sent", exec, from.size(),
                      copy_rows<device::held_by_loop<ExecSpace, Rows>, row>{
                          device::for_loop<ExecSpace>(from), sent.rows.data(), hashes.data(), first,
                          sent.numbers.data()});
  });
  karpos::distributed::exchange_plan<ExecSpace> const plan(
      ranks, hashes, owner_of_hash{static_cast<std::uint32_t>(ranks.size())});
  owned_rows<row, memory_space> const owned{plan.exchange(sent.rows), plan.exchange(sent.numbers)};
  ranks.exec().fence("karpos::join: before what was sent is freed");
  return owned;
}

/// The class karpos::join, which the function distributed::join hides. (nvcc loses the namespace if
/// it deduces the arguments.)
template <class Left, class Index>
using local_join = karpos::join<std::remove_const_t<Left>, std::remove_const_t<Index>>;

/// Replaces the numbers of received rows by their numbers in the whole table.
template <class Numbers>
struct map_to_global_rows {
  Numbers numbers;
  std::uint64_t* rows;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (rows[i] != no_row<std::uint64_t>) rows[i] = numbers(rows[i]);
  }
};
/// Writes the row numbers of a join of received rows to views that it allocates.
template <class ExecSpace, class Join, class Numbers, class Out>
void number_rows(ExecSpace const& exec, Join const& joined, Numbers const& left_numbers,
                 Numbers const& right_numbers, Out& left, Out& right) {
  bool const of_left = joined.has_pairs() || joined.kind() <= join_kind::left_anti;
  bool const of_right = joined.has_pairs() || !of_left;
  auto const allocate = [&](bool wanted) {
    return distributed::allocate<std::uint64_t>(exec, "karpos::join: joined rows",
                                                wanted ? joined.size() : 0);
  };
  left = allocate(of_left);
  right = allocate(of_right);
  if (joined.has_pairs())
    joined.write(exec, left, right);
  else
    joined.write(exec, of_left ? left : right);
  auto const number = [&](Out const& rows, Numbers const& numbers) {
    device::loop_over("karpos::join: numbers of rows", exec, rows.extent(0),
                      map_to_global_rows<device::held_by_loop<ExecSpace, Numbers>>{
                          device::for_loop<ExecSpace>(numbers), rows.data()});
  };
  number(left, left_numbers);
  number(right, right_numbers);
  exec.fence("karpos::join: joined");
}

}  // namespace karpos::detail::distributed
