// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/driver/count/exact_number.hpp"
#include "perf/driver/count/mapped_file.hpp"
#include "perf/driver/count/table_reader.hpp"
#include "perf/driver/count/value_counter.hpp"

namespace karpos::perf {

using word_counts = std::vector<std::pair<std::string_view, std::uint64_t>>;

/// Counts the chosen fields of the bytes [begin, end) of a file, as integers or as words.
class column_counter {
 public:
  /// Is told which part of the bytes is read, and how many values were different so far.
  using shower = std::function<void(double, std::uint64_t)>;

  /// The format outlives it.
  column_counter(space const& exec, mapped_file const& file, table_format const& format,
                 std::size_t begin, std::size_t end);
  /// Counts a whole file.
  column_counter(space const& exec, mapped_file const& file, table_format const& format);

  /// Returns: whether all fields were counted; false: the format is numeric, and a field is no unsigned integer.
  /// Throws: bad_input that names file and line.
  bool count(shower const& show);

  std::uint64_t lines() const { return m_lines; }
  std::uint64_t values() const { return m_counter.total(); }
  std::uint64_t distinct() const { return m_counter.distinct(); }
  double seconds() const { return m_counter.seconds(); }

  /// The different integers, with their counts, if the format is numeric.
  std::vector<value_count> integers() const { return m_counter.all(); }
  /// The different words, with their counts, if it is not. They live as long as this.
  word_counts words() const;

 private:
  table_reader m_reader;
  dictionary m_words;
  value_counter m_counter;
  std::uint64_t m_lines = 0;
};

/// The words alone.
std::vector<std::string_view> texts_of(word_counts const& words);

/// Values as texts, each with a count.
using text_counts = std::vector<std::pair<std::string, std::uint64_t>>;

/// The values of different words, compared in a way: equal numbers that are written in several ways are one value.
text_counts values_of_words(word_counts const& words, column_values const& values, comparison how);

/// Leaves the k most frequent values, ties by smaller value.
void keep_most_frequent_texts(text_counts& list, std::size_t k, comparison how);

}  // namespace karpos::perf
