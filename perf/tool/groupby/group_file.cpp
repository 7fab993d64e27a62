// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/groupby/group_file.hpp"

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "perf/measure/support/bad_input.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/graph/input.hpp"
#include "perf/tool/groupby/grouping.hpp"
#include "perf/tool/groupby/number_column.hpp"
#include "perf/tool/join/row_keys.hpp"
#include "perf/tool/join/text_table.hpp"

namespace karpos::perf {
namespace {

format_settings format_settings_of(groupby_parameters const& p) {
  format_settings settings = p.format;
  settings.columns = p.by;
  for (auto const* list : {&p.sum, &p.min, &p.max, &p.mean})
    settings.columns.insert(settings.columns.end(), list->begin(), list->end());
  return settings;
}

class file_grouping {
 public:
  file_grouping(groupby_parameters const& p, reporter const& report)
      : m_parameters(p),
        m_report(report),
        m_table(p.file, format_settings_of(p)) {}

  file_groups operator()() {
    Kokkos::Timer const clock;
    choose_columns();
    require_enough_memory();
    m_table.read([&](double part, std::string const& what) { m_report(0.7 * part, what); });
    m_groups.lines = m_table.rows();
    m_report(0.7, "groups");
    Kokkos::Timer const grouping_clock;
    row_keys const keys(space(), {&m_table}, m_groups.by.size(), m_parameters.format.text,
                        m_groups.by.size() == 1 ? text_keys::numbered : text_keys::by_bytes);
    m_groups.compared = keys.compared();
    grouping const groups(keys);
    m_groups.counts = groups.counts();
    collect_keys(groups);
    reduce_columns(groups);
    order_by_keys();
    m_groups.grouping_seconds = grouping_clock.seconds();
    rank();
    m_groups.seconds = clock.seconds();
    return std::move(m_groups);
  }

 private:
  void choose_columns() {
    std::size_t const keys = m_parameters.by.size();
    m_table.require_different_keys("--by", keys);
    m_groups.header = m_table.header();
    m_groups.by.assign(m_table.keys().begin(),
                       m_table.keys().begin() + static_cast<std::ptrdiff_t>(keys));
    for (std::size_t const c : m_groups.by)
      m_groups.by_name.push_back(keys == 1 && !m_table.has_header() ? "key" : m_table.names()[c]);
    std::size_t place = keys;
    for (auto const& [operation, list] :
         {std::pair{"sum", &m_parameters.sum}, std::pair{"min", &m_parameters.min},
          std::pair{"max", &m_parameters.max}, std::pair{"mean", &m_parameters.mean}})
      for (std::size_t i = 0; i < list->size(); ++i, ++place) {
        group_values v;
        v.operation = operation;
        v.column = m_table.keys()[place];
        v.name = v.operation + " of " + m_table.names()[v.column];
        m_groups.values.push_back(std::move(v));
      }
  }

  /// Requires the memory that grouping takes in addition to the text, before any row is read.
  void require_enough_memory() const {
    std::uint64_t const rows = m_table.max_rows();
    auto const n = static_cast<double>(rows);
    std::size_t const width = m_table.keys().size();
    using index = row_keys::index_type;
    double const bytes =
        n * (sizeof(std::size_t) + static_cast<double>(width) * sizeof(std::string_view)) +
        row_keys::bytes_for(n, m_groups.by.size()) +
        static_cast<double>(index::bytes_for(rows, duplicates::dropped) +
                            index::workspace_bytes(space(), rows, duplicates::dropped));
    require_memory(bytes, "grouping " + counted(rows, "row", "rows"),
                   "take a part of the table, or fewer columns");
  }

  void collect_keys(grouping const& groups) {
    for (std::uint64_t const row : groups.first_rows()) {
      std::vector<std::string> key;
      for (std::size_t k = 0; k < m_groups.by.size(); ++k) {
        std::string_view const field = m_table.fields_of_key(k)[row];
        bool const plain = field.empty() || m_groups.compared[k] == comparison::text;
        key.push_back(plain ? std::string(field) : exact_number::read(field)->text());
      }
      m_groups.keys.push_back(std::move(key));
    }
  }

