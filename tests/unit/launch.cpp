// SPDX-License-Identifier: Apache-2.0
/// \file
/// Launches visit every index exactly once, for all sizes, and fetch before they work.
#include <doctest/doctest.h>

#include <karpos/detail/tables/probe.hpp>
#include <karpos/device/launch.hpp>
#include <karpos/device/league.hpp>
#include <karpos/device/loop_arguments.hpp>

#include "support/check.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::space;
using karpos_test::view;

/// Sizes around all multiples that launches use: teams of 256 / W tiles, pipelines of 4 and 64
/// stages, blocks of 4 pipelines.
constexpr std::uint64_t sizes[] = {0,   1,   2,    3,    7,    8,    9,    31,   32,    33,
                                   63,  64,  65,   127,  128,  129,  255,  256,  257,   511,
                                   512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 10007, 70001};

struct count_visits {
  view<std::uint32_t> visits;
  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    t.on(~karpos::lane_mask<Tile::width>(), [&](int lane) {
      Kokkos::atomic_inc(&visits(i * Tile::width + static_cast<std::uint64_t>(lane)));
    });
  }
};

template <int W>
void reaches_every_index() {
  for (std::uint64_t const n : sizes) {
    INFO("W = ", W, ", n = ", n);
    view<std::uint32_t> const visits("visits", n * W);
    karpos::device::for_each_tile<W>("karpos_test::visit", space{}, n, count_visits{visits});
    CHECK(karpos_test::to_host(visits) == std::vector<std::uint32_t>(n * W, 1));
  }
}

TEST_CASE("for_each_tile") {
  reaches_every_index<1>();
  reaches_every_index<2>();
  reaches_every_index<8>();
  reaches_every_index<32>();
}

/// Checks that the body is called once for each stage, in order, and after the stage was fetched if
/// stages are fetched. Some indices have several stages, and in some groups of 600 nearly all
/// indices do.
template <bool Stepwise>
struct staged {
  karpos::device::held_by_loop<space, view<std::uint32_t>> fetched, visits;

  struct progress {
    std::uint64_t index;
    int number;
  };
  KOKKOS_FUNCTION static progress stage(std::uint64_t i) { return {i, 0}; }
  KOKKOS_FUNCTION static std::uint64_t home(std::uint64_t i) { return 3 * i + 1; }
  KOKKOS_FUNCTION static progress first_stage(std::uint64_t i, std::uint64_t home) {
    return {home == 3 * i + 1 ? i : 0, 0};
  }
  KOKKOS_FUNCTION void fetch(progress const& s) const {
    Kokkos::atomic_fetch_or(&fetched(s.index), 1u << s.number);
  }
  KOKKOS_FUNCTION void move_on(progress& s) const { ++s.number; }
  KOKKOS_FUNCTION static int stages(std::uint64_t i) {
    if (!Stepwise) return 1;
    return 1 + static_cast<int>(i / 600 % 2 == 0 ? i * i % 5 : i % 7 == 0 ? 0 : 9);
  }
  /// Returns: the counter to increment, i mod 4; 3 means none.
  KOKKOS_FUNCTION karpos::device::staged_result operator()(std::uint64_t i,
                                                           progress const& s) const {
    bool const right =
        s.index == i && s.number == static_cast<int>(visits(i) % 100) && s.number < stages(i) &&
        (!Stepwise || ((karpos::device::load_relaxed(&fetched(i)) >> s.number) & 1) != 0);
    Kokkos::atomic_add(&visits(i), right ? 1u : 100000u);
    if (s.number + 1 < stages(i)) return karpos::device::staged_result::again();
    return i % 4 == 3 ? karpos::device::staged_result::done()
                      : karpos::device::staged_result::counted(static_cast<int>(i % 4));
  }
};

