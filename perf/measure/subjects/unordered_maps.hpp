// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "perf/measure/subjects/subject.hpp"

namespace karpos::perf {

template <class Map, class Key>
struct unordered_insert {
  Map map;
  array<Key> keys, values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { map.insert(keys(i), values(i)); }
};
template <class Map, class Key>
struct unordered_find {
  Map map;
  array<Key> queries, answers;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const at = map.find(queries(i));
    answers(i) = map.valid_at(at) ? map.value_at(at) : static_cast<Key>(~Key(0));
  }
};
template <class Map, class Key>
struct unordered_erase {
  Map map;
  array<Key> keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { map.erase(keys(i)); }
};

/// A map with the interface of Kokkos::UnorderedMap, which is used in kernels of one thread a key.
template <class Key, class Map>
class unordered_subject : public subject<Key> {
 public:
  unordered_subject(space const&, std::uint64_t max_keys, double load)
      : m_hint(static_cast<typename Map::size_type>(static_cast<double>(max_keys) / load)),
        m_map(m_hint) {}

  std::size_t bytes() const override {
    if constexpr (requires { Map::bytes_for(m_hint); })
      return Map::bytes_for(m_hint);
    else
      return 0;
  }
  void clear(space const&) override { m_map.clear(); }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    Kokkos::parallel_for("UnorderedMap::insert", range(exec, keys.extent(0)),
                         unordered_insert<Map, Key>{m_map, keys, values});
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    Kokkos::parallel_for("UnorderedMap::find", range(exec, queries.extent(0)),
                         unordered_find<Map, Key>{m_map, queries, answers});
  }
  void erase(space const& exec, array<Key> const& keys) override {
    m_map.begin_erase();
    Kokkos::parallel_for("UnorderedMap::erase", range(exec, keys.extent(0)),
                         unordered_erase<Map, Key>{m_map, keys});
    m_map.end_erase();
  }
  std::uint64_t size(space const&) override { return m_map.size(); }

 private:
  typename Map::size_type m_hint;
  Map m_map;
};

}  // namespace karpos::perf
