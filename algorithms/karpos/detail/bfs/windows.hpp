// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/queue.hpp"
#include "karpos/device/team.hpp"

// Windows: several levels of a narrow frontier between two meetings of the threads. Road networks, meshes and chains
// have thousands of levels with few vertices each; level by level, threads wait for each other longer than they work,
// and fetch from each other's caches what the last level wrote. CPUs only.
//
//   explore_window   The frontier, at distance d, is cut into slices. A thread goes up to h hops from a slice by
//                    itself: it labels vertices with distances by atomic minimum, and lists what it has labelled:
//
//                      list of a slice   |hop 1 ……|hop 2 …|hop 3 ……|    the vertices of hop k were labelled d + k
//
//   commit_window    Keeps the entries whose label still stands: visited bits, parents, hooks, totals of the levels;
//                    those of the last hop enter the frontier queue.
//
// Why distances are exact: a label is the length of a walk, so never below the distance. Who lowers a label lists the
// vertex, and expands it in the hop of that label; so within the window every vertex is expanded with its final label.
// By induction along a shortest path, final labels up to d + h are distances. A vertex may be listed several times,
// each time with a lower label; the entry whose label stands is the last, and the vertex that it was labelled from has
// its final label, too, one below: it is a parent.
//
// A slice ends early where its list is full, a hop is far wider than the slice, or has too many edges. The window then
// ends with the last hop that all slices have completed: commit_window takes back the labels beyond.
//
// Source: exploring several hops before threads synchronise is PASGAL's way (Dong, Gu, Sun, Wang, "Parallel graph
// algorithms for large-diameter graphs", SPAA 2024: "vertical granularity control").

namespace karpos::detail::bfs {

/// What the steps of a window are told.
struct window_shape {
  std::uint32_t vertices = 0;      // of the frontier
  std::uint32_t slices = 1;        // of it
  std::uint32_t hops = 0;          // to explore; for commit_window, to keep
  std::uint64_t list_entries = 0;  // of a slice
};

/// What both steps know. Lists lie in the memory of the queues of unvisited vertices.
template <class StateHandle, class ProgressHandle>
struct window_step {
  using State = typename StateHandle::state;

  StateHandle s;
  ProgressHandle p;
  window_shape window;

  /// A single slice is left to the calling thread.
  std::uint64_t work() const { return window.slices == 1 ? 0 : ~std::uint64_t(0); }

 protected:
  /// Runs f(slice) for the slices of this team: the same ones in both steps.
  template <class Team, class F>
  KOKKOS_FUNCTION void for_each_slice(Team const& team, F const& f) const {
    for (auto i = static_cast<std::uint32_t>(team.league_rank()); i < window.slices;
         i += static_cast<std::uint32_t>(team.league_size()))
      f(i);
  }
  KOKKOS_FUNCTION local_vertex* list(std::uint32_t slice) const {
    return s->unvisited[0] + slice * window.list_entries;
  }
  /// The vertex that each entry was labelled from; written if parents are asked for.
  KOKKOS_FUNCTION local_vertex* origins(std::uint32_t slice) const {
    return s->unvisited[1] + slice * window.list_entries;
  }
  /// The distance of the frontier.
  KOKKOS_FUNCTION std::uint32_t first_label() const { return static_cast<std::uint32_t>(p->level); }
  /// The label of a vertex: its distance, unsigned, so that -1 is above every other.
  KOKKOS_FUNCTION static std::uint32_t* label_of(State const& s, local_vertex v) {
    return reinterpret_cast<std::uint32_t*>(s.distance + v);
  }
};

/// A thread's exploration of one slice.
template <class State>
class slice_explorer {
 public:
  /// list, origins: room for that many entries; origins may be null.
  KOKKOS_FUNCTION slice_explorer(State const& s, local_vertex* list, local_vertex* origins,
                                 std::uint64_t room)
      : m_state(s),
        m_list(list),
        m_origins(origins),
        m_room(room) {}

  /// Explores up to `hops` hops from the `width` vertices at `frontier`, whose label is `label`.
  KOKKOS_FUNCTION void run(local_vertex const* frontier, std::uint32_t width, std::uint32_t label,
                           std::uint32_t hops, window_part& part) {
    std::uint32_t const widest =
        Kokkos::max(2 * width, std::uint32_t(State::tuned::window_vertices));
    std::uint32_t hop = 0;
    part.end[0] = 0;
    while (hop < hops && width > 0 && (hop == 0 || width <= widest)) {
      std::uint32_t const begin = m_count;
      m_edges_left = std::uint64_t(widest) * State::tuned::small_frontier_degree;
      if (!expand(frontier, width, label + hop)) break;
      part.end[++hop] = m_count;
      frontier = m_list + begin;
      width = m_count - begin;
    }
    part.complete = hop;
    part.count = m_count;
    if (width > 0) return;
    part.complete = hops;  // there is nothing beyond
    while (hop < hops) part.end[++hop] = m_count;
  }

