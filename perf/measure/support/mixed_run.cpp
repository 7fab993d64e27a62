// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/mixed_run.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "perf/measure/support/map_experiment.hpp"
#include "perf/measure/support/mixed_workload.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/workload.hpp"

namespace karpos::perf {
namespace {

void require_apply(subject_entry const& entry) {
  if (can_apply(entry)) return;
  throw std::invalid_argument("the map '" + entry.id +
                              "' cannot insert, erase and find at once: choose another one");
}

template <class Key>
class mixed_measurement : map_experiment<Key, mixed_run> {
  using base = map_experiment<Key, mixed_run>;
  using base::m_exec, base::m_map, base::m_run, base::m_timer, base::parameters;

 public:
  mixed_measurement(mixed_parameters const& p, reporter const& report)
      : base(p, 1.0 + static_cast<double>(p.maps.size()) * (1.0 + p.repetitions), report) {}

  mixed_run operator()() {
    workload<Key>::checked(parameters().keys);
    if (parameters().operations < 1)
      throw std::invalid_argument("--ops is out of range (0 operations): choose 1 or more");
    if (parameters().copies > 0 && (parameters().keys % 2 != 0 || parameters().fill != 0.5))
      throw std::invalid_argument(
          "--copies takes an even number of --keys, and a --fill of one half: one half is stored");
    m_run.sizes = sizes_of(parameters());
    for (std::string const& id : parameters().maps) require_apply(find_subject(id));
    base::require_memory_for(mixed_workload<Key>::bytes_for(parameters()), m_run.sizes.max_keys);
    base::measure_ceilings(m_run.sizes.max_keys, parameters().operations);
    m_work = std::make_unique<mixed_workload<Key>>(m_exec, parameters(), m_run.sizes.filled);
    base::for_each_map([this](subject_entry const& entry) { measure(entry); });
    return std::move(m_run);
  }

 private:
  void measure(subject_entry const& entry) {
    base::make_map(entry, m_run.sizes.max_keys);
    mixed_result result = base::make_result("mixed", parameters().operations);
    result.read_rate = m_run.ceiling_rate("random_read");
    result.cas_rate = m_run.ceiling_rate("random_cas");
    for (int r = -1; r < parameters().repetitions; ++r) {
      base::step(r < 0 ? "warm-up" : "repetition " + std::to_string(r + 1));
      double const seconds = measure_once(result);
      if (r >= 0) result.time.seconds.push_back(seconds);
    }
    result.wrong = result.defects.sum();
    m_run.results.push_back(result);
    m_map.reset();
  }

  /// Fills the map afresh, runs all operations once, and verifies every result. Returns the seconds
  /// of the operations.
  double measure_once(mixed_result& result) {
    mixed_defects& d = result.defects;
    m_work->reset();
    m_map->clear(m_exec);
    m_map->insert(m_exec, m_work->filled_keys(), m_work->filled_values());
    d.before += unbalanced();
    std::uint64_t const before = m_map->size(m_exec);
    d.size += base::difference(before, m_run.sizes.filled);

    m_map->prepare_apply(m_exec, m_work->operations);
    double const seconds =
        m_timer.once([] {}, [&] { m_map->apply(m_exec, m_work->operations, m_work->results); });
    m_map->finish_apply(m_exec, m_work->results);

    mixed_tally const tally = m_work->tally();
    result.outcomes = tally.outcomes;
    d.outcomes += tally.impossible_outcomes;
    d.values += tally.wrong_values;
    d.after += unbalanced();
    d.size += base::difference(m_map->size(m_exec) + tally.outcomes.of(outcome::erased),
                               before + tally.outcomes.of(outcome::inserted));
    if (parameters().copies > 0) d.after += left_over();
    return seconds;
  }

  std::uint64_t unbalanced() {
    m_map->find(m_exec, m_work->keys, m_work->answers);
    return m_work->unbalanced();
  }

  /// Erases every key once. Returns how many are still found: those that were stored twice.
  std::uint64_t left_over() {
    m_map->erase(m_exec, m_work->keys);
    m_map->find(m_exec, m_work->keys, m_work->answers);
    return m_work->found() + m_map->size(m_exec);
  }

  std::unique_ptr<mixed_workload<Key>> m_work;
};

/// Returns `part` of n, rounded down, with a tolerance for rounding errors of the product: 0.29 of
/// 100 is 29.
std::uint64_t fraction_of(double part, std::uint64_t n) {
  return static_cast<std::uint64_t>(std::floor(part * static_cast<double>(n) + 1e-6));
}

}  // namespace

std::string operation_mix::text() const {
  return std::to_string(insert) + "," + std::to_string(erase) + "," + std::to_string(find);
}

operation_mix parse_mix(std::string const& text) {
  unsigned part[3] = {};
  std::size_t at = 0;
  bool valid = true;
  for (unsigned& percent : part) {
    std::size_t const end = &percent == &part[2] ? text.size() : text.find(',', at);
    valid = valid && end != std::string::npos && end > at && end - at <= 3 &&
            text.find_first_not_of("0123456789", at) >= end;
    if (!valid) break;
    percent = static_cast<unsigned>(std::stoul(text.substr(at, end - at)));
    at = end + 1;
  }
  if (!valid || part[0] + part[1] + part[2] != 100)
    throw std::invalid_argument("--mix " + text +
                                " is not a mix: write the percentages of insertions, erasures and "
                                "lookups, which make 100, like 20,20,60");
  return {part[0], part[1], part[2]};
}

mixed_sizes sizes_of(mixed_parameters const& p) {
  mixed_sizes s;
  s.filled = fraction_of(p.fill, p.keys);
  if (p.slots == 0 && s.filled == 0)
    throw std::invalid_argument("--fill puts no key in (" + std::to_string(p.fill) + " of " +
                                grouped(p.keys) + "), so that a load says nothing: give --slots");
  s.slots = p.slots != 0
                ? p.slots
                : static_cast<std::uint64_t>(std::ceil(static_cast<double>(s.filled) / p.load));
  s.max_keys = p.slots != 0 ? fraction_of(p.load, p.slots) : s.filled;
  if (s.filled > s.max_keys || s.max_keys == 0)
    throw std::invalid_argument("--slots is too small (" + grouped(s.slots) + " slots at load " +
                                three_digits(p.load) + " for " + grouped(s.filled) +
                                " keys that are in before): raise it or lower --fill");
  return s;
}

mixed_run run_mixed(mixed_parameters const& p, reporter const& report) {
  if (p.key_bytes == 8) return mixed_measurement<std::uint64_t>(p, report)();
  return mixed_measurement<std::uint32_t>(p, report)();
}

}  // namespace karpos::perf
