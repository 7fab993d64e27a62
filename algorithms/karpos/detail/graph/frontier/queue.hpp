// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"
#include "karpos/lane_mask.hpp"

// Enqueues vertices without an atomic operation per vertex. Each tile gathers the vertices that it
// finds in a bin (the paper's thread bin) in its scratch, and appends a full bin to a queue with
// one fetch_add for each degree class. No vertex enters a queue twice, because only the thread that
// claimed it pushes it. Block-local searches have team_queues. Terms: see frontier.hpp.

namespace karpos::detail::frontier {

/// Neighbours that a CPU thread claims together. They are listed first, without a branch that no
/// predictor could guess. Atomic operations come after all loads, because no load overlaps them.
struct candidates {
  static constexpr int capacity = 256;
  local_vertex vertex[capacity], from[capacity];
  int count = 0;

  /// Appends v to the list if `is_candidate` is true. WithOrigins: false if nothing reads `from`.
  template <bool WithOrigins = true>
  KARPOS_STEP_FUNCTION void add(local_vertex v, local_vertex origin, bool is_candidate) {
    vertex[count] = v;
    if constexpr (WithOrigins) from[count] = origin;
    count += is_candidate ? 1 : 0;
  }
  KARPOS_STEP_FUNCTION bool is_full() const { return count == capacity; }
  /// Empties the list. Returns: how many entries it had.
  KARPOS_STEP_FUNCTION int drain() {
    int const n = count;
    count = 0;
    return n;
  }
};

/// The bin of a tile, whose lanes hold equal counts. Writer appends a full one to a queue.
template <class State, class Writer>
class bin {
 public:
  using tile = typename State::tile;
  static constexpr int width = State::width, entries = State::tuned::bin_entries;
  static constexpr std::size_t bytes = entries * sizeof(local_vertex) + Writer::bytes;
  static_assert(entries >= width * State::tuned::neighbours_at_once);

  /// scratch: `bytes` bytes for this tile alone.
  KARPOS_STEP_FUNCTION bin(std::byte* scratch, Writer const& writer)
      : m_vertex(reinterpret_cast<local_vertex*>(scratch)),
        m_writer(writer) {}

  /// Appends the vertices vertex(lane, i) of every lane for the bits i that are set in won[lane].
  /// Flushes the bin first if they do not fit.
  template <class Won, class Vertex>
  KARPOS_STEP_FUNCTION void push(tile const& t, Won const& won, Vertex const& vertex) {
    auto const any = t.ballot([&](int lane) { return won[lane] != 0; });
    if (!any) return;
    auto const at =
        t.prefix_sum(t.each([&](int lane) { return lane_mask<32>(won[lane]).count(); }));
    if (m_count + at.total > entries) flush(t);
    t.on(any, [&](int lane) {
      int to = m_count + at.before[lane];
      for (auto m = lane_mask<32>(won[lane]); m; m = m.without_first())
        m_vertex[to++] = vertex(lane, m.first());
    });
    m_count += at.total;
  }

  /// CPUs, whose tiles are one thread: appends one vertex.
  KARPOS_STEP_FUNCTION void push_one(tile const& t, local_vertex v) {
    if (m_count == entries) flush(t);
    m_vertex[m_count++] = v;
  }

  /// Counts n vertices, found by this lane, that enter no queue.
  KARPOS_STEP_FUNCTION void count(int n) { m_unqueued += static_cast<std::uint64_t>(n); }
  /// Adds the numbers given to count() to a level's totals. All threads of the team must call it.
  template <class Team>
  KARPOS_STEP_FUNCTION void add_counts(Team const& team, level_counters& to) const {
    std::uint64_t total = 0;
    team.prefix_sum(m_unqueued, total);
    if (team.rank() == 0 && total != 0)
      device::add(&to.unqueued, static_cast<std::uint32_t>(total));
  }

  /// Moves the contents of the bin to the queue.
  KARPOS_STEP_FUNCTION void flush(tile const& t) {
    if (m_count == 0) return;
    m_writer(t, m_vertex, reinterpret_cast<std::uint8_t*>(m_vertex + entries), m_count);
    t.sync();
    m_count = 0;
  }

 private:
  local_vertex* m_vertex;
  Writer m_writer;
  int m_count = 0;
  std::uint64_t m_unqueued = 0;
};

/// Appends vertex(i) to a bin for each i below n for which chosen(i) holds, by all teams.
template <class Team, class Bin, class Chosen, class Vertex>
KARPOS_STEP_FUNCTION void push_chosen(Team& team, typename Bin::tile const& t, std::uint64_t n,
                                      Bin& to, Chosen const& chosen, Vertex const& vertex) {
  constexpr int width = Bin::width;
  team.template for_each_tile<width>((n + width - 1) / width, [&](std::uint64_t i) {
    auto const at = [&](int lane) { return i * width + static_cast<std::uint64_t>(lane); };
    auto const won =
        t.each([&](int lane) -> std::uint32_t { return at(lane) < n && chosen(at(lane)) ? 1 : 0; });
    to.push(t, won, [&](int lane, int) { return vertex(at(lane)); });
  });
}

/// Appends vertices to their regions of the frontier queue, and adds them to the level's totals.
template <class State>
class frontier_writer {
 public:
  using tile = typename State::tile;
  static constexpr int width = State::width;
  static constexpr std::size_t bytes = State::tuned::bin_entries;  // a degree class for each vertex

