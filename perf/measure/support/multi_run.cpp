// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/multi_run.hpp"

#include <string>
#include <utility>

#include "karpos/device/launch.hpp"
#include "karpos/hash_multimap.hpp"
#include "perf/measure/support/map_experiment.hpp"
#include "perf/measure/support/tile_widths.hpp"
#include "perf/measure/support/workload.hpp"

namespace karpos::perf {
namespace {

/// Makes pair i: its key is number order(i) / multiplicity, its value order(i).
template <class Key>
struct make_multi_pairs {
  key_sequence<Key> key;
  permutation order;
  std::uint64_t multiplicity;
  array<Key> keys, values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const at = order(i);
    keys(i) = key(at / multiplicity);
    values(i) = static_cast<Key>(at);
  }
};
template <class Key>
struct make_multi_queries {
  key_sequence<Key> key;
  permutation order;
  array<Key> queries;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { queries(i) = key(order(i)); }
};

/// Counts wrong counts. A key's count is the multiplicity, except for the last key, which has the
/// pairs that are left.
template <class Key>
struct count_wrong_counts {
  permutation order;
  std::uint64_t multiplicity, pairs;
  array<std::uint32_t> counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    std::uint64_t const first = order(i) / multiplicity * multiplicity;
    wrong += counts(i) != Kokkos::min(multiplicity, pairs - first);
  }
};
/// Counts matches whose key is not the one asked for, and counts in `seen` how often each value was
/// returned.
template <class Key>
struct count_wrong_matches {
  permutation order;
  std::uint64_t multiplicity;
  array<std::uint32_t> numbers;
  array<Key> values;
  array<std::uint32_t> seen;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    wrong += values(i) / multiplicity != order(numbers(i));
    Kokkos::atomic_add(&seen(values(i)), 1u);
  }
};
struct count_not_seen_once {
  array<std::uint32_t> seen;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    wrong += seen(i) != 1;
  }
};

/// Counts a key's matches as a user's kernel would, with W lanes per query.
template <class Key, class Reader>
struct count_by_tile {
  Reader read;
  array<Key> queries;
  array<std::uint32_t> counts;
  template <class Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    std::uint64_t const n = read.count(t, queries(i));
    t.on(lane_mask<Tile::width>::of(0), [&](int) { counts(i) = static_cast<std::uint32_t>(n); });
  }
};
/// Visits a key's matches with W lanes per query. A value is the position of its pair in the order
/// of keys, so the query's number is stored there.
template <class Key, class Reader>
struct visit_by_tile {
  Reader read;
  array<Key> queries;
  array<std::uint32_t> query_of;
  template <class Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    read.for_each_match(t, queries(i),
                        [&](Key value) { query_of(value) = static_cast<std::uint32_t>(i); });
  }
};
struct count_wrong_visits {
  permutation order;
  std::uint64_t multiplicity;
  array<std::uint32_t> query_of;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    bool const is_visited = query_of(i) != ~std::uint32_t(0);
    wrong += !is_visited || order(query_of(i)) != i / multiplicity;
  }
};
template <class Key>
class multi_measurement : map_experiment<Key, hash_run> {
  using base = map_experiment<Key, hash_run>;
  using base::m_exec, base::m_map, base::m_name, base::m_run, base::m_timer, base::parameters,
      base::step;

 public:
  multi_measurement(hash_parameters const& p, reporter const& report)
      : base(p, 5 + 2 * static_cast<double>(p.widths.size()), report),
        m_pairs(workload<Key>::checked(p.keys)),
        m_different((p.keys + p.multiplicity - 1) / p.multiplicity),
        m_key{p.seed},
        m_order(permutation::of(p.keys, p.seed + 1)),
        m_query_order(permutation::of(m_different, p.seed + 2)) {}

  hash_run operator()() {
    base::require_memory_for(16.0 * sizeof(Key) * static_cast<double>(m_pairs), m_pairs);
    base::measure_ceilings(m_pairs, m_pairs);
    measure_multimap();
    base::make_map(find_subject("hash"), m_pairs);
    measure_map();
    return std::move(m_run);
  }

 private:
  void measure_multimap() {
    m_name = find_subject("multi").name;
    m_keys = make_array<Key>("keys", m_pairs);
    m_values = make_array<Key>("values", m_pairs);
    Kokkos::parallel_for(
        "karpos::perf::pairs", range(m_exec, m_pairs),
        make_multi_pairs<Key>{m_key, m_order, parameters().multiplicity, m_keys, m_values});
    hash_multimap<Key, Key, space> map(m_exec, m_pairs, m_different, {.load = parameters().load});
    m_run.table_bytes = map.bytes_for(m_pairs, m_different, parameters().load);
    measure_insert(map);
    measure_count(map);
    measure_retrieve(map);
    for (int const w : parameters().widths)
      with_width(w, [&](auto width) { measure_width<width()>(map.frozen_ref()); });
    m_keys = m_values = {};
  }