 private:
  using edge = typename State::edge;
  /// Vertices that are expanded together, so that their memory accesses overlap.
  static constexpr std::uint32_t block = 32;
  struct row {
    local_vertex vertex;
    edge begin, end;
  };

  /// Expands the vertices of a hop. Returns: whether all.
  KOKKOS_FUNCTION bool expand(local_vertex const* from, std::uint32_t width, std::uint32_t label) {
    row rows[block];
    for (std::uint32_t first = 0; first < width; first += block) {
      std::uint32_t n = Kokkos::min(std::uint32_t(block), width - first);
      if (!load_rows(from + first, label, rows, n)) return false;
      for (std::uint32_t i = 0; i < n; ++i) gather(rows[i], label + 1);
      claim(label + 1);
    }
    return true;
  }
  /// Loads the rows of those of n vertices that still have this label, and sets n to their number.
  /// Returns: whether there is room for all that they may lead to.
  KOKKOS_FORCEINLINE_FUNCTION bool load_rows(local_vertex const* from, std::uint32_t label,
                                             row (&rows)[block], std::uint32_t& n) {
    std::uint64_t edges = 0;
    std::uint32_t standing = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      row const r{from[i], m_state.out.begin(from[i]), m_state.out.end(from[i])};
      device::prefetch(m_state.out.column + r.begin);
      bool const stands = device::load_relaxed(label_of(r.vertex)) == label;
      rows[standing] = r;
      standing += stands ? 1 : 0;
      edges += stands ? r.end - r.begin : 0;
    }
    n = standing;
    if (edges > m_edges_left || edges > m_room - m_count) return false;
    m_edges_left -= edges;
    return true;
  }
  /// Lists the neighbours whose labels are above this one.
  KOKKOS_FORCEINLINE_FUNCTION void gather(row const& r, std::uint32_t label) {
    for (edge e = r.begin; e < r.end; ++e) {
      local_vertex const v = State::local(m_state.out.column[e]);
      m_candidates.add(v, r.vertex, device::load_relaxed(label_of(v)) > label);
      if (m_candidates.full()) claim(label);
    }
  }
  /// Labels the candidates.
  KOKKOS_FORCEINLINE_FUNCTION void claim(std::uint32_t label) {
    int const n = m_candidates.take();
    for (int i = 0; i < n; ++i) {
      local_vertex const v = m_candidates.vertex[i], from = m_candidates.from[i];
      if (!m_state.follows(from, v) || !lower(label_of(v), label)) continue;
      device::prefetch(m_state.out.offset + v);
      m_list[m_count] = v;
      if (m_origins != nullptr) m_origins[m_count] = from;
      ++m_count;
    }
  }
  /// Atomic minimum. Returns: whether it has lowered the label.
  KOKKOS_FORCEINLINE_FUNCTION static bool lower(std::uint32_t* at, std::uint32_t label) {
    std::uint32_t before = device::load_relaxed(at);
    while (before > label) {
      std::uint32_t const found = device::compare_and_swap(at, before, label);
      if (found == before) return true;
      before = found;
    }
    return false;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t* label_of(local_vertex v) const {
    return reinterpret_cast<std::uint32_t*>(m_state.distance + v);
  }

  State const& m_state;
  local_vertex *m_list, *m_origins;
  std::uint64_t m_room, m_edges_left = 0;
  std::uint32_t m_count = 0;
  candidates m_candidates;
};

template <class StateHandle, class ProgressHandle>
struct explore_window : window_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::explore_window";
  using State = typename StateHandle::state;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    window_shape const& w = this->window;
    for (int l = 0; l < 3; ++l)
      state.clear_counters(team, l);  // those of the frontier have been read
    local_vertex const* const frontier =
        state.queue + state.class_begin[by_thread] + this->p->head[by_thread];
    this->for_each_slice(team, [&](std::uint32_t slice) {
      std::uint64_t const first = std::uint64_t(w.vertices) * slice / w.slices;
      std::uint64_t const last = std::uint64_t(w.vertices) * (slice + 1) / w.slices;
      slice_explorer<State> e(state, this->list(slice),
                              state.parent == nullptr ? nullptr : this->origins(slice),
                              w.list_entries);
      e.run(frontier + first, static_cast<std::uint32_t>(last - first), this->first_label(), w.hops,
            state.window_parts[slice]);
    });
  }
};

