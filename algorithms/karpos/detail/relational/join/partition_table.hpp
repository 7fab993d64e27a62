// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/relational/join/split_rows.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/space.hpp"
#include "karpos/device/team.hpp"
#include "karpos/key_value.hpp"

// The right rows of a partition in a team's scratch, sorted by bucket:
//
//   begins    | 0 | 0 | 2 | 2 | 3 |      of a bucket's entries; they end where the next begin
//   entries   | a | b | c |
//
// An entry of a partition_table is one integer: the low bits of the row's word (split_rows.hpp),
// and the row's number. A materialised_table has the rows themselves, so that random reads of right
// rows go to scratch only. GPUs use it for wide rows (split_rows.hpp), and for rows with payload
// columns.

namespace karpos::detail::join {

/// A row with its number, as a thread holds it. at(from, i, all) loads from[i]. `all` is the first
/// row of all partitions: rows that store no number are numbered by their index from there.
template <class Row>
struct numbered_row {
  using type = Row;
  KOKKOS_FORCEINLINE_FUNCTION static Row at(Row const* from, std::uint32_t i, Row const*) {
    return from[i];
  }
};

/// Reads `Each` rows of an array: the row at `first`, and further ones in steps of `step`. Calls
/// f(row, its index) for rows below `last`. IsFull: all of them are below.
template <int Each, bool IsFull, class Rows, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_rows_of_thread(Rows const& rows, std::uint32_t first,
                                                    std::uint32_t last, std::uint32_t step,
                                                    F const& f) {
  auto const is_valid = [&](int j) {
    return IsFull || first + static_cast<std::uint32_t>(j) * step < last;
  };
  auto const from = rows + first;
  std::remove_cvref_t<decltype(from[first])> r[Each];
  KARPOS_UNROLL
  for (int j = 0; j < Each; ++j)
    if (is_valid(j)) r[j] = from[static_cast<std::uint32_t>(j) * step];
  KARPOS_UNROLL
  for (int j = 0; j < Each; ++j)
    if (is_valid(j)) f(r[j], first + static_cast<std::uint32_t>(j) * step);
}
/// Calls f(row, its index) for the rows of an array, divided among the threads of a team. A thread
/// reads several rows before it calls f.
template <int Each, class Team, class Rows, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_rows_of_team(Team const& t, Rows const& rows, std::uint32_t n,
                                                  F const& f) {
  std::uint32_t const rank = device::rank(t), size = device::size(t);
  std::uint32_t const whole = n / (Each * size) * (Each * size);
  for (std::uint32_t i = 0; i < whole; i += Each * size)
    join::for_rows_of_thread<Each, true>(rows, i + rank, n, size, f);
  join::for_rows_of_thread<Each, false>(rows, whole + rank, n, size, f);
}

/// 16-bit counters in scratch, which are read and summed several at a time.
class scratch_counters {
 public:
  static constexpr std::uint32_t group = 8;

