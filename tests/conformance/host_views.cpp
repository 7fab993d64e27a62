// SPDX-License-Identifier: Apache-2.0
#include "conformance/host_views_suite.hpp"

#include <numeric>

namespace {

TEST_CASE("host views: every operation of hash_map") {
  every_operation<karpos::hash_map<u32, u64, space>>();
}
TEST_CASE("host views: hopscotch_map") {
  using map_type = karpos::hopscotch_map<u64, u32, space>;
  for (std::size_t const n : sizes) {
    INFO("elements: ", n);
    insertions<map_type, pageable, pinned>(n);
  }
}
TEST_CASE("host views: lookups of cuckoo_map") {
  using map_type = karpos::cuckoo_map<u32, u32, space>;
  for (std::size_t const n : sizes) {
    INFO("elements: ", n);
    offers<map_type> const o(n);
    map_type map(space{}, view<u32>("keys", 0), view<u32>("values", 0),
                 {.layout = karpos::cuckoo_layout::dense});
    fill_with_every_second(map, o);
    lookups_everywhere(map, o);
  }
}

TEST_CASE("host views: sets") {
  for (std::size_t const n : sizes) {
    INFO("elements: ", n);
    placed<pageable, u32> const keys(unique_keys<u32>(n));
    placed<pinned, flag> const stencil(n, flag(1));
    placed<pageable, bool> const there(n, false);
    karpos::hash_set<u32, space> set(space{}, n);
    holds("report", set.insert(space{}, keys.view) == karpos::insert_report{n, 0, 0, 0});
    holds("report of insert_if",
          set.insert_if(space{}, keys.view, stencil.view) == karpos::insert_report{0, n, 0, 0});
    set.contains(space{}, keys.view, there.view);
    holds("all are there", there.contents() == std::vector<bool>(n, true));
    same("count", set.count(space{}, keys.view), n);
    same("erase", set.erase(space{}, keys.view), n);
    same("size", set.size(space{}), 0);
  }
}

template <class Map, class Memory>
void applies(std::size_t n) {
  using operation = karpos::map_operation<u32, u32>;
  auto const keys = unique_keys<u32>(3 * n);
  Map map(space{}, 2 * n);
  std::vector<u32> const in(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(2 * n));
  map.insert(space{}, to_space(in), 5u);
  std::vector<operation> operations;
  for (std::size_t i = 0; i < n; ++i) {  // each on a key of its own
    operations.push_back({karpos::map_op::find, keys[i], 0});
    operations.push_back({karpos::map_op::erase, keys[n + i], 0});
    operations.push_back({karpos::map_op::insert, keys[2 * n + i], 6});
  }
  placed<Memory, operation> const given(operations);
  placed<Memory, karpos::map_result<u32>> const results(3 * n, karpos::map_result<u32>{});
  map.apply(space{}, given.view, results.view);
  auto const seen = results.contents();
  u64 wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    wrong += seen[3 * i].outcome != karpos::outcome::found || seen[3 * i].value != 5;
    wrong += seen[3 * i + 1].outcome != karpos::outcome::erased;
    wrong += seen[3 * i + 2].outcome != karpos::outcome::inserted;
  }
  same("wrong results of apply", wrong, 0);
  same("size after apply", map.size(space{}), 2 * n);
}
TEST_CASE("host views: apply") {
  for (std::size_t const n : sizes) {
    INFO("operations: ", 3 * n);
    applies<karpos::hash_map<u32, u32, space>, pageable>(n);
#if KARPOS_FULL_TESTS
    applies<karpos::hash_map<u32, u32, space>, pinned>(n);
#endif
    applies<karpos::hopscotch_map<u32, u32, space>, pinned>(n);
  }
}

