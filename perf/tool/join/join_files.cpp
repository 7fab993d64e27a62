// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <iterator>

#include "karpos/join.hpp"
#include "perf/measure/join/measure.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/graph/input.hpp"
#include "perf/tool/join/row_keys.hpp"
#include "perf/tool/join/table_files.hpp"

namespace karpos::perf {
namespace {

/// Returns the columns of one side from the words of --on: "a=b" names a left and a right column,
/// "a" names one of both.
std::vector<std::string> key_columns(std::vector<std::string> const& on, bool left) {
  std::vector<std::string> columns;
  for (std::string const& word : on) {
    std::size_t const equals = word.find('=');
    std::string const one = word.substr(0, equals);
    std::string const other = equals == std::string::npos ? one : word.substr(equals + 1);
    if (one.empty() || other.empty() || other.find('=') != std::string::npos)
      throw bad_input(
          "--on " + graph_input::quoted(word) +
          " names no two columns: write id, or a=b (a column with = in its name: by its number)");
    columns.push_back(left ? one : other);
  }
  return columns;
}

std::unique_ptr<text_table> open_table(join_parameters const& p, bool left) {
  format_settings settings = p.format;
  settings.columns = key_columns(p.on, left);
  return std::make_unique<text_table>(left ? p.left : p.right, settings);
}

/// Throws bad_input if --on names the same pair of columns twice. One column may be compared with
/// two others.
void require_different_pairs(text_table const& left, text_table const& right) {
  for (std::size_t k = 0; k < left.keys().size(); ++k)
    for (std::size_t before = 0; before < k; ++before)
      if (left.keys()[before] == left.keys()[k] && right.keys()[before] == right.keys()[k])
        throw bad_input("--on compares " + column_text(left.keys()[k], left.names()) + " of " +
                        left.path() + " twice with the same column of " + right.path() +
                        ": name the two once");
}

/// Returns the columns of a join of pairs: first the keys, with the names of the left table, then
/// the other columns of the left and of the right table. Columns with equal names get the name of
/// their table as well.
std::vector<selected_rows::column> columns_of_pairs(text_table const& left,
                                                    text_table const& right) {
  constexpr std::size_t none = selected_rows::no_column;
  auto const is_key = [](text_table const& t, std::size_t c) {
    return std::find(t.keys().begin(), t.keys().end(), c) != t.keys().end();
  };
  std::vector<selected_rows::column> columns;
  for (std::size_t k = 0; k < left.keys().size(); ++k)
    columns.push_back({left.names()[left.keys()[k]], left.keys()[k], right.keys()[k]});
  for (std::size_t c = 0; c < left.names().size(); ++c)
    if (!is_key(left, c)) columns.push_back({left.names()[c], c, none});
  for (std::size_t c = 0; c < right.names().size(); ++c)
    if (!is_key(right, c)) columns.push_back({right.names()[c], none, c});
  std::vector<std::string> names;
  for (auto const& c : columns) names.push_back(c.name);
  for (auto& c : columns)
    if (std::count(names.begin(), names.end(), c.name) > 1 && (c.left == none || c.right == none))
      c.name += c.right == none ? "_left" : "_right";
  return columns;
}

/// Returns all columns of a table, in their order.
std::vector<selected_rows::column> columns_of(text_table const& table, bool left) {
  constexpr std::size_t none = selected_rows::no_column;
  std::vector<selected_rows::column> columns;
  for (std::size_t c = 0; c < table.names().size(); ++c)
    columns.push_back({table.names()[c], left ? c : none, left ? none : c});
  return columns;
}

class file_join {
 public:
  file_join(join_parameters const& p, reporter const& report)
      : m_parameters(p),
        m_report(report),
        m_kind(join_kind_of(p.how)) {}

