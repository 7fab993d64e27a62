// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/arrays.hpp"
#include "karpos/detail/partition/move.hpp"
#include "karpos/detail/partition/rows.hpp"
#include "karpos/detail/partition/tuning.hpp"

// What a partition needs beside its input and its output.

namespace karpos::detail::partition {

/// Throws std::invalid_argument for no part, and for too many. One less than no offset counts as none.
inline void require_parts(std::uint64_t parts) {
  constexpr std::uint64_t max_parts = std::uint64_t(1) << 26;
  if (parts == 0 || parts == ~std::uint64_t(0))
    reject("a partition without parts", "no or one offset",
           "pass a view of one more offset than there are parts");
  if (parts > max_parts)
    reject("too many parts", std::to_string(parts) + " of at most " + std::to_string(max_parts),
           "split the parts again");
}

/// Throws std::invalid_argument where an integer of this type does not hold the largest number that so many rows make.
template <class Integer>
void require_counts(char const* what, std::uint64_t rows, std::uint64_t largest) {
  if (largest > static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()))
    reject(std::string(what) + " of a partition have too small a type",
           std::to_string(rows) + " rows", "pass a view of 64-bit integers");
}

/// The arrays of a partition, in memory of so many bytes; those that it does not need have no elements.
template <class Row>
struct arrays {
  waiting_lines<Row> waiting;
  Row* rows;  // between passes
  std::uint64_t *firsts, *begins;
  std::uint32_t* taken;
  std::uint64_t* offsets;  // of the passes before the last
  std::size_t bytes;

  template <class Plan>
  arrays(Plan const& p, std::byte* memory) {
    bool const on_cpu = !Plan::is_device, again = p.passes() > 1;
    arena a(memory);
    a.take(waiting.lines, on_cpu ? p.lines() : 0);
    a.take(waiting.at, on_cpu ? p.each_range() : 0);
    a.take(waiting.written, on_cpu ? p.each_range() : 0);
    a.take(rows, again ? p.ranges().rows : 0);
    a.take(firsts, p.has_firsts() ? p.each_range() : 0);
    a.take(begins, p.stride());
    a.take(taken, on_cpu ? 0 : p.stride());
    a.take(offsets, again ? p.stride() + 1 : 0);
    bytes = a.bytes();
  }
  /// What CPUs count in, before lines wait: in their memory.
  std::uint32_t* tables() const {
    static_assert(sizeof(line_of_rows<Row>) >= 4 * sizeof(std::uint32_t));
    return reinterpret_cast<std::uint32_t*>(waiting.lines);
  }
};

/// How a partition goes: its rows divided among teams, its parts among passes, and its memory.
template <class ExecSpace, class Row>
class plan {
  using tuned = tuning<ExecSpace>;
  /// Rows that teams without places of their own count in 32 bits.
  static constexpr std::uint64_t max_unstable_rows = ~std::uint32_t(0);

 public:
  static constexpr bool is_device = device::is_device<ExecSpace>;

  plan(ExecSpace const& exec, std::uint64_t rows, std::uint64_t parts, bool stable)
      : m_parts(parts),
        m_stable(stable || rows > max_unstable_rows) {
    std::uint64_t const teams = Kokkos::clamp(rows / tuned::min_rows_each, std::uint64_t(1),
                                              std::uint64_t(device::processors(exec)));
    m_ranges = {rows, (rows + teams - 1) / teams, static_cast<int>(teams)};
    int const first = std::countr_zero(static_cast<unsigned>(tuned::max_parts(m_stable)));
    int const later = std::countr_zero(static_cast<unsigned>(tuned::max_parts(true)));
    if (parts <= std::uint64_t(1) << first) return;
    m_bits = static_cast<int>(std::bit_width(parts - 1));
    m_passes = 1 + (m_bits - first + later - 1) / later;
    m_later_bits = Kokkos::min(later, (m_bits + m_passes - 1) / m_passes);
  }

  row_ranges const& ranges() const { return m_ranges; }
  std::uint64_t parts() const { return m_parts; }
  int passes() const { return m_passes; }
  bool stable(int pass) const { return m_stable || pass > 0; }
  /// Bits of the part that passes split by, from the lowest on.
  int shift(int pass) const { return pass == 0 ? 0 : first_bits() + (pass - 1) * m_later_bits; }
  int bits(int pass) const { return pass == 0 ? first_bits() : m_later_bits; }
  /// Parts of a pass.
  std::uint64_t parts_of(int pass) const {
    return m_passes == 1 ? m_parts : std::uint64_t(1) << bits(pass);
  }
  /// Of the arrays with an element for each range and part, from range to range: no two share a line.
  std::uint64_t stride() const {
    std::uint64_t const parts = Kokkos::max(parts_of(0), parts_of(m_passes - 1));
    return (parts + 15) / 16 * 16;
  }
  /// Whether ranges have places of their own.
  bool has_firsts() const { return !is_device || stable(m_passes - 1); }
  /// Elements of the arrays with one for each range and part.
  std::uint64_t each_range() const { return static_cast<std::uint64_t>(m_ranges.count) * stride(); }
  /// Lines that wait on CPUs: one of each range and part, and the spare ones of each range.
  std::uint64_t lines() const {
    return each_range() + static_cast<std::uint64_t>(m_ranges.count) * tuned::batch_rows;
  }
  std::size_t bytes() const { return arrays<Row>(*this, nullptr).bytes; }

 private:
  int first_bits() const { return m_bits - (m_passes - 1) * m_later_bits; }

  row_ranges m_ranges;
  std::uint64_t m_parts;
  bool m_stable;
  int m_bits = 0, m_passes = 1, m_later_bits = 0;
};

}  // namespace karpos::detail::partition
