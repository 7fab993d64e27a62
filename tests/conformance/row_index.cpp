// SPDX-License-Identifier: Apache-2.0
/// \file
/// An index of rows answers as a map over tuples does, for any rows, hashes and nulls.
#include <doctest/doctest.h>

#include <cstdint>
#include <karpos/row_index.hpp>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/chance.hpp"
#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/memory_limit.hpp"
#include "support/space.hpp"
#include "support/strings.hpp"

namespace {

using karpos_test::holds;
using karpos_test::permute;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

template <class T, class F>
view<T> column_of(std::size_t n, F const& value) {
  view<T> const values("column", n);
  auto const host = Kokkos::create_mirror_view(values);
  for (std::size_t i = 0; i < n; ++i) host(i) = static_cast<T>(value(i));
  Kokkos::deep_copy(values, host);
  return values;
}

/// Rows on the device and their meaning: rows with equal keys are equal. A row that is not `in` is
/// not indexed, or equals nothing.
template <class Rows, class Key>
struct described {
  Rows rows;
  std::vector<Key> keys;
  std::vector<bool> in;
  described(Rows const& r, std::vector<Key> k, std::vector<bool> i = {})
      : rows(r),
        keys(std::move(k)),
        in(std::move(i)) {}
};

/// The answers of a map over the keys.
template <class Key, class Number>
struct oracle {
  std::map<Key, std::vector<Number>> groups;
  std::map<Key, Number> group_ids;
  std::vector<Number> firsts;
  std::uint64_t rows = 0;

  template <class Rows>
  explicit oracle(described<Rows, Key> const& d) {
    for (std::size_t i = 0; i < d.keys.size(); ++i) {
      if (!d.in.empty() && !d.in[i]) continue;
      auto& group = groups[d.keys[i]];
      if (group.empty()) {
        group_ids[d.keys[i]] = static_cast<Number>(firsts.size());
        firsts.push_back(static_cast<Number>(i));
      }
      group.push_back(static_cast<Number>(i));
      ++rows;
    }
  }
};

/// Visits the matches of a query: their number, their sum, and whether they are in order and equal
/// the query.
template <class Ref, class Queries>
struct sum_matches {
  Ref ref;
  Queries queries;
  view<std::uint64_t> out;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const query = queries[i];
    std::uint64_t n = 0, sum = 0, last = 0, wrong = 0;
    ref.for_each_match(query, [&](auto number) {
      wrong += (n > 0 && number <= last) || !ref.rows().equal(ref.rows()[number], query);
      last = number;
      sum += number;
      ++n;
    });
    wrong += ref.count(query) != n || ref.contains(query) != (n > 0);
    auto const label = ref.label(query);
    wrong += label.present != (n > 0);
    out(3 * i) = n;
    out(3 * i + 1) = sum;
    out(3 * i + 2) = wrong;
  }
};

template <class Index, class Queries, class Key, class Number>
void check_matches(std::string const& what, Index const& index, described<Queries, Key> const& q,
                   oracle<Key, Number> const& o) {
  view<std::uint64_t> const out("matches", 3 * q.keys.size());
  using body = sum_matches<typename Index::ref_type, Queries>;
  Kokkos::parallel_for(Kokkos::RangePolicy<space>(space(), 0, q.keys.size()),
                       body{index.ref(), q.rows, out});
  auto const got = to_host(out);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < q.keys.size(); ++i) {
    std::uint64_t n = 0, sum = 0;
    auto const at = o.groups.find(q.keys[i]);
    if (at != o.groups.end() && (q.in.empty() || q.in[i])) {
      n = at->second.size();
      for (auto number : at->second) sum += number;
    }
    wrong += got[3 * i] != n || got[3 * i + 1] != sum || got[3 * i + 2] != 0;
  }
  same(what + ": queries whose matches are wrong", wrong, 0);
}

