// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/driver/command.hpp"
#include "perf/driver/maps/map_words.hpp"
#include "perf/support/hash_json.hpp"
#include "perf/support/hash_run.hpp"

namespace karpos::perf {
namespace {

struct hash_options {
  hash_parameters parameters;
  map_words words;
};

void print_heading(hash_run const& run) {
  hash_parameters const& p = run.parameters;
  std::printf("%s keys of %d + %d bytes, load %.2f, %s of table\n", grouped(p.keys).c_str(),
              p.key_bytes, p.key_bytes, p.load,
              human_bytes(static_cast<double>(run.table_bytes)).c_str());
  print_machine(p.repetitions, run.ceilings);
}

void print_results(hash_run const& run) {
  std::string const& ours = run.results.front().map;
  std::string last;
  for (hash_result const& r : run.results) {
    if (r.map != last)
      std::printf("\n%s%s\n  operation         G/s    GB/s   of its ceiling     %s\n",
                  r.map.c_str(), r.threads == 1 ? ", 1 thread" : "",
                  r.map == ours ? "" : ("  " + ours + " is").c_str());
    last = r.map;
    std::printf(
        "  %s %s %s   %s %s %s%s\n", left(r.operation, 12).c_str(),
        right(three_digits(r.rate() * 1e-9), 8).c_str(),
        right(three_digits(r.rate() * r.bytes_each * 1e-9), 7).c_str(),
        right(three_digits(r.ratio()), 6).c_str(), left(r.bound, 11).c_str(),
        r.map == ours ? "" : (right(three_digits(run.lead_over(r)), 7) + "x as fast").c_str(),
        r.wrong == 0 ? "" : ("   WRONG: " + grouped(r.wrong)).c_str());
  }
}

int hash(hash_options o) {
  o.parameters.keys = parse_count(o.words.keys);
  o.parameters.maps = chosen_maps(o.words, [](subject_entry const&) { return true; });
  hash_run run;
  {
    progress bar("karpos hash");
    run =
        run_hash(o.parameters, [&](double part, std::string const& what) { bar.show(part, what); });
  }
  return report_run(run, o.words.as_json, [](hash_run const& r) {
    print_heading(r);
    print_results(r);
  });
}

action define_hash(CLI::App& app) {
  auto const o = std::make_shared<hash_options>();
  hash_parameters& p = o->parameters;
  add_map_options(app, o->words, p, "number of keys: 100000, 1e6, 2^27", "keys per slot");
  app.add_option("--miss", p.miss, "part of the mixed queries that asks for absent keys")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  add_last_map_options(app, o->words, p);
  return [o] { return hash(*o); };
}

command const here("hash", "Build and query a hash map; hold every rate against the machine.",
                   define_hash);

}  // namespace
}  // namespace karpos::perf
