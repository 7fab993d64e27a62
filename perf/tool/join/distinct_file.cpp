// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Timer.hpp>
#include <algorithm>

#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/join/row_keys.hpp"
#include "perf/tool/join/table_files.hpp"

namespace karpos::perf {
namespace {

void require_enough_memory(text_table const& table) {
  auto const n = static_cast<double>(table.max_rows());
  std::size_t const width = table.keys().size();
  double const text =
      n * (sizeof(std::size_t) + static_cast<double>(width * sizeof(std::string_view)));
  using index = row_keys::index_type;
  std::size_t const compared =
      index::bytes_for(table.max_rows(), duplicates::dropped) +
      index::workspace_bytes(space(), table.max_rows(), duplicates::dropped);
  require_memory(text + row_keys::bytes_for(n, width) + static_cast<double>(compared),
                 "comparing " + counted(table.max_rows(), "row", "rows"),
                 "take a part of the table, or fewer columns");
}

}  // namespace

distinct_file find_distinct(distinct_parameters const& p, reporter const& report) {
  Kokkos::Timer const clock;
  distinct_file found;
  format_settings settings = p.format;
  settings.columns = p.by;
  found.table = std::make_unique<text_table>(p.file, settings);
  text_table& table = *found.table;
  table.require_different_keys("--by");
  require_enough_memory(table);
  table.read([&](double part, std::string const& what) { report(0.8 * part, what); });
  report(0.8, "keys");
  space const exec;
  row_keys const keys(exec, {&table}, table.keys().size(), p.format.text);
  found.compared = keys.compared();
  report(0.9, "different rows");
  Kokkos::Timer const distinct_clock;
  auto const firsts = make_array<std::uint32_t>("first rows", table.rows());
  found.size = distinct_indices(exec, keys.rows_of(0, null_equality::equal), firsts);
  auto const rows = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(), Kokkos::subview(firsts, std::make_pair(std::uint64_t(0), found.size)));
  found.distinct_seconds = distinct_clock.seconds();
  std::vector<selected_rows::column> columns;
  for (std::size_t const c : table.keys())
    columns.push_back({table.names()[c], c, selected_rows::no_column});
  found.rows = {std::move(columns), {&table, rows}, {}};
  found.seconds = clock.seconds();
  return found;
}

}  // namespace karpos::perf
