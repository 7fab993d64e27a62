// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/device/team.hpp"

// Bottom-up expansion: each unvisited vertex looks for a visited neighbour, its parent, and stops
// at the first. Terms (tile, team, lane, scratch): see state.hpp.
//
//   bottom_up_bitmap  over the status bitmap: reads one, writes the other
//   bottom_up_queue   over a queue of unvisited vertices, which shrinks from level to level
//                     (Enterprise's third workflow); `set_status_bits_of_found` follows it

namespace karpos::detail::bfs {

/// The hub vertex cache (bfs.hpp). Hub vertices have a large part of all edges. A small cache of
/// the visited hubs, in each team's scratch, answers many bottom-up probes without an access to the
/// status bitmap. It is direct-mapped by hash: a vertex has one possible entry, so a look-up is one
/// read. Hubs of levels before the frontier are no parents any more: they only occupy entries.
template <class State>
class hub_cache {
 public:
  static constexpr int entries = State::tuned::hub_cache_entries;
  static constexpr std::size_t bytes = entries * sizeof(local_vertex);
  static_assert((entries & (entries - 1)) == 0);

  KOKKOS_FUNCTION explicit hub_cache(std::byte* scratch)
      : m_entry(reinterpret_cast<local_vertex*>(scratch)) {}

  /// Fills the cache with the visited hubs. All threads of the team must call it.
  template <class Team>
  KOKKOS_FUNCTION void fill(Team const& team, State const& s, std::uint32_t const* visited) const {
    for (int i = team.rank(); i < entries; i += team.size()) m_entry[i] = empty;
    team.barrier();
    for (std::uint32_t i = device::rank(team); i < s.hub_count; i += device::size(team)) {
      local_vertex const v = s.hubs[i];
      // Hubs with the same entry overwrite each other: any of them may stay.
      if ((visited[v / 32] & bit_of(v)) != 0) m_entry[slot(v)] = v;
    }
    team.barrier();
  }
  KOKKOS_FUNCTION bool contains(local_vertex v) const { return m_entry[slot(v)] == v; }

 private:
  static constexpr local_vertex empty = ~local_vertex(0);  // above every vertex

  /// Returns the entry of a vertex by Fibonacci hashing: the upper bits of the product.
  KOKKOS_FUNCTION static std::uint32_t slot(local_vertex v) {
    return static_cast<std::uint32_t>(v * 2654435769u) >> (32 - bits);
  }
  static constexpr int bits = std::countr_zero(static_cast<unsigned>(entries));

  local_vertex* m_entry;
};

/// Finds a visited neighbour for each of a list of unvisited vertices, by one tile. CPUs search one
/// vertex after the other. GPUs search in rounds, to balance the load. A lane loads the first few
/// neighbours of its vertex at once. Vertices without a parent yet are compacted to the front of
/// the list; in the next rounds lanes load twice, four times as many. The vertices that are left
/// have long rows, which the whole tile searches together.
template <class State>
class parent_search {
 public:
  static constexpr int width = State::width;
  static constexpr local_vertex none = ~local_vertex(0);
  using tile = typename State::tile;
  using edge = typename State::edge;

  /// Sums of a thread over all its vertices.
  struct totals {
    std::uint64_t edges_examined = 0, edges = 0;
    /// Two sums of 32 bits: vertices found, hits of the hub vertex cache.
    std::uint64_t found_and_hits = 0;
  };

  KARPOS_STEP_FUNCTION parent_search(State const& s, std::uint32_t const* visited,
                                     hub_cache<State> hubs, bool with_hubs)
      : m_state(&s),
        m_visited(visited),
        m_hubs(hubs),
        m_with_hubs(with_hubs) {}

  /// Finds a parent for each of the vertices base + list[0 … n - 1]. Calls found(v, parent,
  /// in-degree) on the lane that finds it. Overwrites the list.
  template <class Entry, class Found>
  KARPOS_STEP_FUNCTION void run(tile const& t, std::uint32_t base, Entry* list, int n,
                                Found const& found, totals& sum) const {
    if constexpr (State::tuned::balances_lanes)
      search_in_rounds(t, base, list, n, found, sum);
    else if (m_with_hubs)
      search_in_order<true>(base, list, n, found, sum);
    else
      search_in_order<false>(base, list, n, found, sum);
  }

