// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>

#include "karpos/compiled/types.hpp"
#include "karpos/concepts.hpp"
#include "karpos/join_options.hpp"

// Compiled calls: karpos/compiled.hpp.

namespace karpos::compiled {

/// A join of two tables by one column of keys (join.hpp): join(exec, rows(left), rows(right), kind)
/// with an index of its own, without nulls. Copies share its memory.
template <class Key>
class join {
 public:
  join(execution_space const& exec, input<Key> const& left, input<Key> const& right,
       join_kind kind);

  std::uint64_t size() const;
  join_kind kind() const;
  /// Writes pairs. Asynchronous.
  void write(execution_space const& exec, output<std::uint32_t> const& left,
             output<std::uint32_t> const& right) const;
  void write(execution_space const& exec, output<std::uint64_t> const& left,
             output<std::uint64_t> const& right) const;
  /// Writes the rows of a semi or anti join. Asynchronous.
  void write(execution_space const& exec, output<std::uint32_t> const& out) const;
  void write(execution_space const& exec, output<std::uint64_t> const& out) const;

 private:
  static_assert((detail::require_types<Key, Key>(), true));
  struct matches;
  std::shared_ptr<matches const> m_matches;
};
template <view_1d Left, view_1d Right>
join(execution_space const&, Left const&, Right const&, join_kind)
    -> join<typename Left::non_const_value_type>;

}  // namespace karpos::compiled
