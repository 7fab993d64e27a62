// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "perf/measure/paper/measured_maps.hpp"
#include "perf/measure/paper/papers.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/support/mixed_run.hpp"
#include "perf/measure/support/text.hpp"

// Figures 9 and 10: tables that are built, then queried. Figures 11 and 12: insertions, erasures
// and lookups at once. `waits`: what it costs that writers of one home and class wait.

namespace karpos::perf::paper {
namespace {

constexpr char const* glht_no_values = "the text gives no values of this figure, only ratios";

/// A map of the figures: its id, its name in the legend, and where it is from.
struct glht_map {
  std::string id, name;
  origin from;
};

std::vector<std::string> glht_ids(std::vector<glht_map> const& maps) {
  std::vector<std::string> ids;
  for (glht_map const& m : maps) ids.push_back(m.id);
  return ids;
}

/// A figure with a line for each map, and one for the paper.
figure glht_figure(std::string const& title, axis const& x, axis const& y,
                   std::vector<glht_map> const& maps) {
  figure f;
  f.title = title;
  f.x = x;
  f.y = y;
  for (glht_map const& m : maps) f.lines.push_back({m.name, m.from});
  f.lines.push_back({"GLHT", origin::published, {}, {}, glht_no_values});
  return f;
}

// Figures 9 and 10 -------------------------------------------------------------------------------

std::vector<glht_map> glht_static_maps() {
  return {{"hopscotch", "hopscotch_map", origin::ours},
          {"hash", "hash_map", origin::ours},
          {"cuckoo-dense", "cuckoo_map, dense", origin::ours},
          {"linear", "linear probing", origin::peer},
          {"quadratic", "quadratic probing", origin::peer}};
}

/// Measures the static maps, unless the figure before did.
hash_run glht_static_run(scale const& s, double keys, double load, reporter const& report) {
  return measured_maps(glht_ids(glht_static_maps()), keys, load, s, report);
}

/// The values of one operation over a sweep of runs, which differ in `keys` or `loads`.
figure glht_static_figure(scale const& s, std::vector<double> const& keys,
                          std::vector<double> const& loads, std::string const& operation,
                          std::string const& title, reporter const& report) {
  bool const by_load = loads.size() > 1;
  figure f = glht_figure(title, {by_load ? "keys per slot" : "operations", !by_load},
                         {"operations (10^9/s)", true}, glht_static_maps());
  double const steps = static_cast<double>(keys.size() * loads.size());
  double done = 0;
  series bound{"random access to memory", origin::ceiling};
  for (double const n : keys)
    for (double const load : loads) {
      hash_run const run = glht_static_run(s, n, load, [&](double part, std::string const& what) {
        report((done + part) / steps, grouped(static_cast<std::uint64_t>(n)) + " keys, " + what);
      });
      std::size_t line = 0;
      for (hash_result const& r : run.results) {
        f.wrong += r.wrong;
        if (r.operation != operation) continue;
        f.lines[line++].points.push_back({by_load ? load : n, r.rate() * 1e-9});
        if (line == 1) bound.points.push_back({by_load ? load : n, r.bound_rate * 1e-9});
      }
      ++done;
    }
  f.lines.push_back(bound);
  f.notes.push_back(by_load ? "The paper has this figure for load 0.8 alone."
                            : "Load 0.8, which is what the paper fixes its use of memory to.");
  return f;
}

std::vector<double> glht_sweep(scale const& s) {
  return s.pick<std::vector<double>>({1e3, 1e4, 1e5}, {1e4, 1e5, 1e6, 1e7},
                                     {1e4, 1e5, 1e6, 1e7, 67108864});
}
std::vector<double> glht_loads(scale const& s) {
  return s.pick<std::vector<double>>({0.4, 0.8}, {0.2, 0.4, 0.6, 0.7, 0.8});
}
double glht_keys_by_load(scale const& s) { return s.pick<double>(1e5, 1e7, 67108864); }

/// The text has no numbers for "acceptably" and "reasonable": here these are half the rate.
void glht_claim_build(figure& f) {
  f.claims.push_back(
      judge("builds slower than linear and quadratic probing do, but acceptably",
            {{ratio(f.lines[0], f.lines[3]), 0.5, 1, " times the rate of linear probing"},
             {ratio(f.lines[0], f.lines[4]), 0.5, 1, " times that of quadratic probing"}}));
}
void glht_claim_find(figure& f) {
  series best{"the fastest static table", origin::peer};
  for (point const& p : f.lines[0].points) {
    best.points.push_back({p.x, 0});
    for (int line : {2, 3, 4})
      best.points.back().y = std::max(
          best.points.back().y, value_at(f.lines[static_cast<std::size_t>(line)], p.x).value_or(0));
  }
  f.claims.push_back(judge(
      "finds keys at a reasonable rate beside static tables",
      {at_least(ratio(f.lines[0], best), 0.5, " times the rate of the fastest static table")}));
}

constexpr bool glht_builds = false, glht_finds = true, glht_by_count = false, glht_by_load = true;

/// Rates of building or finding, by the number of operations or by the load.
template <bool Finds, bool ByLoad>
figure glht_static(scale const& s, reporter const& report) {
  auto const keys = ByLoad ? std::vector<double>{glht_keys_by_load(s)} : glht_sweep(s);
  auto const loads = ByLoad ? glht_loads(s) : std::vector<double>{0.8};
  std::string const title = Finds ? "rate of finding" : "rate of building";
  figure f = glht_static_figure(s, keys, loads, Finds ? "find hits" : "insert",
                                title + (ByLoad ? " by load" : ""), report);
  Finds ? glht_claim_find(f) : glht_claim_build(f);
  return f;
}

// Figures 11 and 12, and waits -------------------------------------------------------------------

constexpr std::uint64_t glht_slots = 131072;  ///< of every table, for 10^5 keys at load 0.76

std::vector<glht_map> glht_dynamic_maps() {
  std::vector<glht_map> maps = {
      {"hopscotch", "hopscotch_map", origin::ours},
      {"chained", "lock-free chains, nodes allocated before", origin::peer},
      {"chained-alloc", "lock-free chains, nodes allocated within", origin::peer},
      {"hopscotch-locked", on_host ? "hopscotch with locks (CPU)" : "hopscotch with locks",
       origin::peer},
      {"hash", "hash_map, slots of erased keys not used again", origin::ours}};
  if (!on_host) maps.push_back({"hopscotch-cpu", "hopscotch with locks, CPU", origin::peer});
  return maps;
}

/// Measures 10^5 operations on the maps, which are empty before, for each range of keys.
figure glht_mixed_figure(operation_mix const& mix, std::vector<double> const& ranges,
                         std::vector<glht_map> const& maps, std::string const& title,
                         reporter const& report) {
  figure f = glht_figure(title, {"range of keys", true}, {"operations (10^6/s)", true}, maps);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    mixed_parameters p;
    p.keys = static_cast<std::uint64_t>(ranges[i]);
    p.operations = 100000;
    p.mix = mix;
    p.fill = 0;
    p.slots = glht_slots;
    p.repetitions = 3;
    p.maps = glht_ids(maps);
    mixed_run const run = run_mixed(p, [&](double part, std::string const& what) {
      report((static_cast<double>(i) + part) / static_cast<double>(ranges.size()),
             grouped(p.keys) + " keys, " + what);
    });
    for (std::size_t line = 0; line < run.results.size(); ++line)
      f.lines[line].points.push_back({ranges[i], run.results[line].rate() * 1e-6});
    f.wrong += run.wrong();
  }
  f.notes.push_back("100,000 operations on " + grouped(glht_slots) +
                    " slots, which are empty before; medians of three, as in the paper.");
  return f;
}

constexpr double glht_small = 1000, glht_large = 10000, glht_largest = 100000;
std::vector<double> glht_ranges() { return {1e2, glht_small, glht_large, glht_largest}; }

/// Adds a claim about rates, which are all those of a GPU.
void glht_add(figure& f, std::string const& text, std::vector<expectation> const& parts) {
  f.claims.push_back(judge(text, parts));
  f.claims.back().about_gpu = true;
}

/// Returns the rate of hopscotch_map over that of the peer with this id.
std::vector<point> glht_lead(figure const& f, std::string const& id) {
  auto const maps = glht_dynamic_maps();
  auto const at = std::find_if(maps.begin(), maps.end(), [&](auto const& m) { return m.id == id; });
  return ratio(f.lines[0], f.lines[static_cast<std::size_t>(at - maps.begin())]);
}

/// Returns the smallest value alone.
std::vector<point> glht_lowest(std::vector<point> const& points) {
  auto const at = std::min_element(points.begin(), points.end(),
                                   [](point const& a, point const& b) { return a.y < b.y; });
  return at == points.end() ? points : std::vector<point>{*at};
}

/// Figures 11 and 12, but for their claims.
figure glht_dynamic_figure(operation_mix const& mix, std::string const& title,
                           reporter const& report) {
  figure f = glht_mixed_figure(mix, glht_ranges(), glht_dynamic_maps(), title, report);
  f.notes.push_back(
      "How the paper's chains allocate their nodes is our guess, and their rate depends on it: the "
      "text says only that the time counts. Here each node is allocated for itself.");
  return f;
}

constexpr char const* glht_times = " times as fast";
constexpr char const* glht_cpu = on_host ? "hopscotch-locked" : "hopscotch-cpu";

figure glht_reads(scale const&, reporter const& report) {
  figure f =
      glht_dynamic_figure({20, 20, 60}, "20 % insertions, 20 % erasures, 60 % lookups", report);
  std::vector<point> const chains = ratio(f.lines[1], f.lines[0]);
  glht_add(f, "about 200 times as fast as chains that allocate their nodes",
           {about(glht_lead(f, "chained-alloc"), 200, 200, glht_times)});
  glht_add(f,
           "chains with nodes allocated before are 2 to 3 times as fast, 1 to 2 times at large "
           "ranges",
           {about(between(chains, 0, glht_small), 2, 3, " times at ranges up to 1,000"),
            {between(chains, glht_large, glht_largest), 1, 2, " times from 10,000 on"}});
  glht_add(f, "4 to 5 times as fast as hopscotch with locks on a CPU",
           {about(glht_lead(f, glht_cpu), 4, 5, glht_times)});
  return f;
}

figure glht_writes(scale const&, reporter const& report) {
  figure f =
      glht_dynamic_figure({40, 40, 20}, "40 % insertions, 40 % erasures, 20 % lookups", report);
  std::vector<point> const chains = ratio(f.lines[1], f.lines[0]);
  glht_add(f, "200 to 400 times as fast as chains that allocate their nodes",
           {about(glht_lead(f, "chained-alloc"), 200, 400, glht_times)});
  glht_add(
      f, "chains with nodes allocated before are 1 to 2 times as fast, slower at some large range",
      {{between(chains, 0, glht_small), 1, 2, " times at ranges up to 1,000"},
       {glht_lowest(between(chains, glht_large, glht_largest)), 0, 1,
        " times at their slowest from 10,000 on"}});
  glht_add(f, "5 to 9 times as fast as hopscotch with locks on a CPU",
           {about(glht_lead(f, glht_cpu), 5, 9, glht_times)});
  return f;
}

/// The rate of writers alone. What lock-free chains lose from range 10^5 to 10^2 is the price of
/// sharing keys; what hopscotch_map loses beyond that is the price of waiting.
figure glht_waits(scale const&, reporter const& report) {
  std::vector<double> const ranges = {1e1, 1e2, 1e3, 1e4, 1e5};
  std::vector<glht_map> const maps = {
      {"hopscotch", "hopscotch_map, a lock a home and class", origin::ours},
      {"hopscotch-locked", "hopscotch, a lock for 64 homes", origin::peer},
      {"chained", "lock-free chains, nodes allocated before", origin::peer}};
  figure f = glht_mixed_figure({50, 50, 0}, ranges, maps, "writers that share keys", report);
  auto const kept = [&](std::size_t line) {
    return three_digits(*value_at(f.lines[line], 1e2) / *value_at(f.lines[line], 1e5));
  };
  f.notes.push_back(
      "The paper's writers are lock-free; ours wait for a writer of their home and class. Rate at "
      "range 10^2 over that at 10^5: ours " +
      kept(0) + ", with a lock for 64 homes " + kept(1) + ", lock-free chains " + kept(2) +
      "; docs/design/hopscotch.md says why the locks stay.");
  return f;
}

}  // namespace

