// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "karpos/detail/table_memory.hpp"
#include "karpos/detail/top_k/rows.hpp"

// The ranked query as published: a row of scores for every object seen, candidates with a lower and an upper bound,
// which are looked at after every stride. Takes any monotone aggregate and any scores; cells.hpp is the faster way for
// weighted sums.

namespace karpos::detail::top_k {

/// A query by rows.
template <class ExecSpace, class Lists, class Aggregate>
class row_query {
 public:
  using id = typename Lists::id_type;
  using score = typename Lists::score_type;
  using memory = row_memory<ExecSpace, id, score, typename Lists::memory_space>;
  using state = row_state<id, score>;

  row_query(ExecSpace const& exec, memory const& m, object_table<id> const& objects,
            Lists const& lists, std::uint64_t k, top_k_options<Aggregate> const& options)
      : m_exec(exec),
        m_memory(m),
        m_lists(lists),
        m_k(k),
        m_options(options),
        m_state{lists.ref(),
                objects,
                m.rows.data(),
                m.marked.data(),
                {m.candidates[0].data(), m.candidates[1].data()},
                m.lower.data(),
                m.upper.data(),
                m.counters.data(),
                m.counters.data() + 1,
                m.unseen.data(),
                m.lower.extent(0)} {}

  /// Runs the query; the depth grows by that factor from stride to stride. Returns: whether every id had a place.
  bool run(results<id> const& to, double growth, top_k_report& report);

 private:
  bool exhausted() const { return m_depth >= m_lists.longest(); }
  bool smallest() const { return m_options.ties == top_k_ties::smallest_id; }
  void start();
  void look();
  void read(bool growing, double growth, top_k_report& report);
  void bound();
  double kth_lower();
  void shrink(double growth, top_k_report& report);
  void keep(double kth);
  void complete(double growth, top_k_report& report);
  void list_entries(std::uint64_t n);
  std::uint32_t counted() {
    std::uint32_t n = 0;
    Kokkos::deep_copy(m_exec, n, Kokkos::subview(m_memory.counters, 0));
    m_exec.fence("karpos::top_k: candidates");
    return n < m_state.max_candidates ? n : static_cast<std::uint32_t>(m_state.max_candidates);
  }
  void count_from(std::uint32_t n) {
    Kokkos::deep_copy(m_exec, Kokkos::subview(m_memory.counters, 0), n);
  }
  template <class Body>
  void run_kernel(char const* label, std::uint64_t n, Body const& body) {
    Kokkos::parallel_for(std::string("karpos::top_k::") + label, index_range(m_exec, n), body);
  }

  ExecSpace m_exec;
  memory m_memory;
  Lists m_lists;
  std::uint64_t m_k;
  top_k_options<Aggregate> m_options;
  state m_state;
  std::uint64_t m_depth = 0, m_candidates = 0;
  unseen_scores m_unseen{};
};

template <class ExecSpace, class Lists, class Aggregate>
bool row_query<ExecSpace, Lists, Aggregate>::run(results<id> const& to, double growth,
                                                 top_k_report& report) {
  start();
  double kth = 0, most = 0;
  bool enough = false;
  while (!exhausted() && !enough) {  // the growing phase
    read(true, growth, report);
    m_candidates = counted();
    bound();
    if (m_candidates < m_k) continue;
    kth = kth_lower();
    most = m_options.aggregate(m_unseen.most, m_lists.lists());
    enough = smallest() ? kth > most : kth >= most;
  }
  std::uint32_t strangers = 0;
  Kokkos::deep_copy(m_exec, strangers, Kokkos::subview(m_memory.counters, 1));
  m_exec.fence("karpos::top_k: ids without a place");
  report.depth_growing = m_depth;
  report.candidates = m_candidates;
  if (m_candidates > m_k) shrink(growth, report);
  report.depth = m_depth;
  report.found = m_candidates < m_k ? m_candidates : m_k;
  list_entries(m_candidates);
  if (m_options.result == top_k_result::exact) complete(growth, report);
  run_kernel("write", report.found, write_results<id>{m_memory.entries.data(), to});
  m_exec.fence("karpos::top_k: results");
  return strangers == 0;
}

template <class ExecSpace, class Lists, class Aggregate>
void row_query<ExecSpace, Lists, Aggregate>::start() {
  fill("karpos::top_k::rows", m_exec, m_memory.rows, std::numeric_limits<score>::quiet_NaN());
  fill("karpos::top_k::marked", m_exec, m_memory.marked, 0u);
  fill("karpos::top_k::counters", m_exec, m_memory.counters, 0u);
  if (m_state.objects.keys != nullptr)
    fill("karpos::top_k::keys", m_exec, m_memory.keys, object_table<id>::empty);
}

template <class ExecSpace, class Lists, class Aggregate>
void row_query<ExecSpace, Lists, Aggregate>::look() {
  using ref = typename Lists::ref_type;
  Kokkos::parallel_for(
      "karpos::top_k::look_at_depth", Kokkos::RangePolicy<ExecSpace>(m_exec, 0, m_lists.lists()),
      look_at_depth<ref>{m_lists.ref(), m_depth, m_options.missing_score, m_memory.unseen.data()});
  Kokkos::deep_copy(
      m_exec,
      Kokkos::View<unseen_scores*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&m_unseen, 1),
      m_memory.unseen);
  m_exec.fence("karpos::top_k: scores at the depth");
}

