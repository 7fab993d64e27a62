// SPDX-License-Identifier: Apache-2.0
#include "perf/support/hash_run.hpp"

#include <string>

#include "perf/subjects/subject.hpp"
#include "perf/support/timer.hpp"
#include "perf/support/workload.hpp"

namespace karpos::perf {
namespace {

using reporter = std::function<void(double, std::string const&)>;

/// The measurement of one map after the other, on one workload.
template <class Key>
class hash_measurement {
 public:
  hash_measurement(hash_parameters const& p, reporter const& report)
      : m_run{p, 0, {}, {}},
        m_report(report),
        m_timer(m_exec) {}

  hash_run operator()() {
    workload<Key>::checked(parameters().keys);
    for (std::string const& id : parameters().maps) subject_named(id);
    measure_ceilings();
    m_work = std::make_unique<workload<Key>>(m_exec, parameters().keys, parameters().seed);
    for (std::string const& id : parameters().maps) measure(subject_named(id));
    return std::move(m_run);
  }

 private:
  hash_parameters const& parameters() const { return m_run.parameters; }

  void measure_ceilings() {
    step("ceilings");
    // The map is made first, for its size, and gives its memory to the ceilings.
    subject_entry const& ours = subject_named(parameters().maps.front());
    m_run.table_bytes = make<Key>(ours, m_exec, parameters().keys, parameters().load)->bytes();
    ceilings<space> c(m_exec, m_run.table_bytes, parameters().keys, parameters().repetitions);
    m_run.ceilings = {c.random_read(), c.random_cas(sizeof(Key) == 8), c.copy()};
  }

  void measure(subject_entry const& entry) {
    m_map = make<Key>(entry, m_exec, parameters().keys, parameters().load);
    m_name = entry.name;
    measure_updates();
    m_map->clear(m_exec);
    m_map->insert(m_exec, m_work->keys, m_work->values);
    measure_find("find hits", 0.0);
    measure_find("find misses", 1.0);
    measure_find("find mixed", parameters().miss);
    m_map.reset();
  }

  /// Insertion into the empty map and erasure of all keys in another order, in turns.
  void measure_updates() {
    step("insert, erase");
    m_work->ask(0.0);
    auto const none = [] {};
    auto insert = blank("insert", "random_cas"), erase = blank("erase", "random_cas");
    for (int r = -1; r < parameters().repetitions; ++r) {
      double const inserted =
          m_timer.once([&] { m_map->clear(m_exec); },
                       [&] { m_map->insert(m_exec, m_work->keys, m_work->values); });
      insert.wrong += difference(m_map->size(m_exec), parameters().keys);
      double const erased = m_timer.once(none, [&] { m_map->erase(m_exec, m_work->queries); });
      erase.wrong += m_map->size(m_exec);
      if (r < 0) continue;  // the warm-up
      insert.time.seconds.push_back(inserted);
      erase.time.seconds.push_back(erased);
    }
    m_run.results.push_back(insert);
    m_run.results.push_back(erase);
  }

  void measure_find(char const* operation, double missing) {
    step(operation);
    m_work->ask(missing);
    auto result = blank(operation, "random_read");
    result.time = m_timer.repeat(parameters().repetitions,
                                 [&] { m_map->find(m_exec, m_work->queries, m_work->answers); });
    result.wrong = m_work->wrong_answers();
    m_run.results.push_back(result);
  }

  hash_result blank(char const* operation, char const* bound) const {
    hash_result r;
    r.map = m_name;
    r.operation = operation;
    r.threads = m_map->threads(m_exec);
    r.bound = bound;
    for (ceiling const& c : m_run.ceilings)
      if (c.name == bound) r.bound_rate = c.rate();
    r.operations = parameters().keys;
    r.bytes_each = 2 * static_cast<int>(sizeof(Key));
    return r;
  }

  static std::uint64_t difference(std::uint64_t a, std::uint64_t b) {
    return a > b ? a - b : b - a;
  }

  void step(std::string const& what) {
    double const steps = 1.0 + 4.0 * static_cast<double>(parameters().maps.size());
    m_report(m_done++ / steps, m_name.empty() ? what : m_name + ", " + what);
  }

  hash_run m_run;
  reporter const& m_report;
  space m_exec;
  timer<space> m_timer;
  std::unique_ptr<workload<Key>> m_work;
  std::unique_ptr<subject<Key>> m_map;
  std::string m_name;
  double m_done = 0;
};

}  // namespace

hash_run run_hash(hash_parameters const& p, reporter const& report) {
  if (p.key_bytes == 8) return hash_measurement<std::uint64_t>(p, report)();
  return hash_measurement<std::uint32_t>(p, report)();
}

}  // namespace karpos::perf
