// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/tool/count/exact_number.hpp"
#include "perf/tool/count/mapped_file.hpp"
#include "perf/tool/count/table_reader.hpp"
#include "perf/tool/count/value_counter.hpp"

namespace karpos::perf {

using word_counts = std::vector<std::pair<std::string_view, std::uint64_t>>;

/// Counts the chosen fields of the bytes [begin, end) of a file, as integers or as words.
class column_counter {
 public:
  /// Called with the fraction of the bytes that has been read, and the number of distinct values so
  /// far.
  using progress_callback = std::function<void(double, std::uint64_t)>;

  /// Takes the bytes to count; `format` must outlive the counter.
  column_counter(space const& exec, mapped_file const& file, table_format const& format,
                 std::size_t begin, std::size_t end);
  /// Counts a whole file.
  column_counter(space const& exec, mapped_file const& file, table_format const& format);

  /// Counts the fields. Returns whether all were counted; if not, the format is numeric, and a
  /// field is not an unsigned integer. Throws: bad_input that names file and line.
  bool count(progress_callback const& show);

  std::uint64_t lines() const { return m_lines; }
  std::uint64_t values() const { return m_counter.total(); }
  std::uint64_t distinct() const { return m_counter.distinct(); }
  double seconds() const { return m_counter.seconds(); }

  /// Returns the distinct integers and their counts. For numeric formats.
  std::vector<value_count> integers() const { return m_counter.all(); }
  /// Returns the distinct words and their counts. For other formats. The words live as long as the
  /// counter.
  word_counts words() const;

 private:
  table_reader m_reader;
  dictionary m_words;
  value_counter m_counter;
  std::uint64_t m_lines = 0;
};

/// Returns the words without their counts.
std::vector<std::string_view> texts_of(word_counts const& words);

/// Values as texts, with their counts.
using text_counts = std::vector<std::pair<std::string, std::uint64_t>>;

/// Merges distinct words that are equal under a comparison: numbers that are equal but written
/// differently are one value.
text_counts values_of_words(word_counts const& words, column_values const& values, comparison how);

/// Keeps the k most frequent values, and of equally frequent ones the smaller ones.
void keep_most_frequent_texts(text_counts& list, std::size_t k, comparison how);

}  // namespace karpos::perf
