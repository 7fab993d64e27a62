// SPDX-License-Identifier: Apache-2.0
/// \file
/// Insertions and lookups of one map in a source that also has another map, both behind a virtual
/// interface with all bulk calls, as in an application. With -D ALONE the source has these two
/// calls alone. Prints millions of insertions and hits per second of one thread, by its CPU time.
/// Not part of the suite: perf/results/cpu/crowded_sources.md tells how to run it.
#include <time.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <karpos/hash_map.hpp>
#include <karpos/operations.hpp>
#include <memory>

namespace {

using space = Kokkos::DefaultHostExecutionSpace;
template <class Key>
using view = Kokkos::View<Key*, Kokkos::HostSpace>;

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
template <class F>
double least_seconds(F const& f) {
  f();
  double least = 1e9;
  for (int i = 0; i < 21; ++i) {
    double const begin = thread_seconds();
    f();
    least = std::min(least, thread_seconds() - begin);
  }
  return least;
}

template <class Key>
struct table {
  virtual ~table() = default;
  virtual void clear(space const&) = 0;
  virtual void insert(space const&, view<Key> const&, view<Key> const&) = 0;
  virtual void find(space const&, view<Key> const&, view<Key> const&) = 0;
#if !defined(ALONE)
  virtual void erase(space const&, view<Key> const&) = 0;
  virtual void add(space const&, view<Key> const&) = 0;
  virtual std::uint64_t size(space const&) = 0;
  virtual void compact(space const&) = 0;
  virtual void retrieve(space const&, view<Key> const&, view<Key> const&) = 0;
#endif
};
template <class Key>
struct held : table<Key> {
  using map_type = karpos::hash_map<Key, Key, space>;
  map_type map;
  typename map_type::report_view inserted{"inserted"};

  held(space const& exec, std::uint64_t n) : map(exec, n, {.load = 0.5}) {}
  void clear(space const& exec) override { map.clear(exec); }
  void insert(space const& exec, view<Key> const& keys, view<Key> const& values) override {
    map.insert_async(exec, keys, values, inserted);
  }
  void find(space const& exec, view<Key> const& keys, view<Key> const& out) override {
    map.find(exec, keys, out, static_cast<Key>(~Key(0)));
  }
#if !defined(ALONE)
  typename map_type::erase_view erased{"erased"};
  void erase(space const& exec, view<Key> const& keys) override {
    map.erase_async(exec, keys, erased);
  }
  void add(space const& exec, view<Key> const& keys) override {
    map.insert_or_apply_async(exec, keys, Key(1), karpos::plus{}, inserted);
  }
  std::uint64_t size(space const& exec) override { return map.size(exec); }
  void compact(space const& exec) override { map.compact(exec); }
  void retrieve(space const& exec, view<Key> const& keys, view<Key> const& values) override {
    map.retrieve_all(exec, keys, values);
  }
#endif
};

}  // namespace

int main() {
  Kokkos::ScopeGuard const guard;
  space const exec;
  std::uint32_t const n = 1u << 20;
  view<std::uint32_t> const keys("keys", n), queries("queries", n), out("out", n);
  for (std::uint32_t i = 0; i < n; ++i)
    keys(i) = static_cast<std::uint32_t>(karpos::mix(i) >> 12 << 20 | i);
  for (std::uint32_t i = 0; i < n; ++i) queries(i) = keys((i * 2654435761u) & (n - 1));
  std::unique_ptr<table<std::uint32_t>> const map = std::make_unique<held<std::uint32_t>>(exec, n);
#if !defined(ALONE)
  std::unique_ptr<table<std::uint64_t>> const other =
      std::make_unique<held<std::uint64_t>>(exec, 1000);
  if (other->size(exec) != 0) return 1;
#endif
  double const insert = least_seconds([&] {
    map->clear(exec);
    map->insert(exec, keys, keys);
  });
  double const hits = least_seconds([&] { map->find(exec, queries, out); });
  std::printf("%.1f %.1f\n", n / insert / 1e6, n / hits / 1e6);
}
