// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cstdint>
#include <karpos/device/atomics.hpp>
#include <karpos/sorted_lists.hpp>
#include <utility>
#include <vector>

#include "perf/measure/support/parallel_sort.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/topk/sequential_query.hpp"

// The published GPU scheme of ranked queries (docs/topk.md, "Fixed strides"), step by step: strides
// of levels; while growing, a sort of all candidates by lower bounds after each stride; while
// shrinking, upper bounds only, and a stop that needs k objects whose scores are all known. No
// candidate is dropped before the end. docs/topk.md says what the library does instead.

namespace karpos::perf {

struct published_words {
  std::uint32_t candidates, determined, others, known;
  double unseen;       ///< upper bound of an object that was not seen
  double first, k_th;  ///< keys of the first candidate, and of the k-th candidate or known object
};

/// Keys are negative bounds, since Kokkos sorts by rising keys.
template <class Score>
struct published_state {
  sorted_lists_ref<std::uint32_t, Score> lists;
  double weight[object_table::max_lists];
  double* sums;                                // lower bounds, an object each
  std::uint32_t* seen;                         // visited bitmap: bit i of an object: seen in list i
  std::uint32_t *ids, *other_ids, *known_ids;  // candidates, before and after removals; the answer
  double *keys, *other_keys, *known_keys;
  published_words* words;

  KOKKOS_FUNCTION std::uint32_t all() const { return (std::uint32_t(1) << lists.lists) - 1; }
  /// Returns the most that list i still adds at this depth.
  KOKKOS_FUNCTION double last(int i, std::uint64_t depth) const {
    auto const& l = lists[i];
    return depth < l.length ? weight[i] * static_cast<double>(l.scores[depth - 1]) : 0;
  }
};

/// Reads the levels from `begin` on, list after list within a level.
template <class Score>
struct read_published_stride {
  published_state<Score> s;
  std::uint64_t begin;
  bool growing;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const lists = static_cast<std::uint64_t>(s.lists.lists);
    auto const list = static_cast<int>(i % lists);
    auto const& l = s.lists[list];
    std::uint64_t const p = begin + i / lists;
    if (p >= l.length) return;
    std::uint32_t const id = l.ids[p], bit = std::uint32_t(1) << list;
    if (!growing && device::load_relaxed(s.seen + id) == 0) return;
    std::uint32_t const before = device::fetch_or(s.seen + id, bit);
    if (before == 0) s.ids[device::fetch_add(&s.words->candidates, 1u)] = id;
    if ((before | bit) == s.all()) device::fetch_add(&s.words->determined, 1u);
    Kokkos::atomic_add(s.sums + id, s.weight[list] * static_cast<double>(l.scores[p]));
  }
};

template <class Score>
struct key_by_lower_bound {
  published_state<Score> s;
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const { s.keys[c] = -s.sums[s.ids[c]]; }
};

/// Moves the candidates whose scores are all known to the known objects, and the others, with
/// their upper bounds, to `other_ids`. At the end of the lists all scores are known.
template <class Score>
struct split_published_candidates {
  published_state<Score> s;
  std::uint64_t depth;
  bool at_end;

  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint32_t const id = s.ids[c];
    if (at_end || s.seen[id] == s.all()) {
      std::uint32_t const at = device::fetch_add(&s.words->known, 1u);
      s.known_ids[at] = id;
      s.known_keys[at] = -s.sums[id];
      return;
    }
    double upper = s.sums[id];
    for (int i = 0; i < s.lists.lists; ++i)
      if ((s.seen[id] >> i & 1u) == 0) upper += s.last(i, depth);
    std::uint32_t const at = device::fetch_add(&s.words->others, 1u);
    s.other_ids[at] = id;
    s.other_keys[at] = -upper;
  }
};

/// Reads what the host compares: the upper bound of unseen objects, and two keys.
template <class Score>
struct read_published_bounds {
  published_state<Score> s;
  std::uint64_t depth, k;
  bool growing;

  KOKKOS_FUNCTION void operator()(std::uint64_t) const {
    published_words& w = *s.words;
    w.unseen = 0;
    for (int i = 0; i < s.lists.lists; ++i) w.unseen += s.last(i, depth);
    std::uint32_t const n = growing ? w.candidates : w.known;
    w.k_th = n >= k ? (growing ? s.keys : s.known_keys)[k - 1] : 0;
    w.first = w.candidates > 0 ? s.keys[0] : 0;
  }
};

template <class Score>
class published_query {
 public:
  using lists_type = sorted_lists<std::uint32_t, Score, memory>;

  published_query(space const& exec, lists_type const& lists, std::uint64_t k,
                  std::vector<double> const& weights, std::uint64_t stride)
      : m_exec(exec),
        m_lists(lists),
        m_k(k),
        m_stride(stride),
        m_words("words of the published scheme"),
        m_host_words("words on the host") {
    std::uint64_t const objects = lists.objects();
    m_sums = make_array<double>("sums of all objects", objects);
    m_seen = make_array<std::uint32_t>("visited bitmap", objects);
    for (int i = 0; i < 3; ++i) {
      m_ids[i] = make_array<std::uint32_t>("candidates", objects);
      m_keys[i] = make_array<double>("bounds of candidates", objects);
    }
    if constexpr (on_host)
      for (auto& buffer : m_buffers) buffer = make_array<keyed_id>("sorted candidates", objects);
    m_state = {lists.ref(),      {},
               m_sums.data(),    m_seen.data(),
               m_ids[0].data(),  m_ids[1].data(),
               m_ids[2].data(),  m_keys[0].data(),
               m_keys[1].data(), m_keys[2].data(),
               m_words.data()};
    for (std::size_t i = 0; i < weights.size(); ++i) m_state.weight[i] = weights[i];
  }