template <class StateHandle, class ProgressHandle>
struct commit_window : window_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::commit_window";
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  using tile = typename State::tile;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    this->for_each_slice(team, [&](std::uint32_t slice) {
      window_part& part = this->s->window_parts[slice];
      std::uint32_t const hops = this->window.hops;
      for (std::uint32_t hop = 1; hop < hops; ++hop) keep_hop(slice, part, hop);
      if (hops > 0) enqueue_last_hop(team, slice, part);
      take_back(slice, part);
    });
  }

 private:
  /// Keeps an entry if its label still stands. Returns: whether it does.
  KOKKOS_FORCEINLINE_FUNCTION bool keep(std::uint32_t slice, std::uint32_t entry,
                                        std::uint32_t distance) const {
    State const& state = *this->s;
    local_vertex const v = this->list(slice)[entry];
    if (device::load_relaxed(this->label_of(state, v)) != distance) return false;
    if (state.parent != nullptr) state.parent[v] = State::global(this->origins(slice)[entry]);
    state.hooks.discovered(State::global(v), static_cast<std::int32_t>(distance));
    device::set_bits(state.bitmap(this->p->current) + v / 32, bit_of(v));
    return true;
  }
  KOKKOS_FUNCTION void keep_hop(std::uint32_t slice, window_part& part, std::uint32_t hop) const {
    window_part::totals sum{};
    for (std::uint32_t i = part.end[hop - 1]; i < part.end[hop]; ++i) {
      if (!keep(slice, i, this->first_label() + hop)) continue;
      std::uint64_t const degree = this->s->out.degree(this->list(slice)[i]);
      ++sum.vertices;
      sum.edges += degree;
      sum.hubs += degree > this->s->hub_degree ? 1 : 0;
    }
    part.of_hop[hop] = sum;
  }
  template <class Team>
  KOKKOS_FUNCTION void enqueue_last_hop(Team& team, std::uint32_t slice,
                                        window_part const& part) const {
    State const& state = *this->s;
    tile const t = team.template this_tile<width>();
    std::uint32_t const hops = this->window.hops, last = this->first_label() + hops;
    frontier_bin<State> found(
        team.template tile_scratch<width>(0, frontier_bin<State>::bytes),
        frontier_writer<State>(t, state, this->p->tail,
                               &state.counters(static_cast<std::int32_t>(last))));
    for (std::uint32_t i = part.end[hops - 1]; i < part.end[hops]; i += width) {
      auto const entry = [&](int lane) { return i + static_cast<std::uint32_t>(lane); };
      auto const kept = t.each([&](int lane) -> std::uint32_t {
        return entry(lane) < part.end[hops] && keep(slice, entry(lane), last) ? 1 : 0;
      });
      found.push(t, kept, [&](int lane, int) { return this->list(slice)[entry(lane)]; });
    }
    found.flush(t);
  }
  KOKKOS_FUNCTION void take_back(std::uint32_t slice, window_part const& part) const {
    std::uint32_t const last = this->first_label() + this->window.hops;
    for (std::uint32_t i = part.end[this->window.hops]; i < part.count; ++i) {
      std::uint32_t* const at = this->label_of(*this->s, this->list(slice)[i]);
      if (device::load_relaxed(at) > last) device::store_relaxed(at, ~std::uint32_t(0));
    }
  }
};

/// Decides when to explore a window, and of which shape.
template <class State>
class window_control {
 public:
  /// Returns: whether the frontier is to be explored by a window, and sets its shape.
  bool choose(State const& s, progress const& p, window_shape& w) {
    using tuned = typename State::tuned;
    if (m_levels_to_wait > 0) {
      --m_levels_to_wait;
      return false;
    }
    std::uint32_t const n = p.frontier.in_class[by_thread];
    auto const teams = static_cast<std::uint32_t>(s.window_teams);
    if (n == 0 || n != p.frontier.vertices() || p.count_only ||
        p.frontier.edges > std::uint64_t(n) * tuned::small_frontier_degree ||
        n / tuned::widest_slice >= teams * tuned::slices_of_team)
      return false;
    w.vertices = n;
    w.slices = Kokkos::clamp(n / tuned::narrowest_slice, 1u, teams);
    w.slices = Kokkos::clamp(n / tuned::good_slice / teams * teams, w.slices,
                             teams * tuned::slices_of_team);
    w.hops = Kokkos::min(m_hops, w.slices == 1 ? most_hops : tuned::window_hops);
    w.list_entries = s.vertices / w.slices;
    return true;
  }
  /// Told how many of the hops that were wanted could be kept: narrower frontiers allow longer windows.
  void learn(std::uint32_t wanted, std::uint32_t kept) {
    m_hops = kept == wanted ? Kokkos::min(2 * wanted, most_hops) : Kokkos::max(kept, 1u);
    if (kept < 2 && kept < wanted) m_levels_to_wait = 8;
  }

 private:
  static constexpr std::uint32_t most_hops = window_part::most_hops;
  std::uint32_t m_hops = most_hops;
  int m_levels_to_wait = 0;
};

/// The hops that all slices of a window have completed.
template <class State>
std::uint32_t complete_hops(State const& s, window_shape const& w) {
  std::uint32_t hops = w.hops;
  for (std::uint32_t i = 0; i < w.slices; ++i) hops = Kokkos::min(hops, s.window_parts[i].complete);
  return hops;
}

/// Totals of one hop of a window that has been committed, but the last.
template <class State>
level_counters totals_of_hop(State const& s, window_shape const& w, std::uint32_t hop) {
  level_counters sum{};
  for (std::uint32_t i = 0; i < w.slices; ++i) {
    window_part::totals const& part = s.window_parts[i].of_hop[hop];
    sum.unqueued += part.vertices;
    sum.hubs += part.hubs;
    sum.edges += part.edges;
  }
  return sum;
}

}  // namespace karpos::detail::bfs
