// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "perf/graph/input.hpp"

namespace karpos::perf::graph_input {

/// Tells the format of a text by its content, and by the end of its name if the content does not tell.
/// known: what a message about an unknown file offers. Throws: graph_file_error for a text that looks like two formats, or
/// like a broken one.
graph_format format_of_text(input const& in, bool words, char const* known);

/// Returns the line of names above the edges of a list, or nothing: words above numbers, or words such as "source" and
/// "target".
std::string_view header_of_list(input const& in);

}  // namespace karpos::perf::graph_input
