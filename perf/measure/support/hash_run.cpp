// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/hash_run.hpp"

#include <string>
#include <utility>

#include "perf/measure/support/hash_input.hpp"
#include "perf/measure/support/key16_run.hpp"
#include "perf/measure/support/map_experiment.hpp"
#include "perf/measure/support/multi_run.hpp"
#include "perf/measure/support/width_run.hpp"
#include "perf/measure/support/workload.hpp"

namespace karpos::perf {
namespace {

template <class Key>
class hash_measurement : map_experiment<Key, hash_run> {
  using base = map_experiment<Key, hash_run>;
  using base::m_exec, base::m_map, base::m_report, base::m_run, base::m_timer, base::parameters,
      base::step;

 public:
  hash_measurement(hash_parameters const& p, reporter const& report)
      : base(p, 1.0 + 4.0 * static_cast<double>(p.maps.size()), report) {}

  hash_run operator()() {
    workload<Key>::checked(parameters().keys);
    base::require_memory_for(workload<Key>::bytes_for(parameters().keys), parameters().keys);
    base::measure_ceilings(parameters().keys, parameters().keys);
    m_run.supports_load = perf::supports_load(find_subject(parameters().maps.front()));
    m_work = std::make_unique<workload<Key>>(m_exec, parameters().keys, parameters().seed);
    base::for_each_map([this](subject_entry const& entry) { measure(entry); });
    if (!parameters().widths.empty()) measure_widths<Key>(m_run, *m_work, m_report);
    return std::move(m_run);
  }

 private:
  void measure(subject_entry const& entry) {
    base::make_map(entry, parameters().keys);
    measure_updates();
    m_map->clear(m_exec);
    m_map->insert(m_exec, m_work->keys, m_work->values);
    measure_find("find hits", 0.0);
    measure_find("find misses", 1.0);
    measure_find("find mixed", parameters().miss);
    m_map.reset();
  }

  /// Measures in turns insertion into the empty map and, if the map can erase, erasure of all keys
  /// in another order.
  void measure_updates() {
    step("insert, erase");
    m_work->draw_queries(0.0);
    auto const none = [] {};
    auto insert = make_result("insert", "random_cas"), erase = make_result("erase", "random_cas");
    for (int r = -1; r < parameters().repetitions; ++r) {
      bool const warm_up = r < 0;
      double const inserted =
          m_timer.once([&] { m_map->clear(m_exec); },
                       [&] { m_map->insert(m_exec, m_work->keys, m_work->values); });
      insert.wrong += base::difference(m_map->size(m_exec), parameters().keys);
      if (r + 1 == parameters().repetitions) insert.facts = m_map->facts(m_exec);
      if (!warm_up) insert.time.seconds.push_back(inserted);
      if (!m_map->erases()) continue;
      double const erased = m_timer.once(none, [&] { m_map->erase(m_exec, m_work->queries); });
      erase.wrong += m_map->size(m_exec);
      if (!warm_up) erase.time.seconds.push_back(erased);
    }
    m_run.results.push_back(insert);
    if (m_map->erases()) m_run.results.push_back(erase);
  }

  void measure_find(char const* operation, double missing) {
    step(operation);
    m_work->draw_queries(missing);
    auto result = make_result(operation, "random_read");
    result.time = m_timer.repeat(parameters().repetitions,
                                 [&] { m_map->find(m_exec, m_work->queries, m_work->answers); });
    if (parameters().energy && missing == 0) result.energy = energy_of_find();
    result.wrong = m_work->wrong_answers();
    m_run.results.push_back(result);
  }

  energy_use energy_of_find() {
    constexpr double seconds = 2;
    return energy_of(m_exec, seconds, [&](auto const&) {
      m_map->find(m_exec, m_work->queries, m_work->answers);
      m_exec.fence("karpos::perf: energy of lookups");
    });
  }

  hash_result make_result(char const* operation, char const* bound) const {
    hash_result r = base::make_result(operation, parameters().keys);
    r.bound = bound;
    r.bound_rate = m_run.ceiling_rate(bound);
    return r;
  }

  std::unique_ptr<workload<Key>> m_work;
};

}  // namespace

hash_run run_hash(hash_parameters const& p, reporter const& report) {
  if (p.input != "device") return run_hash_from_host(p, report);
  if (p.multiplicity > 0) return run_multi(p, report);
  if (p.key_bytes == 16) return run_16_byte_keys(p, report);
  if (p.key_bytes == 8) return hash_measurement<std::uint64_t>(p, report)();
  return hash_measurement<std::uint32_t>(p, report)();
}

}  // namespace karpos::perf
