// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/hubs.hpp"
#include "karpos/detail/bfs/progress.hpp"
#include "karpos/detail/bfs/queue.hpp"
#include "karpos/device/team.hpp"

// Bottom-up: unvisited vertices look for a visited neighbour, and stop at the first.

namespace karpos::detail::bfs {

/// How a tile finds a visited neighbour for each of a list of unvisited vertices. In rounds: a lane loads the first
/// few neighbours of its vertex at once; the vertices that must look further close ranks; lanes load twice, four
/// times as many; what is left after that has a long row, which the whole tile takes at once. So no lane waits long
/// for another.
template <class State>
class parent_search {
 public:
  static constexpr int width = State::width;
  static constexpr std::uint32_t none = ~std::uint32_t(0);
  using tile = typename State::tile;
  using edge = typename State::edge;

  /// Sums of a thread.
  struct tally {
    std::uint64_t examined = 0, edges = 0;
    std::uint64_t found_and_hits = 0;  // two sums of 32 bits
  };

  KOKKOS_FORCEINLINE_FUNCTION parent_search(State const& s, std::uint32_t const* visited,
                                            hub_cache<State> hubs, bool with_hubs)
      : m_state(&s),
        m_visited(visited),
        m_hubs(hubs),
        m_with_hubs(with_hubs) {}

  /// Searches for the vertices base + list[0 … n - 1]; calls found(v, parent, in-degree) on the lane that
  /// finds a parent.
  /// Uses the list up.
  template <class Entry, class Found>
  KOKKOS_FORCEINLINE_FUNCTION void run(tile const& t, std::uint32_t base, Entry* list, int n,
                                       Found const& found, tally& sum) const {
    edge from = 0;
    for (edge to = first; n > 0 && from < limit; to = 2 * to + 1) {
      n = round(t, base, list, n, from, to, found, sum);
      from = to;
    }
    for (int i = 0; i < n; ++i) long_row(t, base + list[i], from, found, sum);
  }

  /// Counts a vertex that was found, by its in-degree.
  KOKKOS_FORCEINLINE_FUNCTION void count(std::uint32_t v, edge degree, tally& sum) const {
    sum.edges += m_state->in.offset == m_state->out.offset ? degree : m_state->out.degree(v);
    sum.found_and_hits += 1;
  }

  /// Adds a team's sums to the counters. All threads of the team take part.
  template <class Team>
  KOKKOS_FUNCTION static void publish(Team const& team, tally const& sum, bool with_found,
                                      level_counters& to) {
    std::uint64_t examined, edges, both;
    team.prefix_sum(sum.examined, examined);
    team.prefix_sum(sum.edges, edges);
    team.prefix_sum(sum.found_and_hits, both);
    if (team.rank() != 0 || examined == 0) return;
    device::add(&to.examined, examined);
    if (both >> 32 != 0) device::add(&to.hub_hits, both >> 32);
    auto const found = static_cast<std::uint32_t>(both);
    if (with_found && found != 0) {
      device::add(&to.found, found);
      device::add(&to.edges, edges);
    }
  }

 private:
  static constexpr edge first = State::tuned::first_loads, limit = State::tuned::lane_loads;
  static constexpr int at_once = State::neighbours_of_load;

