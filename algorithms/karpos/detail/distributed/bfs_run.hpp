// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "karpos/detail/common/arrays.hpp"
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

  /// Runs a step, and sends *mine to all ranks. then() reads rank r's by of_rank<T>(r).
  template <class Step, class T, class Then>
  void run_on_all(Step const& step, T const* mine, Then const& then) {
    static_assert(sizeof(T) <= sizeof(message) && std::is_trivially_copyable_v<T>);
    grid::run(step, [] {});
    T const value = grid::read(mine);
    message sent{};
    std::memcpy(sent.bytes, &value, sizeof value);
    m_messages = m_ranks.all_gather(sent);
    then();
  }
  template <class T>
  T of_rank(int r) const {
    T value{};
    std::memcpy(&value, m_messages[static_cast<std::size_t>(r)].bytes, sizeof value);
    return value;
  }
  int ranks() const { return m_ranks.size(); }
  int rank() const { return m_ranks.rank(); }

  /// Sends what a top-down step has claimed: lists, or bits.
  template <class State>
  void send_claims(State const& s, bfs::progress const& p) {
    if (p.lists_claims)
      m_exchange.send_lists(s.claims, counts([](auto const& c) { return c.listed; }));
    else
      m_exchange.merge_bits(s.bitmap(p.current), s.bitmap(1 - p.current));
  }
  /// Sends what a bottom-up step has found, of this rank's vertices alone.
  template <class State>
  void send_found(State const& s, bfs::progress const& p) {
    m_exchange.merge_own(
        {s.bitmap(p.current), s.bitmap(1 - p.current), s.words, s.first_word(), s.own_words()},
        s.claims, counts([](auto const& c) { return c.unqueued; }));
  }
  /// Sends a list that local searches have written, of entries of some words each.
  void send_list(frontier::local_vertex const* list, std::size_t entry_words) {
    std::vector<std::uint64_t> words;
    for (int r = 0; r < ranks(); ++r)
      words.push_back(of_rank<bfs::local_search_totals>(r).claims * entry_words);
    m_exchange.send_lists(list, words);
  }

  /// Writes a record of the search, which is in host memory.
  template <class T>
  void write(T* p, T const& value) {
    *p = value;
  }

 private:
  struct message {
    std::byte bytes[128];
  };
  template <class F>
  std::vector<std::uint64_t> counts(F const& count_of) const {
    std::vector<std::uint64_t> all;
    for (int r = 0; r < ranks(); ++r) all.push_back(count_of(of_rank<frontier::level_counters>(r)));
    return all;
  }

  communicator const& m_ranks;
  found_exchange<ExecSpace>& m_exchange;
  std::vector<message> m_messages;
};

/// Adds up the records of levels that local searches have found: each rank has recorded its own
/// vertices. own: this rank's records, in memory of the device. Collective.
template <class ExecSpace>
void add_records_of_ranks(karpos::distributed::communicator<ExecSpace> const& ranks,
                          bfs::search_record const* own, bfs::search_record& record) {
  using bfs::level_record;
  auto const is_by_rank = [](level_record const& l) {
    return l.bottom_up == level_record::by_rank;
  };
  level_record* const end = record.level + std::min(record.summary.levels, bfs::recorded_levels);
  if (std::none_of(record.level, end, is_by_rank)) return;
  auto const all = ranks.all_gather(read_back(ranks.exec(), own, "karpos::bfs: records"));
  for (level_record* to = record.level; to < end; ++to) {
    if (!is_by_rank(*to)) continue;
    *to = {};
    for (bfs::search_record const& of_rank : all) {
      level_record const& l = of_rank.level[to - record.level];
      to->vertices += l.vertices;
      to->edges += l.edges;
      to->hubs += l.hubs;
    }
  }
}

}  // namespace karpos::detail::distributed
