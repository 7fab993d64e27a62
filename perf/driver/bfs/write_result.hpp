// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "perf/driver/bfs/parameters.hpp"

namespace karpos::perf {

struct bfs_answer {
  std::uint64_t vertices;
  std::int32_t const* distance;
  std::uint32_t const* parent;  ///< null: there are none
  bfs_run const* run;           ///< knows the names
};

/// Writes a line for each vertex: its distance and, where there are parents, a blank and its parent; -1 for what
/// there is not. Where vertices were numbered anew, the line begins with the id; tabs stand in the place of blanks if a
/// name has one.
/// Throws: std::invalid_argument if the file cannot be written; what was written of it is removed.
void write_result(std::string const& path, bfs_answer const& answer);

}  // namespace karpos::perf
