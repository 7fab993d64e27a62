// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "karpos/bfs_options.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/bfs/start.hpp"
#include "karpos/detail/bfs/state.hpp"
#include "karpos/detail/distributed/split_rows.hpp"
#include "karpos/distributed/communicator.hpp"

// What a search over ranks is given, checked and agreed upon; and what it answers.

namespace karpos::detail::distributed {

/// Throws collective_error unless all ranks pass the options that decide about levels alike.
template <class ExecSpace>
void require_same_search(karpos::distributed::communicator<ExecSpace> const& ranks,
                         bfs_options const& o) {
  struct terms {
    std::int64_t direction, driver;
    double gamma, alpha, beta;
  };
  auto const all =
      ranks.all_gather(terms{static_cast<std::int64_t>(o.direction),
                             static_cast<std::int64_t>(o.driver), o.gamma, o.alpha, o.beta});
  auto const differ = [&](char const* what, auto const of) {
    for (std::size_t r = 1; r < all.size(); ++r)
      if (of(all[r]) != of(all[0]))
        throw karpos::distributed::collective_error(
            std::string("karpos: ") + what +
                " of a search is not the same on all ranks (rank 0 has " +
                std::to_string(of(all[0])) + ", rank " + std::to_string(r) + " has " +
                std::to_string(of(all[r])) + "): pass one value on every rank",
            -1);
  };
  differ("the direction", [](terms const& t) { return t.direction; });
  differ("the driver", [](terms const& t) { return t.driver; });
  differ("gamma", [](terms const& t) { return t.gamma; });
  differ("alpha", [](terms const& t) { return t.alpha; });
  differ("beta", [](terms const& t) { return t.beta; });
}

/// can_span: whether one kernel may run a search on the devices of all ranks.
inline void require_options(bfs_options const& o, bool needs_classes, bool can_span) {
  if (!o.degree_classes && needs_classes)
    reject("bfs without degree classes", "a vertex has 2^27 edges or more",
           "leave degree_classes on");
  if (o.queue == bfs_queue::collected || o.hub_cache || o.unvisited_queue)
    reject("an option of a search is not for several ranks",
           "a collected queue, a hub cache or a queue of unvisited vertices", "leave it out");
  if (o.driver == launch_mode::persistent_kernel && !can_span)
    reject("launch_mode::persistent_kernel is not available to these ranks",
           "their devices do not address each other", "choose launch_mode::automatic");
}

template <class Graph, class Distances, class Parents>
void require_results(Graph const& graph, Distances const& distances, Parents const& parents,
                     bool with_parents) {
  std::uint64_t const n = graph.local().vertices();
  require_contiguous("distances of a search", distances);
  require_contiguous("parents of a search", parents);
  require_same_extent("distances", distances.extent(0), "vertices of this rank", n);
  if (with_parents) require_same_extent("parents", parents.extent(0), "vertices of this rank", n);
}

/// The sources of all ranks, on each.
template <class VertexId, class MemorySpace>
struct all_sources {
  Kokkos::View<VertexId*, MemorySpace> views;  // where they came in views
  bfs::source_list list;

  /// Returns: a view of them in any case. exec: of this rank.
  template <class ExecSpace>
  auto in_view(ExecSpace const& exec) const {
    if (list.list != nullptr || list.count == 0) return views;
    auto const one = distributed::allocate<VertexId>(exec, "karpos::bfs: a source", 1);
    Kokkos::deep_copy(exec, one, static_cast<VertexId>(list.single));
    return one;
  }
};

/// Of one vertex, which all pass, or of views of some.
template <class VertexId, class ExecSpace, class Source>
auto sources_of_all(karpos::distributed::communicator<ExecSpace> const& ranks,
                    std::uint64_t vertices, Source const& source) {
  std::uint64_t wrong = 0;
  all_sources<VertexId, typename ExecSpace::memory_space> all;
  if constexpr (std::is_integral_v<Source>) {
    karpos::distributed::require_same(ranks, "the source", source);
    all.list = {nullptr, 1, static_cast<std::uint64_t>(source)};
    wrong = all.list.single >= vertices ? 1 : 0;
  } else {
    require_reachable<ExecSpace, Source>();
    static_assert(std::is_same_v<typename Source::non_const_value_type, VertexId>,
                  "karpos: sources come in a view of the graph's vertex type");
    auto const counts = ranks.all_gather(std::uint64_t(source.extent(0)));
    std::uint64_t const total = blocks(counts).total;
    all.views = together(ranks, [&] {
      return distributed::allocate<VertexId>(ranks.exec(), "karpos::bfs: sources", total);
    });
    ranks.all_gather(source, all.views, counts);
    all.list = {all.views.data(), total, 0};
    wrong = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::bfs: check sources", ranks.exec(), total,
        bfs::count_out_of_range<decltype(all.views)>{all.views, vertices});
  }
  if (wrong > 0)
    throw karpos::distributed::collective_error(
        "karpos: " + std::to_string(wrong) +
            " of the sources of a search are no vertices (the graph has " +
            std::to_string(vertices) + "): pass vertices below that",
        -1);
  return all;
}

/// What a search did, as on one device.
inline karpos::bfs_report report_of(bfs::search_record const& record, std::uint32_t hubs,
                                    bool has_transpose) {
  auto const& sum = record.summary;
  karpos::bfs_report r{.levels = sum.levels,
                       .visited = sum.visited,
                       .edges_top_down = sum.edges_top_down,
                       .edges_bottom_up = sum.edges_bottom_up,
                       .first_bottom_up = sum.first_bottom_up,
                       .first_top_down_again = sum.first_top_down_again,
                       .hubs = hubs,
                       .bottom_up_available = has_transpose,
                       .level = {}};
  for (std::int32_t l = 0; l < r.levels && l < bfs::recorded_levels; ++l) {
    auto const& from = record.level[l];
    r.level.push_back({from.vertices, from.edges, from.hubs, from.bottom_up != 0});
  }
  return r;
}

}  // namespace karpos::detail::distributed