  /// Adds a found vertex to the sums. degree: its in-degree.
  KARPOS_STEP_FUNCTION void count(local_vertex v, edge degree, totals& sum) const {
    sum.edges += m_state->in.offset == m_state->out.offset ? degree : m_state->out.degree(v);
    sum.found_and_hits += 1;
  }

  /// Adds the sums of a team's threads to a level's totals. All threads of the team must call it.
  template <class Team>
  KOKKOS_FUNCTION static void add_totals(Team const& team, totals const& sum, bool with_found,
                                         level_counters& to) {
    std::uint64_t examined, edges, both;
    team.prefix_sum(sum.edges_examined, examined);
    team.prefix_sum(sum.edges, edges);
    team.prefix_sum(sum.found_and_hits, both);
    if (team.rank() != 0 || examined == 0) return;
    device::add(&to.edges_examined, examined);
    if (both >> 32 != 0) device::add(&to.hub_hits, both >> 32);
    auto const found = static_cast<std::uint32_t>(both);
    if (with_found && found != 0) {
      device::add(&to.unqueued, found);
      device::add(&to.edges, edges);
    }
  }

 private:
  static constexpr edge first = State::tuned::first_loads, limit = State::tuned::lane_loads;
  static constexpr int at_once = State::neighbours_per_load;