/// Checks bulk queries of an index.
template <class Index, class Queries, class Key, class Number>
void check_lookups(std::string const& what, Index const& index, described<Queries, Key> const& q,
                   oracle<Key, Number> const& o) {
  std::size_t const n = q.keys.size();
  view<Number> const first("first", n), count("count", n), label("label", n);
  view<bool> const present("present", n);
  index.find(space(), q.rows, first);
  index.count(space(), q.rows, count);
  index.contains(space(), q.rows, present);
  index.label(space(), q.rows, label);
  auto const firsts = to_host(first), counts = to_host(count), group_ids = to_host(label);
  auto const presents = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), present);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    auto const at = o.groups.find(q.keys[i]);
    bool const there = at != o.groups.end() && (q.in.empty() || q.in[i]);
    wrong += firsts[i] != (there ? at->second.front() : Index::missing);
    wrong += counts[i] != (there ? at->second.size() : 0);
    wrong += presents(i) != there;
    wrong += group_ids[i] != (there ? o.group_ids.at(q.keys[i]) : Index::missing);
  }
  same(what + ": wrong answers", wrong, 0);
}

/// Checks all operations of an index.
template <class Index, class Rows, class Queries, class Key>
void check_index(std::string const& what, Index const& index, described<Rows, Key> const& d,
                 described<Queries, Key> const& q) {
  using number = typename Index::number_type;
  oracle<Key, number> const o(d);
  same(what + ": rows", index.size(), o.rows);
  same(what + ": groups", index.groups(), o.groups.size());
  check_lookups(what, index, d.in.empty() ? described<Rows, Key>{d.rows, d.keys} : d, o);
  check_lookups(what + ", queries", index, q, o);
  check_matches(what, index, q, o);
  view<number> const firsts("firsts", o.firsts.size()), group_ids("group_ids", d.keys.size());
  index.distinct(space(), firsts);
  holds(what + ": first rows", to_host(firsts) == o.firsts);
  index.label(space(), group_ids);
  auto const got = to_host(group_ids);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    bool const in = d.in.empty() || d.in[i];
    wrong += got[i] != (in ? o.group_ids.at(d.keys[i]) : Index::missing);
  }
  same(what + ": wrong group ids", wrong, 0);
}

template <class Rows, class Queries, class Key>
void check(std::string const& what, described<Rows, Key> const& d,
           described<Queries, Key> const& q) {
  check_index(what, karpos::row_index<Rows, space>(space(), d.rows), d, q);
}

/// Returns n rows (x % 3, x) with ids x = id(i).
template <class Id>
auto pairs(std::size_t n, Id const& id) {
  std::vector<std::pair<std::int8_t, std::uint64_t>> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t const x = id(i);
    keys[i] = {static_cast<std::int8_t>(x % 3), x};
  }
  auto const a = column_of<std::int8_t>(n, [&](std::size_t i) { return keys[i].first; });
  auto const b = column_of<std::uint64_t>(n, [&](std::size_t i) { return keys[i].second; });
  return described{karpos::rows(a, b), keys};
}
/// Returns n rows with ids drawn among `groups` different ones.
auto draws(std::size_t n, std::uint64_t groups, std::uint64_t seed) {
  random_numbers random(seed);
  return pairs(n, [&](std::size_t) { return permute(random.below(groups)); });
}

}  // namespace

