// SPDX-License-Identifier: Apache-2.0
/// \file
/// An index of rows, and joins by it, answer by partitions what they answer directly: rare and
/// frequent rows and queries, values whose bits are ones, tiny sizes, memory that is short. On
/// GPUs, and on a device that a CPU emulates.
#include <doctest/doctest.h>

#include "support/emulated_space.hpp"
// The headers below must see its declarations.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "karpos/join.hpp"
#include "karpos/row_index.hpp"
#include "support/check.hpp"
#include "support/emulated_lookup.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos::bulk_strategy;
using karpos_test::permute;
using karpos_test::same;
using karpos_test::to_host;
using karpos_test::to_space;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using host_or_device = karpos_test::space;
inline constexpr bool on_device = karpos::device::is_device<host_or_device>;
using space = std::conditional_t<on_device, host_or_device, karpos_test::emulated_space>;
template <class X>
using view = Kokkos::View<X*, space::memory_space>;

/// Returns n values of `different` ones, and a value of ones; the first one `frequent` more times.
template <class X>
  requires std::is_arithmetic_v<X>
view<X> draws(u64 n, u64 different, u64 frequent, u64 seed) {
  karpos_test::random_numbers random(seed);
  std::vector<X> x(n + frequent);
  for (u64 i = 0; i < x.size(); ++i)
    x[i] =
        static_cast<X>(permute(i % 2 == 1 && i / 2 < frequent ? u64(0) : random.below(different)));
  if (n > 2) x[n / 2] = static_cast<X>(~u64(0));
  return to_space(x);
}

template <class X>
  requires std::is_class_v<X>
view<X> draws(u64 n, u64 different, u64 frequent, u64 seed) {
  std::vector<X> x;
  for (auto const value : to_host(draws<decltype(X::x)>(n, different, frequent, seed)))
    x.push_back({value});
  return to_space(x);
}

/// Returns columns of these values: one, or that one and others that depend on it.
auto columns(view<u32> const& x) { return karpos::rows(x); }
auto columns(view<u64> const& x) { return karpos::rows(x); }
auto columns(view<std::int16_t> const& x) { return karpos::rows(x); }
auto columns(view<float> const& x) { return karpos::rows(x); }
/// Two columns, the second one strided.
struct two {
  u32 x;
};
auto columns(view<two> const& x) {
  std::vector<u32> a;
  Kokkos::View<u64**, Kokkos::LayoutRight, space::memory_space> const b("b", x.extent(0), 3);
  auto const b_on_host = Kokkos::create_mirror_view(b);
  for (auto const& row : to_host(x)) {
    b_on_host(a.size(), 1) = row.x;
    a.push_back(row.x % 1000);
  }
  Kokkos::deep_copy(b, b_on_host);
  return karpos::rows(to_space(a), Kokkos::subview(b, Kokkos::ALL, 1));
}
/// Two columns. Seven eighths of the rows have one of 37 hashes, though they differ.
struct colliding {
  u64 x;
};
auto columns(view<colliding> const& x) {
  std::vector<u64> a, b;
  u64 wrong = 0;
  for (auto const& row : to_host(x)) {
    u64 const wanted = row.x % 8 == 0 ? row.x : row.x % 37;
    a.push_back(row.x);
    b.push_back(karpos::mix(0x9e3779b97f4a7c15u ^ row.x) ^ wanted);
    wrong += karpos::row_hash{}(a.back(), b.back()) != karpos::mix(wanted);
  }
  same("hashes that are not as wanted", wrong, 0);
  return karpos::rows(to_space(a), to_space(b));
}

template <class X, class RowNumber = u32>
using index_of = karpos::row_index<decltype(columns(view<X>())), space, RowNumber>;

/// The answers of an index.
template <class RowNumber = u32>
struct answers {
  std::vector<RowNumber> first, count, label, label_of_rows, distinct;
  std::vector<bool> present;
  u64 size, groups;
  bool operator==(answers const&) const = default;
};
template <class X, class RowNumber = u32>
answers<RowNumber> answers_of(index_of<X, RowNumber> const& index, view<X> const& queries) {
  u64 const n = queries.extent(0);
  view<RowNumber> const first("first", n), count("count", n), label("label", n),
      label_of_rows("label", index.rows().size()), distinct("distinct", index.groups());
  view<bool> const present("present", n);
  auto const q = columns(queries);
  space const exec{};
  index.find(exec, q, first);
  index.count(exec, q, count);
  index.label(exec, q, label);
  index.contains(exec, q, present);
  index.label(exec, label_of_rows);
  index.distinct(exec, distinct);
  exec.fence();
  return {to_host(first),    to_host(count),   to_host(label), to_host(label_of_rows),
          to_host(distinct), to_host(present), index.size(),   index.groups()};
}

