// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/bfs/measure.hpp"
#include "perf/measure/bfs/presets.hpp"
#include "perf/measure/bfs/summary.hpp"
#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/bfs/graph_options.hpp"
#include "perf/tool/bfs/open_graph.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/distributed/over_ranks.hpp"
#include "perf/tool/option_values.hpp"
#include "perf/tool/program/checked_options.hpp"
#include "perf/tool/program/help_text.hpp"

namespace karpos::perf {
namespace {

struct bfs_arguments {
  bfs_parameters parameters;
  std::string direction = "auto", queue = "collected", offsets = "auto";
  bool one_class = false, launches = false, as_json = false, distributed = false;
  std::string source, preset;
  CLI::Option *with_source = nullptr, *sources = nullptr, *batch = nullptr, *seed = nullptr,
              *gamma = nullptr, *alpha = nullptr, *beta = nullptr, *with_queue = nullptr;
};

/// Refuses a given option that has no effect with the chosen direction.
void require_direction(CLI::Option const* given, bfs_arguments const& o, char const* direction) {
  if (given->count() > 0 && o.direction != direction)
    throw bad_input(given->get_name() + " does not apply (--direction " + o.direction +
                    "): leave it out, or choose --direction " + direction);
}

bfs_parameters parameters_of(bfs_arguments const& o) {
  bfs_parameters p = o.parameters;
  if (o.preset.empty()) {  // presets have directions of their own
    require_direction(o.gamma, o, "gamma");
    require_direction(o.alpha, o, "beamer");
    require_direction(o.beta, o, "beamer");
  }
  p.batch = o.batch->count() > 0;
  if (o.seed->count() > 0 && p.sources == 0)
    throw bad_input("--seed does not apply (no random sources): " +
                    std::string(o.with_source->count() > 0
                                    ? "leave it out, or choose --sources in place of --source"
                                    : "choose --sources or --batch"));
  std::string const several = p.batch ? "--batch" : "--sources";
  if ((o.sources->count() > 0 || p.batch) && !p.output.empty())
    throw bad_input("--output does not apply (" + several +
                    " makes several results): choose --source in place of " + several);
  if (o.with_source->count() > 0) p.source = source_word(o.source, p.relabel);
  require_output(p.output,
                 is_generator(p.graph) ? std::vector<std::string>() : std::vector{p.graph},
                 "the graph");
  for (auto const d : {bfs_direction::automatic, bfs_direction::top_down, bfs_direction::gamma,
                       bfs_direction::beamer})
    if (o.direction == name_of(d)) p.options.direction = d;
  p.options.queue = o.queue == "scanned" ? bfs_queue::scanned : bfs_queue::collected;
  p.options.degree_classes = !o.one_class;
  p.presets = find_presets(o.preset);
  if (o.launches) p.options.driver = launch_mode::kernel_per_step;
  p.offset_bits = o.offsets == "auto" ? 0 : std::stoi(o.offsets);
  return p;
}

int report_wrong(bfs_run const& run) {
  constexpr int max_reported = 5;
  int reported = 0;
  for (bfs_result const& r : run.searches)
    if (!r.defect.empty() && reported++ < max_reported)
      std::fprintf(stderr, "karpos: the search from vertex %s is wrong (%s)\n",
                   printable(run.names[r.source]).c_str(), r.defect.c_str());
  if (reported > 0)
    std::fprintf(stderr, "karpos: %s of %s searches were wrong: please report this\n",
                 grouped(run.wrong()).c_str(), grouped(run.searches.size()).c_str());
  return reported > 0 ? 1 : 0;
}

int bfs(bfs_arguments const& o) {
  bfs_parameters const p = parameters_of(o);
  if (o.distributed && o.with_queue->count() > 0)
    throw bad_input("--queue does not apply (--distributed collects the frontier): leave it out");
  if (o.distributed) return bfs_over_ranks(p, o.as_json);
  if (p.permute)
    throw bad_input(
        "--permute does not apply (one process has all vertices): choose --distributed");
  bfs_run const run = with_progress("karpos bfs", [&](reporter const& report) {
    return run_bfs(p, open_graph_of(p, report), report);
  });
  print_report(o.as_json, run);
  return report_wrong(run);
}

void add_search_options(CLI::App& app, bfs_arguments& o) {
  bfs_options& b = o.parameters.options;
  app.add_option("--direction", o.direction, "direction in which levels are expanded")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "top-down", "gamma", "beamer"}));
  o.gamma = app.add_option("--gamma", b.gamma, "of --direction gamma: fraction of all hubs")
                ->capture_default_str()
                ->check(number_between(0, 1));
  o.alpha = app.add_option("--alpha", b.alpha, "of --direction beamer: when to switch to bottom-up")
                ->capture_default_str()
                ->check(number_from(0));
  o.beta = app.add_option("--beta", b.beta, "of --direction beamer: when to switch back")
               ->capture_default_str()
               ->check(number_from(0));
  app.add_option("--hops", b.local_search_hops,
                 "levels that a local search explores at most, from a narrow frontier; 0: none")
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--pad-rows", o.parameters.pad_rows,
                 "hops of the padded rows, on GPUs, of graphs of at most four edges a vertex: "
                 "1: neighbours in 16 bytes; 2: all vertices within two hops in 64 bytes, of "
                 "undirected graphs; 0: no copies")
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(0, 2));
  o.with_queue = app.add_option("--queue", o.queue, "how the frontier is queued")
                     ->capture_default_str()
                     ->check(CLI::IsMember({"collected", "scanned"}));
  app.add_flag("--no-degree-classes", o.one_class, "expand every vertex alike");
  app.add_flag("--hub-cache", b.hub_cache, "end bottom-up searches by a cache of hubs");
  app.add_flag("--unvisited-queue", b.unvisited_queue, "bottom-up over a queue of the unvisited");
  app.add_flag("--launches", o.launches, "a kernel for each step, not one for the search");
  app.add_option("--offset-bits", o.offsets, "width of edge offsets")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "32", "64"}));
  put_in_group(app, "How to search");
}

