// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/hash_input.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "karpos/hash_map.hpp"
#include "perf/measure/support/timer.hpp"
#include "perf/measure/support/workload.hpp"

namespace karpos::perf {
namespace {

constexpr bool input_may_be_remote =
    detail::staging_of<space, Kokkos::HostSpace> != detail::staging::none;

#if defined(KOKKOS_HAS_SHARED_SPACE)
using shared_space = Kokkos::SharedSpace;
#else
using shared_space = memory;
#endif

/// Rewrites one element of each page on the host, so that pages of shared (managed) memory migrate
/// there.
template <class View>
struct touch {
  View view;
  void operator()(std::uint64_t i) const {
    auto volatile* const at = view.data() + i * (4096 / sizeof(typename View::value_type));
    *at = *at;
  }
};

template <class Key, class Memory>
class input_measurement {
  using host_array = Kokkos::View<Key*, Memory>;

 public:
  input_measurement(hash_parameters const& p, reporter const& report)
      : m_report(report),
        m_work(m_exec, p.keys, p.seed),
        m_map(m_exec, p.keys, {.load = p.load}),
        m_keys(on_host("keys")),
        m_values(on_host("values")),
        m_queries(on_host("queries")),
        m_answers(on_host("answers")) {
    m_run.parameters = p;
    m_run.table_bytes = m_map.bytes_for(p.keys, p.load);
  }

  hash_run operator()() {
    Kokkos::deep_copy(m_keys, m_work.keys);
    Kokkos::deep_copy(m_values, m_work.values);
    measure_link();
    measure_insert();
    measure_find("find hits", 0.0);
    measure_find("find misses", 1.0);
    measure_find("find mixed", m_run.parameters.miss);
    return std::move(m_run);
  }

 private:
  static constexpr double steps = 5;

  host_array on_host(std::string const& label) const {
    return detail::allocate_or_explain<Memory>(
        m_work.size() * sizeof(Key), label, "ask for fewer keys", [&] {
          return host_array(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), m_work.size());
        });
  }
  void step(std::string const& what) { m_report(m_done++ / steps, what); }

  void measure_link() {
    step("link");
    std::uint64_t const n = m_work.size();
    Kokkos::View<Key*, detail::pinned_space> const a("karpos::perf::link", n), b("link", n);
    auto const to = m_work.queries, from = m_work.answers;
    auto const instances = Kokkos::Experimental::partition_space(m_exec, 1, 1);
    ceiling in{"link_in", "deep_copy", n, pair_bytes, {}};
    in.time = m_timer.repeat(m_run.parameters.repetitions, [&] {
      Kokkos::deep_copy(m_exec, to, a);
      Kokkos::deep_copy(m_exec, from, b);
    });
    ceiling both{"link_in_out", "deep_copy on two instances", n, pair_bytes, {}};
    both.time = m_timer.repeat(m_run.parameters.repetitions, [&] {
      m_exec.fence();
      Kokkos::deep_copy(instances[0], to, a);
      Kokkos::deep_copy(instances[1], b, from);
      for (space const& instance : instances) instance.fence();
    });
    m_run.ceilings = {in, both};
  }

  void measure_insert() {
    step("insert");
    auto r = make_result("insert", "link_in");
    auto const prepare = [&] {
      m_map.clear(m_exec);
      migrate_to_host(m_keys);
      migrate_to_host(m_values);
    };
    r.time = m_timer.repeat(m_run.parameters.repetitions, prepare, [&] {
      insert_report const report = m_map.insert(m_exec, m_keys, m_values);
      r.wrong += report.inserted > m_work.size() ? report.inserted - m_work.size()
                                                 : m_work.size() - report.inserted;
    });
    m_run.results.push_back(r);
  }

  void measure_find(char const* operation, double missing) {
    step(operation);
    m_work.draw_queries(missing);
    m_exec.fence();
    Kokkos::deep_copy(m_queries, m_work.queries);
    auto r = make_result(operation, "link_in_out");
    auto const prepare = [&] {
      migrate_to_host(m_queries);
      migrate_to_host(m_answers);
    };
    r.time = m_timer.repeat(m_run.parameters.repetitions, prepare, [&] {
      m_map.find(m_exec, m_queries, m_answers, workload<Key>::missing);
    });
    m_exec.fence();
    Kokkos::deep_copy(m_work.answers, m_answers);
    r.wrong = m_work.wrong_answers();
    m_run.results.push_back(r);
  }

  void migrate_to_host(host_array const& array) const {
    if constexpr (std::is_same_v<Memory, shared_space>) {
      m_exec.fence();
      using host = Kokkos::DefaultHostExecutionSpace;
      Kokkos::RangePolicy<host, Kokkos::IndexType<std::uint64_t>> const pages(
          0, array.size() * sizeof(Key) / 4096);
      Kokkos::parallel_for("karpos::perf::migrate_to_host", pages, touch<host_array>{array});
      host{}.fence();
    }
  }

  hash_result make_result(char const* operation, char const* bound) const {
    hash_result r;
    r.map = "karpos::hash_map";
    r.operation = operation;
    r.threads = m_exec.concurrency();
    r.operations = m_work.size();
    r.bytes_each = pair_bytes;
    r.bound = bound;
    r.bound_rate = m_run.ceiling_rate(bound);
    return r;
  }

  static constexpr int pair_bytes = 2 * static_cast<int>(sizeof(Key));

  space m_exec;
  timer<space> m_timer{m_exec};
  reporter const& m_report;
  double m_done = 0;
  workload<Key> m_work;
  hash_map<Key, Key, space> m_map;
  host_array m_keys, m_values, m_queries, m_answers;
  hash_run m_run;
};

template <class Key>
hash_run measure(hash_parameters const& p, reporter const& report) {
  workload<Key>::checked(p.keys);
  if (p.input == "shared") return input_measurement<Key, shared_space>(p, report)();
  if (p.input == "pinned") return input_measurement<Key, detail::pinned_space>(p, report)();
  return input_measurement<Key, Kokkos::HostSpace>(p, report)();
}

}  // namespace

bool has_remote_input() { return input_may_be_remote; }

hash_run run_hash_from_host(hash_parameters const& p, reporter const& report) {
  if constexpr (input_may_be_remote) {
    if (p.key_bytes == 8) return measure<std::uint64_t>(p, report);
    return measure<std::uint32_t>(p, report);
  } else {
    throw std::logic_error("karpos: all input lies where maps do");
  }
}

}  // namespace karpos::perf
