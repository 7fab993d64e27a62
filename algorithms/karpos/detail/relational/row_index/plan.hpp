// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/prefix_sums.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/partition/plan.hpp"
#include "karpos/detail/relational/row_index/tuning.hpp"
#include "karpos/key_value.hpp"
#include "karpos/table_options.hpp"

// The arrays that an index of rows keeps, and those that its build needs besides.

namespace karpos::detail::row_index {

/// Maximum of rows for numbers of this type, which also number slots: at most two a row.
template <class RowNumber>
inline constexpr std::uint64_t max_rows =
    sizeof(RowNumber) == 4 ? (std::uint64_t(1) << 31) - 8 : (std::uint64_t(1) << 40) - 8;

template <class RowNumber>
void require_row_numbers(std::uint64_t rows) {
  if (rows > max_rows<RowNumber>)
    reject("row numbers of an index have too small a type",
           std::to_string(rows) + " rows of at most " + std::to_string(max_rows<RowNumber>),
           sizeof(RowNumber) == 4 ? "make it with RowNumber = std::uint64_t"
                                  : "index some of the rows");
}

/// Returns the number of slots for `rows` rows, more than rows: a multiple of a cache line.
template <class ExecSpace>
constexpr std::uint64_t slots_for(std::uint64_t rows) {
  return (rows * tuning<ExecSpace>::slots_of_8_rows / 8 + 1 + 7) / 8 * 8;
}

/// The arrays that an index keeps: slots, and groups if rows repeat. Without runs there are no
/// begins. While rows are sorted, begins and grouped are one array of pairs.
template <class ExecSpace, class RowNumber>
struct arrays {
  std::uint64_t* slots;
  RowNumber* group_of = nullptr;  // of each row
  RowNumber* begins = nullptr;    // of the run of each group; the last one: end of the last run
  RowNumber* grouped = nullptr;   // row numbers, group by group
  std::size_t slot_bytes, bytes;

  arrays(std::uint64_t rows, bool runs, std::byte* of_slots = nullptr) {
    arena a(of_slots);
    a.allocate(slots, slots_for<ExecSpace>(rows));
    slot_bytes = a.bytes();
    bytes = slot_bytes + place_groups(rows, runs, nullptr);
  }
  /// Places the groups in memory. Returns their bytes.
  std::size_t place_groups(std::uint64_t rows, bool runs, std::byte* memory) {
    arena a(memory);
    a.allocate(group_of, rows);
    a.allocate(begins, runs ? rows + 1 : 0);
    a.allocate(grouped, rows);
    return a.bytes();
  }
};

/// The arrays that a build or an insertion of `rows` rows works in. Rows are split by partitions,
/// in memory of split_bytes, before they are sorted by group. Without runs nothing is sorted; with
/// runs, first_of takes the memory of the others, and is valid if rows are not split.
template <class ExecSpace, class RowNumber>
struct build_arrays {
  using pair = key_value<RowNumber, RowNumber>;
  RowNumber* first_of;
  std::uint32_t* repeated;  // claimed_slots
  ranked_bits firsts;       // whether a row is the first of its group
  std::byte* for_split;
  std::size_t split_bytes;
  pair* sorted = nullptr;           // (group, row)
  std::uint64_t* digits = nullptr;  // where the rows of each digit begin
  std::byte* partition_workspace = nullptr;
  std::size_t bytes;

  build_arrays(ExecSpace const& exec, std::uint64_t rows, bool runs, std::size_t of_split = 0,
               std::byte* memory = nullptr)
      : split_bytes(of_split) {
    std::uint64_t const max_digits = std::uint64_t(1) << digit_bits(rows);
    arena kept(memory);
    kept.allocate(repeated, 1);
    firsts.allocate_from(kept, rows);
    if (!runs) kept.allocate(first_of, rows);
    for_split = memory == nullptr ? nullptr : memory + kept.bytes();
    arena a(for_split);
    if (runs) {
      first_of = reinterpret_cast<RowNumber*>(for_split);
      a.allocate(sorted, rows);
      a.allocate(digits, max_digits + 1);
      a.allocate(partition_workspace,
                 partition::plan<ExecSpace, pair>(exec, rows, max_digits, true).bytes());
    }
    bytes = kept.bytes() + Kokkos::max(a.bytes(), split_bytes);
  }
  /// Returns the maximum of a group id's bits that one pass splits by.
  static int digit_bits(std::uint64_t rows) {
    return Kokkos::min(tuning<ExecSpace>::digit_bits, static_cast<int>(std::bit_width(rows)));
  }
};

/// Returns the caller's memory, if given, of `bytes` bytes, or allocates own_bytes. Throws
/// std::invalid_argument if the caller's memory is too small or not aligned; allocation_error.
template <class ExecSpace>
Kokkos::View<std::byte*, typename ExecSpace::memory_space> memory_for(ExecSpace const& exec,
                                                                      wrapped_memory const& given,
                                                                      std::size_t bytes,
                                                                      std::size_t own_bytes) {
  using memory_space = typename ExecSpace::memory_space;
  if (!is_given(given))
    return allocate_byte_array<memory_space>(exec, user_call::name(), own_bytes,
                                             "groups of equal rows", "pass fewer rows");
  require_workspace("bytes_for(rows, duplicates)", given, bytes, "options.memory");
  return Kokkos::View<std::byte*, memory_space>(static_cast<std::byte*>(given.data), bytes);
}

}  // namespace karpos::detail::row_index