publication glht_paper() {
  publication paper;
  paper.id = "glht";
  paper.title = "GPU lock-free hopscotch hash table";
  paper.reference =
      "J. Zhang, J. Sun, Journal of Frontiers of Computer Science and Technology, 2019 (6)";
  paper.hardware =
      "NVIDIA GeForce GTX 1080, 8 GB; CPU: Intel Xeon E5-2620, 6 cores, 12 threads, 16 used";
  std::string const hash =
                        "karpos hash --map hopscotch --load 0.8 --keys 1e7 --peers "
                        "hash,cuckoo-dense,linear,quadratic",
                    mixed =
                        "karpos mixed --map hopscotch --keys 100 --ops 1e5 --slots 2^17 "
                        "--fill 0 --reps 3 --peers chained,chained-alloc,hopscotch-locked";
  paper.figures = {
      {"9", "rate of building by number of operations", hash,
       glht_static<glht_builds, glht_by_count>, 3},
      {"9-load", "rate of building by load", hash, glht_static<glht_builds, glht_by_load>, 3},
      {"10", "rate of finding by number of operations", hash,
       glht_static<glht_finds, glht_by_count>, 0.1},
      {"10-load", "rate of finding by load", hash, glht_static<glht_finds, glht_by_load>, 0.1},
      {"11", "mix 20, 20, 60 by range of keys", mixed + " --mix 20,20,60", glht_reads, 1},
      {"12", "mix 40, 40, 20 by range of keys", mixed + " --mix 40,40,20", glht_writes, 1},
      {"waits", "what waiting for a writer of the same key costs",
       "karpos mixed --map hopscotch --keys 100 --ops 1e5 --slots 2^17 --fill 0 --mix 50,50,0 "
       "--peers hopscotch-locked,chained",
       glht_waits, 1}};
  return paper;
}

}  // namespace karpos::perf::paper
