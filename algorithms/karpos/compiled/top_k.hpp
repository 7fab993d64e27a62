// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "karpos/compiled/types.hpp"
#include "karpos/sorted_lists.hpp"
#include "karpos/top_k_options.hpp"

// Compiled calls: karpos/compiled.hpp.

namespace karpos::compiled {

/// Memory of ranked queries by weighted sums (top_k_workspace.hpp). Copies share it.
template <class Id, class Score>
class top_k_workspace {
 public:
  using lists_type = sorted_lists<Id, Score, memory_space>;
  top_k_workspace(execution_space const& exec, lists_type const& lists, std::uint64_t max_k);
  /// Does what compiled::top_k does.
  top_k_report run(execution_space const& exec, lists_type const& lists, std::uint64_t k,
                   output<Id> const& ids, output<double> const& scores,
                   top_k_options<> const& options) const;

 private:
  static_assert(std::is_same_v<Id, std::uint32_t>,
                "karpos: compiled queries take ids of std::uint32_t: for others include "
                "karpos/top_k.hpp");
  struct queries;
  std::shared_ptr<queries> m_queries;
};

/// Finds the k objects with the highest weighted sum of their scores (top_k.hpp).
template <class Id, class Score>
top_k_report top_k(execution_space const& exec, top_k_workspace<Id, Score> const& workspace,
                   sorted_lists<Id, Score, memory_space> const& lists, std::uint64_t k,
                   std::type_identity_t<output<Id>> const& ids, output<double> const& scores = {},
                   top_k_options<> const& options = {}) {
  return workspace.run(exec, lists, k, ids, scores, options);
}
template <class Id, class Score>
top_k_report top_k(execution_space const& exec, sorted_lists<Id, Score, memory_space> const& lists,
                   std::uint64_t k, std::type_identity_t<output<Id>> const& ids,
                   output<double> const& scores = {}, top_k_options<> const& options = {}) {
  return top_k_workspace<Id, Score>(exec, lists, k).run(exec, lists, k, ids, scores, options);
}

}  // namespace karpos::compiled
