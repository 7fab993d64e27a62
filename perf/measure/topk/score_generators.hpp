// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "perf/measure/topk/score_spec.hpp"

// Scores that are functions of the object alone: equal on every backend, up to the last bit of a
// product and sum.

namespace karpos::perf {

/// Independent random numbers, 64 streams for each object.
struct score_draws {
  std::uint64_t seed;

  /// Mixes the bits of a word.
  /// Source: Sebastiano Vigna, splitmix64.
  KOKKOS_FUNCTION static std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  /// Returns a number that is uniform in (0, 1).
  KOKKOS_FUNCTION double uniform(std::uint64_t object, std::uint64_t stream) const {
    std::uint64_t const word = mixed((seed * 0x100000001b3ULL) ^ mixed(object * 64 + stream));
    return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53;
  }
  /// Returns the sum of four streams, centred and scaled to variance 1: approximately normal.
  KOKKOS_FUNCTION double gaussian(std::uint64_t object, std::uint64_t four_streams) const {
    double sum = 0;
    for (std::uint64_t i = 0; i < 4; ++i) sum += uniform(object, four_streams * 4 + i);
    return (sum - 2.0) * 1.7320508075688772;
  }
};

/// Computes the scores of one object in all lists.
struct object_scores {
  static constexpr int most = 32;

  score_spec::families family;
  int lists;
  std::uint64_t objects;
  double exponent;
  score_draws draws;

  static object_scores of(score_spec const& s) {
    return {s.family, s.lists, s.objects, s.exponent, {s.seed}};
  }

  KOKKOS_FUNCTION void operator()(std::uint64_t object, double* score) const {
    using families = score_spec::families;
    if (family == families::anticorrelated) return anticorrelated(object, score);
    for (int i = 0; i < lists; ++i) {
      auto const list = static_cast<std::uint64_t>(i);
      if (family == families::uniform) score[i] = draws.uniform(object, list);
      if (family == families::correlated)
        score[i] = reflected(draws.uniform(object, 63) + 0.05 * draws.gaussian(object, list));
      if (family == families::zipf) score[i] = zipf(draws.uniform(object, list));
    }
  }

 private:
  /// Reflects values a little outside of (0, 1] back into it.
  KOKKOS_FUNCTION static double reflected(double x) {
    if (x < 0) x = -x;
    if (x > 1) x = 2 - x;
    return x < 1e-9 ? 1e-9 : x > 1 ? 1.0 : x;
  }
  KOKKOS_FUNCTION static double smaller(double a, double b) { return a < b ? a : b; }

  KOKKOS_FUNCTION double zipf(double u) const {
    double const rank = 1.0 + u * static_cast<double>(objects - 1);
    return 1.0 / (exponent == 1 ? rank : Kokkos::pow(rank, exponent));
  }

  /// Starts with equal scores in all lists. Then every list moves a random amount to or from the
  /// next list, within the range of both scores, which keeps the sum.
  KOKKOS_FUNCTION void anticorrelated(std::uint64_t object, double* score) const {
    double const start = reflected(0.5 + 0.05 * draws.gaussian(object, 15));
    for (int i = 0; i < lists; ++i) score[i] = start;
    for (int i = 0; i < lists; ++i) {
      int const next = (i + 1) % lists;
      double const max_up = smaller(1 - score[i], score[next]);
      double const max_down = smaller(score[i], 1 - score[next]);
      double const moved =
          -max_down + (max_up + max_down) * draws.uniform(object, static_cast<std::uint64_t>(i));
      score[i] += moved;
      score[next] -= moved;
    }
    for (int i = 0; i < lists; ++i) score[i] = reflected(score[i]);
  }
};

/// Writes scores(object, list).
template <class Table>
struct write_scores {
  object_scores scores_of;
  Table scores;

  KOKKOS_FUNCTION void operator()(std::uint64_t object) const {
    double score[object_scores::most];
    scores_of(object, score);
    for (int i = 0; i < scores_of.lists; ++i)
      scores(object, i) = static_cast<typename Table::non_const_value_type>(score[i]);
  }
};

/// Returns a table [objects][lists] of the scores, stored list by list, in the memory of any
/// execution space.
template <class Score, class Space>
auto generate_scores(Space const& exec, score_spec const& spec) {
  using table = Kokkos::View<Score**, Kokkos::LayoutLeft, typename Space::memory_space>;
  table const scores(Kokkos::view_alloc(Kokkos::WithoutInitializing, "generated scores"),
                     spec.objects, static_cast<std::size_t>(spec.lists));
  Kokkos::parallel_for(
      "karpos::perf::generate_scores",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::uint64_t>>(exec, 0, spec.objects),
      write_scores<table>{object_scores::of(spec), scores});
  exec.fence("karpos::perf::generate_scores");
  return scores;
}

}  // namespace karpos::perf
