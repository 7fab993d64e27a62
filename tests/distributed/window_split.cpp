// SPDX-License-Identifier: Apache-2.0
/// \file
/// Splits into windows whose queries are looked up by kernels, on GPUs and on a device that a CPU
/// emulates: every query gets its own answer, or is listed as overflowed. On the latter also splits
/// whose rows are inserted by table segments.
#include <doctest/doctest.h>

#include "support/emulated_space.hpp"
// The headers below must see its declarations.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "karpos/detail/distributed/window_split.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/hash_map.hpp"
#include "support/emulated_insertion.hpp"
#include "support/emulated_lookup.hpp"
#include "tests/distributed/limits.hpp"
#include "tests/distributed/ranks.hpp"

/// Few rows are split, too.
template <>
struct karpos::detail::distributed::window_tuning<karpos_test::emulated_space>
    : default_window_tuning<karpos_test::emulated_space> {
  static constexpr std::uint64_t min_rows = 1, max_partitions = 96;
};

namespace {

namespace d = karpos::detail::distributed;
using karpos_test::addressed_windows, karpos_test::communicator, karpos_test::memory;
using karpos_test::to_vector, karpos_test::to_view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using tested_space = std::conditional_t<karpos::device::is_device<karpos_test::space>,
                                        karpos_test::space, karpos_test::emulated_space>;
using map_type = karpos::hash_map<u32, u32, karpos_test::space>;

/// A rank's queries: keys below `below`, of which a few are frequent.
u32 query_of(int rank, u64 i, u32 below, u32 frequent) {
  auto const k = static_cast<u32>(karpos::mix(i * 64 + static_cast<u64>(rank)) % below);
  return k % 4 < frequent ? 12 : k;
}

/// Ranks share a GPU.
constexpr u64 no_windows = ~u64(0);

/// Looks up rows_of(r) queries of each rank r. Returns how many of all ranks overflowed, or
/// no_windows.
template <class RowsOf>
u64 check(RowsOf const& rows_of, u32 regions, u32 frequent, double capacity) {
  INFO(regions, " regions, frequent ", frequent, ", capacity ", capacity);
  communicator const ranks = karpos_test::world();
  tested_space const exec{};
  u32 const below = 4000;
  d::key_owner<u32> const owner{static_cast<u32>(ranks.size())};
  std::vector<u32> keys, values;
  for (u32 k = 0; k < below; k += 2)
    if (owner(k) == static_cast<u32>(ranks.rank())) {
      keys.push_back(k);
      values.push_back(7 * k);
    }
  map_type map(ranks.exec(), below);
  map.insert(ranks.exec(), to_view(keys), to_view(values));

  u64 const n = rows_of(ranks.rank());
  std::vector<u32> queries(n);
  for (u64 i = 0; i < n; ++i) queries[i] = query_of(ranks.rank(), i, below, frequent);
  auto const in = to_view(queries);
  d::window_plan plan;
  plan.rows = ranks.all_reduce(n, karpos::maximum{});
  plan.batch = static_cast<u64>(capacity * static_cast<double>(plan.rows)) + 1;
  plan.ranks = ranks.size();
  plan.regions = regions;
  if (capacity == 0) plan.hold_all(plan.rows);
  d::split_offer mine{n, 0, 0, {}};
  karpos::detail::lookup_access::with_table(map, [&](auto const& t) { mine.home = t.home(); });
  auto const all = ranks.all_gather(mine);
  for (std::size_t r = 0; r < all.size(); ++r) plan.homes[r] = all[r].home;

  using source = karpos::detail::partition::keys_only<Kokkos::View<u32*, memory>>;
  d::window_split<tested_space, communicator, source, d::owner_and_region<karpos::hash<u32>>, u32>
      split(ranks, exec, source(in), {{}, plan}, plan);
  d::reusable_windows<tested_space, communicator> windows;
  if (karpos::device::is_device<karpos_test::space> && !windows.may_open(ranks)) return no_windows;
  REQUIRE(windows.may_open(ranks));
  REQUIRE(windows.try_reserve(ranks, split.window_bytes()));
  Kokkos::View<std::byte*, memory> const own("own", split.own_bytes());
  split.allocate(windows.data(), windows.distances(), own.data());
  u64 overflowed = 0;
  for (int again = 0; again < 2; ++again) {
    overflowed = split.run();
    karpos::detail::lookup_access::with_table(map, [&](auto const& table) {
      split.look_up("look up", table, karpos::detail::value_or<u32>{99});
    });
    exec.fence();
    ranks.barrier();
    Kokkos::View<u32*, memory> const out("out", n);
    auto const received =
        split.gather([](u64 rows) { return Kokkos::View<u32*, memory>("received", rows); });
    ranks.barrier();  // all have read the windows
    if (overflowed == 0) {
      std::vector<u32> expected, got = to_vector(received);
      for (int r = 0; r < ranks.size(); ++r)
        for (u64 i = 0; i < all[std::size_t(r)].rows; ++i) {
          u32 const k = query_of(r, i, below, frequent);
          if (owner(k) == static_cast<u32>(ranks.rank())) expected.push_back(k);
        }
      std::sort(expected.begin(), expected.end());
      std::sort(got.begin(), got.end());
      CHECK((got == expected));
    }
    split.restore(karpos::device::for_loop<tested_space>(out));
    u32 const beyond = split.overflowed();
    Kokkos::View<u32*, memory> const list("list", beyond + 1);
    split.list_overflowed(list.data(), beyond);
    exec.fence();
    auto const listed = to_vector(list);
    CHECK(listed[beyond] == beyond);
    std::vector<bool> is_listed(n);
    for (u32 i = 0; i < beyond; ++i) is_listed[listed[i]] = true;
    u64 wrong = 0, missing = beyond;
    auto const found = to_vector(out);
    for (u64 i = 0; i < n; ++i) {
      u32 const k = queries[i];
      if (is_listed[i])
        --missing;
      else
        wrong += found[i] != (k % 2 == 0 ? 7 * k : 99);
    }
    CHECK(wrong == 0);
    CHECK(missing == 0);  // each overflowed row is listed once
  }
  return overflowed;
}

template <class... Arguments>
void none_overflow(Arguments const&... arguments) {
  u64 const n = check(arguments...);
  CHECK((n == 0 || n == no_windows));
}

TEST_CASE("queries are looked up where they were split to") {
  auto const equal = [](int) { return u64(3000); };
  for (u32 const regions : {1, 2, 15}) none_overflow(equal, regions, 0u, 1.0);
  none_overflow([](int r) { return u64(r % 2 == 1 ? 0 : 500 * (r + 1)); }, 7, 0, 1.2);
  none_overflow([](int) { return u64(1); }, 4, 0, 1);
}
/// For windows of CPUs: a process opens the file that it was told of, and no other one.
template <class Space>
void check_handles() {
  if constexpr (!karpos::device::is_device<Space>) {
    using window = karpos::device::peer_window<Space>;
    window mine(Space{}, 100), other;
    auto const right = mine.share();
    auto wrong = right;
    ++wrong.cookie;
    CHECK_THROWS_AS(mine.open({right, wrong}, 0), std::runtime_error);
    mine.close();
    mine.open({right, right}, 0);
    *mine.data() = std::byte(1);
    *mine.distances().of(1, mine.data()) = std::byte(7);  // another address of the same memory
    CHECK(mine.distances().bytes[1] != 0);
    CHECK(std::to_integer<int>(*mine.data()) == 7);
    mine.close();
    mine.free();
    CHECK_THROWS_AS(other.open({wrong, right}, 1), std::runtime_error);
  }
}
TEST_CASE("no process opens a file that is not the window it was told of") {
  check_handles<karpos_test::space>();
}
/// For windows of CPUs: what is tried again after windows were refused on the last rank.
template <class Space>
void check_refusals() {
  if constexpr (!karpos::device::is_device<Space>) {
    communicator const ranks = karpos_test::world();
    bool const is_last = ranks.rank() == ranks.size() - 1;
    std::size_t const small = 1000, large = 1 << 20;
    d::reusable_windows<Space, communicator> some, none;
    {
      karpos_test::lower_limit const bytes(RLIMIT_FSIZE, 1 << 16, is_last);
      CHECK(!some.try_reserve(ranks, large));
    }
    CHECK(!some.try_reserve(ranks, large));
    CHECK(some.may_open(ranks));
    CHECK(some.try_reserve(ranks, small));
    if (ranks.size() == 1) return;
    {
      karpos_test::lower_limit const files(RLIMIT_NOFILE, karpos_test::next_file() + 1, is_last);
      CHECK(!none.try_reserve(ranks, large));
    }
    CHECK(!none.may_open(ranks));
    CHECK(!none.try_reserve(ranks, small));
  }
}
TEST_CASE("smaller windows are tried if memory lacks, but not if they cannot be opened") {
  check_refusals<karpos_test::space>();
}
template <class Space>
void check_unwinding() {
  if constexpr (!karpos::device::is_device<Space>) {
    communicator const ranks = karpos_test::world();
    int const before = addressed_windows();
    try {
      d::reusable_windows<Space, communicator> windows;
      REQUIRE(windows.try_reserve(ranks, 1000));
      CHECK(addressed_windows() == before + ranks.size());
      throw std::runtime_error("a table is full");
    } catch (std::runtime_error const&) {
    }
    CHECK(addressed_windows() == before);
  }
}
TEST_CASE("an exception leaves no window of a CPU behind") {
  check_unwinding<karpos_test::space>();
}
/// Stands for a communicator of GPUs, which may exchange through the host nevertheless.
struct ranks_of_devices {
  MPI_Comm comm;
  bool between_devices;
  MPI_Comm mpi() const { return comm; }
  bool has_device_of_its_own() const { return between_devices; }
};

TEST_CASE("windows between devices are not those of a communicator that stages on the host") {
  d::windows_by_ranks<int> windows;
  communicator const same_ranks = karpos_test::world();
  int& between = windows.of(ranks_of_devices{MPI_COMM_WORLD, true});
  int& through_host = windows.of(ranks_of_devices{MPI_COMM_WORLD, false});
  CHECK(&through_host != &between);
  CHECK(&windows.of(ranks_of_devices{same_ranks.mpi(), true}) == &between);
  CHECK(&windows.of(ranks_of_devices{same_ranks.mpi(), false}) == &through_host);
  between = through_host = 1;
  windows.close(ranks_of_devices{MPI_COMM_WORLD, false});
  CHECK((between == 1 && through_host == 0));
}

TEST_CASE("pieces of windows are copied by chunks, however few they are") {
  using step = d::copy_chunk_of_pieces<u32, std::byte>;
  std::vector<u32> rows(4 * step::chunk), copied(rows.size());
  for (u32 i = 0; i < rows.size(); ++i) rows[i] = i + 1;
  for (auto const& counts : {std::vector<u64>{3 * step::chunk - 1},
                             {2 * step::chunk, step::chunk},
                             {0, 1, 0, step::chunk, 2 * step::chunk, 0, 3, 5, 0},
                             {0, 0}}) {
    std::vector<d::window_piece<u32, std::byte>> pieces;
    d::blocks const to(counts);
    // The last piece lies first in memory.
    for (std::size_t p = 0; p < counts.size(); ++p)
      pieces.push_back({rows.data() + (to.total - to.begin[p] - counts[p]), nullptr, counts[p]});
    step const copy{pieces.data(), to.begin.data(), counts.size(), to.total, copied.data()};
    CHECK(copy.chunks() == (to.total + step::chunk - 1) / step::chunk);
    std::fill(copied.begin(), copied.end(), 0u);
    for (u64 c = copy.chunks(); c-- > 0;) copy(c);
    u64 wrong = 0;
    for (std::size_t p = 0; p < counts.size(); ++p)
      for (u64 i = 0; i < counts[p]; ++i) wrong += copied[to.begin[p] + i] != pieces[p].rows[i];
    CHECK(wrong == 0);
    CHECK(std::count(copied.begin(), copied.end(), 0u) == std::ptrdiff_t(copied.size() - to.total));
  }
}

TEST_CASE("ranks whose caches differ choose the same regions") {
  constexpr u64 small = 3 << 20, large = 2 * small, rows = 1 << 23, table = 60 << 20;
  auto const regions = [&](u64 first, u64 second) {
    return d::plan_windows<tested_space>({{rows, table, first, {}}, {rows, table, second, {}}})
        .regions;
  };
  CHECK(regions(small, large) == regions(small, small));
  CHECK(regions(large, small) == regions(small, small));
  CHECK(regions(small, small) > regions(large, large));
}
TEST_CASE("queries that overflow are listed") {
  auto const equal = [](int) { return u64(3000); };
  CHECK(check(equal, 16, 3, 1) > 0);
  CHECK(check(equal, 4, 0, 0.5) > 0);
  CHECK(check([](int r) { return u64(r == 0 ? 3000 : 0); }, 8, 4, 1) > 0);
  none_overflow([](int r) { return u64(r == 0 ? 3000 : 100); }, 1, 4, 0);  // all fit
}

/// A rank's rows: `frequent` of 256 have the same key, others come from `keys` keys of all ranks.
struct rows_of_ranks {
  u64 rows, keys, frequent;
  u64 seed = 0;
  [[maybe_unused]] std::vector<karpos::key_value<u32, u32>> of(int rank) const {
    std::vector<karpos::key_value<u32, u32>> all;
    for (u64 i = 0; i < (rank == 1 ? 0 : rows + 100 * static_cast<u64>(rank)); ++i) {
      u64 const draw = karpos::mix(seed + i * 64 + static_cast<u64>(rank));
      all.push_back({.key = static_cast<u32>(draw >> 32) % 256 < frequent
                                ? 12
                                : static_cast<u32>(karpos::mix(draw % keys)),
                     .value = static_cast<u32>(1 + i * 8 + static_cast<u64>(rank))});
    }
    return all;
  }
};
/// The tables of ranks on an emulated device, with what they must contain.
template <class Space, class Combine>
struct emulated_tables {
  using communicator = karpos::distributed::communicator<Space>;
  using row = karpos::key_value<u32, u32>;
  using emulated_space = karpos_test::emulated_space;
  communicator const ranks{MPI_COMM_WORLD};
  karpos_test::emulated_map<u32, u32> map;
  std::map<u32, u32> expected;

