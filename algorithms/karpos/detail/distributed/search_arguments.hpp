// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/distributed/communicator.hpp"

// Arguments of a search over ranks, which ranks compare before it starts, and its sources.

namespace karpos::detail::distributed {

/// Arguments that every search has. Each search derives its own from this. A rank sends them to all
/// other ranks in one message.
struct search_arguments {
  std::uint64_t source;  // if it is one vertex
  std::uint32_t has_vertices, has_parents, failed, passes_view;
};

/// Returns the arguments of this rank that every search has.
template <class Arguments, class Graph, class Source>
Arguments arguments_of(Graph const& graph, Source const& source, bool has_parents) {
  Arguments mine{};
  mine.has_vertices = graph.local().vertices() > 0;
  mine.has_parents = has_parents;
  mine.passes_view = !std::is_integral_v<Source>;
  if constexpr (std::is_integral_v<Source>) mine.source = static_cast<std::uint64_t>(source);
  return mine;
}

/// Returns the memory of a view of sources, for require_apart; none if the source is one vertex.
template <class Source>
memory_range memory_of_source([[maybe_unused]] Source const& source) {
  if constexpr (std::is_integral_v<Source>)
    return {};
  else
    return range_of(source);
}

/// Returns the arguments of all ranks. check(): throws what this rank must refuse. Throws
/// collective_error on every rank if it throws on any. Collective.
template <class Ranks, class Arguments, class Check>
std::vector<Arguments> gather_arguments(Ranks const& ranks, Arguments mine, Check const& check) {
  std::exception_ptr problem;
  try {
    check();
  } catch (...) {
    problem = std::current_exception();
  }
  mine.failed = problem != nullptr;
  auto const all = ranks.all_gather(mine);
  bool failed = false;
  for (Arguments const& of_rank : all) failed = failed || of_rank.failed != 0;
  if (failed)
    run_collectively(ranks, [&] {
      if (problem) std::rethrow_exception(problem);
    });
  return all;
}

/// Throws collective_error on every rank unless all ranks have passed the same value of a member.
/// Compares bits: equal NaNs agree.
template <class Ranks, class Arguments, class Base, class T>
void require_same_member(Ranks const& ranks, std::vector<Arguments> const& all, char const* what,
                         T Base::*member) {
  std::vector<std::uint64_t> bits;
  for (Arguments const& of_rank : all) bits.push_back(to_bits<std::uint64_t>(of_rank.*member));
  require_equal<T>(ranks, what, bits);
}

/// Returns whether parents are asked for. Throws collective_error on every rank unless all ranks
/// with vertices ask for them, or none.
template <class Ranks, class Arguments>
bool agree_on_parents(Ranks const& ranks, std::vector<Arguments> const& all) {
  bool with_parents = false;
  for (Arguments const& t : all) with_parents = with_parents || t.has_parents != 0;
  for (Arguments const& t : all)  // a rank without vertices has no parents to pass
    if (with_parents && t.has_vertices != 0 && t.has_parents == 0)
      throw_on_all(ranks,
                   "some ranks ask for parents, and others do not: pass views of them on all");
  return with_parents;
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
      return distributed::allocate<VertexId>(ranks.exec(),
                                             "karpos::distributed: sources of a search", total);
    });
    ranks.all_gather(source, all.views, counts);
    all.list = {all.views.data(), total, 0};
    wrong = frontier::sources_out_of_range("karpos::distributed: check sources", ranks.exec(),
                                           all.views, vertices);
  }
  require_vertices(ranks, wrong, vertices);
  return all;
}
/// Collects the sources of a search, by arguments that ranks have exchanged. Throws
/// collective_error on every rank unless all pass one vertex, or all a view. Collective.
template <class VertexId, class ExecSpace, class Arguments, class Source>
auto gather_sources(karpos::distributed::communicator<ExecSpace> const& ranks,
                    std::vector<Arguments> const& arguments, std::uint64_t vertices,
                    Source const& source) {
  require_same_member(ranks, arguments, "whether a search starts from a view of sources",
                      &search_arguments::passes_view);
  require_same_member(ranks, arguments, "the source", &search_arguments::source);
  if constexpr (std::is_integral_v<Source>) {
    std::uint64_t const v = arguments[0].source;
    require_vertices(ranks, v < vertices ? 0 : 1, vertices);
    return all_sources<VertexId, typename ExecSpace::memory_space>{{}, {nullptr, 1, v}};
  } else {
    return gather_sources<VertexId>(ranks, vertices, source);
  }
}

}  // namespace karpos::detail::distributed
