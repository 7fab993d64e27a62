// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/bfs/rank_searches.hpp"
#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/paper/papers.hpp"
#include "perf/measure/paper/report.hpp"
#include "perf/measure/paper/run.hpp"
#include "perf/measure/support/output_file.hpp"
#include "perf/tool/bfs/open_graph.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/distributed/over_ranks.hpp"

namespace karpos::perf {
namespace {

struct paper_arguments {
  std::string name, folder;
  std::vector<std::string> figures;
  paper::scale how_much;
  bool list = false, as_json = false;
};

void print_figures(paper::publication const& p, std::vector<paper::figure_entry> const& figures) {
  std::printf("%s (%s)\n", p.title.c_str(), p.reference.c_str());
  for (paper::figure_entry const& f : figures)
    std::printf("  %-8s %s%s\n", f.number.c_str(), f.title.c_str(),
                f.over_ranks ? " (by mpirun)" : "");
}

/// Makes the folder before anything is measured.
void require_folder(std::string const& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0)
    throw bad_input("cannot write into the folder " + folder + " (" +
                    (error ? error.message() : "permission denied") + "): choose another --output");
}

/// Writes a file as a whole: a run that is stopped leaves the version before.
void write_file(std::string const& path, std::string const& text) {
  std::string const part = path + ".part" + std::to_string(getpid());
  output_file file(part);
  file.write(text);
  file.close();
  std::error_code error, ignored;
  std::filesystem::rename(part, path, error);
  if (!error) return;
  std::filesystem::remove(part, ignored);
  throw bad_input("cannot write " + path + " (" + error.message() + "): choose another --output");
}

void write_picture(std::string const& folder, paper::paper_run const& run,
                   paper::measured_figure const& f) {
  std::string const svg = svg_of(f);
  if (!svg.empty()) write_file(folder + "/" + run.paper.id + "-" + f.entry.number + ".svg", svg);
}

/// Writes the figures measured so far: a run that is stopped leaves them.
void write_results(std::string const& folder, paper::paper_run const& run) {
  std::string const base = folder + "/" + run.paper.id;
  write_file(base + ".json",
             to_json(run).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  write_file(base + ".html", page_of(run));
}

/// Throws if mpirun has started ranks for figures that one process measures.
void require_one_rank(std::vector<paper::figure_entry> const& figures) {
  for (paper::figure_entry const& f : figures)
    if (started_ranks() > 1 && !f.over_ranks)
      throw bad_input(f.name() + " is not measured over ranks (mpirun has started " +
                      std::to_string(started_ranks()) +
                      "): start one process, or choose a --figure that says mpirun by --list");
}

/// Returns 1 for wrong answers, and if a figure failed for another reason than a lack of memory.
int exit_code(paper::paper_run const& run) {
  int code = 0;
  for (paper::measured_figure const& f : run.figures) {
    if (f.failed || f.content.wrong > 0) code = 1;
    if (f.failed)
      std::fprintf(stderr, "karpos: %s failed: %s\n", f.entry.name().c_str(), f.failure.c_str());
    if (f.content.wrong > 0)
      std::fprintf(stderr, "karpos: %s has wrong answers: please report this\n",
                   f.entry.name().c_str());
  }
  return code;
}

void require_takes_graphs(paper::publication const& p) {
  if (!p.takes_graphs)
    throw bad_input("the paper " + p.id + " has no figure of graphs: leave --graph out");
}

/// Refuses a graph that cannot be opened before anything is measured.
void require_graph(std::string const& graph) {
  if (is_generator(graph))
    parse_generator(graph);
  else if (access(graph.c_str(), R_OK) != 0)
    throw bad_input("cannot read --graph " + graph + " (" + std::strerror(errno) +
                    "): name a file, or a generator");
}

opened_graph open_user_graph(std::string const& graph, reporter const& report) {
  return open_named_graph(graph, false, false, report, {});
}

int reproduce(paper_arguments const& o) {
  paper::publication const& p = paper::find_paper(o.name);
  auto const figures = paper::chosen_figures(p, o.figures);
  if (o.list) {
    print_figures(p, figures);
    return 0;
  }
  if (!o.how_much.graphs.empty()) require_takes_graphs(p);
  require_one_rank(figures);
  for (std::string const& graph : o.how_much.graphs) require_graph(graph);
  if (own_rank() != 0)  // the first rank prints
    return exit_code(paper::run_paper(p, figures, o.how_much, [](auto const&...) {}));
  if (!o.folder.empty()) require_folder(o.folder);
  if (!o.as_json) paper::print_heading({p, o.how_much, {}});
  auto const run = paper::run_paper(
      p, figures, o.how_much, [&](paper::paper_run const& so_far, paper::measured_figure const& f) {
        if (!o.as_json) print(so_far, f);
        if (o.folder.empty()) return;
        write_picture(o.folder, so_far, f);
        write_results(o.folder, so_far);
      });
  if (o.as_json) {
    print_json(to_json(run));
  } else if (!o.folder.empty()) {
    std::printf("\n%s/%s.html has the pictures\n", o.folder.c_str(), p.id.c_str());
  }
  return exit_code(run);
}

action define_paper(CLI::App& app) {
  auto const o = std::make_shared<paper_arguments>();
  std::string ids;
  for (paper::publication const& p : paper::all_papers()) ids += (ids.empty() ? "" : ", ") + p.id;
  app.add_option("paper", o->name, "which: " + ids)->required();
  app.add_option("--figure", o->figures,
                 "only these figures: 4, T1 for Table 1, a word; --list names all")
      ->delimiter(',');
  app.add_flag("--quick", o->how_much.quick, "small sizes, one reading: some seconds in all");
  app.add_option("--output", o->folder,
                 "folder to write a picture a figure, a page (NAME.html) and NAME.json\n"
                 "into, after each figure; it is made; files of an earlier run are\n"
                 "replaced, its other pictures stay; without it nothing is written");
  app.add_option("--graph", o->how_much.graphs,
                 "a file, or a generator, that figures of graphs add to their own; several times")
      ->type_size(1)
      ->allow_extra_args(false);
  o->how_much.open = open_user_graph;
  o->how_much.search_over_ranks = search_over_ranks;
  app.add_flag("--list", o->list, "print the paper's figures, measure nothing");
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "Prints for each figure the values published, those measured here and those of peers,\n"
      "and whether what the paper says of them holds here. Every answer is checked.\n"
      "Example: karpos paper topk --figure 2 --quick");
  return [o] { return reproduce(*o); };
}

command const paper_command("paper",
                            "Measure the figures of a published paper again, beside its values.",
                            define_paper);

}  // namespace
}  // namespace karpos::perf
