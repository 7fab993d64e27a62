// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/measure/bfs/parameters.hpp"
#include "perf/measure/paper/figure.hpp"

// The graphs of the paper Enterprise (enterprise.cpp), and their searches, which its figures share.

namespace karpos::perf::paper {

/// A graph of the paper's set.
struct enterprise_graph {
  std::string name;
  std::string spec;    ///< of its generator, or the user's file
  std::string stated;  ///< what the paper's text says of it
  std::string chosen;  ///< what is not in the text; empty if the generator is the paper's own
  bool is_users = false;
};

/// The searches of a graph by every technique and by several thresholds of the direction switch.
struct enterprise_searches {
  enterprise_graph graph;
  std::optional<bfs_run> run;
  std::string obstacle;  ///< why the graph was not searched

  std::size_t preset(std::string const& name) const;  ///< index of a preset of the run
  /// Returns the rate of a preset, or of the search by default options (empty name), in GTEPS.
  double gteps(std::string const& preset) const;
  double seconds(std::string const& preset) const;  ///< median
  /// Returns the first source's report of a search that expands all levels top-down and counts the
  /// hubs of each.
  bfs_report const& profile() const;
};

/// Returns the paper's 17 graphs, then the user's.
std::vector<enterprise_graph> enterprise_graphs(scale const& s);

/// Returns one of the paper's graphs.
enterprise_graph enterprise_graph_of(std::string const& name, scale const& s);

/// Returns the spec, or that of a smaller graph of the same kind if a quick run or a run on CPUs
/// has no time for all its edges. The smaller graph has fewer vertices and the same mean degree. If
/// that left fewer than 512 vertices, it has 512 and a lower mean degree.
std::string fitted(std::string const& spec, scale const& s);

/// Returns the searches of all graphs, in their order; they are made once for all figures.
std::vector<enterprise_searches> const& searches_of_all(scale const& s, reporter const& report);
/// Returns the searches of one graph.
enterprise_searches const& searches_of(std::string_view name, scale const& s,
                                       reporter const& report);

/// Returns the parameters by which graphs are searched: as the paper, with duplicates and from
/// random sources.
bfs_parameters enterprise_parameters(scale const& s);
/// Returns the searches of a graph, or nothing and an obstacle if it does not fit in memory.
std::optional<bfs_run> try_search(bfs_parameters const& p, scale const& s, reporter const& report,
                                  std::string& obstacle);
/// Opens a generator, or a file of the user's.
opened_graph open_for(std::string const& graph, scale const& s, reporter const& report);

/// Returns a figure whose x axis has all graphs; `missing` says which of them were not searched.
figure figure_of_graphs(std::vector<enterprise_searches> const& all);
std::string missing_graphs(std::vector<enterprise_searches> const& all);

/// Returns the x of a graph on such an axis.
double place_of(std::string_view name, std::vector<enterprise_searches> const& all);

/// Returns the searches of the user's file that is this published data set, which its name shows
/// (com-orkut.ungraph.txt is Orkut); nullptr if there is none.
enterprise_searches const* searches_of_data_set(std::string const& name,
                                                std::vector<enterprise_searches> const& all);

/// Expects a value of a published data set to lie in [low, high]. It is missing unless the user
/// gave the data set: a stand-in made to published numbers confirms nothing.
template <class F>
expectation expected_of_data_set(std::string const& name,
                                 std::vector<enterprise_searches> const& all, double low,
                                 double high, std::string const& what, F const& value) {
  enterprise_searches const* const g = searches_of_data_set(name, all);
  if (g != nullptr && g->run) return {{{0, value(*g)}}, low, high, what};
  return {{},
          low,
          high,
          what,
          g != nullptr
              ? g->obstacle
              : "the stand-in of " + name + " was made to these numbers: give --graph the " +
                    "file of the data set"};
}

/// Calls f(x, searches) for each graph that was searched; x is its place on the axis.
template <class F>
void for_each_searched(std::vector<enterprise_searches> const& all, F const& f) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].run) f(static_cast<double>(i), all[i]);
}

}  // namespace karpos::perf::paper