  /// Every vertex of the list looks at what its loads from … to - 1 bring. Returns: how many must look further; they
  /// are the first of the list then.
  template <class Entry, class Found>
  KOKKOS_FORCEINLINE_FUNCTION int round(tile const& t, std::uint32_t base, Entry* list, int n,
                                        edge from, edge to, Found const& found, tally& sum) const {
    int kept = 0;
    for (int begin = 0; begin < n; begin += width) {
      auto const v = t.each([&](int lane) -> std::uint32_t {
        if (begin + lane >= n) return none;
        std::uint32_t const mine = base + list[begin + lane];
        KOKKOS_IF_ON_HOST((device::prefetch(m_state->in.column + m_state->in.begin(mine));))
        return mine;
      });
      auto const open = t.ballot(
          [&](int lane) { return v[lane] != none && !look_at(v[lane], from, to, found, sum); });
      t.sync();  // the places written next may be those that other lanes have just read
      t.on(open,
           [&](int lane) { list[kept + open.rank(lane)] = static_cast<Entry>(v[lane] - base); });
      kept += open.count();
    }
    return kept;
  }
  /// Returns: whether that is all there is to look at.
  template <class Found>
  KOKKOS_FORCEINLINE_FUNCTION bool look_at(std::uint32_t v, edge from, edge to, Found const& found,
                                           tally& sum) const {
    edge const begin = m_state->in.begin(v), end = m_state->in.end(v);
    edge const base = begin / at_once * at_once;
    std::uint32_t parent = none;
    for (edge k = from; k < to && parent == none; ++k) {
      edge const e = base + k * at_once;
      if (e >= end) return true;
      std::uint32_t u[at_once];
      m_state->template load_neighbours<at_once>(e, u);
      for (int i = 0; i < at_once && parent == none; ++i) {
        edge const mine = e + static_cast<edge>(i);
        if (mine < begin || mine >= end) continue;
        ++sum.examined;
        if (is_parent(u[i], v, sum)) parent = u[i];
      }
    }
    if (parent != none) found(v, parent, end - begin);
    return parent != none || base + to * at_once >= end;
  }
  /// All neighbours from … on, as many at once as the tile has lanes.
  template <class Found>
  KOKKOS_FORCEINLINE_FUNCTION void long_row(tile const& t, std::uint32_t v, edge from,
                                            Found const& found, tally& sum) const {
    edge const begin = m_state->in.begin(v), end = m_state->in.end(v);
    for (edge e = begin / at_once * at_once + from * at_once; e < end; e += width) {
      auto const parent = t.each([&](int lane) {
        edge const mine = e + static_cast<edge>(lane);
        if (mine >= end) return none;
        ++sum.examined;
        auto const u = static_cast<std::uint32_t>(m_state->in.column[mine]);
        return is_parent(u, v, sum) ? u : none;
      });
      auto const hit = t.ballot([&](int lane) { return parent[lane] != none; });
      if (!hit) continue;
      t.on(lane_mask<width>::of(hit.first()),
           [&](int lane) { found(v, parent[lane], end - begin); });
      return;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_parent(std::uint32_t u, std::uint32_t v, tally& sum) const {
    bool const cached = m_with_hubs && m_hubs.contains(u);
    if (!cached && (m_visited[u / 32] & bit_of(u)) == 0) return false;
    if (!m_state->follows(u, v)) return false;
    if (cached) sum.found_and_hits += std::uint64_t(1) << 32;
    return true;
  }

  State const* m_state;
  std::uint32_t const* m_visited;
  hub_cache<State> m_hubs;
  bool m_with_hubs;
};

/// A bottom-up level over the bitmap: reads one and writes the other. A tile takes some words of it, lists their
/// unvisited vertices in its scratch and searches for these.
template <class StateHandle, class ProgressHandle>
struct search_bitmap {
  static constexpr char const* label = "karpos::bfs::bottom_up";
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  static constexpr std::size_t team_bytes = hub_cache<State>::bytes;
  using tile = typename State::tile;
  using searcher = parent_search<State>;
  using entry = std::uint16_t;
  /// Words that a tile takes at once.
  static constexpr int max_words = State::tuned::words_at_once;
  static_assert(max_words <= width);
  static constexpr std::size_t tile_bytes =
      max_words * (32 * sizeof(entry) + sizeof(std::uint32_t));

  StateHandle s;
  ProgressHandle p;
  bool with_hubs;

  std::uint64_t work() const { return s->words + p->unvisited; }

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Team& team) const {
    s->clear_counters(team, p->level + 2);
    tile const t = team.template this_tile<width>();
    std::uint32_t const* const before = s->bitmap(p->now);
    hub_cache<State> const hubs(team.scratch());
    if (with_hubs) hubs.fill(team, *s, before);
    searcher const search(*s, before, hubs, with_hubs);
    typename searcher::tally sum;
    auto* const after =
        reinterpret_cast<std::uint32_t*>(team.template tile_scratch<width>(team_bytes, tile_bytes));
    std::uint64_t const each = words_each(team), words = s->words;
    team.template for_each_tile<width>((words + each - 1) / each, [&](std::uint64_t i) {
      std::uint64_t const first = i * each;
      search_words(t, search, first, static_cast<int>(first + each < words ? each : words - first),
                   after, sum);
    });
    searcher::publish(team, sum, true, s->counters(p->level + 1));
  }

 private:
  /// So many words for a tile that every tile has some.
  template <class Team>
  KOKKOS_FUNCTION std::uint64_t words_each(Team const& team) const {
    auto const tiles = static_cast<std::uint64_t>(team.league_size()) *
                       static_cast<std::uint64_t>(team.template tiles<width>());
    std::uint64_t const share = s->words / tiles + 1;
    return share < max_words ? share : max_words;
  }

  KOKKOS_FORCEINLINE_FUNCTION void search_words(tile const& t, searcher const& search,
                                                std::uint64_t first, int n, std::uint32_t* after,
                                                typename searcher::tally& sum) const {
    std::uint32_t const* const from = s->bitmap(p->now) + first;
    std::uint32_t* const to = s->bitmap(1 - p->now) + first;
    auto const before = t.each([&](int lane) { return lane < n ? from[lane] : ~0u; });
    auto const at =
        t.prefix_sum(t.each([&](int lane) { return lane_mask<32>(~before[lane]).count(); }));
    auto* const list = reinterpret_cast<entry*>(after + max_words);
    t.each([&](int lane) {
      if (lane < n) after[lane] = before[lane];
      int k = at.before[lane];
      for (lane_mask<32> m(~before[lane]); m; m = m.without_first())
        list[k++] = static_cast<entry>(lane * 32 + m.first());
      return 0;
    });
    t.sync();
    auto const base = static_cast<std::uint32_t>(first * 32);
    search.run(
        t, base, list, at.total,
        [&](std::uint32_t v, std::uint32_t parent, auto degree) {
          device::set_bits(device::scratch(after + (v - base) / 32), bit_of(v));
          search.count(v, degree, sum);
          s->discover(v, parent, p->level + 1);
        },
        sum);
    t.sync();
    t.each([&](int lane) {
      if (lane < n) to[lane] = after[lane];
      return 0;
    });
    t.sync();
  }
};

/// A bottom-up level over the queue of unvisited vertices: found ones go into the queue of the frontier, the others
/// into the next queue of unvisited vertices. `mark_found` must follow.
template <class StateHandle, class ProgressHandle>
struct search_candidates {
  static constexpr char const* label = "karpos::bfs::bottom_up_queue";
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  /// Vertices that a tile searches for before it takes new ones.
  static constexpr int rounds = 4, list_entries = rounds * width;
  static constexpr std::size_t team_bytes = hub_cache<State>::bytes;
  static constexpr std::size_t tile_bytes =
      queue_bin<State>::bytes + candidate_bin<State>::bytes + list_entries * sizeof(std::uint32_t);
  using tile = typename State::tile;
  using searcher = parent_search<State>;

