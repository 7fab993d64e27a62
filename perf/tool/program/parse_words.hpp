// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace karpos::perf {

/// Parses the command line, whose first word that is not an option is the command.
/// Throws: CLI::Success for help and version; bad_input that names the word which cannot be used,
/// and the nearest valid one.
void parse_words(CLI::App& app, std::vector<std::string> const& words);

}  // namespace karpos::perf
