// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiled/bits.hpp"
#include "karpos/compiled/top_k.hpp"
#include "karpos/top_k.hpp"

namespace karpos::compiled {

template <class Id, class Score>
struct top_k_workspace<Id, Score>::queries : karpos::top_k_workspace<execution_space, lists_type> {
  using karpos::top_k_workspace<execution_space, lists_type>::top_k_workspace;
};

template <class Id, class Score>
top_k_workspace<Id, Score>::top_k_workspace(execution_space const& exec, lists_type const& lists,
                                            std::uint64_t max_k)
    : m_queries(new queries(exec, lists, max_k)) {}

template <class Id, class Score>
top_k_report top_k_workspace<Id, Score>::run(execution_space const& exec, lists_type const& lists,
                                             std::uint64_t k, output<Id> const& ids,
                                             output<double> const& scores,
                                             top_k_options<> const& options) const {
  karpos::top_k_workspace<execution_space, lists_type> const& workspace = *m_queries;
  return karpos::top_k(exec, workspace, lists, k, ids, scores, options);
}

}  // namespace karpos::compiled

/// Compiles ranked queries of scores of SCORE bits.
#define KARPOS_INSTANTIATE_TOP_K(SCORE)                           \
  template class karpos::compiled::top_k_workspace<std::uint32_t, \
                                                   karpos::compiled::floating<SCORE>>;
