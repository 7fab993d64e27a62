// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/key16_run.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "karpos/hash_map.hpp"
#include "perf/measure/support/timer.hpp"
#include "perf/measure/support/workload.hpp"

namespace karpos::perf {
namespace keys_of_16_bytes {  // named: spaces that lack them leave these functions unused

struct key16 {
  std::uint64_t high, low;
};

/// Makes distinct keys of 16 bytes from distinct keys of 8.
struct widen {
  array<std::uint64_t> from;
  array<key16> to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    to(i) = {scramble(from(i) ^ 1), from(i)};
  }
};

// The rule of cuCollections' static_map for keys of 16 bytes, written from its description: one
// slot after the other, at a stride that depends on the key. An insertion claims a slot by a
// compare-and-swap of the key, then stores the value. A lookup ends at an empty slot.
//
// Source: cuCollections, include/cuco/static_map.cuh and the open addressing below it, 2026.
struct slot_by_slot {
  device::word32* slots;
  std::uint64_t capacity;
  static constexpr device::bits128 empty{{~std::uint64_t(0), ~std::uint64_t(0)}};

  struct path {
    device::bits128 key;
    std::uint64_t at, stride;
  };
  KOKKOS_FUNCTION path start(key16 const& key) const {
    std::uint64_t const h = hash<key16>{}(key);
    return {to_bits<device::bits128>(key), multiply_high(h, capacity),
            multiply_high(mix(h), capacity - 1) + 1};
  }
  KOKKOS_FUNCTION void advance(path& p) const {
    p.at += p.stride;
    if (p.at >= capacity) p.at -= capacity;
  }
};
struct clear_slots {
  slot_by_slot table;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    table.slots[i] = {slot_by_slot::empty, {0, 0}};
  }
};
struct insert_by_slot {
  slot_by_slot table;
  array<key16> keys;
  array<std::uint64_t> values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    for (auto p = table.start(keys(i));; table.advance(p)) {
      device::word32* const slot = table.slots + p.at;
      device::bits128 seen = device::load_relaxed(&slot->key);
      if (seen == table.empty) {
        seen = device::compare_and_swap(&slot->key, table.empty, p.key);
        if (seen == table.empty) {
          device::store_relaxed(&slot->rest.hi, values(i));
          return;
        }
      }
      if (seen == p.key) return;
    }
  }
};
struct find_by_slot {
  slot_by_slot table;
  array<key16> queries;
  array<std::uint64_t> answers;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto answer = workload<std::uint64_t>::missing;
    for (auto p = table.start(queries(i));; table.advance(p)) {
      device::word32 const* const slot = table.slots + p.at;
      std::uint64_t key[2], rest[2];
      device::load_frozen(&slot->key.lo, key);
      device::load_frozen(&slot->rest.lo, rest);
      device::bits128 const seen{{key[0], key[1]}};
      if (seen == p.key) answer = rest[1];
      if (seen == p.key || seen == table.empty) break;
    }
    answers(i) = answer;
  }
};

}  // namespace keys_of_16_bytes

namespace {

using namespace keys_of_16_bytes;

/// A template, so that it is not compiled for spaces without such a compare-and-swap.
template <class ExecSpace>
class key16_measurement {
  using map_type = hash_map<key16, std::uint64_t, ExecSpace>;

 public:
  key16_measurement(hash_parameters const& p, reporter const& report)
      : m_report(report),
        m_timer(m_exec),
        m_work(m_exec, p.keys, p.seed),
        m_keys(make_array<key16>("keys of 16 bytes", p.keys)),
        m_queries(make_array<key16>("queries of 16 bytes", p.keys)) {
    m_run.parameters = p;
    Kokkos::parallel_for("karpos::perf::widen", range(m_exec, p.keys), widen{m_work.keys, m_keys});
  }

  hash_run operator()() {
    hash_parameters const& p = m_run.parameters;
    m_run.table_bytes = map_type::bytes_for(p.keys, p.load);
    step("ceilings");
    {
      ceilings<space> c(m_exec, m_run.table_bytes, p.keys, p.repetitions);
      m_run.ceilings = {c.random_read(), c.random_cas(true), c.copy()};
    }
    measure_map();
    measure_rule();
    return std::move(m_run);
  }

