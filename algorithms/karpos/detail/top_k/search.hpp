// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cmath>
#include <cstdint>
#include <string>

#include "karpos/detail/top_k/workspace.hpp"
#include "karpos/validate_sorted_lists.hpp"

// One ranked query: what is wrong with what it was given, which way it goes, and its report.

namespace karpos::detail::top_k {

template <class Ids, class Scores>
void require_results(Ids const& ids, Scores const& scores, std::uint64_t k) {
  auto const require = [k](char const* what, auto const& view) {
    if (view.extent(0) < k)
      reject(std::string("a view for ") + what + " of a ranked query is too short",
             std::to_string(view.extent(0)) + " for k = " + std::to_string(k), "make it k long");
    if (!view.span_is_contiguous())
      reject(std::string(what) + " of a ranked query do not lie side by side", "a strided view",
             "pass a contiguous one");
  };
  require("ids", ids);
  if (scores.extent(0) > 0) require("scores", scores);
}

template <class ExecSpace, class Lists, class Aggregate>
class search {
 public:
  using workspace = top_k_workspace<ExecSpace, Lists, Aggregate>;
  using id = typename Lists::id_type;
  using score = typename Lists::score_type;

  search(ExecSpace const& exec, workspace const& w, Lists const& lists, std::uint64_t k,
         results<id> const& to, top_k_options<Aggregate> const& options)
      : m_exec(exec),
        m_workspace(w),
        m_lists(lists),
        m_k(k),
        m_to(to),
        m_options(options) {
    check();
  }

  top_k_report run() {
    Kokkos::Profiling::ScopedRegion const region("karpos::top_k");
    top_k_report report;
    if (m_k == 0 || m_lists.entries() == 0) return report;
    bool sound = true, done = false;
    if constexpr (workspace::by_cells)
      if (!m_options.stride.is_paper() && m_k <= m_workspace.m_size.survivors)
        done = m_workspace.m_size.small_cells()
                   ? by_cells(m_workspace.m_small_cells, report, sound)
                   : by_cells(m_workspace.m_large_cells, report, sound);
    if (!done) sound = by_rows(report);
    if (!sound)
      reject("an id of sorted lists is wrong",
             m_lists.is_dense()
                 ? "not below " + std::to_string(m_lists.objects())
                 : "more than " + std::to_string(m_lists.objects()) + " different ones",
             m_lists.is_dense() ? "dense ids are below the number of objects"
                                : "say how many there are at most");
    return report;
  }

 private:
  using tuned = tuning<ExecSpace>;

  void check() const;
  object_table<id> table(typename object_table<id>::word* keys) const {
    auto const& n = m_workspace.m_size;
    return {n.dense ? m_lists.objects() : n.places, n.dense ? nullptr : keys};
  }
  static double growth(double asked, double tuned_for) { return asked > 0 ? asked : tuned_for; }
  /// About how many objects there are.
  double objects() const {
    return static_cast<double>(m_lists.is_dense() ? m_lists.objects() : m_lists.longest());
  }
  bool by_rows(top_k_report& report);
  template <class Cells>
  bool by_cells(Cells const& cells, top_k_report& report, bool& sound);
  template <class Cells>
  auto state(Cells const& cells) const;
  ranking_plan plan() const;
  void count_reads(ranking_record const& record, top_k_report& report) const;
  void write_sorted(std::uint64_t finals);