u64 launches(char const* label) { return karpos_test::emulated_space::launched(label); }

template <class X, class RowNumber = u32>
void answers_as_directly(u64 n, u64 different, u64 frequent) {
  INFO(n, " rows of ", sizeof(X), " bytes, ", different, " different, one ", frequent, " times");
  auto const rows = draws<X>(n, different, frequent, n),
             queries = draws<X>(n / 2 + 3, 2 * different, frequent / 2, n + 1);
  for (auto const d : {karpos::duplicates::kept, karpos::duplicates::dropped}) {
    auto const with = [&](bulk_strategy s) {
      return answers_of<X, RowNumber>(
          index_of<X, RowNumber>(space{}, columns(rows), {.duplicates = d, .strategy = s}),
          queries);
    };
    u64 const before = launches("karpos::row_index: claim slots");
    CHECK(with(bulk_strategy::partitioned) == with(bulk_strategy::direct));
    if (!on_device && sizeof(X) >= 4)
      same("split", launches("karpos::row_index: claim slots"), before + (n + frequent > 0));
  }
}

TEST_CASE("an index answers by partitions as directly") {
  for (u64 const n : {0, 1, 2, 5, 33, 500, 5'000})
    for (u64 const different : {n + 1, n / 3 + 1, u64(1)}) {
      answers_as_directly<u32>(n, different, 0);
      answers_as_directly<u64>(n, different, 0);
      if (n > 33) continue;
      answers_as_directly<two>(n, different, 0);
      answers_as_directly<colliding>(n, different, 0);
    }
  answers_as_directly<u64>(8'000, u64(1) << 50, 0);
  answers_as_directly<std::int16_t>(8'000, 9'000, 0);
  answers_as_directly<float>(8'000, 9'000, 0);
}
TEST_CASE("frequent rows and queries overflow their partition, and are answered all the same") {
  for (u64 const frequent : {500, 5'000}) {
    answers_as_directly<u32>(8'000, 9'000, frequent);
    answers_as_directly<u64>(8'000, 9'000, frequent);
  }
  answers_as_directly<u32, u64>(1'000, 1'200, 400);
  answers_as_directly<two>(1'000, 1'200, 400);
  answers_as_directly<two, u64>(1'000, 1'200, 400);
  answers_as_directly<colliding>(1'000, 1'200, 400);
}

TEST_CASE("joins find by partitions the pairs that they find directly") {
  for (u64 const different : {u64(4'000), u64(1) << 31}) {
    auto const left = draws<u32>(9'000, different, 100, 1),
               right = draws<u32>(8'000, different, 30, 2);
    std::vector<u32> unique(8'000);
    for (u32 i = 0; i < unique.size(); ++i) unique[i] = 3 * i;
    auto const ids = to_space(unique);
    for (auto const& of_right : {right, ids})
      for (auto const kind : {karpos::join_kind::inner, karpos::join_kind::left,
                              karpos::join_kind::right, karpos::join_kind::full}) {
        std::vector<u32> expected[2];
        for (auto const s : {bulk_strategy::direct, bulk_strategy::partitioned}) {
          index_of<u32> const index(space{}, karpos::rows(of_right), {.strategy = s});
          karpos::join const join(space{}, karpos::rows(left), index, kind);
          view<u32> const l("left", join.size()), r("right", join.size());
          join.write(space{}, l, r);
          space{}.fence();
          if (s == bulk_strategy::direct) {
            expected[0] = to_host(l);
            expected[1] = to_host(r);
          } else {
            CHECK(to_host(l) == expected[0]);
            CHECK(to_host(r) == expected[1]);
          }
        }
      }
  }
}

TEST_CASE("rows appended by partitions have the ids that they have directly") {
  auto const rows = draws<u32>(9'000, 12'000, 400, 3), queries = draws<u32>(3'000, 20'000, 100, 4);
  answers<> all[2];
  for (int const partitioned : {0, 1}) {
    index_of<u32> index(
        space{}, karpos::rows(rows),
        {.duplicates = karpos::duplicates::dropped,
         .rows = 100,
         .strategy = partitioned != 0 ? bulk_strategy::partitioned : bulk_strategy::direct});
    u64 const before = launches("karpos::row_index: claim slots");
    for (u64 const more : {5'000, 1, 299, 4'000}) index.insert(space{}, more);
    if (!on_device)  // the other batches are too short
      same("split", launches("karpos::row_index: claim slots"),
           before + static_cast<u64>(partitioned));
    all[partitioned] = answers_of<u32>(index, queries);
  }
  CHECK(all[0] == all[1]);
}

TEST_CASE("builds are split in workspaces of the caller's, and direct in short ones or by a mask") {
  if (on_device) return;
  auto const claims = [] { return launches("karpos::row_index: claim slots"); };
  using index = index_of<u32>;
  auto const rows = draws<u32>(5'000, 6'000, 0, 5);
  for (auto const d : {karpos::duplicates::kept, karpos::duplicates::dropped}) {
    std::size_t const most = index::workspace_bytes(space{}, 5'000, d, bulk_strategy::partitioned);
    std::size_t const least = index::workspace_bytes(space{}, 5'000, d, bulk_strategy::direct);
    view<std::byte> const memory("memory", most);
    auto const build = [&](std::size_t bytes) {
      index const built(space{}, karpos::rows(rows),
                        {.duplicates = d,
                         .workspace = {memory.data(), bytes},
                         .strategy = bulk_strategy::partitioned});
      return answers_of<u32>(built, rows);
    };
    auto const before = claims();
    auto const expected = build(most);
    same("split", claims(), before + 1);
    CHECK(build(least) == expected);
    same("split, if the memory suffices", claims(), before + 1 + (most == least ? 1 : 0));
    CHECK_THROWS_AS(build(least - 1), std::invalid_argument);
    view<bool> const mask("mask", 5'000);
    Kokkos::deep_copy(mask, true);
    auto const now = claims();
    index const masked(space{}, karpos::rows(rows), mask,
                       {.duplicates = d, .strategy = bulk_strategy::partitioned});
    CHECK(answers_of<u32>(masked, rows) == expected);
    same("direct by a mask", claims(), now);
  }
}

TEST_CASE("an index allocates arrays of groups only if rows repeat") {
  if (on_device) return;
  std::vector<u32> rows(4'000);
  for (u32 i = 0; i < rows.size(); ++i) rows[i] = 3 * i;
  auto const different = to_space(rows);
  rows[7] = rows[9];
  auto const repeated = to_space(rows);
  auto const build = [](view<u32> const& x) {
    return index_of<u32>(space{}, columns(x), {.strategy = bulk_strategy::direct}).groups();
  };
  karpos_test::emulated_space::max_bytes = 48'000;  // groups take 12 bytes a row and more
  same("groups", build(different), 4'000);
  CHECK_THROWS_AS(build(repeated), karpos::allocation_error);
  karpos_test::emulated_space::max_bytes = ~std::size_t(0);
  same("groups", build(repeated), 3'999);
}

TEST_CASE("lookups are direct without memory, and if results replace the queries") {
  auto const rows = draws<u32>(5'000, 6'000, 0, 1), queries = draws<u32>(5'000, 9'000, 3'000, 2);
  index_of<u32> const index(space{}, karpos::rows(rows), {.strategy = bulk_strategy::partitioned});
  view<u32> const out("out", queries.extent(0));
  auto const restores = [] { return launches("karpos::partition: restore order"); };
  auto const before = restores();
  index.find(space{}, karpos::rows(queries), out);
  space{}.fence();
  auto const expected = to_host(out);
  if (!on_device) same("by partitions", restores(), before + 1);
  karpos_test::emulated_space::max_bytes = 1000;
  index.find(space{}, karpos::rows(queries), out);
  space{}.fence();
  karpos_test::emulated_space::max_bytes = ~std::size_t(0);
  CHECK(to_host(out) == expected);
  index.find(space{}, karpos::rows(queries), queries);
  space{}.fence();
  CHECK(to_host(queries) == expected);
  if (!on_device) same("directly", restores(), before + 1);
}

TEST_CASE("results replace a column of their size, a strided one too") {
  u64 const n = 8'000;
  auto const rows = draws<u32>(n, 6'000, 0, 1);
  using table_type = Kokkos::View<u32**, Kokkos::LayoutRight, space::memory_space>;
  table_type const table("queries", n, 2);
  auto const a = Kokkos::subview(table, Kokkos::ALL, 0), b = Kokkos::subview(table, Kokkos::ALL, 1);
  Kokkos::deep_copy(b, draws<u32>(n, 9'000, 0, 2));
  Kokkos::deep_copy(a, b);
  auto const as_keys = karpos::rows(rows, rows);
  karpos::row_index const index(space{}, as_keys, {.strategy = bulk_strategy::partitioned});
  view<u32> const expected("expected", n);
  index.find(space{}, karpos::rows(a, b), expected);
  auto const before = launches("karpos::partition: restore order");
  index.find(space{}, karpos::rows(a, b), b);
  space{}.fence();
  view<u32> const found_rows("rows", n);
  Kokkos::deep_copy(found_rows, b);
  CHECK(to_host(found_rows) == to_host(expected));
  same("directly", launches("karpos::partition: restore order"), before);
}

}  // namespace
