// SPDX-License-Identifier: Apache-2.0
/// \file
/// Programs of steps, launched one by one or within one kernel, on leagues of any size.
#include <doctest/doctest.h>

#include <karpos/detail/graph/bfs/bottom_up.hpp>
#include <karpos/device/program.hpp>
#include <set>

#include "support/space.hpp"

namespace {

using karpos_test::space;
using karpos_test::view;

struct counters {
  std::uint64_t visits, rank_sums, threads, round;
};
struct state {
  std::uint32_t* hits;
  std::uint64_t n;
  counters* sums;
};

/// Visits every index once, and checks the prefix sums of the ranks of each team.
template <class StateHandle>
struct touch {
  [[maybe_unused]] static constexpr char const* label = "karpos_test::touch";
  StateHandle s;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    auto const t = team.template this_tile<32>();
    team.template for_each_tile<32>(s->n, [&](std::uint64_t i) {
      t.on(karpos::lane_mask<32>::of(0),
           [&](int) { karpos::device::add(&s->hits[i], std::uint32_t(1)); });
    });
    std::uint64_t total = 0;
    auto const rank = static_cast<std::uint64_t>(team.rank());
    std::uint64_t const before = team.prefix_sum(rank, total);
    karpos::device::add(&s->sums->rank_sums,
                        static_cast<std::uint64_t>(before == rank * (rank - (rank > 0)) / 2));
    karpos::device::add(&s->sums->threads, std::uint64_t(1));
    if (team.rank() == 0) karpos::device::add(&s->sums->visits, total);
  }
};

/// Distributes work more often than there are work counters.
template <class StateHandle>
struct touch_often {
  [[maybe_unused]] static constexpr char const* label = "karpos_test::touch_often";
  StateHandle s;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    auto const t = team.template this_tile<32>();
    for (int call = 0; call < 3 * karpos::device::host::work_counters; ++call)
      team.template for_each_tile<32>(s->n, [&](std::uint64_t i) {
        t.on(karpos::lane_mask<32>::of(0),
             [&](int) { karpos::device::add(&s->hits[i], std::uint32_t(1)); });
      });
  }
};
struct touch_often_program {
  [[maybe_unused]] static constexpr char const* label = "touch_often_program";
  using shared = int;
  state s;

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void operator()(Grid& grid, int&) const {
    grid.run(karpos::device::make_step<touch_often>(grid, s), [] {});
  }
};

struct memory_of_program {
  std::uint64_t round;
  bool done;
};

/// Runs `touch` ten times.
struct ten_times {
  [[maybe_unused]] static constexpr char const* label = "ten_times";
  using shared = memory_of_program;
  state s;
  std::uint64_t* rounds;

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void operator()(Grid& grid, memory_of_program& p) const {
    using karpos::device::make_step;
    grid.run(make_step<touch>(grid, s), [&] { begin(p); });
    while (!p.done) grid.run(make_step<touch>(grid, s), [&] { next(grid, p); });
  }

 private:
  KOKKOS_FUNCTION static void begin(memory_of_program& p) { p = {1, false}; }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void next(Grid& grid, memory_of_program& p) const {
    // Every copy of p must make the same decisions.
    if (grid.read(s.sums).threads == 0) p.round = 100;
    p.done = ++p.round == 10;
    if (p.done) grid.write(rounds, p.round);
  }
};

void runs(karpos::launch_mode driver, int teams, std::uint64_t n) {
  CAPTURE(teams);
  CAPTURE(n);
  space const exec;
  auto shape = karpos::device::shape_for<1024, 1, 32>(exec, 0, 64);
  if (teams > 0 && karpos::device::has_grid_barrier<space>) shape.teams = teams;
  karpos::device::grid_memory<space> const memory(exec, shape);
  view<std::uint32_t> const hits("hits", n + 1);
  view<counters> const sums("sums", 1);
  view<std::uint64_t> const rounds("rounds", 1);
  karpos::device::run_program<1024, 1>(exec, driver, memory,
                                       ten_times{{hits.data(), n, sums.data()}, rounds.data()});
  exec.fence();
  auto const seen = karpos_test::to_host(hits);
  for (std::uint64_t i = 0; i < n; ++i) REQUIRE(seen[i] == 10);
  CHECK(seen[n] == 0);
  counters const c = karpos_test::to_host(sums)[0];
  CHECK(c.rank_sums == c.threads);
  CHECK(karpos_test::to_host(rounds)[0] == 10);
}

TEST_CASE("a program runs every step on all of its league") {
  for (std::uint64_t const n : {0, 1, 31, 1000, 100000})
    for (int const teams : {1, 2, 7, 0}) {
      runs(karpos::launch_mode::kernel_per_step, teams, n);
      runs(karpos::launch_mode::automatic, teams, n);
    }
}

TEST_CASE("a step may divide work as often as it likes") {
  space const exec;
  std::uint64_t const n = 1000;
  auto const shape = karpos::device::shape_for<256, 1, 32>(exec, 0, 64);
  karpos::device::grid_memory<space> const memory(exec, shape);
  view<std::uint32_t> const hits("hits", n);
  for (auto const driver : {karpos::launch_mode::kernel_per_step, karpos::launch_mode::automatic}) {
    Kokkos::deep_copy(hits, 0u);
    karpos::device::run_program<256, 1>(exec, driver, memory,
                                        touch_often_program{{hits.data(), n, nullptr}});
    exec.fence();
    CHECK(karpos_test::to_host(hits) ==
          std::vector<std::uint32_t>(n, 3 * karpos::device::host::work_counters));
  }
}

struct cache_tuning {
  static constexpr int hub_cache_entries = 2048;
};
struct cache_state {
  using tuned = cache_tuning;
  std::uint32_t const* hubs;
  std::uint32_t hub_count;
};
struct one_thread {
  KOKKOS_FUNCTION static int rank() { return 0; }
  KOKKOS_FUNCTION static int size() { return 1; }
  KOKKOS_FUNCTION static void barrier() {}
};

TEST_CASE("the cache of hubs uses all of its entries and holds visited hubs only") {
  using cache = karpos::detail::bfs::hub_cache<cache_state>;
  std::vector<std::uint32_t> hubs(100000), words(cache::entries),
      visited(hubs.size() / 32 + 1, ~0u);
  for (std::uint32_t v = 0; v < hubs.size(); ++v) hubs[v] = v;
  visited[0] = visited[3124] = 0;  // the first 32 and the last 32 are not visited
  cache const c(reinterpret_cast<std::byte*>(words.data()));
  c.fill(one_thread{}, cache_state{hubs.data(), static_cast<std::uint32_t>(hubs.size())},
         visited.data());
  CHECK(std::set<std::uint32_t>(words.begin(), words.end()).size() == cache::entries);
  for (std::uint32_t const v : words) {
    CHECK(v >= 32);
    CHECK(v < 3124 * 32);
    CHECK(c.contains(v));
  }
  CHECK(!c.contains(7));
  CHECK(!c.contains(3124 * 32 + 7));
}

}  // namespace
