// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/join/row_keys.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "perf/tool/join/word_labels.hpp"

namespace karpos::perf {
namespace {

/// Reads a sign and digits into a word. Returns whether the field is a 64-bit integer other than
/// null_word.
bool read_integer(std::string_view field, std::uint64_t& word) {
  std::int64_t value = 0;
  if (field.size() > 1 && field.front() == '+' && field[1] != '-') field.remove_prefix(1);
  auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  word = static_cast<std::uint64_t>(value);
  return error == std::errc() && end == field.data() + field.size() && word != null_word;
}

/// Returns whether all fields are numbers, or empty.
bool are_numbers(std::vector<std::string_view> const& fields) {
  return std::all_of(fields.begin(), fields.end(), [](std::string_view field) {
    return field.empty() || exact_number::read(field);
  });
}

struct number_rows {
  array<std::uint64_t const> words;
  std::uint64_t width;
  array<std::uint64_t> numbers;
  array<bool> valid;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    bool whole = true;
    for (std::uint64_t c = 0; c < width; ++c) whole &= words(i * width + c) != null_word;
    numbers(i) = i;
    valid(i) = whole;
  }
};

}  // namespace

row_keys::row_keys(space const& exec, std::vector<text_table const*> const& tables,
                   std::size_t columns, bool text, text_keys texts)
    : m_exec(exec),
      m_texts_are(texts),
      m_host_text_of(columns, -1),
      m_width(columns) {
  std::uint64_t n = 0;
  for (text_table const* t : tables) {
    m_begins.push_back(n);
    n += t->rows();
  }
  m_begins.push_back(n);
  m_host_words.resize(n * m_width);
  for (std::size_t key = 0; key < m_width; ++key) encode_column(key, tables, text);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    m_nulls.push_back(0);
    for (std::uint64_t i = m_begins[t]; i < m_begins[t + 1]; ++i) {
      auto const* const row = m_host_words.data() + i * m_width;
      m_nulls.back() += std::find(row, row + m_width, null_word) != row + m_width;
    }
  }
  m_words = on_device(m_exec, m_host_words);
  m_text_of = on_device(m_exec, m_host_text_of);
  m_texts = make_array<string_ref>("texts of keys", m_columns_of_texts.size() * n);
  for (std::uint64_t c = 0; c < m_columns_of_texts.size(); ++c) {
    Kokkos::deep_copy(m_exec, Kokkos::subview(m_texts, std::make_pair(c * n, (c + 1) * n)),
                      m_columns_of_texts[c].strings);
    m_columns_of_texts[c].strings = {};
  }
  m_numbers = make_array<std::uint64_t>("numbers of rows", n);
  m_valid = make_array<bool>("rows without a null", n);
  Kokkos::parallel_for("karpos::perf::number_rows", range(m_exec, n),
                       number_rows{m_words, m_width, m_numbers, m_valid});
  m_exec.fence("karpos::perf: keys");
}

void row_keys::encode_column(std::size_t key, std::vector<text_table const*> const& tables,
                             bool text) {
  std::vector<std::string_view> of_all;
  if (tables.size() > 1) of_all.reserve(m_begins.back());
  for (text_table const* t : tables)
    if (tables.size() > 1)
      of_all.insert(of_all.end(), t->fields_of_key(key).begin(), t->fields_of_key(key).end());
  auto const& fields = tables.size() > 1 ? of_all : tables.front()->fields_of_key(key);
  if (!text && encode_integers(key, fields))
    m_compared.push_back(comparison::integers);
  else if (m_texts_are == text_keys::by_bytes && (text || !are_numbers(fields)))
    encode_texts(key, fields);
  else
    m_compared.push_back(encode_words(key, fields, text));
}

/// Keeps the fields of a key column as strings.
void row_keys::encode_texts(std::size_t key, std::vector<std::string_view> const& fields) {
  m_host_text_of[key] = static_cast<int>(m_columns_of_texts.size());
  m_columns_of_texts.emplace_back(m_exec, fields);
  for (std::uint64_t i = 0; i < fields.size(); ++i)
    m_host_words[i * m_width + key] = fields[i].empty() ? null_word : 0;
  m_compared.push_back(comparison::text);
}

/// Sets the words of a key column to the numbers of its values. Returns how the column is compared.
comparison row_keys::encode_words(std::size_t key, std::vector<std::string_view> const& fields,
                                  bool text) {
  auto const labels = label_words(m_exec, fields);
  std::vector<std::string_view> words;  // by label
  for (std::uint64_t i = 0; i < fields.size(); ++i)
    if (labels(i) == words.size()) words.push_back(fields[i]);
  column_values const values = text ? column_values() : values_of(words);
  std::vector<std::uint64_t> word_of(words.size());
  std::unordered_map<std::string_view, std::uint64_t> numbers;
  for (std::uint64_t w = 0; w < words.size(); ++w) {
    bool const is_number = values.how != comparison::text;
    word_of[w] = words[w].empty() ? null_word
                 : is_number      ? numbers.try_emplace(values.numbers[w], w).first->second
                                  : w;
  }
  for (std::uint64_t i = 0; i < fields.size(); ++i)
    m_host_words[i * m_width + key] = word_of[labels(i)];
  return values.how;
}

/// Sets the words of a key column to its integers. Returns whether all fields are integers or
/// empty.
bool row_keys::encode_integers(std::size_t key, std::vector<std::string_view> const& fields) {
  for (std::uint64_t i = 0; i < fields.size(); ++i) {
    std::uint64_t& word = m_host_words[i * m_width + key];
    if (fields[i].empty())
      word = null_word;
    else if (!read_integer(fields[i], word))
      return false;
  }
  return true;
}

row_keys::rows_type row_keys::rows_of(std::size_t table, null_equality nulls) const {
  auto const here = std::make_pair(m_begins[table], m_begins[table + 1]);
  array<bool> valid = m_valid;
  if (nulls == null_equality::equal) {
    valid = make_array<bool>("all rows", m_valid.extent(0));
    Kokkos::deep_copy(m_exec, valid, true);
  }
  key_fields const fields{m_words.data(), m_width, m_begins.back(), m_texts.data(),
                          m_text_of.data()};
  return rows(nullable(array<std::uint64_t>(Kokkos::subview(m_numbers, here)),
                       array<bool>(Kokkos::subview(valid, here))))
      .with_functions(hash_of_fields{fields}, equality_of_fields{fields})
      .with_nulls(nulls);
}

}  // namespace karpos::perf
