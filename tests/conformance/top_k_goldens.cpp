// SPDX-License-Identifier: Apache-2.0
/// \file
/// Ranked queries with known answers, with every combination of options.
#include <doctest/doctest.h>

#include <limits>

#include "support/top_k_checks.hpp"

namespace {

using karpos_test::every_option;
using karpos_test::host_lists;
using karpos_test::rank_all;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr double inf = HUGE_VAL;

template <class Id, class Score>
using rows = std::vector<std::vector<std::pair<Id, Score>>>;
template <class Id>
using ranks = std::vector<std::pair<Id, double>>;

/// Names lists; dense_objects = 0 means sparse ids.
template <class Id, class Score>
host_lists<Id, Score> named(std::string name, rows<Id, Score> list, u64 dense_objects) {
  return {name + (dense_objects > 0 ? ", dense" : ", sparse"), std::move(list), dense_objects};
}

/// Checks that the ranks stated in a test are those of the oracle.
template <class Id, class Subject>
void check_expected(std::string const& what, ranks<Id> const& expected, u64 k, Subject& subject,
                    typename Subject::options_type o) {
  o.ties = karpos::top_k_ties::smallest_id;
  o.result = karpos::top_k_result::exact;
  auto const a = subject.query(k, o);
  karpos_test::same(what + ": found", a.report.found, expected.size());
  for (std::size_t r = 0; r < expected.size() && r < k; ++r) {
    INFO(what, ", rank ", r);
    CHECK(a.ids[r] == expected[r].first);
    CHECK(a.scores[r] == static_cast<typename Subject::out_type>(expected[r].second));
  }
}

/// Checks a few lists with dense and sparse ids and all options. In `expected`, ties are sorted by
/// rising id.
template <class Subject>
void golden(std::string const& name,
            rows<typename Subject::id_type, typename Subject::score_type> const& list, u64 k,
            ranks<typename Subject::id_type> const& expected,
            typename Subject::options_type const& base = {}, bool dense_too = true) {
  for (u64 const dense_objects : {u64(0), u64(100)}) {
    if (dense_objects > 0 && !dense_too) continue;
    auto const lists = named(name, list, dense_objects);
    auto const right = rank_all(lists, base.aggregate, base.missing_score);
    for (bool const by_offsets : {false, true}) {
      Subject subject(lists, k, by_offsets);
      check_expected(lists.name, expected, k, subject, base);
      for (auto const& o : every_option(base))
        karpos_test::check_query(lists.name, subject, right, k, o);
    }
  }
}

using sums = karpos_test::u32_float_subject;
using u32_rows = rows<u32, float>;
using u32_ranks = ranks<u32>;

/// Returns options with a score for missing objects.
template <class Subject = sums>
typename Subject::options_type missing(double score) {
  typename Subject::options_type o;
  o.missing_score = score;
  return o;
}
sums::options_type weighted(std::initializer_list<double> weights, double missing_score = 0) {
  sums::options_type o;
  o.aggregate = karpos::weighted_sum(weights);
  o.missing_score = missing_score;
  return o;
}

/// Three objects in two lists, with the sums 8, 7 and 3.
u32_rows const three{{{4, 5.f}, {7, 3.f}, {9, 2.f}}, {{7, 5.f}, {4, 2.f}, {9, 1.f}}};

}  // namespace

TEST_CASE("no lists") {
  for (u64 const k : {0, 1, 5}) golden<sums>("no lists", {}, k, {}, {}, false);
}

TEST_CASE("lists without entries") {
  golden<sums>("one empty list", {{}}, 3, {});
  golden<sums>("three empty lists", {{}, {}, {}}, 3, {}, missing(-inf));
  golden<sums>("all but one empty", {{}, {{3, 1.f}, {5, 0.5f}}, {}}, 3, {{3, 1}, {5, 0.5}});
  golden<sums>("empty lists count as missing", {{}, {{3, 1.f}, {5, 0.5f}}, {}}, 1, {{3, -3}},
               missing(-2));
}

