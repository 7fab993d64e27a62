// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

// Delta-stepping on CPUs as in GAP's benchmark: the baseline of sssp.

namespace karpos::perf {

/// Each thread puts the vertices that it relaxes into buckets of its own; the lowest non-empty
/// bucket of all threads is the next frontier. Bucket fusion: a thread continues with its own part
/// of the current bucket while that part is small.
template <class Offset>
class delta_stepping {
 public:
  struct edge {
    std::uint32_t to, weight;
  };

  /// Copies the arrays of a graph on the host, so that each neighbour is stored beside its weight.
  delta_stepping(std::uint64_t vertices, Offset const* offsets, std::uint32_t const* columns,
                 std::uint32_t const* weights)
      : m_offsets(offsets),
        m_edges(offsets[vertices]),
        m_frontier(offsets[vertices] + 1),
        m_distance(vertices) {
#pragma omp parallel for
    for (std::size_t e = 0; e < m_edges.size(); ++e) m_edges[e] = {columns[e], weights[e]};
  }

  std::vector<std::uint32_t> const& distance() const { return m_distance; }

  void operator()(std::uint32_t source, std::uint32_t delta) {
#pragma omp parallel for
    for (std::size_t v = 0; v < m_distance.size(); ++v) m_distance[v] = infinity;
    m_distance[source] = 0;
    m_frontier[0] = source;
    m_bucket[0] = 0;
    m_bucket[1] = none;
    m_length[0] = 1;
    m_length[1] = 0;
    m_next = m_pushed = 0;
#pragma omp parallel
    work(delta);
  }

 private:
  static constexpr std::uint32_t infinity = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t none = ~std::size_t(0);
  using buckets = std::vector<std::vector<std::uint32_t>>;

  void relax(std::uint32_t u, std::uint32_t delta, buckets& local_bins, std::size_t& pushed) {
    std::uint32_t const here = at(u).load(std::memory_order_relaxed);
    for (Offset e = m_offsets[u]; e < m_offsets[u + 1]; ++e) {
      if (m_edges[e].weight >= infinity - here) continue;  // beyond the type's range
      std::uint32_t const v = m_edges[e].to, to = here + m_edges[e].weight;
      std::uint32_t old = at(v).load(std::memory_order_relaxed);
      while (to < old) {
        if (!at(v).compare_exchange_weak(old, to, std::memory_order_relaxed)) continue;
        std::size_t const bucket = to / delta;
        if (bucket >= local_bins.size()) local_bins.resize(bucket + 1);
        local_bins[bucket].push_back(v);
        ++pushed;
        break;
      }
    }
  }
  std::atomic_ref<std::uint32_t> at(std::uint32_t v) { return std::atomic_ref(m_distance[v]); }

  void work(std::uint32_t delta) {
    constexpr std::size_t chunk = 64, fusion_threshold = 1000;
    buckets local_bins;
    for (int round = 0; m_bucket[round % 2] != none; ++round) {
      std::size_t const current = m_bucket[round % 2], length = m_length[round % 2];
      std::size_t pushed = 0;
      for (std::size_t first; (first = std::atomic_ref(m_next).fetch_add(chunk)) < length;)
        for (std::size_t i = first; i < std::min(first + chunk, length); ++i)
          if (m_distance[m_frontier[i]] >= delta * current)
            relax(m_frontier[i], delta, local_bins, pushed);
      while (current < local_bins.size() && !local_bins[current].empty() &&
             local_bins[current].size() < fusion_threshold) {
        std::vector<std::uint32_t> const again = std::move(local_bins[current]);
        local_bins[current].clear();
        for (std::uint32_t const u : again) relax(u, delta, local_bins, pushed);
      }
      std::atomic_ref(m_pushed).fetch_add(pushed);
      std::size_t lowest = current;
      while (lowest < local_bins.size() && local_bins[lowest].empty()) ++lowest;
      if (lowest < local_bins.size()) {
        std::atomic_ref next(m_bucket[(round + 1) % 2]);
        std::size_t seen = next.load();
        while (lowest < seen && !next.compare_exchange_weak(seen, lowest)) {
        }
      }
#pragma omp barrier
      std::size_t const next = m_bucket[(round + 1) % 2];
#pragma omp single nowait
      {
        m_bucket[round % 2] = none;
        m_length[round % 2] = 0;
        m_next = 0;
      }
      std::size_t const here = next < local_bins.size() ? local_bins[next].size() : 0;
      std::size_t const to = std::atomic_ref(m_length[(round + 1) % 2]).fetch_add(here);
      // A vertex is put into a bucket whenever its distance falls, so the graph gives no bound.
      if (m_pushed > m_frontier.size()) {
#pragma omp barrier
#pragma omp single
        m_frontier.resize(std::max(m_frontier.size(), m_length[(round + 1) % 2]));
      }
      if (here > 0) {
        std::copy(local_bins[next].begin(), local_bins[next].end(),
                  m_frontier.begin() + static_cast<std::ptrdiff_t>(to));
        local_bins[next].clear();
      }
#pragma omp barrier
    }
  }

  Offset const* m_offsets;
  std::vector<edge> m_edges;
  std::vector<std::uint32_t> m_frontier, m_distance;
  std::size_t m_bucket[2] = {0, none}, m_length[2] = {1, 0}, m_next = 0;
  std::size_t m_pushed = 0;  // vertices put into buckets, by all threads so far
};

}  // namespace karpos::perf
