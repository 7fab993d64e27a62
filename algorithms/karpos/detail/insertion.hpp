// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "karpos/detail/bulk_arguments.hpp"
#include "karpos/detail/probe.hpp"
#include "karpos/detail/slot_protocol.hpp"
#include "karpos/detail/slots_used.hpp"

// What a bulk insertion is given.

namespace karpos::detail {

/// The rows of a bulk insertion, and how values are merged; `what` is for labels.
template <class Keys, class Values, class Combine, class Stencil>
struct insertion {
  using keys_type = Keys;
  using values_type = Values;
  using combine_type = Combine;
  using stencil_type = Stencil;
  static constexpr bool takes_every_key = std::is_same_v<Stencil, everything>;

  char const* what;
  Keys keys;
  Values values;
  Combine combine;
  Stencil stencil;

  std::uint64_t size() const { return keys.extent(0); }
  /// Rows [first, last).
  insertion part(std::uint64_t first, std::uint64_t last) const {
    return {what, part_of(keys, first, last), part_of(values, first, last), combine,
            part_of(stencil, first, last)};
  }
  /// The rows whose keys are not in a table.
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

/// Whether an insertion that is done twice for a key leaves what it leaves when it is done once.
template <class Combine>
inline constexpr bool repeatable =
    std::is_same_v<Combine, keep_stored> || std::is_same_v<Combine, take_new>;
/// Whether no two rows of such an insertion have equal keys, as the operation itself says.
template <class Combine>
inline constexpr bool of_different_keys = requires { typename Combine::of_different_keys; };
/// Whether such an insertion may move a table that grows: the keys that found no place are known then.
template <class Storage, class Combine>
inline constexpr bool may_move = has_tombstones<Storage> || repeatable<Combine>;

}  // namespace karpos::detail
