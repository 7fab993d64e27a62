// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace karpos::perf {

/// Prints the help of a command in lines of at most 80 columns: the example, which is the last line
/// of the footer, the usage, the options in groups, and the rest of the footer.
struct help_text : CLI::Formatter {
  std::string make_help(CLI::App const* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

/// Puts the options that were added since the last call into a group of the help.
void put_in_group(CLI::App& app, std::string const& group);

}  // namespace karpos::perf
