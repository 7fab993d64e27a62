// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/groupby/group_file.hpp"

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "perf/driver/command.hpp"
#include "perf/driver/count/mapped_file.hpp"
#include "perf/driver/count/table_reader.hpp"
#include "perf/driver/count/value_counter.hpp"
#include "perf/driver/groupby/grouping.hpp"
#include "perf/driver/groupby/number_column.hpp"
#include "perf/graph/input.hpp"
#include "perf/support/text.hpp"

namespace karpos::perf {
namespace {

class file_grouping {
 public:
  file_grouping(groupby_parameters const& p, reporter const& report)
      : m_parameters(p),
        m_report(report),
        m_file(p.file),
        m_format(format_of(p)),
        m_reader(m_file, m_format) {}

  file_groups operator()() {
    Kokkos::Timer const clock;
    choose_columns();
    while (!m_reader.done()) {
      for (table_part const& part : m_reader.next()) add(part);
      m_report(0.8 * m_reader.progress(), counted(m_groups.lines, "row", "rows"));
    }
    group();
    m_groups.seconds = clock.seconds();
    return std::move(m_groups);
  }

 private:
  table_format format_of(groupby_parameters const& p) const {
    format_wishes wishes = p.format;
    wishes.text = true;  // numbers are read here
    wishes.columns = {p.by};
    for (auto const* list : {&p.sum, &p.min, &p.max})
      wishes.columns.insert(wishes.columns.end(), list->begin(), list->end());
    table_format format = detect_format(m_file, wishes);
    format.least = format.most = format.column_count;
    return format;
  }

