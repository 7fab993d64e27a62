// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/maps/map_arguments.hpp"

#include <algorithm>

#include "perf/tool/option_values.hpp"
#include "perf/tool/program/help_text.hpp"

namespace karpos::perf {

namespace {

/// Returns the names except those that do not fit the command, with `between` between them.
std::string list_supported(std::vector<std::string> const& names, map_arguments const& arguments,
                           char const* between) {
  std::string list;
  for (std::string const& name : names)
    if (std::find(arguments.unsupported.begin(), arguments.unsupported.end(), name) ==
        arguments.unsupported.end())
      list += (list.empty() ? "" : between) + name;
  return list;
}

std::vector<std::string> all_subjects() {
  std::vector<std::string> names;
  for (subject_entry const& s : subjects()) names.push_back(s.id);
  return names;
}

}  // namespace

void add_map_options(CLI::App& app, map_arguments& arguments, map_parameters& p, char const* keys,
                     char const* load) {
  app.add_option("--map", arguments.map, "which of our maps")
      ->capture_default_str()
      ->check(CLI::IsMember(our_subjects())
                  .description("{" + list_supported(our_subjects(), arguments, ",") + "}"));
  app.add_option("--keys", arguments.keys, keys)
      ->capture_default_str()
      ->transform(count_validator());
  arguments.with_load = app.add_option("--load", p.load, load)
                            ->capture_default_str()
                            ->check(number_between(0.01, 0.98));
}

void add_last_map_options(CLI::App& app, map_arguments& arguments, map_parameters& p) {
  app.add_option("--key-bytes", p.key_bytes, "bytes of a key, and of a value")
      ->capture_default_str()
      ->check(CLI::IsMember(arguments.key_bytes));
  add_repetitions(app, p.repetitions);
  app.add_option("--seed", p.seed, "of the random keys")
      ->transform(count_validator())
      ->capture_default_str();
  arguments.with_peers =
      app.add_option("--peers", arguments.peers,
                     "other maps in the same run, ours too, of " +
                         list_supported(all_subjects(), arguments, ", ") +
                         ";\nno names: all peers but the tables that papers describe")
          ->expected(0, -1)
          ->delimiter(',');
  put_in_group(app, "Runs");
  app.add_flag("--json", arguments.as_json, "print one JSON object");
}

std::vector<std::string> chosen_maps(map_arguments const& arguments,
                                     std::function<bool(subject_entry const&)> const& can) {
  std::vector<std::string> maps = {arguments.map};
  if (arguments.with_peers->count() == 0) return maps;
  for (std::string const& id : arguments.peers)
    if (!id.empty()) maps.push_back(id);  // --peers without a value is one empty name
  if (maps.size() > 1) return maps;
  for (subject_entry const& s : subjects())
    if (s.peer && !s.only_if_named && can(s)) maps.push_back(s.id);
  return maps;
}

}  // namespace karpos::perf
