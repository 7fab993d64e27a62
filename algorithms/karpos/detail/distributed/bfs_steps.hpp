// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/distributed/edges.hpp"
#include "karpos/detail/graph/bfs/scan.hpp"
#include "karpos/detail/graph/bfs/start.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/lane_mask.hpp"

// The steps of a search over ranks beside those of detail/graph/bfs. `State`: rank_state.

namespace karpos::detail::distributed {

/// Runs f(w, now[w], next[w]) for every word of both status bitmaps, each on a lane of the grid. A
/// lane loads four words of each at once: the latency of the L2 cache bounds passes over bitmaps.
template <class State, class Team, class F>
KOKKOS_FUNCTION void for_each_status_word(Team& team, State const& s, int current, F const& f) {
  struct alignas(16) four {
    std::uint32_t word[4];
  };
  std::uint32_t const* const now = s.bitmap(current);
  std::uint32_t const* const next = s.bitmap(1 - current);
  std::uint64_t const fours = s.words / 4;
  frontier::for_each_index<State::width>(team, fours + 1, [&](std::uint64_t i) {
    if (i < fours) {
      four const a = reinterpret_cast<four const*>(now)[i];
      four const b = reinterpret_cast<four const*>(next)[i];
      for (std::uint64_t k = 0; k < 4; ++k) f(4 * i + k, a.word[k], b.word[k]);
    } else {
      for (std::uint64_t w = 4 * fours; w < s.words; ++w) f(w, now[w], next[w]);
    }
  });
}

/// Starts a search: clears the distances and parents of this rank's vertices, and marks the
/// isolated vertices of the whole graph as visited, and no others. A single source, isolated or
/// not, gets itself as a parent.
template <class StateHandle>
struct reset_rank {
  static constexpr char const* label = "karpos::bfs::reset_rank";
  using State = typename StateHandle::state;
  using vertex_id = typename State::vertex_id;

  StateHandle s;
  frontier::source_list sources;

  std::uint64_t work() const { return s->vertices; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    constexpr int width = State::width;
    for (int l = 0; l < 3; ++l) s->clear_counters(team, l);
    std::uint64_t const first = 32 * s->first_word();
    bool const single = sources.list == nullptr && sources.count == 1;
    bfs::reset_distances<width>(team, s->distance + first, s->own_vertices());
    if (s->parent != nullptr)
      frontier::for_each_index<width>(team, s->own_vertices(), [&](std::uint64_t i) {
        bool const is_source = single && first + i == sources.single;
        s->parent[first + i] = static_cast<vertex_id>(is_source ? first + i : ~std::uint64_t(0));
      });
    if (s->proposal != nullptr)
      frontier::for_each_index<width>(
          team, s->vertices, [&](std::uint64_t v) { s->proposal[v] = no_source<vertex_id>; });
    frontier::for_each_index<width>(team, s->words, [&](std::uint64_t w) {
      s->visited[0][w] = s->isolated[w];
      s->visited[1][w] = 0;
    });
  }
};

/// Makes a single source the first frontier, as a scan of its mark would.
template <class StateHandle, class ProgressHandle>
struct seed_single {
  static constexpr char const* label = "karpos::bfs::seed_single";

  StateHandle s;
  ProgressHandle p;
  std::uint64_t source;

  std::uint64_t work() const { return 1; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    if (team.league_rank() != 0 || team.rank() != 0) return;
    auto const& state = *s;
    state.bitmap(p->current)[source / 32] |= frontier::bit_of(source);
    if (!state.is_own_word(source / 32)) return;
    auto const v = static_cast<frontier::local_vertex>(source);
    state.distance[source] = 0;
    state.hooks.discovered(state.global(v), 0);
    std::uint64_t const degree = state.out.degree(source);
    int const c = state.class_of(degree);
    state.queue[state.class_begin[c] + p->tail[c]] = v;
    frontier::level_counters& to = state.counters(0);
    to.in_class[c] = 1;
    to.edges = degree;
    to.hubs = degree > state.hub_degree ? 1 : 0;
  }
};

/// Marks every source of a list as found, and makes it its own parent.
template <class StateHandle>
struct mark_sources {
  static constexpr char const* label = "karpos::bfs::mark_sources";
  using State = typename StateHandle::state;
  using vertex_id = typename State::vertex_id;

