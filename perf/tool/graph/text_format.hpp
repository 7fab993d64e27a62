// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "perf/tool/graph/input.hpp"

namespace karpos::perf::graph_input {

/// Determines the format of a text by its content, or by the end of its name if the content does
/// not decide. `known` is the advice in a message about an unknown file.
/// Throws: graph_file_error for a text that looks like two formats, or like a damaged file.
graph_format format_of_text(input const& in, bool words, char const* known);

/// Returns the line of names above the edges of a list, or nothing. Words above numbers are such
/// names, and so are words such as "source" and "target".
std::string_view header_of_list(input const& in);

}  // namespace karpos::perf::graph_input