  KOKKOS_FUNCTION explicit scratch_counters(std::byte* memory)
      : m_groups(reinterpret_cast<counters*>(memory)),
        m_counts(reinterpret_cast<std::uint16_t*>(memory)) {}

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void clear(Team const& t, std::uint32_t n) const {
    std::uint32_t const size = device::size(t);
    for (std::uint32_t i = device::rank(t); i < n / group; i += size) m_groups[i] = counters{};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator[](std::uint32_t i) const {
    return m_counts[i];
  }
  KOKKOS_FORCEINLINE_FUNCTION void increment(std::uint32_t i) const {
    KOKKOS_IF_ON_DEVICE((device::add(device::scratch(word_of(i)), one_of(i));))
    KOKKOS_IF_ON_HOST((++m_counts[i];))
  }
  /// Subtracts one from a counter that is not 0. Returns the difference.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t decrement(std::uint32_t i) const {
    std::uint32_t count = 0;
    KOKKOS_IF_ON_DEVICE(
        (count =
             (device::fetch_add(device::scratch(word_of(i)), 0u - one_of(i)) >> shift_of(i)) - 1;))
    KOKKOS_IF_ON_HOST((count = --m_counts[i];))
    return count & 0xffff;
  }
  /// Turns counters into inclusive prefix sums, and counter n into the total. Ends with a barrier.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void inclusive_scan(Team const& t, std::uint32_t n) const {
    std::uint32_t const size = device::size(t);
    std::uint32_t const groups = n / group, each = (groups + size - 1) / size;
    std::uint32_t const first = Kokkos::min(device::rank(t) * each, groups);
    std::uint32_t const last = Kokkos::min(first + each, groups);
    std::uint32_t mine = 0;
    for (std::uint32_t g = first; g < last; ++g) {
      counters const c = m_groups[g];
      KARPOS_UNROLL
      for (std::uint32_t k = 0; k < group; ++k) mine += c.of[k];
    }
    std::uint64_t total = 0;
    auto sum = static_cast<std::uint32_t>(t.prefix_sum(mine, total));
    if (t.rank() == 0) m_groups[groups].of[0] = static_cast<std::uint16_t>(total);
    for (std::uint32_t g = first; g < last; ++g) {
      counters c = m_groups[g];
      KARPOS_UNROLL
      for (std::uint32_t k = 0; k < group; ++k) {
        sum += c.of[k];
        c.of[k] = static_cast<std::uint16_t>(sum);
      }
      m_groups[g] = c;
    }
    t.barrier();
  }

 private:
  struct alignas(16) counters {
    std::uint16_t of[group];
  };
  // GPUs add to 32-bit words only. The first counter of a word is in its lower half.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t* word_of(std::uint32_t i) const {
    return reinterpret_cast<std::uint32_t*>(m_groups) + i / 2;
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t shift_of(std::uint32_t i) { return i % 2 * 16; }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t one_of(std::uint32_t i) {
    return std::uint32_t(1) << shift_of(i);
  }

  counters* m_groups;
  std::uint16_t* m_counts;  // the same memory, counter by counter
};

/// Bounds of a bucket's entries, in one register.
struct bucket_range {
  std::uint32_t bounds;
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t begin() const { return bounds & 0xffff; }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t end() const { return bounds >> 16; }
};

/// A table of entries by bucket. Bits: the layout of a word, with bucket(word) below Buckets.
template <class ExecSpace, class Entry, std::uint32_t Buckets, class Bits>
class bucket_table {
  static constexpr std::size_t begin_bytes =
      (Buckets + scratch_counters::group) * sizeof(std::uint16_t);

 public:
  static constexpr std::size_t bytes = tuning<ExecSpace>::table_bytes;
  /// Maximum of entries; bounds of buckets have 16 bits.
  static constexpr std::uint32_t capacity =
      static_cast<std::uint32_t>((bytes - begin_bytes) / sizeof(Entry));
  static_assert(capacity < 1 << 16 && Buckets % scratch_counters::group == 0);
  using bits = Bits;
  using range = bucket_range;

  KOKKOS_FUNCTION bucket_table(std::byte* memory, Bits const& b)
      : m_begins(memory),
        m_entries(reinterpret_cast<Entry*>(memory + begin_bytes)),
        m_bits(b) {}

