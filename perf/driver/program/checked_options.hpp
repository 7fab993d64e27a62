// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// What several commands ask of their options.

namespace karpos::perf {

/// An option that has no effect is a mistake.
/// Throws: bad_input for one that was given, with the reason why it does not apply, and what to choose for it to.
void require_none(std::vector<CLI::Option*> const& options, std::string const& why,
                  std::string const& what_to_choose);

/// Throws: bad_input for an output that would lie on standard output, which has the report, or in a file that is read;
/// `what` is read there: "the table".
void require_output(std::string const& output, std::vector<std::string> const& inputs,
                    std::string const& what);

}  // namespace karpos::perf
