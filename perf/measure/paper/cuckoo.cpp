// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <variant>

#include "perf/measure/paper/measured_maps.hpp"
#include "perf/measure/paper/papers.hpp"
#include "perf/measure/paper/report.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/support/applications_run.hpp"
#include "perf/measure/support/text.hpp"

// The text has no figures: the numbers of its abstract, what it says of time and space, and its two
// applications.

namespace karpos::perf::paper {
namespace {

constexpr double cuckoo_published_keys = 5e6, cuckoo_published_space = 1.42;

/// Measures the two-level map, FKS alone at that load, and a sorted array, if this build has one;
/// unless an earlier figure did.
hash_run cuckoo_run(scale const& s, double keys, double fks_load, reporter const& report) {
  std::vector<std::string> maps = {"cuckoo", "fks"};
  if (has_subject("sorted")) maps.emplace_back("sorted");
  return measured_maps(maps, keys, fks_load, s, report);
}

/// Returns the result of one operation of the i-th map, or null if it was not measured.
hash_result const* cuckoo_result(hash_run const& run, std::size_t map, std::string const& what) {
  for (hash_result const& r : run.results)
    if (r.operation == what && map-- == 0) return &r;
  return nullptr;
}
/// Returns the bytes that lookups read over those of the pairs.
double cuckoo_space(hash_run const& run, std::size_t map) {
  hash_parameters const& p = run.parameters;
  if (map == 0)
    return static_cast<double>(run.table_bytes) / (2.0 * p.key_bytes * static_cast<double>(p.keys));
  for (fact const& f : cuckoo_result(run, map, "insert")->facts)
    if (f.name == "space_factor") return std::get<double>(f.value);
  return 1;  // a sorted array
}

constexpr char const* cuckoo_map_name = "cuckoo_map, two_level";
std::vector<series> cuckoo_lines(char const* sorted) {
  return {{cuckoo_map_name, origin::ours},
          {"FKS alone, load 1/4", origin::peer},
          {sorted, origin::peer, {}, {}, has_subject("sorted") ? "" : "this build has no sort"}};
}

std::vector<double> cuckoo_sizes(scale const& s) {
  return s.pick<std::vector<double>>(
      {1e4, 1e5, 4e5}, {1e4, 1e5, 1e6, 4194304, cuckoo_published_keys},
      {1e4, 1e5, 1e6, 4194304, cuckoo_published_keys, 33554432, 134217728});
}

/// Returns e so that c x^e fits the points from a smallest x on: least squares of the logarithms.
/// Nothing if these are fewer than two points.
std::vector<point> cuckoo_exponent(series const& s, double from) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (point const& p : s.points) {
    if (p.x < from) continue;
    double const lx = std::log(p.x), ly = std::log(p.y);
    n += 1, x += lx, y += ly, xx += lx * lx, xy += lx * ly;
  }
  if (n < 2) return {};
  return {{from, (n * xy - x * y) / (n * xx - x * x)}};
}

/// Milliseconds of an operation on all keys, by the number of keys.
figure cuckoo_times(scale const& s, std::string const& operation, char const* title,
                    char const* sorted, reporter const& report) {
  figure f;
  f.title = title;
  f.x = {"keys", true};
  f.y = {"time (ms)", true};
  f.lines = cuckoo_lines(sorted);
  std::vector<double> const sizes = cuckoo_sizes(s);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    hash_run const run = cuckoo_run(s, sizes[i], 0.25, [&](double part, std::string const& what) {
      report((static_cast<double>(i) + part) / static_cast<double>(sizes.size()),
             grouped(static_cast<std::uint64_t>(sizes[i])) + " keys, " + what);
    });
    for (std::size_t m = 0; m < f.lines.size(); ++m)
      if (auto const* r = cuckoo_result(run, m, operation))
        f.lines[m].points.push_back({sizes[i], r->time.median() * 1e3});
    f.wrong += run.wrong();
  }
  // Below that, launches and caches decide.
  double const from = on_host ? 1e5 : 1e6;
  f.claims.push_back(judge("the time grows linearly with the number of keys",
                           {{cuckoo_exponent(f.lines[0], from), 0.8, 1.2,
                             " as exponent of the number from " +
                                 grouped(static_cast<std::uint64_t>(from)) + " keys on"}}));
  return f;
}

figure cuckoo_construction(scale const& s, reporter const& report) {
  figure f = cuckoo_times(s, "insert", "time of building", "sort", report);
  f.lines.push_back({"cuckoo", origin::published, {{cuckoo_published_keys, 35.7}}});
  f.lines.push_back({"sort", origin::published, {{cuckoo_published_keys, 36.6}}});
  return f;
}
figure cuckoo_retrieval(scale const& s, reporter const& report) {
  figure f = cuckoo_times(s, "find hits", "time of finding all keys", "binary search", report);
  f.lines.push_back({"cuckoo", origin::published, {{cuckoo_published_keys, 15.3}}});
  f.lines.push_back({"binary search", origin::published, {{cuckoo_published_keys, 79.5}}});
  return f;
}

