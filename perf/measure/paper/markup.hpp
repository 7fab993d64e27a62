// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "perf/measure/support/text.hpp"

namespace karpos::perf::paper {

/// Returns a text for HTML and XML, with `?` for control characters.
inline std::string escaped(std::string const& text) {
  std::string result;
  for (char const c : printable(text)) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

}  // namespace karpos::perf::paper
