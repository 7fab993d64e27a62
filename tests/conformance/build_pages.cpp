// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "karpos/detail/open_addressing/page_insertion.hpp"
#include "karpos/hash_map.hpp"
#include "support/emulated_team.hpp"
#include "support/keys.hpp"

// The step that teams of a GPU build pages of a table with, on teams that a CPU emulates: threads come in any order.

namespace {

using namespace karpos::detail::open_addressing;
using exec_space = Kokkos::DefaultHostExecutionSpace;
using karpos_test::emulated_block;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A map of buckets of 32 bytes, whose table a test may change.
template <class Key, class T>
struct open_map : karpos::hash_map<Key, T, exec_space, karpos::hash<Key>, karpos::equal_to<Key>,
                                   karpos::double_hashing, sizeof(Key) + sizeof(T) == 8 ? 4 : 2> {
  using open_map::hash_map::hash_map;
  auto table() const { return this->m_storage.ref(); }
};

template <class Key, class T, class Combine>
class pages_of_a_map {
  using map_type = open_map<Key, T>;
  using table = decltype(std::declval<map_type const&>().table());
  using row = row_of<table>;
  using step = build_pages<exec_space, table, Combine>;

 public:
  explicit pages_of_a_map(u64 max_keys) : m_map(exec_space{}, max_keys, {.load = 0.9}) {
    (void)m_map.ref();  // what changes the table is not seen by it
  }
  map_type& map() { return m_map; }

  /// Runs the step over some rows in pages of at most so many pairs, with room for so many rows left in the list.
  page_counts run(std::vector<row> const& input, u64 max_page_pairs, u64 max_parts, u64 room,
                  bool is_empty, Combine const& combine, u64 seed) {
    page_plan const plan(m_map.bucket_count() / 2, max_page_pairs, max_parts);
    CHECK(plan.parts * plan.part_pairs >= plan.pairs);
    CHECK(plan.pages_per_part * plan.page_pairs >= plan.part_pairs);
    CHECK(plan.page_pairs <= std::max(max_page_pairs, u64(2)));
    CHECK(plan.parts <= max_parts);
    table const t = m_map.table();
    split(part_of_key<table>(t, plan), input, plan.parts);
    m_listed.assign(room + 1, row{});
    m_bits.assign(input.size() / 32 + 1, 0);
    page_counts counts{};
    step const s(t, plan, m_rows.data(), m_begins.data(), {m_listed.data(), room, m_bits.data()},
                 &counts, is_empty, combine);
    emulated_block block(24, seed);
    auto const teams = static_cast<int>(plan.parts * plan.pages_per_part);
    for (int team = 0; team < teams; ++team) block.run(s, team, teams);
    return counts;
  }
  /// The rows that were left, from the list and from the bits.
  std::vector<row> left(u64 count, u64 room) const {
    std::vector<row> rows(m_listed.begin(),
                          m_listed.begin() + static_cast<long>(std::min(count, room)));
    for (u64 i = 0; i < m_rows.size(); ++i)
      if (set_bits_of{m_bits.data()}(i)) rows.push_back(m_rows[i]);
    return rows;
  }

  /// Whether the first pair of buckets on a row's path has an empty slot, or its key.
  bool has_place(row const& r) const {
    table const t = m_map.table();
    auto const holds = t.holds(r.key);
    auto const is_empty = t.slot().is_empty();
    constexpr u64 pair_slots = 2 * table::bucket_slots;
    u64 const first = t.start(r.key).pair() * pair_slots;
    for (u64 s = first; s < first + pair_slots; ++s)
      if (is_empty(*t.slot_at(s)) || holds(*t.slot_at(s))) return true;
    return false;
  }

 private:
  void split(part_of_key<table> const& part_of, std::vector<row> const& input, u64 parts) {
    std::vector<std::vector<row>> in_parts(parts);
    for (row const& r : input) in_parts.at(part_of(r.key)).push_back(r);
    m_rows.clear();
    m_begins.assign(1, 0);
    for (auto const& part : in_parts) {
      m_rows.insert(m_rows.end(), part.begin(), part.end());
      m_begins.push_back(m_rows.size());
    }
  }

