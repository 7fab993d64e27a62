// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "perf/measure/topk/sequential_query.hpp"

namespace karpos::perf {

/// LARA: a growing phase without upper bounds, then a shrinking phase that checks leaders only.
/// Candidates seen in the same set of lists differ in their lower bounds alone, so the best of
/// them, the leader of that set, blocks the end for all of them. Hence 2^n leaders are checked
/// instead of all candidates.
///
/// A leader whose object has been seen in another list is stale: its old bound still limits the
/// other candidates of its set. If only stale leaders block the end, the candidates are scanned for
/// new leaders, and those below the threshold are dropped.
///
/// Source: Mamoulis, Yiu, Cheng, Cheung, "Efficient top-k aggregation of ranked inputs",
/// TODS 32(3), 2007.
template <class Score>
class lara_query {
 public:
  lara_query(std::vector<host_list<Score>> const& lists, std::uint64_t k, object_table& objects)
      : m_reader(lists),
        m_objects(objects),
        m_best(objects, k),
        m_leaders(std::size_t(1) << lists.size()) {}

  sequential_answer operator()() {
    bool grown = false;
    while (!grown && !m_reader.at_end()) {
      m_reader.read_level(
          [&](std::size_t list, std::uint32_t id, double score) { grow(list, id, score); });
      grown = m_best.full() && m_best.least() >= m_reader.max_remaining(0);
    }
    m_answer.depth_growing = m_reader.depth();
    m_answer.candidates = m_candidates.size();
    if (grown) {
      find_leaders();
      while (check_leaders() && !m_reader.at_end())
        m_reader.read_level(
            [&](std::size_t list, std::uint32_t id, double score) { shrink(list, id, score); });
    }
    m_answer.depth = m_reader.depth();
    m_answer.ids = m_best.extract();
    return std::move(m_answer);
  }

 private:
  struct leader {
    double lower = -1;  // no leader
    std::uint32_t id = top_k_heap::none;
    bool stale = false;
  };

  static void add(object_state& o, std::size_t list, double score) {
    o.lower += score;
    o.seen = static_cast<std::uint16_t>(o.seen | 1u << list);
  }

  void grow(std::size_t list, std::uint32_t id, double score) {
    object_state& o = m_objects[id];
    if (o.seen == 0) m_candidates.push_back(id);
    add(o, list, score);
    m_best.offer(id, o);
  }

  void shrink(std::size_t list, std::uint32_t id, double score) {
    object_state& o = m_objects[id];
    if (o.seen == 0) return;  // a new object, or a dropped one
    if (m_leaders[o.seen].id == id) m_leaders[o.seen].stale = true;
    add(o, list, score);
    bool const was_best = o.heap_index != object_state::not_in_heap;
    std::uint32_t const left = m_best.offer(id, o);
    if (was_best) return;
    std::uint32_t const outside = left == top_k_heap::none ? id : left;
    offer_leader(outside, m_objects[outside]);
  }

  void offer_leader(std::uint32_t id, object_state const& o) {
    leader& l = m_leaders[o.seen];
    if (o.lower > l.lower) l = {o.lower, id, false};
  }

  /// Drops the candidates below the threshold, and makes the best remaining candidate of each set
  /// of lists its leader.
  void find_leaders() {
    for (leader& l : m_leaders) l = leader();
    std::vector<double> max_remaining(m_leaders.size());
    for (unsigned seen = 1; seen < max_remaining.size(); ++seen)
      max_remaining[seen] = m_reader.max_remaining(seen);
    double const least = m_best.least();
    std::size_t kept = 0;
    for (std::uint32_t const id : m_candidates) {
      object_state& o = m_objects[id];
      if (o.heap_index == object_state::not_in_heap) {
        if (o.lower + max_remaining[o.seen] <= least) {
          o.seen = 0;
          continue;
        }
        offer_leader(id, o);
      }
      m_candidates[kept++] = id;
    }
    m_candidates.resize(kept);
  }

  bool blocks(std::size_t seen) const {
    leader const& l = m_leaders[seen];
    return l.lower >= 0 &&
           l.lower + m_reader.max_remaining(static_cast<unsigned>(seen)) > m_best.least();
  }

  /// Returns whether a leader blocks the end. Checks the leader that blocked last time first.
  bool check_leaders() {
    if (!m_leaders[m_blocking].stale && blocks(m_blocking)) return true;
    bool has_stale = false;
    if (find_blocking(has_stale)) return true;
    if (!has_stale) return false;
    find_leaders();
    return find_blocking(has_stale);
  }
  bool find_blocking(bool& has_stale) {
    for (std::size_t seen = 1; seen < m_leaders.size(); ++seen)
      if (blocks(seen)) {
        m_blocking = seen;
        if (!m_leaders[seen].stale) return true;
        has_stale = true;
      }
    return false;
  }

  level_reader<Score> m_reader;
  object_table& m_objects;
  top_k_heap m_best;
  std::vector<leader> m_leaders;
  std::vector<std::uint32_t> m_candidates;
  std::size_t m_blocking = 0;
  sequential_answer m_answer;
};

/// Returns the k best of at least k objects in at most max_lists_by_set lists.
template <class Score>
sequential_answer lara(std::vector<host_list<Score>> const& lists, std::uint64_t k,
                       object_table& objects) {
  objects.begin();
  return lara_query<Score>(lists, k, objects)();
}

}  // namespace karpos::perf
