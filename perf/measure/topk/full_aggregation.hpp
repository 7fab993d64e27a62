// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <karpos/device/atomics.hpp>
#include <karpos/select_k.hpp>
#include <karpos/sorted_lists.hpp>
#include <vector>

#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Adds the entries of one list to the sums. An id occurs once in a list, so no atomic is needed.
template <class Score>
struct add_list {
  static constexpr std::uint64_t ahead = 32;

  sorted_list<std::uint32_t, Score> list;
  Score weight, missing;
  Score* sums;

  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    if (p + ahead < list.length) device::prefetch(sums + list.ids[p + ahead]);
    sums[list.ids[p]] += weight * (list.scores[p] - missing);
  }
};

/// Adds the entries of one level of all lists to the sums.
template <class Score>
struct add_level {
  sorted_lists_ref<std::uint32_t, Score> lists;
  Score weight[max_lists];
  Score missing;
  Score* sums;

  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    for (int i = 0; i < lists.lists; ++i)
      if (p < lists[i].length)
        Kokkos::atomic_add(sums + lists[i].ids[p], weight[i] * (lists[i].scores[p] - missing));
  }
};

/// The baseline of ranked queries: sums all scores in their own precision, then selects. CPUs
/// process list after list without atomics; devices read all lists concurrently.
template <class Score>
class full_aggregation {
 public:
  using lists_type = sorted_lists<std::uint32_t, Score, memory>;

  full_aggregation(space const& exec, lists_type const& lists, std::uint64_t k,
                   std::vector<double> const& weights, double missing)
      : m_exec(exec),
        m_lists(lists),
        m_k(k),
        m_weights(weights),
        m_missing(missing),
        m_sums(make_array<Score>("sums of all objects", lists.objects())),
        m_ids(make_array<std::uint32_t>("best ids", k)),
        m_best(make_array<Score>("best sums", k)) {}

  void operator()() const {
    double nothing = 0;
    for (double const w : m_weights) nothing += w * m_missing;
    Kokkos::deep_copy(m_exec, m_sums, static_cast<Score>(nothing));
    if constexpr (on_host)
      add_by_list();
    else
      add_by_level();
    select_k(m_exec, m_sums, m_k, m_ids, m_best, {.sorted = false});
  }

  std::vector<std::uint32_t> ids() const {
    m_exec.fence("karpos::perf: full aggregation");
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_ids);
    return {host.data(), host.data() + host.extent(0)};
  }

 private:
  void add_by_list() const {
    for (int i = 0; i < m_lists.lists(); ++i)
      Kokkos::parallel_for(
          "karpos::perf::add_list", range(m_exec, m_lists.length(i)),
          add_list<Score>{m_lists.ref()[i],
                          static_cast<Score>(m_weights[static_cast<std::size_t>(i)]),
                          static_cast<Score>(m_missing), m_sums.data()});
  }
  void add_by_level() const {
    add_level<Score> kernel{m_lists.ref(), {}, static_cast<Score>(m_missing), m_sums.data()};
    for (std::size_t i = 0; i < m_weights.size(); ++i)
      kernel.weight[i] = static_cast<Score>(m_weights[i]);
    Kokkos::parallel_for("karpos::perf::add_level", range(m_exec, m_lists.longest()), kernel);
  }

  space m_exec;
  lists_type m_lists;
  std::uint64_t m_k;
  std::vector<double> m_weights;
  double m_missing;
  array<Score> m_sums;
  array<std::uint32_t> m_ids;
  array<Score> m_best;
};

}  // namespace karpos::perf
