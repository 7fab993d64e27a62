// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "perf/measure/support/output_file.hpp"
#include "perf/tool/groupby/group_file.hpp"
#include "perf/tool/program/csv_cell.hpp"

namespace karpos::perf {
namespace {

std::string cells_of(std::vector<std::string> const& key) {
  std::string line;
  for (std::size_t k = 0; k < key.size(); ++k) line += (k == 0 ? "" : ",") + csv_cell(key[k]);
  return line;
}

std::string header(file_groups const& g) {
  std::string line = cells_of(g.by_name) + ",count";
  for (group_values const& v : g.values) line += ',' + csv_cell(v.name);
  return line + '\n';
}

std::string row_of(file_groups const& g, std::size_t i) {
  std::string line = cells_of(g.keys[i]) + ',' + std::to_string(g.counts[i]);
  for (group_values const& v : g.values) line += ',' + v.text(i);
  return line + '\n';
}

}  // namespace

void write_groups(std::string const& path, file_groups const& groups) {
  output_file file(path);
  file.write(header(groups));
  for (std::size_t i = 0; i < groups.size(); ++i) file.write(row_of(groups, i));
  file.close();
}

}  // namespace karpos::perf