  ExecSpace m_exec;
  workspace m_workspace;
  Lists m_lists;
  std::uint64_t m_k;
  results<id> m_to;
  top_k_options<Aggregate> m_options;
};

template <class ExecSpace, class Lists, class Aggregate>
void search<ExecSpace, Lists, Aggregate>::check() const {
  auto const& n = m_workspace.m_size;
  if (m_lists.lists() > n.lists || m_lists.objects() > n.objects || m_lists.is_dense() != n.dense)
    reject("sorted lists do not fit the workspace of a ranked query",
           std::to_string(m_lists.lists()) + " lists of " + std::to_string(m_lists.objects()) +
               " objects for " + std::to_string(n.lists) + " of " + std::to_string(n.objects),
           "make it for such lists");
  if (m_k > n.k && n.k < n.objects)
    reject("k is too large for the workspace of a ranked query",
           std::to_string(m_k) + " for " + std::to_string(n.k), "make it for such a k");
  if (!(m_options.missing_score < HUGE_VAL))
    reject("the missing score of a ranked query is wrong", std::to_string(m_options.missing_score),
           "it is a number below infinity");
  if constexpr (workspace::by_cells) {
    int const weights = m_options.aggregate.count();
    if (weights != 0 && weights != m_lists.lists())
      reject("a ranked query has another number of weights than lists",
             std::to_string(weights) + " for " + std::to_string(m_lists.lists()),
             "give one for each list");
  }
  if (m_options.validate) karpos::validate_sorted_lists(m_exec, m_lists);
}

template <class ExecSpace, class Lists, class Aggregate>
bool search<ExecSpace, Lists, Aggregate>::by_rows(top_k_report& report) {
  auto& memory = *m_workspace.m_rows;
  if (memory.lower.extent(0) == 0) m_workspace.allocate_rows(m_exec);
  report.bailed_out = false;
  row_query<ExecSpace, Lists, Aggregate> query(m_exec, memory, table(memory.keys.data()), m_lists,
                                               m_k, m_options);
  return query.run(m_to, growth(m_options.stride.strides().growth, tuned::growth), report);
}

template <class ExecSpace, class Lists, class Aggregate>
ranking_plan search<ExecSpace, Lists, Aggregate>::plan() const {
  auto const& asked = m_options.stride.strides();
  std::uint64_t first = asked.first;
  if (first == 0) {
    std::uint64_t const part = tuned::first_part == 0 ? 0 : m_lists.longest() / tuned::first_part;
    std::uint64_t const least = 2 * m_k < tuned::first_stride ? tuned::first_stride : 2 * m_k;
    first = part < least ? least : part;
  }
  // Independent lists end the growing phase at (k / m)^(1/n) of their depth. Twice as deep, they are not independent.
  double const expected = std::pow(static_cast<double>(m_k) / objects(), 1.0 / m_lists.lists());
  double const deepest =
      2 * expected < tuned::deepest_growth ? 2 * expected : tuned::deepest_growth;
  return {growth(asked.growth, tuned::growth),
          growth(asked.growth_shrinking, tuned::growth_shrinking),
          first,
          static_cast<std::uint64_t>(deepest * static_cast<double>(m_lists.longest())),
          static_cast<std::uint64_t>(tuned::max_survivors * objects()),
          m_options.bail_out,
          m_options.result == top_k_result::set};
}

template <class ExecSpace, class Lists, class Aggregate>
template <class Cells>
auto search<ExecSpace, Lists, Aggregate>::state(Cells const& cells) const {
  workspace const& w = m_workspace;
  using cell = typename Cells::value_type;
  cell_state<ExecSpace, id, score, cell> s{};
  s.lists = m_lists.ref();
  s.objects = table(w.m_keys.data());
  s.layout = {m_lists.lists()};
  s.aggregate = m_options.aggregate;
  s.missing_score = m_options.missing_score;
  s.k = m_k;
  s.cells = cells.data();
  s.marked = w.m_marked.data();
  for (int i = 0; i < 2; ++i) s.survivors[i] = w.m_survivors[i].data();
  s.survivor_room = static_cast<std::uint32_t>(w.m_size.survivors);
  s.final_room = static_cast<std::uint32_t>(w.m_size.finals);
  s.histogram = w.m_histogram.data();
  s.words = w.m_words.data();
  s.final_scores = w.m_final_scores.data();
  s.finals = w.m_finals.data();
  s.out = m_to;
  return s;
}

/// Returns: whether it could tell the objects apart.
template <class ExecSpace, class Lists, class Aggregate>
template <class Cells>
bool search<ExecSpace, Lists, Aggregate>::by_cells(Cells const& cells, top_k_report& report,
                                                   bool& sound) {
  auto const s = state(cells);
  device::run_program<tuned::team_threads, tuned::teams_per_processor>(
      m_exec, m_options.driver, m_workspace.m_grid,
      ranking_program<std::remove_const_t<decltype(s)>>{s, plan()});
  query_words words;
  Kokkos::deep_copy(
      m_exec, Kokkos::View<query_words*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&words, 1),
      m_workspace.m_words);
  m_exec.fence("karpos::top_k: report");
  ranking_record const& record = words.record;
  sound = words.count.strangers == 0;
  if (!sound) return true;
  count_reads(record, report);
  if (record.crowded != 0) return false;
  report.found = record.survivors < m_k ? record.survivors : m_k;
  report.finalists = record.collected == 0 ? 0 : record.survivors;
  if (report.finalists > tuned::finalists_in_order) write_sorted(report.finalists);
  return true;
}

template <class ExecSpace, class Lists, class Aggregate>
void search<ExecSpace, Lists, Aggregate>::write_sorted(std::uint64_t finals) {
  auto const& all = m_workspace.m_finals;
  put_in_order(m_exec, Kokkos::subview(all, Kokkos::pair<std::uint64_t, std::uint64_t>(0, finals)));
  std::uint64_t const n = finals < m_k ? finals : m_k;
  Kokkos::parallel_for("karpos::top_k::write", index_range(m_exec, n),
                       write_results<id>{all.data(), m_to});
  m_exec.fence("karpos::top_k: results");
}

template <class ExecSpace, class Lists, class Aggregate>
void search<ExecSpace, Lists, Aggregate>::count_reads(ranking_record const& record,
                                                      top_k_report& report) const {
  report.depth_growing = record.grown;
  report.depth = record.shrunk;
  report.depth_completing = record.collected;
  report.candidates = record.candidates;
  report.strides = record.strides;
  report.bailed_out = record.bailed != 0;
  for (int i = 0; i < m_lists.lists(); ++i) {
    auto const length = m_lists.length(i);
    auto const up_to = [length](std::uint64_t depth) { return depth < length ? depth : length; };
    std::uint64_t const with_scores = up_to(record.grown);
    std::uint64_t const ids = up_to(record.shrunk) + up_to(record.collected);
    report.entries += ids;
    report.bytes += with_scores * sizeof(score) + ids * sizeof(id);
  }
}

}  // namespace karpos::detail::top_k