  /// tail[c]: the end of region c of the queue before this level. to: totals of this level.
  /// prefetch_rows: for the appended vertices, if the next level is bound by latency.
  KARPOS_STEP_FUNCTION frontier_writer(tile const& t, State const& s, std::uint32_t const* tail,
                                       level_counters* to, bool prefetch_rows = false)
      : m_state(&s),
        m_to(to),
        m_prefetch_rows(prefetch_rows),
        m_begin(t.each([&](int lane) -> std::uint32_t {
          return lane < degree_classes
                     ? static_cast<std::uint32_t>(s.class_begin[lane]) + tail[lane]
                     : 0;
        })) {}

  KARPOS_STEP_FUNCTION void operator()(tile const& t, local_vertex const* vertex,
                                       std::uint8_t* degree_class, int count) const {
    State const& s = *m_state;
    auto class_counts = t.each([](int) { return 0; });  // lane c: vertices of class c
    std::uint64_t edges = 0;
    std::uint32_t hubs = 0;
    for (int first = 0; first < count; first += width) {
      auto const degree = t.each([&](int lane) -> std::uint64_t {
        if (first + lane >= count) return 0;
        if (m_prefetch_rows) device::prefetch_far(s.out.column + s.out.begin(vertex[first + lane]));
        return s.out.degree(vertex[first + lane]);
      });
      auto const c = t.each([&](int lane) {
        return first + lane < count ? s.class_of(vertex[first + lane], degree[lane])
                                    : int(degree_classes);
      });
      for (int k = 0; k < degree_classes; ++k) {
        int const n = t.ballot([&](int lane) { return c[lane] == k; }).count();
        class_counts = t.each([&](int lane) { return class_counts[lane] + (lane == k ? n : 0); });
      }
      t.each([&](int lane) {
        if (first + lane < count) degree_class[first + lane] = static_cast<std::uint8_t>(c[lane]);
      });
      edges += t.prefix_sum(degree).total;
      hubs += static_cast<std::uint32_t>(
          t.ballot([&](int lane) { return degree[lane] > s.hub_degree; }).count());
    }
    copy(t, vertex, degree_class, count, reserve(t, class_counts, edges, hubs));
  }

 private:
  using mask = lane_mask<width>;
  using lane_counts = typename tile::template varying<int>;
  using lane_places = typename tile::template varying<std::uint32_t>;

  /// Reserves entries in the regions of the queue, all classes at the same time: lane c does the
  /// fetch_add of class c. Returns: on lane c, the first entry.
  KARPOS_STEP_FUNCTION lane_places reserve(tile const& t, lane_counts const& class_counts,
                                           std::uint64_t edges, std::uint32_t hubs) const {
    return t.each([&](int lane) -> std::uint32_t {
      if (lane == degree_classes && edges > 0) device::add(&m_to->edges, edges);
      if (lane == degree_classes + 1 && hubs > 0) device::add(&m_to->hubs, hubs);
      if (class_counts[lane] == 0) return 0;
      return m_begin[lane] + device::fetch_add(&m_to->in_class[lane],
                                               static_cast<std::uint32_t>(class_counts[lane]));
    });
  }
  KARPOS_STEP_FUNCTION void copy(tile const& t, local_vertex const* vertex,
                                 std::uint8_t const* degree_class, int count,
                                 lane_places const& begin) const {
    auto to = begin;
    for (int first = 0; first < count; first += width)
      for (int k = 0; k < degree_classes; ++k) {
        mask const m = t.ballot(
            [&](int lane) { return first + lane < count && degree_class[first + lane] == k; });
        if (!m) continue;
        std::uint32_t const at = t.get(to, k);
        t.on(m, [&](int lane) {
          m_state->queue[at + static_cast<std::uint32_t>(m.rank(lane))] = vertex[first + lane];
        });
        to = t.each([&](int lane) {
          return to[lane] + (lane == k ? static_cast<std::uint32_t>(m.count()) : 0);
        });
      }
  }

  State const* m_state;
  level_counters* m_to;
  bool m_prefetch_rows;
  lane_places m_begin;  // lane c: where this level begins in the region of class c
};

/// Appends vertices to a list without degree classes, such as a queue of unvisited vertices.
template <class State>
class list_writer {
 public:
  using tile = typename State::tile;
  static constexpr int width = State::width;
  static constexpr std::size_t bytes = 0;

  /// size: the number of entries that the list has.
  KOKKOS_FUNCTION list_writer(local_vertex* list, std::uint32_t* size)
      : m_list(list),
        m_size(size) {}

