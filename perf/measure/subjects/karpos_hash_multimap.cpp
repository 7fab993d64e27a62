// SPDX-License-Identifier: Apache-2.0
#include "karpos/hash_multimap.hpp"

#include "perf/measure/subjects/subject.hpp"

namespace karpos::perf {
namespace {

/// A multimap with one value per key, which shows what the support for several values costs.
template <class Key>
class karpos_hash_multimap : public subject<Key> {
 public:
  karpos_hash_multimap(space const& exec, std::uint64_t max_keys, double load)
      : m_bytes(hash_multimap<Key, Key, space>::bytes_for(max_keys, max_keys, load)),
        m_map(exec, max_keys, {.load = load}) {}

  std::size_t bytes() const override { return m_bytes; }
  void clear(space const& exec) override { m_map.clear(exec); }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    m_map.insert(exec, keys, values);
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    m_map.find_any(exec, queries, answers, static_cast<Key>(~Key(0)));
  }
  void erase(space const& exec, array<Key> const& keys) override { m_map.erase(exec, keys); }
  std::uint64_t size(space const&) override { return m_map.size(); }

 private:
  std::size_t m_bytes;
  hash_multimap<Key, Key, space> m_map;
};

register_subject<karpos_hash_multimap> const registration("multi", "karpos::hash_multimap", false);

}  // namespace
}  // namespace karpos::perf
