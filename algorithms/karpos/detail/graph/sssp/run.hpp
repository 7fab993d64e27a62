// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/frontier/sources.hpp"
#include "karpos/detail/graph/sssp/loop.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/sssp_options.hpp"

// The host driver of sssp: checks its arguments, runs the loop over rounds, and reports.

namespace karpos::detail::sssp {

/// Counts the edges that lead from a vertex with a distance to a vertex without one.
template <class State>
struct count_distance_overflows {
  State s;
  KOKKOS_FUNCTION void operator()(std::uint64_t u, std::uint64_t& count) const {
    auto const infinity = State::traits::infinity();
    if (s.distance[u] == infinity) return;
    for (auto e = s.out.begin(u); e < s.out.end(u); ++e)
      count += State::traits::is_finite(s.weight[e]) &&
                       s.distance[State::local(s.out.column[e])] == infinity
                   ? 1
                   : 0;
  }
};

/// Throws std::range_error if a vertex can be reached, but its distance does not fit the type.
template <class ExecSpace, class State>
void require_in_range(ExecSpace const& exec, State const& s) {
  auto const count = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
      "karpos::sssp::count_distance_overflows", exec, s.vertices,
      count_distance_overflows<State>{s});
  if (count > 0)
    throw std::range_error("karpos: a distance of sssp does not fit the type of the weights (" +
                           std::to_string(count) +
                           " edges lead beyond): use weights of 64 bits, or of floating point");
}

/// Access to a workspace, for calls of sssp.
struct workspace_access {
  template <class Workspace>
  static auto const& graph(Workspace const& w) {
    return w.m_graph;
  }
  template <class Workspace>
  static auto const& weights(Workspace const& w) {
    return w.m_weights;
  }
  template <class ExecSpace, class Workspace>
  static auto state(ExecSpace const& exec, Workspace const& w,
                    typename Workspace::weight_type delta, sssp_options const& o) {
    return w.state(exec, delta, o.reach == 0 ? w.reach() : o.reach, o.fusion_hops);
  }
  template <class ExecSpace, class Workspace, class State>
  static sssp_report run(ExecSpace const& exec, Workspace const& w, State const& s,
                         source_list const& sources, sssp_options const& options) {
    using tuned = tuning<ExecSpace>;
    Kokkos::Profiling::ScopedRegion const region("karpos::sssp");
    device::run_program<tuned::team_threads, tuned::teams_per_processor>(
        exec, options.driver, w.m_grid, round_loop<State>{s, sources, &w.m_fixed.data()->record});
    auto const done = read_back(exec, w.m_fixed.data(), "karpos::sssp: report");
    summary const& r = done.record;
    if (r.failed != 0)
      throw std::logic_error("karpos: sssp was stopped (it comes to no end: round " +
                             std::to_string(r.rounds) + ", bucket " + std::to_string(r.buckets) +
                             ", in a graph of " + std::to_string(s.vertices) +
                             " vertices): pass the weights that the workspace was "
                             "made of, none negative, write nothing meanwhile, or report this");
    if (done.distance_overflowed != 0) require_in_range(exec, s);
    return {static_cast<double>(s.delta), r.buckets, r.rounds, r.fused_rounds, r.vertices,
            r.edges + done.fused_edges,   r.passes};
  }
};

/// Returns the width of a bucket as a weight. Throws std::invalid_argument if it is refused.
template <class Weight>
Weight checked_delta(double requested, double automatic) {
  double const delta = requested == 0 ? automatic : requested;
  constexpr auto max_weight = std::numeric_limits<Weight>::max();
  if (!(delta > 0) || (std::is_integral_v<Weight> && delta < 1))
    reject("delta " + std::to_string(requested) + " of sssp is refused",
           std::is_integral_v<Weight> ? "below 1" : "not above 0", "pass 0 for an automatic one");
  if (delta >= static_cast<double>(max_weight)) return max_weight;
  auto const width = static_cast<Weight>(delta);
  return width > 0 ? width : std::numeric_limits<Weight>::min();
}

}  // namespace karpos::detail::sssp
