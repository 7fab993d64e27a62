// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/enterprise_graphs.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

#include "perf/measure/bfs/measure.hpp"
#include "perf/measure/bfs/summary.hpp"
#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf::paper {
namespace {

constexpr char const* enterprise_profile = "all levels top-down";

std::vector<enterprise_graph> make_enterprise_graphs() {
  std::string const stand_in = "stand-in: vertices and edges of the published data set, ";
  std::string const directed =
      "stand-in: vertices and edges of the published data set, whose directed edges are drawn in "
      "both directions, ";
  std::string const by_mean = "stand-in: vertices of the published data set, degrees by the text";
  std::string const by_law = "stand-in: size and degrees chosen";
  std::string const between = "the size, between Kron-20-512 and Kron-24-32";
  return {
      {"Kron-20-512", "kron:scale=20,ef=512", "2^20 vertices, 512 edges each", ""},
      {"Kron-21-256", "kron:scale=21,ef=256", "", between},
      {"Kron-22-128", "kron:scale=22,ef=128", "a vertex of more than 2.5 M edges", between},
      {"Kron-23-64", "kron:scale=23,ef=64", "", between},
      {"Kron-24-32", "kron:scale=24,ef=32", "the largest; 770 vertices have a tenth of the edges",
       ""},
      {"R-MAT", "rmat:scale=21,ef=128", "A, B, C = 0.45, 0.15, 0.15",
       "the size, which the text does not state"},
      {"Facebook", "powerlaw:vertices=2^24,edges=419430400,skew=0.5,top=9170",
       "largest degree 9,170", by_law},
      {"Friendster", "powerlaw:vertices=2^24,edges=436207616,skew=0.5,top=5214",
       "no vertex of extreme degree", by_law},
      {"Gowalla", "powerlaw:vertices=196591,edges=1867614,skew=0.72,top=30000",
       "19 edges a vertex; 86.7 % below 32, 99.5 % below 256; largest 30 K", by_mean},
      {"Hollywood", "powerlaw:vertices=1139905,edges=56945664,skew=0.6,top=11467", "",
       stand_in + "skew chosen"},
      {"LiveJournal", "powerlaw:vertices=4847571,edges=68993773,skew=0.65,top=20293",
       "of a frontier 78 % are below 32 and have 22 % of the work", directed + "skew by the text"},
      {"Orkut", "powerlaw:vertices=3072441,edges=110607876,skew=0.72,top=30000",
       "72 edges a vertex; 37.5 % below 32, 95.7 % below 256; largest 30 K", by_mean},
      {"Pokec", "powerlaw:vertices=1632803,edges=30622564,skew=0.5,top=14854", "",
       directed + "skew chosen"},
      {"Twitter", "powerlaw:vertices=2^24,edges=100663296,skew=0.8,top=1000000",
       "96 % of the vertices below 32", "stand-in: size chosen, degrees by the text"},
      {"Wikipedia", "powerlaw:vertices=3566907,edges=45030389,skew=0.65,top=187000", "",
       directed + "skew chosen"},
      {"Wiki-Talk", "powerlaw:vertices=2394385,edges=5021410,skew=1.05,top=100022",
       "96 vertices, 0.004 %, have a fifth of the edges", directed + "degrees by the text"},
      {"YouTube", "powerlaw:vertices=1134890,edges=2987624,skew=0.783,top=28754",
       "330 vertices, 0.03 %, have a tenth of the edges", stand_in + "degrees by the text"}};
}

enterprise_searches search_graph(enterprise_graph const& graph, scale const& s,
                                 reporter const& report) {
  enterprise_searches result{graph, {}, {}};
  bfs_parameters p = enterprise_parameters(s);
  p.graph = graph.spec;
  p.degrees = true;
  p.timeline = graph.name == "Facebook";
  p.presets = bfs_presets();
  for (bfs_preset const& preset : switch_presets()) p.presets.push_back(preset);
  bfs_preset& profile = p.presets.emplace_back(bfs_presets().back());
  profile.name = enterprise_profile;
  profile.own_switch = true;
  profile.options.gamma = 1;  // no frontier has more than all hubs
  result.run = try_search(p, s, report, result.obstacle);
  return result;
}

}  // namespace

std::size_t enterprise_searches::preset(std::string const& name) const {
  auto const& presets = run->parameters.presets;
  auto const found = std::find_if(presets.begin(), presets.end(),
                                  [&](bfs_preset const& p) { return p.name == name; });
  if (found == presets.end()) throw std::logic_error("karpos: no preset " + name);
  return static_cast<std::size_t>(found - presets.begin());
}
double enterprise_searches::gteps(std::string const& name) const {
  return name.empty() ? harmonic_mean_gteps(*run, &bfs_result::time)
                      : figures_of_presets(*run)[preset(name)].gteps;
}
double enterprise_searches::seconds(std::string const& name) const {
  return name.empty() ? times_of(*run, &bfs_result::time).median()
                      : figures_of_presets(*run)[preset(name)].median_seconds;
}
bfs_report const& enterprise_searches::profile() const {
  return run->searches.front().preset_report[preset(enterprise_profile)];
}