/// The numbers of the abstract: 5 million pairs built and all found, beside a sort and searches.
figure cuckoo_abstract(scale const& s, reporter const& report) {
  double const keys = s.pick<double>(1e5, cuckoo_published_keys);
  figure f;
  f.title = "numbers of the abstract, " + grouped(static_cast<std::uint64_t>(keys)) + " pairs";
  f.x = {"", false, {"build or sort (ms)", "find all (ms)", "bytes per byte of input"}};
  f.y = {"time (ms), and space", true};
  f.lines = cuckoo_lines("sort, binary search");
  hash_run const run = cuckoo_run(s, keys, 0.25, report);
  for (std::size_t m = 0; m < f.lines.size(); ++m) {
    auto const *insert = cuckoo_result(run, m, "insert"),
               *find = cuckoo_result(run, m, "find hits");
    if (insert == nullptr || find == nullptr) continue;
    f.lines[m].points = {{0, insert->time.median() * 1e3},
                         {1, find->time.median() * 1e3},
                         {2, cuckoo_space(run, m)}};
  }
  f.lines.push_back(
      {"cuckoo", origin::published, {{0, 35.7}, {1, 15.3}, {2, cuckoo_published_space}}});
  f.lines.push_back({"sort, binary search", origin::published, {{0, 36.6}, {1, 79.5}}});
  if (s.quick) f.notes.push_back("The published values are those of 5,000,000 pairs.");
  f.wrong = run.wrong();

  f.claims.push_back(judge("uses 1.42 times the memory of the input",
                           {{between(f.lines[0].points, 2, 2), 0, 1.425, " times"}}));
  auto const compare = [&](char const* text, double x) {
    f.claims.push_back(judge(text, {at_least(between(ratio(f.lines[2], f.lines[0]), x, x), 1,
                                             " times as fast", f.lines[2].missing)}));
  };
  compare("is built in less time than the pairs are sorted, published: 1.03 times as fast", 0);
  compare("all are found in less time than by binary search, published: 5.2 times as fast", 1);
  return f;
}

/// FKS alone: time and space by the load of its slots, which decides the number of buckets.
figure cuckoo_fks(scale const& s, reporter const& report) {
  double const keys = s.pick<double>(1e5, cuckoo_published_keys);
  auto const loads = s.pick<std::vector<double>>({0.25, 0.5}, {0.2, 0.25, 0.35, 0.5, 0.65});
  figure f;
  f.title = "FKS alone, " + grouped(static_cast<std::uint64_t>(keys)) + " pairs, by load";
  f.x = {"keys per slot"};
  f.y = {"time (ms), and space", true};
  f.lines = {{"FKS: bytes per byte of input", origin::peer},
             {"FKS: build (ms)", origin::peer},
             {"FKS: find all (ms)", origin::peer},
             {"cuckoo_map: bytes per byte of input", origin::ours},
             {"cuckoo_map: build (ms)", origin::ours},
             {"cuckoo_map: find all (ms)", origin::ours}};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    hash_run const run = cuckoo_run(s, keys, loads[i], [&](double part, std::string const& what) {
      report((static_cast<double>(i) + part) / static_cast<double>(loads.size()), what);
    });
    for (std::size_t m : {std::size_t(1), std::size_t(0)}) {  // FKS first
      auto const *insert = cuckoo_result(run, m, "insert"),
                 *find = cuckoo_result(run, m, "find hits");
      auto* const lines = &f.lines[m == 1 ? 0 : 3];
      lines[0].points.push_back({loads[i], cuckoo_space(run, m)});
      lines[1].points.push_back({loads[i], insert->time.median() * 1e3});
      lines[2].points.push_back({loads[i], find->time.median() * 1e3});
    }
    f.wrong += run.wrong();
  }
  f.claims.push_back(
      judge("FKS is not space efficient",
            {at_least({{0, *least(f.lines[0]) / *least(f.lines[3])}}, 1,
                      " times the space of the two levels together, at the best load")}));
  f.notes.push_back(
      "A bucket of k keys has k^2 slots: n keys in b buckets take n + n^2 / b. The "
      "space has slots and the 8-byte heads of buckets.");
  return f;
}

