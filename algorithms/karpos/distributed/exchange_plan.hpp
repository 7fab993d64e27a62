// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/plan_kernels.hpp"
#include "karpos/detail/distributed/split_rows.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/key_value.hpp"

// exchange_plan: rows that go to the ranks that own them, and back.
//
//   rank 0  owners | 1 | 0 | 1 |  sends row 1 to 0, rows 0, 2 to 1  gets | 0:1 |
//   rank 1  owners | 1 | 1 |      sends rows 0, 1 to 1              gets | 0:0 | 0:2 | 1:0 | 1:1 |
//
// What is received lies by the rank that it comes from, and in that rank's order. Built once, a
// plan moves any number of columns: exchange sends them, exchange_back returns what was made of
// them to where the rows came from, in their order.

namespace karpos::distributed {

/// A rank that is named by itself: what an exchange_plan of owners calls on each of them.
struct owner_is_named {
  template <class Owner>
  KOKKOS_FUNCTION std::uint32_t operator()(Owner const& owner) const {
    return static_cast<std::uint32_t>(owner);
  }
};

/// Where each row of this rank goes, and what comes in return.
///
/// Requires: the communicator outlives the plan, and stays where it is.
/// Concurrency: one exchange at a time.
/// Memory: 4 bytes for each row of this rank; a buffer of 8 or 16 bytes for each, or as large as
///   the largest column that it has moved.
template <execution_space ExecSpace>
class exchange_plan {
 public:
  using memory_space = typename ExecSpace::memory_space;
  using counts_type = typename communicator<ExecSpace>::counts_type;

  /// Row i of this rank goes to rank owner_of(keys(i)), called in kernels, or, by default, to the
  /// rank keys(i). Collective. Keys have at most 8 bytes.
  /// Complexity: one partition of the rows; waits.
  /// Requires: owner_of(key) is a rank.
  /// Throws: collective_error on every rank where a named owner is no rank, for 2^32 rows of a rank
  ///   or more, or without memory.
  /// Source: the distributors of Trilinos' Tpetra and of ArborX, for a plan that is made once.
  template <view_1d Keys, class OwnerOf = owner_is_named>
  exchange_plan(communicator<ExecSpace> const& ranks, Keys const& keys,
                OwnerOf const& owner_of = {})
      : exchange_plan(ranks, keys, owner_of, std::make_shared<kept>()) {}
  /// Memory that tables pass from a plan to the next one. The plan that used it before must not be
  /// used any more.
  using kept = detail::distributed::plan_memory<ExecSpace>;
  template <view_1d Keys, class OwnerOf>
  exchange_plan(communicator<ExecSpace> const& ranks, Keys const& keys, OwnerOf const& owner_of,
                std::shared_ptr<kept> const& memory)
      : m_ranks(&ranks),
        m_kept(memory) {
    using key = typename Keys::non_const_value_type;
    static_assert(sizeof(key) <= 8, "karpos: owners, or what tells them, have at most 8 bytes");
    detail::require_reachable<ExecSpace, Keys>();
    detail::distributed::together(ranks, [&] {
      if constexpr (std::is_same_v<OwnerOf, owner_is_named>) require_ranks(keys);
      sort_rows(keys, owner_of);
    });
    m_receive_counts = ranks.exchange_counts(m_send_counts);
    for (std::uint64_t const n : m_receive_counts) m_receives += n;
  }

  /// Rows of this rank; rows that it receives.
  std::uint64_t sends() const { return m_order.extent(0); }
  std::uint64_t receives() const { return m_receives; }
  /// By rank.
  counts_type const& send_counts() const { return m_send_counts; }
  counts_type const& receive_counts() const { return m_receive_counts; }

