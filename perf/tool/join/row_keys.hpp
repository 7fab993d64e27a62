// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "karpos/row_index.hpp"
#include "karpos/rows.hpp"
#include "perf/measure/support/on_device.hpp"
#include "perf/tool/count/exact_number.hpp"
#include "perf/tool/join/text_table.hpp"

// Keys of one or several columns of text files, as rows that the library joins. Each field is
// stored as a word:
//
// - the integer, if the column has only integers in all tables;
// - else the number of its value among the distinct values, which are compared as numbers if all
//   fields are numbers, and as texts if not;
// - null_word, if the field is empty.

namespace karpos::perf {

/// The word of an empty field. No key has this integer.
inline constexpr std::uint64_t null_word = std::uint64_t(1) << 63;

struct hash_of_words {
  using is_avalanching = std::true_type;
  std::uint64_t const* words;
  std::uint64_t width;

  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t row) const {
    std::uint64_t h = width;
    for (std::uint64_t c = 0; c < width; ++c) h = mix(h ^ words[row * width + c]);
    return h;
  }
};
struct equality_of_words {
  std::uint64_t const* words;
  std::uint64_t width;

  KOKKOS_FUNCTION bool operator()(std::uint64_t a, std::uint64_t b) const {
    bool same = true;
    for (std::uint64_t c = 0; c < width; ++c) same &= words[a * width + c] == words[b * width + c];
    return same;
  }
};

/// The words of the keys of one or two tables. The rows of the second table follow those of the
/// first.
class row_keys {
  using numbered_rows = decltype(rows(nullable(array<std::uint64_t>(), array<bool>())));

 public:
  using rows_type =
      decltype(std::declval<numbered_rows>().with_functions(hash_of_words{}, equality_of_words{}));
  using index_type = row_index<rows_type, space>;

  /// Reads the first `columns` keys of the tables. `text`: compare numbers as texts, too.
  row_keys(space const& exec, std::vector<text_table const*> const& tables, std::size_t columns,
           bool text);

  /// Returns the rows of a table. If `nulls` are unequal, a row with an empty field is null;
  /// otherwise no row is null.
  rows_type rows_of(std::size_t table, null_equality nulls) const;
  /// Returns the words of all rows, row by row. With one column, words are equal exactly if the
  /// rows are.
  std::vector<std::uint64_t> const& words() const { return m_host_words; }
  std::uint64_t columns() const { return m_width; }
  /// Returns the numbers of all rows, from 0.
  array<std::uint64_t const> numbers() const { return m_numbers; }
  /// Returns how the fields of each key are compared.
  std::vector<comparison> const& compared() const { return m_compared; }
  /// Returns the number of a table's rows with an empty field.
  std::uint64_t nulls(std::size_t table) const { return m_nulls[table]; }

  /// Returns the bytes for `rows` rows of `columns` columns.
  static double bytes_for(double rows, std::size_t columns) {
    return rows * (8.0 * static_cast<double>(columns) + sizeof(std::uint64_t) + sizeof(bool));
  }

 private:
  void encode_column(std::size_t key, std::vector<text_table const*> const& tables, bool text);
  bool encode_integers(std::size_t key, std::vector<std::string_view> const& fields);
  comparison encode_words(std::size_t key, std::vector<std::string_view> const& fields, bool text);

  space m_exec;
  std::vector<std::uint64_t> m_host_words;  // row by row
  array<std::uint64_t const> m_words;
  std::uint64_t m_width;
  std::vector<comparison> m_compared;
  std::vector<std::uint64_t> m_begins, m_nulls;  // by table
  array<std::uint64_t> m_numbers;
  array<bool> m_valid;
};

}  // namespace karpos::perf
