// SPDX-License-Identifier: Apache-2.0
/// \file
/// The steps of a breadth-first search on plain threads, for the thread sanitizer: any number of
/// teams, however few cores there are. Late threads store distances that are too high, and others
/// lower them.
#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <karpos/detail/graph/bfs/plan.hpp>
#include <karpos/detail/graph/bfs/run.hpp>
#include <thread>

#include "support/check.hpp"
#include "support/host_graph.hpp"

namespace {

using karpos_test::edge_pairs;
using karpos_test::host_graph;
using karpos_test::make_graph;
using karpos_test::sides;
using numbers = std::vector<std::uint64_t>;
using space = Kokkos::DefaultHostExecutionSpace;
namespace bfs = karpos::detail::bfs;
using karpos::device::make_step;

/// Returns a plan of top-down levels whose frontiers are queued as their vertices are found.
bfs::search_plan top_down_plan(
    std::uint64_t vertices, std::uint64_t words,
    std::uint32_t local_search_hops = bfs::search_plan{}.local_search_hops) {
  return {.direction = karpos::bfs_direction::top_down,
          .scanned_queue = false,
          .unvisited_queue = false,
          .hub_cache = false,
          .gamma = 0,
          .alpha = 0,
          .beta = 0,
          .vertices = vertices,
          .words = words,
          .hubs = 0,
          .local_search_hops = local_search_hops};
}

/// Runs each step on new threads.
class threads_grid {
 public:
  using execution_space = space;
  template <class State>
  using handle_of = karpos::device::state_copy<State>;

  threads_grid(int teams, std::size_t scratch_bytes)
      : m_teams(teams),
        m_scratch_bytes(scratch_bytes),
        m_scratch(static_cast<std::size_t>(teams) * scratch_bytes) {}

  template <class State>
  handle_of<State> handle(State const& s) const {
    return {s};
  }
  template <class Step, class Then>
  void run(Step const& step, Then const& then) {
    std::vector<std::uint64_t> next(karpos::device::host::work_counters, 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < m_teams; ++i)
      threads.emplace_back([&, i] {
        karpos::device::team<space> t(karpos::device::team<space>::handle(
            i, m_teams, m_scratch.data() + static_cast<std::size_t>(i) * m_scratch_bytes,
            next.data()));
        step(t);
      });
    for (auto& t : threads) t.join();
    std::string const label = Step::label;
    local_searches += label == "karpos::bfs::explore_slices" ? 1 : 0;
    then();
  }
  template <class T>
  T read(T const* p) const {
    return *p;
  }
  template <class T>
  void write(T* p, T const& value) const {
    *p = value;
  }

  int local_searches = 0;

 private:
  int m_teams;
  std::size_t m_scratch_bytes;
  std::vector<std::byte> m_scratch;
};

/// Counts the calls for each vertex.
struct notice {
  std::uint32_t* calls;
  void operator()(std::uint32_t v, std::int32_t) const { ++calls[v]; }
};
using hooks = karpos::bfs_hooks<karpos::follow_all, notice>;
using state = bfs::search_state<space, std::uint32_t, std::uint64_t, hooks>;

/// Owns the memory of a search.
struct search {
  static constexpr std::size_t scratch_bytes = 32768;

