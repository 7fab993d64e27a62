// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/window_labels.hpp"

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
// Once windows have found many of the vertices, a long run begins: no window is committed, the next one starts from the last
// hops in the lists of this one, in their order, so that a thread goes on where its caches are; and when the run ends, one
// pass over all vertices looks at their labels (window_labels.hpp).
//
//   windows     explore, commit | explore, commit | …            until they have found a 32nd of all vertices
//   long run    explore | explore | explore | … | one pass       until a frontier is wide, or nothing more is found
//
// In a long run threads label by plain stores: an atomic operation waits for all that was stored before. Where two of them label
// a vertex at once, the higher label may stay. Both list the vertex, and expand it with the label that they gave it, for only a
// lower one tells them not to; settle_labels, after the window, gives it the lowest again. A vertex may be listed twice with its
// final label then, which costs another look at its row.
//
// Why distances are exact: a label is the length of a walk, so never below the distance. Who gives a vertex a label lists the
// vertex, and expands it in the hop of that label unless it has a lower one by then; so within the window every vertex is expanded
// with the lowest label that it was given. By induction along a shortest path, these are distances up to d + h. A vertex may be listed several times,
// each time with a lower label; the entry whose label stands is the last, and the vertex that it was labelled from has
// its final label, too, one below: it is a parent.
//
// A slice ends early where its list is full, a hop is far wider than the slice, or has too many edges. The window then
// ends with the last hop that all slices have completed: the labels beyond are taken back.
//
// Source: exploring several hops before threads synchronise is PASGAL's way (Dong, Gu, Sun, Wang, "Parallel graph
// algorithms for large-diameter graphs", SPAA 2024: "vertical granularity control").

namespace karpos::detail::bfs {

/// The lists of a window, one for each slice.
struct window_lists {
  std::uint32_t slices = 0;   // 0: there are none
  std::uint32_t hops = 0;     // to explore, or kept
  std::uint64_t entries = 0;  // room of a list
  int memory = 0;  // in which of the two queues of unvisited vertices, and parts, they lie
};

/// What the steps of a window are told.
struct window_shape {
  std::uint32_t vertices = 0;  // of the frontier
  window_lists from;           // whose last hops are the frontier; none: the queue is
  window_lists to;
  bool is_long = false;  // the window is one of a long run
};

template <class State>
KOKKOS_FUNCTION window_part& part_of(State const& s, window_lists const& l, std::uint32_t slice) {
  std::uint32_t const most =
      static_cast<std::uint32_t>(s.window_teams) * State::tuned::slices_of_team;
  return s.window_parts[static_cast<std::uint32_t>(l.memory) * most + slice];
}

/// What the steps know.
template <class StateHandle, class ProgressHandle>
struct window_step : label_step<StateHandle, ProgressHandle> {
  using base = label_step<StateHandle, ProgressHandle>;
  using typename base::State;

  window_shape window;

  /// A single slice is left to the calling thread.
  std::uint64_t work() const { return window.to.slices == 1 ? 0 : ~std::uint64_t(0); }

 protected:
  using base::first_label, base::label_of, base::s;

  /// Runs f(slice) for the slices of this team, the same ones in all steps: they lie side by side.
  template <class Team, class F>
  KOKKOS_FUNCTION void for_each_slice(Team const& team, F const& f) const {
    auto const rank = static_cast<std::uint64_t>(team.league_rank());
    auto const teams = static_cast<std::uint64_t>(team.league_size());
    std::uint32_t const last = border(window.to.slices, rank + 1, teams);
    for (std::uint32_t i = border(window.to.slices, rank, teams); i < last; ++i)
      KARPOS_INLINE_CALLS f(i);
  }
  /// Where part i begins if n are divided into so many parts.
  KOKKOS_FUNCTION static std::uint32_t border(std::uint64_t n, std::uint64_t i,
                                              std::uint64_t parts) {
    return static_cast<std::uint32_t>(n * i / parts);
  }
  KOKKOS_FUNCTION local_vertex* list(window_lists const& l, std::uint32_t slice) const {
    return s->unvisited[l.memory] + slice * l.entries;
  }
  KOKKOS_FUNCTION local_vertex* list(std::uint32_t slice) const { return list(window.to, slice); }
  /// The vertex that each entry was labelled from; written if parents are asked for and the window is committed, whose lists lie in
  /// the other memory then.
  KOKKOS_FUNCTION local_vertex* origins(std::uint32_t slice) const {
    return s->unvisited[1] + slice * window.to.entries;
  }
  KOKKOS_FUNCTION window_part& part(window_lists const& l, std::uint32_t slice) const {
    return part_of(*s, l, slice);
  }
  KOKKOS_FUNCTION void take_back(std::uint32_t slice) const {
    window_part const& of = part(window.to, slice);
    std::uint32_t const last = first_label() + window.to.hops;
    for (std::uint32_t i = of.end[window.to.hops]; i < of.count; ++i) {
      std::uint32_t* const at = label_of(list(slice)[i]);
      if (device::load_relaxed(at) > last) device::store_relaxed(at, ~std::uint32_t(0));
    }
  }
};

/// How vertices are labelled: by atomic minimum, in windows that are committed; by a store, in long runs, where settle_labels follows.
enum class labelling { by_minimum, by_store };

/// A thread's exploration of one slice.
template <class State, labelling Labelling>
class slice_explorer {
 public:
  /// list, origins: room for that many entries; origins may be null, and are not written in long runs.
  KOKKOS_FUNCTION slice_explorer(State const& s, local_vertex* list, local_vertex* origins,
                                 std::uint64_t room)
      : m_state(s),
        m_list(list),
        m_origins(origins),
        m_room(room) {}