TEST_CASE("lists of one, two and four entries") {
  golden<sums>("m 1, n 1", {{{42, -7.f}}}, 1, {{42, -7}});
  golden<sums>("m 1, one object", {{{42, 1.f}}, {{42, 2.f}}}, 1, {{42, 3}});
  golden<sums>("m 1, two objects", {{{42, 1.f}}, {{43, 2.f}}}, 2, {{43, 2}, {42, 1}});
  golden<sums>("m 2", {{{1, 3.f}, {2, 2.f}}, {{2, 4.f}, {1, 1.f}}}, 1, {{2, 6}});
  golden<sums>("m 4",
               {{{1, 4.f}, {2, 3.f}, {3, 2.f}, {4, 1.f}}, {{4, 9.f}, {3, 5.f}, {1, 1.f}, {2, 0.f}}},
               2, {{4, 10}, {3, 7}});
}

TEST_CASE("one list") {
  golden<sums>("one list", {{{8, 3.f}, {1, 2.f}, {6, 1.f}, {2, 0.f}}}, 2, {{8, 3}, {1, 2}});
  golden<sums>("one list, weight 2", {{{8, 3.f}, {1, -2.f}}}, 2, {{8, 6}, {1, -4}}, weighted({2}));
}

TEST_CASE("k from none to more than there are objects") {
  golden<sums>("three", three, 0, {});
  golden<sums>("three", three, 1, {{7, 8}});
  golden<sums>("three", three, 2, {{7, 8}, {4, 7}});
  golden<sums>("three", three, 3, {{7, 8}, {4, 7}, {9, 3}});
  golden<sums>("three", three, 4, {{7, 8}, {4, 7}, {9, 3}});
  golden<sums>("three", three, 90, {{7, 8}, {4, 7}, {9, 3}});
}

TEST_CASE("lists of different lengths: an exhausted one gives the missing score, not its last") {
  u32_rows const list{{{1, 10.f}, {2, 9.f}}, {{3, 6.f}, {2, 5.f}, {4, 4.f}, {1, 1.f}, {5, 0.5f}}};
  golden<sums>("ragged", list, 2, {{2, 14}, {1, 11}});
  golden<sums>("ragged", list, 5, {{2, 14}, {1, 11}, {3, 6}, {4, 4}, {5, 0.5}});
  golden<sums>("ragged", list, 9, {{2, 14}, {1, 11}, {3, 4}, {4, 2}, {5, -1.5}}, missing(-2));
}

TEST_CASE("a score for missing objects that lets them win") {
  golden<sums>("last of all", {{{1, -5.f}, {2, -6.f}}, {{1, -2.f}, {2, -3.f}, {3, -4.f}}}, 1,
               {{3, -4}});
  golden<sums>("large", {{{1, 5.f}, {2, 4.f}}, {{2, 5.f}, {3, 1.f}}}, 2, {{1, 105}, {3, 101}},
               missing(100));
  golden<sums>("minus infinity", {{{1, 5.f}, {2, 4.f}}, {{2, 5.f}, {3, 1.f}}}, 3,
               {{2, 9}, {1, -inf}, {3, -inf}}, missing(-inf));
  golden<sums>("negative", {{{1, 5.f}, {2, 1.f}}, {{2, 1.f}, {3, -7.f}}}, 3,
               {{2, 2}, {1, -3}, {3, -15}}, missing(-8));
  golden<karpos_test::minimum_subject>(
      "minimum", {{{1, -5.f}, {2, -6.f}}, {{1, -2.f}, {2, -3.f}, {3, -4.f}}}, 1, {{3, -4}});
  golden<karpos_test::maximum_subject>("maximum", {{{1, -5.f}, {2, -6.f}}, {{1, -7.f}, {3, -9.f}}},
                                       3, {{2, -1}, {3, -1}, {1, -5}},
                                       missing<karpos_test::maximum_subject>(-1));
}