  /// GPUs: searches in rounds.
  template <class Entry, class Found>
  KARPOS_STEP_FUNCTION void search_in_rounds(tile const& t, std::uint32_t base, Entry* list, int n,
                                             Found const& found, totals& sum) const {
    edge from = 0;
    for (edge to = first; n > 0 && from < limit; to = 2 * to + 1) {
      n = run_round(t, base, list, n, from, to, found, sum);
      from = to;
    }
    for (int i = 0; i < n; ++i) search_by_tile(t, base + list[i], from, found, sum);
  }
  /// CPUs: searches one vertex after the other, while the next rows are prefetched. The hub vertex
  /// cache is a template parameter, because the loop has few instructions.
  template <bool WithHubs, class Entry, class Found>
  KARPOS_STEP_FUNCTION void search_in_order(std::uint32_t base, Entry const* list, int n,
                                            Found const& found, totals& sum) const {
    constexpr int ahead = 8;
    std::uint64_t examined = 0;
    for (int i = 0; i < n; ++i) {
      if (i + ahead < n)
        device::prefetch(m_state->in.column + m_state->in.begin(base + list[i + ahead]));
      local_vertex const v = base + list[i];
      edge const begin = m_state->in.begin(v), end = m_state->in.end(v);
      edge e = begin;
      for (; e < end; ++e) {
        local_vertex const u = State::local(m_state->in.column[e]);
        if (!is_parent(u, v, WithHubs, sum)) continue;
        found(v, u, end - begin);
        ++e;
        break;
      }
      examined += e - begin;
    }
    sum.edges_examined += examined;
  }
  /// Runs one round: searches loads `from` to `to` - 1 of every vertex of the list. Returns the
  /// number of vertices that have no parent yet, and compacts them to the front of the list.
  template <class Entry, class Found>
  KARPOS_STEP_FUNCTION int run_round(tile const& t, std::uint32_t base, Entry* list, int n,
                                     edge from, edge to, Found const& found, totals& sum) const {
    int kept = 0;
    for (int begin = 0; begin < n; begin += width) {
      auto const v = t.each([&](int lane) -> local_vertex {
        if (begin + lane >= n) return none;
        return base + list[begin + lane];
      });
      auto const open = t.ballot([&](int lane) {
        return v[lane] != none && !search_loads(v[lane], from, to, found, sum);
      });
      t.sync();  // the places written next may be those that other lanes have just read
      t.on(open,
           [&](int lane) { list[kept + open.rank(lane)] = static_cast<Entry>(v[lane] - base); });
      kept += open.count();
    }
    return kept;
  }
  /// Searches loads from … to - 1 of a row. Returns: whether a parent is found or the row ends.
  template <class Found>
  KARPOS_STEP_FUNCTION bool search_loads(local_vertex v, edge from, edge to, Found const& found,
                                         totals& sum) const {
    edge const begin = m_state->in.begin(v), end = m_state->in.end(v);
    edge const base = begin / at_once * at_once;
    local_vertex parent = none;
    for (edge k = from; k < to && parent == none; ++k) {
      edge const e = base + k * at_once;
      if (e >= end) return true;
      local_vertex u[at_once];
      m_state->template load_neighbours<at_once>(e, u);
      for (int i = 0; i < at_once && parent == none; ++i) {
        edge const mine = e + static_cast<edge>(i);
        if (mine < begin || mine >= end) continue;
        ++sum.edges_examined;
        if (is_parent(u[i], v, m_with_hubs, sum)) parent = u[i];
      }
    }
    if (parent != none) found(v, parent, end - begin);
    return parent != none || base + to * at_once >= end;
  }
  /// Searches the rest of a row, from load `from` on, one neighbour on each lane.
  template <class Found>
  KARPOS_STEP_FUNCTION void search_by_tile(tile const& t, local_vertex v, edge from,
                                           Found const& found, totals& sum) const {
    edge const begin = m_state->in.begin(v), end = m_state->in.end(v);
    for (edge e = begin / at_once * at_once + from * at_once; e < end; e += width) {
      auto const parent = t.each([&](int lane) {
        edge const mine = e + static_cast<edge>(lane);
        if (mine >= end) return none;
        ++sum.edges_examined;
        local_vertex const u = State::local(m_state->in.column[mine]);
        return is_parent(u, v, m_with_hubs, sum) ? u : none;
      });
      auto const hit = t.ballot([&](int lane) { return parent[lane] != none; });
      if (!hit) continue;
      t.on(lane_mask<width>::of(hit.first()),
           [&](int lane) { found(v, parent[lane], end - begin); });
      return;
    }
  }
  KARPOS_STEP_FUNCTION bool is_parent(local_vertex u, local_vertex v, bool with_hubs,
                                      totals& sum) const {
    bool const cached = with_hubs && m_hubs.contains(u);
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

/// A bottom-up level over the status bitmap, without a frontier queue. A tile reads some words of
/// visited[current], lists their unvisited vertices, and writes the words to visited[1 - current].
template <class StateHandle, class ProgressHandle>
struct bottom_up_bitmap {
  static constexpr char const* label = "karpos::bfs::bottom_up";
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  static constexpr std::size_t team_bytes = hub_cache<State>::bytes;
  using tile = typename State::tile;
  using searcher = parent_search<State>;
  using entry = std::uint16_t;  // a vertex, relative to the first word
  /// A tile lists the unvisited vertices of a group of words, one on each lane, and searches them.
  /// Over ranks, a tile handles two groups, if each tile gets that many words. It searches both
  /// groups together if few vertices are left: a search is a chain of loads, however few vertices
  /// it has.
  static constexpr int groups = State::over_ranks ? 2 : 1;
  static constexpr int group_words = State::tuned::words_at_once, max_words = groups * group_words;
  static_assert(group_words == width && 32 * max_words <= 65536);
  static constexpr int list_entries = 32 * group_words;
  static constexpr std::size_t tile_bytes =
      list_entries * sizeof(entry) + max_words * sizeof(std::uint32_t);

  StateHandle s;
  ProgressHandle p;
  bool with_hubs;

  std::uint64_t work() const { return s->own_words() + p->unvisited; }

  template <class Team>
  KARPOS_STEP_FUNCTION void operator()(Team& team) const {
    s->clear_counters(team, p->level + 2);
    tile const t = team.template this_tile<width>();
    std::uint32_t const* const before = s->bitmap(p->current);
    hub_cache<State> const hubs(team.scratch());
    if (with_hubs) hubs.fill(team, *s, before);
    searcher const search(*s, before, hubs, with_hubs);
    typename searcher::totals sum;
    auto* const after =
        reinterpret_cast<std::uint32_t*>(team.template tile_scratch<width>(team_bytes, tile_bytes));
    std::uint64_t const each = words_per_tile(team), words = s->own_words();
    team.template for_each_tile<width>((words + each - 1) / each, [&](std::uint64_t i) {
      std::uint64_t const first = i * each;
      search_words(t, search, s->first_word() + first,
                   static_cast<int>(Kokkos::min(each, words - first)), after, sum);
    });
    searcher::add_totals(team, sum, true, s->counters(p->level + 1));
  }

 private:
  /// Returns the number of words that a tile handles at once: fewer if tiles would idle otherwise.
  template <class Team>
  KOKKOS_FUNCTION std::uint64_t words_per_tile(Team const& team) const {
    auto const tiles = static_cast<std::uint64_t>(team.league_size()) *
                       static_cast<std::uint64_t>(team.template tiles<width>());
    std::uint64_t const equal_part = s->own_words() / tiles + 1;
    return Kokkos::min(equal_part, std::uint64_t(max_words));
  }

  KARPOS_STEP_FUNCTION void search_words(tile const& t, searcher const& search, std::uint64_t first,
                                         int n, std::uint32_t* after,
                                         typename searcher::totals& sum) const {
    std::uint32_t const* const from = s->bitmap(p->current) + first;
    std::uint32_t* const to = s->bitmap(1 - p->current) + first;
    auto const known = t.each([&](int lane) { return known_words(from, to, lane, n); });
    auto* const list = reinterpret_cast<entry*>(after + max_words);
    auto const base = static_cast<std::uint32_t>(first * 32);
    int group = 0;
    do {
      int const listed = list_unvisited(t, from, n, after, list, group);
      t.sync();
      search.run(
          t, base, list, listed,
          [&](local_vertex v, local_vertex parent, auto degree) {
            device::set_bits(device::scratch(after + (v - base) / 32), bit_of(v));
            search.count(v, degree, sum);
            s->discover(v, parent, p->level + 1);
          },
          sum);
      t.sync();
    } while (groups > 1 && group * width < n);
    t.each([&](int lane) {
      for (int g = 0; g < groups; ++g) {
        int const i = g * width + lane;
        if (i >= n || ((known[lane] >> g & 1u) != 0 && after[i] == from[i])) continue;
        to[i] = after[i];
        s->copy_to_peers(to + i, after[i]);
      }
    });
    t.sync();
  }
  /// Lists the unvisited vertices of the next groups of n words, as long as they fit, and copies
  /// these words to `after`. Returns the number of vertices, and adds that of groups to `group`.
  KARPOS_STEP_FUNCTION int list_unvisited(tile const& t, std::uint32_t const* from, int n,
                                          std::uint32_t* after, entry* list, int& group) const {
    int listed = 0;
    do {
      int const first = group * width;
      auto const before =
          t.each([&](int lane) { return first + lane < n ? from[first + lane] : ~0u; });
      auto const at =
          t.prefix_sum(t.each([&](int lane) { return lane_mask<32>(~before[lane]).count(); }));
      if (groups > 1 && listed + at.total > list_entries) break;
      t.each([&](int lane) {
        if (first + lane < n) after[first + lane] = before[lane];
        int k = listed + at.before[lane];
        for (lane_mask<32> m(~before[lane]); m; m = m.without_first())
          list[k++] = static_cast<entry>((first + lane) * 32 + m.first());
      });
      listed += at.total;
      ++group;
    } while (groups > 1 && group * width < n);
    return listed;
  }
  /// Over ranks, returns the words of this lane, a bit for each group, that the other bitmap holds
  /// already. If no vertex is found in them, they are not written again, because late levels would
  /// wait for the links. After merge_claims other ranks may miss such a word: its vertices are no
  /// longer of the frontier, and who claims one of them is refused by its owner.
  KARPOS_STEP_FUNCTION std::uint32_t known_words(std::uint32_t const* from, std::uint32_t const* to,
                                                 int lane, int n) const {
    std::uint32_t known = 0;
    if constexpr (State::over_ranks)
      for (int g = 0; g < groups; ++g)
        if (int const i = g * width + lane; i < n && to[i] == from[i]) known |= 1u << g;
    return known;
  }
};

/// A bottom-up level over the queue of unvisited vertices. Vertices with a parent enter the
/// frontier queue, the others the next queue. Requires: `set_status_bits_of_found` runs next.
template <class StateHandle, class ProgressHandle>
struct bottom_up_queue {
  static constexpr char const* label = "karpos::bfs::bottom_up_queue";
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  /// Vertices that a tile handles at once.
  static constexpr int list_entries = 4 * width;
  static constexpr std::size_t team_bytes = hub_cache<State>::bytes;
  static constexpr std::size_t tile_bytes =
      frontier_bin<State>::bytes + list_bin<State>::bytes + list_entries * sizeof(local_vertex);
  using tile = typename State::tile;
  using searcher = parent_search<State>;

  StateHandle s;
  ProgressHandle p;
  bool with_hubs;

  std::uint64_t work() const { return p->frontier.unvisited; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    s->clear_counters(team, p->level + 2);
    tile const t = team.template this_tile<width>();
    hub_cache<State> const hubs(team.scratch());
    if (with_hubs) hubs.fill(team, *s, s->bitmap(p->current));
    searcher const search(*s, s->bitmap(p->current), hubs, with_hubs);
    std::byte* const mine = team.template tile_scratch<width>(team_bytes, tile_bytes);
    level_counters& to = s->counters(p->level + 1);
    auto* const list = reinterpret_cast<local_vertex*>(mine);
    std::byte* const bins = mine + list_entries * sizeof(local_vertex);
    frontier_bin<State> found(bins, frontier_writer<State>(t, *s, p->tail, &to));
    list_bin<State> remaining(
        bins + frontier_bin<State>::bytes,
        list_writer<State>(s->unvisited_queue(1 - p->current_unvisited), &to.unvisited));
    typename searcher::totals sum;
    std::uint32_t const count = p->frontier.unvisited;
    // The loop reads the queue from `p` each time: to keep a pointer would cost registers.
    team.template for_each_tile<width>(
        (std::uint64_t(count) + list_entries - 1) / list_entries, [&](std::uint64_t i) {
          auto const first = static_cast<std::uint32_t>(i) * list_entries;
          int const n = static_cast<int>(Kokkos::min(count - first, std::uint32_t(list_entries)));
          search_list(t, search, s->unvisited_queue(p->current_unvisited) + first, n, list, sum);
          enqueue(t, s->unvisited_queue(p->current_unvisited) + first, n, found, remaining);
        });
    found.flush(t);
    remaining.flush(t);
    searcher::add_totals(team, sum, false, to);
  }

 private:
  KARPOS_STEP_FUNCTION void search_list(tile const& t, searcher const& search,
                                        local_vertex const* from, int n, local_vertex* list,
                                        typename searcher::totals& sum) const {
    t.each([&](int lane) {
      for (int i = lane; i < n; i += width) list[i] = from[i];
    });
    t.sync();
    search.run(
        t, 0, list, n,
        [&](local_vertex v, local_vertex parent, auto) { s->discover(v, parent, p->level + 1); },
        sum);
    t.sync();
  }
  /// Appends each vertex to a queue, which its distance selects.
  KARPOS_STEP_FUNCTION void enqueue(tile const& t, local_vertex const* from, int n,
                                    frontier_bin<State>& found, list_bin<State>& remaining) const {
    for (int first = 0; first < n; first += width) {
      auto const is_found = t.each([&](int lane) -> std::uint32_t {
        return first + lane < n && s->distance[from[first + lane]] == p->level + 1;
      });
      auto const is_remaining = t.each(
          [&](int lane) -> std::uint32_t { return first + lane < n && is_found[lane] == 0; });
      auto const vertex = [&](int lane, int) { return from[first + lane]; };
      found.push(t, is_found, vertex);
      remaining.push(t, is_remaining, vertex);
    }
  }
};

/// Sets the status bits of the vertices that bottom_up_queue has found. A grid barrier comes first:
/// bits set during the search would make vertices of this level parents of each other.
template <class StateHandle, class ProgressHandle>
struct set_status_bits_of_found {
  static constexpr char const* label = "karpos::bfs::set_status_bits";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return s->counters(p->level + 1).queued(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    level_counters const& found = s->counters(p->level + 1);
    for (int c = 0; c < degree_classes; ++c) {
      local_vertex const* const from = s->queue + s->class_begin[c] + p->tail[c];
      for_each_index<StateHandle::state::width>(team, found.in_class[c], [&](std::uint64_t i) {
        device::set_bits(s->bitmap(p->current) + from[i] / 32, bit_of(from[i]));
      });
    }
  }
};

}  // namespace karpos::detail::bfs
