// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "perf/measure/bench/bench.hpp"
#include "perf/measure/ceilings.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"
#include "perf/measure/support/workload.hpp"

// insert, find (hits, misses, half), erase and insert_or_apply of this library's maps and of their
// peers, by size, load and width. A cuckoo map is built where other maps insert. Names:
// operation/map/key_bytes:b/keys:n/load:l.

namespace karpos::perf {
namespace {

enum class operation { insert, find, miss, half, erase, apply };
constexpr std::pair<operation, char const*> operations[] = {
    {operation::insert, "insert"}, {operation::find, "find"},
    {operation::miss, "miss"},     {operation::half, "half"},
    {operation::erase, "erase"},   {operation::apply, "insert_or_apply"}};

/// State that one benchmark leaves for the next: making keys and tables of gigabytes takes longer
/// than using them.
template <class Key>
struct cached_state {
  space exec;
  timer<space> clock{exec};
  std::unique_ptr<workload<Key>> work;
  std::unique_ptr<subject<Key>> map;
  std::string map_name;  ///< includes its parameters
  bool filled = false;
  std::size_t ceiling_bytes = 0;
  double read_rate = 0, cas_rate = 0;

  static std::unique_ptr<cached_state>& instance() {
    static std::unique_ptr<cached_state> one;
    if (!one) one = std::make_unique<cached_state>();
    return one;
  }

  void choose(subject_entry const& entry, std::uint64_t keys, double load) {
    if (!work || work->size() != keys) {
      map.reset();
      map_name.clear();
      work.reset();
      work = std::make_unique<workload<Key>>(exec, keys, 1);
    }
    std::string const name = entry.id + " " + std::to_string(keys) + " " + std::to_string(load);
    if (map_name != name) {
      map.reset();
      map = make<Key>(entry, exec, keys, load);
      map_name = name;
      filled = false;
    }
    if (map->bytes() != 0 && map->bytes() != ceiling_bytes) measure_ceilings(map->bytes(), keys);
  }
  void measure_ceilings(std::size_t bytes, std::uint64_t keys) {
    ceilings<space> c(exec, bytes, keys, 3);
    ceiling_bytes = bytes;
    read_rate = c.random_read().rate();
    cas_rate = c.random_cas(sizeof(Key) == 8).rate();
  }
  void empty() {
    map->clear(exec);
    filled = false;
  }
  void fill() {
    if (filled) return;
    map->clear(exec);
    map->insert(exec, work->keys, work->values);
    filled = true;
  }
};

/// Returns the seconds of one execution.
template <class Key>
double once(cached_state<Key>& k, operation o) {
  auto& work = *k.work;
  auto const none = [] {};
  switch (o) {
    case operation::insert:
      return k.clock.once([&] { k.empty(); },
                          [&] { k.map->insert(k.exec, work.keys, work.values); });
    case operation::apply:
      return k.clock.once([&] { k.empty(); }, [&] { k.map->insert_or_add(k.exec, work.queries); });
    case operation::erase: {
      k.fill();
      k.filled = false;
      return k.clock.once(none, [&] { k.map->erase(k.exec, work.queries); });
    }
    default:
      return k.clock.once(none, [&] { k.map->find(k.exec, work.queries, work.answers); });
  }
}

template <class Key>
void prepare(cached_state<Key>& k, operation o) {
  k.work->draw_queries(o == operation::miss ? 1.0 : o == operation::half ? 0.5 : 0.0);
  if (o == operation::apply) k.work->repeat_keys(16);
  if (o == operation::find || o == operation::miss || o == operation::half) k.fill();
  once(k, o);  // warm-up
}

template <class Key>
void measure(benchmark::State& state, subject_entry const& entry, operation o, std::uint64_t keys,
             double load) {
  cached_state<Key>& k = *cached_state<Key>::instance();
  k.choose(entry, keys, load);
  if (o == operation::erase && !k.map->erases())
    return state.SkipWithError("this map cannot erase");
  if (o == operation::apply && !k.map->reduces())
    return state.SkipWithError("this map has no reduction by key");
  prepare(k, o);
  double seconds = 0;
  for (auto _ : state) {
    double const s = once(k, o);
    state.SetIterationTime(s);
    seconds += s;
  }
  double const rate = static_cast<double>(keys) * static_cast<double>(state.iterations()) / seconds;
  bool const writes = o == operation::insert || o == operation::erase || o == operation::apply;
  state.counters["G/s"] = rate * 1e-9;
  state.counters["GB/s"] = rate * 2 * sizeof(Key) * 1e-9;
  state.counters["of_ceiling"] = rate / (writes ? k.cas_rate : k.read_rate);
  state.counters["ceiling_G/s"] = (writes ? k.cas_rate : k.read_rate) * 1e-9;
}

void add(subject_entry const& entry, std::pair<operation, char const*> const& op, int key_bytes,
         std::uint64_t keys, double load) {
  std::string const name =
      std::string(op.second) + "/" + entry.name + "/key_bytes:" + std::to_string(key_bytes) +
      "/keys:" + std::to_string(keys) + "/load:" + std::to_string(load).substr(0, 4);
  auto const run = [&entry, op, key_bytes, keys, load](benchmark::State& state) {
    if (key_bytes == 4)
      measure<std::uint32_t>(state, entry, op.first, keys, load);
    else
      measure<std::uint64_t>(state, entry, op.first, keys, load);
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMillisecond);
}

}  // namespace

void register_benchmarks(bench_sizes const& sizes) {
  for (int const key_bytes : {4, 8})
    for (std::uint64_t const keys : sizes.keys)
      for (subject_entry const& entry : subjects())
        for (double const load : {0.5, 0.8, 0.9, 0.95}) {
          // Peers choose their own load, and so do some of this library's maps.
          if (load != 0.5 && (entry.peer || !supports_load(entry))) continue;
          if (entry.only_if_named) continue;
          for (auto const& op : operations)
            if (!entry.peer || op.first != operation::apply) add(entry, op, key_bytes, keys, load);
        }
}

void finish_benchmarks() {
  cached_state<std::uint32_t>::instance().reset();
  cached_state<std::uint64_t>::instance().reset();
}

}  // namespace karpos::perf