  search(host_graph const& graph, int threads)
      : g(graph),
        teams(threads),
        columns(g.out.columns.begin(), g.out.columns.end()),
        queue(g.vertices),
        unvisited(2 * g.vertices),
        isolated((g.vertices + 31) / 32, 0),
        visited(2 * isolated.size()),
        scan_counts(static_cast<std::size_t>(threads) * bfs::degree_classes),
        calls(g.vertices, 0),
        parent(g.vertices),
        distance(g.vertices),
        levels(3),
        parts(2 * static_cast<std::size_t>(threads) * state::tuned::slices_of_team),
        record(1) {
    for (std::uint64_t v = g.vertices; v < 32 * isolated.size(); ++v)
      isolated[v / 32] |= bfs::bit_of(v);
  }
  state shared() {
    state s{};
    s.slice_results = parts.data();
    s.grid_teams = teams;
    s.vertices = g.vertices;
    s.words = isolated.size();
    s.in_edges = columns.size();
    s.out = s.in = {g.out.offsets.data(), columns.data()};
    s.hooks.discovered.calls = calls.data();
    s.distance = distance.data();
    s.parent = parent.data();
    for (std::size_t i = 0; i < 2; ++i) {
      s.visited[i] = visited.data() + i * isolated.size();
      s.unvisited[i] = unvisited.data() + i * g.vertices;
    }
    s.isolated = isolated.data();
    s.queue = queue.data();
    s.levels = levels.data();
    s.records = record[0].level;
    s.passed_levels = &record[0].passed;
    s.scan_counts = scan_counts.data();
    for (auto& limit : s.class_limit) limit = ~std::uint64_t(0);  // one class
    for (int c = 1; c < bfs::degree_classes; ++c) s.class_begin[c] = g.vertices;
    s.hub_degree = ~std::uint64_t(0);
    return s;
  }
  /// Runs a search. Returns: the number of local searches.
  int run(numbers const& sources) {
    std::vector<std::uint32_t> const list(sources.begin(), sources.end());
    bfs::search_plan const plan = top_down_plan(g.vertices, isolated.size());
    threads_grid grid(teams, scratch_bytes);
    bfs::progress p{};
    bfs::level_loop<state>{shared(), plan, {list.data(), list.size(), 0}, record.data()}(grid, p);
    return grid.local_searches;
  }

