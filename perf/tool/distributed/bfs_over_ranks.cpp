// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "perf/measure/bfs/measure.hpp"
#include "perf/measure/bfs/summary.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/bfs/open_graph.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/distributed/on_ranks.hpp"
#include "perf/tool/distributed/over_ranks.hpp"
#include "perf/tool/distributed/searches_over_ranks.hpp"

namespace karpos::perf {
namespace {

/// Searches with offsets as wide as those of one process.
searches_over_ranks measure_over_ranks(rank_communicator const& ranks, bfs_parameters const& p,
                                       progress* bar) {
  Kokkos::Timer clock;
  show(bar, 0, "edges");
  graph_source const source = detail::distributed::run_collectively(ranks, [&] {
    return open_graph(p.graph, p.directed, [](double, std::string const&) {}, {},
                      {.format = parse_graph_format(p.format)});
  });
  if (offset_bits_for(p, source) == 32)
    return measure_searches<std::uint32_t>(ranks, p, source, clock, bar);
  return measure_searches<std::uint64_t>(ranks, p, source, clock, bar);
}

/// Searches a graph over the ranks of a communicator, which all of them free together.
rank_search_result search_over_part(MPI_Comm part, rank_search const& search,
                                    bfs_parameters const& p) {
  rank_search_result result{search, {}, {}};
  try {
    rank_communicator const ranks(part);
    result.run = measure_over_ranks(ranks, p, nullptr).run;
  } catch (bad_input const& e) {
    result.obstacle = e.what();
  } catch (distributed::collective_error const& e) {
    result.obstacle = e.what();
  }
  return result;
}

void require_supported(bfs_parameters const& p) {
  for (auto const& [given, name] :
       {std::pair(p.relabel, "--relabel"), std::pair(p.baseline, "--baseline"),
        std::pair(!p.presets.empty(), "--preset"), std::pair(p.energy, "--energy"),
        std::pair(p.batch, "--batch"), std::pair(p.degrees, "--degrees"),
        std::pair(p.timeline, "--timeline"), std::pair(!p.output.empty(), "--output"),
        std::pair(p.options.hub_cache, "--hub-cache"), std::pair(p.pad_rows > 0, "--pad-rows"),
        std::pair(p.options.local_search_hops != bfs_options{}.local_search_hops, "--hops"),
        std::pair(p.options.unvisited_queue, "--unvisited-queue")})
    if (given)
      throw bad_input(std::string(name) + " does not apply (--distributed): leave one out");
}

void print_ranks(json const& ranks) {
  json const& searches = ranks.at("searches");
  bool const spanned = !searches.empty() && searches.front().at("one_kernel").get<bool>();
  double sent = 0;
  for (auto const& s : searches)
    for (std::uint64_t const b : s.at("bytes_sent")) sent = std::max(sent, static_cast<double>(b));
  std::printf("\n%s (%s%s), the slowest counts; %s sent by a rank for a search, at most\n",
              counted(ranks.at("count").get<std::uint64_t>(), "rank", "ranks").c_str(),
              ranks.at("engine").get<std::string>().c_str(),
              spanned ? ", one kernel spans them" : "", human_bytes(sent).c_str());
}
void print(searches_over_ranks const& searches, bool as_json) {
  if (as_json) {
    json report = to_json(searches.run);
    report.erase("hub_degree");  // each rank has its own
    report["parameters"]["timing"] = "clock of the slowest rank, after a barrier";
    report["ranks"] = searches.ranks;
    print_json(report);
  } else {
    print(searches.run);
    print_ranks(searches.ranks);
  }
  for (bfs_result const& r : searches.run.searches)
    if (!r.defect.empty())
      std::fprintf(stderr, "karpos: the search from vertex %s is wrong (%s)\n",
                   grouped(r.source).c_str(), r.defect.c_str());
}

}  // namespace

std::vector<rank_search_result> search_over_ranks(rank_search_plan const& plan,
                                                  bfs_parameters const& given) {
  std::vector<rank_search_result> results;
  int const code = on_ranks([&](rank_communicator const& ranks) {
    for (rank_search const& search : plan(ranks.size())) {
      bfs_parameters p = given;
      p.graph = search.graph;
      p.options.queue = bfs_queue::collected;
      bool const takes_part = ranks.rank() < search.ranks;
      MPI_Comm part = MPI_COMM_NULL;
      MPI_Comm_split(ranks.mpi(), takes_part ? 0 : MPI_UNDEFINED, ranks.rank(), &part);
      if (takes_part) {
        results.push_back(search_over_part(part, search, p));
        MPI_Comm_free(&part);
      }
      ranks.barrier();
    }
    return 0;
  });
  if (code != 0)
    throw std::runtime_error("karpos: searches over ranks failed (the message is above)");
  return results;
}

int bfs_over_ranks(bfs_parameters const& given, bool as_json) {
  bfs_parameters p = given;
  p.options.queue = bfs_queue::collected;
  require_supported(p);
  return on_ranks([&](rank_communicator const& ranks) {
    bool const prints = ranks.rank() == 0;
    std::unique_ptr<progress> bar(prints ? new progress("karpos bfs") : nullptr);
    auto const searches = measure_over_ranks(ranks, p, bar.get());
    bar.reset();
    if (prints) print(searches, as_json);
    return searches.run.wrong() > 0 ? 1 : 0;
  });
}

}  // namespace karpos::perf
