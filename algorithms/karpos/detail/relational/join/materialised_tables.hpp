// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/relational/join/partition_table.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/detail/relational/join/wide_rows.hpp"
#include "karpos/device/space.hpp"
#include "karpos/key_value.hpp"

// The right rows of a partition in a team's scratch, materialised: random reads of right rows go to
// scratch only. For rows that an entry of a word cannot identify (partition_table.hpp), and for
// rows with payload columns. An entry is a key with the rest of the row.

namespace karpos::detail::join {

/// Layout of a word: the first partition_bits bits are its partition, the next ones its bucket.
template <class Word, std::uint32_t Buckets>
struct bucket_bits {
  int partition_bits;
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t bucket(Word w) const {
    auto const rest = static_cast<std::uint32_t>(w << partition_bits >> (8 * sizeof(Word) - 32));
    return static_cast<std::uint32_t>(std::uint64_t(rest) * Buckets >> 32);
  }
};
/// The number of buckets: three quarters of the number of entries.
template <class ExecSpace, class Entry>
inline constexpr std::uint32_t buckets_of_entries = static_cast<std::uint32_t>(
    tuning<ExecSpace>::table_bytes / (4 * sizeof(Entry) + 3 * sizeof(std::uint16_t)) * 3 /
    scratch_counters::group * scratch_counters::group);
/// A hash table of entries, by the words of their keys.
template <class ExecSpace, class Word, class Entry>
using materialised_table = bucket_table<ExecSpace, Entry, buckets_of_entries<ExecSpace, Entry>,
                                        bucket_bits<Word, buckets_of_entries<ExecSpace, Entry>>>;

/// The table of a partition of wide rows (wide_rows.hpp).
template <class ExecSpace>
class wide_table : public materialised_table<ExecSpace, std::uint32_t, wide_row> {
  using table = materialised_table<ExecSpace, std::uint32_t, wide_row>;

 public:
  static constexpr bool fills_in_pieces = false;
  static constexpr std::uint64_t mean =
      std::uint64_t(table::capacity) * tuning<ExecSpace>::mean_percent / 100;
  static constexpr int min_partition_bits = 1;
  static constexpr std::size_t row_bytes = sizeof(wide_row);

  KOKKOS_FUNCTION wide_table(std::byte* memory, typename table::bits const& b, wide_row const* rows)
      : table(memory, b),
        m_rows(rows) {}
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void fill(Team const& t, std::uint32_t n) const {
    table::template fill<8, 4>(t, n, m_rows, m_rows,
                               [](wide_row const& r, std::uint32_t) { return r; });
  }
  /// Returns the rows that match_word numbers.
  KOKKOS_FORCEINLINE_FUNCTION wide_row const* rows() const { return this->entries(); }
  KOKKOS_FORCEINLINE_FUNCTION bool match_word(std::uint32_t e, std::uint32_t w,
                                              std::uint32_t& row) const {
    row = e;
    return this->entries()[e].key == w;
  }

 private:
  wide_row const* m_rows;
};

/// The table of a partition of such rows. CPUs use a partition_table for wide rows, too: they read
/// the rows from their second-level cache as fast as from a table beside it.
template <class ExecSpace, class Row>
using table_of_partition =
    std::conditional_t<is_wide<Row> && device::is_device<ExecSpace>, wide_table<ExecSpace>,
                       partition_table<ExecSpace, Row>>;

/// A row that is a word alone. Its number is its index among all rows.
template <class Word>
struct key_only_row {
  Word key;
};
template <class Word>
struct numbered_row<key_only_row<Word>> {
  using type = key_value<Word, std::uint32_t>;
  KOKKOS_FORCEINLINE_FUNCTION static type at(key_only_row<Word> const* from, std::uint32_t i,
                                             key_only_row<Word> const* all) {
    return {from[i].key, static_cast<std::uint32_t>(from - all) + i};
  }
};

/// A key with its payload, in words: no padding, so that scratch holds as many as possible.
template <class Word, class Values>
struct payload_entry {
  static constexpr int key_words = sizeof(Word) / 4, value_words = sizeof(Values) / 4;
  std::uint32_t word[key_words + value_words];

  KOKKOS_FORCEINLINE_FUNCTION static payload_entry of(Word key, Values const& v) {
    payload_entry e;
    e.word[0] = static_cast<std::uint32_t>(key);
    if constexpr (key_words == 2) e.word[1] = static_cast<std::uint32_t>(std::uint64_t(key) >> 32);
    KARPOS_UNROLL
    for (int k = 0; k < value_words; ++k) e.word[key_words + k] = v.word[k];
    return e;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has(Word key) const {
    bool is_equal = word[0] == static_cast<std::uint32_t>(key);
    if constexpr (key_words == 2)
      is_equal &= word[1] == static_cast<std::uint32_t>(std::uint64_t(key) >> 32);
    return is_equal;
  }
  KOKKOS_FORCEINLINE_FUNCTION Values values() const {
    Values v;
    KARPOS_UNROLL
    for (int k = 0; k < value_words; ++k) v.word[k] = word[key_words + k];
    return v;
  }
};

/// The table of a partition of rows with payload columns.
template <class ExecSpace, class Word, class Values>
class payload_table : public materialised_table<ExecSpace, Word, payload_entry<Word, Values>> {
  using key_row = key_only_row<Word>;
  using entry = payload_entry<Word, Values>;
  using table = materialised_table<ExecSpace, Word, entry>;

 public:
  /// A partition may have any number of rows: `capacity` of them are in the table at once.
  static constexpr bool fills_in_pieces = true;
  static constexpr std::size_t row_bytes = sizeof(entry);
  /// Mean of a partition's rows. If keys are distinct, hardly a partition exceeds the table.
  static constexpr std::uint64_t mean = std::uint64_t(table::capacity) * 96 / 100;
  static constexpr int min_partition_bits = 1;
  /// The layout of words, and where the keys and values of all partitions lie.
  struct bits {
    int partition_bits;
    key_row const* keys;
    Values const* values;
  };

  KOKKOS_FUNCTION payload_table(std::byte* memory, bits const& b, key_row const* rows)
      : table(memory, {b.partition_bits}),
        m_rows{rows, b.values + (rows - b.keys)} {}
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void fill(Team const& t, std::uint32_t n) const {
    table::template fill<8, 4>(t, n, m_rows.keys, m_rows, [](payload_row const& r, std::uint32_t) {
      return entry::of(r.key, r.values);
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION key_row const* rows() const { return m_rows.keys; }
  /// Returns whether entry e has this word. If so, `row` is e.
  KOKKOS_FORCEINLINE_FUNCTION bool match_word(std::uint32_t e, Word w, std::uint32_t& row) const {
    row = e;
    return this->entries()[e].has(w);
  }
  KOKKOS_FORCEINLINE_FUNCTION Values values(std::uint32_t e) const {
    return this->entries()[e].values();
  }

 private:
  struct payload_row {
    Word key;
    Values values;
  };
  /// Keys and values, read as one array of rows.
  struct rows_of_partition {
    key_row const* keys;
    Values const* values;
    KOKKOS_FORCEINLINE_FUNCTION rows_of_partition operator+(std::uint32_t i) const {
      return {keys + i, values + i};
    }
    KOKKOS_FORCEINLINE_FUNCTION payload_row operator[](std::uint32_t i) const {
      return {keys[i].key, values[i]};
    }
  };

  rows_of_partition m_rows;
};

}  // namespace karpos::detail::join