  host_graph const& g;
  int teams;
  std::vector<std::uint32_t> columns, queue, unvisited, isolated, visited, scan_counts, calls,
      parent;
  std::vector<std::int32_t> distance;
  std::vector<bfs::level_counters> levels;
  std::vector<bfs::slice_result> parts;
  std::vector<bfs::search_record> record;
};

void check(host_graph const& g, numbers const& sources, int threads) {
  search s(g, threads);
  std::string const what = g.name + " on " + std::to_string(threads) + " threads: ";
  int const local_searches = s.run(sources);
  auto const expected = serial_bfs(g, sources);
  karpos_test::holds(what + "distances", s.distance == expected);
  karpos_test::holds(what + "local searches", local_searches > 0);
  std::vector<std::int64_t> parent;
  for (std::uint32_t const v : s.parent) parent.push_back(v == ~0u ? -1 : std::int64_t(v));
  karpos_test::same(what + "wrong parents",
                    karpos_test::wrong_parents(g, sources, s.distance, parent), 0);
  std::uint64_t wrong = 0, reached = 0;
  for (std::size_t v = 0; v < g.vertices; ++v) {
    reached += expected[v] >= 0 ? 1 : 0;
    wrong += s.calls[v] != (expected[v] >= 0 ? 1u : 0u) ? 1 : 0;
  }
  karpos_test::same(what + "vertices not reported once", wrong, 0);
  karpos_test::same(what + "visited", s.record[0].summary.visited, reached);
}

/// Returns a grid of n x n vertices without some of the edges.
host_graph square(std::uint64_t n) {
  edge_pairs edges;
  karpos_test::random_numbers random(n);
  for (std::uint64_t v = 0; v < n * n; ++v) {
    if (v % n != n - 1 && random.below(10) > 2) edges.emplace_back(v, v + 1);
    if (v / n != n - 1 && random.below(10) > 2) edges.emplace_back(v, v + n);
  }
  return make_graph("square", n * n, edges);
}

/// Returns paths of 50 vertices, and edges between any of their vertices.
host_graph shortcuts(sides kind) {
  edge_pairs edges = karpos_test::random_edges(30000, 9000, 1);
  for (std::uint64_t v = 0; v + 1 < 30000; ++v)
    if (v % 50 != 49) edges.emplace_back(v, v + 1);
  return make_graph("paths of 50 with shortcuts", 30000, edges, kind);
}

/// Returns a graph in which the last 250 of the first 2,000 vertices lead to paths of 20.
host_graph lopsided() {
  edge_pairs edges;
  for (std::uint64_t v = 1750; v < 2000; ++v)
    for (std::uint64_t k = 0; k < 20; ++k)
      edges.emplace_back(k == 0 ? v : 1999 + (v - 1750) * 20 + k, 2000 + (v - 1750) * 20 + k);
  return make_graph("some of many sources lead on", 7000, edges, sides::directed);
}

numbers every(std::uint64_t stride, std::uint64_t end) {
  numbers list;
  for (std::uint64_t v = 0; v < end; v += stride) list.push_back(v);
  return list;
}

TEST_CASE("local searches of a square, from a border and from its diagonal") {
  auto const g = square(400);
  for (int const threads : {1, 2, 5, 16}) {
    check(g, every(1, 400), threads);
    check(g, every(401, 400 * 400), threads);
  }
}

TEST_CASE("local searches that end early: shortcuts, one slice that finds all") {
  for (sides const kind : {sides::undirected, sides::directed}) {
    auto const g = shortcuts(kind);
    for (int const threads : {2, 7}) check(g, every(50, 30000), threads);
  }
  auto const g = lopsided();
  for (int const threads : {2, 8}) check(g, every(1, 2000), threads);
}

/// A state in which another thread seems to store a larger distance of vertex 2, while this thread
/// visits the neighbours of vertex 1.
struct disturbed_state : state {
  static constexpr bool follows_every_edge = false;
  bool follows(bfs::local_vertex from, bfs::local_vertex to) const {
    if (from == 1 && to == 9) distance[2] = 6;
    return true;
  }
};

TEST_CASE("a distance that another thread overwrites before the vertex is expanded") {
  auto const g =
      make_graph("path with a leaf", 10,
                 {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {1, 9}});
  search memory(g, 1);
  disturbed_state s{};
  static_cast<state&>(s) = memory.shared();
  std::fill(memory.distance.begin(), memory.distance.end(), -1);
  memory.queue[0] = 0;
  memory.distance[0] = 0;
  threads_grid grid(1, search::scratch_bytes);
  bfs::local_search_shape w;
  w.vertices = 1;
  w.is_deferred = true;
  w.to = {.slices = 1, .hops = 9, .capacity = 20, .memory = 0};
  bfs::progress const p{};
  auto expected = serial_bfs(g, {0});
  grid.run(make_step<bfs::explore_slices>(grid, s, p, w), [] {});
  karpos_test::same("vertex 2, lowered again from beyond", memory.distance[2], 4);
  memory.distance[2] = 2;
  karpos_test::holds("what lies beyond", memory.distance == expected);
  memory.distance[2] = 4;
  grid.run(make_step<bfs::repair_distances>(grid, s, p, w), [] {});
  karpos_test::holds("repaired", memory.distance == expected);
}

TEST_CASE("a distance of the last hop that is kept, overwritten from a hop that is rolled back") {
  // Slices 0 and 1 begin at both ends of the path. What slice 1 does from its hop 5 on is undone.
  // One undone action is to reach vertex 4 as late as slice 0 does: its distance is the larger one,
  // and was stored last.
  auto const g = make_graph("path", 10, karpos_test::path_edges(10));
  search memory(g, 1);
  state const s = memory.shared();
  std::fill(memory.distance.begin(), memory.distance.end(), -1);
  memory.queue[0] = 0;
  memory.queue[1] = 9;
  memory.distance[0] = memory.distance[9] = 0;
  threads_grid grid(1, search::scratch_bytes);
  bfs::local_search_shape w;
  w.vertices = 2;
  w.is_deferred = true;
  w.to = {.slices = 2, .hops = 9, .capacity = 10, .memory = 0};
  bfs::progress const p{};
  grid.run(make_step<bfs::explore_slices>(grid, s, p, w), [] {});
  auto expected = serial_bfs(g, {0, 9});
  w.to.hops = 4;
  bfs::slice_result& other = bfs::result_of(s, w.to, 1);
  memory.unvisited[w.to.capacity + other.count++] = 4;
  memory.distance[4] = 5;
  grid.run(make_step<bfs::roll_back_distances>(grid, s, p, w), [] {});
  karpos_test::same("vertex 4, whose distance was rolled back", std::uint32_t(memory.distance[4]),
                    ~0u);
  grid.run(make_step<bfs::repair_distances>(grid, s, p, w), [] {});
  karpos_test::holds("repaired", memory.distance == expected);
}

/// A state in which each new vertex clears the visited bit of the vertex it was found from, so that
/// a search never ends.
struct forgetful_state : state {
  bool discover(bfs::local_vertex v, bfs::local_vertex from, std::int32_t level) const {
    bool const is_own = state::discover(v, from, level);
    for (std::uint32_t* const bits : visited)
      if (from != v) karpos::device::clear_bits(bits + from / 32, bfs::bit_of(from));
    return is_own;
  }
};

TEST_CASE("a search level by level that would go on for ever is stopped") {
  auto const g = make_graph("path", 100, karpos_test::path_edges(100));
  search memory(g, 2);
  memory.queue.resize(2 * g.vertices);  // the queue holds vertices repeatedly
  forgetful_state s{};
  static_cast<state&>(s) = memory.shared();
  threads_grid grid(2, search::scratch_bytes);
  bfs::progress p{};
  bfs::search_plan const plan = top_down_plan(g.vertices, s.words, 0);
  bfs::level_loop<forgetful_state>{s, plan, {nullptr, 1, 50}, memory.record.data()}(grid, p);
  bfs::search_summary const& sum = memory.record[0].summary;
  karpos_test::holds("stopped", sum.failed == 1 && sum.visited > g.vertices);
  karpos_test::holds("soon", sum.visited < 2 * g.vertices && grid.local_searches == 0);
}

/// Runs the program as one kernel, as on GPUs: each team runs the whole program with its own copy
/// of `progress`, and all teams meet at the end of a step. One team may decide late, when the
/// others are already in the next step.
class late_grid {
 public:
  using execution_space = space;
  template <class State>
  using handle_of = karpos::device::state_copy<State>;
  struct meeting {
    std::vector<std::uint64_t> next =
        std::vector<std::uint64_t>(karpos::device::host::work_counters, 0);
    struct clear_next {
      meeting* m;
      void operator()() const noexcept { std::fill(m->next.begin(), m->next.end(), 0); }
    };
    std::barrier<clear_next> all;
    explicit meeting(int teams) : all(teams, clear_next{this}) {}
  };

