// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs/deferred_commit.hpp"
#include "karpos/detail/graph/frontier/queue.hpp"

// Local search on CPUs: explores several levels of a narrow frontier between two grid barriers. In
// road networks, meshes and chains, which have thousands of narrow levels, threads would wait for
// each other longer than they work, and fetch what the last level wrote from each other's caches.
// The steps:
//
//   explore_slices  The frontier, at distance d, is cut into slices. A thread explores up to h hops
//                   from a slice by itself: it lowers distances of vertices by atomic minimum, and
//                   lists these vertices:
//
//                    list of a slice   |hop 1 ……|hop 2 …|hop 3 ……|
//                    distances          d + 1    d + 2   d + 3
//
//   commit_slices   Keeps the entries whose vertex still has the distance of their hop: sets
//                   visited bits, writes parents, calls hooks, adds totals. The entries of the last
//                   hop enter the frontier queue.
//
// Once committed local searches have found 1/32 of all vertices (the next time 1/16, and so on),
// the commit is deferred. The next local search then starts from the last hops in the lists of the
// one before, in their order, so that a thread goes on where its caches are. At the end, one pass
// over all vertices reads their distances (deferred_commit.hpp).
//
//   committed   explore, commit | explore, commit | …         until 1/32 of all vertices is found.
//   deferred    explore | explore | explore | … | one pass    until a frontier is wide, or empty.
//
// While the commit is deferred, threads write distances by plain stores, because an atomic
// operation waits for all earlier stores. If two threads write a vertex concurrently, the higher
// distance may stay. Both list the vertex, and expand it with the distance that they wrote; then
// repair_distances restores the lowest one. If a vertex is listed twice with its final distance,
// its row is read twice.
//
// Why distances are exact: a tentative distance is the length of a walk, so it is never below the
// true one. The thread that writes a vertex's tentative distance also lists the vertex, and expands
// it in the hop of that distance unless the vertex has a lower one by then. So every vertex is
// expanded with the lowest distance that it got in this local search. By induction along a shortest
// path, these are the true distances up to d + h. A vertex may be listed several times, each time
// with a lower distance; only its last entry is kept. The vertex that it was found from has its
// final distance, one less, and is a parent.
//
// A slice ends early if its list is full, if a hop is far wider than the slice, or if a hop has too
// many edges. The local search then ends with the last hop that all slices have completed, and
// distances beyond it are reset.
//
// Source: several hops before threads synchronise are PASGAL's "vertical granularity control"
// (Dong, Gu, Sun, Wang, "Parallel graph algorithms for large-diameter graphs", SPAA 2024).

namespace karpos::detail::bfs {

struct slice_lists {
  std::uint32_t slices = 0;    // no lists if 0
  std::uint32_t hops = 0;      // to explore, or kept
  std::uint64_t capacity = 0;  // entries that a list can hold
  // Index of the memory that holds the lists: unvisited[memory], and that half of slice_results.
  int memory = 0;
};

/// Arguments of the steps of a local search.
struct local_search_shape {
  std::uint32_t vertices = 0;  // number of vertices in the frontier
  slice_lists from;  // lists whose last hops are the frontier; if there are none, the queue is
  slice_lists to;
  bool is_deferred = false;  // its commit is deferred
};

template <class State>
KOKKOS_FUNCTION slice_result& result_of(State const& s, slice_lists const& l, std::uint32_t slice) {
  std::uint32_t const most = s.grid_teams * State::tuned::slices_of_team;
  return s.slice_results[static_cast<std::uint32_t>(l.memory) * most + slice];
}

/// Base of the steps of a local search.
template <class StateHandle, class ProgressHandle>
struct slice_step : local_search_step<StateHandle, ProgressHandle> {
  using base = local_search_step<StateHandle, ProgressHandle>;
  using typename base::State;

  local_search_shape shape;

  /// The calling thread alone handles a single slice.
  std::uint64_t work() const { return shape.to.slices == 1 ? 0 : ~std::uint64_t(0); }

 protected:
  using base::frontier_distance, base::distance_of, base::s;

