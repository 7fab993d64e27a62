// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "karpos/detail/ranking/select_k/run.hpp"
#include "support/emulated_team.hpp"
#include "support/keys.hpp"

// The steps with which GPU teams (blocks) select from rows, on teams that a CPU emulates: threads
// run in random order.

namespace {

namespace select = karpos::detail::select_k;
using karpos_test::emulated_block;
using karpos_test::random_numbers;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum class order { random, ties, equal, rising, limits };

template <class T>
std::vector<T> row_of(std::size_t n, order what, random_numbers& random) {
  std::vector<T> row(n);
  for (std::size_t i = 0; i < n; ++i)
    row[i] = what == order::random   ? static_cast<T>(random.below(1u << 20)) - T(1000)
             : what == order::ties   ? static_cast<T>(random.below(7))
             : what == order::rising ? static_cast<T>(i)
                                     : T(5);
  if constexpr (std::is_floating_point_v<T>)
    if (what == order::ties)
      for (std::size_t i = 0; i < n; i += 3) row[i] = std::nan("");
  if (what == order::limits) {
    using limit = std::numeric_limits<T>;
    T const best = limit::has_infinity ? limit::infinity() : limit::max();
    T const values[] = {best,  limit::lowest(),     T(0),
                        -T(0), limit::denorm_min(), -limit::denorm_min()};
    for (T& x : row) x = values[random.below(std::size(values))];
  }
  return row;
}

/// Selects by emulated teams from rows that are cut at the multiples of `length`, and compares the
/// indices with a stable sort.
template <class T>
bool selects(std::vector<T> const& scores, std::vector<u32> const& offsets, u64 k, u64 length,
             bool sorted) {
  using rows_type = select::segment_rows<T, u32>;
  using entry = karpos::detail::ranked<karpos::detail::radix_key<T>>;
  using results_type = select::row_results<u32, T>;
  u64 const n = offsets.size() - 1;
  rows_type const rows{scores.data(), offsets.data(), n, scores.size(), 1};
  select::row_windows const windows{length,
                                    length == 0 ? 0 : (scores.size() + length - 1) / length};
  std::vector<entry> candidates(2 * windows.count * k + 1);
  std::vector<u32> indices(n * k, ~0u);
  std::vector<T> values(n * k);
  results_type const results{indices.data(), k, 1, values.data(), k, 1};
  select::cut_rows<rows_type> const cut{rows, windows, k};
  select::merged_rows<rows_type> const merged{cut, candidates.data()};
  emulated_block block(64, scores.size() + k);
  int const teams = 7;
  for (int team = 0; team < teams; ++team)
    block.run(
        select::select_from_pieces<decltype(cut), rows_type, results_type>{
            cut, cut.pieces(), rows, results, candidates.data(), k, sorted},
        team, teams);
  for (int team = 0; team < teams && windows.count > 0; ++team)
    block.run(
        select::select_from_pieces<decltype(merged), rows_type, results_type>{
            merged, merged.pieces(), rows, results, candidates.data(), k, sorted},
        team, teams);
  bool right = true;
  for (u64 r = 0; r < n; ++r) {
    std::vector<u32> want(offsets[r + 1] - offsets[r]);
    std::iota(want.begin(), want.end(), 0u);
    std::stable_sort(want.begin(), want.end(), [&](u32 a, u32 b) {
      T const x = scores[offsets[r] + a], y = scores[offsets[r] + b];
      return x > y || (x == x && y != y);
    });
    want.resize(std::min<std::size_t>(k, want.size()));
    std::vector<u32> got(indices.begin() + std::ptrdiff_t(r * k),
                         indices.begin() + std::ptrdiff_t(r * k + want.size()));
    if (!sorted) std::sort(got.begin(), got.end()), std::sort(want.begin(), want.end());
    right = right && got == want;
  }
  return right;
}

template <class T>
void check_type() {
  random_numbers random(3);
  for (order const what :
       {order::random, order::ties, order::equal, order::rising, order::limits}) {
    std::vector<T> scores;
    std::vector<u32> offsets{0};
    for (std::size_t const n : {3, 0, 700, 4097, 1, 12'000, 65}) {
      auto const row = row_of<T>(n, what, random);
      scores.insert(scores.end(), row.begin(), row.end());
      offsets.push_back(static_cast<u32>(scores.size()));
    }
    for (u64 const k : {1u, 50u, 2048u})
      for (u64 const length : {u64(0), k + 900}) {
        CAPTURE(static_cast<int>(what));
        CAPTURE(k);
        CAPTURE(length);
        CHECK(selects(scores, offsets, k, length, k != 50));
      }
  }
}

}  // namespace

TEST_CASE("teams select the k largest of rows, whole or cut") {
  SUBCASE("float") { check_type<float>(); }
  SUBCASE("double") { check_type<double>(); }
  SUBCASE("64-bit integers") { check_type<std::int64_t>(); }
  SUBCASE("unsigned") { check_type<u32>(); }
}
