// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiled/bits.hpp"
#include "karpos/compiled/join.hpp"
#include "karpos/join.hpp"

namespace karpos::compiled {

template <class Key>
struct join<Key>::matches {
  using table = decltype(rows(bits_of_view(input<Key>())));

  matches(execution_space const& exec, input<Key> const& left, input<Key> const& right_keys,
          join_kind kind)
      : right(right_keys),
        found(exec, rows(bits_of_view(left)), rows(bits_of_view(right)), kind) {}

  input<Key> right;  ///< keeps the keys that the join's index reads
  karpos::join<table, row_index<table, execution_space>> found;
};

template <class Key>
join<Key>::join(execution_space const& exec, input<Key> const& left, input<Key> const& right,
                join_kind kind)
    : m_matches(new matches(exec, left, right, kind)) {}
template <class Key>
std::uint64_t join<Key>::size() const {
  return m_matches->found.size();
}
template <class Key>
join_kind join<Key>::kind() const {
  return m_matches->found.kind();
}
template <class Key>
void join<Key>::write(execution_space const& exec, output<std::uint32_t> const& left,
                      output<std::uint32_t> const& right) const {
  m_matches->found.write(exec, left, right);
}
template <class Key>
void join<Key>::write(execution_space const& exec, output<std::uint64_t> const& left,
                      output<std::uint64_t> const& right) const {
  m_matches->found.write(exec, left, right);
}
template <class Key>
void join<Key>::write(execution_space const& exec, output<std::uint32_t> const& out) const {
  m_matches->found.write(exec, out);
}
template <class Key>
void join<Key>::write(execution_space const& exec, output<std::uint64_t> const& out) const {
  m_matches->found.write(exec, out);
}

}  // namespace karpos::compiled

/// Compiles the joins of keys of KEY bits.
#define KARPOS_INSTANTIATE_JOIN(KEY)                         \
  template class karpos::compiled::join<std::uint##KEY##_t>; \
  template class karpos::compiled::join<std::int##KEY##_t>;