void add_run_options(CLI::App& app, bfs_arguments& o) {
  bfs_parameters& p = o.parameters;
  app.add_flag("--directed", p.directed, "edges of a file lead one way; else they count both ways");
  app.add_flag("--keep-duplicates", p.keep_duplicates,
               "keep repeated edges and self loops, and count them in GTEPS");
  app.add_flag("--relabel", p.relabel,
               "number the ids of a file without gaps: large ones, and in a list of edges words;\n"
               "results still have the ids of the file, as does each line of --output");
  put_in_group(app, "Graph");
  app.add_flag("--parents", p.parents, "find parents, too");
  app.add_flag("--validate", p.validate, "prove every distance, and parent, exact");
  app.add_option("--output", p.output,
                 "write the distance (and parent) of each vertex, a line each")
      ->type_name("FILE");
  put_in_group(app, "Results");
  app.add_flag("--baseline", p.baseline, "compare with a plain top-down search in the same run");
  app.add_option(
         "--preset", o.preset,
         "measure published techniques, too, each added to those before: baseline (a status\n"
         "array), queue, classes (of degrees), hubs; enterprise: all of them in turn; switches:\n"
         "hubs, with several thresholds of the direction switch")
      ->check(CLI::IsMember({"enterprise", "switches", "baseline", "queue", "classes", "hubs"}));
  app.add_flag("--degrees", p.degrees, "count the vertices, and their edges, by degree");
  app.add_flag("--timeline", p.timeline,
               "time each kernel of the first source's search, and of each preset's, a kernel for\n"
               "each step of each level");
  app.add_flag(
      "--energy", p.energy,
      "repeat the searches for two seconds, too, and report the joules of each, if the GPU\n"
      "(NVML) or the processors (RAPL) count them");
  add_repetitions(app, p.repetitions, "readings of the clock for each source");
  put_in_group(app, "Measurements");
}

action define_bfs(CLI::App& app) {
  auto const o = std::make_shared<bfs_arguments>();
  bfs_parameters& p = o->parameters;
  app.add_option("graph", p.graph,
                 "a file (MatrixMarket, DIMACS, METIS, .sg, a list of edges as of SNAP, KONECT or\n"
                 "networkx; gzip'ed or not; - is standard input), or a generator:\n"
                 "kron:scale=20,ef=16,seed=1  rmat:...  uniform:...  grid:4096x4096,drop=0.3\n"
                 "powerlaw:vertices=1e6,edges=1e7,skew=0.7,top=3e4")
      ->required();
  add_format_option(app, p.format);
  put_in_group(app, "Graph");
  o->with_source = app.add_option("--source", o->source,
                                  "vertex to start from, counted from 0; with --relabel its name\n"
                                  "(default: the first that an edge leads out of)")
                       ->type_name("VERTEX");
  o->sources =
      app.add_option("--sources", p.sources, "number of random sources, vertices with neighbours")
          ->transform(count_validator())
          ->check(CLI::Range(1, 1 << 20))
          ->excludes(o->with_source);
  o->batch =
      app.add_option("--batch", p.sources,
                     "the same, and all these searches at once, compared with one after another")
          ->transform(count_validator())
          ->check(CLI::Range(1, 1 << 20))
          ->excludes(o->with_source)
          ->excludes(o->sources);
  o->seed = app.add_option("--seed", p.seed, "of the random sources")
                ->transform(count_validator())
                ->capture_default_str();
  put_in_group(app, "Sources");
  add_run_options(app, *o);
  add_search_options(app, *o);
  app.add_flag(
      "--distributed", o->distributed,
      "over the ranks of MPI (mpirun -n 4 karpos bfs ...): each has a slice of the graph;\n"
      "without --output, --relabel, --baseline, --preset, --energy, --batch, --degrees,\n"
      "--timeline, --hub-cache, --pad-rows, --hops, --unvisited-queue");
  app.add_flag("--permute", p.permute,
               "with --distributed: deal the vertices out to the ranks at random");
  put_in_group(app, "Several ranks");
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "GTEPS: 10^9 directed edges of the reached component a second, the reset of the state\n"
      "included. A file that is called like a generator is reached as ./NAME.\n"
      "Example: karpos bfs kron:scale=16 --sources 4 --validate");
  return [o] { return bfs(*o); };
}

command const bfs_command("bfs", "Search a graph breadth-first: distances, levels, edges a second.",
                          define_bfs);

}  // namespace
}  // namespace karpos::perf
