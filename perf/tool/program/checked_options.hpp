// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// Checks of options that several commands share.

namespace karpos::perf {

/// Refuses given options that would have no effect.
/// Throws: bad_input that says why the option does not apply, and what to choose so that it does.
void require_none(std::vector<CLI::Option*> const& options, std::string const& why,
                  std::string const& what_to_choose);

/// Refuses an output on standard output, where the report goes, or in an input file. `what` is the
/// name of the input: "the table".
/// Throws: bad_input.
void require_output(std::string const& output, std::vector<std::string> const& inputs,
                    std::string const& what);

}  // namespace karpos::perf
