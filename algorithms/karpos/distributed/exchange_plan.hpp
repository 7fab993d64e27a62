// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/key_value.hpp"

// exchange_plan: sends rows to the ranks that own them, and answers back.
//
//   rank 0  owners | 1 | 0 | 1 |  sends row 1 to 0, rows 0, 2 to 1  gets | 0:1 |
//   rank 1  owners | 1 | 1 |      sends rows 0, 1 to 1              gets | 0:0 | 0:2 | 1:0 | 1:1 |
//
// 0:1 is row 1 of rank 0. Received rows are ordered by the rank that they come from, and then as on
// that rank. A plan moves any number of columns: exchange sends a column to the owners;
// exchange_back returns answers to where the rows came from, in their order.

namespace karpos::distributed {

/// Maps an owner to itself: the default of an exchange_plan whose keys are the owners' ranks.
struct owner_is_named {
  template <class Owner>
  KOKKOS_FUNCTION std::uint32_t operator()(Owner const& owner) const {
    return static_cast<std::uint32_t>(owner);
  }
};

/// A plan of an exchange: where each row of this rank goes, and how many rows this rank receives.
///
/// Requires: the communicator outlives the plan, and is not moved.
/// Concurrency: one exchange at a time.
/// Memory: for each row of this rank 4 bytes and a buffer: 8 bytes (keys of up to 4 bytes) or 16,
///   or the largest column moved if that is larger. The constructor also allocates and frees the
///   workspace of karpos::partition (partition_bytes).
template <execution_space ExecSpace>
class exchange_plan {
 public:
  using memory_space = typename ExecSpace::memory_space;
  using counts_type = typename communicator<ExecSpace>::counts_type;
  /// Memory of a plan. Hash tables pass it to the next plan; the plan that had it before must not
  /// be used from then on.
  using kept = detail::distributed::plan_memory<ExecSpace>;

  /// Makes a plan that sends row i of this rank to rank owner_of(keys(i)). By default, keys are
  /// ranks. Kernels call owner_of. Keys have at most 8 bytes. Collective. Blocks.
  ///
  /// Complexity: one partition of the rows.
  /// Requires: owner_of(key) is a rank.
  /// Throws: collective_error on every rank if owner_of is the default and a key is no rank (what
  ///   other functions return is checked only with KARPOS_CONTRACTS), for more than 2^32 rows of a
  ///   rank, or if there is not enough memory.
  /// Source: the distributors of Trilinos' Tpetra and of ArborX, for a plan that is made once.
  template <view_1d Keys, class OwnerOf = owner_is_named>
  exchange_plan(communicator<ExecSpace> const& ranks, Keys const& keys,
                OwnerOf const& owner_of = {},
                std::shared_ptr<kept> const& memory = std::make_shared<kept>())
      : m_ranks(&ranks),
        m_kept(memory) {
    static_assert(sizeof(typename Keys::non_const_value_type) <= 8,
                  "karpos: owners, or keys that determine them, have at most 8 bytes");
    detail::require_reachable<ExecSpace, Keys>();
    detail::user_call const call("distributed::exchange_plan");
    detail::distributed::run_collectively(ranks, [&] {
      if constexpr (std::is_same_v<OwnerOf, owner_is_named>) require_ranks(keys);
      sort_rows(keys, owner_of);
    });
    m_receive_counts = ranks.exchange_counts(m_send_counts);
    for (std::uint64_t const n : m_receive_counts) m_receives += n;
  }

  /// Returns how many rows this rank sends, or receives; by rank, or in all.
  std::uint64_t sends() const { return m_order.extent(0); }
  std::uint64_t receives() const { return m_receives; }
  counts_type const& send_counts() const { return m_send_counts; }
  counts_type const& receive_counts() const { return m_receive_counts; }

