// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/support/mixed_json.hpp"
#include "perf/measure/support/mixed_run.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/maps/map_arguments.hpp"
#include "perf/tool/option_values.hpp"

namespace karpos::perf {
namespace {

struct mixed_options {
  mixed_parameters parameters;
  map_arguments arguments;
  std::string operations = "2^24", mix = "20,20,60", slots;
};

void print_heading(mixed_run const& run) {
  mixed_parameters const& p = run.parameters;
  std::printf("%s at once on %s of %d + %d bytes: %u %% insert, %u %% erase, %u %% find\n",
              counted(p.operations, "operation", "operations").c_str(),
              counted(p.keys, "key", "keys").c_str(), p.key_bytes, p.key_bytes, p.mix.insert,
              p.mix.erase, p.mix.find);
  std::printf("%s in before, in %s (load %.2f), %s of table\n",
              counted(run.sizes.filled, "key is", "keys are").c_str(),
              counted(run.sizes.slots, "slot", "slots").c_str(), run.sizes.load(),
              human_bytes(static_cast<double>(run.table_bytes)).c_str());
  print_machine(p.repetitions, run.ceilings);
}

void print_defects(mixed_result const& r) {
  mixed_defects const& d = r.defects;
  std::printf("  WRONG: %s (results %s, values %s, keys before %s and after %s, size %s)\n",
              grouped(r.wrong).c_str(), grouped(d.outcomes).c_str(), grouped(d.values).c_str(),
              grouped(d.before).c_str(), grouped(d.after).c_str(), grouped(d.size).c_str());
}

void print_result(mixed_run const& run, mixed_result const& r) {
  mixed_result const& first = run.results.front();
  std::printf("\n%s%s\n", r.map.c_str(), r.threads == 1 ? ", 1 thread" : "");
  std::printf(
      "  %s G/s   %s of random read, %s of random cas%s\n", three_digits(r.rate() * 1e-9).c_str(),
      three_digits(r.of_read()).c_str(), three_digits(r.of_cas()).c_str(),
      &r == &first
          ? ""
          : ("   " + first.map + " is " + three_digits(run.speedup_over(r)) + "x as fast").c_str());
  for (int k = 0; k < outcome_counts::kinds; ++k)
    if (std::uint64_t const n = r.outcomes.count[k];
        n > 0 || static_cast<outcome>(k) == outcome::full)
      std::printf("  %s %s   %s %%\n", left(outcome_counts::names[k], 8).c_str(),
                  right(grouped(n), 14).c_str(),
                  right(n == 0 ? "0"
                               : three_digits(100.0 * static_cast<double>(n) /
                                              static_cast<double>(r.operations)),
                        6)
                      .c_str());
  if (r.wrong > 0) print_defects(r);
}

int mixed(mixed_options o) {
  mixed_parameters& p = o.parameters;
  p.operations = parse_count(o.operations);
  p.keys = parse_count(o.arguments.keys);
  p.mix = parse_mix(o.mix);
  if (!o.slots.empty() && (p.slots = parse_count(o.slots)) == 0)
    throw bad_input("--slots is out of range (0 slots): choose 1 or more, or leave it out");
  p.maps = chosen_maps(o.arguments, can_apply);
  mixed_run run;
  {
    progress bar("karpos mixed");
    run = run_mixed(p, [&](double part, std::string const& what) { bar.show(part, what); });
  }
  return report_run(run, o.arguments.as_json, [](mixed_run const& all) {
    print_heading(all);
    for (mixed_result const& r : all.results) print_result(all, r);
  });
}

action define_mixed(CLI::App& app) {
  auto const o = std::make_shared<mixed_options>();
  mixed_parameters& p = o->parameters;
  // These maps are built or queried as a whole, or by one thread.
  o->arguments.unsupported = {"cuckoo", "cuckoo-dense", "multi", "kokkos",
                              "sorted", "std",          "absl",  "boost"};
  add_map_options(app, o->arguments, p,
                  "distinct keys that operations draw from: 30000, 10e6, 2^27",
                  "keys per slot before the operations, with those of --fill in");
  app.add_option("--ops", o->operations, "number of operations, all at once")
      ->capture_default_str()
      ->transform(count_validator());
  app.add_option("--mix", o->mix, "percentages of insertions, erasures, lookups")
      ->capture_default_str();
  app.add_option("--fill", p.fill, "fraction of the keys that are in the map before the operations")
      ->capture_default_str()
      ->check(number_between(0, 1));
  app.add_option("--slots", o->slots, "slots of the table; without it, as the load asks for")
      ->transform(count_validator());
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
