// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

// Types that the one-thread references of ranked queries share. They rank by sums of non-negative
// scores; objects are numbered from 0. An object that is missing from a list has the score 0 there.

namespace karpos::perf {

/// A list on the host. Its scores are multiplied by `weight`.
template <class Score>
struct host_list {
  std::uint32_t const* ids;
  Score const* scores;
  std::uint64_t length;
  double weight;
};

struct sequential_answer {
  std::vector<std::uint32_t> ids;  ///< the k best, in no order
  std::uint64_t depth_growing = 0, depth = 0, candidates = 0;
};

/// The state of one object in a query.
struct object_state {
  static constexpr std::uint32_t not_in_heap = ~std::uint32_t(0);

  double lower;              ///< sum of the scores seen
  std::uint16_t query;       ///< the query that this state belongs to
  std::uint16_t seen;        ///< bit i: seen in list i
  std::uint32_t heap_index;  ///< in top_k_heap
};

/// The most lists of LARA and Stream-Combine, which keep leaders or a heap for each set of lists.
inline constexpr int max_lists_by_set = 8;

/// The states of all objects. A new query increments a counter, by which states of earlier queries
/// are recognised, so nothing is cleared.
class object_table {
 public:
  static constexpr int max_lists = 16;

  explicit object_table(std::uint64_t objects) : m_objects(objects) {}

  void begin() {
    if (++m_query != 0) return;
    std::fill(m_objects.begin(), m_objects.end(), object_state{});
    m_query = 1;
  }
  std::uint64_t size() const { return m_objects.size(); }
  object_state& operator[](std::uint32_t id) {
    object_state& o = m_objects[id];
    if (o.query != m_query) o = {0, m_query, 0, object_state::not_in_heap};
    return o;
  }

 private:
  std::vector<object_state> m_objects;
  std::uint16_t m_query = 0;
};

/// The k objects with the highest lower bounds: a heap with the lowest of them on top.
class top_k_heap {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t(0);

  top_k_heap(object_table& objects, std::uint64_t k) : m_objects(objects), m_k(k) {
    m_heap.reserve(k);
  }

  bool full() const { return m_heap.size() == m_k; }
  double least() const { return m_objects[m_heap[0]].lower; }
  std::vector<std::uint32_t> extract() { return std::move(m_heap); }

  /// Updates the heap after the lower bound of the object has grown. Returns the object that was
  /// evicted for it, or `none`.
  std::uint32_t offer(std::uint32_t id, object_state const& o) {
    if (o.heap_index != object_state::not_in_heap) {
      sift_down(o.heap_index, id);
      return none;
    }
    if (!full()) {
      m_heap.push_back(id);
      sift_up(static_cast<std::uint32_t>(m_heap.size() - 1), id);
      return none;
    }
    if (o.lower <= least()) return none;
    std::uint32_t const left = m_heap[0];
    m_objects[left].heap_index = object_state::not_in_heap;
    sift_down(0, id);
    return left;
  }

 private:
  void put(std::uint32_t index, std::uint32_t id) {
    m_heap[index] = id;
    m_objects[id].heap_index = index;
  }
  void sift_up(std::uint32_t index, std::uint32_t id) {
    double const lower = m_objects[id].lower;
    for (; index > 0; index = (index - 1) / 2) {
      std::uint32_t const parent = m_heap[(index - 1) / 2];
      if (m_objects[parent].lower <= lower) break;
      put(index, parent);
    }
    put(index, id);
  }
  void sift_down(std::uint32_t index, std::uint32_t id) {
    double const lower = m_objects[id].lower;
    auto const size = static_cast<std::uint32_t>(m_heap.size());
    for (std::uint32_t child = 2 * index + 1; child < size; child = 2 * index + 1) {
      if (child + 1 < size && m_objects[m_heap[child + 1]].lower < m_objects[m_heap[child]].lower)
        ++child;
      if (m_objects[m_heap[child]].lower >= lower) break;
      put(index, m_heap[child]);
      index = child;
    }
    put(index, id);
  }

  object_table& m_objects;
  std::uint64_t m_k;
  std::vector<std::uint32_t> m_heap;
};

/// Reads all lists level by level: level p is entry p of each list.
template <class Score>
class level_reader {
 public:
  explicit level_reader(std::vector<host_list<Score>> const& lists) : m_lists(lists) {
    for (host_list<Score> const& l : lists) m_longest = std::max(m_longest, l.length);
    m_last.resize(lists.size());
  }

  std::size_t lists() const { return m_lists.size(); }
  std::uint64_t depth() const { return m_depth; }
  bool at_end() const { return m_depth == m_longest; }

  /// Calls use(list, id, score) for the entries of the next level.
  template <class Use>
  void read_level(Use&& use) {
    for (std::size_t i = 0; i < m_lists.size(); ++i) {
      host_list<Score> const& l = m_lists[i];
      m_last[i] = 0;  // the score that an exhausted list still offers
      if (m_depth >= l.length) continue;
      m_last[i] = l.weight * static_cast<double>(l.scores[m_depth]);
      use(i, l.ids[m_depth], m_last[i]);
    }
    ++m_depth;
  }
  /// Returns the most that the lists outside of the set `seen` can still add to an object's score.
  double max_remaining(unsigned seen) const {
    double sum = 0;
    for (std::size_t i = 0; i < m_last.size(); ++i)
      if ((seen >> i & 1u) == 0) sum += m_last[i];
    return sum;
  }

 private:
  std::vector<host_list<Score>> const& m_lists;
  std::vector<double> m_last;
  std::uint64_t m_depth = 0, m_longest = 0;
};

}  // namespace karpos::perf
