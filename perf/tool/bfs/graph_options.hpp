// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "perf/tool/graph/read_graph.hpp"

namespace karpos::perf {

/// Adds --format, which the commands that read a graph share.
inline void add_format_option(CLI::App& app, std::string& format) {
  app.add_option("--format", format, "format of the file; auto: by its content or its name")
      ->capture_default_str()
      ->check(CLI::IsMember(graph_format_names()));
}

}  // namespace karpos::perf