  /// Runs f(slice) for this team's slices. They are neighbours, and the same ones in all steps.
  template <class Team, class F>
  KOKKOS_FUNCTION void for_each_slice(Team const& team, F const& f) const {
    auto const [first, last] = slice_of(team, shape.to.slices);
    for (std::uint64_t i = first; i < last; ++i)
      KARPOS_INLINE_CALLS f(static_cast<std::uint32_t>(i));
  }
  KOKKOS_FUNCTION local_vertex* list(slice_lists const& l, std::uint32_t slice) const {
    return s->unvisited[l.memory] + slice * l.capacity;
  }
  KOKKOS_FUNCTION local_vertex* list(std::uint32_t slice) const { return list(shape.to, slice); }
  /// Returns the array of the vertices that entries were found from, in the queue without lists. It
  /// is written if parents are asked for and the local search is committed.
  KOKKOS_FUNCTION local_vertex* origins(std::uint32_t slice) const {
    return s->unvisited[1] + slice * shape.to.capacity;
  }
  KOKKOS_FUNCTION slice_result& result(slice_lists const& l, std::uint32_t slice) const {
    return result_of(*s, l, slice);
  }
  KOKKOS_FUNCTION void roll_back(std::uint32_t slice) const {
    slice_result const& of = result(shape.to, slice);
    std::uint32_t const last = frontier_distance() + shape.to.hops;
    for (std::uint32_t i = of.end[shape.to.hops]; i < of.count; ++i) {
      std::uint32_t* const at = distance_of(list(slice)[i]);
      if (device::load_relaxed(at) > last) device::store_relaxed(at, ~std::uint32_t(0));
    }
  }
};

/// How distances are lowered: by a store if the commit is deferred, and repair_distances follows.
enum class lowering { by_minimum, by_store };

/// One thread's exploration of one slice.
template <class State, lowering Lowering>
class slice_explorer {
 public:
  /// list, origins: `capacity` entries each. origins may be null; a deferred commit needs none.
  KOKKOS_FUNCTION slice_explorer(State const& s, local_vertex* list, local_vertex* origins,
                                 std::uint64_t capacity)
      : m_state(s),
        m_list(list),
        m_origins(origins),
        m_capacity(capacity) {}

  /// Explores up to `hops` hops from `width` vertices at distance `distance`. frontier(f) runs
  /// f(vertices, n) for the pieces of the frontier.
  template <class Frontier>
  KARPOS_STEP_FUNCTION void run(Frontier const& frontier, std::uint32_t width,
                                std::uint32_t distance, std::uint32_t hops, slice_result& result) {
    std::uint32_t const widest =
        Kokkos::max(2 * width, std::uint32_t(State::tuned::narrow_hop_vertices));
    local_vertex const* hop_before = nullptr;
    std::uint32_t hop = 0;
    result.end[0] = 0;
    while (hop < hops && width > 0 && (hop == 0 || width <= widest)) {
      std::uint32_t const begin = m_count;
      m_edge_budget = std::uint64_t(widest) * State::tuned::small_frontier_degree;
      bool all = true;
      if (hop == 0)
        KARPOS_INLINE_CALLS frontier(
            [&](local_vertex const* v, std::uint32_t n) { all = all && expand(v, n, distance); });
      else
        all = expand(hop_before, width, distance + hop);
      if (!all) break;
      result.end[++hop] = m_count;
      hop_before = m_list + begin;
      width = m_count - begin;
    }
    result.complete = hop;
    result.count = m_count;
    if (width > 0) return;
    result.complete = hops;  // there are no vertices beyond
    while (hop < hops) result.end[++hop] = m_count;
  }

 private:
  using edge = typename State::edge;
  /// Number of vertices that are expanded together, so that their memory accesses overlap.
  static constexpr std::uint32_t block = 32;
  static constexpr bool writes_origins = Lowering == lowering::by_minimum;
  static constexpr bool needs_origins = writes_origins || !State::follows_every_edge;
  struct row {
    local_vertex vertex;
    edge begin, end;
  };

