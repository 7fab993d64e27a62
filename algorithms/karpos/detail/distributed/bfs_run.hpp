// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "karpos/detail/distributed/bfs_exchange.hpp"
#include "karpos/detail/distributed/bfs_plan.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/device/program.hpp"
#include "karpos/distributed/communicator.hpp"

// The grids of a search over ranks. The level loop, and its steps, are those of one device
// (detail/graph/bfs/run.hpp); each rank handles its own vertices.
//
// launched_ranks runs each step as a kernel, and exchanges through the communicator between the
// steps. A spanning grid (device/peers.hpp) runs the search in one kernel on each device, with
// status bitmaps and lists of claims in windows, which the steps of all devices read and write.

namespace karpos::detail::distributed {

/// Runs a program over ranks from the host: each step as a kernel, and messages between the steps.
template <class ExecSpace>
class launched_ranks : public device::launched_grid<ExecSpace> {
  using grid = device::launched_grid<ExecSpace>;
  using communicator = karpos::distributed::communicator<ExecSpace>;

 public:
  static constexpr bool spans = false;

  launched_ranks(communicator const& ranks, grid const& steps, found_exchange<ExecSpace>& exchange)
      : grid(steps),
        m_ranks(ranks),
        m_exchange(exchange) {}

  /// Runs a step, and sends *mine to all ranks. then() reads rank r's by of_rank(r).
  template <class Step, class Then>
  void run_on_all(Step const& step, frontier::level_counters const* mine, Then const& then) {
    grid::run(step, [] {});
    m_messages = m_ranks.all_gather(grid::read(mine));
    then();
  }
  template <class T>
  T const& of_rank(int r) const {
    return m_messages[static_cast<std::size_t>(r)];
  }
  int ranks() const { return m_ranks.size(); }
  int rank() const { return m_ranks.rank(); }

  /// Sends what a top-down step has claimed: lists, or bits.
  template <class State>
  void send_claims(State const& s, bfs::progress const& p) {
    if (p.lists_claims)
      m_exchange.send_lists(s.claims, counts(&frontier::level_counters::listed));
    else
      m_exchange.merge_bits(s.bitmap(p.current), s.bitmap(1 - p.current));
  }
  /// Sends what a bottom-up step has found, of this rank's vertices alone.
  template <class State>
  void send_found(State const& s, bfs::progress const& p) {
    m_exchange.merge_own(
        {s.bitmap(p.current), s.bitmap(1 - p.current), s.words, s.first_word(), s.own_words()},
        s.claims, counts(&frontier::level_counters::unqueued));
  }

  /// Writes a record of the search, which is in host memory.
  template <class T>
  void write(T* p, T const& value) {
    *p = value;
  }

 private:
  std::vector<std::uint64_t> counts(std::uint32_t frontier::level_counters::*of) const {
    std::vector<std::uint64_t> all;
    for (auto const& message : m_messages) all.push_back(message.*of);
    return all;
  }

  communicator const& m_ranks;
  found_exchange<ExecSpace>& m_exchange;
  std::vector<frontier::level_counters> m_messages;
};

}  // namespace karpos::detail::distributed