  /// Each rank's table has another size.
  explicit emulated_tables(u64 max_keys) : map(max_keys + 700 * static_cast<u64>(ranks.rank())) {}

  bool is_empty() const { return map.size(Kokkos::DefaultHostExecutionSpace{}) == 0; }
  /// Returns how ranks split n rows of this one. fit: whether they fit before its table grows.
  d::window_plan plan_of(u64 n, bool fit = true) const {
    d::split_offer offer{n, map.capacity() * sizeof(u64), 4096, map.ref().home()};
    auto const how = karpos::detail::plan_pieces(
        emulated_space{}, map, ranks.all_reduce(n) / static_cast<u64>(ranks.size()), is_empty(),
        fit, d::max_coarse_partitions<emulated_space>(ranks.size()));
    offer.segments = d::segments_of<emulated_space>(map.ref(), how.max_coarse);
    return d::plan_windows<emulated_space>(ranks.all_gather(offer));
  }
  /// Inserts rows of all ranks. Returns whether it did; if not, the table must be as before.
  /// `slack`: factor of the capacities of windows.
  bool insert(rows_of_ranks const& rows, double slack = 1) {
    auto const mine = rows.of(ranks.rank());
    std::vector<u32> keys, values;
    for (row const& r : mine) {
      keys.push_back(r.key);
      values.push_back(r.value);
    }
    bool const was_empty = is_empty();
    auto const k = to_view(keys), v = to_view(values);
    auto const source = karpos::detail::partition::source_of_rows<row, emulated_space>(k, v);
    auto const table = map.ref();
    auto plan = plan_of(mine.size());
    REQUIRE(plan.by_segments);
    CHECK(plan.regions > 1);
    CHECK(plan.partitions() <= 96);
    CHECK(plan.mean_rows() * ranks.size() * static_cast<double>(table.pairs()) * 1.0001 >
          static_cast<double>(plan.batch * plan.region_pairs[ranks.rank()]));
    plan.batch = static_cast<u64>(slack * static_cast<double>(plan.rows));
    d::window_split<emulated_space, communicator, std::decay_t<decltype(source)>,
                    d::owner_and_pairs<karpos::hash<u32>>, void>
        split(ranks, emulated_space{}, source, {{}, plan}, plan);
    d::reusable_windows<emulated_space, communicator> windows;
    REQUIRE(windows.may_open(ranks));
    REQUIRE(windows.try_reserve(ranks, split.window_bytes()));
    Kokkos::View<std::byte*, Kokkos::HostSpace> const own("own", split.own_bytes());
    split.allocate(windows.data(), windows.distances(), own.data());
    REQUIRE(split.run() == 0);

    karpos::insert_report report;
    Kokkos::View<row*, Kokkos::HostSpace> received;
    auto const gather = [&] {
      received = split.gather([](u64 n) { return decltype(received)("received", n); });
    };
    gather();
    std::vector<std::pair<u32, u32>> owned, got;
    for (int r = 0; r < ranks.size(); ++r)
      for (row const& x : rows.of(r))
        if (owner(x.key) == static_cast<u32>(ranks.rank())) owned.emplace_back(x.key, x.value);
    for (u64 i = 0; i < received.extent(0); ++i)
      got.emplace_back(received(i).key, received(i).value);
    for (auto* const all : {&owned, &got}) std::sort(all->begin(), all->end());
    CHECK((got == owned));
    emulated_space::launches.clear();
    bool const in_pieces = split.try_with_pieces(gather, [&](auto const& pieces) {
      CHECK(pieces.count == owned.size());
      CHECK((pieces.home == table.home()));
      auto const how = karpos::detail::plan_pieces(emulated_space{}, map, pieces.count, was_empty,
                                                   true, pieces.max_coarse);
      typename karpos_test::emulated_map<u32, u32>::report_view const view("report");
      return karpos::detail::with_segmented_insertion(
          emulated_space{}, "insert", map, how, {}, Combine{}, [&](auto& insertion) {
            return insertion.insert_pieces(pieces.source(), pieces.from, {was_empty, false}, view,
                                           report);
          });
    });
    CHECK(emulated_space::launched("karpos::partition: move into fixed partitions") <= 1);
    if (in_pieces) {
      auto const before = expected.size();
      for (auto const& [key, value] : owned) {
        auto const [at, is_new] = expected.emplace(key, value);
        if (!is_new) at->second = Combine{}(at->second, value);
      }
      CHECK(report.inserted == expected.size() - before);
      CHECK(report.inserted + report.existing == owned.size());
    }
    check();
    ranks.barrier();  // all have read the windows
    return in_pieces;
  }

