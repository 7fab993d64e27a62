// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <karpos/distributed/reduce_by_key.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/count/column_counter.hpp"
#include "perf/tool/count/summary.hpp"
#include "perf/tool/count/table_reader.hpp"
#include "perf/tool/distributed/on_ranks.hpp"
#include "perf/tool/distributed/over_ranks.hpp"

// Each rank counts the values in its part of the file, like a run without ranks counts the whole
// file. Then every value is sent, with its count, to the rank that owns it: integers by
// distributed::reduce_by_key; words as texts, because each rank numbers its own words.

namespace karpos::perf {
namespace {

template <class T>
using host_view = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
template <class T>
using const_host_view = Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

template <class T>
const_host_view<T> view_of(std::vector<T> const& v) {
  return const_host_view<T>(v.data(), v.size());
}

/// Sends the first counts[0] elements to rank 0, and so on. Returns the elements received from all
/// ranks.
template <class T>
std::vector<T> exchange(rank_communicator const& ranks, std::vector<T> const& rows,
                        rank_communicator::counts_type const& counts) {
  auto const to_come = ranks.exchange_counts(counts);
  std::vector<T> received(std::accumulate(to_come.begin(), to_come.end(), std::uint64_t(0)));
  ranks.all_to_all(view_of(rows), counts, host_view<T>(received.data(), received.size()), to_come);
  return received;
}
/// Returns the elements of all ranks, on every rank.
template <class T>
std::vector<T> gather(rank_communicator const& ranks, std::vector<T> const& mine) {
  auto const counts = ranks.all_gather(std::uint64_t(mine.size()));
  std::vector<T> all(std::accumulate(counts.begin(), counts.end(), std::uint64_t(0)));
  ranks.all_gather(view_of(mine), host_view<T>(all.data(), all.size()), counts);
  return all;
}

array<std::uint64_t> copy_of(std::vector<std::uint64_t> const& values) {
  auto const copy = make_array<std::uint64_t>("values of a rank", values.size());
  Kokkos::deep_copy(copy, view_of(values));
  return copy;
}

/// Texts, stored one after another, and their counts.
struct counted_texts {
  std::vector<std::uint8_t> letters;
  std::vector<std::uint64_t> lengths, counts;

  void add(std::string_view text, std::uint64_t count) {
    letters.insert(letters.end(), text.begin(), text.end());
    lengths.push_back(text.size());
    counts.push_back(count);
  }
  template <class F>
  void for_each(F const& f) const {
    auto const* at = reinterpret_cast<char const*>(letters.data());
    for (std::size_t i = 0; i < lengths.size(); at += lengths[i++])
      f(std::string_view(at, lengths[i]), counts[i]);
  }
};

counted_texts gather(rank_communicator const& ranks, counted_texts const& mine) {
  return {gather(ranks, mine.letters), gather(ranks, mine.lengths), gather(ranks, mine.counts)};
}

/// Sends each text to the rank that its hash selects.
counted_texts send_to_owners(rank_communicator const& ranks, counted_texts const& mine) {
  auto const p = static_cast<std::size_t>(ranks.size());
  std::vector<counted_texts> to(p);
  mine.for_each([&](std::string_view text, std::uint64_t count) {
    to[std::hash<std::string_view>{}(text) % p].add(text, count);
  });
  counted_texts all;
  rank_communicator::counts_type letters, texts;
  for (counted_texts const& t : to) {
    letters.push_back(t.letters.size());
    texts.push_back(t.lengths.size());
    t.for_each([&](std::string_view text, std::uint64_t count) { all.add(text, count); });
  }
  return {exchange(ranks, all.letters, letters), exchange(ranks, all.lengths, texts),
          exchange(ranks, all.counts, texts)};
}

class count_measurement {
 public:
  count_measurement(rank_communicator const& ranks, count_options const& o)
      : m_ranks(ranks),
        m_options(o) {}