TEST_CASE("goldens: nothing, one row, and four rows of three kinds") {
  for (std::size_t n : {0u, 1u, 4u}) {
    auto const d = pairs(n, [](std::size_t i) { return i == 2 ? 5u : i == 3 ? 5u : 6u + i; });
    auto const q = pairs(8, [](std::size_t i) { return i; });
    check(std::to_string(n) + " rows", d, q);
  }
  auto const rows = pairs(4, [](std::size_t i) { return i == 1 ? 9u : 5u; }).rows;
  karpos::row_index const index(space(), rows);
  same("rows", index.size(), 4);
  same("groups", index.groups(), 2);
  view<std::uint32_t> const count("count", 4), label("label", 4), first("first", 2);
  index.count(space(), rows, count);
  index.label(space(), label);
  index.distinct(space(), first);
  holds("counts", to_host(count) == std::vector<std::uint32_t>{3, 1, 3, 3});
  holds("group ids", to_host(label) == std::vector<std::uint32_t>{0, 1, 0, 0});
  holds("first rows", to_host(first) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("multiplicity 1, 4, 64, 10^4, and all equal") {
  constexpr std::size_t n = karpos_test::rows_for_random_test(100'000);
  for (std::size_t multiplicity :
       {std::size_t(1), std::size_t(4), std::size_t(64), std::size_t(10'000), n}) {
    std::uint64_t const groups = n / multiplicity;
    // Equal rows are adjacent, or scattered.
    auto const runs = pairs(n, [&](std::size_t i) { return permute(i / multiplicity); });
    auto const scattered = pairs(n, [&](std::size_t i) { return permute(i % groups); });
    auto const q = pairs(2 * groups, [&](std::size_t i) { return permute(std::uint64_t(i)); });
    // A query for a frequent row visits all of its matches, so scattered rows are left out then.
    check(std::to_string(multiplicity) + " times, runs", runs, q);
    if (multiplicity < 10'000) check(std::to_string(multiplicity) + " times", scattered, q);
  }
}

TEST_CASE("skew: a tenth of the rows are one, the others rare") {
  random_numbers random(11);
  auto const d = pairs(karpos_test::rows_for_random_test(200'000), [&](std::size_t i) {
    return i % 10 == 3 ? permute(std::uint64_t(1)) : permute(random.below(100'000));
  });
  auto const q = pairs(1'000, [](std::size_t i) { return permute(std::uint64_t(150 * i + 1)); });
  karpos::row_index const index(space(), d.rows);
  oracle<decltype(d.keys)::value_type, std::uint32_t> const o(d);
  check_lookups("skew", index, d, o);
  check_matches("skew", index, q, o);
}

TEST_CASE("sizes around those of lines, words and blocks") {
  for (std::size_t n : {2u, 3u, 4u, 7u, 8u, 9u, 63u, 64u, 65u, 127u, 128u, 129u, 1000u, 16'385u})
    check(std::to_string(n) + " rows", draws(n, n, n), draws(n + 5, 2 * n, n + 1));
}

TEST_CASE("duplicates dropped: the first of each stays, all have group ids") {
  auto const d = draws(50'000, 10'000, 5);
  karpos::row_index const index(space(), d.rows, {.duplicates = karpos::duplicates::dropped});
  using key = decltype(d.keys)::value_type;
  oracle<key, std::uint32_t> all(d);
  same("rows", index.size(), all.groups.size());
  view<std::uint32_t> const group_ids("group_ids", d.keys.size());
  index.label(space(), group_ids);
  auto const got = to_host(group_ids);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != all.group_ids.at(d.keys[i]);
  same("wrong group ids", wrong, 0);
  for (auto& [k, numbers] : all.groups) numbers.resize(1);
  check_lookups("dropped", index, d, all);
  check_matches("dropped", index, d, all);
}

TEST_CASE("some of the rows") {
  for (std::uint64_t groups : {std::uint64_t(1), std::uint64_t(3'000), std::uint64_t(1) << 40}) {
    auto d = draws(20'000, groups, 6);
    d.in.resize(d.keys.size());
    for (std::size_t i = 0; i < d.in.size(); ++i) d.in[i] = i % 3 != 0;
    auto const mask = column_of<bool>(d.in.size(), [&](std::size_t i) { return d.in[i]; });
    using rows = decltype(d.rows);
    karpos::row_index<rows, space> const index(space(), d.rows, mask);
    oracle<decltype(d.keys)::value_type, std::uint32_t> const o(d);
    // Queries may contain rows that are not indexed.
    check_lookups("masked", index, described{d.rows, d.keys}, o);
    check_matches("masked", index, draws(100, groups, 7), o);
    same("rows", index.size(), o.rows);
    view<std::uint32_t> const firsts("firsts", o.firsts.size()), group_ids("group_ids", 20'000);
    index.distinct(space(), firsts);
    holds("first rows", to_host(firsts) == o.firsts);
    index.label(space(), group_ids);
    auto const got = to_host(group_ids);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      wrong += got[i] != (d.in[i] ? o.group_ids.at(d.keys[i]) : index.missing);
    same("wrong group ids", wrong, 0);
  }
  auto const d = draws(1'000, 100, 8);
  view<std::uint8_t> const nobody("mask", 1'000);
  karpos::row_index const index(space(), d.rows, nobody);
  same("nobody", index.size() + index.groups(), 0);
}

namespace {
struct pair_of_ids {
  std::uint64_t a, b;
  auto operator<=>(pair_of_ids const&) const = default;
};
struct cell {
  std::int32_t i, j, k;
  auto operator<=>(cell const&) const = default;
};
struct wide {
  std::uint64_t a, b, c, d;
  auto operator<=>(wide const&) const = default;
};
template <class Struct, class Make>
auto structs(std::size_t n, Make const& make) {
  std::vector<Struct> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = make(i);
  return described{karpos::rows(to_space(keys)), keys};
}
}  // namespace

TEST_CASE("keys that are structs of 12, 16 and 32 bytes") {
  auto const cell_of = [](std::size_t i) {
    auto const x = static_cast<std::int32_t>(permute(std::uint64_t(i)) % 20'000);
    return cell{x / 400 - 25, x / 20 % 20, x % 20};
  };
  check("12 bytes", structs<cell>(30'000, cell_of), structs<cell>(100, [](std::size_t i) {
          return cell{static_cast<std::int32_t>(i) - 30, 3, 4};
        }));
#if KARPOS_FULL_TESTS
  auto const ids = [](std::size_t i) { return pair_of_ids{i % 150, i / 200}; };
  check("16 bytes", structs<pair_of_ids>(30'000, ids), structs<pair_of_ids>(100, [](std::size_t i) {
          return pair_of_ids{i, 140};
        }));
  auto const words = [](std::size_t i) { return wide{1, i % 128, 7, i % 3}; };
  check("32 bytes", structs<wide>(3'000, words), structs<wide>(300, words));
#endif
}

TEST_CASE("columns of mixed types") {
  using key = std::tuple<std::int8_t, std::int32_t, double, std::int64_t, pair_of_ids>;
  auto const make = [](std::size_t n, std::uint64_t seed) {
    random_numbers random(seed);
    std::vector<key> keys(n);
    for (auto& k : keys) {
      auto const below = [&](std::uint64_t m) { return random.below(m); };
      k = {static_cast<std::int8_t>(static_cast<int>(below(4)) - 2),
           static_cast<std::int32_t>(below(5)) - 3, 0.5 * static_cast<double>(below(4)),
           static_cast<std::int64_t>(below(3)) - 1, pair_of_ids{below(3), below(3)}};
    }
    auto const a = column_of<std::int8_t>(n, [&](std::size_t i) { return std::get<0>(keys[i]); });
    auto const b = column_of<std::int32_t>(n, [&](std::size_t i) { return std::get<1>(keys[i]); });
    auto const c = column_of<double>(n, [&](std::size_t i) { return std::get<2>(keys[i]); });
    auto const d = column_of<std::int64_t>(n, [&](std::size_t i) { return std::get<3>(keys[i]); });
    auto const e = column_of<pair_of_ids>(n, [&](std::size_t i) { return std::get<4>(keys[i]); });
    return described{karpos::rows(a, b, c, d, e), keys};
  };
  check("mixed", make(5'000, 1), make(3'000, 2));
}

TEST_CASE("columns of strings") {
  using key = std::pair<std::string, std::string>;
  auto const people = [](std::size_t n, std::uint64_t seed) {
    random_numbers random(seed);
    std::vector<std::string> first, last;
    std::vector<key> keys;
    for (std::size_t i = 0; i < n; ++i) {
      first.emplace_back(random.below(40), random.below(8) == 0 ? '\0' : 'a');
      last.push_back(random.below(5) == 0 ? "" : std::to_string(random.below(30)));
      keys.emplace_back(first.back(), last.back());
    }
    return described{karpos::rows(karpos_test::strings_in_space<std::uint32_t>(first),
                                  karpos_test::strings_in_space<std::int64_t>(last, "x")),
                     keys};
  };
  auto const d = people(5'000, 1);
  check("strings", d, people(3'000, 2));
  view<std::uint32_t> const ids("ids", d.keys.size()), firsts("firsts", d.keys.size());
  auto const groups = std::set<key>(d.keys.begin(), d.keys.end()).size();
  same("label", karpos::label(space(), d.rows, ids), groups);
  same("distinct_indices", karpos::distinct_indices(space(), d.rows, firsts), groups);
}

TEST_CASE("strided columns of a table, searched for dense ones") {
  constexpr std::size_t n = 4'000;
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, typename space::memory_space> const table(
      "table", n, 3);
  auto const host = Kokkos::create_mirror_view(table);
  std::vector<std::pair<std::int32_t, std::int32_t>> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    host(i, 0) = static_cast<std::int32_t>(i % 30);
    host(i, 1) = -1;
    host(i, 2) = static_cast<std::int32_t>(i / 70);
    keys[i] = {host(i, 0), host(i, 2)};
  }
  Kokkos::deep_copy(table, host);
  described const d{
      karpos::rows(Kokkos::subview(table, Kokkos::ALL, 0), Kokkos::subview(table, Kokkos::ALL, 2)),
      keys};
  std::vector<std::pair<std::int32_t, std::int32_t>> queries(900);
  for (std::size_t i = 0; i < queries.size(); ++i)
    queries[i] = {static_cast<std::int32_t>(i % 31), static_cast<std::int32_t>(i / 15)};
  auto const a = column_of<std::int32_t>(900, [&](std::size_t i) { return queries[i].first; });
  auto const b = column_of<std::int32_t>(900, [&](std::size_t i) { return queries[i].second; });
  check("strided", d, described{karpos::rows(a, b), queries});
}

TEST_CASE("floating-point keys: zeros are one, NaNs are one") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const values[] = {0.0, -0.0, nan, -nan, 1.5};
  auto const x = column_of<double>(1'000, [&](std::size_t i) { return values[i % 5]; });
  std::vector<int> keys(1'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i % 5 < 2 ? 0 : i % 5 < 4 ? 1 : 2;
  described const d{karpos::rows(x), keys};
  check("zeros and NaNs", d, d);
}

namespace {
/// Returns n rows of one column.
template <class T, class Value>
auto values(std::size_t n, Value const& value) {
  std::vector<T> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<T>(value(i));
  return described{karpos::rows(column_of<T>(n, [&](std::size_t i) { return keys[i]; })), keys};
}
/// Returns about n rows of one column, with or without the value whose bits are ones.
template <class T>
auto with_ones(std::size_t n, bool ones, std::uint64_t seed) {
  random_numbers random(seed);
  return values<T>(n, [&](std::size_t i) {
    auto const x = static_cast<T>(permute(random.below(2 * n + 1)));
    return ones && i % 7 == n % 7 ? static_cast<T>(~T(0)) : x == static_cast<T>(~T(0)) ? T(1) : x;
  });
}
template <class T>
void check_one_column() {
  for (std::size_t n = 0; n < 200; n += n < 20 ? 1 : 9)
    for (bool const ones : {false, true})
      check(std::to_string(8 * sizeof(T)) + " bits, " + std::to_string(n) + " rows",
            with_ones<T>(n, ones, n), with_ones<T>(n / 2 + 9, true, n + 1));
  check("many", with_ones<T>(60'000, false, 1), with_ones<T>(5'000, true, 2));
}
}  // namespace

TEST_CASE("one column: values of up to four bytes are tags, those of ones too") {
  check_one_column<std::uint32_t>();
  check_one_column<std::int32_t>();
  check_one_column<std::uint16_t>();
  check_one_column<std::int64_t>();
  auto const d = with_ones<std::uint32_t>(3'000, true, 3),
             q = with_ones<std::uint32_t>(99, true, 4);
  check_index("numbers of 64 bits",
              karpos::row_index<decltype(d.rows), space, std::uint64_t>(space(), d.rows), d, q);
  float const nan = std::numeric_limits<float>::quiet_NaN();
  float const numbers[] = {0.0f, -0.0f, nan, -nan, 1.5f};
  auto const x = column_of<float>(1'000, [&](std::size_t i) { return numbers[i % 5]; });
  std::vector<int> keys(1'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i % 5 < 2 ? 0 : i % 5 < 4 ? 1 : 2;
  described const f{karpos::rows(x), keys};
  check("zeros and NaNs of four bytes", f, f);
}

TEST_CASE("one column: null queries equal no row of an index without nulls") {
  auto const d = values<std::uint32_t>(1'000, [](std::size_t i) { return i % 500; });
  auto const q = values<std::uint32_t>(700, [](std::size_t i) { return i; });
  auto const valid = column_of<bool>(700, [](std::size_t i) { return i % 3 != 0; });
  std::vector<bool> in(700);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = i % 3 != 0;
  check("nulls", d,
        described{karpos::rows(karpos::nullable(q.rows.first_column(), valid)), q.keys, in});
}

namespace {
/// Returns rows (a, b) with nulls in both columns; in the keys, -1 stands for null.
auto with_nulls(std::size_t n, karpos::null_equality nulls, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<std::pair<int, int>> keys(n), values(n);
  std::vector<bool> in(n, true);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = {static_cast<int>(random.below(20)), static_cast<int>(random.below(20))};
    keys[i] = {random.below(4) == 0 ? -1 : values[i].first,
               random.below(4) == 0 ? -1 : values[i].second};
    if (nulls == karpos::null_equality::unequal) in[i] = keys[i].first >= 0 && keys[i].second >= 0;
  }
  auto const a = column_of<std::int32_t>(n, [&](std::size_t i) { return values[i].first; });
  auto const b = column_of<std::int64_t>(n, [&](std::size_t i) { return values[i].second; });
  auto const valid_a = column_of<bool>(n, [&](std::size_t i) { return keys[i].first >= 0; });
  auto const valid_b =
      column_of<std::uint8_t>(n, [&](std::size_t i) { return keys[i].second >= 0; });
  auto const rows = karpos::rows(karpos::nullable(a, valid_a), karpos::nullable(b, valid_b));
  return described{rows.with_nulls(nulls), keys, in};
}
}  // namespace

TEST_CASE("nulls equal each other, or nothing") {
  for (auto nulls : {karpos::null_equality::equal, karpos::null_equality::unequal})
    for (std::size_t n : {5u, 3'000u})
      check(nulls == karpos::null_equality::equal ? "equal" : "unequal", with_nulls(n, nulls, 1),
            with_nulls(500, nulls, 2));
}

namespace {
/// Hash functions as bad as possible.
struct always_the_same {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int8_t, std::uint64_t) const { return ~0ull; }
};
struct one_bit {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int8_t, std::uint64_t b) const {
    return (b & 1) << 63;
  }
};
struct tag_of_ones {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int8_t, std::uint64_t b) const {
    return karpos::mix(b) | 0xffff'ffffu;
  }
};
struct both_equal {
  KOKKOS_FUNCTION bool operator()(std::int8_t a, std::uint64_t b, std::int8_t c,
                                  std::uint64_t d) const {
    return a == c && b == d;
  }
};
template <class Hash, class Described>
auto with_hash(Hash const& hash, Described const& d) {
  return described{d.rows.with_functions(hash, both_equal{}), d.keys};
}
TEST_CASE("without memory, label and distinct_indices name themselves and not their index") {
  if (!karpos_test::can_exhaust_memory()) return;
  std::size_t const n = 1 << 17;
  std::vector<std::uint32_t> halves(n);
  for (std::uint32_t i = 0; i < n; ++i) halves[i] = i / 2;
  auto const column = to_space(halves);
  view<std::uint32_t> const out("out", n);
  karpos_test::check_messages(
      karpos_test::messages_without_memory(
          1 << 16, [&] { karpos::label(space(), karpos::rows(column), out); }),
      "karpos::label", {"row_index", "an index"});
  karpos_test::check_messages(
      karpos_test::messages_without_memory(
          1 << 16, [&] { karpos::distinct_indices(space(), karpos::rows(column), out); }),
      "karpos::distinct_indices", {"row_index", "an index"});
}

}  // namespace

TEST_CASE("hashes that collide: all, all but for one bit, in what a slot keeps of them") {
  auto const d = draws(1'500, 700, 3), q = draws(400, 1'400, 4);
  check("always the same", with_hash(always_the_same{}, d), with_hash(always_the_same{}, q));
  check("one bit", with_hash(one_bit{}, d), with_hash(one_bit{}, q));
  check("tags of ones", with_hash(tag_of_ones{}, d), with_hash(tag_of_ones{}, q));
}

TEST_CASE("row numbers of 64 bits") {
  auto const d = draws(30'000, 9'000, 12);
  check_index("64 bits", karpos::row_index<decltype(d.rows), space, std::uint64_t>(space(), d.rows),
              d, draws(100, 20'000, 13));
}

TEST_CASE("group ids and distinct rows without an index") {
  auto const d = draws(10'000, 3'000, 14);
  oracle<decltype(d.keys)::value_type, std::uint32_t> const o(d);
  view<std::uint32_t> const group_ids("group_ids", 10'000), firsts("firsts", o.firsts.size());
  same("groups", karpos::label(space(), d.rows, group_ids), o.firsts.size());
  same("different", karpos::distinct_indices(space(), d.rows, firsts), o.firsts.size());
  auto const got = to_host(group_ids);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != o.group_ids.at(d.keys[i]);
  same("wrong group ids", wrong, 0);
  holds("first rows", to_host(firsts) == o.firsts);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  view<std::uint32_t> const again("firsts", o.firsts.size());
  same("by its old name", karpos::distinct(space(), d.rows, again), o.firsts.size());
#pragma GCC diagnostic pop
  holds("first rows, by the old name", to_host(again) == o.firsts);
}

TEST_CASE("rows appended: only new ones stay, group ids stay") {
  constexpr std::size_t n = 60'000;
  auto const d = draws(n, 20'000, 18);
  using key = decltype(d.keys)::value_type;
  using index_type = karpos::row_index<decltype(d.rows), space>;
  index_type index(space(), d.rows, {.duplicates = karpos::duplicates::dropped, .rows = 10'000});
  std::uint64_t end = 10'000;
  for (std::uint64_t more : {0u, 1u, 63u, 936u, 30'000u, 19'000u}) {
    std::uint64_t const before = index.groups();
    std::size_t const bytes =
        index_type::workspace_bytes(space(), more, karpos::duplicates::dropped);
    view<std::byte> const workspace("workspace", bytes);
    std::uint64_t const fresh = index.insert(space(), more, {workspace.data(), bytes});
    end += more;
    oracle<key, std::uint32_t> o(
        described{d.rows, std::vector<key>(d.keys.begin(), d.keys.begin() + std::ptrdiff_t(end))});
    same("new ones", fresh, o.groups.size() - before);
    same("groups", index.groups(), o.groups.size());
    same("size", index.size(), o.groups.size());
    view<std::uint32_t> const group_ids("group_ids", end), firsts("firsts", o.firsts.size());
    index.label(space(), group_ids);
    index.distinct(space(), firsts);
    holds("first rows", to_host(firsts) == o.firsts);
    auto const got = to_host(group_ids);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < end; ++i) wrong += got[i] != o.group_ids.at(d.keys[i]);
    same("wrong group ids", wrong, 0);
    for (auto& [k, numbers] : o.groups) numbers.resize(1);
    check_lookups("after an insertion", index, d, o);
  }
  same("all rows", end, n);
  throws<std::invalid_argument>([&] { index.insert(space(), 1); }, "1 of 0 left");
  index_type keeps(space(), d.rows, {.rows = 5});
  throws<std::invalid_argument>([&] { keeps.insert(space(), 1); }, "keeps duplicates",
                                "duplicates::dropped");
}

TEST_CASE("copies and refs made before rows are appended know the groups of these rows") {
  constexpr std::size_t n = 9'000, first = 3'000;
  auto const d = pairs(n, [](std::size_t i) {  // at first all rows are different, then some repeat
    return permute(std::uint64_t(i < first ? i : i % 4'321));
  });
  using index_type = karpos::row_index<decltype(d.rows), space>;
  index_type index(space(), d.rows, {.duplicates = karpos::duplicates::dropped, .rows = first});
  index_type const copy = index;
  index.insert(space(), n - first);
  oracle<decltype(d.keys)::value_type, std::uint32_t> o(d);
  for (auto& [k, numbers] : o.groups) numbers.resize(1);
  same("groups", index.groups(), o.groups.size());
  check_lookups("copy", copy, d, o);
  check_matches("copy", copy, d, o);
  same("no more rows", index.insert(space(), 0), 0);
}

TEST_CASE("some of the rows, from the first on, that are kept") {
  auto const d = draws(20'000, 30'000, 19), q = draws(500, 40'000, 20);
  std::size_t const n = 9'000;
  karpos::row_index const index(space(), d.rows, {.rows = n});
  described const indexed{d.rows, std::vector(d.keys.begin(), d.keys.begin() + std::ptrdiff_t(n))};
  oracle<decltype(d.keys)::value_type, std::uint32_t> const o(indexed);
  same("groups", index.groups(), o.groups.size());
  check_lookups("first rows", index, q, o);
  check_matches("first rows", index, q, o);
}

TEST_CASE("memory and workspace of the caller's") {
  for (std::size_t n : {0u, 1u, 1'000u, 70'000u}) {
    auto const d = draws(n, n / 3 + 1, 15);
    using index_type = karpos::row_index<decltype(d.rows), space>;
    std::size_t const bytes = index_type::bytes_for(n),
                      work = index_type::workspace_bytes(space(), n);
    view<std::byte> const memory("memory", bytes), workspace("workspace", work);
    karpos::row_index_options o{.memory = {memory.data(), bytes},
                                .workspace = {workspace.data(), work}};
    check_index("in the caller's memory", index_type(space(), d.rows, o), d, draws(10, n + 1, 16));
    if (n == 0) continue;
    auto const refused = [&](karpos::row_index_options const& wrong, char const* a, char const* b) {
      throws<std::invalid_argument>([&] { index_type(space(), d.rows, wrong); }, a, b);
    };
    refused({.memory = {memory.data(), bytes - 1}}, "memory", "too small");
    refused({.memory = {memory.data() + 8, bytes}}, "memory", "not aligned");
    refused({.workspace = {workspace.data(), work - 1}}, "workspace", "too small");
    refused({.workspace = {workspace.data() + 8, work}}, "workspace", "not aligned");
  }
}

TEST_CASE("refused: masks and outputs of unequal length, too many rows") {
  auto const d = draws(100, 10, 17);
  using index_type = karpos::row_index<decltype(d.rows), space>;
  view<bool> const short_mask("mask", 99);
  throws<std::invalid_argument>([&] { index_type(space(), d.rows, short_mask); }, "mask",
                                "100 against 99");
  index_type const index(space(), d.rows);
  view<std::uint32_t> const too_short("out", 99), few("out", index.groups() - 1);
  throws<std::invalid_argument>([&] { index.find(space(), d.rows, too_short); }, "row_index::find",
                                "100 against 99");
  throws<std::invalid_argument>([&] { index.label(space(), too_short); }, "100 against 99");
  throws<std::invalid_argument>([&] { index.distinct(space(), few); }, "the output is too short",
                                "groups");
  throws<std::invalid_argument>([&] { index_type(space(), d.rows, {.rows = 101}); },
                                "more rows than there are", "101 of 100");
  CHECK(index_type(space(), d.rows, {.rows = 100}).groups() == index.groups());
  Kokkos::View<std::int8_t*, typename space::memory_space, Kokkos::MemoryUnmanaged> const many(
      nullptr, std::size_t(1) << 31);
  throws<std::invalid_argument>([&] { karpos::row_index(space(), karpos::rows(many)); },
                                "2147483648", "std::uint64_t");
}

TEST_CASE("refused: outputs that overlap queries, and do not replace them") {
  using error = std::invalid_argument;
  std::uint64_t const n = 100;
  view<std::uint64_t> const x("x", n + 1);
  auto const queries = Kokkos::subview(x, std::pair<std::uint64_t, std::uint64_t>(0, n)),
             shifted = Kokkos::subview(x, std::pair<std::uint64_t, std::uint64_t>(1, n + 1));
  view<std::uint32_t> const narrow(reinterpret_cast<std::uint32_t*>(x.data()), n);
  view<bool> const valid("valid", n), flags(reinterpret_cast<bool*>(x.data()), n);
  auto const refused = [&](auto const& of, auto const& out) {
    using numbers = std::decay_t<decltype(out)>;
    karpos::row_index<std::decay_t<decltype(of)>, space, typename numbers::value_type> const index(
        space{}, of);
    throws<error>([&] { index.find(space{}, of, out); }, "row_index::find", "the output overlaps");
  };
  refused(karpos::rows(queries), shifted);
  refused(karpos::rows(queries), narrow);
  refused(karpos::rows(view<std::uint32_t>("y", n), queries), narrow);
  refused(karpos::rows(karpos::nullable(queries, valid)), shifted);
  view<std::uint64_t> const twice("twice", 2 * n);
  Kokkos::View<std::uint64_t*, Kokkos::LayoutStride, space::memory_space> const every_second(
      twice.data(), Kokkos::LayoutStride(n, 2));
  auto const part = Kokkos::subview(twice, std::pair<std::uint64_t, std::uint64_t>(0, n));
  refused(karpos::rows(part), every_second);
  view<std::uint32_t> const offsets("offsets", n + 1), first(offsets.data(), n);
  refused(karpos::rows(karpos::string_column(space{}, view<char>("bytes", 1), offsets)), first);
  karpos::row_index const index(space{}, karpos::rows(queries));
  throws<error>([&] { index.contains(space{}, karpos::rows(queries), flags); },
                "row_index::contains", "the output overlaps");
}