  /// Fills the table with entry_of(row, its index) of n rows. `keys`: the same rows, or their words
  /// alone. A thread reads CountEach keys at once, and PlaceEach rows. Ends with a barrier.
  template <int CountEach, int PlaceEach, class Team, class Keys, class Rows, class EntryOf>
  KOKKOS_FORCEINLINE_FUNCTION void fill(Team const& t, std::uint32_t n, Keys const& keys,
                                        Rows const& rows, EntryOf const& entry_of) const {
    m_begins.clear(t, Buckets);
    t.barrier();
    join::for_rows_of_team<CountEach>(t, keys, n, [&](auto const& r, std::uint32_t) {
      m_begins.increment(m_bits.bucket(r.key));
    });
    t.barrier();
    m_begins.inclusive_scan(t, Buckets);
    join::for_rows_of_team<PlaceEach>(t, rows, n, [&](auto const& r, std::uint32_t i) {
      m_entries[m_begins.decrement(m_bits.bucket(r.key))] = entry_of(r, i);
    });
    t.barrier();
  }
  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION range bucket_of(Word w) const {
    std::uint32_t const b = m_bits.bucket(w);
    return {m_begins[b] | m_begins[b + 1] << 16};
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry const* entries() const { return m_entries; }
  KOKKOS_FORCEINLINE_FUNCTION Bits const& layout() const { return m_bits; }

 private:
  scratch_counters m_begins;
  Entry* m_entries;
  Bits m_bits;
};

/// The number of buckets of a partition_table: at least the mean of a partition's rows.
template <class ExecSpace, class Word>
inline constexpr std::uint32_t buckets_of_words = std::bit_floor(static_cast<std::uint32_t>(
    tuning<ExecSpace>::table_bytes / (sizeof(Word) + sizeof(std::uint16_t))));
template <class ExecSpace, class Word>
using word_table =
    bucket_table<ExecSpace, Word, buckets_of_words<ExecSpace, Word>,
                 word_bits<Word, std::countr_zero(buckets_of_words<ExecSpace, Word>)>>;

/// A hash table of a partition's right rows, by their words. Entries have the numbers of rows; of
/// wide rows, their index in the partition.
template <class ExecSpace, class Row>
class partition_table : public word_table<ExecSpace, decltype(Row::key)> {
  using Word = decltype(Row::key);
  using table = word_table<ExecSpace, Word>;
  static constexpr std::uint32_t buckets = buckets_of_words<ExecSpace, Word>;

 public:
  /// Whether a partition's rows may be put into the table piece by piece.
  static constexpr bool fills_in_pieces = false;
  static constexpr std::size_t row_bytes = sizeof(Row);
  /// Maximum mean of a partition's rows: word_bits allows it, and longer partitions have space.
  static constexpr std::uint64_t mean =
      Kokkos::min(std::uint64_t(buckets),
                  std::uint64_t(table::capacity) * tuning<ExecSpace>::mean_percent / 100);
  static_assert(2 * mean >= buckets, "partitions and buckets would take more bits than a word has");
  /// Minimum of a partition's bits. With those of the bucket they hold the index of any row in it.
  static constexpr int min_partition_bits = Kokkos::max(
      static_cast<int>(std::bit_width(std::uint64_t(table::capacity))) - std::countr_zero(buckets),
      1);

  KOKKOS_FUNCTION partition_table(std::byte* memory, typename table::bits const& b, Row const* rows)
      : table(memory, b),
        m_rows(rows) {}

  /// Fills the table with the first n rows. Ends with a barrier.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void fill(Team const& t, std::uint32_t n) const {
    constexpr int each = Kokkos::min(tuning<ExecSpace>::batch(sizeof(Row)), 8);
    table::template fill<each, each>(t, n, m_rows, m_rows, [&](Row const& r, std::uint32_t i) {
      return this->layout().entry(r.key, number(r, i));
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION Row const* rows() const { return m_rows; }
  /// Returns whether entry e has this word. If so, `row` is its number.
  KOKKOS_FORCEINLINE_FUNCTION bool match_word(std::uint32_t e, Word w, std::uint32_t& row) const {
    return this->layout().match_word(this->entries()[e], w, row);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t number(Row const& r, std::uint32_t i) {
    if constexpr (is_wide<Row>)
      return i;
    else
      return r.value;
  }

  Row const* m_rows;
};

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

/// The table of a partition of wide rows (split_rows.hpp).
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