  void operator()(progress* bar) {
    Kokkos::Timer const clock;
    detail::distributed::run_collectively(m_ranks, [&] { open(); });
    // If the file is being appended to, all ranks use the shortest length that any of them saw.
    m_file->cut(m_ranks.all_reduce(std::uint64_t(m_file->text().size()), minimum{}));
    detail::distributed::run_collectively(m_ranks, [&] { choose_part(); });
    require_same_file();
    agree_on_rows();
    count_own_part(bar);
    require_whole_matrix();
    m_own_seconds = clock.seconds();
    std::uint64_t const before = m_ranks.bytes_sent();
    merge();
    m_merge_seconds = clock.seconds() - m_own_seconds;
    m_sent = m_ranks.bytes_sent() - before;
    result.lines = m_ranks.all_reduce(m_lines);
    result.values = m_ranks.all_reduce(result.values);
    result.distinct = m_ranks.all_reduce(result.distinct);
    result.seconds = m_ranks.all_reduce(clock.seconds(), maximum{});
    result.counting_seconds =
        m_ranks.all_reduce(result.counting_seconds + m_merge_seconds, maximum{});
  }
  /// Returns the numbers of each rank. Collective.
  json ranks_json() const {
    return {{"count", m_ranks.size()},
            {"engine", m_ranks.engine()},
            {"bytes_read", m_ranks.all_gather(std::uint64_t(m_end - m_begin))},
            {"lines", m_ranks.all_gather(m_lines)},
            {"own_seconds", m_ranks.all_gather(m_own_seconds)},
            {"merge_seconds", m_ranks.all_gather(m_merge_seconds)},
            {"bytes_sent", m_ranks.all_gather(m_sent)}};
  }

  count_result result;

 private:
  void open() {
    if (m_options.file == "-")
      throw bad_input("--distributed does not read standard input: name a file that all ranks see");
    char first[2] = {};
    if (std::ifstream(m_options.file, std::ios::binary).read(first, 2) &&
        std::string_view(first, 2) == "\x1f\x8b")
      throw bad_input("--distributed reads parts of files, and '" + m_options.file +
                      "' is gzip'ed as a whole: unpack it");
    m_file = std::make_unique<mapped_file>(m_options.file);
  }
  void choose_part() {
    result.format = detect_format(*m_file, m_options.format);
    std::size_t const begin = result.format.data_begin;
    rank_range const part(m_ranks, m_file->text().size() - begin);
    m_begin = line_from(begin, begin + part.first);
    m_last = begin + part.last;
    m_end = row_after(m_begin, m_last);
  }
  /// Corrects parts that begin within a row of several lines. A rank guesses that the first line of
  /// its part begins a row, and the rank before it knows where its last row ends. Each round makes
  /// the part of at least one more rank final.
  void agree_on_rows() {
    for (bool moved = true; moved;) {
      auto const ends = m_ranks.all_gather(std::uint64_t(m_end));
      std::size_t const begin =
          m_ranks.rank() == 0 ? m_begin : ends[static_cast<std::size_t>(m_ranks.rank()) - 1];
      bool const differs = begin != m_begin;
      if (differs) {
        m_begin = begin;
        m_end = row_after(m_begin, m_last);
      }
      moved = m_ranks.all_reduce(std::uint64_t(differs), maximum{}) != 0;
    }
  }
  /// Throws collective_error if the ranks see different files, or detect different formats. Not all
  /// ranks could determine then how many messages follow.
  void require_same_file() const {
    constexpr std::size_t examined_bytes = 4096;
    std::string_view const text = m_file->text();
    std::hash<std::string_view> const hash;
    std::string const of = " of " + m_options.file;
    distributed::require_same(m_ranks, "the hash of the first bytes" + of,
                              hash(text.substr(0, examined_bytes)));
    distributed::require_same(
        m_ranks, "the hash of the last bytes" + of,
        hash(text.substr(text.size() - std::min(examined_bytes, text.size()))));
    table_format const& f = result.format;
    distributed::require_same(m_ranks, "where the data begins" + of, f.data_begin);
    distributed::require_same(m_ranks, "whether there are numbers in all columns" + of, f.numeric);
    distributed::require_same(m_ranks, "whether there is a matrix in " + m_options.file,
                              f.matrix.has_value());
  }
  /// Returns the begin of the first line at or after `at`. Requires: a line begins at `first`.
  std::size_t line_from(std::size_t first, std::size_t at) const {
    return row_from(m_file->text(), first + (at > first ? at - 1 - first : 0), at, ' ');
  }
  std::size_t row_after(std::size_t first, std::size_t at) const {
    return row_from(m_file->text(), first, at, result.format.separator);
  }