  void choose_columns() {
    auto const& names = m_format.names;
    m_groups.format = m_format;
    m_groups.by = column_of(m_parameters.by, names, m_file.path());
    m_groups.by_name = m_groups.by < names.size() ? names[m_groups.by] : "key";
    add_values("sum", m_parameters.sum);
    add_values("min", m_parameters.min);
    add_values("max", m_parameters.max);
    m_columns.resize(m_format.columns.size());
    for (group_values const& v : m_groups.values) m_is_value[place_of(v.column)] = true;
    m_groups.numeric = !m_parameters.format.text && first_key_is_number();
  }
  void add_values(std::string const& operation, std::vector<std::string> const& columns) {
    m_is_value.resize(m_format.columns.size());
    for (std::string const& wish : columns) {
      group_values v;
      v.operation = operation;
      v.column = column_of(wish, m_format.names, m_file.path());
      v.name = operation + " of " +
               (v.column < m_format.names.size() ? m_format.names[v.column]
                                                 : "column " + std::to_string(v.column + 1));
      m_groups.values.push_back(std::move(v));
    }
  }
  /// Of a column among those that are read.
  std::size_t place_of(std::size_t column) const {
    auto const& all = m_format.columns;
    return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), column) - all.begin());
  }
  bool first_key_is_number() const {
    bool number = false;
    std::uint64_t ignored = 0;
    for_each_field(line_at(m_file.text(), m_format.data_begin), m_format.separator,
                   [&](std::size_t column, table_field const& field) {
                     if (column == m_groups.by) number = read_number(field.text, ignored);
                   });
    return number;
  }

  void add(table_part const& part) {
    std::size_t const width = m_columns.size(), by = place_of(m_groups.by);
    for (std::uint64_t line = 0; line < part.lines(); ++line) {
      std::string_view const* const fields = part.words.data() + line * width;
      for (std::size_t c = 0; c < width; ++c)
        if (m_is_value[c])
          if (char const* const wrong = m_columns[c].add(fields[c]))
            fail(part, line, fields[c], m_format.columns[c], wrong);
      m_keys.push_back(key_of(part, line, fields[by]));
    }
    m_groups.lines += part.lines();
  }
  std::uint64_t key_of(table_part const& part, std::uint64_t line, std::string_view field) {
    if (!m_groups.numeric) return m_words.number_of(field);
    std::uint64_t key = 0;
    if (!read_number(field, key))
      fail(part, line, field, m_groups.by,
           "is no unsigned 64-bit integer, as the keys before are (--text groups by words)");
    return key;
  }
  [[noreturn]] void fail(table_part const& part, std::uint64_t line, std::string_view field,
                         std::size_t column, char const* why) const {
    throw bad_input(m_file.place(part.begins[line]) + ": " + graph_input::quoted(field) + " in " +
                    column_text(column, m_format.names) + " " + why);
  }

  void group() {
    m_report(0.8, "groups");
    Kokkos::Timer const clock;
    grouping const groups(m_keys);
    m_groups.counts = groups.counts();
    m_groups.keys = groups.keys();
    for (std::size_t c = 0; c < m_columns.size(); ++c)
      if (m_is_value[c]) reduce(c, groups);
    m_groups.grouping_seconds = clock.seconds();
    if (!m_groups.numeric) order_by_words();
    rank();
  }
  /// Finds all values of a column.
  void reduce(std::size_t place, grouping const& groups) {
    number_column const& column = m_columns[place];
    m_report(0.9, column_text(m_format.columns[place], m_format.names));
    integer_groups integers;
    real_groups reals;
    if (column.exact())
      integers = groups.integers(column);
    else
      reals = groups.reals(column);
    for (group_values& v : m_groups.values) {
      if (v.column != m_format.columns[place]) continue;
      v.exact = column.exact();
      v.places = column.places();
      if (v.operation == "sum")
        v.integers = narrowed(integers.sum, v);
      else
        v.integers = v.operation == "min" ? integers.least : integers.largest;
      v.reals = v.operation == "sum"   ? reals.sum
                : v.operation == "min" ? reals.least
                                       : reals.largest;
    }
  }
  std::vector<std::int64_t> narrowed(std::vector<wide_sum> const& sums,
                                     group_values const& v) const {
    using limits = std::numeric_limits<std::int64_t>;
    std::vector<std::int64_t> narrow(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (sums[i] < limits::min() || sums[i] > limits::max())
        throw bad_input("the sum of " + column_text(v.column, m_format.names) + " for the key " +
                        graph_input::quoted(m_groups.numeric
                                                ? std::to_string(m_groups.keys[i])
                                                : std::string(m_words.word(m_groups.keys[i]))) +
                        " does not fit into 64 bits");
      narrow[i] = static_cast<std::int64_t>(sums[i]);
    }
    return narrow;
  }

  void order_by_words() {
    std::vector<std::size_t> order(m_groups.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return m_words.word(m_groups.keys[a]) < m_words.word(m_groups.keys[b]);
    });
    for (std::size_t const i : order) m_groups.words.emplace_back(m_words.word(m_groups.keys[i]));
    reorder(m_groups.counts, order);
    for (group_values& v : m_groups.values) {
      reorder(v.integers, order);
      reorder(v.reals, order);
    }
    m_groups.keys.clear();
  }
  template <class T>
  static void reorder(std::vector<T>& values, std::vector<std::size_t> const& order) {
    if (values.empty()) return;
    std::vector<T> moved;
    moved.reserve(order.size());
    for (std::size_t const i : order) moved.push_back(values[i]);
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
  mapped_file m_file;
  table_format m_format;
  table_reader m_reader;
  dictionary m_words;
  std::vector<std::uint64_t> m_keys;     // of the rows
  std::vector<number_column> m_columns;  // as m_format.columns; empty where they are no values
  std::vector<bool> m_is_value;
  file_groups m_groups;
};

}  // namespace

std::string group_values::text(std::size_t group) const {
  if (exact) return decimal_text(integers[group], places);
  char text[40];
  std::snprintf(text, sizeof(text), "%.15g", reals[group]);
  return text;
}

double group_values::value(std::size_t group) const {
  return exact ? decimal_value(integers[group], places) : reals[group];
}

bool group_values::less(std::size_t a, std::size_t b) const {
  return exact ? integers[a] < integers[b] : reals[a] < reals[b];
}

file_groups group_file(groupby_parameters const& p, reporter const& report) {
  return file_grouping(p, report)();
}

}  // namespace karpos::perf
