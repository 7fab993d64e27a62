// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace karpos::perf {

/// Writes a line for each vertex: its distance and, where there are parents, a blank and its parent; -1 for what
/// there is not.
/// Throws: std::invalid_argument if the file cannot be written; what was written of it is removed.
void write_result(std::string const& path, std::uint64_t vertices, std::int32_t const* distance,
                  std::uint32_t const* parent);

}  // namespace karpos::perf