  void count_own_part(progress* bar) {
    auto const count = [&] {
      bool all = true;
      detail::distributed::run_collectively(m_ranks, [&] {
        m_counter = std::make_unique<column_counter>(m_ranks.exec(), *m_file, result.format,
                                                     m_begin, m_end);
        all = m_counter->count([&](double part, std::uint64_t distinct) {
          if (bar != nullptr) bar->show(part, grouped(distinct) + " distinct");
        });
      });
      return m_ranks.all_reduce(std::uint64_t(all), minimum{}) != 0;
    };
    if (!count()) {
      result.format.numeric = false;
      count();
    }
    m_lines = m_counter->lines();
    result.values = m_counter->values();
    result.counting_seconds = m_counter->seconds();
  }
  void require_whole_matrix() const {
    if (result.format.matrix)
      require_entries(*m_file, result.format, m_ranks.all_reduce(m_lines), true);
  }

  void merge() {
    if (result.format.numeric)
      merge_integers();
    else
      merge_texts();
  }
  void merge_integers() {
    std::vector<std::uint64_t> values, counts;
    for (auto const& [value, count] : m_counter->integers()) {
      values.push_back(value);
      counts.push_back(count);
    }
    auto const groups = distributed::reduce_by_key(m_ranks, copy_of(values), copy_of(counts));
    auto const keys = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), groups.keys);
    auto const sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), groups.values);
    std::vector<value_count> list;
    for (std::size_t i = 0; i < keys.extent(0); ++i) list.emplace_back(keys(i), sums(i));
    result.distinct = list.size();
    keep_most_frequent(list, m_options.top, std::less<>());
    text_counts mine;
    for (auto const& [value, count] : list) mine.emplace_back(std::to_string(value), count);
    select_top(mine);
  }
  /// Merges the words of all ranks. If they are numbers on all ranks, each number is sent as one
  /// text.
  void merge_texts() {
    word_counts const words = m_counter->words();
    column_values const values =
        m_options.format.text ? column_values() : values_of(texts_of(words));
    result.compared = static_cast<comparison>(
        m_ranks.all_reduce(static_cast<std::uint64_t>(values.how), maximum{}));
    counted_texts own;
    for (auto const& [text, count] : values_of_words(words, values, result.compared))
      own.add(text, count);
    counted_texts const received = send_to_owners(m_ranks, own);
    word_counts all;
    received.for_each(
        [&](std::string_view text, std::uint64_t count) { all.emplace_back(text, count); });
    text_counts mine = values_of_words(all, {}, comparison::text);
    result.distinct = mine.size();
    keep_most_frequent_texts(mine, m_options.top, result.compared);
    select_top(mine);
  }
  /// Selects the most frequent of the values that each rank has selected.
  void select_top(text_counts const& mine) {
    counted_texts texts;
    for (auto const& [text, count] : mine) texts.add(text, count);
    text_counts all;
    gather(m_ranks, texts).for_each([&](std::string_view text, std::uint64_t count) {
      all.emplace_back(text, count);
    });
    keep_most_frequent_texts(all, m_options.top, result.compared);
    for (auto& [value, count] : all) result.top.push_back({std::move(value), count});
  }

  rank_communicator const& m_ranks;
  count_options const& m_options;
  std::unique_ptr<mapped_file> m_file;
  std::unique_ptr<column_counter> m_counter;
  std::size_t m_begin = 0, m_end = 0, m_last = 0;
  std::uint64_t m_lines = 0, m_sent = 0;
  double m_own_seconds = 0, m_merge_seconds = 0;
};

}  // namespace

int count_over_ranks(count_options const& o) {
  return on_ranks([&](rank_communicator const& ranks) {
    count_measurement measurement(ranks, o);
    bool const prints = ranks.rank() == 0;
    {
      std::unique_ptr<progress> const bar(prints ? new progress("karpos count") : nullptr);
      measurement(bar.get());
    }
    json const of_ranks = measurement.ranks_json();
    if (prints && o.as_json) {
      json report = to_json(o, measurement.result);
      report["ranks"] = of_ranks;
      print_json(report);
    } else if (prints) {
      print(o, measurement.result);
      std::uint64_t sent = 0;
      for (std::uint64_t const b : of_ranks.at("bytes_sent")) sent = std::max(sent, b);
      std::printf("\n%s (%s), %s sent by a rank, at most\n",
                  counted(static_cast<std::uint64_t>(ranks.size()), "rank", "ranks").c_str(),
                  ranks.engine(), human_bytes(static_cast<double>(sent)).c_str());
    }
    return 0;
  });
}

}  // namespace karpos::perf
