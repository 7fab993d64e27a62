// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "perf/measure/topk/sequential_query.hpp"

namespace karpos::perf {

/// NRA (no random access): reads all lists level by level, keeps bounds of every object seen, and
/// stops as soon as no other object can be better than the k best. The test is made after every
/// level and stops at the first candidate that blocks the end. It never returns to the candidates
/// before that one, because upper bounds fall and the k-th lower bound grows.
///
/// Source: Fagin, Lotem, Naor, "Optimal aggregation algorithms for middleware", PODS 2001,
/// section 8.
template <class Score>
class nra_query {
 public:
  nra_query(std::vector<host_list<Score>> const& lists, std::uint64_t k, object_table& objects)
      : m_reader(lists),
        m_objects(objects),
        m_best(objects, k) {}

  sequential_answer operator()() {
    while (!m_reader.at_end()) {
      m_reader.read_level(
          [&](std::size_t list, std::uint32_t id, double score) { add_score(list, id, score); });
      if (!m_best.full()) continue;
      if (!m_shrinking && m_best.least() >= m_reader.max_remaining(0)) shrink();
      if (m_shrinking && try_finish()) break;
    }
    m_answer.depth = m_reader.depth();
    if (!m_shrinking) m_answer.depth_growing = m_answer.depth;
    m_answer.ids = m_best.extract();
    return std::move(m_answer);
  }

 private:
  void add_score(std::size_t list, std::uint32_t id, double score) {
    object_state& o = m_objects[id];
    if (o.seen == 0) {
      if (m_shrinking) return;  // a new object cannot be among the first k
      m_candidates.push_back(id);
    }
    o.lower += score;
    o.seen = static_cast<std::uint16_t>(o.seen | 1u << list);
    std::uint32_t const left = m_best.offer(id, o);
    if (left != top_k_heap::none && m_shrinking) m_candidates.push_back(left);
  }
  void shrink() {
    m_shrinking = true;
    m_answer.depth_growing = m_reader.depth();
    m_answer.candidates = m_candidates.size();
  }
  bool try_finish() {
    for (; m_blocking < m_candidates.size(); ++m_blocking) {
      object_state const& o = m_objects[m_candidates[m_blocking]];
      if (o.heap_index == object_state::not_in_heap &&
          o.lower + m_reader.max_remaining(o.seen) > m_best.least())
        return false;
    }
    return true;
  }

  level_reader<Score> m_reader;
  object_table& m_objects;
  top_k_heap m_best;
  std::vector<std::uint32_t> m_candidates;
  std::size_t m_blocking = 0;
  bool m_shrinking = false;
  sequential_answer m_answer;
};

/// Returns the k best of at least k objects in at most 16 lists.
template <class Score>
sequential_answer nra(std::vector<host_list<Score>> const& lists, std::uint64_t k,
                      object_table& objects) {
  objects.begin();
  return nra_query<Score>(lists, k, objects)();
}

}  // namespace karpos::perf
