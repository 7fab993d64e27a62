// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/support/context.hpp"
#include "perf/measure/support/map_run.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"

// Options and output that the commands that measure maps share.

namespace karpos::perf {

/// The options in the form in which they are written.
struct map_arguments {
  std::string map = "hash", keys = "2^24";
  std::vector<std::string> peers;
  std::vector<std::string> unsupported;             ///< maps that the command refuses
  std::vector<std::string> key_bytes = {"4", "8"};  ///< that the command takes
  CLI::Option *with_peers = nullptr, *with_load = nullptr;
  bool as_json = false;
};

/// Adds --map, --keys, --load, and the options of add_last_map_options. The help does not offer the
/// maps in arguments.unsupported.
void add_map_options(CLI::App& app, map_arguments& arguments, map_parameters& p, char const* keys,
                     char const* load);
/// Adds --key-bytes, --reps, --seed, --peers, --json.
void add_last_map_options(CLI::App& app, map_arguments& arguments, map_parameters& p);

/// Returns the maps to measure, the reference first. If --peers names none, all maps for which
/// `can` holds are peers.
std::vector<std::string> chosen_maps(map_arguments const& arguments,
                                     std::function<bool(subject_entry const&)> const& can);

/// Prints the run as text or as JSON, and a message if answers were wrong. Returns the exit code.
template <class Run>
int report_run(Run const& run, bool as_json) {
  print_report(as_json, run);
  if (run.wrong() == 0) return 0;
  std::fprintf(stderr, "karpos: %s answers were wrong\n", grouped(run.wrong()).c_str());
  return 1;
}

}  // namespace karpos::perf
