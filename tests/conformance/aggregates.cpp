// SPDX-License-Identifier: Apache-2.0
/// \file
/// Several columns reduced by key together give what each column gives alone, at the index of its
/// key.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <karpos/checked_plus.hpp>
#include <karpos/count_distinct.hpp>
#include <karpos/reduce_by_key.hpp>
#include <karpos/statistics.hpp>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos::aggregate;
using karpos::aggregate_count;
using karpos::aggregates;
using karpos_test::holds;
using karpos_test::permute;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

/// A user's operation, which has no atomic instruction.
struct combine_modulo {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return (a + b) % 65'521;
  }
};

/// A table, and the aggregates of its groups by an oracle.
template <class Key>
struct sales {
  std::vector<Key> keys;
  std::vector<std::int32_t> price;
  std::vector<double> weight;
  std::vector<std::uint32_t> code;

  void add(Key key, std::uint32_t i) {
    keys.push_back(key);
    price.push_back(static_cast<std::int32_t>(permute(i)) / 2);
    weight.push_back(static_cast<double>(permute(i + 1) % 4096) - 2048);
    code.push_back(permute(i + 2) % 65'521);
  }
};
struct group {
  std::uint32_t orders = 0;
  std::int64_t revenue = 0;
  std::int32_t cheapest = std::numeric_limits<std::int32_t>::max();
  double total = 0, heaviest = -1e9;
  std::uint32_t codes = 0;
  bool operator==(group const&) const = default;
};

template <class Key>
std::map<Key, group> oracle(sales<Key> const& table) {
  std::map<Key, group> groups;
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    group& g = groups[table.keys[i]];
    ++g.orders;
    g.revenue += table.price[i];
    g.cheapest = std::min(g.cheapest, table.price[i]);
    g.total += table.weight[i];
    g.heaviest = std::max(g.heaviest, table.weight[i]);
    g.codes = combine_modulo{}(g.codes, table.code[i]);
  }
  return groups;
}

/// Views for n groups.
template <class Key>
struct group_views {
  view<Key> keys;
  view<std::uint32_t> orders, codes;
  view<std::int64_t> revenue;
  view<std::int32_t> cheapest;
  view<double> total, heaviest;

  explicit group_views(std::size_t n)
      : keys("keys", n),
        orders("orders", n),
        codes("codes", n),
        revenue("revenue", n),
        cheapest("cheapest", n),
        total("total", n),
        heaviest("heaviest", n) {}

  std::map<Key, group> first(std::uint64_t n) const {
    auto const k = to_host(keys, n);
    auto const o = to_host(orders, n), c = to_host(codes, n);
    auto const r = to_host(revenue, n);
    auto const l = to_host(cheapest, n);
    auto const t = to_host(total, n), h = to_host(heaviest, n);
    std::map<Key, group> groups;
    for (std::size_t i = 0; i < n; ++i) groups[k[i]] = {o[i], r[i], l[i], t[i], h[i], c[i]};
    return groups;
  }
};

/// Returns six aggregates of three columns and of the rows' number.
template <class Key>
auto six(sales<Key> const& table, group_views<Key> const& out) {
  return aggregates(
      aggregate(to_space(table.price), karpos::plus{}, out.revenue, karpos::minimum{},
                out.cheapest),
      aggregate_count(out.orders),
      aggregate(to_space(table.weight), karpos::plus{}, out.total, karpos::maximum{}, out.heaviest),
      aggregate(to_space(table.code), combine_modulo{}, out.codes));
}

template <class Key>
void check(std::string const& what, sales<Key> const& table) {
  auto const expected = oracle(table);
  group_views<Key> const out(expected.size());
  std::uint64_t const n =
      karpos::reduce_by_key(space(), to_space(table.keys), out.keys, six(table, out));
  same(what + ": groups", n, expected.size());
  if (n == expected.size()) holds(what, out.first(n) == expected);
}

