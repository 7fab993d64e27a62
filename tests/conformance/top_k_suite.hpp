// SPDX-License-Identifier: Apache-2.0
/// \file
/// Ranked queries of random lists compared with brute force, for one pair of types.
///
/// The environment variable KARPOS_TEST_SEED draws other cases; the message of a case contains its
/// seed.
#pragma once

#include <cstdlib>

#include "support/top_k_checks.hpp"

namespace karpos_test {

inline std::uint64_t test_seed() {
  char const* const text = std::getenv("KARPOS_TEST_SEED");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10) << 32;
}

template <class T, std::size_t N>
T pick(random_numbers& random, T const (&from)[N]) {
  return from[random.below(N)];
}

/// Draws weights of n lists, or none; some weights are 0, and sometimes all.
inline karpos::weighted_sum draw_weights(random_numbers& random, int n) {
  if (n == 0 || random.below(2) == 0) return {};
  std::vector<double> weights;
  for (int i = 0; i < n; ++i)
    weights.push_back(pick(random, {1.0, 2.0, 0.5, 0.0, 0.3, 0.001, 7.0, 1e6}));
  if (random.below(20) == 0) weights.assign(weights.size(), 0);
  return karpos::weighted_sum(weights);
}

inline karpos::stride_policy draw_strides(random_numbers& random, std::uint64_t m) {
  using policy = karpos::stride_policy;
  policy const choices[] = {policy{},
                            policy(policy::adaptive{1.1, 1.05, 1}),
                            policy(policy::adaptive{2, 0, 0}),
                            policy(policy::adaptive{0, 1.5, 13}),
                            policy(policy::adaptive{8, 8, 1}),
                            policy(policy::fixed{100}),
                            policy(policy::fixed{7}),
                            policy(policy::fixed{1})};
  // Sorting all candidates in each of thousands of strides takes too long for a test.
  return choices[random.below(m > 6000 ? 5 : m > 400 ? 6 : 8)];
}

template <class Options>
Options draw_options(random_numbers& random, int n, std::uint64_t m) {
  Options o;
  if constexpr (std::is_same_v<decltype(o.aggregate), karpos::weighted_sum>)
    o.aggregate = draw_weights(random, n);
  o.result = pick(random, {karpos::top_k_result::exact, karpos::top_k_result::set});
  o.ties = pick(random, {karpos::top_k_ties::any, karpos::top_k_ties::smallest_id});
  o.stride = draw_strides(random, m);
  o.bail_out = pick(random, {karpos::top_k_bail_out::automatic, karpos::top_k_bail_out::automatic,
                             karpos::top_k_bail_out::never, karpos::top_k_bail_out::at_once});
  o.driver = pick(random, {karpos::launch_mode::automatic, karpos::launch_mode::kernel_per_step});
  o.validate = random.below(4) == 0;
  return o;
}

/// Draws lists, and queries them `queries` times for each k, with random options and one oracle.
template <class Subject>
void check_drawn(draw_spec const& spec, std::vector<std::uint64_t> const& ks, int queries) {
  using lists_type = host_lists<typename Subject::id_type, typename Subject::score_type>;
  random_numbers random(spec.seed + 5);
  lists_type const lists =
      draw_lists<typename Subject::id_type, typename Subject::score_type>(spec);
  std::uint64_t most = 0;
  for (std::uint64_t const k : ks) most = k > most ? k : most;
  Subject subject(lists, most, random.below(2) == 0);
  auto drawn = draw_options<typename Subject::options_type>(random, spec.lists, spec.objects);
  drawn.missing_score = pick(random, {0.0, 0.0, -1.0, 0.5, -HUGE_VAL, 3.0, -1e6});
  auto const right = rank_all(lists, drawn.aggregate, drawn.missing_score);
  for (std::uint64_t const k : ks)
    for (int q = 0; q < queries; ++q) {
      auto o = draw_options<typename Subject::options_type>(random, spec.lists, spec.objects);
      o.aggregate = drawn.aggregate;
      o.missing_score = drawn.missing_score;
      check_query(lists.name, subject, right, k, o, random.below(8) != 0);
    }
}

/// Checks many small lists, which find most corner cases.
template <class Subject>
void check_small(int cases, std::vector<scores> const& distributions) {
  random_numbers random(test_seed() + 7);
  for (int c = 0; c < cases; ++c) {
    draw_spec spec;
    spec.distribution = distributions[random.below(distributions.size())];
    spec.lists = pick(random, {1, 2, 2, 3, 3, 4, 5, 8, 32});
    spec.objects = 1 + random.below(random.below(4) == 0 ? 400 : 60);
    spec.keep = pick(random, {1.0, 1.0, 0.9, 0.7, 0.3, 0.05});
    spec.ids = pick(random, {id_kind::dense, id_kind::sparse});
    spec.seed = random() >> 40;
    std::uint64_t const m = spec.objects;
    check_drawn<Subject>(spec, {1 + random.below(m), random.below(3), m, 1 + random.below(m + 9)},
                         1);
  }
}

/// Checks every number of lists with every distribution, and k from 1 to all objects.
template <class Subject>
void check_large(std::vector<scores> const& distributions, std::uint64_t largest) {
  random_numbers random(test_seed() + 11);
  for (int const n : {1, 2, 3, 4, 8, 32})
    for (scores const s : distributions) {
      draw_spec spec;
      spec.distribution = s;
      spec.lists = n;
      spec.objects =
          n == 32 ? 3000 : pick(random, {std::uint64_t(3000), std::uint64_t(4999), largest});
      spec.keep = pick(random, {1.0, 0.7, 0.3});
      spec.ids = pick(random, {id_kind::dense, id_kind::sparse});
      spec.seed = random() >> 40;
      check_drawn<Subject>(spec, {1, 10, 100, spec.objects}, 1);
    }
}

inline std::vector<scores> all_distributions() {
  return {std::begin(every_distribution), std::end(every_distribution)};
}

}  // namespace karpos_test
