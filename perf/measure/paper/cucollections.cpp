// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "perf/measure/ceilings.hpp"
#include "perf/measure/join/measure.hpp"
#include "perf/measure/paper/papers.hpp"
#include "perf/measure/paper/report.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/support/hash_input.hpp"
#include "perf/measure/support/hash_run.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/text.hpp"

// The article measures random reads (Table 1), cooperative probing (Figure 4), its map beside
// others (Figure 5), and shows how cuDF joins tables by a hash of rows (Figure 6). The figures are
// pictures: only what the text says of them is published here.

namespace karpos::perf::paper {
namespace {

constexpr std::uint64_t cuco_pairs = std::uint64_t(1) << 27;  // of Figure 5

/// Returns the result of an operation of the first map with it.
hash_result const* cuco_find(hash_run const& run, std::string const& operation) {
  for (hash_result const& r : run.results)
    if (r.operation == operation) return &r;
  return nullptr;
}
/// Returns the bytes of keys and values per second, in GB/s.
double cuco_throughput(hash_result const& r) { return r.rate() * r.bytes_each * 1e-9; }

figure cuco_random_reads(scale const& s, reporter const& report) {
  std::size_t const bytes = s.pick(std::size_t(1) << 25, std::size_t(1) << 31);
  report(0, "random reads");
  ceilings<space> c(space(), bytes, bytes / 8, s.repetitions());
  double const copy = c.copy().bytes_per_second() * 1e-9;
  report(0.5, "random reads");
  double const random = c.random_word_read().bytes_per_second() * 1e-9;
  figure f;
  f.title = "random reads of 8 bytes, and what memory moves in order";
  f.x = {"", false, {"theoretical peak", "copy, read and written", "random 64-bit reads"}};
  f.y = {"GB/s", true};
  series here{"here", origin::ours, {{1, copy}, {2, random}}};
  here.missing = "the theoretical peak of this machine is not known: a copy stands for it";
  f.lines = {{"Intel Xeon Platinum 8360Y",
              origin::published,
              {{0, 204}, {2, 15}},
              "DDR4-3200, 8 channels"},
             {"NVIDIA A100-80GB-SXM", origin::published, {{0, 2039}, {2, 141}}, "HBM2e"},
             {"NVIDIA H100-80GB-SXM", origin::published, {{0, 3352}, {2, 256}}, "HBM3"},
             here};
  claim const slower = judge("random accesses are about ten times slower than the theoretical peak",
                             {{{{0, copy / random}}, 5, 20, " times the bytes by a copy"}});
  claim faster =
      judge("random accesses of a GPU are an order of magnitude faster than those of a CPU",
            {at_least({{0, random / 15}}, 10, " times the published rate of a CPU")});
  faster.about_gpu = true;
  f.claims = {slower, faster};
  f.notes = {"over " + human_bytes(static_cast<double>(bytes)) +
             "; bandwidth is the size of an access times accesses a second"};
  return f;
}

/// The runs of Figures 4a and 4b: hash_map at each load, with groups of all widths.
struct cuco_sweep {
  std::vector<std::pair<double, hash_run>> runs;
  std::vector<int> widths;
};

cuco_sweep const& cuco_loads(scale const& s, reporter const& report) {
  static std::map<bool, cuco_sweep> measured;
  auto const found = measured.find(s.quick);
  if (found != measured.end()) return found->second;
  cuco_sweep sweep;
  sweep.widths = s.pick<std::vector<int>>({1, 4, 32}, {1, 2, 4, 8, 16, 32});
  auto const loads = s.pick<std::vector<double>>({0.5, 0.95}, {0.5, 0.6, 0.7, 0.8, 0.9, 0.95});
  for (std::size_t i = 0; i < loads.size(); ++i) {
    hash_parameters p;
    p.keys = s.pick<std::uint64_t>(1 << 16, 1 << 24, cuco_pairs);
    p.load = loads[i];
    p.repetitions = s.repetitions();
    p.widths = sweep.widths;
    sweep.runs.emplace_back(
        loads[i], run_hash(p, [&](double part, std::string const& what) {
          report((static_cast<double>(i) + part) / static_cast<double>(loads.size()),
                 "load " + number_text(loads[i]) + ", " + what);
        }));
  }
  return measured[s.quick] = std::move(sweep);
}

/// Returns the throughput of insert or find by groups of a width; 0: of the bulk call.
series cuco_by_width(cuco_sweep const& sweep, std::string const& operation, int width) {
  series line{width == 0 ? "bulk call" : "groups of " + std::to_string(width)};
  for (auto const& [load, run] : sweep.runs)
    if (auto const* const r = cuco_find(run, width > 0 ? operation + " by " + std::to_string(width)
                                             : operation == "find" ? "find hits"
                                                                   : operation))
      line.points.push_back({load, cuco_throughput(*r)});
  return line;
}

figure cuco_probing(scale const& s, reporter const& report, std::string const& operation,
                    double published_gain) {
  cuco_sweep const& sweep = cuco_loads(s, report);
  figure f;
  f.title = (operation == "insert" ? "insertion" : "lookup of stored keys") +
            std::string(" by groups of lanes that probe together, 4 + 4 bytes, ") +
            counted(sweep.runs.front().second.parameters.keys, "key", "keys");
  f.x = {"load"};
  f.y = {"keys and values (GB/s)"};
  series gups{"random reads of 8 bytes (GUPS)", origin::ceiling};
  for (auto const& [load, run] : sweep.runs) {
    gups.points.push_back({load, run.ceiling_rate("random_read") * 8e-9});
    if (operation == "insert") f.wrong += run.wrong();
  }
  f.lines = {gups, cuco_by_width(sweep, operation, 0)};
  for (int const w : sweep.widths) f.lines.push_back(cuco_by_width(sweep, operation, w));
  series const one = cuco_by_width(sweep, operation, 1), four = cuco_by_width(sweep, operation, 4);
  double const high = 0.95, low = 0.5;
  double const gain = *value_at(four, high) / *value_at(one, high);
  double best_at_low = 0;
  for (int const w : sweep.widths)
    best_at_low = std::max(best_at_low, *value_at(cuco_by_width(sweep, operation, w), low));
  f.claims = {judge("groups of 4 are " + number_text(100 * (published_gain - 1)) +
                        " % faster than single threads at a high load",
                    {at_least({{0, gain}}, published_gain,
                              " times the rate of single threads, load 0.95")}),
              judge("at a low load single threads are near the best",
                    {at_least({{0, *value_at(one, low) / best_at_low}}, 0.9,
                              " times the rate of the best width, load 0.5")})};
  f.notes = {
      "a group of W lanes reads W neighbouring slots at once: buckets of W slots, linear probing, "
      "one key a group in a kernel, as in the article; it does not say how many keys it has",
      "the bulk call is what hash_map does by itself, in tables of its usual buckets, and may "
      "split "
      "keys by region of the table, so that it can pass the line of random reads"};
  if (on_host)
    f.notes.emplace_back("a CPU runs the lanes of a group one after another, so that groups cost");
  return f;
}
figure cuco_insert_by_width(scale const& s, reporter const& report) {
  return cuco_probing(s, report, "insert", 1.13);
}
figure cuco_find_by_width(scale const& s, reporter const& report) {
  return cuco_probing(s, report, "find", 1.40);
}

/// The maps of Figure 5, and one more of CPUs.
std::vector<std::pair<std::string, std::string>> const cuco_peers = {
    {"hash", "karpos::hash_map"},
    {"kokkos", "Kokkos::UnorderedMap"},
    {"std", "std::unordered_map"},
    {"absl", "absl::flat_hash_map"},
    {"boost", "boost::unordered_flat_map"},
    {"tbb", "tbb::concurrent_hash_map"},
    {"folly_rule", "the rule of folly::AtomicHashMap"}};

/// Returns insertion and lookup as the two categories of a bar chart.
std::vector<point> cuco_bars(hash_run const& run) {
  return {{0, cuco_throughput(*cuco_find(run, "insert"))},
          {1, cuco_throughput(*cuco_find(run, "find hits"))}};
}

figure cuco_maps(scale const& s, reporter const& report) {
  figure f;
  hash_parameters p;
  p.keys = s.pick<std::uint64_t>(1 << 15, cuco_pairs);
  p.load = 0.5;
  p.repetitions = s.pick(1, 1, 5);
  f.title = counted(p.keys, "pair", "pairs") + " of 4 + 4 bytes at load 0.5";
  f.x = {"", false, {"insert", "find"}};
  f.y = {"keys and values (GB/s)", true};
  // The text has the rates of its own map, and how many times as fast that is as Kokkos' map.
  f.lines = {{"cuco::static_map", origin::published, {{0, 87.5}, {1, 134.6}}},
             {"Kokkos::UnorderedMap, by its ratios",
              origin::published,
              {{0, 87.5 / 3.8}, {1, 134.6 / 2.6}}}};
  std::vector<std::string> maps;
  for (auto const& [id, name] : cuco_peers) {
    if (has_subject(id))
      maps.push_back(id);
    else
      f.lines.push_back({name, origin::peer, {}, {}, "this build has no such map"});
  }
  std::map<std::string, series> by_map;
  double done = 0;
  for (std::string const& id : maps) {
    subject_entry const& entry = find_subject(id);
    series line{entry.name, entry.peer ? origin::peer : origin::ours};
    p.maps = {id};
    try {
      hash_run const run = run_hash(p, [&](double part, std::string const& what) {
        report((done + part) / static_cast<double>(maps.size()), what);
      });
      line.points = cuco_bars(run);
      f.wrong += run.wrong();
    } catch (std::exception const& e) {
      if (!is_lack_of_memory(e)) throw;
      line.missing = e.what();
    }
    ++done;
    by_map[id] = line;
    f.lines.push_back(line);
  }
  auto const over_kokkos = ratio(by_map["hash"], by_map["kokkos"]);
  claim const kokkos =
      judge("3.8 times as fast as Kokkos::UnorderedMap at insertion, 2.6 at lookup",
            {about(between(over_kokkos, 0, 0), 3.8, 3.8, " times at insertion"),
             about(between(over_kokkos, 1, 1), 2.6, 2.6, " times at lookup")});
  claim cpus{"an order of magnitude faster than the fastest maps of CPUs"};
  cpus.because = on_host ? "this run has no GPU: all maps are on the same processors"
                         : "this build has no maps of CPUs: run the same on the host's processors";
  f.claims = {kokkos, cpus};
  f.notes = {
      "folly::AtomicHashMap is not packaged here: its rule is a peer written from its description "
      "(an array, linear probing, a locked key while the value is written)",
      "std, absl and boost maps use one thread, the others all"};
  return f;
}

figure cuco_host_input(scale const& s, reporter const& report) {
  figure f;
  f.title = "pairs and answers in the host's memory";
  f.x = {"", false, {"insert", "find"}};
  f.y = {"keys and values (GB/s)", true};
  std::vector<point> of_copies;
  std::vector<std::pair<std::string, std::string>> const inputs = {
      {"pinned", "pinned memory, batches that overlap"},
      {"host", "pageable memory, through staging buffers"},
      {"shared", "managed memory, pages that migrate"}};
  double done = 0;
  for (auto const& [input, name] : inputs) {
    series line{name};
    if (!has_remote_input()) {
      line.missing = "tables are in the host's memory here";
      f.lines.push_back(line);
      continue;
    }
    hash_parameters p;
    p.keys = s.pick<std::uint64_t>(1 << 16, cuco_pairs);
    p.input = input;
    p.repetitions = s.repetitions();
    hash_run const run = run_hash(p, [&](double part, std::string const& what) {
      report((done + part) / static_cast<double>(inputs.size()), name + ", " + what);
    });
    ++done;
    line.points = cuco_bars(run);
    f.wrong += run.wrong();
    f.lines.push_back(line);
    if (input != "pinned") continue;
    hash_result const insert = *cuco_find(run, "insert"), find = *cuco_find(run, "find hits");
    f.lines.push_back({"copies of the same bytes",
                       origin::ceiling,
                       {{0, insert.bound_rate * insert.bytes_each * 1e-9},
                        {1, find.bound_rate * find.bytes_each * 1e-9}}});
    of_copies = {{0, insert.ratio()}, {1, find.ratio()}};
  }
  f.claims = {judge("tables are built and queried at the speed of the link",
                    {at_least(of_copies, 0.9, " times the rate of copies from pinned memory",
                              has_remote_input() ? "" : "there is no link to cross here")})};
  return f;
}

figure cuco_join(scale const& s, reporter const& report) {
  figure f;
  f.title = "inner join of two tables by first and last name (strings), each left row has a match";
  f.x = {"rows of a table", true};
  f.y = {"rows of both tables (G/s)", true};
  series all{"names, index and matches"}, once{"names, partitioned_join"},
      keys{"a key of 8 bytes, index and matches"};
  auto const sizes = s.pick<std::vector<int>>({12, 14}, {16, 20, 24}, {16, 20, 24, 26});
  double done = 0;
  for (int const log : sizes)
    for (bool const names : {true, false}) {
      join_measure_parameters p;
      p.tables.left = p.tables.right = std::uint64_t(1) << log;
      p.tables.match = 1;
      p.names = names;
      p.key_bytes = names ? 4 : 8;
      p.repetitions = s.repetitions();
      join_run const run = run_join(p, [&](double part, std::string const& what) {
        report((done + part) / static_cast<double>(2 * sizes.size()),
               "2^" + std::to_string(log) + " rows, " + what);
      });
      ++done;
      f.wrong += run.wrong;
      auto const x = static_cast<double>(p.tables.left);
      for (join_result const& r : run.results) {
        if (r.phase == "all") (names ? all : keys).points.push_back({x, run.rate(r) * 1e-9});
        if (r.phase == "once" && names) once.points.push_back({x, run.rate(r) * 1e-9});
      }
    }
  f.lines = {all, once, keys};
  claim compared{"rows that have one hash are joined only if row_equal says that they are equal"};
  compared.holds = f.wrong == 0;
  compared.because = "every row of every join was compared with a sort-merge join on the host";
  f.claims = {compared};
  f.notes = {"the article draws how cuDF joins, and gives no times",
             "names are hashed and compared by their bytes: 2 to 4 letters of a first name and up "
             "to 10 of "
             "a last name, beside offsets of 8 bytes"};
  return f;
}

}  // namespace

publication cucollections_paper() {
  publication paper;
  paper.id = "cucollections";
  paper.title = "Maximizing performance with massively parallel hash maps on GPUs";
  paper.reference = "NVIDIA technical blog, about cuCollections, 2023";
  paper.hardware = "NVIDIA H100-80GB-SXM (Figure 5), A100-80GB (Figure 4)";
  std::string const widths = "karpos hash --keys 2^27 --load 0.95 --width 1,2,4,8,16,32";
  paper.figures = {{"T1", "random 64-bit reads beside the peak",
                    "karpos paper cucollections --figure T1", cuco_random_reads, 1},
                   {"4a", "insertion by groups of lanes, by load", widths, cuco_insert_by_width, 6},
                   {"4b", "lookup by groups of lanes, by load", widths, cuco_find_by_width, 0.1},
                   {"5", "maps of this library and others",
                    "karpos hash --keys 2^27 --load 0.5 --peers", cuco_maps, 8},
                   {"link", "input in the host's memory", "karpos hash --keys 2^27 --input pinned",
                    cuco_host_input, 2},
                   {"6", "join of tables by columns of strings",
                    "karpos join join:left=2^24,right=2^24,match=1 --keys names", cuco_join, 2}};
  return paper;
}

}  // namespace karpos::perf::paper
