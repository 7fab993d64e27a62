// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/ranking/top_k/memory.hpp"
#include "karpos/top_k_options.hpp"

// Checks the arguments of a ranked query.

namespace karpos::detail::top_k {

inline void require_length(char const* what, std::uint64_t extent, std::uint64_t k) {
  if (extent < k)
    reject(std::string("a view for ") + what + " of a ranked query is too short",
           std::to_string(extent) + " for k = " + std::to_string(k), "make it k long");
}

template <class Ids, class Scores>
results<typename Ids::non_const_value_type> make_results(Ids const& ids, Scores const& scores,
                                                         bool with_scores) {
  results<typename Ids::non_const_value_type> to{ids.data(), nullptr, nullptr};
  if (!with_scores) return to;
  if constexpr (std::is_same_v<typename Scores::value_type, float>)
    to.floats = scores.data();
  else
    to.doubles = scores.data();
  return to;
}

template <class Lists, class Aggregate>
void require_valid_query(query_sizes<Lists> const& capacity, Lists const& lists, std::uint64_t k,
                         top_k_options<Aggregate> const& options) {
  if (lists.lists() > capacity.lists || lists.objects() > capacity.objects ||
      lists.is_dense() != capacity.dense)
    reject("sorted lists do not fit the workspace of a ranked query",
           std::to_string(lists.lists()) + " lists of " + std::to_string(lists.objects()) +
               " objects for " + std::to_string(capacity.lists) + " of " +
               std::to_string(capacity.objects),
           "make it for such lists");
  if (k > capacity.k && capacity.k < capacity.objects)
    reject("k is too large for the workspace of a ranked query",
           std::to_string(k) + " for " + std::to_string(capacity.k), "make it for such a k");
  if (!(options.missing_score < HUGE_VAL))
    reject("the missing score of a ranked query is wrong", std::to_string(options.missing_score),
           "it is a number below infinity");
  if constexpr (std::is_same_v<Aggregate, weighted_sum>) {
    int const weights = options.aggregate.count();
    if (weights != 0 && weights != lists.lists())
      reject("a ranked query has another number of weights than lists",
             std::to_string(weights) + " for " + std::to_string(lists.lists()),
             "give one for each list");
  }
}

template <class Lists>
void require_in_range(bool in_range, Lists const& lists) {
  if (in_range) return;
  std::string const objects = std::to_string(lists.objects());
  if (lists.is_dense())
    reject("an id of sorted lists is wrong", "not below " + objects,
           "dense ids are below the number of objects");
  reject("an id of sorted lists is wrong", "more than " + objects + " different ones",
         "say how many there are at most");
}

}  // namespace karpos::detail::top_k
