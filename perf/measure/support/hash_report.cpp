// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/hash_report.hpp"

#include <cstdio>

#include "perf/measure/support/energy_report.hpp"
#include "perf/measure/support/map_report.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

json to_json(std::vector<fact> const& facts) {
  json j = json::object();
  for (fact const& f : facts) std::visit([&](auto value) { j[f.name] = value; }, f.value);
  return j;
}

json to_json(hash_result const& r) {
  json own = {{"ceiling", r.bound}, {"of_ceiling", r.ratio()}};
  if (!r.facts.empty()) own["facts"] = to_json(r.facts);
  if (r.energy) {
    json& e = own["energy"] = to_json(*r.energy);
    auto const all = static_cast<double>(r.energy->rounds * r.operations);
    if (r.energy->is_measured()) e["nanojoules_each"] = 1e9 * r.energy->joules() / all;
  }
  return timing_json(r, own);
}

void print_heading(hash_run const& run) {
  hash_parameters const& p = run.parameters;
  std::printf("%s of %d + %d bytes, ", counted(p.keys, "key", "keys").c_str(), p.key_bytes,
              p.value_bytes());
  if (p.multiplicity > 0)
    std::printf("%s a key, ", counted(p.multiplicity, "pair", "pairs").c_str());
  if (run.supports_load) std::printf("load %.2f, ", p.load);
  std::printf("%s of table", human_bytes(static_cast<double>(run.table_bytes)).c_str());
  std::printf("%s\n", p.input == "device" ? "" : (", input in memory: " + p.input).c_str());
  print_machine(p.repetitions, run.ceilings);
}

std::string text_of(std::uint64_t n) { return grouped(n); }
std::string text_of(double x) { return three_digits(x); }

void print_map(hash_result const& r, std::string const& ours) {
  std::printf("\n%s%s\n", r.map.c_str(), r.threads == 1 ? ", 1 thread" : "");
  for (fact const& f : r.facts)
    std::printf("  %s %s\n", left(f.name, 16).c_str(),
                std::visit([](auto value) { return text_of(value); }, f.value).c_str());
  std::printf("  operation         G/s    GB/s   of its ceiling     %s\n",
              r.map == ours ? "" : ("  " + ours + " is").c_str());
}

void print_results(hash_run const& run) {
  std::string const& ours = run.results.front().map;
  std::string last;
  for (hash_result const& r : run.results) {
    if (r.map != last) print_map(r, ours);
    bool const compared = r.map != ours && run.speedup_over(r) > 0;
    last = r.map;
    std::printf(
        "  %s %s %s   %s %s %s%s\n", left(r.operation, 12).c_str(),
        right(three_digits(r.rate() * 1e-9), 8).c_str(),
        right(three_digits(r.rate() * r.bytes_each * 1e-9), 7).c_str(),
        right(three_digits(r.ratio()), 6).c_str(), left(r.bound, 11).c_str(),
        !compared ? "" : (right(three_digits(run.speedup_over(r)), 7) + "x as fast").c_str(),
        r.wrong == 0 ? "" : ("   WRONG: " + grouped(r.wrong)).c_str());
    if (r.energy) print(*r.energy, "query", static_cast<double>(r.energy->rounds * r.operations));
  }
}

}  // namespace

json to_json(hash_run const& run) {
  hash_parameters const& p = run.parameters;
  json own = {{"miss", p.miss}};
  if (p.input != "device") own["input"] = p.input;
  if (p.multiplicity > 0) own["multiplicity"] = p.multiplicity;
  if (!p.widths.empty()) own["widths"] = p.widths;
  return run_json("karpos-hash-1", run, parameters_json(p, run.table_bytes, own),
                  [](hash_result const& r) { return to_json(r); });
}

void print(hash_run const& run) {
  print_heading(run);
  print_results(run);
}

}  // namespace karpos::perf