 private:
  void measure_map() {
    m_name = "karpos::hash_map";
    hash_parameters const& p = m_run.parameters;
    map_type map(m_exec, p.keys, {.load = p.load});
    typename map_type::report_view const report("report");
    typename map_type::erase_view const erased("erased");
    auto const fill = [&] { map.insert_async(m_exec, m_keys, m_work.values, report); };
    auto const insertion = m_timer.repeat(
        p.repetitions, [&] { map.clear(m_exec); }, fill);
    add("insert", "random_cas", insertion, map.size(m_exec) != p.keys);
    draw(0.0);
    auto const erasure = m_timer.repeat(
        p.repetitions,
        [&] {
          map.clear(m_exec);
          fill();
        },
        [&] { map.erase_async(m_exec, m_queries, erased); });
    add("erase", "random_cas", erasure, map.size(m_exec));
    map.clear(m_exec);
    fill();
    measure_find(
        [&] { map.find(m_exec, m_queries, m_work.answers, workload<std::uint64_t>::missing); });
  }
  void measure_rule() {
    m_name = "cuCollections' rule, slot by slot";
    hash_parameters const& p = m_run.parameters;
    std::uint64_t const capacity = double_hashing::pair_count_for(
        static_cast<std::uint64_t>(static_cast<double>(p.keys) / p.load) + 1);
    auto const slots = make_array<device::word32>("slots", capacity);
    slot_by_slot const table{slots.data(), capacity};
    auto const insertion = m_timer.repeat(
        p.repetitions,
        [&] {
          Kokkos::parallel_for("karpos::perf::clear", range(m_exec, capacity), clear_slots{table});
        },
        [&] {
          Kokkos::parallel_for("karpos::perf::insert by slot", range(m_exec, p.keys),
                               insert_by_slot{table, m_keys, m_work.values});
        });
    add("insert", "random_cas", insertion, 0);
    measure_find([&] {
      Kokkos::parallel_for("karpos::perf::find by slot", range(m_exec, p.keys),
                           find_by_slot{table, m_queries, m_work.answers});
    });
  }
  template <class Find>
  void measure_find(Find const& find) {
    for (auto const& [what, missing] : {std::pair("find hits", 0.0), std::pair("find misses", 1.0),
                                        std::pair("find mixed", m_run.parameters.miss)}) {
      draw(missing);
      auto const time = m_timer.repeat(m_run.parameters.repetitions, find);
      add(what, "random_read", time, m_work.wrong_answers());
    }
  }
  void draw(double missing) {
    m_work.draw_queries(missing);
    Kokkos::parallel_for("karpos::perf::widen", range(m_exec, m_work.size()),
                         widen{m_work.queries, m_queries});
  }
  void add(char const* operation, char const* bound, samples const& time, std::uint64_t wrong) {
    step(operation);
    hash_result r;
    r.map = m_name;
    r.operation = operation;
    r.threads = m_exec.concurrency();
    r.operations = m_work.size();
    r.bytes_each = sizeof(key16) + sizeof(std::uint64_t);
    r.wrong = wrong;
    r.time = time;
    r.bound = bound;
    r.bound_rate = m_run.ceiling_rate(bound);
    m_run.results.push_back(r);
  }
  void step(std::string const& what) { m_report(m_done++ / 10.0, what); }

  hash_run m_run;
  reporter const& m_report;
  ExecSpace m_exec;
  timer<ExecSpace> m_timer;
  workload<std::uint64_t> m_work;
  array<key16> m_keys, m_queries;
  std::string m_name;
  double m_done = 0;
};

}  // namespace

hash_run run_16_byte_keys(hash_parameters const& p, reporter const& report) {
  if constexpr (device::has_wide_cas<space>)
    return key16_measurement<space>(p, report)();
  else
    throw std::invalid_argument(
        "--key-bytes 16 needs a machine that compares and swaps 16 bytes: choose 4 or 8");
}

}  // namespace karpos::perf
