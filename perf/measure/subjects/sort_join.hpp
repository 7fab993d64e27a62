// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>

#include "karpos/join.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

inline bool has_pairs(join_kind kind) { return kind <= join_kind::full; }

/// Returns the number of rows that a left row with `matches` matches contributes to a join.
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
/// Returns whether a join contains a right row alone, without a left row.
KOKKOS_FUNCTION constexpr bool includes_right_row(join_kind kind, bool matched) {
  return kind == join_kind::right_semi
             ? matched
             : !matched && (kind == join_kind::right || kind == join_kind::full ||
                            kind == join_kind::right_anti);
}

/// The baseline of joins by an index: sorts both tables by key, finds the matches of each left key
/// among the sorted right keys by binary search, and writes in parallel over the rows of the
/// output. Allocates all memory but the output once. Rows come in the order of keys.
template <class Key>
class sort_join {
 public:
  virtual ~sort_join() = default;
  virtual void sort(array<Key> const& left, array<Key> const& right) = 0;
  /// Finds the matches. Returns the number of rows of the join.
  virtual std::uint64_t match(join_kind kind) = 0;
  /// Writes the row numbers of left and right rows. A semi or anti join writes those of its own
  /// side only.
  virtual void write(array<std::uint32_t> const& left, array<std::uint32_t> const& right) = 0;
};

template <class Key>
using sort_join_factory = std::unique_ptr<sort_join<Key>> (*)(space const&, std::uint64_t left,
                                                              std::uint64_t right);

/// Makes this build's sort_join; null if the build has none. Set by the file that defines it.
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
