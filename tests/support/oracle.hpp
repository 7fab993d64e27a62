// SPDX-License-Identifier: Apache-2.0
/// \file
/// The sequential table that every map is compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <karpos/outcome.hpp>
#include <unordered_map>
#include <vector>

namespace karpos_test {

template <class Key, class T>
class oracle {
 public:
  karpos::outcome insert(Key key, T value) {
    return m_map.try_emplace(key, value).second ? karpos::outcome::inserted
                                                : karpos::outcome::existing;
  }
  template <class Op>
  karpos::outcome insert_or_apply(Key key, T value, Op const& op) {
    auto const [where, inserted] = m_map.try_emplace(key, value);
    if (!inserted) where->second = op(where->second, value);
    return inserted ? karpos::outcome::inserted : karpos::outcome::existing;
  }
  bool erase(Key key) { return m_map.erase(key) != 0; }
  bool contains(Key key) const { return m_map.count(key) != 0; }
  T find(Key key, T missing) const {
    auto const where = m_map.find(key);
    return where == m_map.end() ? missing : where->second;
  }
  std::size_t size() const { return m_map.size(); }

  /// Returns whether the pairs are exactly the oracle's: each key once, with its value.
  bool equals(std::vector<Key> const& keys, std::vector<T> const& values, std::size_t n) const {
    if (n != m_map.size() || keys.size() < n || values.size() < n) return false;
    std::unordered_map<Key, T> seen;
    for (std::size_t i = 0; i < n; ++i) {
      auto const where = m_map.find(keys[i]);
      if (where == m_map.end() || !(where->second == values[i])) return false;
      if (!seen.try_emplace(keys[i], values[i]).second) return false;
    }
    return true;
  }

  auto begin() const { return m_map.begin(); }
  auto end() const { return m_map.end(); }

 private:
  std::unordered_map<Key, T> m_map;
};

}  // namespace karpos_test
