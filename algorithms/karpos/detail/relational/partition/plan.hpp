// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/move.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"

// The memory that a partition needs beside its input and output, and how it divides the work.

namespace karpos::detail::partition {

/// Throws std::invalid_argument if there are no partitions or more than 2^26. An empty view of
/// offsets gives 2^64 - 1 of them, and is rejected as no partition.
inline void require_partitions(std::uint64_t partitions) {
  constexpr std::uint64_t max_partitions = std::uint64_t(1) << 26;
  if (partitions == 0) reject("a split into no partitions", "0", "ask for at least one");
  if (partitions > max_partitions)
    reject("too many partitions",
           std::to_string(partitions) + " of at most " + std::to_string(max_partitions),
           "split the partitions again");
}

/// The arrays of a partition, in one allocation of `bytes`; empty if the plan does not need them.
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
    a.allocate(waiting.lines, on_cpu ? p.lines() : 0);
    a.allocate(waiting.at, on_cpu ? p.each_range() : 0);
    a.allocate(waiting.written, on_cpu ? p.each_range() : 0);
    a.allocate(rows, again ? p.ranges().rows : 0);
    a.allocate(firsts, p.has_firsts() ? p.each_range() : 0);
    a.allocate(begins, p.stride());
    a.allocate(taken, on_cpu ? 0 : p.stride());
    a.allocate(offsets, again ? p.stride() + 1 : 0);
    bytes = a.bytes();
  }
  /// Returns the counters of CPUs, in the memory of lines that are buffered after the count.
  std::uint32_t* tables() const {
    static_assert(sizeof(line_of_rows<Row>) >= 4 * sizeof(std::uint32_t));
    return reinterpret_cast<std::uint32_t*>(waiting.lines);
  }
};

/// The plan of a partition: how teams share rows and passes share partitions, and its memory.
template <class ExecSpace, class Row>
class plan {
  using tuned = tuning<ExecSpace>;
  /// Maximum of rows for an unstable partition: teams without `firsts` count in 32 bits.
  static constexpr std::uint64_t max_unstable_rows = ~std::uint32_t(0);

 public:
  static constexpr bool is_device = device::is_device<ExecSpace>;

  plan(ExecSpace const& exec, std::uint64_t rows, std::uint64_t partitions, bool stable)
      : m_partitions(partitions),
        m_stable(stable || rows > max_unstable_rows) {
    std::uint64_t const teams = Kokkos::clamp(rows / tuned::min_rows_each, std::uint64_t(1),
                                              std::uint64_t(device::processors(exec)));
    m_ranges = {rows, (rows + teams - 1) / teams, static_cast<int>(teams)};
    int const first = std::countr_zero(static_cast<unsigned>(tuned::max_partitions(m_stable)));
    int const later = std::countr_zero(static_cast<unsigned>(tuned::max_partitions(true)));
    if (partitions <= std::uint64_t(1) << first) return;
    m_bits = static_cast<int>(std::bit_width(partitions - 1));
    m_passes = 1 + (m_bits - first + later - 1) / later;
    m_later_bits = Kokkos::min(later, (m_bits + m_passes - 1) / m_passes);
  }

  row_ranges const& ranges() const { return m_ranges; }
  std::uint64_t partitions() const { return m_partitions; }
  int passes() const { return m_passes; }
  bool stable(int pass) const { return m_stable || pass > 0; }
  /// Pass k splits by bits(k) bits of the partition number, from bit shift(k) on. Pass 0 is lowest.
  int shift(int pass) const { return pass == 0 ? 0 : first_bits() + (pass - 1) * m_later_bits; }
  int bits(int pass) const { return pass == 0 ? first_bits() : m_later_bits; }
  /// Returns the number of partitions that a pass splits into.
  std::uint64_t partitions_of(int pass) const {
    return m_passes == 1 ? m_partitions : std::uint64_t(1) << bits(pass);
  }
  /// Returns the distance between ranges in arrays with an element per range and partition: a
  /// multiple of 16, so that no two ranges share a cache line.
  std::uint64_t stride() const {
    std::uint64_t const partitions = Kokkos::max(partitions_of(0), partitions_of(m_passes - 1));
    return (partitions + 15) / 16 * 16;
  }
  /// Whether each range has its own position in every partition (`firsts`).
  bool has_firsts() const { return !is_device || stable(m_passes - 1); }
  /// Returns the length of arrays with an element per range and partition.
  std::uint64_t each_range() const { return static_cast<std::uint64_t>(m_ranges.count) * stride(); }
  /// Returns the number of buffered lines on CPUs: per range, one per partition and spare ones.
  std::uint64_t lines() const {
    return each_range() + static_cast<std::uint64_t>(m_ranges.count) * tuned::batch_rows;
  }
  std::size_t bytes() const { return arrays<Row>(*this, nullptr).bytes; }

 private:
  int first_bits() const { return m_bits - (m_passes - 1) * m_later_bits; }

  row_ranges m_ranges;
  std::uint64_t m_partitions;
  bool m_stable;
  int m_bits = 0, m_passes = 1, m_later_bits = 0;
};

}  // namespace karpos::detail::partition