std::string fitted(std::string const& spec, scale const& s) {
  constexpr std::uint64_t fewest = 512;
  auto const most = s.pick<std::uint64_t>(1u << 18, 1u << 25, 1u << 30);
  generator_spec g = parse_generator(spec);
  while (g.candidates() > most && g.vertices() >= 2 * fewest) {
    --g.scale;
    g.listed_vertices /= 2;
    g.listed_edges /= 2;
    (g.rows > g.columns ? g.rows : g.columns) /= 2;
  }
  while (g.candidates() > most && g.edge_factor > 1 && g.listed_edges > 1) {
    g.edge_factor /= 2;
    g.listed_edges /= 2;
  }
  g.top = std::min(g.top, g.listed_vertices / 4);
  return to_string(g);
}

std::vector<enterprise_graph> enterprise_graphs(scale const& s) {
  std::vector<enterprise_graph> graphs = make_enterprise_graphs();
  for (enterprise_graph& g : graphs) g.spec = fitted(g.spec, s);
  for (std::string const& file : s.graphs) graphs.push_back({file, file, "", "yours", true});
  return graphs;
}

enterprise_graph enterprise_graph_of(std::string const& name, scale const& s) {
  for (enterprise_graph const& g : enterprise_graphs(s))
    if (g.name == name) return g;
  throw std::logic_error("karpos: no graph " + std::string(name));
}

std::vector<enterprise_searches> const& searches_of_all(scale const& s, reporter const& report) {
  static std::vector<enterprise_searches> all;
  if (!all.empty()) return all;
  std::vector<enterprise_searches> made;
  auto const graphs = enterprise_graphs(s);
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    made.push_back(search_graph(graphs[i], s, [&](double part, std::string const& what) {
      report((static_cast<double>(i) + part) / static_cast<double>(graphs.size()),
             graphs[i].name + ", " + what);
    }));
  }
  all = std::move(made);
  return all;
}

enterprise_searches const& searches_of(std::string_view name, scale const& s,
                                       reporter const& report) {
  auto const& all = searches_of_all(s, report);
  return all[static_cast<std::size_t>(place_of(name, all))];
}

bfs_parameters enterprise_parameters(scale const& s) {
  bfs_parameters p;
  p.keep_duplicates = true;
  p.validate = true;
  p.sources = s.pick<std::uint64_t>(2, 4, 8);
  p.repetitions = s.pick(1, 3, 5);
  return p;
}

std::optional<bfs_run> try_search(bfs_parameters const& p, scale const& s, reporter const& report,
                                  std::string& obstacle) {
  try {
    return run_bfs(p, open_for(p.graph, s, report), report);
  } catch (std::exception const& e) {
    if (!is_lack_of_memory(e)) throw;
    obstacle = e.what();
  }
  return std::nullopt;
}

opened_graph open_for(std::string const& graph, scale const& s, reporter const& report) {
  return is_generator(graph) || !s.open ? generated_graph(graph) : s.open(graph, report);
}

figure figure_of_graphs(std::vector<enterprise_searches> const& all) {
  figure f;
  f.x.label = "graph";
  for (enterprise_searches const& g : all) {
    bool const stand_in = g.graph.chosen.rfind("stand-in", 0) == 0;
    f.x.categories.push_back(g.graph.name + (stand_in ? " (stand-in)" : ""));
    if (g.run) f.wrong += g.run->wrong();
  }
  return f;
}

std::string missing_graphs(std::vector<enterprise_searches> const& all) {
  std::string missing;
  for (enterprise_searches const& g : all)
    if (!g.run) missing += (missing.empty() ? "" : "; ") + g.graph.name + ": " + g.obstacle;
  return missing;
}

enterprise_searches const* searches_of_data_set(std::string const& name,
                                                std::vector<enterprise_searches> const& all) {
  auto const lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  for (enterprise_searches const& g : all) {
    std::string const file = g.graph.spec.substr(g.graph.spec.rfind('/') + 1);
    bool const is_file = g.graph.is_users && !is_generator(g.graph.spec);
    if (is_file && lower(file).find(lower(name)) != std::string::npos) return &g;
  }
  return nullptr;
}

double place_of(std::string_view name, std::vector<enterprise_searches> const& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].graph.name == name) return static_cast<double>(i);
  throw std::logic_error("karpos: no graph " + std::string(name));
}

}  // namespace karpos::perf::paper
