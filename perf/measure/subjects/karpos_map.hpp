// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/operations.hpp"
#include "perf/measure/subjects/subject.hpp"

namespace karpos::perf {

/// A map of this library; all of them have the same interface. The keys and values of Map have the
/// same type.
template <class Map>
class karpos_map : public subject<typename Map::key_type> {
  using Key = typename Map::key_type;
  using operations_view = array<map_operation<Key, Key>>;
  using results_view = array<map_result<Key>>;
  /// Whether the map has insert_or_apply: not every table can replace a value by a function of it.
  static constexpr bool can_reduce = requires(Map& m, space const& exec, array<Key> const& keys,
                                              typename Map::report_view const& report) {
    m.insert_or_apply_async(exec, keys, Key(1), plus{}, report);
  };

 public:
  karpos_map(space const& exec, std::uint64_t max_keys, double load)
      : m_bytes(Map::bytes_for(max_keys, load)),
        m_map(exec, max_keys, {.load = load}),
        m_report("report"),
        m_erased("erased") {}

  std::size_t bytes() const override { return m_bytes; }
  bool reduces() const override { return can_reduce; }
  bool applies() const override { return true; }
  void clear(space const& exec) override { m_map.clear(exec); }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    m_map.insert_async(exec, keys, values, m_report);
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    m_map.find(exec, queries, answers, static_cast<Key>(~Key(0)));
  }
  void erase(space const& exec, array<Key> const& keys) override {
    m_map.erase_async(exec, keys, m_erased);
  }
  void insert_or_add(space const& exec, array<Key> const& keys) override {
    if constexpr (can_reduce) m_map.insert_or_apply_async(exec, keys, Key(1), plus{}, m_report);
  }
  void apply(space const& exec, operations_view const& operations,
             results_view const& results) override {
    if constexpr (requires { m_map.compact(exec); })
      m_map.apply(exec, operations, results);  // compacts in between, and therefore blocks
    else
      m_map.apply_async(exec, operations, results);
  }
  std::uint64_t size(space const& exec) override { return m_map.size(exec); }

 private:
  std::size_t m_bytes;
  Map m_map;
  typename Map::report_view m_report;
  typename Map::erase_view m_erased;
};

}  // namespace karpos::perf
