// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/state.hpp"

// Vertices on their way into the queue. Each tile collects what it finds in a bin of its own, in scratch, and
// places a full bin with one addition to the counter of each degree class: no duplicates, no atomic per vertex.

namespace karpos::detail::bfs {

/// A tile's bin: Sink moves its vertices on when it is full. All lanes of the tile hold the same count.
template <class State, class Sink>
class bin {
 public:
  using tile = typename State::tile;
  static constexpr int width = State::width, entries = State::tuned::bin_entries;
  static constexpr std::size_t bytes = entries * sizeof(std::uint32_t) + Sink::bytes;
  static_assert(entries >= width * State::tuned::neighbours_at_once);

  /// scratch: `bytes` of it, for this tile alone.
  KOKKOS_FORCEINLINE_FUNCTION bin(std::byte* scratch, Sink const& sink)
      : m_vertex(reinterpret_cast<std::uint32_t*>(scratch)),
        m_sink(sink) {}

  /// Takes, on every lane, the vertices vertex(lane, i) for the bits i of won[lane].
  template <class Won, class Vertex>
  KOKKOS_FORCEINLINE_FUNCTION void take(tile const& t, Won const& won, Vertex const& vertex) {
    auto const any = t.ballot([&](int lane) { return won[lane] != 0; });
    if (!any) return;
    auto const at =
        t.prefix_sum(t.each([&](int lane) { return lane_mask<32>(won[lane]).count(); }));
    if (m_count + at.total > entries) place(t);
    t.on(any, [&](int lane) {
      int to = m_count + at.before[lane];
      for (auto m = lane_mask<32>(won[lane]); m; m = m.without_first())
        m_vertex[to++] = static_cast<std::uint32_t>(vertex(lane, m.first()));
    });
    m_count += at.total;
  }

  /// Counts, on one lane, vertices that go nowhere.
  KOKKOS_FORCEINLINE_FUNCTION void count(int n) { m_uncollected += static_cast<std::uint64_t>(n); }
  /// Adds what the team has counted. All its threads take part.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void publish(Team const& team, level_counters& to) const {
    std::uint64_t total = 0;
    team.prefix_sum(m_uncollected, total);
    if (team.rank() == 0 && total != 0) device::add(&to.found, static_cast<std::uint32_t>(total));
  }

  /// Empties the bin.
  KOKKOS_FORCEINLINE_FUNCTION void place(tile const& t) {
    if (m_count == 0) return;
    m_sink(t, m_vertex, reinterpret_cast<std::uint8_t*>(m_vertex + entries), m_count);
    t.sync();
    m_count = 0;
  }

 private:
  std::uint32_t* m_vertex;
  Sink m_sink;
  int m_count = 0;
  std::uint64_t m_uncollected = 0;
};

/// Appends vertices to the queue, each to the region of its degree class.
template <class State>
class queue_end {
 public:
  using tile = typename State::tile;
  static constexpr int width = State::width;
  static constexpr std::size_t bytes = State::tuned::bin_entries;  // the classes of the vertices

  /// tail[c]: the end of the queue's region of class c before this level; `to`: counts what comes behind it.
  KOKKOS_FORCEINLINE_FUNCTION queue_end(tile const& t, State const& s, std::uint32_t const* tail,
                                        level_counters* to, bool eager = false)
      : m_state(&s),
        m_to(to),
        m_eager(eager),
        m_begin(t.each([&](int lane) -> std::uint32_t {
          return lane < degree_classes
                     ? static_cast<std::uint32_t>(s.class_begin[lane]) + tail[lane]
                     : 0;
        })) {}

  KOKKOS_FORCEINLINE_FUNCTION void operator()(tile const& t, std::uint32_t const* vertex,
                                              std::uint8_t* degree_class, int count) const {
    State const& s = *m_state;
    auto held = t.each([](int) { return 0; });  // lane c: vertices of class c
    std::uint64_t edges = 0;
    std::uint32_t hubs = 0;
    for (int first = 0; first < count; first += width) {
      auto const degree = t.each([&](int lane) -> std::uint64_t {
        if (first + lane >= count) return 0;
        if (m_eager) device::prefetch_far(s.out.column + s.out.begin(vertex[first + lane]));
        return s.out.degree(vertex[first + lane]);
      });
      auto const c = t.each([&](int lane) {
        return first + lane < count ? s.class_of(degree[lane]) : int(degree_classes);
      });
      for (int k = 0; k < degree_classes; ++k) {
        int const n = t.ballot([&](int lane) { return c[lane] == k; }).count();
        held = t.each([&](int lane) { return held[lane] + (lane == k ? n : 0); });
      }
      t.each([&](int lane) {
        if (first + lane < count) degree_class[first + lane] = static_cast<std::uint8_t>(c[lane]);
        return 0;
      });
      edges += t.prefix_sum(degree).total;
      hubs += static_cast<std::uint32_t>(
          t.ballot([&](int lane) { return degree[lane] > s.hub_degree; }).count());
    }
    copy(t, vertex, degree_class, count, reserve(t, held, edges, hubs));
  }

 private:
  using mask = lane_mask<width>;
  using lane_counts = typename tile::template varying<int>;
  using lane_places = typename tile::template varying<std::uint32_t>;

  /// Room for so many of each class: lane c adds to class c, all at the same time.
  KOKKOS_FORCEINLINE_FUNCTION lane_places reserve(tile const& t, lane_counts const& held,
                                                  std::uint64_t edges, std::uint32_t hubs) const {
    return t.each([&](int lane) -> std::uint32_t {
      if (lane == degree_classes && edges > 0) device::add(&m_to->edges, edges);
      if (lane == degree_classes + 1 && hubs > 0) device::add(&m_to->hubs, hubs);
      if (held[lane] == 0) return 0;
      return m_begin[lane] +
             device::fetch_add(&m_to->in_class[lane], static_cast<std::uint32_t>(held[lane]));
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION void copy(tile const& t, std::uint32_t const* vertex,
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
  bool m_eager;         // fetch the rows of what is placed
  lane_places m_begin;  // lane c: where this level begins in the region of class c
};

/// Appends vertices to a queue of unvisited vertices.
template <class State>
class candidates_end {
 public:
  using tile = typename State::tile;
  static constexpr int width = State::width;
  static constexpr std::size_t bytes = 0;

  KOKKOS_FUNCTION candidates_end(std::uint32_t* queue, level_counters* to)
      : m_queue(queue),
        m_to(to) {}

  KOKKOS_FUNCTION void operator()(tile const& t, std::uint32_t const* vertex, std::uint8_t*,
                                  int count) const {
    std::uint32_t const begin = t.once(
        [&] { return device::fetch_add(&m_to->candidates, static_cast<std::uint32_t>(count)); });
    for (int first = 0; first < count; first += width)
      t.each([&](int lane) {
        if (first + lane < count)
          m_queue[begin + static_cast<std::uint32_t>(first + lane)] = vertex[first + lane];
        return 0;
      });
  }

 private:
  std::uint32_t* m_queue;
  level_counters* m_to;
};

template <class State>
using queue_bin = bin<State, queue_end<State>>;
template <class State>
using candidate_bin = bin<State, candidates_end<State>>;

}  // namespace karpos::detail::bfs
