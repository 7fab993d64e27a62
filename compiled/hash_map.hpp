// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiled/bits.hpp"
#include "karpos/compiled/hash_map.hpp"
#include "karpos/hash_map.hpp"

namespace karpos::compiled {

template <class Key, class T>
struct hash_map<Key, T>::table : karpos::hash_map<bits<Key>, bits<T>, execution_space> {
  using karpos::hash_map<bits<Key>, bits<T>, execution_space>::hash_map;
};

/// Returns options for the bits of keys, with the default sentinels of Key itself. Keys of 4 bytes
/// with values of 8 need none: no such key equals a default sentinel.
template <class Key, class T>
hash_table_options<bits<Key>> table_options(hash_table_options<Key> o) {
  if (std::is_signed_v<Key> && sizeof(Key) >= sizeof(T)) {
    constexpr Key largest = std::numeric_limits<Key>::max();
    if (!o.empty_key) o.empty_key = o.erased_key == largest ? largest - 1 : largest;
    if (!o.erased_key) o.erased_key = o.empty_key == largest - 1 ? largest : largest - 1;
  }
  hash_table_options<bits<Key>> b;
  b.load = o.load;
  b.growth = o.growth;
  b.seed = o.seed;
  if (o.empty_key) b.empty_key = bits_of(*o.empty_key);
  if (o.erased_key) b.erased_key = bits_of(*o.erased_key);
  return b;
}

template <class Key, class T>
hash_map<Key, T>::hash_map(execution_space const& exec, std::uint64_t max_keys, options const& o)
    : m_table(new table(exec, max_keys, table_options<Key, T>(o))) {}
template <class Key, class T>
hash_map<Key, T>::hash_map(hash_map&&) noexcept = default;
template <class Key, class T>
hash_map<Key, T>& hash_map<Key, T>::operator=(hash_map&&) noexcept = default;
template <class Key, class T>
hash_map<Key, T>::~hash_map() = default;

template <class Key, class T>
insert_report hash_map<Key, T>::insert(execution_space const& exec, input<Key> const& keys,
                                       input<T> const& values) {
  return m_table->insert(exec, bits_of_view(keys), bits_of_view(values));
}
template <class Key, class T>
insert_report hash_map<Key, T>::insert_or_assign(execution_space const& exec,
                                                 input<Key> const& keys, input<T> const& values) {
  return m_table->insert_or_assign(exec, bits_of_view(keys), bits_of_view(values));
}
template <class Key, class T>
void hash_map<Key, T>::find(execution_space const& exec, input<Key> const& queries,
                            output<T> const& out, T const& missing) const {
  m_table->find(exec, bits_of_view(queries), bits_of_view(out), bits_of(missing));
}
template <class Key, class T>
void hash_map<Key, T>::contains(execution_space const& exec, input<Key> const& queries,
                                output<bool> const& out) const {
  m_table->contains(exec, bits_of_view(queries), out);
}
template <class Key, class T>
std::uint64_t hash_map<Key, T>::erase(execution_space const& exec, input<Key> const& keys) {
  return m_table->erase(exec, bits_of_view(keys));
}
template <class Key, class T>
std::uint64_t hash_map<Key, T>::retrieve_all(execution_space const& exec, output<Key> const& keys,
                                             output<T> const& values) const {
  return m_table->retrieve_all(exec, bits_of_view(keys), bits_of_view(values));
}
template <class Key, class T>
void hash_map<Key, T>::clear(execution_space const& exec) {
  m_table->clear(exec);
}
template <class Key, class T>
std::uint64_t hash_map<Key, T>::size(execution_space const& exec) const {
  return m_table->size(exec);
}
template <class Key, class T>
std::uint64_t hash_map<Key, T>::max_keys() const {
  return m_table->max_keys();
}

}  // namespace karpos::compiled

/// Compiles the maps of keys of KEY bits and values of VALUE bits.
#define KARPOS_INSTANTIATE_MAP(Key, VALUE)                              \
  template class karpos::compiled::hash_map<Key, std::uint##VALUE##_t>; \
  template class karpos::compiled::hash_map<Key, std::int##VALUE##_t>;  \
  template class karpos::compiled::hash_map<Key, karpos::compiled::floating<VALUE>>;
#define KARPOS_INSTANTIATE_HASH_MAP(KEY, VALUE)     \
  KARPOS_INSTANTIATE_MAP(std::uint##KEY##_t, VALUE) \
  KARPOS_INSTANTIATE_MAP(std::int##KEY##_t, VALUE)
