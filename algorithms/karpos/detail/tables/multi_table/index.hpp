// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/tables/multi_table/blocks.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"
#include "karpos/hash_map.hpp"

// The table of a map or set whose keys may be stored several times: from a key to its head or count
// (blocks.hpp).

namespace karpos::detail::multi_table {

/// Stores heads of keys in the elements of an output. Not in a type with padding, whose bits an
/// assignment may leave out.
template <class Result, class Number>
struct in_place {
  static constexpr bool fits =
      (sizeof(Result) == 4 || sizeof(Result) == 8) && sizeof(Result) >= sizeof(Number) &&
      (std::has_unique_object_representations_v<Result> || std::is_floating_point_v<Result>);
  using bits = std::conditional_t<sizeof(Result) == 4, std::uint32_t, std::uint64_t>;
  static constexpr Number none = static_cast<Number>(~Number(0));  // no table has this head

  KOKKOS_FUNCTION Result operator()(found<Number> const& head) const {
    return from_bits<Result>(static_cast<bits>(head.value_or(none)));
  }
  KOKKOS_FUNCTION static found<Number> read(Result const& element) {
    auto const head = static_cast<Number>(to_bits<bits>(element));
    return {head != none, head};
  }
};
/// Turns a block of heads into answers, by one thread, which prefetches within the block.
template <class Out, class Number, class Write>
struct answer_in_place {
  static constexpr std::uint64_t block = 4096;
  std::uint64_t count;
  Out out;
  in_place<typename std::remove_cvref_t<Out>::value_type, Number> heads;
  Write write;
  KOKKOS_FUNCTION void operator()(std::uint64_t b) const {
    std::uint64_t const end = Kokkos::min((b + 1) * block, count);
    for (std::uint64_t i = b * block; i < end; ++i) {
      if (i + rows_ahead < end) write.fetch(heads.read(out(i + rows_ahead)));
      out(i) = write(heads.read(out(i)));
    }
  }
};

/// A hash_map whose lookups turn the head that they find into an answer.
template <class Map>
class index : public Map {
 public:
  using Map::Map;

  /// Writes write(the head found) to out(i), as bulk lookups of a map do. Asynchronous. CPUs do so
  /// in two steps if an element of the output can hold a head: a lookup that waits for other memory
  /// than the table's delays the lookups in flight (one thread, 2^22 queries of 2^16 keys: 4 M
  /// counts/s in one step, 13 in two).
  template <class Queries, class Out, class Write>
  void look_up(char const* label, typename Map::execution_space const& exec, Queries const& queries,
               Out const& out, Write const& write, bulk_options const& bulk) const {
    this->require_memory();
    using result = typename Out::value_type;
    using mapped = typename Map::mapped_type;
    if constexpr (!device::is_device<typename Map::execution_space> &&
                  in_place<result, mapped>::fits) {
      in_place<result, mapped> const heads{};
      Map::look_up(exec, label, queries, out, heads, everything{}, bulk);
      using space = typename Map::execution_space;
      using body = answer_in_place<device::held_by_loop<space, Out>, mapped,
                                   device::held_by_loop<space, Write>>;
      device::loop_over(
          label, exec, (out.extent(0) + body::block - 1) / body::block,
          body{out.extent(0), device::for_loop<space>(out), heads, device::for_loop<space>(write)});
    } else {
      Map::look_up(exec, label, queries, out, write, everything{}, bulk);
    }
  }
  template <class Result, class Queries>
  std::size_t result_bytes(typename Map::execution_space const& exec, Queries const& queries,
                           bulk_strategy strategy) const {
    return this->template lookup_bytes_for<Result>(exec, queries, strategy);
  }
  auto table() const { return this->m_storage.ref(); }
  auto hash_function() const { return this->m_storage.settings().hash; }
  auto key_equality() const { return this->m_storage.settings().equal; }
  using Map::require_memory;
};

/// The keys in the slots of a table, and the head of each key's chain of blocks. Holds none of the
/// user's functions, so that its copies are trivial. Requires: the slots are contiguous.
template <class Table, class Blocks>
struct keys_of_slots {
  using layout = typename Table::layout;
  using key_type = typename Table::key_type;
  using mapped = typename Blocks::mapped;
  typename Table::word* slots;
  typename Table::protocol protocol;

  explicit keys_of_slots(Table const& table) : slots(table.slot_at(0)), protocol(table.slot()) {}

  KOKKOS_FUNCTION mapped head(std::uint64_t i) const {
    return protocol.live(slots[i]) ? layout::value_of(slots[i]) : Blocks::none;
  }
  KOKKOS_FUNCTION key_type key(std::uint64_t i) const {
    return from_bits<key_type>(layout::key_of(slots[i]));
  }
  /// Replaces the head in a live slot.
  KOKKOS_FUNCTION void set_head(std::uint64_t i, mapped head) const {
    slots[i] = layout::pack(layout::key_of(slots[i]), layout::bits_of(head));
  }
};

/// The numbers of queries, which stand for keys.
struct query_numbers {
  KOKKOS_FUNCTION static std::uint64_t key(std::uint64_t query) { return query; }
};
template <class Blocks>
struct heads_of_queries {
  typename Blocks::mapped const* heads;
  KOKKOS_FUNCTION typename Blocks::mapped head(std::uint64_t i) const { return heads[i]; }
};

// Answers that lookups write.
template <class Blocks, class Count>
struct count_of {
  Blocks blocks;
  KOKKOS_FUNCTION void fetch(found<typename Blocks::mapped> const& head) const {
    if (head) blocks.fetch_link(*head);
  }
  KOKKOS_FUNCTION Count operator()(found<typename Blocks::mapped> const& head) const {
    return head ? static_cast<Count>(blocks.count(*head)) : Count(0);
  }
};
template <class Blocks, class T>
struct any_of {
  Blocks blocks;
  T missing;
  KOKKOS_FUNCTION void fetch(found<typename Blocks::mapped> const& head) const {
    if (head) blocks.fetch_values(*head);
  }
  KOKKOS_FUNCTION T operator()(found<typename Blocks::mapped> const& head) const {
    return head ? blocks.any(*head) : missing;
  }
};

}  // namespace karpos::detail::multi_table
