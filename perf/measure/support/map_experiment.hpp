// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/map_run.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {

/// Base of the measurements of several maps, one after the other, on one workload: the steps that
/// all of them need. Run is a map_run.
template <class Key, class Run>
class map_experiment {
 protected:
  using parameters_type = typename Run::parameters_type;
  using result_type = typename Run::result_type;

  /// Takes the number of calls of step() that will follow, `steps`. Throws std::invalid_argument if
  /// a map is unknown.
  map_experiment(parameters_type const& p, double steps, reporter const& report)
      : m_report(report),
        m_timer(m_exec),
        m_steps(steps) {
    m_run.parameters = p;
    for (std::string const& id : p.maps) find_subject(id);
  }
  ~map_experiment() = default;
  map_experiment(map_experiment const&) = delete;
  map_experiment& operator=(map_experiment const&) = delete;

  parameters_type const& parameters() const { return m_run.parameters; }

  /// Returns a lower bound of the bytes of the first map's table.
  double min_table_bytes(std::uint64_t max_keys) const {
    bool const supported = supports_load(find_subject(parameters().maps.front()));
    return 2.0 * sizeof(Key) * static_cast<double>(max_keys) / (supported ? parameters().load : 1);
  }
  /// Throws allocation_error if `array_bytes` and the table do not fit into memory together. Hosts
  /// only.
  void require_memory_for(double array_bytes, std::uint64_t max_keys) const {
    if constexpr (on_host)
      require_memory(array_bytes + min_table_bytes(max_keys), "the measurement",
                     "ask for fewer keys or operations");
  }

  /// Measures the ceilings over as much memory as the first map takes for `max_keys` keys.
  void measure_ceilings(std::uint64_t max_keys, std::uint64_t operations) {
    step("ceilings");
    // The map is made first, for its size, and freed before the ceilings take its memory.
    subject_entry const& first = find_subject(parameters().maps.front());
    m_run.table_bytes = make<Key>(first, m_exec, max_keys, parameters().load)->bytes();
    ceilings<space> c(m_exec, m_run.table_bytes, operations, parameters().repetitions);
    m_run.ceilings = {c.random_read(), c.random_cas(sizeof(Key) == 8), c.copy()};
  }

  /// Runs measure(entry) for one map after the other. If memory does not suffice, throws an
  /// allocation_error that names the map.
  template <class Measure>
  void for_each_map(Measure const& measure) {
    for (std::string const& id : parameters().maps) try {
        measure(find_subject(id));
      } catch (std::exception const& e) {
        if (!is_lack_of_memory(e)) throw;
        throw allocation_error("out of memory (while " + find_subject(id).name +
                               " was measured): ask for fewer keys or other maps");
      }
  }

  /// Makes the map of the next measurements.
  void make_map(subject_entry const& entry, std::uint64_t max_keys) {
    m_map = make<Key>(entry, m_exec, max_keys, parameters().load);
    m_name = entry.name;
  }

  /// Returns a result without times.
  result_type make_result(char const* operation, std::uint64_t operations) const {
    result_type r;
    r.map = m_name;
    r.operation = operation;
    r.threads = m_map->threads(m_exec);
    r.operations = operations;
    r.bytes_each = 2 * static_cast<int>(sizeof(Key));
    return r;
  }

  void step(std::string const& what) {
    m_report(m_done++ / m_steps, m_name.empty() ? what : m_name + ", " + what);
  }

  static std::uint64_t difference(std::uint64_t a, std::uint64_t b) {
    return a > b ? a - b : b - a;
  }

  Run m_run;
  reporter const& m_report;
  space m_exec;
  timer<space> m_timer;
  std::unique_ptr<subject<Key>> m_map;
  std::string m_name;

 private:
  double m_steps, m_done = 0;
};

}  // namespace karpos::perf