TEST_CASE("weights, zero among them") {
  u32_rows const list{{{1, 5.f}, {2, 1.f}}, {{3, 9.f}, {1, 1.f}}};
  golden<sums>("weights", list, 3, {{1, 10.5}, {3, 4.5}, {2, 2}}, weighted({2, 0.5}));
  // Object 3 occurs only in the list with weight 0.
  golden<sums>("second has weight 0", list, 3, {{1, 5}, {2, 1}, {3, 0}}, weighted({1, 0}));
  golden<sums>("second has weight 0", list, 3, {{1, 5}, {2, 1}, {3, -4}}, weighted({1, 0}, -4));
  golden<sums>("second has weight 0", list, 1, {{3, 7}}, weighted({1, 0}, 7));
  golden<sums>("first has weight 0", list, 2, {{3, 9}, {1, 1}}, weighted({0, 1}));
  golden<sums>("all have weight 0", list, 2, {{1, 0}, {2, 0}}, weighted({0, 0}));
  golden<sums>("tiny weight", list, 2, {{1, 5 + 0x1p-30}, {2, 1}}, weighted({1, 0x1p-30}));
  golden<sums>("infinities of weight 0",
               {{{1, 5.f}, {2, 4.f}, {3, 3.f}}, {{2, float(inf)}, {3, 0.f}, {1, float(-inf)}}}, 3,
               {{1, 5}, {2, 4}, {3, 3}}, weighted({1, 0}));
  golden<sums>("missing in a list of weight 0", {{{1, 5.f}}, {{2, 1.f}}}, 2, {{1, 5}, {2, -inf}},
               weighted({1, 0}, -inf));
}

TEST_CASE("ties") {
  golden<sums>("all equal", {{{9, 1.f}, {5, 1.f}, {7, 1.f}, {0, 1.f}, {6, 1.f}}}, 2,
               {{0, 1}, {5, 1}});
  golden<sums>("all equal", {{{9, 1.f}, {5, 1.f}, {7, 1.f}}, {{7, 1.f}, {9, 1.f}, {5, 1.f}}}, 2,
               {{5, 2}, {7, 2}});
  golden<sums>("all zero", {{{9, 0.f}, {5, 0.f}}, {{7, 0.f}, {9, 0.f}}}, 2, {{5, 0}, {7, 0}});
  golden<sums>("the smallest id is last",
               {{{9, 1.f}, {8, 1.f}, {7, 1.f}, {0, 1.f}}, {{9, 1.f}, {8, 1.f}, {7, 1.f}, {0, 1.f}}},
               1, {{0, 2}});
  golden<sums>("equal sums of other scores",
               {{{2, 3.f}, {1, 2.f}, {0, 1.f}}, {{0, 3.f}, {1, 2.f}, {2, 1.f}}}, 2,
               {{0, 4}, {1, 4}});
  golden<sums>("an unseen object ties",
               {{{5, 4.f}, {6, 2.f}, {1, 2.f}}, {{5, 4.f}, {6, 2.f}, {1, 2.f}}}, 2,
               {{5, 8}, {1, 4}});
  golden<sums>("zeros of both signs", {{{2, 0.f}, {1, -0.f}}}, 2, {{1, 0}, {2, 0}});
  golden<karpos_test::maximum_subject>("maximum", three, 2, {{4, 5}, {7, 5}});
}

TEST_CASE("infinities") {
  float const most = static_cast<float>(inf);
  golden<sums>("minus wins over plus", {{{1, most}, {2, 0.f}}, {{2, 1.f}, {1, -most}}}, 2,
               {{2, 1}, {1, -inf}});
  golden<sums>("minus wins by absence", {{{1, most}, {2, 0.f}}, {{2, 1.f}}}, 2, {{2, 1}, {1, -inf}},
               missing(-inf));
  golden<sums>("plus", {{{2, most}, {1, most}, {3, 5.f}}, {{3, most}, {1, 0.f}, {2, -1.f}}}, 3,
               {{1, inf}, {2, inf}, {3, inf}});
  golden<sums>("plus", {{{2, most}, {1, 7.f}, {3, 5.f}}, {{3, 2.f}, {1, 1.f}, {2, -1.f}}}, 3,
               {{2, inf}, {1, 8}, {3, 7}});
  golden<sums>("only minus", {{{2, -most}, {1, -most}}, {{1, 3.f}, {2, -most}}}, 1, {{1, -inf}});
  golden<karpos_test::minimum_subject>("minimum", {{{1, most}, {2, 0.f}}, {{2, 1.f}, {1, -most}}},
                                       2, {{2, 0}, {1, -inf}});
}