template <class Memory>
void strided() {
  constexpr std::size_t n = 23;
  auto const keys = unique_keys<u32>(n);
  std::vector<u32> rows(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    rows[3 * i] = keys[i];
    rows[3 * i + 1] = static_cast<u32>(i);
  }
  placed<Memory, u32> const table(rows);
  using column = Kokkos::View<u32*, Kokkos::LayoutStride, Memory, Kokkos::MemoryUnmanaged>;
  auto const of_table = [&](std::size_t first) {
    return column(table.view.data() + first, Kokkos::LayoutStride(n, 3));
  };
  karpos::hash_map<u32, u32, space> map(space{}, n);
  holds("report",
        map.insert(space{}, of_table(0), of_table(1)) == karpos::insert_report{n, 0, 0, 0});
  map.find(space{}, of_table(0), of_table(2), 99);
  for (std::size_t i = 0; i < n; ++i) rows[3 * i + 2] = static_cast<u32>(i);
  holds("columns of a table", table.contents() == rows);
}
TEST_CASE("host views: strided ones") {
  strided<pageable>();
#if KARPOS_FULL_TESTS
  strided<pinned>();
#endif
}

TEST_CASE("host views: a table that grows, and one that does not") {
  constexpr std::size_t n = 3000;
  auto const keys = unique_keys<u32>(n);
  std::vector<u32> values(n);
  std::iota(values.begin(), values.end(), 1u);
  placed<pageable, u32> const k(keys), v(values);
  karpos_test::oracle<u32, u32> expected;
  for (std::size_t i = 0; i < n; ++i) expected.insert(keys[i], values[i]);
  using map_type = karpos::hash_map<u32, u32, space>;
  map_type grows(space{}, 10, {.growth = karpos::growth::automatic});
  holds("growing", grows.insert(space{}, k.view, v.view) == karpos::insert_report{n, 0, 0, 0});
  contents_are("contents after growing", grows, expected);
  karpos::hopscotch_map<u32, u32, space> hops(space{}, 10);
  holds("growing", hops.insert(space{}, k.view, v.view) == karpos::insert_report{n, 0, 0, 0});
  map_type full(space{}, 10);
  auto const report = full.insert(space{}, k.view, v.view);
  same("all keys are reported", report.inserted + report.rejected, n);
  same("those reported are in", full.size(space{}), report.inserted);
  holds("some found no slot", report.rejected != 0);
  throws<karpos::capacity_error>([&] { full.insert_or_throw(space{}, k.view, v.view); }, "is full");
}

TEST_CASE("host views: extents in the types of views") {
  auto const numbers = unique_keys<u32>(23);
  placed<pageable, u32> const keys(numbers);
  Kokkos::View<u32[23], table_memory> const values("values");
  Kokkos::deep_copy(values, to_space(numbers));
  Kokkos::View<u32[23], pageable, Kokkos::MemoryUnmanaged> const same_keys(keys.view.data());
  karpos_test::oracle<u32, u32> expected;
  for (u32 const k : numbers) expected.insert(k, k);
  karpos::hash_map<u32, u32, space> a(space{}, 100), b(space{}, 100);
  holds("values", a.insert(space{}, keys.view, values) == karpos::insert_report{23, 0, 0, 0});
  contents_are("contents with values of a fixed extent", a, expected);
  holds("keys", b.insert(space{}, same_keys, values) == karpos::insert_report{23, 0, 0, 0});
  contents_are("contents with keys of a fixed extent", b, expected);
}

TEST_CASE("host views: what is refused") {
  auto keys = unique_keys<u32>(23);
  keys[3] = keys[17] = ~u32(0);
  placed<pageable, u32> const k(keys), few(4, 0);
  karpos::hash_map<u32, u32, space> map(space{}, 23), none;
  throws<std::invalid_argument>([&] { map.insert(space{}, k.view, 1u); }, "2 of 23 keys",
                                "21 inserted");
  same("the others are in", map.size(space{}), 21);
  throws<std::invalid_argument>([&] { map.insert(space{}, k.view, few.view); }, "differ in extent");
  throws<std::invalid_argument>([&] { map.find(space{}, k.view, few.view, 0u); },
                                "differ in extent");
  placed<pageable, u32> const empty(0, 0);
  throws<std::logic_error>([&] { none.find(space{}, empty.view, empty.view, 0u); }, "no memory");
  throws<std::logic_error>([&] { none.insert(space{}, empty.view, 1u); }, "no memory");
  throws<std::logic_error>([&] { none.erase(space{}, empty.view); }, "no memory");
}