  /// Expands the vertices of a hop. Returns: whether it has expanded all.
  KARPOS_STEP_FUNCTION bool expand(local_vertex const* from, std::uint32_t width,
                                   std::uint32_t distance) {
    row rows[block];
    for (std::uint32_t first = 0; first < width; first += block) {
      std::uint32_t n = Kokkos::min(std::uint32_t(block), width - first);
      if (!load_rows(from + first, distance, rows, n)) return false;
      for (std::uint32_t i = 0; i < n; ++i) gather(rows[i], distance + 1);
      claim(distance + 1);
    }
    return true;
  }
  /// Loads the rows of those of n vertices whose distance has not been lowered since, and sets n to
  /// their number. Returns: whether the list has capacity for all their neighbours.
  KARPOS_STEP_FUNCTION bool load_rows(local_vertex const* from, std::uint32_t distance,
                                      row (&rows)[block], std::uint32_t& n) {
    // Copies: after a relaxed load, the compiler would load pointers of the state again.
    auto const out = m_state.out;
    auto const distances = distances_of(m_state);
    std::uint64_t edges = 0;
    std::uint32_t valid_rows = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      row const r{from[i], out.begin(from[i]), out.end(from[i])};
      device::prefetch(out.column + r.begin);
      // A higher distance may have overwritten it: see repair_distances.
      bool const is_valid = device::load_relaxed(distances + r.vertex) >= distance;
      rows[valid_rows] = r;
      valid_rows += is_valid ? 1 : 0;
      edges += is_valid ? r.end - r.begin : 0;
    }
    n = valid_rows;
    if (edges > m_edge_budget || edges > m_capacity - m_count) return false;
    m_edge_budget -= edges;
    return true;
  }
  /// Appends the neighbours with a higher distance than `distance` to the candidates.
  KARPOS_STEP_FUNCTION void gather(row const& r, std::uint32_t distance) {
    auto const* const column = m_state.out.column;
    auto const distances = distances_of(m_state);
    for (edge e = r.begin; e < r.end; ++e) {
      local_vertex const v = State::local(column[e]);
      m_candidates.add<needs_origins>(v, r.vertex, device::load_relaxed(distances + v) > distance);
      if (m_candidates.is_full()) claim(distance);
    }
  }
  /// Lowers the distances of the candidates to `distance`, and lists those that had a higher one.
  KARPOS_STEP_FUNCTION void claim(std::uint32_t distance) {
    auto const* const offset = m_state.out.offset;
    auto const distances = distances_of(m_state);
    local_vertex* const list = m_list;
    std::uint32_t count = m_count;
    int const n = m_candidates.drain();
    for (int i = 0; i < n; ++i) {
      local_vertex const v = m_candidates.vertex[i];
      if constexpr (!State::follows_every_edge)
        if (!m_state.follows(m_candidates.from[i], v)) continue;
      bool const lowered = lower(distances + v, distance);
      if (Lowering == lowering::by_minimum && !lowered) continue;
      device::prefetch(offset + v);
      list[count] = v;
      if constexpr (writes_origins)
        if (m_origins != nullptr) m_origins[count] = m_candidates.from[i];
      count += lowered ? 1 : 0;
    }
    m_count = count;
  }
  /// Returns: whether it has lowered the distance.
  KARPOS_STEP_FUNCTION static bool lower(std::uint32_t* at, std::uint32_t distance) {
    std::uint32_t before = device::load_relaxed(at);
    if constexpr (Lowering == lowering::by_store) {
      // Without a branch: repair_distances repairs what another thread has lowered since.
      device::store_relaxed(at, Kokkos::min(before, distance));
      return before > distance;
    }
    while (before > distance) {
      std::uint32_t const found = device::compare_and_swap(at, before, distance);
      if (found == before) return true;
      before = found;
    }
    return false;
  }

  State const& m_state;
  local_vertex *m_list, *m_origins;
  std::uint64_t m_capacity, m_edge_budget = 0;
  std::uint32_t m_count = 0;
  candidates m_candidates;
};

template <class StateHandle, class ProgressHandle>
struct explore_slices : slice_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::explore_slices";
  using State = typename StateHandle::state;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    for (int l = 0; l < 3; ++l)
      state.clear_counters(team, l);  // no step reads the frontier's any more
    this->for_each_slice(team, [&](std::uint32_t slice) {
      this->shape.is_deferred ? explore<lowering::by_store>(slice)
                              : explore<lowering::by_minimum>(slice);
    });
  }

 private:
  template <lowering Lowering>
  KARPOS_STEP_FUNCTION void explore(std::uint32_t slice) const {
    local_search_shape const& w = this->shape;
    auto const at = [&](std::uint32_t i) {
      return static_cast<std::uint32_t>(part_begin(w.vertices, i, w.to.slices));
    };
    std::uint32_t const first = at(slice), last = at(slice + 1);
    slice_explorer<State, Lowering> e(*this->s, this->list(slice),
                                      this->s->parent == nullptr ? nullptr : this->origins(slice),
                                      w.to.capacity);
    e.run([&](auto const& f) { for_each_piece(first, last, f); }, last - first,
          this->frontier_distance(), w.to.hops, this->result(w.to, slice));
  }
  /// Runs f(vertices, n) for the pieces of the frontier from `first` to `last`.
  template <class F>
  KARPOS_STEP_FUNCTION void for_each_piece(std::uint32_t first, std::uint32_t last,
                                           F const& f) const {
    State const& state = *this->s;
    slice_lists const& from = this->shape.from;
    if (from.slices == 0)
      KARPOS_INLINE_CALLS f(state.segment(*this->p, by_thread) + first, last - first);
    std::uint32_t at = 0;  // position in the frontier where this list begins
    for (std::uint32_t i = 0; i < from.slices && at < last; ++i) {
      slice_result const& result = this->result(from, i);
      std::uint32_t const begin = result.end[from.hops - 1], n = result.end[from.hops] - begin;
      std::uint32_t const low = Kokkos::max(first, at), high = Kokkos::min(last, at + n);
      if (low < high) KARPOS_INLINE_CALLS f(this->list(from, i) + begin + (low - at), high - low);
      at += n;
    }
  }
};

