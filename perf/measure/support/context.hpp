// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace karpos::perf {

using json = nlohmann::ordered_json;

/// Keeps the words of the command line, which are recorded with every result.
void remember_command_line(int argc, char const* const* argv);

/// Returns everything but its parameters that a result depends on: versions, device, compiler,
/// commit, date, command.
/// Requires: Kokkos is initialized.
json context();

/// Prints a report as one object, with `?` for what is not UTF-8.
void print_json(json const& report);

/// Prints a report, to_json(of...) or what print(of...) prints.
template <class... T>
void print_report(bool as_json, T const&... of) {
  if (as_json)
    print_json(to_json(of...));
  else
    print(of...);
}

std::string device_name();
/// Returns a text for a heading: device, backend, threads, and the number of readings in a median.
std::string run_description(int repetitions);
std::vector<std::string> backends();

}  // namespace karpos::perf