  StateHandle s;
  ProgressHandle p;
  bool with_hubs;

  std::uint64_t work() const { return p->frontier.candidates; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    s->clear_counters(team, p->level + 2);
    tile const t = team.template this_tile<width>();
    hub_cache<State> const hubs(team.scratch());
    if (with_hubs) hubs.fill(team, *s, s->bitmap(p->now));
    searcher const search(*s, s->bitmap(p->now), hubs, with_hubs);
    std::byte* const mine = team.template tile_scratch<width>(team_bytes, tile_bytes);
    level_counters& to = s->counters(p->level + 1);
    auto* const list = reinterpret_cast<std::uint32_t*>(mine);
    std::byte* const bins = mine + list_entries * sizeof(std::uint32_t);
    queue_bin<State> found(bins, queue_end<State>(t, *s, p->tail, &to));
    candidate_bin<State> left(bins + queue_bin<State>::bytes,
                              candidates_end<State>(s->candidate_queue(1 - p->candidates), &to));
    typename searcher::tally sum;
    std::uint32_t const count = p->frontier.candidates;
    team.template for_each_tile<width>(
        (std::uint64_t(count) + list_entries - 1) / list_entries, [&](std::uint64_t i) {
          auto const first = static_cast<std::uint32_t>(i) * list_entries;
          int const n =
              static_cast<int>(count - first < list_entries ? count - first : list_entries);
          search_list(t, search, s->candidate_queue(p->candidates) + first, n, list, sum);
          sort_out(t, s->candidate_queue(p->candidates) + first, n, found, left);
        });
    found.place(t);
    left.place(t);
    searcher::publish(team, sum, false, to);
  }

 private:
  KOKKOS_FUNCTION void search_list(tile const& t, searcher const& search, std::uint32_t const* from,
                                   int n, std::uint32_t* list,
                                   typename searcher::tally& sum) const {
    t.each([&](int lane) {
      for (int i = lane; i < n; i += width) list[i] = from[i];
      return 0;
    });
    t.sync();
    search.run(
        t, 0, list, n,
        [&](std::uint32_t v, std::uint32_t parent, auto) { s->discover(v, parent, p->level + 1); },
        sum);
    t.sync();
  }
  /// Who was found has a distance now.
  KOKKOS_FUNCTION void sort_out(tile const& t, std::uint32_t const* from, int n,
                                queue_bin<State>& found, candidate_bin<State>& left) const {
    for (int first = 0; first < n; first += width) {
      auto const is_found = t.each([&](int lane) -> std::uint32_t {
        return first + lane < n && s->distance[from[first + lane]] == p->level + 1;
      });
      auto const is_left = t.each(
          [&](int lane) -> std::uint32_t { return first + lane < n && is_found[lane] == 0; });
      auto const vertex = [&](int lane, int) { return from[first + lane]; };
      found.take(t, is_found, vertex);
      left.take(t, is_left, vertex);
    }
  }
};

/// Marks the vertices that search_candidates has found: not before every vertex has been searched for, because
/// whatever is marked counts as visited in an earlier level.
template <class StateHandle, class ProgressHandle>
struct mark_found {
  static constexpr char const* label = "karpos::bfs::mark";
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  using tile = typename State::tile;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return s->counters(p->level + 1).queued(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    tile const t = team.template this_tile<width>();
    level_counters const& found = s->counters(p->level + 1);
    for (int c = 0; c < degree_classes; ++c) {
      std::uint32_t const count = found.in_class[c];
      std::uint32_t const* const from = s->queue + s->class_begin[c] + p->tail[c];
      team.template for_each_tile<width>((count + width - 1) / width, [&](std::uint64_t i) {
        t.each([&](int lane) {
          std::uint64_t const mine = i * width + static_cast<std::uint64_t>(lane);
          if (mine < count)
            device::set_bits(s->bitmap(p->now) + from[mine] / 32, bit_of(from[mine]));
          return 0;
        });
      });
    }
  }
};

}  // namespace karpos::detail::bfs