template <int Distance>
void probes_every_stage() {
  Kokkos::View<karpos::insert_report, space::memory_space> const tally("tally");
  using body = staged<(Distance > 0)>;
  for (std::uint64_t const n : sizes) {
    INFO("distance = ", Distance, ", n = ", n);
    view<std::uint32_t> const fetched("fetched", n), visits("visits", n);
    body const b{karpos::device::for_loop<space>(fetched), karpos::device::for_loop<space>(visits)};
    std::vector<std::uint32_t> stages(n);
    for (std::uint64_t i = 0; i < n; ++i) stages[i] = static_cast<std::uint32_t>(body::stages(i));
    karpos::device::for_each_staged<Distance>("karpos_test::staged", space{}, n, b);
    CHECK(karpos_test::to_host(visits) == stages);

    // The tally does not depend on what the view held before.
    Kokkos::deep_copy(visits, 0);
    Kokkos::deep_copy(fetched, 0);
    karpos::device::tally_each_staged<Distance>("karpos_test::staged", space{}, n, b, tally);
    space{}.fence();
    CHECK(karpos_test::to_host(visits) == stages);
    CHECK(bool(karpos_test::to_host_scalar(tally) ==
               karpos::insert_report{(n + 3) / 4, (n + 2) / 4, (n + 1) / 4, 0}));
  }
}

/// Checks every function on words of scratch memory (CUDA's shared memory) when all threads of a
/// team call it, and the team's collectives.
struct scratch_step {
  static constexpr int threads = karpos::device::is_device<space> ? 128 : 1, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = 64 * sizeof(std::uint32_t);
  view<std::uint32_t> wrong;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto* const w = reinterpret_cast<std::uint32_t*>(t.scratch());
    auto const rank = static_cast<std::uint32_t>(t.rank()),
               size = static_cast<std::uint32_t>(t.size());
    for (std::uint32_t i = rank; i < 64; i += size) w[i] = 0;
    t.barrier();
    using karpos::device::scratch;
    bool bad = karpos::device::fetch_add(scratch(w), 2) > 2 * size;
    karpos::device::set_bits(scratch(w + 1 + rank / 32), 1u << rank % 32);
    karpos::device::fetch_max(scratch(w + 8), rank + 1);
    karpos::device::add(scratch(w + 20), karpos::device::exchange(scratch(w + 21), rank + 1));
    for (std::uint32_t seen = 0;;) {
      std::uint32_t const was = karpos::device::compare_and_swap(scratch(w + 9), seen, seen + 3);
      if (was == seen) break;
      seen = was;
    }
    std::uint32_t const ticket = t.append(w + 10, rank % 3 == 0);
    if (rank % 3 == 0) karpos::device::set_bits(scratch(w + 12 + ticket / 32), 1u << ticket % 32);
    t.barrier();
    std::uint32_t const thirds = (size + 2) / 3;
    bad |= w[20] + w[21] != size * (size + 1) / 2;
    bad |= karpos::device::load_relaxed(scratch(w)) != 2 * size || w[8] != size ||
           w[9] != 3 * size || w[10] != thirds || (w[1 + rank / 32] >> rank % 32 & 1) == 0 ||
           (rank < thirds && (w[12 + rank / 32] >> rank % 32 & 1) == 0);
    std::uint64_t total = 0;
    bad |= t.prefix_sum(rank, total) != std::uint64_t(rank) * (rank - (rank > 0)) / 2 ||
           total != std::uint64_t(size) * (size - 1) / 2 || !t.any(rank == size - 1) ||
           t.any(false);
    if (bad) karpos::device::add(&wrong(t.league_rank()), 1u);
  }
};

TEST_CASE("a league: words of scratch and the collectives of a team") {
  for (int const teams : {0, 1, 7, 300}) {
    scratch_step const step{view<std::uint32_t>("wrong", std::size_t(teams))};
    karpos::device::for_each_in_league("karpos_test::scratch", space{}, teams, step);
    space{}.fence();
    CHECK(karpos_test::to_host(step.wrong) == std::vector<std::uint32_t>(std::size_t(teams), 0));
  }
}

TEST_CASE("for_each_staged and tally_each_staged") {
  probes_every_stage<0>();
  probes_every_stage<4>();
  probes_every_stage<7>();
  probes_every_stage<32>();
  probes_every_stage<64>();
}

}  // namespace
