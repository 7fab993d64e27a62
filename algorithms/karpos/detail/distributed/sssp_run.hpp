// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "karpos/detail/common/host_views.hpp"
#include "karpos/detail/distributed/collective.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/sssp_plan.hpp"
#include "karpos/detail/graph/sssp/run.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/program.hpp"
#include "karpos/distributed/communicator.hpp"

// The grid of shortest paths over ranks. The loop, and its steps, are those of one device
// (detail/graph/sssp/run.hpp). An exchange:
//
//   rank 0                                        rank 1
//   lists for rank 1: 70, 91                      lists for rank 0: 3
//   message: 2 rows, totals of rank 0    <--->    message: 1 row, totals of rank 1
//   rows (70, d) (91, d)                 <--->    rows (3, d)           if any rank lists a vertex
//   `receive` lowers 3, and queues it             `receive` lowers 70 and 91, and queues them

namespace karpos::detail::distributed {

/// Writes the rows of all lists, and clears the marks of their vertices.
template <class State, class Row>
struct pack_lists {
  State s;
  Row* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t at = i;
    int rank = 0;
    for (; at >= s.listed[rank]; ++rank) at -= s.listed[rank];
    frontier::local_vertex const v = s.list[s.begin_of_rank[rank] + at];
    State::unmark(s.list_bits, v);
    Row row{};
    row.distance = s.distance[v];
    row.vertex = v;
    if constexpr (requires { row.from; }) row.from = State::local(s.parent[v]);
    to[i] = row;
  }
};

/// Memory of exchanges: the rows that a rank sends and receives, which grows, and a copy of the
/// rank's counters and list lengths on the host.
template <class ExecSpace>
struct exchange_memory {
  reusable_memory<ExecSpace> sent, received;
  std::uint64_t bytes = 0;  // the same on all ranks: rows of that many bytes fit on each
  Kokkos::View<std::byte*, pinned_space> counters;

  void allocate_counters(int ranks) {
    counters = Kokkos::View<std::byte*, pinned_space>(
        "karpos::distributed::sssp: counters",
        sizeof(sssp::fixed_memory) + static_cast<std::size_t>(ranks) * sizeof(std::uint32_t));
  }
};

struct sssp_record {
  sssp::summary summary;    // of this rank, without the search for parents
  search_totals totals;     // of all ranks, likewise
  std::uint64_t exchanges;  // with those of the search for parents
};

/// Runs a search over ranks from the host: each step as a kernel, and exchanges between the steps.
template <class ExecSpace, class State>
class launched_sssp : public device::launched_grid<ExecSpace> {
  using grid = device::launched_grid<ExecSpace>;
  using communicator = karpos::distributed::communicator<ExecSpace>;
  using counts_type = typename communicator::counts_type;

 public:
  launched_sssp(communicator const& ranks, grid const& steps, State const& s,
                exchange_memory<ExecSpace>& memory)
      : grid(steps),
        m_ranks(ranks),
        m_memory(memory),
        m_fixed_at(s.fixed),
        m_lengths_at(s.listed),
        m_sent(static_cast<std::size_t>(ranks.size())),
        m_received(m_sent.size()) {}

  template <class Step, class Then>
  void run(Step const& step, Then const& then) {
    m_is_copied = false;
    grid::run(step, [] {});
    then();
  }
  /// Reads a counter. On GPUs, reads all counters after a step at once.
  template <class T>
  T read(T const* p) {
    if constexpr (device::is_device<ExecSpace>) {
      auto const offset =
          reinterpret_cast<char const*>(p) - reinterpret_cast<char const*>(m_fixed_at);
      T value{};
      std::memcpy(&value, reinterpret_cast<char const*>(&counters()) + offset, sizeof(T));
      return value;
    } else {
      return *p;
    }
  }
  /// Keeps the summary of a search on the host, with the totals of the last exchange.
  void write(sssp::summary*, sssp::summary const& record) {
    m_record.summary = record;
    m_record.totals = m_totals;
  }

  /// Sends all ranks the totals of this one, and to each the rows of its list. Sets p.all and
  /// p.received. failed: whether this rank must stop. Collective.
  template <class Row, class Progress>
  void exchange(State const& s, Progress& p, bool failed) {
    sssp::fixed_memory const& f = counters();
    std::size_t const n = m_sent.size();
    counts_type const listed = list_lengths();
    search_totals mine{};
    mine.listed = blocks(listed).total;
    mine.far_entries = f.far[p.split % 3].unvisited;
    mine.far_min = f.far_min[p.split % 3];
    mine.vertices = p.vertices;
    mine.edges = p.edges + f.fused_edges;
    mine.unqueued = p.frontier.unqueued;
    mine.overflowed = f.distance_overflowed;
    mine.failed = failed;
    for (std::size_t r = 0; r < n; ++r) {
      m_sent[r] = mine;
      m_sent[r].rows = listed[r];
    }
    counts_type const one(n, 1);
    m_ranks.all_to_all(unmanaged<Kokkos::HostSpace>(m_sent.data(), n), one,
                       unmanaged<Kokkos::HostSpace>(m_received.data(), n), one);
    p.all = m_received[0];
    for (std::size_t r = 1; r < n; ++r) p.all.add(m_received[r]);
    m_totals = p.all;
    ++m_record.exchanges;
    if (p.all.listed > 0 && p.all.failed == 0) exchange_rows<Row>(s, p, listed);
  }