/// Copies in batches. Returns: the batches' sizes.
std::vector<u64> sizes_of_copies(karpos::detail::batch_plan const& plan,
                                 placed<pageable, u32> const& from,
                                 placed<pageable, u32> const& to) {
  using karpos::detail::input;
  using karpos::detail::output;
  using view_type = typename placed<pageable, u32>::view_type;
  std::vector<u64> seen;
  karpos::detail::batches<space, input<view_type>, output<view_type>>(
      space{}, from.view.extent(0), plan, input{from.view}, output{to.view})
      .run([&](space const& exec, auto const& source, auto const& target) {
        seen.push_back(source.extent(0));
        Kokkos::deep_copy(exec, target, source);
      });
  return seen;
}

TEST_CASE("host views: batches") {
  for (std::size_t const buffers : {2u, 3u, 5u})
    for (u64 const size : {1u, 3u, 4u})
      for (std::size_t n = 1; n < 14; ++n) {
        auto const keys = unique_keys<u32>(n);
        placed<pageable, u32> const from(keys), to(n, 0);
        std::vector<u64> expected(n / size, size);
        if (n % size != 0) expected.push_back(n % size);
        holds("sizes of batches", sizes_of_copies({size, buffers}, from, to) == expected);
        holds("what batches write", to.contents() == keys);
      }
}

TEST_CASE("host views: an operation that throws leaves nothing behind") {
  using karpos::detail::input;
  placed<pinned, u32> const from(unique_keys<u32>(40));
  int calls = 0;
  throws<std::runtime_error>(
      [&] {
        karpos::detail::in_batches(
            space{}, 40,
            [&](auto const&, auto const&) {
              if (++calls == 3) throw std::runtime_error("in the third batch");
            },
            input{from.view});
      },
      "in the third batch");
  same("batches until then", static_cast<u64>(calls), 3);
}

TEST_CASE("host views: little memory makes batches small, and none is said") {
  if (on_device) {
    MESSAGE("skipped: only the memory of the host can be bounded");
    return;
  }
  if (karpos_test::dies_without_memory) {
    MESSAGE("skipped: the address sanitizer ends programs that have no memory");
    return;
  }
  std::size_t const n = std::size_t(1) << 22;
  std::vector<u32> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 1u);
  placed<pageable, u32> const from(numbers), to(n, 0);
  std::vector<u64> seen;
  {
    karpos_test::memory_limit const limit(karpos_test::data_bytes() + (u64(8) << 20));
    seen = sizes_of_copies({n, 2}, from, to);
  }
  holds("batches are smaller", seen.front() < n / 4);
  same("all are in batches", std::accumulate(seen.begin(), seen.end(), u64(0)), n);
  holds("what they write", to.contents() == numbers);
  u64 const endless = u64(1) << 40;  // not read: there are no buffers
  Kokkos::View<u32*, pageable, Kokkos::MemoryUnmanaged> const all(from.view.data(), endless);
  using karpos::detail::input;
  using batches_type = karpos::detail::batches<space, input<decltype(all)>>;
  throws<karpos::allocation_error>(
      [&] {
        karpos_test::memory_limit const limit(karpos_test::data_bytes() + (u64(8) << 20));
        batches_type(space{}, endless, {endless, 2}, input<decltype(all)>{all});
      },
      "karpos: out of memory", "staging buffers");
}

}  // namespace
