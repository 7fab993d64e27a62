// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "karpos/detail/distributed/edges.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/lane_mask.hpp"

// Exchanges the vertices that ranks have found on a level between launched steps: as bits of the
// status bitmap, or as lists of numbers, if those are not longer. After the search, sends parents
// that one rank has found top-down for another's vertices. Every such proposal is right: a rank
// makes one only for a vertex that no earlier level has reached, and then the next level contains
// the vertex.

namespace karpos::detail::distributed {

/// Two status bitmaps, and the words that belong to this rank.
struct status_words {
  std::uint32_t* now;   // visited before this level
  std::uint32_t* next;  // visited or found
  std::uint64_t words, first, own;

  KOKKOS_FUNCTION std::uint32_t found(std::uint64_t w) const { return next[w] & ~now[w]; }
  KOKKOS_FUNCTION bool is_own(std::uint64_t w) const { return w - first < own; }
};

/// Lists the vertices that were found, of this rank's.
struct list_found {
  using value_type = std::uint64_t;
  status_words s;
  frontier::local_vertex* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& at, bool last_pass) const {
    auto m = lane_mask<32>(s.found(s.first + i));
    if (!last_pass) {
      at += static_cast<std::uint64_t>(m.count());
      return;
    }
    for (; m; m = m.without_first())
      to[at++] = static_cast<frontier::local_vertex>((s.first + i) * 32 +
                                                     static_cast<std::uint64_t>(m.first()));
  }
};

struct add_found {
  status_words s;
  frontier::local_vertex const* list;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    device::set_bits(s.next + list[i] / 32, frontier::bit_of(list[i]));
  }
};

/// Clears found vertices in `next` in the words of other ranks.
struct clear_others {
  status_words s;
  KOKKOS_FUNCTION void operator()(std::uint64_t w) const {
    if (!s.is_own(w)) s.next[w] = s.now[w];
  }
};

/// The exchanges of a search. Its buffers are allocated once.
template <class ExecSpace>
class found_exchange {
  template <class T>
  using array = Kokkos::View<T*, typename ExecSpace::memory_space>;
  using list_type = array<frontier::local_vertex>;
  using counts_type = std::vector<std::uint64_t>;

 public:
  found_exchange() = default;
  /// word_counts: number of words of each rank.
  found_exchange(karpos::distributed::communicator<ExecSpace> const& ranks,
                 counts_type const& word_counts)
      : m_ranks(&ranks),
        m_word_counts(word_counts) {
    m_words = blocks(word_counts).total;
    auto const own = word_counts[static_cast<std::size_t>(ranks.rank())];
    m_own = distributed::allocate<std::uint32_t>(ranks.exec(), "karpos::bfs: own words", own);
    // Lists are sent only if they are not longer than the bitmap.
    m_list =
        distributed::allocate<frontier::local_vertex>(ranks.exec(), "karpos::bfs: list", m_words);
  }

  /// Returns the memory that send_lists and merge_own write the lists of all ranks to.
  frontier::local_vertex const* gathered() const { return m_list.data(); }
  /// Sends a list of each rank's to all. counts: their lengths. Collective.
  void send_lists(frontier::local_vertex const* mine, counts_type const& counts) {
    std::uint64_t const own = counts[static_cast<std::size_t>(m_ranks->rank())];
    m_ranks->all_gather(
        unmanaged<ExecSpace>(mine, own),
        Kokkos::subview(m_list, Kokkos::make_pair(std::uint64_t(0), blocks(counts).total)), counts);
    ++lists;
  }
  /// Writes the OR of the bitmaps of all ranks to another bitmap. Collective.
  void merge_bits(std::uint32_t const* mine, std::uint32_t* merged) {
    auto const to = unmanaged<ExecSpace>(merged, m_words);
    Kokkos::deep_copy(m_ranks->exec(), to, unmanaged<ExecSpace>(mine, m_words));
    m_ranks->all_reduce(to, karpos::distributed::bit_or{});
    ++bitmaps;
  }
  /// Merges what all ranks have found into `next`. Each has found only vertices of its own; counts:
  /// how many. `list` is memory for a list of this rank's. Collective.
  void merge_own(status_words const& s, frontier::local_vertex* list, counts_type const& counts) {
    auto const& exec = m_ranks->exec();
    device::loop_over("karpos::bfs: clear others", exec, s.words, clear_others{s});
    std::uint64_t const total = blocks(counts).total;
    if (total > m_words) {
      Kokkos::deep_copy(exec, m_own, unmanaged<ExecSpace>(s.next + s.first, s.own));
      m_ranks->all_gather(m_own, unmanaged<ExecSpace>(s.next, s.words), m_word_counts);
      ++bitmaps;
      return;
    }
    if (counts[static_cast<std::size_t>(m_ranks->rank())] > 0)
      Kokkos::parallel_scan("karpos::bfs: list found", index_range(exec, s.own),
                            list_found{s, list});
    send_lists(list, counts);
    device::loop_over("karpos::bfs: add found", exec, total, add_found{s, m_list.data()});
  }

  std::uint32_t lists = 0, bitmaps = 0;  // levels that a search has sent as such

 private:
  karpos::distributed::communicator<ExecSpace> const* m_ranks = nullptr;
  counts_type m_word_counts;
  std::uint64_t m_words = 0;
  array<std::uint32_t> m_own;
  list_type m_list;
};

/// Lists vertices of other ranks, each with the parent that this rank has proposed.
template <class VertexId>
struct list_proposals {
  using value_type = std::uint64_t;
  VertexId const* proposal;
  edge_row<VertexId>* to;  // null: counts the rows only
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& at, bool last_pass) const {
    if (proposal[v] == no_source<VertexId>) return;
    if (last_pass && to != nullptr) to[at] = {static_cast<VertexId>(v), proposal[v]};
    ++at;
  }
};

/// Copies the parents that other ranks have proposed. If there are several for a vertex, one stays.
template <class VertexId>
struct store_proposals {
  edge_row<VertexId> const* rows;
  VertexId* parent;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    VertexId& of = parent[static_cast<std::uint64_t>(rows[i].key) - first];
    Kokkos::atomic_compare_exchange(&of, no_source<VertexId>, rows[i].value);
  }
};

/// Writes missing parents. parent: of this rank's vertices; proposal: of all. Collective.
template <class ExecSpace, class Graph, class VertexId>
void complete_parents(karpos::distributed::communicator<ExecSpace> const& ranks, Graph const& graph,
                      VertexId* parent, VertexId const* proposal) {
  auto const& exec = ranks.exec();
  reusable_memory<ExecSpace> sent, received_memory;
  auto const split = run_collectively(ranks, [&] {
    auto const all = index_range(exec, graph.vertices());
    std::uint64_t n = 0;
    Kokkos::parallel_scan("karpos::bfs: count proposals", all,
                          list_proposals<VertexId>{proposal, nullptr}, n);
    auto const rows = distributed::allocate<edge_row<VertexId>>(exec, "karpos::bfs: proposals", n);
    Kokkos::parallel_scan("karpos::bfs: list proposals", all,
                          list_proposals<VertexId>{proposal, rows.data()});
    return split_by_source(exec, sent, graph.begins(), ranks.size(), rows);
  });
  auto const received = send_to_owners(ranks, split, received_memory);
  device::loop_over("karpos::bfs: store proposals", exec, received.extent(0),
                    store_proposals<VertexId>{received.data(), parent, graph.first()});
  exec.fence("karpos::bfs: parents");
}

}  // namespace karpos::detail::distributed