  /// Explores up to `hops` hops from `width` vertices, whose label is `label`. frontier(f) runs f(vertices, n) for the parts of these.
  template <class Frontier>
  KARPOS_STEP_FUNCTION void run(Frontier const& frontier, std::uint32_t width, std::uint32_t label,
                                std::uint32_t hops, window_part& part) {
    std::uint32_t const widest =
        Kokkos::max(2 * width, std::uint32_t(State::tuned::window_vertices));
    local_vertex const* hop_before = nullptr;
    std::uint32_t hop = 0;
    part.end[0] = 0;
    while (hop < hops && width > 0 && (hop == 0 || width <= widest)) {
      std::uint32_t const begin = m_count;
      m_edges_left = std::uint64_t(widest) * State::tuned::small_frontier_degree;
      bool all = true;
      if (hop == 0)
        KARPOS_INLINE_CALLS frontier(
            [&](local_vertex const* v, std::uint32_t n) { all = all && expand(v, n, label); });
      else
        all = expand(hop_before, width, label + hop);
      if (!all) break;
      part.end[++hop] = m_count;
      hop_before = m_list + begin;
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
  static constexpr bool tells_origins = Labelling == labelling::by_minimum;
  static constexpr bool needs_origins = tells_origins || !State::follows_every_edge;
  struct row {
    local_vertex vertex;
    edge begin, end;
  };

  /// Expands the vertices of a hop. Returns: whether all.
  KARPOS_STEP_FUNCTION bool expand(local_vertex const* from, std::uint32_t width,
                                   std::uint32_t label) {
    row rows[block];
    for (std::uint32_t first = 0; first < width; first += block) {
      std::uint32_t n = Kokkos::min(std::uint32_t(block), width - first);
      if (!load_rows(from + first, label, rows, n)) return false;
      for (std::uint32_t i = 0; i < n; ++i) gather(rows[i], label + 1);
      claim(label + 1);
    }
    return true;
  }
  /// Loads the rows of those of n vertices that have got no lower label since, and sets n to their number.
  /// Returns: whether there is room for all that they may lead to.
  KARPOS_STEP_FUNCTION bool load_rows(local_vertex const* from, std::uint32_t label,
                                      row (&rows)[block], std::uint32_t& n) {
    // Copies: relaxed loads let no compiler keep pointers of the state in registers.
    auto const out = m_state.out;
    auto const labels = labels_of(m_state);
    std::uint64_t edges = 0;
    std::uint32_t standing = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      row const r{from[i], out.begin(from[i]), out.end(from[i])};
      device::prefetch(out.column + r.begin);
      bool const stands = device::load_relaxed(labels + r.vertex) >= label;  // see settle_labels
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
  KARPOS_STEP_FUNCTION void gather(row const& r, std::uint32_t label) {
    auto const* const column = m_state.out.column;
    auto const labels = labels_of(m_state);
    for (edge e = r.begin; e < r.end; ++e) {
      local_vertex const v = State::local(column[e]);
      m_candidates.add<needs_origins>(v, r.vertex, device::load_relaxed(labels + v) > label);
      if (m_candidates.full()) claim(label);
    }
  }
  /// Labels the candidates.
  KARPOS_STEP_FUNCTION void claim(std::uint32_t label) {
    auto const* const offset = m_state.out.offset;
    auto const labels = labels_of(m_state);
    local_vertex* const listed = m_list;
    std::uint32_t count = m_count;
    int const n = m_candidates.take();
    for (int i = 0; i < n; ++i) {
      local_vertex const v = m_candidates.vertex[i];
      if constexpr (!State::follows_every_edge)
        if (!m_state.follows(m_candidates.from[i], v)) continue;
      bool const lowered = lower(labels + v, label);
      if (Labelling == labelling::by_minimum && !lowered) continue;
      device::prefetch(offset + v);
      listed[count] = v;
      if constexpr (tells_origins)
        if (m_origins != nullptr) m_origins[count] = m_candidates.from[i];
      count += lowered ? 1 : 0;
    }
    m_count = count;
  }
  /// Returns: whether it has lowered the label.
  KARPOS_STEP_FUNCTION static bool lower(std::uint32_t* at, std::uint32_t label) {
    std::uint32_t before = device::load_relaxed(at);
    if constexpr (Labelling == labelling::by_store) {
      // Without a branch: it may write back what another thread has lowered since, which settle_labels puts right.
      device::store_relaxed(at, Kokkos::min(before, label));
      return before > label;
    }
    while (before > label) {
      std::uint32_t const found = device::compare_and_swap(at, before, label);
      if (found == before) return true;
      before = found;
    }
    return false;
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
    for (int l = 0; l < 3; ++l)
      state.clear_counters(team, l);  // those of the frontier have been read
    this->for_each_slice(team, [&](std::uint32_t slice) {
      this->window.is_long ? explore<labelling::by_store>(slice)
                           : explore<labelling::by_minimum>(slice);
    });
  }

 private:
  template <labelling Labelling>
  KARPOS_STEP_FUNCTION void explore(std::uint32_t slice) const {
    window_shape const& w = this->window;
    std::uint32_t const first = this->border(w.vertices, slice, w.to.slices),
                        last = this->border(w.vertices, slice + 1, w.to.slices);
    slice_explorer<State, Labelling> e(*this->s, this->list(slice),
                                       this->s->parent == nullptr ? nullptr : this->origins(slice),
                                       w.to.entries);
    e.run([&](auto const& f) { for_each_part(first, last, f); }, last - first, this->first_label(),
          w.to.hops, this->part(w.to, slice));
  }
  /// Runs f(vertices, n) for the parts of the frontier from `first` to `last`: one of the queue, or some of the lists.
  template <class F>
  KARPOS_STEP_FUNCTION void for_each_part(std::uint32_t first, std::uint32_t last,
                                          F const& f) const {
    State const& state = *this->s;
    window_lists const& from = this->window.from;
    if (from.slices == 0)
      KARPOS_INLINE_CALLS f(
          state.queue + state.class_begin[by_thread] + this->p->head[by_thread] + first,
          last - first);
    std::uint32_t at = 0;  // of the frontier, where this list begins
    for (std::uint32_t i = 0; i < from.slices && at < last; ++i) {
      window_part const& part = this->part(from, i);
      std::uint32_t const begin = part.end[from.hops - 1], n = part.end[from.hops] - begin;
      std::uint32_t const low = Kokkos::max(first, at), high = Kokkos::min(last, at + n);
      if (low < high) KARPOS_INLINE_CALLS f(this->list(from, i) + begin + (low - at), high - low);
      at += n;
    }
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
      window_part& part = this->part(this->window.to, slice);
      std::uint32_t const hops = this->window.to.hops;
      for (std::uint32_t hop = 1; hop < hops; ++hop) keep_hop(slice, part, hop);
      if (hops > 0) enqueue_last_hop(team, slice, part);
      this->take_back(slice);
    });
  }

 private:
  /// Keeps an entry if its label still stands. Returns: whether it does.
  KARPOS_STEP_FUNCTION bool keep(std::uint32_t slice, std::uint32_t entry,
                                 std::uint32_t distance) const {
    State const& state = *this->s;
    local_vertex const v = this->list(slice)[entry];
    if (device::load_relaxed(this->label_of(v)) != distance) return false;
    if (state.parent != nullptr) state.parent[v] = State::global(this->origins(slice)[entry]);
    state.hooks.discovered(State::global(v), static_cast<std::int32_t>(distance));
    device::set_bits(state.bitmap(this->p->current) + v / 32, bit_of(v));
    return true;
  }
  KARPOS_STEP_FUNCTION void keep_hop(std::uint32_t slice, window_part& part,
                                     std::uint32_t hop) const {
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
  KARPOS_STEP_FUNCTION void enqueue_last_hop(Team& team, std::uint32_t slice,
                                             window_part const& part) const {
    State const& state = *this->s;
    tile const t = team.template this_tile<width>();
    std::uint32_t const hops = this->window.to.hops, last = this->first_label() + hops;
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
};

/// Takes back the labels beyond the last hop that is kept of a window in a long run.
template <class StateHandle, class ProgressHandle>
struct take_labels_back : window_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::take_labels_back";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    this->for_each_slice(team, [&](std::uint32_t slice) { this->take_back(slice); });
  }
};

/// Gives vertices again the labels that other threads have overwritten by higher ones, in a window of a long run.
template <class StateHandle, class ProgressHandle>
struct settle_labels : window_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::settle_labels";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    this->for_each_slice(team, [&](std::uint32_t slice) {
      window_part const& part = this->part(this->window.to, slice);
      for (std::uint32_t hop = 1; hop <= this->window.to.hops; ++hop)
        for (std::uint32_t i = part.end[hop - 1]; i < part.end[hop]; ++i)
          settle(this->list(slice)[i], this->first_label() + hop);
    });
  }

 private:
  KARPOS_STEP_FUNCTION void settle(local_vertex v, std::uint32_t given) const {
    std::uint32_t* const at = this->label_of(v);
    if (device::load_relaxed(at) > given) device::fetch_min(at, given);
  }
};

