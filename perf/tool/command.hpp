// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "perf/measure/support/bad_input.hpp"

// A subcommand of the driver is one file in this folder, which defines a `command`; its name is
// also in the list of perf/CMakeLists.txt.

namespace karpos::perf {

/// Runs a subcommand after its options are parsed. Returns the exit code: 0 for success, 1 for
/// wrong answers.
using action = std::function<int()>;

struct command {
  std::string name, summary;
  action (*define)(CLI::App& options);  ///< adds its options, which the action keeps alive

  command(char const* n, char const* s, action (*d)(CLI::App&)) : name(n), summary(s), define(d) {
    all().push_back(*this);
  }
  static std::vector<command>& all() {
    static std::vector<command> list;
    return list;
  }
};

}  // namespace karpos::perf
