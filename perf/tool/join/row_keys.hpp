// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "karpos/row_index.hpp"
#include "karpos/rows.hpp"
#include "perf/measure/support/on_device.hpp"
#include "perf/tool/count/exact_number.hpp"
#include "perf/tool/join/text_column.hpp"
#include "perf/tool/join/text_table.hpp"

// Keys of one or several columns of text files, as rows that the library joins. A field of a column
// of texts is a string, compared by its bytes. Each other field, and the text itself if texts are
// numbered, is stored as a word:
//
// - the integer, if the column has only integers in all tables;
// - else the number of its value among the distinct values, which are compared as numbers if all
//   fields are numbers, and as texts if not;
// - null_word, if the field is empty, also of a column of texts.

namespace karpos::perf {

/// The word of an empty field. No key has this integer.
inline constexpr std::uint64_t null_word = std::uint64_t(1) << 63;

/// The fields of all rows: words row by row, and the strings of columns of texts column by column.
struct key_fields {
  std::uint64_t const* words;
  std::uint64_t width, rows;
  string_ref const* texts;
  int const* text_of;  // which column of texts a column is; -1: its words decide

  KOKKOS_FUNCTION string_ref text(std::uint64_t row, std::uint64_t column) const {
    return texts[static_cast<std::uint64_t>(text_of[column]) * rows + row];
  }
};
struct hash_of_fields {
  using is_avalanching = std::true_type;
  key_fields of;

  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t row) const {
    std::uint64_t h = of.width;
    for (std::uint64_t c = 0; c < of.width; ++c)
      h = of.text_of[c] < 0 ? mix(h ^ of.words[row * of.width + c]) : of.text(row, c).hash(h);
    return h;
  }
};
struct equality_of_fields {
  key_fields of;

  KOKKOS_FUNCTION bool operator()(std::uint64_t a, std::uint64_t b) const {
    bool same = true;
    for (std::uint64_t c = 0; c < of.width && same; ++c)
      same = of.text_of[c] < 0 ? of.words[a * of.width + c] == of.words[b * of.width + c]
                               : of.text(a, c) == of.text(b, c);
    return same;
  }
};

/// How texts are compared: by their bytes, or by numbers, which words() then returns.
enum class text_keys { by_bytes, numbered };

/// The words of the keys of one or two tables. The rows of the second table follow those of the
/// first.
class row_keys {
  using numbered_rows = decltype(rows(nullable(array<std::uint64_t>(), array<bool>())));

 public:
  using rows_type = decltype(std::declval<numbered_rows>().with_functions(hash_of_fields{},
                                                                          equality_of_fields{}));
  using index_type = row_index<rows_type, space>;

  /// Reads the first `columns` keys of the tables, which must outlive this object. `text`: compare
  /// numbers as texts, too.
  row_keys(space const& exec, std::vector<text_table const*> const& tables, std::size_t columns,
           bool text, text_keys texts = text_keys::by_bytes);

  /// Returns the rows of a table. If `nulls` are unequal, a row with an empty field is null;
  /// otherwise no row is null.
  rows_type rows_of(std::size_t table, null_equality nulls) const;
  /// Returns the words of all rows, row by row. With one column, and if texts are numbered, words
  /// are equal exactly if the rows are.
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
    auto const all = static_cast<double>(columns);
    return rows * ((8.0 + sizeof(string_ref)) * all + sizeof(std::uint64_t) + sizeof(bool));
  }

 private:
  void encode_column(std::size_t key, std::vector<text_table const*> const& tables, bool text);
  bool encode_integers(std::size_t key, std::vector<std::string_view> const& fields);
  void encode_texts(std::size_t key, std::vector<std::string_view> const& fields);
  comparison encode_words(std::size_t key, std::vector<std::string_view> const& fields, bool text);

  space m_exec;
  text_keys m_texts_are;
  std::vector<text_column> m_columns_of_texts;
  std::vector<int> m_host_text_of;  // key_fields::text_of
  array<string_ref> m_texts;
  array<int const> m_text_of;
  std::vector<std::uint64_t> m_host_words;  // row by row
  array<std::uint64_t const> m_words;
  std::uint64_t m_width;
  std::vector<comparison> m_compared;
  std::vector<std::uint64_t> m_begins, m_nulls;  // by table
  array<std::uint64_t> m_numbers;
  array<bool> m_valid;
};

}  // namespace karpos::perf