  template <class Map>
  void measure_insert(Map& map) {
    step("insert");
    auto result = make_result("insert", "random_cas");
    result.time = m_timer.repeat(
        parameters().repetitions, [&] { map.clear(m_exec); },
        [&] { map.insert(m_exec, m_keys, m_values); });
    result.wrong = base::difference(map.size(), m_pairs) +
                   base::difference(map.different_keys(m_exec), m_different);
    m_run.results.push_back(result);
  }
  template <class Map>
  void measure_count(Map const& map) {
    step("count");
    auto const counts = make_array<std::uint32_t>("counts", m_pairs);
    auto result = make_result("count", "random_read");
    result.time =
        m_timer.repeat(parameters().repetitions, [&] { map.count(m_exec, m_keys, counts); });
    result.wrong =
        sum(count_wrong_counts<Key>{m_order, parameters().multiplicity, m_pairs, counts});
    m_run.results.push_back(result);
  }
  template <class Map>
  void measure_retrieve(Map const& map) {
    step("retrieve");
    auto const queries = make_queries();
    auto const numbers = make_array<std::uint32_t>("numbers", m_pairs);
    auto const values = make_array<Key>("matches", m_pairs);
    auto result = make_result("retrieve", "random_read");
    result.time = m_timer.repeat(parameters().repetitions,
                                 [&] { map.retrieve(m_exec, queries, numbers, values); });
    array<std::uint32_t> const seen("seen", m_pairs);
    result.wrong = sum(count_wrong_matches<Key>{m_query_order, parameters().multiplicity, numbers,
                                                values, seen}) +
                   sum(count_not_seen_once{seen});
    m_run.results.push_back(result);
  }

  array<Key> make_queries() const {
    auto const queries = make_array<Key>("queries", m_different);
    Kokkos::parallel_for("karpos::perf::queries", range(m_exec, m_different),
                         make_multi_queries<Key>{m_key, m_query_order, queries});
    return queries;
  }
  template <int W, class Reader>
  void measure_width(Reader const& read) {
    auto const by = " by " + std::to_string(W);
    step("count" + by);
    auto const seen = make_array<std::uint32_t>("seen", m_pairs);
    auto count = make_result(("count" + by).c_str(), "random_read");
    count.time = m_timer.repeat(parameters().repetitions, [&] {
      device::for_each_tile<W>("karpos::perf::count", m_exec, m_pairs,
                               count_by_tile<Key, Reader>{read, m_keys, seen});
    });
    count.wrong = sum(count_wrong_counts<Key>{m_order, parameters().multiplicity, m_pairs, seen});
    m_run.results.push_back(count);
    step("visit" + by);
    auto const queries = make_queries();
    Kokkos::deep_copy(m_exec, seen, ~std::uint32_t(0));
    auto visit = make_result(("visit" + by).c_str(), "random_read");
    visit.time = m_timer.repeat(parameters().repetitions, [&] {
      device::for_each_tile<W>("karpos::perf::visit", m_exec, m_different,
                               visit_by_tile<Key, Reader>{read, queries, seen});
    });
    visit.wrong = sum(count_wrong_visits{m_query_order, parameters().multiplicity, seen});
    m_run.results.push_back(visit);
  }

  void measure_map() {
    step("insert, find");
    workload<Key> work(m_exec, m_pairs, parameters().seed);
    auto insert = make_result("insert", "random_cas"),
         find = make_result("find hits", "random_read");
    insert.time = m_timer.repeat(
        parameters().repetitions, [&] { m_map->clear(m_exec); },
        [&] { m_map->insert(m_exec, work.keys, work.values); });
    insert.wrong = base::difference(m_map->size(m_exec), m_pairs);
    find.time = m_timer.repeat(parameters().repetitions,
                               [&] { m_map->find(m_exec, work.queries, work.answers); });
    find.wrong = work.wrong_answers();
    m_run.results.push_back(insert);
    m_run.results.push_back(find);
  }

  template <class Body>
  std::uint64_t sum(Body const& body) const {
    std::uint64_t n = 0;
    Kokkos::parallel_reduce("karpos::perf::verify", range(m_exec, m_pairs), body, n);
    return n;
  }
  hash_result make_result(char const* operation, char const* bound) const {
    hash_result r;
    r.map = m_name;
    r.operation = operation;
    r.threads = m_exec.concurrency();
    r.operations = m_pairs;
    r.bytes_each = 2 * static_cast<int>(sizeof(Key));
    r.bound = bound;
    r.bound_rate = m_run.ceiling_rate(bound);
    return r;
  }

  std::uint64_t m_pairs, m_different;
  key_sequence<Key> m_key;
  permutation m_order, m_query_order;
  array<Key> m_keys, m_values;
};

}  // namespace

hash_run run_multi(hash_parameters const& p, reporter const& report) {
  if (p.key_bytes == 8) return multi_measurement<std::uint64_t>(p, report)();
  return multi_measurement<std::uint32_t>(p, report)();
}

}  // namespace karpos::perf