  StateHandle s;
  frontier::source_list sources;

  std::uint64_t work() const { return sources.count; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    frontier::for_each_index<State::width>(team, sources.count, [&](std::uint64_t i) {
      std::uint64_t const v = static_cast<vertex_id const*>(sources.list)[i];
      std::uint32_t const bit = frontier::bit_of(v);
      device::set_bits(s->visited[1] + v / 32, bit);
      device::clear_bits(s->visited[0] + v / 32, bit);
      if (s->parent == nullptr || !s->is_own_word(v / 32)) return;
      s->parent[v] = static_cast<vertex_id>(v);
      s->propose_parent(static_cast<frontier::local_vertex>(v),
                        static_cast<frontier::local_vertex>(v));
    });
  }
};

/// Sends the vertices that this rank has marked top-down to the other ranks, if windows are open.
template <class StateHandle, class ProgressHandle>
struct send_marks {
  static constexpr char const* label = "karpos::bfs::send_marks";
  using State = typename StateHandle::state;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return s->words; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t* const words = s->bitmap(1 - p->current);
    for_each_status_word(team, *s, p->current,
                         [&](std::uint64_t w, std::uint32_t now, std::uint32_t next) {
                           std::uint32_t const marked = next & ~now;
                           if (marked == 0) return;
                           for (int r = 0; r < s->peers.count; ++r)
                             if (r != s->peers.rank)
                               device::set_bits_of_peer(s->peers.of(r, words + w), marked);
                         });
  }
};

/// Runs scan_count for this rank's words; makes the vertices found in other ranks' words visited.
template <class StateHandle, class ProgressHandle>
struct commit_and_count : bfs::scan_count<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::commit_and_count";

  std::uint64_t work() const { return this->s->words; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    auto const& state = *this->s;
    std::uint32_t* const words = state.bitmap(this->p->current);
    for_each_status_word(team, state, this->p->current,
                         [&](std::uint64_t w, std::uint32_t now, std::uint32_t next) {
                           if ((next & ~now) != 0 && !state.is_own_word(w)) words[w] = now | next;
                         });
    bfs::scan_count<StateHandle, ProgressHandle>::operator()(team);
  }
};

/// Makes marked vertices visited before a bottom-up level, which reads no queue: one pass, not two.
template <class StateHandle, class ProgressHandle>
struct commit_marks {
  static constexpr char const* label = "karpos::bfs::commit_marks";
  using State = typename StateHandle::state;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return s->words; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t* const words = s->bitmap(p->current);
    std::uint64_t found = 0, edges = 0, all_found = 0, all_edges = 0;
    for_each_status_word(team, *s, p->current,
                         [&](std::uint64_t w, std::uint32_t now, std::uint32_t next) {
                           lane_mask<32> marked(next & ~now);
                           if (!marked) return;
                           words[w] = now | next;
                           if (!s->is_own_word(w)) return;
                           found += static_cast<std::uint64_t>(marked.count());
                           for (; marked; marked = marked.without_first())
                             edges += discover(static_cast<frontier::local_vertex>(
                                 w * 32 + static_cast<std::uint64_t>(marked.first())));
                         });
    team.prefix_sum(found, all_found);
    team.prefix_sum(edges, all_edges);
    if (team.rank() != 0 || all_found == 0) return;
    frontier::level_counters& to = s->counters(p->level + 1);
    device::add(&to.unqueued, static_cast<std::uint32_t>(all_found));
    device::add(&to.edges, all_edges);
  }

 private:
  KOKKOS_FUNCTION std::uint64_t discover(frontier::local_vertex v) const {
    s->distance[v] = p->level + 1;
    s->load_parent(v);
    s->hooks.discovered(State::global(v), p->level + 1);
    return s->out.degree(v);
  }
};

}  // namespace karpos::detail::distributed