  /// Reduces each column of numbers, for all operations on it at once.
  void reduce_columns(grouping const& groups) {
    for (std::size_t i = 0; i < m_groups.values.size(); ++i) {
      std::size_t const column = m_groups.values[i].column;
      bool const is_done = std::any_of(m_groups.values.begin(),
                                       m_groups.values.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](group_values const& v) { return v.column == column; });
      if (!is_done) reduce(column, numbers_of(m_groups.by.size() + i, column), groups);
    }
  }
  number_column numbers_of(std::size_t key, std::size_t column) const {
    number_column numbers;
    std::vector<std::string_view> const& fields = m_table.fields_of_key(key);
    numbers.reserve(fields.size());
    for (std::uint64_t row = 0; row < fields.size(); ++row) {
      bool const is_null = number_column::is_null(fields[row]);
      if (is_null && m_parameters.skip_nulls) {
        numbers.skip();
        continue;
      }
      if (char const* const wrong = is_null ? "is no number (--nulls skip leaves such cells out)"
                                            : numbers.add(fields[row]))
        fail(row, column, fields[row], wrong);
    }
    if (auto const row = numbers.too_large())
      fail(*row, column, fields[*row],
           "does not fit into 64 bits, as integers have to (doubles: write it like 1e19)");
    return numbers;
  }
  [[noreturn]] void fail(std::uint64_t row, std::size_t column, std::string_view field,
                         char const* why) const {
    throw bad_input(m_table.place(row) + ": " + graph_input::quoted(field) + " in " +
                    column_text(column, m_table.header()) + " " + why);
  }
  void reduce(std::size_t column, number_column const& numbers, grouping const& groups) {
    m_report(0.9, column_text(column, m_table.header()));
    group_counts const counts = groups.counts_of(numbers);
    integer_groups integers;
    real_groups reals;
    if (numbers.exact())
      integers = groups.integers(numbers);
    else
      reals = groups.reals(numbers);
    for (group_values& v : m_groups.values) {
      if (v.column != column) continue;
      v.exact = numbers.exact() && v.operation != "mean";
      v.places = numbers.places();
      v.nulls = numbers.skipped().size();
      for (std::uint64_t const n : counts) v.none.push_back(n == 0);
      if (v.operation == "mean")
        v.reals = numbers.exact() ? means(integers.sum, counts, numbers.places())
                                  : means(reals.sum, counts, 0);
      else if (v.operation == "sum")
        v.integers = narrowed(integers.sum, v);
      else
        v.integers = v.operation == "min" ? integers.least : integers.largest;
      if (!numbers.exact() && v.operation != "mean")
        v.reals = v.operation == "sum"   ? reals.sum
                  : v.operation == "min" ? reals.least
                                         : reals.largest;
    }
  }
  template <class T>
  static std::vector<double> means(std::vector<T> const& sums, group_counts const& counts,
                                   int places) {
    std::vector<double> means(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (counts[i] > 0)
        means[i] = static_cast<double>(
            static_cast<long double>(sums[i]) /
            (static_cast<long double>(counts[i]) * static_cast<long double>(power_of_ten(places))));
    return means;
  }
  std::vector<std::int64_t> narrowed(std::vector<wide_sum> const& sums,
                                     group_values const& v) const {
    using limits = std::numeric_limits<std::int64_t>;
    std::vector<std::int64_t> narrow(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (sums[i] < limits::min() || sums[i] > limits::max())
        throw bad_input("the sum of " + column_text(v.column, m_table.header()) + " for the key " +
                        graph_input::quoted(joined(m_groups.keys[i])) +
                        " does not fit into 64 bits: leave it out of --sum, or write one number of "
                        "the column with an exponent (1e0), so that doubles are added");
      narrow[i] = static_cast<std::int64_t>(sums[i]);
    }
    return narrow;
  }
  static std::string joined(std::vector<std::string> const& key) {
    std::string text = key.front();
    for (std::size_t k = 1; k < key.size(); ++k) text += "," + key[k];
    return text;
  }

  /// Returns the numbers of a key column; empty for empty cells, and for text.
  std::vector<std::optional<exact_number>> numbers_of_key(std::size_t k) const {
    std::vector<std::optional<exact_number>> numbers(m_groups.size());
    if (m_groups.compared[k] != comparison::text)
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = exact_number::read(m_groups.keys[i][k]);
    return numbers;
  }
  /// Sorts the groups in the order of precedes, but parses each number once.
  void order_by_keys() {
    std::vector<std::vector<std::optional<exact_number>>> numbers;
    for (std::size_t k = 0; k < m_groups.by.size(); ++k) numbers.push_back(numbers_of_key(k));
    std::vector<std::size_t> order(m_groups.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        std::string const &x = m_groups.keys[a][k], &y = m_groups.keys[b][k];
        if (m_groups.compared[k] == comparison::text && x != y) return x < y;
        if (numbers[k][a] != numbers[k][b]) return numbers[k][a] < numbers[k][b];
      }
      return false;
    });
    reorder(m_groups.keys, order);
    reorder(m_groups.counts, order);
    for (group_values& v : m_groups.values) {
      reorder(v.integers, order);
      reorder(v.reals, order);
      reorder(v.none, order);
    }
  }
  template <class T>
  static void reorder(std::vector<T>& values, std::vector<std::size_t> const& order) {
    if (values.empty()) return;
    std::vector<T> moved;
    moved.reserve(order.size());
    for (std::size_t const i : order) moved.push_back(std::move(values[i]));
    values = std::move(moved);
  }

  void rank() {
    std::vector<std::size_t>& top = m_groups.top;
    top.resize(m_groups.size());
    std::iota(top.begin(), top.end(), std::size_t(0));
    bool const by_sum = !m_parameters.sum.empty();
    auto const before = [&](std::size_t a, std::size_t b) {
      if (by_sum && m_groups.values[0].less(b, a)) return true;
      if (by_sum && m_groups.values[0].less(a, b)) return false;
      if (!by_sum && m_groups.counts[a] != m_groups.counts[b])
        return m_groups.counts[a] > m_groups.counts[b];
      return a < b;
    };
    std::size_t const k = std::min(m_parameters.top, top.size());
    std::partial_sort(top.begin(), top.begin() + static_cast<std::ptrdiff_t>(k), top.end(), before);
    top.resize(k);
  }

  groupby_parameters const& m_parameters;
  reporter const& m_report;
  text_table m_table;
  file_groups m_groups;
};

}  // namespace

std::string group_values::text(std::size_t group) const {
  if (none[group]) return "";
  if (exact) return decimal_text(integers[group], places);
  char text[40];
  return {text, std::to_chars(text, text + sizeof(text), reals[group]).ptr};
}

double group_values::value(std::size_t group) const {
  return exact ? decimal_value(integers[group], places) : reals[group];
}

bool group_values::less(std::size_t a, std::size_t b) const {
  if (none[a] || none[b]) return none[a] && !none[b];
  return exact ? integers[a] < integers[b] : reals[a] < reals[b];
}

file_groups group_file(groupby_parameters const& p, reporter const& report) {
  return file_grouping(p, report)();
}

}  // namespace karpos::perf