 private:
  d::key_owner<u32> const owner{static_cast<u32>(ranks.size())};
  void check() const {
    std::vector<u32> keys;
    for (auto const& [key, value] : expected) keys.push_back(key);
    CHECK(map.size(Kokkos::DefaultHostExecutionSpace{}) == keys.size());
    Kokkos::View<u32*, memory> const out("out", keys.size());
    map.find(Kokkos::DefaultHostExecutionSpace{}, to_view(keys), out, 0);
    auto const found = to_vector(out);
    u64 wrong = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) wrong += found[i] != expected.at(keys[i]);
    CHECK(wrong == 0);
  }
};

template <class Space>
void check_insertions() {
  if constexpr (!karpos::device::is_device<Space>)
    for (u64 const rows : {5000, 12000}) {
      INFO(rows, " rows of a rank");
      emulated_tables<Space, karpos::plus> sums(3 * rows);
      CHECK(sums.insert({rows, rows, 0}));
      // 94 rows of one key on each of seven ranks do not fit into the owner's part of its table.
      u64 const frequent = sums.ranks.size() <= 5 ? 2 : 1;
      CHECK(sums.insert({rows, 2 * rows, frequent, 99}, 4));
      emulated_tables<Space, karpos::minimum> least(3 * rows);
      CHECK(least.insert({rows, 10 * rows, 0}));
    }
}
TEST_CASE("rows are inserted by table segments where they were split to") {
  check_insertions<karpos_test::space>();
}
/// Rows are split by table segments if, and only if, all tables would insert their pieces.
template <class Space>
void check_choice() {
  if constexpr (!karpos::device::is_device<Space>) {
    emulated_tables<Space, karpos::plus> tables(36'000);
    bool const is_last = tables.ranks.rank() == tables.ranks.size() - 1;
    CHECK(tables.plan_of(12'000).by_segments);
    CHECK(!tables.plan_of(12'000, !is_last).by_segments);
    tables.map.defers = is_last;
    CHECK(!tables.plan_of(12'000).by_segments);
    tables.map.defers = false;
    CHECK(tables.plan_of(2000).by_segments);
    CHECK(tables.insert({12'000, 12'000, 0}));
    CHECK(tables.plan_of(12'000).by_segments);
    CHECK(!tables.plan_of(1000).by_segments);  // too few for the table
    CHECK(tables.plan_of(is_last ? 2000 * static_cast<u64>(tables.ranks.size()) : 0).by_segments);
  }
}
TEST_CASE("rows are split by table segments if all tables insert by them") {
  check_choice<karpos_test::space>();
}
template <class Space>
void check_overflow() {
  if constexpr (!karpos::device::is_device<Space>) {
    u64 const rows = 12000;
    emulated_tables<Space, karpos::plus> sums(3 * rows);
    CHECK(sums.insert({rows, rows, 0}));
    bool const inserts = sums.insert({rows, rows, 120, 5}, 100);
    CHECK(sums.ranks.all_reduce(inserts ? 0 : 1, karpos::maximum{}) == 1);
  }
}
TEST_CASE("rows that overflow the segments of a table leave it as it is") {
  check_overflow<karpos_test::space>();
}

}  // namespace