template <class StateHandle, class ProgressHandle>
struct commit_slices : slice_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::commit_slices";
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  using tile = typename State::tile;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    this->for_each_slice(team, [&](std::uint32_t slice) {
      slice_result& result = this->result(this->shape.to, slice);
      std::uint32_t const hops = this->shape.to.hops;
      for (std::uint32_t hop = 1; hop < hops; ++hop) commit_hop(slice, result, hop);
      if (hops > 0) enqueue_last_hop(team, slice, result);
      this->roll_back(slice);
    });
  }

 private:
  /// Keeps an entry if its vertex still has this distance. Returns: whether it does.
  KARPOS_STEP_FUNCTION bool try_commit(std::uint32_t slice, std::uint32_t entry,
                                       std::uint32_t distance) const {
    State const& state = *this->s;
    local_vertex const v = this->list(slice)[entry];
    if (device::load_relaxed(this->distance_of(v)) != distance) return false;
    if (state.parent != nullptr) state.parent[v] = State::global(this->origins(slice)[entry]);
    state.hooks.discovered(State::global(v), static_cast<std::int32_t>(distance));
    device::set_bits(state.bitmap(this->p->current) + v / 32, bit_of(v));
    return true;
  }
  KARPOS_STEP_FUNCTION void commit_hop(std::uint32_t slice, slice_result& result,
                                       std::uint32_t hop) const {
    slice_result::totals sum{};
    for (std::uint32_t i = result.end[hop - 1]; i < result.end[hop]; ++i) {
      if (!try_commit(slice, i, this->frontier_distance() + hop)) continue;
      std::uint64_t const degree = this->s->out.degree(this->list(slice)[i]);
      ++sum.vertices;
      sum.edges += degree;
      sum.hubs += degree > this->s->hub_degree ? 1 : 0;
    }
    result.hop_totals[hop] = sum;
  }
  template <class Team>
  KARPOS_STEP_FUNCTION void enqueue_last_hop(Team& team, std::uint32_t slice,
                                             slice_result const& result) const {
    State const& state = *this->s;
    tile const t = team.template this_tile<width>();
    std::uint32_t const hops = this->shape.to.hops, last = this->frontier_distance() + hops;
    frontier_bin<State> found(
        team.template tile_scratch<width>(0, frontier_bin<State>::bytes),
        frontier_writer<State>(t, state, this->p->tail,
                               &state.counters(static_cast<std::int32_t>(last))));
    for (std::uint32_t i = result.end[hops - 1]; i < result.end[hops]; i += width) {
      auto const entry = [&](int lane) { return i + static_cast<std::uint32_t>(lane); };
      auto const kept = t.each([&](int lane) -> std::uint32_t {
        return entry(lane) < result.end[hops] && try_commit(slice, entry(lane), last) ? 1 : 0;
      });
      found.push(t, kept, [&](int lane, int) { return this->list(slice)[entry(lane)]; });
    }
    found.flush(t);
  }
};

/// If the commit is deferred: resets the distances beyond the last hop that is kept.
template <class StateHandle, class ProgressHandle>
struct roll_back_distances : slice_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::roll_back_distances";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    this->for_each_slice(team, [&](std::uint32_t slice) { this->roll_back(slice); });
  }
};