  map_type m_map;
  std::vector<row> m_rows, m_listed;
  std::vector<u64> m_begins;
  std::vector<u32> m_bits;
};

template <class Key, class T>
std::map<Key, T> contents(auto const& map) {
  std::map<Key, T> in;
  u64 const n = map.size(exec_space{});
  Kokkos::View<Key*, Kokkos::HostSpace> const keys("keys", n);
  Kokkos::View<T*, Kokkos::HostSpace> const values("values", n);
  CHECK(map.retrieve_all(exec_space{}, keys, values) == n);
  for (u64 i = 0; i < n; ++i) in[keys(i)] = values(i);
  CHECK(in.size() == n);
  return in;
}

template <class X>
Kokkos::View<X*, Kokkos::HostSpace> view_of(std::vector<X> const& from) {
  Kokkos::View<X*, Kokkos::HostSpace> const to("data", from.size());
  std::copy(from.begin(), from.end(), to.data());
  return to;
}

/// Rows with equal keys among them go into a map that holds some; the rows left are inserted one by one.
template <class Key, class T>
void sums_by_key(u64 n, u64 max_page_pairs, u64 max_parts, u64 room, bool is_empty) {
  INFO("n = ", n, ", pages of ", max_page_pairs, ", parts ", max_parts, ", room ", room);
  auto const keys = karpos_test::unique_keys<Key>(n);
  auto const draws = karpos_test::skewed_draws(keys, n, n);
  pages_of_a_map<Key, T, karpos::plus> pages(n);
  auto& map = pages.map();
  std::map<Key, T> expected;
  if (!is_empty) {
    std::vector<Key> const some(keys.begin(), keys.begin() + static_cast<long>(n / 3));
    map.insert(exec_space{}, view_of(some), T(1));
    for (Key const key : some) expected[key] = T(1);
  }
  u64 const before = expected.size();
  std::vector<karpos::key_value<Key, T>> rows;
  for (u64 i = 0; i < n; ++i) {
    rows.push_back({draws[i], static_cast<T>(i)});
    expected[draws[i]] += static_cast<T>(i);
  }
  page_counts const counts = pages.run(rows, max_page_pairs, max_parts, room, is_empty, {}, n);
  std::vector<Key> left_keys;
  std::vector<T> left_values;
  u64 needlessly = 0;
  for (auto const& r : pages.left(counts.left, room)) {
    needlessly += pages.has_place(r);
    left_keys.push_back(r.key);
    left_values.push_back(r.value);
  }
  CHECK(left_keys.size() == counts.left);
  CHECK(needlessly == 0);
  CHECK(counts.report.inserted + counts.report.existing + counts.left == n);
  auto const rest =
      map.insert_or_apply(exec_space{}, view_of(left_keys), view_of(left_values), karpos::plus{});
  CHECK(counts.report.inserted + rest.inserted == expected.size() - before);
  CHECK(contents<Key, T>(map) == expected);
  Kokkos::View<T*, Kokkos::HostSpace> const out("values", n);
  map.find(exec_space{}, view_of(draws), out, T(0));
  u64 wrong = 0;
  for (u64 i = 0; i < n; ++i) wrong += out(i) != expected[draws[i]];
  CHECK(wrong == 0);
}

TEST_CASE("pages of every size sum values by key") {
  for (bool const is_empty : {true, false}) {
    for (u64 const page : {1, 2, 7, 64, 1000}) {
      sums_by_key<u32, u32>(600, page, 8192, 600, is_empty);
      sums_by_key<u64, u64>(500, page, 8192, 500, is_empty);
    }
    sums_by_key<u32, u32>(1, 8, 8192, 10, is_empty);
    sums_by_key<u32, u32>(4, 8, 8192, 10, is_empty);
  }
}

TEST_CASE("parts of several pages, and rows left that the list has no room for") {
  for (bool const is_empty : {true, false})
    for (u64 const parts : {1, 3, 16}) {
      sums_by_key<u32, u32>(2000, 16, parts, 2000, is_empty);
      sums_by_key<u32, u32>(2000, 16, parts, 5, is_empty);
      sums_by_key<u64, u64>(2000, 32, parts, 0, is_empty);
    }
}

TEST_CASE("no page is built where parts are uneven, and keys equal to a sentinel are counted") {
  u64 const keys[] = {10, 20, 30};
  u64 const begins[] = {0, 5, 25, 30};
  for (u64 const most : {19, 20}) {
    page_counts counts{};
    for (u64 p = 0; p < 3; ++p)
      karpos::detail::partition::find_long_part{begins, most, &counts.uneven}(p);
    CHECK(counts.uneven == (most < 20 ? 1 : 0));
  }
  pages_of_a_map<u64, u64, karpos::detail::keep_stored> pages(100);
  std::vector<karpos::key_value<u64, u64>> rows;
  for (u64 const key : keys) rows.push_back({key, 1});
  rows.push_back({~u64(0), 1});
  rows.push_back({~u64(0) - 1, 1});
  page_counts const counts = pages.run(rows, 4, 8192, 10, true, {}, 1);
  CHECK(counts.report == karpos::insert_report{3, 0, 0, 2});
}

}  // namespace
