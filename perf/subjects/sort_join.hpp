// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>

#include "karpos/join.hpp"
#include "perf/support/space.hpp"

namespace karpos::perf {

inline bool has_pairs(join_kind kind) { return kind <= join_kind::full; }

/// How many rows of a join a left row with so many matches becomes.
KOKKOS_FUNCTION constexpr std::uint64_t rows_of_left(join_kind kind, std::uint64_t matches) {
  switch (kind) {
    case join_kind::inner:
    case join_kind::right:
      return matches;
    case join_kind::left:
    case join_kind::full:
      return matches == 0 ? 1 : matches;
    case join_kind::left_semi:
      return matches > 0;
    case join_kind::left_anti:
      return matches == 0;
    default:
      return 0;
  }
}
/// Whether a join has a right row by itself.
KOKKOS_FUNCTION constexpr bool lists_right_row(join_kind kind, bool matched) {
  return kind == join_kind::right_semi
             ? matched
             : !matched && (kind == join_kind::right || kind == join_kind::full ||
                            kind == join_kind::right_anti);
}

/// What a join by an index is held against: sort both tables by key, search each left key among the right ones by halves,
/// write by rows of the output. Memory is taken once, but for the output. Rows come in the order of keys.
template <class Key>
class sort_join {
 public:
  virtual ~sort_join() = default;
  virtual void sort(array<Key> const& left, array<Key> const& right) = 0;
  /// Returns: rows of the join.
  virtual std::uint64_t match(join_kind kind) = 0;
  /// Numbers of left rows and of right ones; those of a semi or anti join stand on their side.
  virtual void write(array<std::uint32_t> const& left, array<std::uint32_t> const& right) = 0;
};

template <class Key>
using sort_join_factory = std::unique_ptr<sort_join<Key>> (*)(space const&, std::uint64_t left,
                                                              std::uint64_t right);

/// Makes the one of this build; null: it has none. Set by the file that has it.
template <class Key>
inline sort_join_factory<Key> make_sort_join = nullptr;

template <template <class> class Join>
struct register_sort_join {
  register_sort_join() {
    make_sort_join<std::uint32_t> = make<std::uint32_t>;
    make_sort_join<std::uint64_t> = make<std::uint64_t>;
  }
  template <class Key>
  static std::unique_ptr<sort_join<Key>> make(space const& exec, std::uint64_t left,
                                              std::uint64_t right) {
    return std::make_unique<Join<Key>>(exec, left, right);
  }
};

}  // namespace karpos::perf
