// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <atomic>
#include <memory>

#include "perf/measure/subjects/subject.hpp"

// The rule of folly::AtomicHashMap, written from its description, because Debian has no folly: an
// array of keys and values, linear probing, and three keys that cannot be stored.
//
//   empty --compare-and-swap--> locked --value written, key released--> key --erase--> erased
//
// An insertion locks the cell while it writes the value; threads that meet a locked key wait. A
// lookup skips locked cells. Integers are their own hashes. folly also chains further arrays once
// the first is full, which does not happen here, and counts its entries in each thread.

namespace karpos::perf {
namespace {

template <class Key>
class atomic_array {
 public:
  atomic_array(std::uint64_t max_keys, double load)
      : m_capacity(static_cast<std::uint64_t>(static_cast<double>(max_keys) / load) + 1),
        m_cells(new cell[m_capacity]) {
    while (m_mask < m_capacity - 1) m_mask = 2 * m_mask + 1;
  }

  void clear(std::uint64_t i) { m_cells[i].key.store(empty, std::memory_order_relaxed); }
  bool is_used(std::uint64_t i) const { return m_cells[i].key.load() < erased; }
  std::uint64_t capacity() const { return m_capacity; }

  /// Returns whether the pair was inserted: the key was not there, and the array was not full.
  bool insert(Key key, Key value) {
    std::uint64_t at = home(key);
    for (std::uint64_t tried = 0; tried < m_capacity; ++tried, at = next(at)) {
      cell& c = m_cells[at];
      Key seen = empty;
      if (c.key.load(std::memory_order_relaxed) == empty &&
          c.key.compare_exchange_strong(seen, locked, std::memory_order_acq_rel)) {
        c.value = value;
        c.key.store(key, std::memory_order_release);
        return true;
      }
      while ((seen = c.key.load(std::memory_order_acquire)) == locked) {
      }
      if (seen == key) return false;
    }
    return false;
  }
  Key find(Key key) const {
    std::uint64_t at = home(key);
    for (std::uint64_t tried = 0; tried < m_capacity; ++tried, at = next(at)) {
      Key const seen = m_cells[at].key.load(std::memory_order_acquire);
      if (seen == key) return m_cells[at].value;
      if (seen == empty) break;
    }
    return static_cast<Key>(~Key(0));
  }
  void erase(Key key) {
    std::uint64_t at = home(key);
    for (std::uint64_t tried = 0; tried < m_capacity; ++tried, at = next(at)) {
      Key seen = m_cells[at].key.load(std::memory_order_acquire);
      if (seen == key) m_cells[at].key.compare_exchange_strong(seen, erased);
      if (seen == key || seen == empty) return;
    }
  }

 private:
  static constexpr Key empty = static_cast<Key>(~Key(0)), locked = empty - 1, erased = empty - 2;
  struct cell {
    std::atomic<Key> key;
    Key value;
  };

  std::uint64_t home(Key key) const {
    std::uint64_t const masked = key & m_mask;
    return masked < m_capacity ? masked : key % m_capacity;
  }
  std::uint64_t next(std::uint64_t at) const { return at + 1 == m_capacity ? 0 : at + 1; }

  std::uint64_t m_capacity, m_mask = 0;
  std::unique_ptr<cell[]> m_cells;
};

template <class Key>
class atomic_hash_map : public subject<Key> {
 public:
  atomic_hash_map(space const& exec, std::uint64_t max_keys, double load) : m_map(max_keys, load) {
    clear(exec);
  }

  std::size_t bytes() const override { return m_map.capacity() * 2 * sizeof(Key); }
  void clear(space const& exec) override {
    for_each("clear", exec, m_map.capacity(), [this](std::uint64_t i) { m_map.clear(i); });
  }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    for_each("insert", exec, keys.extent(0),
             [=, this](std::uint64_t i) { m_map.insert(keys(i), values(i)); });
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    for_each("find", exec, queries.extent(0),
             [=, this](std::uint64_t i) { answers(i) = m_map.find(queries(i)); });
  }
  void erase(space const& exec, array<Key> const& keys) override {
    for_each("erase", exec, keys.extent(0), [=, this](std::uint64_t i) { m_map.erase(keys(i)); });
  }
  std::uint64_t size(space const& exec) override {
    std::uint64_t used = 0;
    Kokkos::parallel_reduce(
        "atomic_hash_map::size", range(exec, m_map.capacity()),
        [this](std::uint64_t i, std::uint64_t& n) { n += m_map.is_used(i); }, used);
    return used;
  }

 private:
  template <class Call>
  static void for_each(char const* label, space const& exec, std::uint64_t n, Call const& call) {
    Kokkos::parallel_for(std::string("atomic_hash_map::") + label, range(exec, n), call);
  }

  atomic_array<Key> m_map;
};

register_host_peer<atomic_hash_map> const registration("folly_rule",
                                                       "the rule of folly::AtomicHashMap");

}  // namespace
}  // namespace karpos::perf
