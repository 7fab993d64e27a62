// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/join_options.hpp"

// Checks of the views that the rows of a join go to.

namespace karpos::detail::join {

inline bool has_pairs(join_kind k) { return k <= join_kind::full; }
/// Throws std::invalid_argument for a number that is no kind.
inline void require_valid_kind(join_kind k) {
  constexpr auto last = static_cast<unsigned>(join_kind::right_anti);
  if (static_cast<unsigned>(k) > last)
    reject("there is no such kind of join",
           std::to_string(static_cast<int>(k)) + " of 0 to " + std::to_string(last),
           "choose one of karpos::join_kind");
}
/// Throws std::invalid_argument if the rows of kind k are not pairs (`pairs`), or not single rows
/// (else), and if k is no kind.
inline void require_kind(join_kind k, bool pairs) {
  require_valid_kind(k);
  if (join::has_pairs(k) == pairs) return;
  if (pairs)
    reject("a semi or anti join has no pairs", "its rows are single numbers",
           "write to one view, or call rows()");
  reject("a join has pairs", "not single rows", "write to two views, or call pairs()");
}

/// Throws std::invalid_argument if the view's integers are too small for the numbers of `rows`
/// rows.
template <class ExecSpace, class Out>
void require_numbers(char const* what, Out const&, std::uint64_t rows) {
  using number = typename Out::value_type;
  require_reachable<ExecSpace, Out>();
  static_assert(std::is_integral_v<number> && !std::is_const_v<number> &&
                    (sizeof(number) == 4 || sizeof(number) == 8),
                "karpos: numbers of rows are written to views of integers of 32 or 64 bits, not "
                "const");
  if (rows > static_cast<std::uint64_t>(std::numeric_limits<number>::max()))
    reject(std::string(what) + " has too small a type",
           std::to_string(8 * sizeof(number)) + " bits for the numbers of " + std::to_string(rows) +
               " rows",
           "pass a view of std::uint64_t");
}

/// Throws std::invalid_argument if Number, the row numbers of the index, is too small for `rows`
/// left rows. For outputs that a join allocates itself.
template <class Number>
void require_own_numbers(std::uint64_t rows) {
  constexpr std::uint64_t most = std::numeric_limits<Number>::max();
  if (rows > most)
    reject("row numbers of the index are too small for the other side of a join",
           std::to_string(rows) + " left rows of at most " + std::to_string(most),
           "write to views of std::uint64_t, or make the index with RowNumber = std::uint64_t");
}

/// Throws std::invalid_argument if a view has no space for the rows of a join.
inline void require_length(char const* what, std::uint64_t capacity, std::uint64_t rows) {
  if (capacity >= rows) return;
  std::string const n = std::to_string(rows);
  reject(std::string(what) + " is too short",
         std::to_string(capacity) + " elements for " + n + " rows",
         "pass a view of at least " + n + " elements");
}

}  // namespace karpos::detail::join
