// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "karpos/reduce_by_key.hpp"
#include "perf/measure/groupby/expected_groups.hpp"
#include "perf/measure/groupby/generate_rows.hpp"
#include "perf/measure/groupby/measure.hpp"
#include "perf/measure/subjects/sort_groups.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {

template <class Key>
class groupby_measurement {
 public:
  groupby_measurement(groupby_measure_parameters const& p, reporter const& report)
      : m_report(report),
        m_timer(m_exec) {
    m_run.parameters = p;
  }

  groupby_run operator()() {
    measure_ceiling();
    m_report(0.2, "rows");
    m_keys = make_array<Key>("keys", rows());
    m_values = make_array<Key>("values", rows());
    generate_rows(m_exec, parameters().rows, m_keys, m_values);
    m_report(0.3, "groups by sorting on the host");
    m_expected = std::make_unique<expected_groups<Key>>(m_exec, m_keys, m_values);
    m_run.groups = m_expected->size();
    m_out_keys = make_array<Key>("different keys", rows());
    m_out_values = make_array<Key>("their values", rows());
    if (parameters().with_sort) m_sort = make_sort_groups<Key>(m_exec, rows());
    measure_ours();
    if (parameters().with_sort) measure_sort();
    return std::move(m_run);
  }

 private:
  groupby_measure_parameters const& parameters() const { return m_run.parameters; }
  std::uint64_t rows() const { return parameters().rows.rows; }

  void measure_ceiling() {
    constexpr std::uint64_t least = 1 << 20;
    m_report(0, "ceiling");
    ceilings<space> c(m_exec, std::max(least, rows() * 2 * sizeof(Key)), rows(),
                      parameters().repetitions);
    m_run.copy = c.copy();
  }

  void measure_ours() {
    m_run.workspace_bytes = reduce_by_key_bytes<Key, Key>(m_exec, rows());
    auto const workspace = make_array<char>("workspace", m_run.workspace_bytes);
    reduce_by_key_options const options{.workspace = {workspace.data(), m_run.workspace_bytes}};
    measure("karpos", "count",
            [&] { return count_by_key(m_exec, m_keys, m_out_keys, m_out_values, options); });
    measure("karpos", "sum", [&] {
      return reduce_by_key(m_exec, m_keys, m_values, m_out_keys, m_out_values, plus{}, options);
    });
  }
  void measure_sort() {
    measure("sort", "count", [&] { return m_sort->count(m_keys, m_out_keys, m_out_values); });
    measure("sort", "sum", [&] { return m_sort->sum(m_keys, m_values, m_out_keys, m_out_values); });
  }

  /// Runs the work once as a warm-up, then takes the readings. Checks the result of every run.
  template <class Work>
  void measure(char const* name, char const* operation, Work const& work) {
    m_report(0.5 + 0.1 * static_cast<double>(m_run.results.size()),
             std::string(name) + ", " + operation);
    bool const counts = operation == std::string("count");
    groupby_result r{name, operation, static_cast<int>((counts ? 1 : 2) * sizeof(Key)), 0, {}};
    for (int i = -1; i < parameters().repetitions; ++i) {
      Kokkos::deep_copy(m_exec, m_out_keys, static_cast<Key>(~Key(0)));
      Kokkos::deep_copy(m_exec, m_out_values, static_cast<Key>(~Key(0)));
      std::uint64_t groups = 0;
      double const seconds = m_timer.once([] {}, [&] { groups = work(); });
      if (i >= 0) r.time.seconds.push_back(seconds);
      r.wrong += m_expected->wrong(groups, m_out_keys, m_out_values,
                                   counts ? m_expected->counts() : m_expected->sums());
    }
    m_run.results.push_back(std::move(r));
  }

  groupby_run m_run;
  reporter const& m_report;
  space m_exec;
  timer<space> m_timer;
  array<Key> m_keys, m_values, m_out_keys, m_out_values;
  std::unique_ptr<expected_groups<Key>> m_expected;
  std::unique_ptr<sort_groups<Key>> m_sort;
};

template <class Key>
groupby_run measure_groupby(groupby_measure_parameters const& p, reporter const& report) {
  return groupby_measurement<Key>(p, report)();
}

}  // namespace karpos::perf
