// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/width_run.hpp"

#include <string>

#include "karpos/device/launch.hpp"
#include "karpos/hash_map.hpp"
#include "perf/measure/support/tile_widths.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {

template <class Key, class Ref>
struct insert_by_tile {
  Ref map;
  array<Key> keys, values;
  template <class Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    map.insert(t, keys(i), values(i));
  }
};
template <class Key, class Reader>
struct find_by_tile {
  Reader read;
  array<Key> queries, answers;
  template <class Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    auto const value = read.find(t, queries(i));
    t.on(lane_mask<Tile::width>::of(0),
         [&](int) { answers(i) = value.present ? *value : workload<Key>::missing; });
  }
};

template <class Key>
class width_measurement {
 public:
  width_measurement(hash_run& run, workload<Key>& work)
      : m_run(run),
        m_work(work),
        m_timer(m_exec) {}

  template <int W>
  void measure() {
    using map_type = hash_map<Key, Key, space, hash<Key>, equal_to<Key>, linear_probing, W>;
    map_type map(m_exec, parameters().keys, {.load = parameters().load});
    auto insert = make_result<W>("insert", "random_cas");
    insert.time = m_timer.repeat(
        parameters().repetitions, [&] { map.clear(m_exec); },
        [&] {
          auto const ref = map.ref();
          device::for_each_tile<W>(
              "karpos::perf::insert by tile", m_exec, parameters().keys,
              insert_by_tile<Key, decltype(ref)>{ref, m_work.keys, m_work.values});
        });
    std::uint64_t const size = map.size(m_exec), keys = parameters().keys;
    insert.wrong = size > keys ? size - keys : keys - size;
    m_run.results.push_back(insert);
    m_work.draw_queries(0.0);
    auto find = make_result<W>("find", "random_read");
    find.time = m_timer.repeat(parameters().repetitions, [&] {
      auto const read = map.frozen_ref();
      device::for_each_tile<W>(
          "karpos::perf::find by tile", m_exec, parameters().keys,
          find_by_tile<Key, decltype(read)>{read, m_work.queries, m_work.answers});
    });
    find.wrong = m_work.wrong_answers();
    m_run.results.push_back(find);
  }

 private:
  hash_parameters const& parameters() const { return m_run.parameters; }

  template <int W>
  hash_result make_result(char const* operation, char const* bound) const {
    hash_result r;
    r.map = "karpos::hash_map in a kernel, groups of lanes";
    r.operation = std::string(operation) + " by " + std::to_string(W);
    r.threads = m_exec.concurrency();
    r.operations = parameters().keys;
    r.bytes_each = 2 * static_cast<int>(sizeof(Key));
    r.bound = bound;
    r.bound_rate = m_run.ceiling_rate(bound);
    return r;
  }

  hash_run& m_run;
  workload<Key>& m_work;
  space m_exec;
  timer<space> m_timer;
};

template <class Key>
void measure_widths(hash_run& run, workload<Key>& work, reporter const& report) {
  width_measurement<Key> measurement(run, work);
  double done = 0;
  for (int const w : run.parameters.widths) {
    report(done++ / static_cast<double>(run.parameters.widths.size()),
           "groups of " + std::to_string(w));
    with_width(w, [&](auto width) { measurement.template measure<width()>(); });
  }
}

template void measure_widths<std::uint32_t>(hash_run&, workload<std::uint32_t>&, reporter const&);
template void measure_widths<std::uint64_t>(hash_run&, workload<std::uint64_t>&, reporter const&);

}  // namespace karpos::perf
