// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "perf/measure/topk/sequential_query.hpp"

namespace karpos::perf {

/// SC (Stream-Combine): keeps upper bounds only. The object with the largest upper bound is the
/// next of the answer as soon as it has been seen in every list; so it comes with its score, and
/// the query ends later than NRA, which may not know the scores of its answer.
///
/// Objects that were seen in the same set of lists have upper bounds that differ by what was read
/// of them, so each set has a heap of these sums, and the largest upper bound is that of one of the
/// tops. An object that was seen in another list stays in its old heap until it is on top there.
/// All lists are read side by side: SC's own choice of the next list differs from this only if the
/// scores of lists fall at different rates.
///
/// Source: Guentzer, Balke, Kiessling, "Towards efficient multi-feature queries in heterogeneous
/// environments", ITCC 2001.
template <class Score>
class stream_combine_query {
 public:
  stream_combine_query(std::vector<host_list<Score>> const& lists, std::uint64_t k,
                       object_table& objects)
      : m_reader(lists),
        m_objects(objects),
        m_k(k),
        m_heaps(std::size_t(1) << lists.size()) {}

  sequential_answer operator()() {
    while (m_answer.ids.size() < m_k) {
      if (!m_reader.at_end())
        m_reader.read_level(
            [&](std::size_t list, std::uint32_t id, double score) { add(list, id, score); });
      while (m_answer.ids.size() < m_k && report_next()) {
      }
    }
    m_answer.depth = m_answer.depth_growing = m_reader.depth();
    m_answer.candidates = m_seen;
    return std::move(m_answer);
  }

 private:
  using entry = std::pair<double, std::uint32_t>;  // sum of the scores seen, id

  void add(std::size_t list, std::uint32_t id, double score) {
    object_state& o = m_objects[id];
    m_seen += o.seen == 0;
    o.lower += score;
    o.seen = static_cast<std::uint16_t>(o.seen | 1u << list);
    auto& heap = m_heaps[o.seen];
    heap.emplace_back(o.lower, id);
    std::push_heap(heap.begin(), heap.end());
  }

  /// Removes what is outdated from the top of a heap. Returns whether anything is left.
  bool clean(std::size_t seen) {
    auto& heap = m_heaps[seen];
    while (!heap.empty() && m_objects[heap.front().second].seen != seen) pop(heap);
    return !heap.empty();
  }
  static void pop(std::vector<entry>& heap) {
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
  }

  /// Reports the object with the largest upper bound, if its score is known: if it was seen in
  /// every list, or the other lists have ended.
  bool report_next() {
    bool const at_end = m_reader.at_end();
    std::size_t const all = m_heaps.size() - 1;
    double best = at_end ? -1 : m_reader.max_remaining(0);  // of an object that was not seen
    std::size_t best_set = 0;
    for (std::size_t seen = all; seen > 0; --seen) {
      if (!clean(seen)) continue;
      double const upper = m_heaps[seen].front().first +
                           (at_end ? 0 : m_reader.max_remaining(static_cast<unsigned>(seen)));
      if (upper > best || (seen == all && upper >= best)) best = upper, best_set = seen;
    }
    if (best_set == 0 || (best_set != all && !at_end)) return false;
    m_answer.ids.push_back(m_heaps[best_set].front().second);
    pop(m_heaps[best_set]);
    return true;
  }

  level_reader<Score> m_reader;
  object_table& m_objects;
  std::uint64_t m_k, m_seen = 0;
  std::vector<std::vector<entry>> m_heaps;  // by the set of lists in which their objects were seen
  sequential_answer m_answer;
};

/// Returns the k best of at least k objects in at most max_lists_by_set lists.
template <class Score>
sequential_answer stream_combine(std::vector<host_list<Score>> const& lists, std::uint64_t k,
                                 object_table& objects) {
  objects.begin();
  return stream_combine_query<Score>(lists, k, objects)();
}

}  // namespace karpos::perf
