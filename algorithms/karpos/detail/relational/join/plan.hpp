// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/join_options.hpp"

// The memory in which a join keeps its matches, and checks of the views that its rows go to.

namespace karpos::detail::join {

template <class RowNumber>
struct arrays {
  RowNumber* begins;          // of the run of each left row
  std::uint64_t* offsets;     // of each left row in the output
  std::uint64_t* candidates;  // of each left row among all candidates, for a predicate
  std::uint32_t* marks;       // of right rows, or of their runs
  std::size_t bytes;

  arrays(std::uint64_t left, std::uint64_t right, bool marks_right, bool has_predicate,
         std::byte* memory = nullptr) {
    arena a(memory);
    a.allocate(begins, left);
    a.allocate(offsets, left + 1);
    a.allocate(candidates, has_predicate ? left + 1 : 0);
    a.allocate(marks, marks_right ? right : 0);
    bytes = a.bytes();
  }
};

inline bool has_pairs(join_kind k) { return k <= join_kind::full; }
/// Returns whether the rows of a semi or anti join are left rows.
inline bool is_of_left(join_kind k) {
  return k == join_kind::left_semi || k == join_kind::left_anti;
}
/// Throws std::invalid_argument unless k is a kind of pairs, or of single rows if !pairs.
inline void require_kind(join_kind k, bool pairs) {
  require_enumerators(k);
  if (join::has_pairs(k) == pairs) return;
  if (pairs)
    reject("a semi or anti join has no pairs", "its rows are single numbers",
           "write to one view, or call rows()");
  reject("a join has pairs", "not single rows", "write to two views, or call pairs()");
}

/// Throws std::invalid_argument if the view's integers cannot number `rows` rows.
template <class ExecSpace, class Out>
void require_numbers(char const* what, Out const&, std::uint64_t rows) {
  using number = typename Out::value_type;
  require_reachable<ExecSpace, Out>();
  static_assert(std::is_integral_v<number> && !std::is_const_v<number> &&
                    (sizeof(number) == 4 || sizeof(number) == 8),
                "karpos: numbers of rows are written to views of integers of 32 or 64 bits, not "
                "const");
  require_holds<number>(what, rows);
}

}  // namespace karpos::detail::join