  sssp_record const& record() const { return m_record; }

 private:
  static constexpr std::uint64_t largest_row = 16;

  /// Return the counters of this rank, and the lengths of its lists. On GPUs, the first call after
  /// a step copies both.
  sssp::fixed_memory const& counters() {
    if constexpr (device::is_device<ExecSpace>) {
      copy_counters();
      return *reinterpret_cast<sssp::fixed_memory const*>(m_memory.counters.data());
    } else {
      return *m_fixed_at;
    }
  }
  counts_type list_lengths() {
    std::uint32_t const* from = m_lengths_at;
    if constexpr (device::is_device<ExecSpace>) {
      copy_counters();
      from = reinterpret_cast<std::uint32_t const*>(m_memory.counters.data() +
                                                    sizeof(sssp::fixed_memory));
    }
    return counts_type(from, from + m_sent.size());
  }
  void copy_counters() {
    if (m_is_copied) return;
    auto const& exec = m_ranks.exec();
    std::size_t const fixed = sizeof(sssp::fixed_memory), all = m_memory.counters.extent(0);
    Kokkos::deep_copy(exec,
                      Kokkos::subview(m_memory.counters, Kokkos::make_pair(std::size_t(0), fixed)),
                      unmanaged<ExecSpace>(reinterpret_cast<std::byte const*>(m_fixed_at), fixed));
    Kokkos::deep_copy(
        exec, Kokkos::subview(m_memory.counters, Kokkos::make_pair(fixed, all)),
        unmanaged<ExecSpace>(reinterpret_cast<std::byte const*>(m_lengths_at), all - fixed));
    exec.fence("karpos::distributed::sssp: counters that decide about the next step");
    m_is_copied = true;
  }
  template <class Row, class Progress>
  void exchange_rows(State const& s, Progress& p, counts_type const& listed) {
    auto const& exec = m_ranks.exec();
    static_assert(sizeof(Row) <= largest_row);
    char const* const label = "karpos::distributed::sssp: rows";
    counts_type counts;
    for (search_totals const& of_rank : m_received) counts.push_back(of_rank.rows);
    std::uint64_t const out = blocks(listed).total, in = blocks(counts).total;
    // The rows of all ranks bound those of each, so that all ranks grow their memory together.
    if (std::uint64_t const all = p.all.listed * sizeof(Row); all > m_memory.bytes) {
      m_memory.bytes = 0;  // unless all ranks succeed, the next exchange allocates again
      std::uint64_t const grown = std::bit_ceil(all), senders = m_sent.size() - 1;
      std::uint64_t const others = s.graph_vertices() - s.vertices;
      run_collectively(m_ranks, [&] {
        m_memory.sent.template reserve<std::byte>(exec, label,
                                                  std::min(grown, others * largest_row));
        m_memory.received.template reserve<std::byte>(
            exec, label, std::min(grown, s.vertices * senders * largest_row));
      });
      m_memory.bytes = grown;
    }
    // Large enough already: this allocates nothing.
    auto const sent = m_memory.sent.template reserve<Row>(exec, label, out);
    auto const received = m_memory.received.template reserve<Row>(exec, label, in);
    device::loop_over("karpos::distributed::sssp: rows of lists", exec, out,
                      pack_lists<State, Row>{s, sent.data()});
    m_ranks.all_to_all(sent, listed, received, counts);
    p.received = received.data();
    p.received_rows = in;
  }

  communicator const& m_ranks;
  exchange_memory<ExecSpace>& m_memory;
  sssp::fixed_memory const* m_fixed_at;
  std::uint32_t const* m_lengths_at;
  bool m_is_copied = false;
  search_totals m_totals{};
  sssp_record m_record{};
  std::vector<search_totals> m_sent, m_received;
};

/// Searches. Throws collective_error on every rank if the search was stopped. Collective.
template <class ExecSpace, class State>
sssp_record run_sssp(karpos::distributed::communicator<ExecSpace> const& ranks, State const& s,
                     frontier::source_list const& sources,
                     device::grid_memory<ExecSpace> const& memory,
                     exchange_memory<ExecSpace>& rows) {
  using loop = sssp::round_loop<State>;
  launched_sssp<ExecSpace, State> grid(
      ranks,
      device::launched_grid<ExecSpace>(ranks.exec(), memory.shape(), memory.scratch(),
                                       memory.words()),
      s, rows);
  typename loop::shared p{};
  loop{s, sources}(grid, p);
  if (p.failed)  // on all ranks
    run_collectively(ranks, [&] { sssp::reject_endless(p.round, p.buckets, s.graph_vertices()); });
  return grid.record();
}

}  // namespace karpos::detail::distributed
