// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/support/mixed_report.hpp"
#include "perf/measure/support/mixed_run.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/maps/map_arguments.hpp"
#include "perf/tool/option_values.hpp"
#include "perf/tool/program/help_text.hpp"

namespace karpos::perf {
namespace {

struct mixed_options {
  mixed_parameters parameters;
  map_arguments arguments;
  std::string operations = "2^24", mix = "20,20,60", copies, slots;
};

int mixed(mixed_options o) {
  mixed_parameters& p = o.parameters;
  p.operations = parse_count(o.operations);
  p.keys = parse_count(o.arguments.keys);
  p.mix = parse_mix(o.mix);
  if (!o.copies.empty()) {
    p.copies = parse_count(o.copies);
    if (p.copies < 1 || p.copies > 1000000000)
      throw bad_input("--copies is out of range (" + o.copies + " insertions): choose 1 to 10^9");
    p.operations = operations_by_copies(p);
  }
  if (!o.slots.empty() && (p.slots = parse_count(o.slots)) == 0)
    throw bad_input("--slots is out of range (0 slots): choose 1 or more, or leave it out");
  p.maps = chosen_maps(o.arguments, can_apply);
  return report_run(
      with_progress("karpos mixed", [&](reporter const& report) { return run_mixed(p, report); }),
      o.arguments.as_json);
}

action define_mixed(CLI::App& app) {
  auto const o = std::make_shared<mixed_options>();
  mixed_parameters& p = o->parameters;
  // These maps are built or queried as a whole, or by one thread.
  o->arguments.unsupported = {"cuckoo", "cuckoo-dense", "multi", "kokkos",
                              "sorted", "std",          "absl",  "boost",
                              "linear", "quadratic",    "fks",   "unordered"};
  add_map_options(app, o->arguments, p,
                  "distinct keys that operations draw from: 30000, 10e6, 2^27",
                  "keys per slot before the operations, with those of --fill in");
  auto* const operations =
      app.add_option("--ops", o->operations, "number of operations, all at once")
          ->capture_default_str()
          ->transform(count_validator());
  auto* const mix = app.add_option("--mix", o->mix, "percentages of insertions, erasures, lookups")
                        ->capture_default_str();
  app.add_option(
         "--copies", o->copies,
         "instead of --ops and --mix: the number of insertions of a key beside each erasure\n"
         "of another; it must not be stored twice")
      ->transform(count_validator())
      ->excludes(operations)
      ->excludes(mix);
  app.add_option("--fill", p.fill, "fraction of the keys that are in the map before the operations")
      ->capture_default_str()
      ->check(number_between(0, 1));
  app.add_option("--slots", o->slots, "slots of the table; without it, as the load asks for")
      ->transform(count_validator());
  put_in_group(app, "Map and operations");
  add_last_map_options(app, o->arguments, p);
  app.footer(
      "Before each reading the map is cleared and filled. Outcomes are those of the last one.\n"
      "G/s: 10^9 operations a second, and as fractions of what the memory of this machine allows.\n"
      "Example: karpos mixed --map hopscotch --keys 1e5 --ops 1e6");
  return [o] { return mixed(*o); };
}

command const mixed_command("mixed", "Insert, erase and find at once; verify every result.",
                            define_mixed);

}  // namespace
}  // namespace karpos::perf