/// Makes n rows whose keys are drawn among `groups`; every `frequent`-th row has the key 12.
template <class Key>
sales<Key> made(std::size_t n, std::uint64_t groups, std::size_t frequent = 0) {
  random_numbers random(n + groups);
  sales<Key> table;
  for (std::size_t i = 0; i < n; ++i) {
    Key key = static_cast<Key>(permute(static_cast<std::uint64_t>(random.below(groups))));
    if (frequent != 0 && i % frequent == 0) key = 12;
    table.add(key, static_cast<std::uint32_t>(i));
  }
  return table;
}

constexpr std::uint64_t all_different = std::uint64_t(1) << 40;

}  // namespace

TEST_CASE("goldens: nothing, one row, and four rows of three keys") {
  for (std::size_t n : {0u, 1u, 4u}) {
    sales<std::uint32_t> table;
    std::uint32_t const keys[] = {5, 3, 5, 8};
    for (std::uint32_t i = 0; i < n; ++i) table.add(keys[i], i);
    check(std::to_string(n) + " rows", table);
  }
}

TEST_CASE("any number of groups, also if half of the rows have one key") {
  for (std::uint64_t groups :
       {std::uint64_t(1), std::uint64_t(300), std::uint64_t(20'000), all_different}) {
    std::string const what = std::to_string(groups) + " groups";
    check(what, made<std::uint32_t>(150'001, groups));
    check(what + ", half one key", made<std::uint64_t>(150'001, groups, 2));
  }
}

TEST_CASE("sizes around those of chunks and samples") {
  for (std::size_t n : {2u, 1023u, 2730u, 2731u, 4096u, 5462u, 65'535u, 65'537u})
    check(std::to_string(n) + " rows", made<std::uint32_t>(n, all_different));
}

TEST_CASE("keys of all ones and all zeros") {
  auto table = made<std::uint64_t>(70'000, 3'000);
  for (std::size_t i = 0; i < table.keys.size(); i += 5) {
    table.keys[i] = ~std::uint64_t(0);
    table.keys[i + 1] = 0;
  }
  check("both", table);
}

TEST_CASE("counts alone, and a column alone") {
  for (std::uint64_t groups : {std::uint64_t(100), all_different}) {
    auto const table = made<std::uint32_t>(100'000, groups);
    auto const keys = to_space(table.keys);
    auto expected = oracle(table);
    group_views<std::uint32_t> const out(expected.size());
    same("groups", karpos::reduce_by_key(space(), keys, out.keys, aggregate_count(out.orders)),
         expected.size());
    auto k = to_host(out.keys);
    auto const orders = to_host(out.orders);
    for (std::size_t i = 0; i < k.size(); ++i) same("orders", orders[i], expected[k[i]].orders);
    auto const price = to_space(table.price);
    same("groups",
         karpos::reduce_by_key(space(), keys, out.keys,
                               aggregate(price, karpos::plus{}, out.revenue)),
         expected.size());
    k = to_host(out.keys);
    auto const revenue = to_host(out.revenue);
    for (std::size_t i = 0; i < k.size(); ++i) same("revenue", revenue[i], expected[k[i]].revenue);
  }
}

TEST_CASE("fifteen sums of eight bytes: rows of 128") {
  auto const table = made<std::uint64_t>(60'000, 9'000);
  auto expected = oracle(table);
  auto const weight = to_space(table.weight);
  view<double> out[15];
  for (auto& o : out) o = view<double>("out", expected.size());
  view<std::uint64_t> const keys("keys", expected.size());
  auto const five = [&](int i) {
    return aggregate(weight, karpos::plus{}, out[i], karpos::maximum{}, out[i + 1], karpos::plus{},
                     out[i + 2], karpos::maximum{}, out[i + 3], karpos::plus{}, out[i + 4]);
  };
  same("groups",
       karpos::reduce_by_key(space(), to_space(table.keys), keys,
                             aggregates(five(0), five(5), five(10))),
       expected.size());
  auto const k = to_host(keys);
  for (int o = 0; o < 15; ++o) {
    auto const values = to_host(out[o]);
    bool right = true;
    for (std::size_t i = 0; i < k.size(); ++i)
      right &= values[i] == (o % 5 % 2 == 0 ? expected[k[i]].total : expected[k[i]].heaviest);
    holds("result " + std::to_string(o), right);
  }
}

TEST_CASE("one short view of several: filled and no further, and the message says what would do") {
  auto const table = made<std::uint32_t>(50'000, all_different);
  std::size_t const n = oracle(table).size();
  group_views<std::uint32_t> out(n);
  Kokkos::deep_copy(out.codes, 0xabababab);
  auto const all_codes = out.codes;
  out.codes = Kokkos::subview(all_codes, std::pair<std::size_t, std::size_t>(0, n - 1));
  throws<std::invalid_argument>(
      [&] { karpos::reduce_by_key(space(), to_space(table.keys), out.keys, six(table, out)); },
      std::to_string(n - 1), std::to_string(n) + " keys");
  same("the element behind", to_host(all_codes)[n - 1], 0xabababab);
}

TEST_CASE("the caller's workspace, as large as reduce_by_key_bytes says") {
  auto const table = made<std::uint32_t>(60'000, 20'000);
  auto const expected = oracle(table);
  group_views<std::uint32_t> const out(expected.size());
  auto const wanted = six(table, out);
  auto const keys = to_space(table.keys);
  std::size_t const bytes =
      karpos::reduce_by_key_bytes<std::uint32_t>(space(), table.keys.size(), wanted);
  view<std::byte> const memory("workspace", bytes);
  std::uint64_t const n =
      karpos::reduce_by_key(space(), keys, out.keys, wanted, {{memory.data(), bytes}});
  holds("groups", out.first(n) == expected);
  throws<std::invalid_argument>(
      [&] {
        karpos::reduce_by_key(space(), keys, out.keys, wanted, {{memory.data(), bytes - 1}});
      },
      "workspace", std::to_string(bytes), "aggregates");
}

TEST_CASE("refused: outputs that share memory with another view") {
  view<std::uint32_t> const keys("keys", 30), values("values", 30), groups("groups", 30),
      out("out", 30);
  auto const refuses = [&](auto const& to, auto const& wanted,
                           karpos::reduce_by_key_options const& options = {}) {
    throws<std::invalid_argument>(
        [&] { karpos::reduce_by_key(space(), keys, to, wanted, options); },
        "an output of a reduction overlaps");
  };
  auto const sum = aggregate(values, karpos::plus{}, out);
  refuses(keys, sum);
  refuses(out, sum);
  refuses(values, sum);
  refuses(groups, aggregate(values, karpos::plus{}, values));
  refuses(groups, aggregate_count(groups));
  refuses(groups, aggregate(values, karpos::plus{}, out, karpos::maximum{}, out));
  refuses(groups, aggregates(sum, aggregate_count(out)));
  std::size_t const bytes = karpos::reduce_by_key_bytes<std::uint32_t>(space(), 30, sum);
  view<std::byte> const memory("workspace", bytes);
  Kokkos::View<std::uint32_t*, typename space::memory_space, Kokkos::MemoryUnmanaged> const inside(
      reinterpret_cast<std::uint32_t*>(memory.data()), 30);
  refuses(groups, aggregate(values, karpos::plus{}, inside), {{memory.data(), bytes}});
  auto const refuses_workspace = [&](auto const& some_keys, auto const& column) {
    throws<std::invalid_argument>(
        [&] {
          karpos::reduce_by_key(space(), some_keys, groups, aggregate(column, karpos::plus{}, out),
                                {{memory.data(), bytes}});
        },
        "the workspace of a reduction overlaps");
  };
  refuses_workspace(inside, values);
  refuses_workspace(keys, inside);
  CHECK(karpos::reduce_by_key(space(), keys, groups, sum, {{memory.data(), bytes}}) == 1);
}

TEST_CASE("refused: a column of another length") {
  view<std::uint32_t> const keys("keys", 30), values("values", 30), other("other", 29),
      out("out", 30);
  auto const wanted =
      aggregates(aggregate(values, karpos::plus{}, out), aggregate(other, karpos::plus{}, out));
  throws<std::invalid_argument>([&] { karpos::reduce_by_key(space(), keys, out, wanted); }, "29");
}

namespace {

/// The sum of each key, and the message of the exception; `thrown` is empty if there was none.
template <class To, class From>
struct checked_sums {
  std::map<std::uint32_t, To> sums;
  std::string thrown;

  checked_sums(std::vector<std::uint32_t> const& keys, std::vector<From> const& x) {
    std::size_t const n = keys.size();
    view<std::uint32_t> const out_keys("keys", n), counts("counts", n);
    view<To> const out("sums", n);
    try {
      karpos::reduce_by_key(
          space(), to_space(keys), out_keys,
          aggregates(aggregate(to_space(x), karpos::checked_plus{}, out), aggregate_count(counts)));
    } catch (std::overflow_error const& e) {
      thrown = e.what();
    }
    auto const k = to_host(out_keys, n), c = to_host(counts, n);
    auto const s = to_host(out, n);
    for (std::size_t i = 0; i < n; ++i)
      if (c[i] > 0) sums[k[i]] = s[i];
  }
};

/// Checks sums around the limits of a type. The sum of key 0 fits, that of key 1 is one too large,
/// and that of key 2 one too small. The sums of keys 3 and 4 fit, but the sums of their first rows
/// do not.
template <class To, class From>
void check_limits(std::string const& what, From most, From least, std::uint32_t filler) {
  std::vector<std::uint32_t> keys = {0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4};
  From const minus_one = static_cast<From>(From(0) - From(1));
  std::vector<From> x = {most, least, most,  1,     least,     minus_one,
                         most, most,  least, least, minus_one, 1};
  bool const is_signed = std::is_signed_v<From>;
  if (!is_signed) x[5] = 0, x[7] = 0, x[10] = 0;
  for (std::uint32_t i = 0; i < filler; ++i) {
    keys.push_back(5 + i);
    x.push_back(static_cast<From>(i));
  }
  checked_sums<To, From> const seen(keys, x);
  std::map<std::uint32_t, std::uint64_t> expected;
  for (std::size_t i = 0; i < keys.size(); ++i)
    expected[keys[i]] += static_cast<std::uint64_t>(x[i]);
  bool same_sums = seen.sums.size() == expected.size();
  for (auto const& [key, sum] : expected)
    same_sums = same_sums && seen.sums.count(key) == 1 && seen.sums.at(key) == static_cast<To>(sum);
  holds(what + ": sums, modulo 2^64 where they do not fit", same_sums);
  bool const narrow = sizeof(To) == sizeof(From);
  std::string const told = is_signed ? "2 of " : "1 of ";
  holds(what + ": '" + seen.thrown + "'",
        narrow ? seen.thrown.find(told) != std::string::npos : seen.thrown.empty());
}

template <class T>
T sum_of(T a, T b) {
  return karpos::plus{}(a, b);
}

}  // namespace

TEST_CASE("sums of integers wrap, also if they have a sign") {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t large = std::numeric_limits<std::int64_t>::max();
  // The compiler rejects a constant whose evaluation is undefined.
  constexpr std::int32_t wrapped = karpos::plus{}(most, 1);
  constexpr std::int64_t large_wrapped = karpos::plus{}(-large - 1, std::int64_t(-1));
  holds("32 bits", wrapped == std::numeric_limits<std::int32_t>::min());
  holds("64 bits", large_wrapped == large);
  holds("16 bits", sum_of<std::int16_t>(32'767, 1) == std::int16_t(-32'768));
  holds("8 bits", sum_of<std::uint8_t>(255, 2) == 1);
  holds("doubles", sum_of(0.5, 0.25) == 0.75);
  std::vector<std::uint32_t> const keys(3, 7);
  std::vector<std::int32_t> const x = {most, most, 3};
  view<std::uint32_t> const out_keys("keys", 3);
  view<std::int32_t> const sums("sums", 3);
  same("groups", karpos::reduce_by_key(space(), to_space(keys), to_space(x), out_keys, sums), 1u);
  same("of a reduction", to_host(sums, 1)[0], 1);
}

TEST_CASE("checked sums are told if they do not fit, and only then") {
  for (std::uint32_t const filler : {0u, 30'000u}) {
    std::string const rows = " of " + std::to_string(filler) + " keys";
    using i64 = std::numeric_limits<std::int64_t>;
    using u32 = std::numeric_limits<std::uint32_t>;
    check_limits<std::int64_t, std::int64_t>("int64" + rows, i64::max(), i64::min(), filler);
    check_limits<std::uint32_t, std::uint32_t>("uint32" + rows, u32::max(), 0, filler);
#if KARPOS_FULL_TESTS
    using i32 = std::numeric_limits<std::int32_t>;
    using u64 = std::numeric_limits<std::uint64_t>;
    check_limits<std::int32_t, std::int32_t>("int32" + rows, i32::max(), i32::min(), filler);
    check_limits<std::int64_t, std::int32_t>("int32 in int64" + rows, i32::max(), i32::min(),
                                             filler);
    check_limits<std::int64_t, std::uint32_t>("uint32 in int64" + rows, u32::max(), 0, filler);
    check_limits<std::uint64_t, std::uint64_t>("uint64" + rows, u64::max(), 0, filler);
#endif
  }
  checked_sums<std::int64_t, std::int64_t> const none({}, {});
  holds("no rows: '" + none.thrown + "'", none.thrown.empty() && none.sums.empty());
  checked_sums<std::uint32_t, std::uint32_t> const seen({5, 5, 5, 6}, {1u << 31, 1u << 31, 3, 9});
  same("a sum that does not fit wraps", seen.sums.at(5), 3u);
  same("another sum is right", seen.sums.at(6), 9u);
  holds(
      "the message: " + seen.thrown,
      seen.thrown.find("karpos::reduce_by_key: 1 of 2 checked sums do not fit into 32 bits") == 0);
}

namespace {

/// Values that are nulls where `valid` is 0. Of key 3 all are.
template <class T>
struct column_with_nulls {
  std::vector<std::uint32_t> keys;
  std::vector<T> x;
  std::vector<std::uint8_t> valid;
};

/// Draws values around `center`; every seventh is a null with a value that must not be used.
template <class T>
column_with_nulls<T> make_column(std::size_t n, std::uint64_t groups, double center,
                                 bool with_nulls) {
  random_numbers random(n + groups);
  column_with_nulls<T> c;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t const group = i % 3 == 0 ? 0 : random.below(groups);
    bool const valid = group != 3 && random.below(7) != 0;
    double const x = center * (group % 2 == 0 ? 1 : -1) + double(random.below(1'000'000)) / 1000;
    c.keys.push_back(static_cast<std::uint32_t>(permute(group)));
    c.x.push_back(valid || !with_nulls ? static_cast<T>(x) : std::numeric_limits<T>::max());
    c.valid.push_back(valid);
  }
  return c;
}

struct statistics {
  std::uint64_t rows = 0, valid = 0;
  double sum = 0, mean = 0, squares = 0, least = 0, most = 0;

  double variance(std::uint64_t ddof) const {
    return valid > ddof ? double(squares / static_cast<double>(valid - ddof)) : std::nan("");
  }
};

/// Computes statistics of the differences from the least value, which are exact.
template <class T>
std::map<std::uint32_t, statistics> oracle_of(column_with_nulls<T> const& c, bool with_nulls) {
  std::map<std::uint32_t, statistics> groups;
  auto const for_each_valid = [&](auto const& f) {
    for (std::size_t i = 0; i < c.keys.size(); ++i)
      if (!with_nulls || c.valid[i] != 0) f(groups[c.keys[i]], static_cast<double>(c.x[i]));
  };
  for (std::uint32_t const key : c.keys) ++groups[key].rows;
  for_each_valid([](statistics& s, double x) {
    s.least = s.valid == 0 ? x : std::min(s.least, x);
    s.most = s.valid == 0 ? x : std::max(s.most, x);
    ++s.valid;
    s.sum += x;
  });
  for_each_valid(
      [](statistics& s, double x) { s.mean += (x - s.least) / static_cast<double>(s.valid); });
  for_each_valid([](statistics& s, double x) {
    s.squares += (x - s.least - s.mean) * (x - s.least - s.mean);
  });
  for (auto& [key, s] : groups)
    s.mean =
        s.valid == 0 || std::isinf(s.sum) ? s.sum / static_cast<double>(s.valid) : s.mean + s.least;
  return groups;
}

bool is_near(double a, double b, double error) {
  return (a != a && b != b) || a == b || std::abs(a - b) <= error * std::abs(b);
}

/// Checks sums that leave out nulls: results of fewer bytes than the column has.
template <class T>
void check_sums(std::string const& what, column_with_nulls<T> const& c) {
  auto const expected = oracle_of(c, true);
  std::size_t const n = expected.size();
  view<std::uint32_t> const keys("keys", n);
  view<T> const sums("sums", n);
  auto const x = to_space(c.x);
  auto const mask = to_space(c.valid);
  same(what + ": groups",
       karpos::reduce_by_key(space(), to_space(c.keys), keys,
                             aggregate(karpos::nullable(x, mask), karpos::plus{}, sums)),
       n);
  auto const k = to_host(keys);
  auto const s = to_host(sums);
  bool right = true;
  for (std::size_t i = 0; i < n; ++i) {
    auto const sum = expected.at(k[i]).sum;
    right = right && (std::is_integral_v<T>
                          ? s[i] == static_cast<T>(static_cast<std::int64_t>(sum))
                          : is_near(double(s[i]), double(sum), sizeof(T) == 4 ? 1e-2 : 1e-9));
  }
  holds(what + ": sums", right);
}

/// Checks all statistics of a column, which may be nullable, against those of its valid values.
template <class Column, class T>
void check_statistics(std::string const& what, Column const& column,
                      column_with_nulls<T> const& c) {
  auto const expected = oracle_of(c, karpos::detail::is_nullable<Column>);
  std::size_t const n = expected.size();
  view<std::uint32_t> const keys("keys", n), counts("counts", n);
  view<std::uint64_t> const valid("valid", n);
  view<double> const means("means", n), samples("samples", n);
  view<float> const populations("populations", n);
  view<T> const least("least", n), most("most", n);
  same(what + ": groups",
       karpos::reduce_by_key(
           space(), to_space(c.keys), keys,
           aggregates(aggregate(column, karpos::mean{}, means, karpos::variance{}, samples,
                                karpos::count_valid{}, valid, karpos::minimum{}, least,
                                karpos::maximum{}, most, karpos::variance{0}, populations),
                      aggregate_count(counts))),
       n);
  auto const k = to_host(keys);
  auto const rows = to_host(counts);
  auto const v = to_host(valid);
  auto const m = to_host(means), s = to_host(samples);
  auto const p = to_host(populations);
  auto const l = to_host(least), h = to_host(most);
  bool right_counts = true, right_means = true, right_variances = true, right_extremes = true;
  for (std::size_t i = 0; i < n; ++i) {
    statistics const& e = expected.at(k[i]);
    right_counts = right_counts && rows[i] == e.rows && v[i] == e.valid;
    right_means = right_means && is_near(m[i], double(e.mean), 1e-12);
    right_variances =
        right_variances && is_near(s[i], e.variance(1), 1e-9) && is_near(p[i], e.variance(0), 1e-6);
    right_extremes =
        right_extremes && (e.valid == 0 || e.sum != e.sum ||
                           (l[i] == static_cast<T>(e.least) && h[i] == static_cast<T>(e.most)));
  }
  holds(what + ": counts", right_counts);
  holds(what + ": means", right_means);
  holds(what + ": variances", right_variances);
  holds(what + ": extremes", right_extremes);
}

/// Calls check(what, column) for numbers of rows and of keys.
template <class T, class Check>
void for_each_column(double center, bool with_nulls, Check const& check) {
  for (std::size_t const n : {0u, 1u, 50u, 100'000u})
    for (std::uint64_t const groups : {std::uint64_t(5), std::uint64_t(30'000)})
      check(std::to_string(n) + " rows of " + std::to_string(groups) + " keys",
            make_column<T>(n, groups, center, with_nulls));
}
template <class T>
void check_sums_of_type(double center) {
  for_each_column<T>(center, true,
                     [](std::string const& what, auto const& c) { check_sums(what, c); });
}
template <class T>
void check_nullable(double center) {
  for_each_column<T>(center, true, [](std::string const& what, auto const& c) {
    auto const x = to_space(c.x);
    auto const mask = to_space(c.valid);
    check_statistics(what, karpos::nullable(x, mask), c);
  });
}

}  // namespace

TEST_CASE("means, variances and nulls") {
  SUBCASE("doubles far from zero") { check_nullable<double>(1e9); }
  SUBCASE("sums of 32-bit integers") { check_sums_of_type<std::int32_t>(1000); }
#if KARPOS_FULL_TESTS
  SUBCASE("32-bit integers") { check_nullable<std::int32_t>(1'000'000); }
  SUBCASE("sums of doubles") { check_sums_of_type<double>(1e6); }
  SUBCASE("floats") { check_nullable<float>(0); }
  SUBCASE("64-bit integers") { check_nullable<std::int64_t>(1e12); }
  SUBCASE("without nulls") {
    for_each_column<double>(1e9, false, [](std::string const& what, auto const& c) {
      check_statistics(what, to_space(c.x), c);
    });
  }
#endif
}

TEST_CASE("variances of infinities, NaNs and a value far from the others") {
  double const inf = std::numeric_limits<double>::infinity();
  column_with_nulls<double> const c{{0, 0, 1, 1, 1, 2, 2, 2, 3},
                                    {inf, 1, 1, 2, std::nan(""), 1e15, 1, 3, 9},
                                    std::vector<std::uint8_t>(9, 1)};
  auto const x = to_space(c.x);
  auto const mask = to_space(c.valid);
  check_statistics("special values", karpos::nullable(x, mask), c);
}

namespace {

/// Checks numbers of different values, as integers or doubles, against sets.
template <class Key, class T, bool WithNulls>
void check_distinct(std::size_t n, std::uint64_t groups, std::uint64_t most) {
  random_numbers random(n + groups + most);
  std::vector<Key> keys;
  std::vector<T> x;
  std::vector<std::uint8_t> valid;
  std::map<Key, std::set<T>> expected;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t const group = random.below(groups);
    keys.push_back(static_cast<Key>(permute(group)));
    x.push_back(static_cast<T>(random.below(most)) - static_cast<T>(most / 2));
    if (std::is_floating_point_v<T> && x[i] == 0 && i % 2 == 0) x[i] = static_cast<T>(-0.0);
    valid.push_back(group % 5 != 3 && random.below(4) != 0);
    auto& values = expected[keys[i]];
    if (!WithNulls || valid[i] != 0) values.insert(x[i]);
  }
  view<Key> const out_keys("keys", expected.size());
  view<std::uint32_t> const counts("counts", expected.size());
  auto const values = to_space(x);
  auto const mask = to_space(valid);
  std::uint64_t found = 0;
  if constexpr (WithNulls)
    found = karpos::count_distinct_by_key(space(), to_space(keys), karpos::nullable(values, mask),
                                          out_keys, counts);
  else
    found = karpos::count_distinct_by_key(space(), to_space(keys), values, out_keys, counts);
  same("keys", found, expected.size());
  auto const k = to_host(out_keys);
  auto const c = to_host(counts);
  bool right = true;
  for (std::size_t i = 0; i < found; ++i)
    right = right && expected.count(k[i]) == 1 && c[i] == expected[k[i]].size();
  holds(std::to_string(n) + " rows of " + std::to_string(groups) + " keys, " +
            std::to_string(most) + " values",
        right);
}
template <class Key, class T, bool WithNulls>
void check_distinct() {
  for (std::size_t const n : {0u, 1u, 40u, 60'000u})
    for (std::uint64_t const groups : {std::uint64_t(6), std::uint64_t(20'000)})
      for (std::uint64_t const most : {std::uint64_t(5), std::uint64_t(1'000'000)})
        check_distinct<Key, T, WithNulls>(n, groups, most);
}

}  // namespace

TEST_CASE("different values of each key") {
  SUBCASE("pairs of 4 bytes") { check_distinct<std::uint32_t, std::int32_t, false>(); }
#if KARPOS_FULL_TESTS
  SUBCASE("floats") { check_distinct<std::uint32_t, float, false>(); }
  SUBCASE("pairs of 8 bytes") { check_distinct<std::uint64_t, double, false>(); }
  SUBCASE("with nulls") { check_distinct<std::uint32_t, std::int32_t, true>(); }
#endif
}
