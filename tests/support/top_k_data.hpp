// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sorted lists on the host, drawn from distributions that are easy or hard for ranked queries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/keys.hpp"

namespace karpos_test {

/// Lists sorted by falling score. Equal scores are not sorted by their ids.
template <class Id, class Score>
struct host_lists {
  std::string name;
  std::vector<std::vector<std::pair<Id, Score>>> list;
  std::uint64_t dense_objects = 0;  ///< 0: ids are sparse

  int lists() const { return static_cast<int>(list.size()); }
  std::uint64_t longest() const {
    std::size_t most = 0;
    for (auto const& l : list) most = l.size() > most ? l.size() : most;
    return most;
  }
  std::uint64_t entries() const {
    std::size_t sum = 0;
    for (auto const& l : list) sum += l.size();
    return sum;
  }
  bool same_lengths() const {
    return std::all_of(list.begin(), list.end(),
                       [&](auto const& l) { return l.size() == list[0].size(); });
  }
};

enum class scores {
  uniform,
  correlated,
  anticorrelated,
  zipf,
  few,        ///< four different values: many ties
  all_equal,  ///< one value for all
  negative,
  mixed_signs,
  with_infinities,  ///< both infinities, among small integers
  outlier,          ///< 1e30 once, among numbers up to 1
  logarithms,       ///< logarithms of probabilities, some of them 0
  close,            ///< 1e9 plus small differences
  denormal,
  huge  ///< of both signs; sums overflow float
};
inline constexpr scores every_distribution[] = {
    scores::uniform,  scores::correlated, scores::anticorrelated,  scores::zipf,
    scores::few,      scores::all_equal,  scores::negative,        scores::mixed_signs,
    scores::outlier,  scores::logarithms, scores::with_infinities, scores::close,
    scores::denormal, scores::huge};

inline char const* name_of(scores s) {
  static char const* const names[] = {
      "uniform",     "correlated", "anticorrelated", "zipf",       "few",   "all equal", "negative",
      "mixed signs", "infinities", "outlier",        "logarithms", "close", "denormal",  "huge"};
  return names[static_cast<int>(s)];
}

enum class id_kind { dense, sparse };

/// How lists are drawn.
struct draw_spec {
  scores distribution = scores::uniform;
  int lists = 2;
  std::uint64_t objects = 100;
  double keep = 1;  ///< fraction of the objects that each list holds
  id_kind ids = id_kind::dense;
  std::uint64_t seed = 1;

  std::string print() const {
    return std::string(name_of(distribution)) + ", n " + std::to_string(lists) + ", m " +
           std::to_string(objects) +
           (keep < 1 ? ", keep " + std::to_string(keep).substr(0, 4) : "") +
           (ids == id_kind::dense ? ", dense" : ", sparse") + ", seed " + std::to_string(seed);
  }
};

/// Draws the scores of one object after another.
class score_source {
 public:
  score_source(draw_spec const& spec, bool narrow, random_numbers& random)
      : m_spec(spec),
        m_random(random),
        m_narrow(narrow),
        m_outlier(random.below(spec.objects * static_cast<std::uint64_t>(spec.lists) + 1)),
        m_value(static_cast<double>(random.below(7)) - 3) {}

  void next_object() {
    m_base = unit();
    m_rank = static_cast<double>(1 + m_random.below(m_spec.objects));
    m_left = m_spec.lists;
  }
  double next_score() {
    bool const is_outlier = m_outlier == m_drawn++;
    double const first = unit();
    switch (m_spec.distribution) {
      case scores::uniform:
        return first;
      case scores::correlated:
        return 0.9 * m_base + 0.1 * first;
      case scores::anticorrelated:
        return anticorrelated(first);
      case scores::zipf:
        return 1 / (m_rank + 3 * first);
      case scores::few:
        return 0.25 * static_cast<double>(m_random.below(4));
      case scores::all_equal:
        return m_value;
      case scores::negative:
        return -1 - first;
      case scores::mixed_signs:
        return 2 * first - 1;
      case scores::with_infinities:
        return with_infinities();
      case scores::outlier:
        return is_outlier ? 1e30 : first;
      case scores::logarithms:
        return first < 0.2 ? -HUGE_VAL : std::log(first);
      case scores::close:
        return 1e9 + (m_narrow ? 64 : 1e-4) * static_cast<double>(m_random.below(50));
      case scores::denormal:
        return static_cast<double>(m_random.below(40)) * (m_narrow ? 0x1p-149 : 0x1p-1074);
      case scores::huge:
        return (2 * first - 1) * (m_narrow ? 3e38 : 1e300);
    }
    return 0;
  }

 private:
  double unit() { return static_cast<double>(m_random() >> 11) * 0x1p-53; }
  /// Draws scores whose sum is nearly equal for all objects.
  double anticorrelated(double u) {
    if (--m_left == 0) return m_base_sum();
    double const s = m_remaining * u;
    m_remaining -= s;
    return s;
  }
  double m_base_sum() {
    double const s = m_remaining + 0.01 * m_base;
    m_remaining = 1;
    return s;
  }
  double with_infinities() {
    std::uint64_t const d = m_random.below(12);
    return d == 0 ? HUGE_VAL : d < 3 ? -HUGE_VAL : static_cast<double>(d) - 8;
  }

  draw_spec m_spec;
  random_numbers& m_random;
  bool m_narrow;
  std::uint64_t m_outlier, m_drawn = 0;
  double m_value, m_base = 0, m_rank = 1, m_remaining = 1;
  int m_left = 0;
};

/// Sorts a list by falling score; equal scores are in random order.
template <class Id, class Score>
void sort_list(std::vector<std::pair<Id, Score>>& list, random_numbers& random) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
  std::stable_sort(list.begin(), list.end(),
                   [](auto const& a, auto const& b) { return a.second > b.second; });
}

/// Draws different ids: 0 to objects - 1 in random order, or ids spread over the whole type.
template <class Id>
std::vector<Id> draw_ids(draw_spec const& spec, random_numbers& random) {
  if (spec.ids == id_kind::sparse) {
    using bits = std::make_unsigned_t<Id>;
    std::vector<Id> ids;
    for (std::uint64_t i = 0; i < spec.objects; ++i)
      ids.push_back(static_cast<Id>(permute(static_cast<bits>(i + (spec.seed << 20)))));
    return ids;
  }
  std::vector<Id> ids(spec.objects);
  std::iota(ids.begin(), ids.end(), Id(0));
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  return ids;
}

/// Draws lists that depend on `spec` alone.
template <class Id, class Score>
host_lists<Id, Score> draw_lists(draw_spec const& spec) {
  random_numbers random(spec.seed * 977 + static_cast<std::uint64_t>(spec.distribution));
  host_lists<Id, Score> drawn;
  drawn.name = spec.print();
  drawn.list.resize(static_cast<std::size_t>(spec.lists));
  if (spec.ids == id_kind::dense) drawn.dense_objects = spec.objects;
  auto const ids = draw_ids<Id>(spec, random);
  score_source source(spec, std::is_same_v<Score, float>, random);
  auto const kept = static_cast<std::uint64_t>(spec.keep * 1000);
  for (Id const id : ids) {
    source.next_object();
    for (auto& list : drawn.list) {
      auto const score = static_cast<Score>(source.next_score());
      if (random.below(1000) < kept) list.emplace_back(id, score);
    }
  }
  for (auto& list : drawn.list) sort_list(list, random);
  return drawn;
}

}  // namespace karpos_test
