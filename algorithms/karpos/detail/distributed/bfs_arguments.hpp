// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "karpos/bfs_options.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/distributed/communicator.hpp"

// Checks the arguments of a search over ranks and makes the ranks agree on them.

namespace karpos::detail::distributed {

/// Arguments of a rank, which it sends to all other ranks in one message.
struct search_arguments {
  std::int64_t direction, driver;
  double gamma, alpha, beta;
  std::uint64_t source;  // if it is one vertex
  std::uint32_t has_vertices, has_parents, can_span, failed, passes_view, unused;
};

/// Throws collective_error, on every rank, unless all ranks have passed equal values of what
/// decides about levels. Compares bits, so that ranks which all pass NaN agree.
template <class Ranks>
void require_same_arguments(Ranks const& ranks, std::vector<search_arguments> const& all) {
  auto const require = [&]<class T>(char const* what, T search_arguments::*member) {
    std::vector<std::uint64_t> bits;
    for (auto const& of_rank : all) bits.push_back(to_bits<std::uint64_t>(of_rank.*member));
    require_equal<T>(ranks, what, bits);
  };
  require("the direction of a search", &search_arguments::direction);
  require("the driver of a search", &search_arguments::driver);
  require("gamma of a search", &search_arguments::gamma);
  require("alpha of a search", &search_arguments::alpha);
  require("beta of a search", &search_arguments::beta);
  require("whether a search starts from a view of sources", &search_arguments::passes_view);
  require("the source", &search_arguments::source);
}

inline void require_options(bfs_options const& o, bool needs_classes) {
  if (!o.degree_classes && needs_classes)
    reject("bfs without degree classes", "a vertex has 2^27 edges or more",
           "leave degree_classes on");
  if (o.queue == bfs_queue::collected || o.hub_cache || o.unvisited_queue)
    reject("an option of a search is not for several ranks",
           "a collected queue, a hub cache or a queue of unvisited vertices", "leave it out");
}

/// Throws collective_error if any rank's sources are out of range. wrong: how many are.
template <class Ranks>
void require_vertices(Ranks const& ranks, std::uint64_t wrong, std::uint64_t vertices) {
  if (wrong > 0)
    throw_on_all(ranks, std::to_string(wrong) +
                            " of the sources of a search are no vertices (the graph has " +
                            std::to_string(vertices) + "): pass vertices below that");
}

/// The sources of all ranks, stored on each rank.
template <class VertexId, class MemorySpace>
struct all_sources {
  Kokkos::View<VertexId*, MemorySpace> views;  // used if they were passed in views
  frontier::source_list list;

  /// Returns: a view of the sources in either case. exec: this rank's instance.
  template <class ExecSpace>
  auto in_view(ExecSpace const& exec) const {
    if (list.list != nullptr || list.count == 0) return views;
    auto const one = distributed::allocate<VertexId>(exec, "karpos::bfs: a source", 1);
    Kokkos::deep_copy(exec, one, static_cast<VertexId>(list.single));
    return one;
  }
};

/// Collects the sources: one vertex, which all ranks pass, or the views of all ranks. Collective.
template <class VertexId, class ExecSpace, class Source>
auto gather_sources(karpos::distributed::communicator<ExecSpace> const& ranks,
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
    all.views = run_collectively(ranks, [&] {
      require_contiguous("sources of a search", source);
      return distributed::allocate<VertexId>(ranks.exec(), "karpos::bfs: sources", total);
    });
    ranks.all_gather(source, all.views, counts);
    all.list = {all.views.data(), total, 0};
    wrong = frontier::sources_out_of_range("karpos::bfs: check sources", ranks.exec(), all.views,
                                           vertices);
  }
  require_vertices(ranks, wrong, vertices);
  return all;
}

/// Facts about a search that all ranks know before it starts.
template <class VertexId, class MemorySpace>
struct agreed_search {
  all_sources<VertexId, MemorySpace> sources;
  bool with_parents, in_one_kernel;
};
/// Compares the arguments of the ranks, in one message if they search from one vertex. check():
/// throws what this rank must refuse. Throws: collective_error on every rank. Collective.
template <class VertexId, class ExecSpace, class Graph, class Source, class Check>
auto agree_on_search(karpos::distributed::communicator<ExecSpace> const& ranks, Graph const& graph,
                     bfs_options const& o, Source const& source, bool has_parents, bool can_span,
                     Check const& check) {
  std::exception_ptr problem;
  try {
    check();
  } catch (...) {
    problem = std::current_exception();
  }
  search_arguments mine{static_cast<std::int64_t>(o.direction),
                        static_cast<std::int64_t>(o.driver),
                        o.gamma,
                        o.alpha,
                        o.beta,
                        0,
                        graph.local().vertices() > 0,
                        has_parents,
                        can_span,
                        problem != nullptr,
                        !std::is_integral_v<Source>,
                        0};
  if constexpr (std::is_integral_v<Source>) mine.source = static_cast<std::uint64_t>(source);
  auto const all = ranks.all_gather(mine);
  agreed_search<VertexId, typename ExecSpace::memory_space> agreed{{}, false, true};
  bool failed = false;
  for (search_arguments const& t : all) {
    failed = failed || t.failed != 0;
    agreed.with_parents = agreed.with_parents || t.has_parents != 0;
    agreed.in_one_kernel = agreed.in_one_kernel && t.can_span != 0;
  }
  if (failed)
    run_collectively(ranks, [&] {
      if (problem) std::rethrow_exception(problem);
    });
  require_same_arguments(ranks, all);
  for (search_arguments const& t : all)  // a rank without vertices has no parents to pass
    if (agreed.with_parents && t.has_vertices != 0 && t.has_parents == 0)
      throw_on_all(ranks,
                   "some ranks ask for parents, and others do not: pass views of them on all");
  if (o.driver == launch_mode::persistent_kernel && !agreed.in_one_kernel)
    throw_on_all(
        ranks,
        "launch_mode::persistent_kernel is not available to these ranks (their devices do not "
        "address each other): choose launch_mode::automatic");
  if constexpr (std::is_integral_v<Source>) {
    agreed.sources.list = {nullptr, 1, mine.source};
    require_vertices(ranks, mine.source < graph.vertices() ? 0 : 1, graph.vertices());
  } else {
    agreed.sources = gather_sources<VertexId>(ranks, graph.vertices(), source);
  }
  return agreed;
}

}  // namespace karpos::detail::distributed
