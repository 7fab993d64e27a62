// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "karpos/hash.hpp"
#include "perf/measure/subjects/pair_slots.hpp"
#include "perf/measure/subjects/probe_paths.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/subjects/table_kernels.hpp"

// The static tables that GLHT is compared with: a thread inserts a key by compare-and-swap into the
// first empty slot of its probe sequence, slot by slot.

namespace karpos::perf {

template <class Key, class Path>
struct probing_search {
  pair_slots<Key> slots;

  KOKKOS_FUNCTION Path start(Key key) const {
    return Path(slots.count(), multiply_high(mix(key), slots.count()));
  }
  KOKKOS_FUNCTION outcome insert(Key key, Key value, std::uint64_t) const {
    outcome o = outcome::full;
    Path p = start(key);
    for (std::uint64_t n = slots.count(); n > 0 && o == outcome::full; --n, p.advance())
      o = slots.insert(p.at, key, value);
    return o;
  }
  KOKKOS_FUNCTION bool find(Key key, Key& value) const {
    Path p = start(key);
    for (std::uint64_t n = slots.count(); n > 0; --n, p.advance()) {
      if (slots.find(p.at, key, value)) return true;
      if (slots.is_empty(p.at)) return false;
    }
    return false;
  }
};

namespace {

template <class Key, class Path>
class probing_table : public subject<Key> {
 public:
  probing_table(space const& exec, std::uint64_t max_keys, double load)
      : m_table{pair_slots<Key>(Path::slots_for(
            static_cast<std::uint64_t>(std::ceil(static_cast<double>(max_keys) / load))))} {
    clear(exec);
  }

  std::size_t bytes() const override { return m_table.slots.bytes(); }
  bool erases() const override { return false; }
  void clear(space const& exec) override { m_table.slots.clear(exec); }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    Kokkos::parallel_for(
        "probing::insert", range(exec, keys.extent(0)),
        table_insert<probing_search<Key, Path>, array<Key>>{m_table, keys, values});
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    Kokkos::parallel_for(
        "probing::find", range(exec, queries.extent(0)),
        table_find<probing_search<Key, Path>, array<Key>>{m_table, queries, answers});
  }
  std::uint64_t size(space const& exec) override { return used_slots(exec, m_table.slots); }

 private:
  probing_search<Key, Path> m_table;
};

template <class Key>
struct linear_table : probing_table<Key, linear_path> {
  using probing_table<Key, linear_path>::probing_table;
};
template <class Key>
struct quadratic_table : probing_table<Key, quadratic_path> {
  using probing_table<Key, quadratic_path>::probing_table;
};

register_published<linear_table> const linear("linear", "linear probing, a slot at a time");
register_published<quadratic_table> const quadratic("quadratic",
                                                    "quadratic probing, a slot at a time");

}  // namespace
}  // namespace karpos::perf