  joined_files operator()() {
    Kokkos::Timer const clock;
    m_files.left = open_table(m_parameters, true);
    m_files.right = open_table(m_parameters, false);
    require_different_pairs(*m_files.left, *m_files.right);
    require_enough_memory();
    auto const report_in = [&](double begin, double end) {
      return [=, this](double part, std::string const& what) {
        m_report(begin + (end - begin) * part, what);
      };
    };
    m_files.left->read(report_in(0, 0.4));
    m_files.right->read(report_in(0.4, 0.8));
    m_report(0.8, "keys");
    row_keys const keys(m_exec, {m_files.left.get(), m_files.right.get()},
                        m_files.left->keys().size(), m_parameters.format.text);
    m_files.compared = keys.compared();
    m_files.left_nulls = keys.nulls(0);
    m_files.right_nulls = keys.nulls(1);
    join_rows(keys);
    m_files.seconds = clock.seconds();
    return std::move(m_files);
  }

 private:
  using index_type = row_keys::index_type;
  using join_type = join<row_keys::rows_type, index_type>;

  /// Requires the memory that the join takes in addition to the text, before any row is read.
  void require_enough_memory() {
    std::uint64_t const left = m_files.left->max_rows(), right = m_files.right->max_rows();
    auto const n = static_cast<double>(left + right);
    std::size_t const width = m_files.left->keys().size();
    double bytes =
        n * (sizeof(std::size_t) + static_cast<double>(width * sizeof(std::string_view)));
    bytes += row_keys::bytes_for(n, width);
    bytes += static_cast<double>(index_type::bytes_for(right) +
                                 index_type::workspace_bytes(m_exec, right)) +
             static_cast<double>(join_type::bytes_for(left, right, m_kind));
    require_memory(bytes, "joining " + counted(left + right, "row", "rows"),
                   "join smaller tables, or parts of them");
    m_files.memory_bytes = bytes;
    m_report(0, human_bytes(bytes) + " of memory");
  }

  void join_rows(row_keys const& keys) {
    m_report(0.85, "index");
    Kokkos::Timer clock;
    index_type const index(m_exec, keys.rows_of(1, null_equality::unequal));
    m_files.index_seconds = clock.seconds();
    m_report(0.9, "matches");
    clock.reset();
    join_type const joined(m_exec, keys.rows_of(0, null_equality::unequal), index, m_kind);
    m_files.match_seconds = clock.seconds();
    m_files.size = joined.size();
    require_memory(static_cast<double>(joined.size()) * (joined.has_pairs() ? 8 : 4),
                   "a join of " + counted(joined.size(), "row", "rows"),
                   "join by more columns, or parts of the tables");
    m_report(0.95, counted(joined.size(), "row", "rows"));
    clock.reset();
    collect_rows(joined);
    m_files.write_seconds = clock.seconds();
  }
  void collect_rows(join_type const& joined) {
    text_table const &left = *m_files.left, &right = *m_files.right;
    if (joined.has_pairs()) {
      auto const pairs = joined.pairs(m_exec);
      m_files.rows = {columns_of_pairs(left, right),
                      {&left, on_host_side(pairs.left)},
                      {&right, on_host_side(pairs.right)}};
    } else {
      bool const of_left = m_kind == join_kind::left_semi || m_kind == join_kind::left_anti;
      text_table const& table = of_left ? left : right;
      selected_rows::side const rows{&table, on_host_side(joined.rows(m_exec))};
      m_files.rows = {columns_of(table, of_left), of_left ? rows : selected_rows::side(),
                      of_left ? selected_rows::side() : rows};
    }
  }
  selected_rows::row_numbers on_host_side(array<std::uint32_t> const& rows) const {
    m_exec.fence("karpos::perf: rows of a join");
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rows);
  }

  join_parameters const& m_parameters;
  reporter const& m_report;
  join_kind m_kind;
  space m_exec;
  joined_files m_files;
};

}  // namespace

joined_files join_files(join_parameters const& p, reporter const& report) {
  return file_join(p, report)();
}

}  // namespace karpos::perf
