// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace karpos::perf {

using json = nlohmann::ordered_json;

/// The words of the command line, recorded with every result.
void remember_command_line(int argc, char const* const* argv);

/// What a result depends on beside its parameters: versions, device, compiler, commit, date, command.
/// Requires: Kokkos is initialized.
json context();

/// A report as one object; `?` for what is no UTF-8.
void print_json(json const& report);

std::string device_name();
/// Device, backend and threads, and how many readings of the clock a median is of, for a heading.
std::string where_it_ran(int repetitions);
std::vector<std::string> backends();

}  // namespace karpos::perf
