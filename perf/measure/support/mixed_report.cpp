// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/mixed_report.hpp"

#include <cstdio>

#include "perf/measure/support/map_report.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

json to_json(mixed_result const& r) {
  json outcomes = json::object();
  for (int k = 0; k < outcome_counts::kinds; ++k)
    outcomes[outcome_counts::names[k]] = r.outcomes.count[k];
  mixed_defects const& d = r.defects;
  return timing_json(r, {{"of_random_read", r.of_read()},
                         {"of_random_cas", r.of_cas()},
                         {"outcomes", outcomes},
                         {"defects",
                          {{"outcomes", d.outcomes},
                           {"values", d.values},
                           {"before", d.before},
                           {"after", d.after},
                           {"size", d.size}}}});
}

void print_heading(mixed_run const& run) {
  mixed_parameters const& p = run.parameters;
  std::string const kinds =
      p.copies > 0 ? counted(p.copies, "insertion", "insertions") + " of a key beside each erasure"
                   : std::to_string(p.mix.insert) + " % insert, " + std::to_string(p.mix.erase) +
                         " % erase, " + std::to_string(p.mix.find) + " % find";
  std::printf("%s at once on %s of %d + %d bytes: %s\n",
              counted(p.operations, "operation", "operations").c_str(),
              counted(p.keys, "key", "keys").c_str(), p.key_bytes, p.key_bytes, kinds.c_str());
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

}  // namespace

json to_json(mixed_run const& run) {
  mixed_parameters const& p = run.parameters;
  json own = {{"operations", p.operations},
              {"mix", {p.mix.insert, p.mix.erase, p.mix.find}},
              {"fill", p.fill},
              {"filled", run.sizes.filled},
              {"filled_load", run.sizes.load()},
              {"max_keys", run.sizes.max_keys},
              {"slots", run.sizes.slots}};
  if (p.copies > 0) {
    own["copies"] = p.copies;
    own.erase("mix");
  }
  return run_json("karpos-mixed-1", run, parameters_json(p, run.table_bytes, own),
                  [](mixed_result const& r) { return to_json(r); });
}

void print(mixed_run const& run) {
  print_heading(run);
  for (mixed_result const& r : run.results) print_result(run, r);
}

}  // namespace karpos::perf