/// Decides when to explore a window, and of which shape.
template <class State>
class window_control {
 public:
  /// Returns: whether the frontier is to be explored by a window, and sets its shape.
  bool choose(State const& s, progress const& p, window_shape& w) {
    if (m_levels_to_wait > 0) {
      --m_levels_to_wait;
      return false;
    }
    std::uint32_t const n = p.frontier.in_class[by_thread];
    if (n != p.frontier.vertices() || p.count_only ||
        p.frontier.edges > std::uint64_t(n) * tuned::small_frontier_degree)
      return false;
    w = window_shape{};
    w.is_long = m_found > s.vertices / m_part_before_long_run;
    return give_shape(s, n, w);
  }
  /// The next window of a long run. Returns: whether there is one, and sets its shape.
  bool next(State const& s, window_shape& w) const {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < w.to.slices; ++i) {
      window_part const& part = part_of(s, w.to, i);
      n += part.end[w.to.hops] - part.end[w.to.hops - 1];
    }
    w.from = w.to;
    w.to.memory = 1 - w.from.memory;
    return give_shape(s, n, w);
  }
  /// Told how many vertices a window has found that was committed, and that a long run has ended.
  void count(std::uint64_t found) { m_found += found; }
  void end_long_run() {
    m_found = 0;
    m_part_before_long_run = Kokkos::max(m_part_before_long_run / 2, std::uint64_t(1));
  }
  /// Told how many of the hops that were wanted could be kept: narrower frontiers allow longer windows.
  void learn(std::uint32_t wanted, std::uint32_t kept) {
    m_hops = kept == wanted ? Kokkos::min(2 * wanted, most_hops) : Kokkos::max(kept, 1u);
    if (kept < 2 && kept < wanted) m_levels_to_wait = 8;
  }

 private:
  using tuned = typename State::tuned;
  static constexpr std::uint32_t most_hops = window_part::most_hops;

  /// Cuts a frontier of n vertices. Returns: whether it is narrow.
  bool give_shape(State const& s, std::uint32_t n, window_shape& w) const {
    auto const teams = static_cast<std::uint32_t>(s.window_teams);
    if (n == 0 || n / tuned::widest_slice >= teams * tuned::slices_of_team) return false;
    w.vertices = n;
    w.to.slices = Kokkos::clamp(n / tuned::narrowest_slice, 1u, teams);
    w.to.slices = Kokkos::clamp(n / tuned::good_slice / teams * teams, w.to.slices,
                                teams * tuned::slices_of_team);
    w.to.hops = Kokkos::min(m_hops, w.to.slices == 1 ? most_hops : tuned::window_hops);
    w.to.entries = s.vertices / w.to.slices;
    return true;
  }

  std::uint32_t m_hops = most_hops;
  std::uint64_t m_found = 0, m_part_before_long_run = tuned::part_before_long_run;
  int m_levels_to_wait = 0;
};

/// The hops that all slices of a window have completed.
template <class State>
std::uint32_t complete_hops(State const& s, window_shape const& w) {
  std::uint32_t hops = w.to.hops;
  for (std::uint32_t i = 0; i < w.to.slices; ++i)
    hops = Kokkos::min(hops, part_of(s, w.to, i).complete);
  return hops;
}

/// Totals of one hop of a window that has been committed, but the last.
template <class State>
level_counters totals_of_hop(State const& s, window_shape const& w, std::uint32_t hop) {
  level_counters sum{};
  for (std::uint32_t i = 0; i < w.to.slices; ++i) {
    window_part::totals const& part = part_of(s, w.to, i).of_hop[hop];
    sum.unqueued += part.vertices;
    sum.hubs += part.hubs;
    sum.edges += part.edges;
  }
  return sum;
}

}  // namespace karpos::detail::bfs