template <class ExecSpace, class Lists, class Aggregate>
void row_query<ExecSpace, Lists, Aggregate>::read(bool growing, double growth,
                                                  top_k_report& report) {
  auto const& stride = m_options.stride;
  std::uint64_t step = stride.levels();
  if (!stride.is_paper()) {
    auto const grown = static_cast<std::uint64_t>(static_cast<double>(m_depth) * (growth - 1));
    std::uint64_t const first = stride.strides().first > 0 ? stride.strides().first : 512;
    step = m_depth == 0 ? first : grown < 64 ? 64 : grown;
  }
  std::uint64_t const left = m_lists.longest() - m_depth;
  std::uint64_t const end = m_depth + (step < left ? step : left);
  auto const n = static_cast<std::uint64_t>(m_lists.lists());
  run_kernel("read_levels", (end - m_depth) * n,
             read_levels<state>{m_state, m_depth, end, growing});
  for (int i = 0; i < m_lists.lists(); ++i) {
    std::uint64_t const length = m_lists.length(i);
    std::uint64_t const read =
        (end < length ? end : length) - (m_depth < length ? m_depth : length);
    report.entries += read;
    report.bytes += read * (sizeof(id) + sizeof(score));
  }
  ++report.strides;
  m_depth = end;
}

template <class ExecSpace, class Lists, class Aggregate>
void row_query<ExecSpace, Lists, Aggregate>::bound() {
  look();
  run_kernel(
      "bound_candidates", m_candidates,
      bound_candidates<state, Aggregate>{m_state, m_options.aggregate, m_state.candidates[0]});
}

/// The published scheme sorts all candidates; otherwise one is selected.
template <class ExecSpace, class Lists, class Aggregate>
double row_query<ExecSpace, Lists, Aggregate>::kth_lower() {
  auto const range = Kokkos::pair<std::uint64_t, std::uint64_t>(0, m_candidates);
  auto const ordered = Kokkos::subview(m_memory.ordered, range);
  Kokkos::deep_copy(m_exec, ordered, Kokkos::subview(m_memory.lower, range));
  if constexpr (!device::is_device<ExecSpace>) {
    m_exec.fence("karpos::top_k: bounds");
    double* const begin = ordered.data();
    if (m_options.stride.is_paper())
      std::sort(begin, begin + m_candidates);
    else
      std::nth_element(begin, begin + (m_candidates - m_k), begin + m_candidates);
  } else {
    Kokkos::sort(m_exec, ordered);
  }
  double kth = 0;
  Kokkos::deep_copy(m_exec, kth, Kokkos::subview(ordered, m_candidates - m_k));
  m_exec.fence("karpos::top_k: k-th lower bound");
  return kth;
}

/// No new candidates; those that cannot win go, until the winners stand out.
template <class ExecSpace, class Lists, class Aggregate>
void row_query<ExecSpace, Lists, Aggregate>::shrink(double growth, top_k_report& report) {
  for (;;) {
    double const kth = kth_lower();
    standings now;
    Kokkos::parallel_reduce("karpos::top_k::standings", index_range(m_exec, m_candidates),
                            count_standings{m_state.lower, m_state.upper, kth},
                            Kokkos::Sum<standings>(now));
    std::uint64_t const to_fill = m_k - now.above;
    bool const decided = smallest() ? now.open == 0 : now.behind == 0 && now.equal <= to_fill;
    keep(kth);
    bound();
    if (decided || exhausted() || m_candidates == m_k) return;
    read(false, growth, report);
    bound();
  }
}

template <class ExecSpace, class Lists, class Aggregate>
void row_query<ExecSpace, Lists, Aggregate>::keep(double kth) {
  count_from(0);
  run_kernel("keep_candidates", m_candidates, keep_candidates<state>{m_state, kth});
  m_candidates = counted();
  std::swap(m_state.candidates[0], m_state.candidates[1]);
}

template <class ExecSpace, class Lists, class Aggregate>
void row_query<ExecSpace, Lists, Aggregate>::list_entries(std::uint64_t n) {
  auto const range = Kokkos::pair<std::uint64_t, std::uint64_t>(0, n);
  run_kernel("list_ranked", n,
             list_ranked<state>{m_state, m_state.candidates[0], m_memory.entries.data()});
  put_in_order(m_exec, Kokkos::subview(m_memory.entries, range));
}

/// The winners are known: reads on until their scores are, too.
template <class ExecSpace, class Lists, class Aggregate>
void row_query<ExecSpace, Lists, Aggregate>::complete(double growth, top_k_report& report) {
  m_candidates = report.found;
  report.finalists = report.found;
  fill("karpos::top_k::marked", m_exec, m_memory.marked, 0u);
  run_kernel("mark_winners", m_candidates,
             mark_winners<state, ranked_object<id>>{m_state, m_memory.entries.data()});
  for (;;) {
    bound();
    standings now;
    Kokkos::parallel_reduce("karpos::top_k::standings", index_range(m_exec, m_candidates),
                            count_standings{m_state.lower, m_state.upper, -HUGE_VAL},
                            Kokkos::Sum<standings>(now));
    if (now.open == 0 || exhausted()) break;
    read(false, growth, report);
    report.depth_completing = m_depth;
  }
  list_entries(m_candidates);
}

}  // namespace karpos::detail::top_k
