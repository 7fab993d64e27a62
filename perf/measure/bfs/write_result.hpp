// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "perf/measure/bfs/parameters.hpp"

namespace karpos::perf {

struct bfs_answer {
  std::uint64_t vertices;
  std::int32_t const* distance;
  std::uint32_t const* parent;  ///< null: no parents
  bfs_run const* run;           ///< has the names of vertices
};

/// Writes a line for each vertex: its distance and, if there are parents, a blank and its parent;
/// -1 for missing values. If vertices were renumbered, the line begins with the vertex's name. Tabs
/// replace blanks if a name contains a blank.
/// Throws: as output_file::close.
void write_result(std::string const& path, bfs_answer const& answer);

}  // namespace karpos::perf
