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

// Exchanges the vertices that ranks have found on a level: as bits of the status bitmap, or as a
// list of numbers, whichever is shorter. After the search, sends parents that one rank has found
// top-down for another's vertices. Every such proposal is right: a rank makes one only for a vertex
// that no earlier level has reached, and then the next level contains the vertex.

namespace karpos::detail::distributed {

/// Two status bitmaps, and the words that belong to this rank.
struct status_words {
  std::uint32_t* now;   // visited before this level
  std::uint32_t* next;  // visited or found
  std::uint64_t words, first, own;

  KOKKOS_FUNCTION std::uint32_t found(std::uint64_t w) const { return next[w] & ~now[w]; }
  KOKKOS_FUNCTION bool is_own(std::uint64_t w) const { return w - first < own; }
};

/// Counts the vertices that were found, in the words from `begin` on.
struct count_found {
  status_words s;
  std::uint64_t begin;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    n += static_cast<std::uint64_t>(lane_mask<32>(s.found(begin + i)).count());
  }
};

/// Lists the vertices that were found, in the words from `begin` on.
struct list_found {
  using value_type = std::uint64_t;
  status_words s;
  std::uint64_t begin;
  frontier::local_vertex* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& at, bool last_pass) const {
    auto m = lane_mask<32>(s.found(begin + i));
    if (!last_pass) {
      at += static_cast<std::uint64_t>(m.count());
      return;
    }
    for (; m; m = m.without_first())
      to[at++] = static_cast<frontier::local_vertex>((begin + i) * 32 +
                                                     static_cast<std::uint64_t>(m.first()));
  }
};

/// Adds a list to the vertices that were found.
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
    // A list is sent only if it is not longer than the bitmap.
    m_sent =
        distributed::allocate<frontier::local_vertex>(ranks.exec(), "karpos::bfs: sent", m_words);
    m_list =
        distributed::allocate<frontier::local_vertex>(ranks.exec(), "karpos::bfs: list", m_words);
  }

  /// Merges what all ranks have found into `next`. Any rank may have found any vertex. Collective.
  void merge_all(status_words const& s) {
    auto const& exec = m_ranks->exec();
    if (m_ranks->size() == 1) return;
    std::uint64_t const mine = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::bfs: count found", exec, s.words, count_found{s, 0});
    if (!try_send_list(s, 0, s.words, mine)) {
      m_ranks->all_reduce(words_at(s.next, s.words), karpos::distributed::bit_or{});
      ++bitmaps;
    }
  }
  /// Merges what all ranks have found into `next`. Each has found only vertices of its own; this
  /// rank, `mine` of them. Collective.
  void merge_own(status_words const& s, std::uint64_t mine) {
    auto const& exec = m_ranks->exec();
    if (m_ranks->size() == 1) return;
    device::loop_over("karpos::bfs: clear others", exec, s.words, clear_others{s});
    if (try_send_list(s, s.first, s.own, mine)) return;
    Kokkos::deep_copy(exec, m_own, words_at(s.next + s.first, s.own));
    m_ranks->all_gather(m_own, words_at(s.next, s.words), m_word_counts);
    ++bitmaps;
  }

  std::uint32_t lists = 0, bitmaps = 0;  // levels that a search has sent as such

 private:
  static auto words_at(std::uint32_t* words, std::uint64_t n) {
    return Kokkos::View<std::uint32_t*, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged>(
        words, n);
  }
  /// Sends what this rank has found in some words as a list, and returns true, if that is shorter.
  bool try_send_list(status_words const& s, std::uint64_t first, std::uint64_t words,
                     std::uint64_t mine) {
    auto const& exec = m_ranks->exec();
    counts_type const counts = m_ranks->all_gather(mine);
    std::uint64_t const total = blocks(counts).total;
    if (total > m_words) return false;
    if (mine > 0)
      Kokkos::parallel_scan("karpos::bfs: list found", index_range(exec, words),
                            list_found{s, first, m_sent.data()});
    auto const part = [](list_type const& list, std::uint64_t n) {
      return Kokkos::subview(list, Kokkos::make_pair(std::uint64_t(0), n));
    };
    m_ranks->all_gather(part(m_sent, mine), part(m_list, total), counts);
    device::loop_over("karpos::bfs: add found", exec, total, add_found{s, m_list.data()});
    ++lists;
    return true;
  }

  karpos::distributed::communicator<ExecSpace> const* m_ranks = nullptr;
  counts_type m_word_counts;
  std::uint64_t m_words = 0;
  array<std::uint32_t> m_own;
  list_type m_sent, m_list;
};

/// Copies the parents that this rank has proposed for its own vertices.
template <class VertexId>
struct store_own_proposals {
  VertexId* parent;
  VertexId const* proposal;  // for this rank's vertices
  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    if (parent[v] == no_source<VertexId>) parent[v] = proposal[v];
  }
};

/// Lists vertices of other ranks, each with the parent that this rank has proposed.
template <class VertexId>
struct list_proposals {
  using value_type = std::uint64_t;
  VertexId const* proposal;
  std::uint64_t first, own;
  edge_row<VertexId>* to;  // null: counts the rows only
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& at, bool last_pass) const {
    if (v - first < own || proposal[v] == no_source<VertexId>) return;
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
  using row = edge_row<VertexId>;
  auto const& exec = ranks.exec();
  std::uint64_t const first = graph.first(), own = graph.local().vertices();
  device::loop_over("karpos::bfs: store own proposals", exec, own,
                    store_own_proposals<VertexId>{parent, proposal + first});
  if (ranks.size() == 1) {
    exec.fence("karpos::bfs: parents");
    return;
  }
  reusable_memory<ExecSpace> sent, received_memory;
  auto const split = run_collectively(ranks, [&] {
    auto const all = index_range(exec, graph.vertices());
    std::uint64_t n = 0;
    Kokkos::parallel_scan("karpos::bfs: count proposals", all,
                          list_proposals<VertexId>{proposal, first, own, nullptr}, n);
    auto const rows = distributed::allocate<row>(exec, "karpos::bfs: proposals", n);
    Kokkos::parallel_scan("karpos::bfs: list proposals", all,
                          list_proposals<VertexId>{proposal, first, own, rows.data()});
    return split_by_source(exec, sent, graph.begins(), ranks.size(), rows);
  });
  auto const received = send_to_owners(ranks, split, received_memory);
  device::loop_over("karpos::bfs: store proposals", exec, received.extent(0),
                    store_proposals<VertexId>{received.data(), parent, first});
  exec.fence("karpos::bfs: parents");
}

}  // namespace karpos::detail::distributed
