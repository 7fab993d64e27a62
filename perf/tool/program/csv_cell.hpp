// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace karpos::perf {

/// Returns a CSV field, in quotes if needed.
inline std::string csv_cell(std::string const& text) {
  bool const plain = text.find_first_of(",;\"\n\r\t ") == std::string::npos && !text.empty() &&
                     text.front() != '#' && text.front() != '%';
  if (plain) return text;
  std::string quoted = "\"";
  for (char const c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace karpos::perf
