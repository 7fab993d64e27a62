// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/driver/command.hpp"
#include "perf/subjects/subject.hpp"
#include "perf/support/context.hpp"
#include "perf/support/hash_json.hpp"
#include "perf/support/hash_run.hpp"
#include "perf/support/progress.hpp"
#include "perf/support/text.hpp"

namespace karpos::perf {
namespace {

struct hash_options {
  hash_parameters parameters;
  std::string map = "hash", keys = "2^24";
  std::vector<std::string> peers;
  CLI::Option* with_peers = nullptr;
  bool as_json = false;
};

std::vector<std::string> chosen_maps(hash_options const& o) {
  std::vector<std::string> maps = {o.map};
  if (o.with_peers->count() == 0) return maps;
  for (std::string const& id : o.peers)
    if (!id.empty()) maps.push_back(id);
  if (maps.size() > 1) return maps;
  for (subject_entry const& s : subjects())
    if (s.peer) maps.push_back(s.id);
  return maps;
}

void print_heading(hash_run const& run) {
  hash_parameters const& p = run.parameters;
  std::printf("%s keys of %d + %d bytes, load %.2f, %s of table\n", grouped(p.keys).c_str(),
              p.key_bytes, p.key_bytes, p.load,
              human_bytes(static_cast<double>(run.table_bytes)).c_str());
  std::printf("%s, %s, %d threads, medians of %d\n", device_name().c_str(), space::name(),
              space().concurrency(), p.repetitions);
  std::printf("\nceilings over as much memory\n");
  for (ceiling const& c : run.ceilings)
    std::printf("  %s %s %s GB/s   %d bytes each, %s\n", left(c.name, 12).c_str(),
                c.name == "copy" ? "           "
                                 : (right(three_digits(c.rate() * 1e-9), 7) + " G/s").c_str(),
                right(three_digits(c.bytes_per_second() * 1e-9), 7).c_str(), c.bytes_each,
                c.variant.c_str());
}

/// Rate of the first map at the same operation over this one's.
double lead_over(hash_run const& run, hash_result const& r) {
  for (hash_result const& ours : run.results)
    if (ours.operation == r.operation) return ours.rate() / r.rate();
  return 0;
}

void print_results(hash_run const& run) {
  std::string const& ours = run.results.front().map;
  std::string last;
  for (hash_result const& r : run.results) {
    if (r.map != last)
      std::printf("\n%s%s\n  operation         G/s    GB/s   of its ceiling     %s\n",
                  r.map.c_str(), r.threads == 1 ? ", 1 thread" : "",
                  r.map == ours ? "" : "  karpos is");
    last = r.map;
    std::printf(
        "  %s %s %s   %s %s %s%s\n", left(r.operation, 12).c_str(),
        right(three_digits(r.rate() * 1e-9), 8).c_str(),
        right(three_digits(r.rate() * r.bytes_each * 1e-9), 7).c_str(),
        right(three_digits(r.ratio()), 6).c_str(), left(r.bound, 11).c_str(),
        r.map == ours ? "" : (right(three_digits(lead_over(run, r)), 7) + "x as fast").c_str(),
        r.wrong == 0 ? "" : ("   WRONG: " + grouped(r.wrong)).c_str());
  }
}

int hash(hash_options o) {
  o.parameters.keys = parse_count(o.keys);
  o.parameters.maps = chosen_maps(o);
  hash_run run;
  {
    progress bar("karpos hash");
    run =
        run_hash(o.parameters, [&](double part, std::string const& what) { bar.show(part, what); });
  }
  if (o.as_json) {
    std::printf("%s\n", to_json(run).dump(2).c_str());
  } else {
    print_heading(run);
    print_results(run);
  }
  if (run.wrong() == 0) return 0;
  std::fprintf(stderr, "karpos: %s answers were wrong\n", grouped(run.wrong()).c_str());
  return 1;
}

action define_hash(CLI::App& app) {
  auto const o = std::make_shared<hash_options>();
  hash_parameters& p = o->parameters;
  app.add_option("--keys", o->keys, "number of keys: 100000, 1e6, 2^27")->capture_default_str();
  app.add_option("--load", p.load, "keys per slot")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 0.98));
  app.add_option("--miss", p.miss, "part of the mixed queries that asks for absent keys")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--map", o->map, "which of our maps")
      ->capture_default_str()
      ->check(CLI::IsMember({"hash"}));
  app.add_option("--key-bytes", p.key_bytes, "bytes of a key, and of a value")
      ->capture_default_str()
      ->check(CLI::IsMember({4, 8}));
  app.add_option("--reps", p.repetitions, "readings of the clock; their median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--seed", p.seed, "of the random keys")->capture_default_str();
  o->with_peers =
      app.add_option("--peers", o->peers, "other maps in the same run; no names: all there are")
          ->expected(0, -1)
          ->delimiter(',');
  app.add_flag("--json", o->as_json, "print one JSON object");
  return [o] { return hash(*o); };
}

command const here("hash", "Build and query a hash map; hold every rate against the machine.",
                   define_hash);

}  // namespace
}  // namespace karpos::perf