  /// Sends in(i), for each row i of this rank, to its owner; writes what this rank receives to out.
  /// Collective.
  /// Throws: collective_error on every rank for views that are not as long as sends() and
  ///   receives(), for a strided out, or without memory.
  template <view_1d In, view_1d Out>
  void exchange(In const& in, Out const& out) const {
    using element = typename In::non_const_value_type;
    detail::require_reachable<ExecSpace, In, Out>();
    auto const sorted = detail::distributed::together(*m_ranks, [&] {
      detail::require_same_extent("a column", in.extent(0), "rows of the plan", sends());
      detail::require_same_extent("what is received", out.extent(0), "rows of the plan",
                                  receives());
      detail::require_contiguous("what is received", out);
      return buffer<element>(sends());
    });
    device::loop_over(
        "karpos::exchange_plan: pack", m_ranks->exec(), sends(),
        detail::distributed::pack_column<device::held_by_loop<ExecSpace, In>, element>{
            device::for_loop<ExecSpace>(in), m_order.data(), sorted.data()});
    m_ranks->all_to_all(sorted, m_send_counts, out, m_receive_counts);
  }
  /// Returns: the same in a view of its own.
  template <view_1d In>
  auto exchange(In const& in) const {
    auto const out = detail::distributed::together(*m_ranks, [&] {
      return detail::distributed::allocate<typename In::non_const_value_type>(
          m_ranks->exec(), "karpos::distributed: received", m_receives);
    });
    exchange(in, out);
    return out;
  }
  /// The other way: in(j) belongs to the j-th row that this rank received; out(i) is what was sent
  /// for row i. Collective.
  /// Throws: collective_error on every rank for views that are not as long as receives() and
  ///   sends(), for a strided in, or without memory.
  template <view_1d In, view_1d Out>
  void exchange_back(In const& in, Out const& out) const {
    using element = typename In::non_const_value_type;
    detail::require_reachable<ExecSpace, In, Out>();
    auto const sorted = detail::distributed::together(*m_ranks, [&] {
      detail::require_same_extent("what belongs to received rows", in.extent(0), "rows of the plan",
                                  receives());
      detail::require_contiguous("what belongs to received rows", in);
      detail::require_same_extent("answers", out.extent(0), "rows of the plan", sends());
      return buffer<element>(sends());
    });
    m_ranks->all_to_all(in, m_receive_counts, sorted, m_send_counts);
    device::loop_over(
        "karpos::exchange_plan: unpack", m_ranks->exec(), sends(),
        detail::distributed::unpack_column<element, device::held_by_loop<ExecSpace, Out>>{
            sorted.data(), m_order.data(), device::for_loop<ExecSpace>(out)});
    m_ranks->exec().fence("karpos::exchange_plan: unpacked");
  }

 private:
  template <class Owners>
  void require_ranks(Owners const& owners) const {
    std::uint64_t const none = ~std::uint64_t(0), n = owners.extent(0);
    std::uint64_t const first = device::reduce_over<Kokkos::Min<std::uint64_t>>(
        "karpos::exchange_plan: check", m_ranks->exec(), n,
        detail::distributed::find_wrong_owner<device::held_by_loop<ExecSpace, Owners>>{
            device::for_loop<ExecSpace>(owners), static_cast<std::uint64_t>(m_ranks->size())});
    if (n > 0 && first != none)
      detail::reject("the owner of row " + std::to_string(first) + " is no rank",
                     "there are " + std::to_string(m_ranks->size()),
                     "owners are below the number of ranks");
  }
  template <class Keys, class OwnerOf>
  void sort_rows(Keys const& keys, OwnerOf const& owner_of) {
    using row = key_value<typename Keys::non_const_value_type, std::uint32_t>;
    auto const& exec = m_ranks->exec();
    std::uint64_t const n = keys.extent(0);
    auto const split = detail::distributed::split_to<row>(
        m_kept->rows.template room<row>(exec, "karpos::distributed: rows by owner", n), exec,
        m_ranks->size(), true, owner_of, keys, row_numbers{});
    m_send_counts = split.counts;
    m_order = m_kept->order.template room<std::uint32_t>(exec, "karpos::distributed: order", n);
    device::loop_over("karpos::exchange_plan: order", exec, keys.extent(0),
                      detail::distributed::keep_number<row>{split.rows.data(), m_order.data()});
  }
  /// Room for n elements, where the rows that were put in order lay.
  template <class T>
  auto buffer(std::uint64_t n) const {
    return m_kept->rows.template room<T>(m_ranks->exec(), "karpos::distributed: buffer", n);
  }

  communicator<ExecSpace> const* m_ranks;
  counts_type m_send_counts, m_receive_counts;
  std::uint64_t m_receives = 0;
  Kokkos::View<std::uint32_t*, memory_space> m_order;  // row numbers, by owner
  std::shared_ptr<kept> m_kept;
};

/// Moves rows to their owners: rows(i) to the rank owners(i). Rows are trivially copyable objects
/// of any size. Collective.
///
/// Returns: the rows that this rank owns, by the rank that they come from, in its order.
/// Complexity: as of an exchange_plan and one exchange. For several columns make a plan.
/// Throws: as exchange_plan; collective_error for views of different length.
template <execution_space ExecSpace, view_1d Rows, view_1d Owners>
auto repartition(communicator<ExecSpace> const& ranks, Rows const& rows, Owners const& owners) {
  detail::distributed::together(ranks, [&] {
    detail::require_same_extent("rows", rows.extent(0), "owners", owners.extent(0));
  });
  return exchange_plan<ExecSpace>(ranks, owners).exchange(rows);
}

}  // namespace karpos::distributed
