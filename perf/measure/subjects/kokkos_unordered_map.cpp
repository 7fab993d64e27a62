// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_UnorderedMap.hpp>

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

namespace {

template <class Key>
class kokkos_unordered_map : public subject<Key> {
  using map = Kokkos::UnorderedMap<Key, Key, space>;

 public:
  kokkos_unordered_map(space const&, std::uint64_t max_keys, double load)
      : m_map(static_cast<typename map::size_type>(static_cast<double>(max_keys) / load)) {}

  void clear(space const&) override { m_map.clear(); }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    Kokkos::parallel_for("UnorderedMap::insert", range(exec, keys.extent(0)),
                         unordered_insert<map, Key>{m_map, keys, values});
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    Kokkos::parallel_for("UnorderedMap::find", range(exec, queries.extent(0)),
                         unordered_find<map, Key>{m_map, queries, answers});
  }
  void erase(space const& exec, array<Key> const& keys) override {
    m_map.begin_erase();
    Kokkos::parallel_for("UnorderedMap::erase", range(exec, keys.extent(0)),
                         unordered_erase<map, Key>{m_map, keys});
    m_map.end_erase();
  }
  std::uint64_t size(space const&) override { return m_map.size(); }

 private:
  map m_map;
};

register_subject<kokkos_unordered_map> const registration("kokkos", "Kokkos::UnorderedMap", true);

}  // namespace
}  // namespace karpos::perf
