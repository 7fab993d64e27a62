// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/sssp/measure.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "perf/measure/graph/memory_needed.hpp"
#include "perf/measure/sssp/plain_text.hpp"
#include "perf/measure/support/bad_input.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {

bool has_sssp_baseline() { return on_host; }

namespace {

constexpr double largest_integer = std::numeric_limits<std::uint32_t>::max();

/// Returns the weights of the file, or null if they are not used.
std::vector<double> const* weights_of(sssp_parameters const& p, graph_source const& source) {
  auto const* const list = std::get_if<edge_list>(&source);
  return p.random_weights || list == nullptr || list->weights.empty() ? nullptr : &list->weights;
}

sssp_weights describe(sssp_parameters const& p, std::vector<double> const* weights) {
  if (weights == nullptr) return {false, true, 1, static_cast<double>(p.max_weight)};
  auto const [least, most] = std::minmax_element(weights->begin(), weights->end());
  bool const integral = std::all_of(weights->begin(), weights->end(), is_exact_integer);
  return {true, integral && *most < largest_integer, *least, *most};
}

void require_applicable(sssp_parameters const& p, sssp_weights const& weights) {
  if (p.max_weight_is_given && weights.of_file)
    throw bad_input(
        "--max-weight does not apply (the weights are those of the file): leave it out, or choose "
        "--random-weights");
  if (p.options.delta > 0 && p.options.delta < 1 && weights.is_integral)
    throw bad_input("--delta " + plain_text(p.options.delta) +
                    " is below 1, and the weights are integers: choose 1 or more, or 0 for an "
                    "automatic width");
  if (p.baseline && !weights.is_integral)
    throw bad_input(
        "--baseline does not apply (it takes integers below 2^32, and not all weights of the file "
        "are): leave it out, or choose --random-weights");
}

}  // namespace

sssp_run run_sssp(sssp_parameters const& p, opened_graph graph, reporter const& report) {
  sssp_run run;
  run.parameters = p;
  run.graph = std::move(graph.name);
  run.names = std::move(graph.names);
  run.layout = std::move(graph.layout);
  run.weights = describe(p, weights_of(p, graph.source));
  require_applicable(p, run.weights);
  bool const narrow = fits_31_bits(graph.source, p.directed);
  // In addition to a search there are weights, distances, queues, and the baseline's edges and
  // distances.
  bfs_parameters search;
  search.directed = p.directed;
  search.parents = p.parents;
  double const sorting =
      on_host ? 16 : 48;  // per edge: rows in order of weight, and while they are sorted
  double const weight = run.weights.is_integral ? 4 : 8;
  // While rows are built, a target and the index of its edge.
  double const index = narrow ? 8 : 16;
  require_bfs_memory(graph.source, search, narrow ? 32 : 64,
                     {(p.baseline ? 28.0 : 20.0) + (p.sort_rows ? 16.0 : 0.0),
                      (p.baseline ? 12.0 : weight) + (p.sort_rows ? sorting : 0.0),
                      run.weights.of_file ? index + weight : 0.0});
  auto const measure_doubles = [&] {
    run.measured_doubles = true;
    run.results.clear();
    try {
      measure_sssp<std::uint64_t, double>(run, graph, false, report);
    } catch (std::range_error const&) {
      throw bad_input("distances are beyond what a double holds (weights of the file up to " +
                      plain_text(run.weights.most) +
                      "): scale the weights, or choose --random-weights");
    }
    return run;
  };
  if (!run.weights.is_integral) return measure_doubles();
  // Integer distances may overflow their type. Doubles are measured then, unless --max-weight
  // causes the overflow.
  bool const may_overflow =
      run.weights.of_file && !p.baseline &&
      run.weights.most * static_cast<double>(std::get<edge_list>(graph.source).vertices) >=
          largest_integer;
  try {
    if (narrow)
      measure_sssp<std::uint32_t, std::uint32_t>(run, graph, may_overflow, report);
    else
      measure_sssp<std::uint64_t, std::uint32_t>(run, graph, may_overflow, report);
  } catch (std::range_error const&) {
    if (!may_overflow) throw;
    return measure_doubles();
  }
  return run;
}

}  // namespace karpos::perf
