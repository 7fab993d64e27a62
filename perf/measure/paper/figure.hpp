// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "perf/measure/paper/claims.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/space.hpp"

// The figures and tables of a published paper, measured here beside the published values. A paper
// is one file of this folder, <id>.cpp; papers.hpp says what it defines. A figure calls the
// measuring code of the other folders (run_hash, run_topk, ...), which checks every answer.

namespace karpos::perf {

struct bfs_parameters;
struct opened_graph;
struct rank_search;
struct rank_search_result;

}  // namespace karpos::perf

namespace karpos::perf::paper {

struct axis {
  std::string label;  ///< with the unit: "time of a query (ms)"
  bool logarithmic = false;
  std::vector<std::string> categories = {};  ///< of the x axis of a bar chart or a table
};

/// The content of a figure. One without series may have a `table` of words alone.
struct figure {
  std::string title;
  axis x, y;
  std::vector<series> lines;
  std::vector<claim> claims;
  std::vector<std::vector<std::string>> table;  ///< further cells; the first row is the heading
  std::vector<std::string> notes;               ///< what differs from the paper, a sentence each
  std::uint64_t wrong = 0;                      ///< wrong answers of all runs
};

/// How much a figure may measure. `karpos paper --quick` takes at most 15 s for a paper on two
/// processors; a whole paper takes 15 minutes on a GPU, and about as long on 16 processors.
struct scale {
  bool quick = false;
  /// Graphs of the user's, which figures of searches add to those of the paper, and how to open
  /// them.
  std::vector<std::string> graphs = {};
  std::function<opened_graph(std::string const& graph, reporter const&)> open = {};
  /// Searches over ranks (rank_searches.hpp), for figures of scaling.
  std::function<std::vector<rank_search_result>(
      std::function<std::vector<rank_search>(int ranks)> const& plan, bfs_parameters const&)>
      search_over_ranks = {};

  template <class T>
  T pick(T const& quickly, T const& on_cpu, T const& on_gpu) const {
    return quick ? quickly : on_host ? on_cpu : on_gpu;
  }
  template <class T>
  T pick(T const& quickly, T const& whole) const {
    return quick ? quickly : whole;
  }
  int repetitions() const { return quick ? 1 : 5; }
};

struct figure_entry {
  std::string number;   ///< "4", "T1" for Table 1, or a word: "energy"
  std::string title;    ///< shown before the figure is measured
  std::string command;  ///< the command that measures one value of it alone
  figure (*measure)(scale const&, reporter const&);
  double share = 1;         ///< of the time that the paper takes, relative to its other figures
  bool over_ranks = false;  ///< needs mpirun, by which no other figure is measured

  /// Returns "Figure 4", "Table 1", "Energy".
  std::string name() const;
};

struct publication {
  std::string id, title;
  std::string reference;  ///< authors, venue, year
  std::string hardware;   ///< where its values were measured
  std::vector<figure_entry> figures;
  bool takes_graphs = false;  ///< has figures to which --graph adds
};

/// A figure that was measured.
struct measured_figure {
  figure_entry entry;
  figure content;
  double seconds = 0;
  std::string failure;  ///< why it could not be measured; empty if it was
  bool failed = false;  ///< by an error other than a lack of memory
};

struct paper_run {
  publication paper;
  scale how_much;
  std::vector<measured_figure> figures;

  /// Returns the command that measures a figure as this run did.
  std::string command(figure_entry const& f) const;
};

}  // namespace karpos::perf::paper