  KARPOS_STEP_FUNCTION void operator()(tile const& t, local_vertex const* vertex, std::uint8_t*,
                                       int count) const {
    std::uint32_t const begin =
        t.once([&] { return device::fetch_add(m_size, static_cast<std::uint32_t>(count)); });
    for (int first = 0; first < count; first += width)
      t.each([&](int lane) {
        if (first + lane < count)
          m_list[begin + static_cast<std::uint32_t>(first + lane)] = vertex[first + lane];
      });
  }

 private:
  local_vertex* m_list;
  std::uint32_t* m_size;
};

template <class State>
using frontier_bin = bin<State, frontier_writer<State>>;
template <class State>
using list_bin = bin<State, list_writer<State>>;

// Block-local search: local searches of bfs on GPUs (bfs/team_local_search.hpp) and bucket fusion
// of sssp (sssp/bucket_fusion.hpp) keep the vertices of a hop in two queues in the team's scratch:
//
//   count      |hop k|hop k + 1|hop k + 2|   entries pushed; this hop clears that of hop k + 2
//   queue 0    |hop k    : e|e|e|e|…     |   tiles pop pieces of these entries
//   queue 1    |hop k + 1: e|e|…         |   tiles push what they find
//
// A barrier of the team ends a hop. A push counts every entry, so that a count above the capacity
// tells of an overflow. A search decides what an overflow means: bfs undoes all hops, and sssp puts
// the vertices that do not fit into its near queue.

/// Returns where part i begins if n items are divided into equal parts.
KOKKOS_INLINE_FUNCTION std::uint64_t part_begin(std::uint64_t n, std::uint64_t i,
                                                std::uint64_t parts) {
  return n * i / parts;
}

/// The entries first … last - 1 of a frontier.
struct slice {
  std::uint64_t first, last;
};
/// Returns a team's slice of n entries.
template <class Team>
KOKKOS_FUNCTION slice slice_of(Team const& team, std::uint64_t n) {
  auto const teams = static_cast<std::uint64_t>(team.league_size());
  auto const rank = static_cast<std::uint64_t>(team.league_rank());
  return {part_begin(n, rank, teams), part_begin(n, rank + 1, teams)};
}

template <class Entry>
struct team_queues {
  std::uint32_t* count;  // count[k % 3]: entries pushed to the queue of hop k, overflowed ones too
  Entry* first;
  std::uint32_t capacity;

  /// scratch: of the team; the queues begin `front` bytes behind it.
  KOKKOS_FUNCTION team_queues(std::byte* scratch, std::size_t front, std::uint32_t max_entries)
      : count(reinterpret_cast<std::uint32_t*>(scratch)),
        first(reinterpret_cast<Entry*>(scratch + front)),
        capacity(max_entries) {}

  KOKKOS_FUNCTION Entry* of_hop(std::uint32_t hop) const { return first + (hop % 2) * capacity; }

  /// Clears the counts of the first two hops. A barrier of the team must follow.
  template <class Team>
  KOKKOS_FUNCTION void clear(Team const& team) const {
    if (team.rank() < 2) count[team.rank()] = 0;
    if (team.size() == 1) count[1] = 0;
  }
  /// Calls expand(), which pops the entries of a hop and pushes those of the next. All threads of
  /// the team must call it. Returns: the number of entries pushed.
  template <class Team, class Expand>
  KARPOS_STEP_FUNCTION std::uint32_t run_hop(Team const& team, std::uint32_t hop,
                                             Expand const& expand) const {
    if (team.rank() == 0) count[(hop + 2) % 3] = 0;
    expand();
    team.barrier();
    return count[(hop + 1) % 3];
  }

  /// Places in the queue of a hop for the items of a tile's lanes, up to N of each lane.
  template <int W, int N>
  struct places {
    lane_mask<W> lanes[N];  // those that push their item i
    std::uint32_t first;    // place of the first item
    bool any;
  };
  /// Reserves places for the items i whose bit is set in bits(lane). Uses ballots, not a prefix sum
  /// of their numbers, because a hop waits for each instruction.
  template <int N, class Tile, class Bits>
  KARPOS_STEP_FUNCTION auto reserve(Tile const& t, std::uint32_t hop, Bits const& bits) const {
    places<Tile::width, N> p;
    int total = 0;
    for (int i = 0; i < N; ++i) {
      p.lanes[i] = t.ballot([&](int lane) { return (bits(lane) >> i & 1u) != 0; });
      total += p.lanes[i].count();
    }
    p.any = total != 0;
    p.first = total == 0 ? 0 : t.once([&] {
      return device::fetch_add(device::scratch(count + hop % 3), static_cast<std::uint32_t>(total));
    });
    return p;
  }
};

/// Runs f(first) for pieces of W of a team's n entries: those that the calling tile handles.
template <int Width, int W, class Team, class F>
KARPOS_STEP_FUNCTION void for_each_piece(Team const& team, std::uint32_t n, F const& f) {
  auto const tiles = static_cast<std::uint32_t>(team.template tiles<Width>());
  for (std::uint32_t first = static_cast<std::uint32_t>(team.template tile_rank<Width>()) * W;
       first < n; first += tiles * W)
    KARPOS_INLINE_CALLS f(first);
}

}  // namespace karpos::detail::frontier
