// SPDX-License-Identifier: Apache-2.0
#include "karpos/hash_map.hpp"

#include "perf/subjects/subject.hpp"

namespace karpos::perf {
namespace {

template <class Key>
class karpos_hash_map : public subject<Key> {
  using map = hash_map<Key, Key, space>;

 public:
  karpos_hash_map(space const& exec, std::uint64_t max_keys, double load)
      : m_bytes(map::bytes_for(max_keys, load)),
        m_map(exec, max_keys, {.load = load}),
        m_report("report"),
        m_erased("erased") {}

  std::size_t bytes() const override { return m_bytes; }
  bool reduces() const override { return true; }
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
    m_map.insert_or_apply_async(exec, keys, Key(1), plus{}, m_report);
  }
  std::uint64_t size(space const& exec) override { return m_map.size(exec); }

 private:
  std::size_t m_bytes;
  map m_map;
  typename map::report_view m_report;
  typename map::erase_view m_erased;
};

register_subject<karpos_hash_map> const here("hash", "karpos::hash_map", false);

}  // namespace
}  // namespace karpos::perf
