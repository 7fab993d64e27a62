// SPDX-License-Identifier: Apache-2.0
//
// Ranked queries: which five of a million houses are best, by light, quiet and price together?
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/build_sorted_lists.hpp>
#include <karpos/hash.hpp>
#include <karpos/top_k.hpp>

constexpr int attributes = 3;
using table = Kokkos::View<float* [attributes]>;

/// Draws scores between 0 and 1.
struct draw_scores {
  table scores;
  KOKKOS_FUNCTION void operator()(int house) const {
    for (int a = 0; a < attributes; ++a)
      scores(house, a) =
          static_cast<float>(karpos::mix(static_cast<std::uint64_t>(house * attributes + a)) >>
                             40) *
          0x1p-24f;
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  int const houses = 1'000'000, k = 5;
  table const scores("scores", houses);
  Kokkos::parallel_for("draw_scores", Kokkos::RangePolicy<>(exec, 0, houses), draw_scores{scores});

  auto const lists = karpos::build_sorted_lists(exec, scores);  // one list for each column
  Kokkos::View<std::uint32_t*> best("best", k);
  Kokkos::View<double*> sum("sum", k);
  karpos::top_k_options<> options;
  options.aggregate = karpos::weighted_sum{1, 1, 2};  // the price counts twice
  karpos::top_k_report const report = karpos::top_k(exec, lists, k, best, sum, options);

  auto const ids = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, best);
  auto const sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, sum);
  for (int r = 0; r < k; ++r) std::printf("%d. house %u: %.4f\n", r + 1, ids(r), sums(r));
  std::printf("read %.1f %% of the lists to know them\n",
              100.0 * static_cast<double>(report.depth) / houses);
  return report.found == k && report.depth < houses / 2 ? 0 : 1;
}