TEST_CASE("what rounds: sums are those of double, in the order of the lists") {
  using doubles = karpos_test::u64_double_subject;
  // 2^53 - 1 + 0.5 rounds to 2^53.
  golden<doubles>("a tie by rounding", {{{5, 0x1p53}, {2, 0x1p53 - 1}}, {{2, 0.5}, {5, 0.0}}}, 1,
                  {{2, 0x1p53}});
  golden<doubles>("absorbed",
                  {{{1, 1e16}, {2, 0.0}}, {{1, 1.0}, {2, 0.25}}, {{2, 0.0}, {1, -1e16}}}, 2,
                  {{2, 0.25}, {1, 0}});
  golden<doubles>(
      "one unit in the last place",
      {{{1, 1e9 + 0x1p-23}, {2, 1e9}, {3, 1e9}}, {{2, 0x1p-22}, {3, 0x1p-23}, {1, 0.0}}}, 2,
      {{2, 1e9 + 0x1p-22}, {1, 1e9 + 0x1p-23}});
  constexpr double large = std::numeric_limits<double>::max();
  golden<doubles>("sums beyond double",
                  {{{1, large}, {2, 1.0}, {3, -large}}, {{1, large}, {2, 2.0}, {3, -large}}}, 3,
                  {{1, inf}, {2, 3}, {3, -inf}});
  golden<sums>("an outlier",
               {{{1, 1e30f}, {2, 0.75f}, {3, 0.5f}, {4, 0.25f}},
                {{4, 0.75f}, {2, 0.5f}, {3, 0.375f}, {1, 0.f}}},
               3, {{1, double(1e30f)}, {2, 1.25}, {4, 1}});
  constexpr float tiny = std::numeric_limits<float>::denorm_min();
  golden<sums>("denormal", {{{1, 3 * tiny}, {2, 2 * tiny}}, {{2, 4 * tiny}, {1, tiny}}}, 2,
               {{2, 6 * double(tiny)}, {1, 4 * double(tiny)}});
  constexpr double least = std::numeric_limits<double>::denorm_min();
  golden<doubles>("denormal", {{{1, 3 * least}, {2, 2 * least}}, {{2, 4 * least}, {1, least}}}, 2,
                  {{2, 6 * least}, {1, 4 * least}});
}

TEST_CASE("weights and scores from the ends of double") {
  using doubles = karpos_test::u64_double_subject;
  doubles::options_type o;
  o.aggregate = karpos::weighted_sum({1e305});
  golden<doubles>("a unit beyond double", {{{1, 1e-300}, {2, 0.0}}}, 1, {{1, 1e305 * 1e-300}}, o);
  o.aggregate = karpos::weighted_sum({1e200, 1e200});
  golden<doubles>("terms beyond double", {{{1, 1e200}, {2, 0.0}}, {{2, 0.0}, {1, -1e200}}}, 2,
                  {{2, 0}, {1, -inf}}, o);
  o.aggregate = karpos::weighted_sum({0.1, 0.3});
  golden<doubles>("products are rounded", {{{1, 0.7}}, {{1, 0.9}}}, 1, {{1, 0.1 * 0.7 + 0.3 * 0.9}},
                  o);
}