/// If the commit is deferred: repairs distances that other threads have overwritten by higher ones.
template <class StateHandle, class ProgressHandle>
struct repair_distances : slice_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::repair_distances";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    this->for_each_slice(team, [&](std::uint32_t slice) {
      slice_result const& result = this->result(this->shape.to, slice);
      for (std::uint32_t hop = 1; hop <= this->shape.to.hops; ++hop)
        for (std::uint32_t i = result.end[hop - 1]; i < result.end[hop]; ++i)
          repair(this->list(slice)[i], this->frontier_distance() + hop);
    });
  }

 private:
  KARPOS_STEP_FUNCTION void repair(local_vertex v, std::uint32_t given) const {
    std::uint32_t* const at = this->distance_of(v);
    if (device::load_relaxed(at) > given) device::fetch_min(at, given);
  }
};

/// Decides when to start a local search, and sets its shape: vertices, slices and hops.
template <class State>
class local_search_control {
 public:
  /// Returns: whether to explore the frontier by a local search; if so, sets its shape.
  bool choose(State const& s, progress const& p, local_search_shape& w) {
    if (m_levels_to_wait > 0) {
      --m_levels_to_wait;
      return false;
    }
    std::uint32_t const n = p.frontier.in_class[by_thread];
    if (n != p.frontier.vertices() || p.count_only ||
        p.frontier.edges > std::uint64_t(n) * tuned::small_frontier_degree)
      return false;
    w = local_search_shape{};
    w.is_deferred = m_found > s.vertices / m_deferral_divisor;
    return try_set_shape(s, n, w);
  }
  /// Sets the shape of the next local search while the commit is deferred, if there is one.
  bool next(State const& s, local_search_shape& w) const {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < w.to.slices; ++i) {
      slice_result const& result = result_of(s, w.to, i);
      n += result.end[w.to.hops] - result.end[w.to.hops - 1];
    }
    w.from = w.to;
    w.to.memory = 1 - w.from.memory;
    return try_set_shape(s, n, w);
  }
  /// Counts the vertices that a committed local search has found.
  void count(std::uint64_t found) { m_found += found; }
  /// Counts anew after a deferred commit; the next one needs twice as many vertices found.
  void end_deferred_commit() {
    m_found = 0;
    m_deferral_divisor = Kokkos::max(m_deferral_divisor / 2, std::uint64_t(1));
  }
  /// Adapts the number of hops to how many of the `wanted` hops could be kept.
  void adapt_hops(std::uint32_t wanted, std::uint32_t kept) {
    m_hops = kept == wanted ? Kokkos::min(2 * wanted, max_hops) : Kokkos::max(kept, 1u);
    if (kept < 2 && kept < wanted) m_levels_to_wait = 8;
  }

 private:
  using tuned = typename State::tuned;
  static constexpr std::uint32_t max_hops = slice_result::max_hops;

  /// Cuts a frontier of n vertices into slices. Returns: whether it is narrow enough.
  bool try_set_shape(State const& s, std::uint32_t n, local_search_shape& w) const {
    std::uint32_t const teams = s.grid_teams;
    if (n == 0 || n / tuned::widest_slice >= teams * tuned::slices_of_team) return false;
    w.vertices = n;
    w.to.slices = Kokkos::clamp(n / tuned::narrowest_slice, 1u, teams);
    w.to.slices = Kokkos::clamp(n / tuned::target_slice / teams * teams, w.to.slices,
                                teams * tuned::slices_of_team);
    w.to.hops = Kokkos::min(m_hops, w.to.slices == 1 ? max_hops : tuned::local_search_hops);
    w.to.capacity = s.vertices / w.to.slices;
    return true;
  }

  std::uint32_t m_hops = max_hops;
  std::uint64_t m_found = 0, m_deferral_divisor = tuned::deferral_divisor;
  int m_levels_to_wait = 0;
};

/// Returns the number of hops that all slices of a local search have completed.
template <class State>
std::uint32_t complete_hops(State const& s, local_search_shape const& w) {
  std::uint32_t hops = w.to.hops;
  for (std::uint32_t i = 0; i < w.to.slices; ++i)
    hops = Kokkos::min(hops, result_of(s, w.to, i).complete);
  return hops;
}

/// Returns the totals of one hop, except the last, of a committed local search.
template <class State>
level_counters totals_of_hop(State const& s, local_search_shape const& w, std::uint32_t hop) {
  level_counters sum{};
  for (std::uint32_t i = 0; i < w.to.slices; ++i) {
    slice_result::totals const& result = result_of(s, w.to, i).hop_totals[hop];
    sum.unqueued += result.vertices;
    sum.hubs += result.hubs;
    sum.edges += result.edges;
  }
  return sum;
}

}  // namespace karpos::detail::bfs
