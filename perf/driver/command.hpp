// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// A subcommand of the driver is one file in this folder, which defines a `command`, and its name in the
// list of perf/CMakeLists.txt.

namespace karpos::perf {

/// The input or the options cannot be used; the message says which and why. Exit code 2.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a subcommand does once its options are parsed. Returns the exit code: 0 good, 1 wrong answers.
using action = std::function<int()>;

struct command {
  std::string name, summary;
  action (*define)(CLI::App& options);  ///< adds its options, which the action keeps

  command(char const* n, char const* s, action (*d)(CLI::App&)) : name(n), summary(s), define(d) {
    all().push_back(*this);
  }
  static std::vector<command>& all() {
    static std::vector<command> list;
    return list;
  }
};

}  // namespace karpos::perf