TEST_CASE("ids from the ends of their type") {
  constexpr u64 most = std::numeric_limits<u64>::max();
  golden<karpos_test::u64_double_subject>(
      "largest",
      {{{most, 5.0}, {0, 4.0}, {most - 1, 3.0}, {most - 2, 2.0}, {u64(1) << 63, 1.0}},
       {{0, 1.0}, {most, 0.0}, {u64(1) << 32, -1.0}}},
      6, {{0, 5}, {most, 5}, {most - 1, 3}, {most - 2, 2}, {u64(1) << 63, 1}, {u64(1) << 32, -1}},
      {}, false);
  golden<karpos_test::u64_float_subject>(
      "equal in 32 bits",
      {{{1, 5.f}, {(u64(1) << 32) + 1, 4.f}, {u64(3) << 32, 2.f}},
       {{(u64(1) << 32) + 1, 4.f}, {1, 1.f}}},
      2, {{(u64(1) << 32) + 1, 8}, {1, 6}}, {}, false);
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min(),
                         highest = std::numeric_limits<std::int32_t>::max();
  golden<karpos_test::i32_double_subject>(
      "negative", {{{highest, 1.0}, {0, 1.0}, {-1, 1.0}, {lowest, 1.0}, {-2, 0.5}}}, 3,
      {{lowest, 1}, {-1, 1}, {0, 1}}, {}, false);
  golden<karpos_test::u32_float_subject>(
      "largest", {{{0xffffffffu, 2.f}, {0u, 1.f}}, {{0xfffffffeu, 3.f}, {0xffffffffu, 2.f}}}, 3,
      {{0xffffffffu, 4}, {0xfffffffeu, 3}, {0u, 1}}, {}, false);
}

TEST_CASE("other aggregates") {
  golden<karpos_test::minimum_subject>("minimum", three, 2, {{7, 3}, {4, 2}});
  golden<karpos_test::minimum_subject>("minimum", {{{1, 5.f}, {2, 1.f}}, {{3, 4.f}}}, 3,
                                       {{1, 0}, {2, 0}, {3, 0}});
  golden<karpos_test::maximum_subject>("maximum", three, 3, {{4, 5}, {7, 5}, {9, 2}});
  golden<karpos_test::product_subject>("product", three, 2, {{7, 15}, {4, 10}});
  golden<karpos_test::product_subject>("product", {{{1, 5.f}, {2, 3.f}}, {{3, 4.f}, {2, 2.f}}}, 3,
                                       {{2, 6}, {1, 5}, {3, 4}},
                                       missing<karpos_test::product_subject>(1));
  golden<karpos_test::median_subject>(
      "median",
      {{{1, 9.0}, {2, 5.0}, {3, 0.0}}, {{3, 8.0}, {2, 4.0}, {1, 1.0}}, {{3, 7.0}, {1, 2.0}}}, 3,
      {{3, 7}, {2, 4}, {1, 2}});
}

TEST_CASE("32 lists") {
  u32_rows list(32);
  for (std::size_t i = 0; i < 32; ++i) list[i] = {{0, 1.f}, {1, i == 31 ? 0.5f : 0.25f}};
  golden<sums>("32 lists", list, 2, {{0, 32}, {1, 8.25}});
  list.assign(32, {});
  for (u32 i = 0; i < 32; ++i) list[i] = {{i, static_cast<float>(i)}};
  golden<sums>("every list has its own object", list, 3, {{31, 31}, {30, 30}, {29, 29}});
}

TEST_CASE("ids without scores, and a query without a workspace") {
  auto const lists = named("three", three, 10);
  auto const on_space = karpos_test::to_space(lists);
  karpos_test::view<u32> const ids("ids", 2), one("id", 1);
  karpos_test::view<double> const scores("scores", 2), none;
  auto const r = karpos::top_k(karpos_test::space(), on_space, 2, ids, scores);
  CHECK(r.found == 2);
  CHECK(karpos_test::to_host(ids) == std::vector<u32>{7, 4});
  CHECK(karpos_test::to_host(scores) == std::vector<double>{8, 7});
  CHECK(karpos::top_k(karpos_test::space(), on_space, 1, one, none).found == 1);
  CHECK(karpos_test::to_host(one) == std::vector<u32>{7});
  sums subject(lists, 3);
  auto const right = rank_all(lists, karpos::weighted_sum(), 0);
  for (auto const& o : every_option())
    karpos_test::check_query("without scores", subject, right, 2, o, false);
}