  sequential_answer operator()() {
    start();
    sequential_answer answer;
    published_words now = grow();
    answer.depth_growing = m_depth;
    answer.candidates = now.candidates;
    while (!is_separated(now)) {
      if (!at_end()) now = read(false);
      if (now.determined >= m_k || at_end()) now = split(now);
    }
    answer.depth = m_depth;
    answer.ids.resize(m_k);
    Kokkos::View<std::uint32_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const ids(
        answer.ids.data(), m_k);
    Kokkos::deep_copy(m_exec, ids, part_of<std::uint32_t>(m_state.known_ids, m_k));
    m_exec.fence("karpos::perf: published scheme");
    return answer;
  }

 private:
  template <class T>
  using part = Kokkos::View<T*, memory, Kokkos::MemoryUnmanaged>;
  template <class T>
  static part<T> part_of(T* from, std::uint64_t n) {
    return part<T>(from, n);
  }
  struct keyed_id {
    double key;
    std::uint32_t id;
    friend bool operator<(keyed_id const& a, keyed_id const& b) { return a.key < b.key; }
  };
  struct load_pairs {
    keyed_id* into;
    double const* keys;
    std::uint32_t const* ids;
    KOKKOS_FUNCTION void operator()(std::uint64_t i) const { into[i] = {keys[i], ids[i]}; }
  };
  struct store_pairs {
    keyed_id const* from;
    double* keys;
    std::uint32_t* ids;
    KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
      keys[i] = from[i].key;
      ids[i] = from[i].id;
    }
  };

  bool at_end() const { return m_depth >= m_lists.longest(); }
  /// The published stop: the k-th known object is not below any upper bound.
  bool is_separated(published_words const& now) const {
    return now.known >= m_k && (now.candidates == 0 || now.k_th <= now.first);
  }

  void start() {
    m_depth = 0;
    Kokkos::deep_copy(m_exec, m_sums, 0.0);
    Kokkos::deep_copy(m_exec, m_seen, 0u);
    m_host_words() = {};
    write_words();
  }

  published_words grow() {
    published_words now{};
    do {
      now = read(true);
      Kokkos::parallel_for("karpos::perf::key_by_lower_bound", range(m_exec, now.candidates),
                           key_by_lower_bound<Score>{m_state});
      sort(m_state.keys, m_state.ids, now.candidates);
      now = read_bounds(true);
    } while (!at_end() && (now.candidates < m_k || -now.k_th < now.unseen));
    return now;
  }

  published_words read(bool growing) {
    std::uint64_t const levels = std::min(m_stride, m_lists.longest() - m_depth);
    Kokkos::parallel_for("karpos::perf::read_published_stride",
                         range(m_exec, levels * static_cast<std::uint64_t>(m_lists.lists())),
                         read_published_stride<Score>{m_state, m_depth, growing});
    m_depth += levels;
    return read_words();
  }

  /// Removes the candidates whose scores are known, and sorts these and the others.
  published_words split(published_words const& before) {
    Kokkos::parallel_for("karpos::perf::split_published_candidates",
                         range(m_exec, before.candidates),
                         split_published_candidates<Score>{m_state, m_depth, at_end()});
    read_words();
    published_words& now = m_host_words();
    now.candidates = now.others;
    now.others = now.determined = 0;
    write_words();
    std::swap(m_state.ids, m_state.other_ids);
    std::swap(m_state.keys, m_state.other_keys);
    sort(m_state.known_keys, m_state.known_ids, now.known);
    sort(m_state.keys, m_state.ids, now.candidates);
    return read_bounds(false);
  }

  published_words read_bounds(bool growing) {
    Kokkos::parallel_for("karpos::perf::read_published_bounds", range(m_exec, 1),
                         read_published_bounds<Score>{m_state, m_depth, m_k, growing});
    return read_words();
  }
  published_words read_words() {
    Kokkos::deep_copy(m_exec, m_host_words, m_words);
    m_exec.fence("karpos::perf: published scheme");
    return m_host_words();
  }
  void write_words() {
    Kokkos::deep_copy(m_exec, m_words, m_host_words);
    m_exec.fence("karpos::perf: published scheme");
  }

  void sort(double* keys, std::uint32_t* ids, std::uint64_t n) const {
    if constexpr (on_host) {
      Kokkos::parallel_for("karpos::perf::load_pairs", range(m_exec, n),
                           load_pairs{m_buffers[0].data(), keys, ids});
      auto const* const sorted = parallel_sort(m_exec, m_buffers[0].data(), m_buffers[1].data(), n);
      Kokkos::parallel_for("karpos::perf::store_pairs", range(m_exec, n),
                           store_pairs{sorted, keys, ids});
    } else if (n > 1) {
      Kokkos::Experimental::sort_by_key(m_exec, part_of(keys, n), part_of(ids, n));
    }
  }

  space m_exec;
  lists_type m_lists;
  std::uint64_t m_k, m_stride, m_depth = 0;
  array<double> m_sums;
  array<std::uint32_t> m_seen;
  array<std::uint32_t> m_ids[3];
  array<double> m_keys[3];
  array<keyed_id> m_buffers[2];
  Kokkos::View<published_words, memory> m_words;
  Kokkos::View<published_words, Kokkos::HostSpace> m_host_words;
  published_state<Score> m_state;
};

}  // namespace karpos::perf
