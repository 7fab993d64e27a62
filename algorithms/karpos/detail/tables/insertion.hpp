// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/detail/tables/slots_used.hpp"

// The arguments of a bulk insertion.

namespace karpos::detail {

/// The rows of a bulk insertion, and how values are merged. `what` is for labels.
template <class Keys, class Values, class Combine, class Stencil>
struct insertion {
  using keys_type = Keys;
  using values_type = Values;
  using combine_type = Combine;
  using stencil_type = Stencil;
  static constexpr bool selects_every_key = std::is_same_v<Stencil, everything>;

  char const* what;
  Keys keys;
  Values values;
  Combine combine;
  Stencil stencil;

  std::uint64_t size() const { return keys.extent(0); }
  /// Returns rows [first, last).
  insertion slice(std::uint64_t first, std::uint64_t last) const {
    return {what, slice_of(keys, first, last), slice_of(values, first, last), combine,
            slice_of(stencil, first, last)};
  }
  /// Returns the rows whose keys are not in a table.
  template <class Table>
  auto absent_from(Table const& table) const {
    using absent = detail::absent_from<Table, Keys, Stencil>;
    return insertion<Keys, Values, Combine, absent>{what, keys, values, combine,
                                                    absent{table, keys, stencil}};
  }
};
template <class Keys, class Values, class Combine, class Stencil>
insertion(char const*, Keys const&, Values const&, Combine const&, Stencil const&)
    -> insertion<Keys, Values, Combine, Stencil>;

/// Whether inserting a pair twice has the same result as inserting it once.
template <class Combine>
inline constexpr bool idempotent =
    std::is_same_v<Combine, keep_stored> || std::is_same_v<Combine, replace_stored>;
/// Whether the rows of such an insertion have distinct keys: the operation says so by a member
/// type.
template <class Combine>
inline constexpr bool has_distinct_keys = requires { typename Combine::has_distinct_keys; };
/// Whether such an insertion may move a table that grows. It may if it is idempotent. It also may
/// in open addressing, where the keys that found no slot are those that are absent afterwards.
template <class Storage, class Combine>
inline constexpr bool may_move = Storage::has_tombstones || idempotent<Combine>;

}  // namespace karpos::detail
