// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>

#include "karpos/compiled/types.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// Compiled calls: karpos/compiled.hpp.

namespace karpos::compiled {

/// The bulk operations of karpos::hash_map (hash_map.hpp, hash_table.hpp). Kernels cannot use it:
/// karpos::hash_map has ref().
///
/// Sentinels are those of karpos::hash_map<Key, T>, with one exception: if Key is std::int64_t, the
/// third sentinel is -3, not the third largest number.
template <class Key, class T>
class hash_map {
 public:
  using key_type = Key;
  using mapped_type = T;
  using options = hash_table_options<Key>;

  hash_map(execution_space const& exec, std::uint64_t max_keys, options const& o = {});
  hash_map(hash_map&&) noexcept;
  hash_map& operator=(hash_map&&) noexcept;
  ~hash_map();

  insert_report insert(execution_space const& exec, input<Key> const& keys, input<T> const& values);
  insert_report insert_or_assign(execution_space const& exec, input<Key> const& keys,
                                 input<T> const& values);
  void find(execution_space const& exec, input<Key> const& queries, output<T> const& out,
            T const& missing = {}) const;
  void contains(execution_space const& exec, input<Key> const& queries,
                output<bool> const& out) const;
  std::uint64_t erase(execution_space const& exec, input<Key> const& keys);
  std::uint64_t retrieve_all(execution_space const& exec, output<Key> const& keys,
                             output<T> const& values) const;
  void clear(execution_space const& exec);
  std::uint64_t size(execution_space const& exec) const;
  std::uint64_t max_keys() const;

 private:
  static_assert((detail::require_types<Key, T>(), true));
  struct table;
  std::unique_ptr<table> m_table;
};

}  // namespace karpos::compiled
