// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/count/column_counter.hpp"

#include <unordered_map>

namespace karpos::perf {

column_counter::column_counter(space const& exec, mapped_file const& file,
                               table_format const& format, std::size_t begin, std::size_t end)
    : m_reader(file, format, begin, end),
      m_counter(exec) {}

column_counter::column_counter(space const& exec, mapped_file const& file,
                               table_format const& format)
    : m_reader(file, format),
      m_counter(exec) {}

bool column_counter::count(progress_callback const& show) {
  std::vector<std::uint64_t> numbers;
  while (!m_reader.done()) {
    std::vector<table_part> const& parts = m_reader.next();
    if (m_reader.has_non_numbers()) return false;
    for (table_part const& part : parts) {
      m_lines += part.lines();
      m_counter.add(part.numbers);
      numbers.clear();
      for (std::string_view const word : part.words) numbers.push_back(m_words.number_of(word));
      m_counter.add(numbers);
    }
    show(m_reader.progress(), distinct());
  }
  m_counter.flush();
  return true;
}

word_counts column_counter::words() const {
  word_counts words;
  for (auto const& [number, count] : m_counter.all())
    words.emplace_back(m_words.word(number), count);
  return words;
}

std::vector<std::string_view> texts_of(word_counts const& words) {
  std::vector<std::string_view> texts;
  texts.reserve(words.size());
  for (auto const& [word, count] : words) texts.push_back(word);
  return texts;
}

text_counts values_of_words(word_counts const& words, column_values const& values, comparison how) {
  text_counts list;
  std::unordered_map<std::string, std::size_t> place_of;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string value = how == comparison::text ? std::string(words[i].first) : values.numbers[i];
    auto const [at, is_new] = place_of.try_emplace(value, list.size());
    if (is_new) list.emplace_back(std::move(value), 0);
    list[at->second].second += words[i].second;
  }
  return list;
}

void keep_most_frequent_texts(text_counts& list, std::size_t k, comparison how) {
  keep_most_frequent(
      list, k, [=](std::string const& a, std::string const& b) { return precedes(how, a, b); });
}

}  // namespace karpos::perf