/// Geometric hashing: time of a scene by the number of models, beside comparison with all of them.
figure cuckoo_matching(scale const& s, reporter const& report) {
  auto const sizes =
      s.pick<std::vector<std::uint32_t>>({20, 60}, {100, 300, 1000}, {100, 1000, 10'000});
  matching_parameters p;
  p.repetitions = s.repetitions();
  figure f;
  f.title = "geometric hashing, " + std::to_string(p.scenes) + " scenes of " +
            std::to_string(p.points) + " points at a time";
  f.x = {"models", true};
  f.y = {"time (ms)", true};
  f.lines = {{"hash_multimap: a scene", origin::ours},
             {"hash_multimap: the table of all models", origin::ours},
             {"comparison with all bases: a scene", origin::peer}};
  std::string found, rates;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    report(static_cast<double>(i) / static_cast<double>(sizes.size()),
           grouped(sizes[i]) + " models");
    p.models = sizes[i];
    matching_run const run = run_matching(p);
    double const x = sizes[i], seconds = run.by_table.median();
    f.lines[0].points.push_back({x, seconds / p.scenes * 1e3});
    f.lines[1].points.push_back({x, run.build.median() * 1e3});
    f.lines[2].points.push_back({x, run.by_comparison.median() / p.scenes * 1e3});
    f.wrong += run.wrong;
    found += (i == 0 ? "" : ", ") + std::to_string(run.found);
    rates += (i == 0 ? "" : ", ") + number_text(static_cast<double>(run.votes) / seconds * 1e-6);
  }
  f.notes = {
      "A scene shows a model that is turned, scaled by 0.5 to 2 and shifted, with noise; a "
      "quarter of its points belong to none.",
      "Scenes of " + std::to_string(p.scenes) +
          " that are matched with their model, by size: " + found + ".",
      "Million votes a second, by size: " + rates + ".",
      "The paper gives no time of this application."};
  return f;
}

/// Intersection of surfaces: frames a second by the number of triangles, beside judging all pairs.
figure cuckoo_surfaces(scale const& s, reporter const& report) {
  auto const sizes = s.pick<std::vector<std::uint32_t>>({2000, 6000}, {10'000, 100'000, 300'000},
                                                        {10'000, 100'000, 1'000'000});
  surfaces_parameters p;
  p.frames = s.pick(3, 20);
  figure f;
  f.title = "two surfaces that intersect, grid of 128^3 cells rebuilt in every frame";
  f.x = {"triangles of a surface", true};
  f.y = {"frames a second", true};
  f.lines = {{"hash_multimap", origin::ours}, {"all pairs", origin::peer}};
  std::string pairs;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    report(static_cast<double>(i) / static_cast<double>(sizes.size()),
           grouped(sizes[i]) + " triangles");
    p.triangles = sizes[i];
    surfaces_run const run = run_surfaces(p);
    double const x = static_cast<double>(run.triangles);
    f.lines[0].points.push_back({x, 1 / run.frame.median()});
    if (!run.without_grid.seconds.empty())
      f.lines[1].points.push_back({x, 1 / run.without_grid.median()});
    else
      f.lines[1].missing = "all pairs of larger surfaces take too long";
    f.wrong += run.wrong;
    pairs += (i == 0 ? "" : ", ") + grouped(run.pairs);
  }
  f.lines.push_back({"spatial hash", origin::published, constant(f.lines[0], 27)});
  f.claims.push_back(
      judge("a hash of a 128^3 grid is built in every frame, at about 27 frames a second",
            {at_least(f.lines[0].points, 27, " frames a second")}));
  f.claims.back().about_gpu = true;
  f.notes = {"The paper does not say how many points or triangles its 27 frames a second have.",
             "Pairs of triangles that intersect in the last frame: " + pairs +
                 ". They are exact: vertices are integers, and no product is rounded."};
  return f;
}

}  // namespace

publication cuckoo_paper() {
  publication paper;
  paper.id = "cuckoo";
  paper.title = "Real-time parallel hashing on the GPU";
  paper.reference =
      "Alcantara, Sharf, Abbasinejad, Sengupta, Mitzenmacher, Owens, Amenta, ACM TOG 28(5), 2009";
  paper.hardware = "an NVIDIA GPU of 2009, which the text at hand does not name";
  std::string const hash = "karpos hash --map cuckoo --load 0.25 --peers fks,sorted --keys ";
  paper.figures = {
      {"abstract", "5 million pairs built and found", hash + "5e6", cuckoo_abstract, 1},
      {"construction", "time of building by number of keys", hash + "1e6", cuckoo_construction, 3},
      {"retrieval", "time of finding by number of keys", hash + "1e6", cuckoo_retrieval, 0.1},
      {"fks", "FKS alone, the first step of the paper", hash + "5e6", cuckoo_fks, 3},
      {"matching", "application: geometric hashing", "karpos paper cuckoo --figure matching",
       cuckoo_matching, 1},
      {"surfaces", "application: two surfaces that intersect",
       "karpos paper cuckoo --figure surfaces", cuckoo_surfaces, 1}};
  return paper;
}

}  // namespace karpos::perf::paper