  /// Sends in(i), for each row i of this rank, to the row's owner; writes what this rank receives
  /// to out. Collective. Waits until every rank has called it. If a vendor's library moves the data
  /// (communicator::engine), the rest is asynchronous, else it blocks.
  ///
  /// Requires: until exec() of the communicator is fenced, `in`, `out` and the plan exist, and no
  ///   other execution space instance writes `in` or uses `out`.
  /// Throws: collective_error on every rank if `in` is not as long as sends(), if out is not as
  ///   long as receives() or is strided, or if there is not enough memory.
  template <view_1d In, view_1d Out>
  void exchange(In const& in, Out const& out) const {
    detail::user_call const call("distributed::exchange_plan", "exchange");
    using element = typename In::non_const_value_type;
    detail::require_reachable<ExecSpace, In, Out>();
    auto const sorted = detail::distributed::run_collectively(*m_ranks, [&] {
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
  /// Sends a column to the owners. Returns what this rank receives, in a new view. Collective.
  /// Asynchronous if the exchange above is: fence exec() of the communicator before another
  /// execution space instance reads the result. Requires: as above.
  template <view_1d In>
  auto exchange(In const& in) const {
    detail::user_call const call("distributed::exchange_plan", "exchange");
    auto const out = detail::distributed::run_collectively(*m_ranks, [&] {
      return detail::distributed::allocate<typename In::non_const_value_type>(
          m_ranks->exec(), "karpos::distributed: received", m_receives);
    });
    exchange(in, out);
    return out;
  }
  /// Sends answers back: in(j) is the answer to the j-th row that this rank received; out(i) gets
  /// the answer to row i. Collective. Blocks.
  ///
  /// Throws: collective_error on every rank if `in` is not as long as receives() or is strided, if
  ///   out is not as long as sends(), or if there is not enough memory.
  template <view_1d In, view_1d Out>
  void exchange_back(In const& in, Out const& out) const {
    detail::user_call const call("distributed::exchange_plan", "exchange_back");
    using element = typename In::non_const_value_type;
    detail::require_reachable<ExecSpace, In, Out>();
    auto const sorted = detail::distributed::run_collectively(*m_ranks, [&] {
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
    auto const split = detail::distributed::split<row>(exec, m_kept->rows, m_ranks->size(), true,
                                                       owner_of, keys, row_numbers{});
    m_send_counts = split.counts;
    m_order = m_kept->order.template reserve<std::uint32_t>(exec, "karpos::distributed: order",
                                                            keys.extent(0));
    auto const numbers = detail::distributed::member_of_rows(split.rows, &row::value);
    detail::fill_with("karpos::exchange_plan: order", exec, m_order,
                      device::for_loop<ExecSpace>(numbers));
  }
  /// Returns a buffer of n elements, in the memory in which the rows were ordered.
  template <class T>
  auto buffer(std::uint64_t n) const {
    return m_kept->rows.template reserve<T>(m_ranks->exec(), "karpos::distributed: buffer", n);
  }

  communicator<ExecSpace> const* m_ranks;
  counts_type m_send_counts, m_receive_counts;
  std::uint64_t m_receives = 0;
  Kokkos::View<std::uint32_t*, memory_space> m_order;  // row numbers, by owner
  std::shared_ptr<kept> m_kept;
};

/// Moves rows(i), trivially copyable objects of any size, to the rank owners(i). Collective.
/// Blocks.
///
/// Returns: the rows that this rank owns, rank 0's first, and each rank's in their order there.
/// Complexity: an exchange_plan and one exchange. Make a plan if there are several columns.
/// Throws: as exchange_plan; collective_error if views differ in length.
template <execution_space ExecSpace, view_1d Rows, view_1d Owners>
auto repartition(communicator<ExecSpace> const& ranks, Rows const& rows, Owners const& owners) {
  detail::user_call const call("distributed::repartition");
  detail::distributed::run_collectively(ranks, [&] {
    detail::require_same_extent("rows", rows.extent(0), "owners", owners.extent(0));
  });
  exchange_plan<ExecSpace> const plan(ranks, owners);
  auto const received = plan.exchange(rows);
  ranks.exec().fence("karpos::distributed::repartition: before the plan is freed");
  return received;
}

}  // namespace karpos::distributed