  late_grid(meeting& m, int rank, int teams, bool late, std::size_t scratch_bytes)
      : m_meeting(m),
        m_rank(rank),
        m_teams(teams),
        m_late(late),
        m_scratch(scratch_bytes) {}
  ~late_grid() { m_meeting.all.arrive_and_drop(); }  // a team that ends too early blocks no other
  late_grid(late_grid const&) = delete;

  template <class State>
  handle_of<State> handle(State const& s) const {
    return {s};
  }
  template <class Step, class Then>
  void run(Step const& step, Then const& then) {
    karpos::device::team<space> t(karpos::device::team<space>::handle(
        m_rank, m_teams, m_scratch.data(), m_meeting.next.data()));
    step(t);
    m_meeting.all.arrive_and_wait();
    std::string const label = Step::label;
    local_searches += label == "karpos::bfs::explore_in_teams" ? 1 : 0;
    failures += label == "karpos::bfs::roll_back_local_search" ? 1 : 0;
    if (m_late) std::this_thread::sleep_for(std::chrono::microseconds(200));
    then();
  }
  template <class T>
  T read(T const* p) const {
    return *p;
  }
  template <class T>
  void write(T* p, T const& value) const {
    if (m_rank == 0) *p = value;
  }

  int local_searches = 0, failures = 0;

