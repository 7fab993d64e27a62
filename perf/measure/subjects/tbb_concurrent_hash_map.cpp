// SPDX-License-Identifier: Apache-2.0
#include <tbb/concurrent_hash_map.h>

#include <atomic>
#include <new>

#include "perf/measure/subjects/subject.hpp"

namespace karpos::perf {
namespace {

/// A tbb::concurrent_hash_map called from the threads of Kokkos, so that it uses as many threads as
/// the library.
template <class Key>
class tbb_map : public subject<Key> {
  using map = tbb::concurrent_hash_map<Key, Key>;

 public:
  using operation = map_operation<Key, Key>;
  using result = map_result<Key>;

  tbb_map(space const&, std::uint64_t max_keys, double) : m_keys(max_keys), m_map(max_keys) {}

  bool applies() const override { return true; }
  void clear(space const&) override {
    m_map.clear();
    m_map.rehash(m_keys);
  }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    for_each("tbb::insert", exec, keys.extent(0), [=, this](std::uint64_t i) {
      m_map.insert({keys(i), values(i)});
    });
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    Kokkos::parallel_for("tbb::find", range(exec, queries.extent(0)), [=, this](std::uint64_t i) {
      typename map::const_accessor at;
      answers(i) = m_map.find(at, queries(i)) ? at->second : static_cast<Key>(~Key(0));
    });
  }
  void erase(space const& exec, array<Key> const& keys) override {
    Kokkos::parallel_for("tbb::erase", range(exec, keys.extent(0)),
                         [=, this](std::uint64_t i) { m_map.erase(keys(i)); });
  }
  void apply(space const& exec, array<operation> const& operations,
             array<result> const& results) override {
    for_each("tbb::apply", exec, operations.extent(0),
             [=, this](std::uint64_t i) { results(i) = apply_one(operations(i)); });
  }
  std::uint64_t size(space const&) override { return m_map.size(); }

 private:
  /// Runs call(i), which may allocate memory, for each i < n. Once an allocation fails, the
  /// remaining calls are skipped, as no exception may leave a thread of Kokkos.
  template <class Call>
  static void for_each(char const* label, space const& exec, std::uint64_t n, Call const& call) {
    std::atomic<bool> out_of_memory = false;
    Kokkos::parallel_for(label, range(exec, n), [&](std::uint64_t i) {
      if (out_of_memory.load(std::memory_order_relaxed)) return;
      try {
        call(i);
      } catch (std::bad_alloc const&) {
        out_of_memory = true;
      }
    });
    exec.fence("tbb: all calls have returned");
    if (out_of_memory) throw std::bad_alloc();
  }

  result apply_one(operation const& o) {
    switch (o.op) {
      case map_op::insert:
        return {m_map.insert({o.key, o.value}) ? outcome::inserted : outcome::existing, {}};
      case map_op::erase:
        return {m_map.erase(o.key) ? outcome::erased : outcome::absent, {}};
      case map_op::find:
        break;
    }
    typename map::const_accessor at;
    if (!m_map.find(at, o.key)) return {outcome::absent, {}};
    return {outcome::found, at->second};
  }

  std::uint64_t m_keys;
  map m_map;
};

register_host_peer<tbb_map> const registration("tbb", "tbb::concurrent_hash_map");

}  // namespace
}  // namespace karpos::perf
