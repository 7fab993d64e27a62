// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/support/context.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/command.hpp"

namespace karpos::perf {
namespace {

std::string shown(json const& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string words;
  for (auto const& word : value)
    words.append(words.empty() ? "" : " ").append(word.get<std::string>());
  return words;
}

int info(bool as_json) {
  json facts = context();
  facts.erase("date");
  facts.erase("command");
  if (as_json) {
    std::printf("%s\n", facts.dump(2).c_str());
    return 0;
  }
  for (auto const& [name, value] : facts.items())
    std::printf("%s %s\n", left(name, 12).c_str(), shown(value).c_str());
  return 0;
}

action define_info(CLI::App& app) {
  auto const as_json = std::make_shared<bool>(false);
  app.add_flag("--json", *as_json, "print one JSON object");
  app.footer(
      "Of this build and this machine; every --json of the other commands has it as its context.\n"
      "Example: karpos info --json");
  return [as_json] { return info(*as_json); };
}

command const info_command("info", "Print the version, the backends and the device.", define_info);

}  // namespace
}  // namespace karpos::perf