 private:
  meeting& m_meeting;
  int m_rank, m_teams;
  bool m_late;
  std::vector<std::byte> m_scratch;
};

/// Enables, on CPUs, the local searches of teams that GPUs use: here a team is one thread.
struct teams_tuned : bfs::tuning<space> {
  static constexpr bool has_local_search = false, has_team_local_search = true;
  static constexpr std::uint32_t small_frontier_vertices = 16384;
};
struct teams_state : state, bfs::team_local_search_memory {
  using tuned = teams_tuned;
  std::uint32_t grid_teams;
};

/// The results of a search and its local searches.
struct teams_answer {
  std::vector<std::int32_t> distance;
  std::uint64_t visited;
  int local_searches, failures;
};

/// The rows that teams read: those of the graph, padded ones, or also those of all vertices within
/// two hops.
enum class row_kind { csr, padded, two_hops };
constexpr row_kind all_rows[] = {row_kind::csr, row_kind::padded, row_kind::two_hops};

teams_answer search_in_teams(host_graph const& g, numbers const& sources, int teams, int late,
                             row_kind read, std::uint32_t hops = 64) {
  search memory(g, teams);
  teams_state s{};
  static_cast<state&>(s) = memory.shared();
  std::vector<std::uint32_t> counts(2 * static_cast<std::size_t>(teams));
  std::vector<bfs::local_search_totals> sums(3);
  std::vector<bfs::padded_row> rows(read == row_kind::csr ? 0 : g.vertices);
  for (std::uint64_t v = 0; v < rows.size(); ++v) rows[v] = bfs::pad_row<decltype(s.out)>{s.out}(v);
  std::vector<bfs::two_hop_row> two_hop(read == row_kind::two_hops ? g.vertices : 0);
  for (std::uint64_t v = 0; v < two_hop.size(); ++v)
    two_hop[v] = bfs::make_two_hop_row{rows.data()}(v);
  s.list_lengths = counts.data();
  s.local_search_sums = sums.data();
  s.padded = rows.empty() ? nullptr : rows.data();
  s.two_hop = two_hop.empty() ? nullptr : two_hop.data();
  s.grid_teams = static_cast<std::uint32_t>(teams);
  std::vector<std::uint32_t> const list(sources.begin(), sources.end());
  bfs::search_plan const plan = top_down_plan(g.vertices, s.words, hops);
  late_grid::meeting meeting(teams);
  std::vector<std::thread> threads;
  teams_answer a{};
  for (int i = 0; i < teams; ++i)
    threads.emplace_back([&, i] {
      late_grid grid(meeting, i, teams, i == late, search::scratch_bytes);
      bfs::progress p{};
      bfs::level_loop<teams_state>{s, plan, {list.data(), list.size(), 0}, memory.record.data()}(
          grid, p);
      if (i == 0) {
        a.local_searches = grid.local_searches;
        a.failures = grid.failures;
      }
    });
  for (auto& t : threads) t.join();
  a.distance = memory.distance;
  a.visited = memory.record[0].summary.visited;
  return a;
}

TEST_CASE("local searches of teams, of which one is late") {
  auto const path = make_graph("path", 3000, karpos_test::path_edges(3000));
  auto const g = square(100);
  edge_pairs edges = karpos_test::path_edges(100);
  for (std::uint64_t v = 1; v < 3000; ++v) edges.emplace_back(99 + (v - 1) / 5, 99 + v);
  edge_pairs with_hub =
      karpos_test::path_edges(300);  // rows of 6 and of 71 edges follow padded ones
  for (std::uint64_t v = 0; v < 70; ++v) with_hub.emplace_back(150, 300 + v);
  for (std::uint64_t v = 0; v < 200; ++v) with_hub.emplace_back(200 + v / 4, 370 + v);
  auto const hub = make_graph("path with a hub", 3000, with_hub);
  auto const opening = make_graph("path that opens into a tree", 3099, edges);
  for (host_graph const* const h : {&path, &g, &opening, &hub})
    for (int const late : {-1, 0, 2})
      for (row_kind const read : all_rows) {
        numbers const from{h == &g ? h->some_leaf() : 0};
        auto const a = search_in_teams(*h, from, 3, late, read);
        std::string const what = h->name + ", team " + std::to_string(late) + " late, rows " +
                                 std::to_string(static_cast<int>(read)) + ": ";
        auto const expected = serial_bfs(*h, from);
        karpos_test::holds(what + "distances", a.distance == expected);
        karpos_test::same(
            what + "visited", a.visited,
            static_cast<std::uint64_t>(std::count_if(expected.begin(), expected.end(),
                                                     [](std::int32_t d) { return d >= 0; })));
        karpos_test::holds(what + "local searches", a.local_searches > 0);
        karpos_test::holds(what + "local searches that fail", h != &opening || a.failures > 0);
      }
}

TEST_CASE("local searches of teams of few hops, or none") {
  auto const g = square(80);
  numbers const from{g.some_leaf()};
  auto const expected = serial_bfs(g, from);
  for (row_kind const read : {row_kind::csr, row_kind::two_hops}) {
    int before = 1 << 30;
    for (std::uint32_t const hops : {0, 1, 3, 12}) {
      auto const a = search_in_teams(g, from, 3, 1, read, hops);
      karpos_test::holds(std::to_string(hops) + " hops: distances", a.distance == expected);
      karpos_test::holds(
          std::to_string(hops) + " hops: local searches",
          hops == 0 ? a.local_searches == 0 : a.local_searches > 0 && a.local_searches < before);
      if (hops > 0) before = a.local_searches;
    }
  }
}

/// Returns a path that ends in a binary tree of 256 leaves, each of which leads to a hub with 66
/// more leaves.
host_graph hubs_behind_a_tree(std::uint64_t path) {
  edge_pairs edges = karpos_test::path_edges(path);
  std::uint64_t n = path;
  numbers level{path - 1};
  for (int doubling = 0; doubling < 8; ++doubling) {
    numbers next;
    for (std::uint64_t const v : level)
      for (int child = 0; child < 2; ++child) {
        edges.emplace_back(v, n);
        next.push_back(n++);
      }
    level = next;
  }
  for (std::uint64_t const v : level) {
    std::uint64_t const hub = n++;
    edges.emplace_back(v, hub);
    for (int leaf = 0; leaf < 66; ++leaf) edges.emplace_back(hub, n++);
  }
  return make_graph("tree of hubs behind a path of " + std::to_string(path), n, edges);
}

TEST_CASE("local searches of teams in which 256 rows are too long at once") {
  for (row_kind const read : all_rows)
    for (std::uint64_t path = 40; path < 56; ++path) {
      auto const g = hubs_behind_a_tree(path);
      auto const a = search_in_teams(g, {0}, 3, -1, read);
      karpos_test::holds(g.name + ", rows " + std::to_string(static_cast<int>(read)),
                         a.distance == serial_bfs(g, {0}));
    }
}

TEST_CASE("local searches of teams that end after one, for the frontier is wide") {
  for (std::uint64_t split = 18; split < 24; ++split) {
    // 150 paths of 60 vertices; the ends of each path double at six levels.
    edge_pairs edges;
    numbers const from = every(1, 150);
    numbers level = from;
    std::uint64_t n = 150;
    for (std::uint64_t l = 1; l < 60; ++l) {
      numbers next;
      for (std::uint64_t const v : level)
        for (int child = 0; child < (l >= split && l < split + 6 ? 2 : 1); ++child) {
          edges.emplace_back(v, n);
          next.push_back(n++);
        }
      level = next;
    }
    auto const g = make_graph("paths that split at " + std::to_string(split), n, edges);
    for (row_kind const read : all_rows) {
      auto const a = search_in_teams(g, from, 3, -1, read);
      karpos_test::holds(g.name, a.distance == serial_bfs(g, from));
      karpos_test::same(g.name + ": visited", a.visited, n);
    }
  }
}

TEST_CASE("rows of all vertices within two hops") {
  // A cycle of four, a triangle with a tail, parallel edges, a self loop, and a vertex with five
  // edges.
  auto const g = make_graph("small parts", 20,
                            {{0, 1},
                             {1, 2},
                             {2, 3},
                             {3, 0},
                             {4, 5},
                             {5, 6},
                             {6, 4},
                             {6, 7},
                             {8, 9},
                             {8, 9},
                             {9, 10},
                             {11, 11},
                             {11, 12},
                             {13, 14},
                             {13, 15},
                             {13, 16},
                             {13, 17},
                             {13, 18},
                             {18, 19}});
  search memory(g, 1);
  auto const out = memory.shared().out;
  std::vector<bfs::padded_row> padded(g.vertices);
  std::vector<bfs::two_hop_row> rows(g.vertices);
  for (std::uint64_t v = 0; v < g.vertices; ++v)
    padded[v] = bfs::pad_row<decltype(memory.shared().out)>{out}(v);
  for (std::uint64_t v = 0; v < g.vertices; ++v) {
    rows[v] = bfs::make_two_hop_row{padded.data()}(v);
    auto const expected = serial_bfs(g, {v});
    bool const fits = v < 13 || v == 19;
    karpos_test::holds("fits: " + std::to_string(v), rows[v].part[0].is_long() != fits);
    if (!fits) continue;
    numbers one, two, in_row_one, in_row_two;
    for (std::uint64_t w = 0; w < g.vertices; ++w) {
      if (expected[w] == 1) one.push_back(w);
      if (expected[w] == 2) two.push_back(w);
    }
    for (auto const& part : rows[v].part)
      for (int i = 0; i < bfs::padded_row::size; ++i)
        if (part.neighbour[i] != bfs::padded_row::none)
          (i == 0 ? in_row_one : in_row_two).push_back(part.neighbour[i]);
    std::sort(in_row_one.begin(), in_row_one.end());
    in_row_one.erase(std::unique(in_row_one.begin(), in_row_one.end()), in_row_one.end());
    std::sort(in_row_two.begin(), in_row_two.end());
    karpos_test::holds("one hop: " + std::to_string(v), in_row_one == one);
    karpos_test::holds("two hops: " + std::to_string(v), in_row_two == two);
  }
}

}  // namespace
