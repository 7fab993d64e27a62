// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "perf/measure/join/measure.hpp"
#include "perf/measure/paper/papers.hpp"
#include "perf/measure/paper/report.hpp"
#include "perf/measure/subjects/sort_join.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/text.hpp"

// HashCSR is how cuDF joins tables by a hash since 2026: right rows are counted for each key, and
// stored key by key. Its sweep has tables of 100,000 rows, and up to 50,000 right rows of a key.

namespace karpos::perf::paper {
namespace {

/// Returns the milliseconds published for each multiplicity.
series hashcsr_published(std::string const& name, std::vector<double> const& milliseconds) {
  series line{name, origin::published};
  double const multiplicities[] = {1, 10, 100, 1000, 10000, 50000};
  for (std::size_t i = 0; i < milliseconds.size(); ++i)
    line.points.push_back({multiplicities[i], milliseconds[i]});
  return line;
}

figure hashcsr_multiplicity(scale const& s, reporter const& report) {
  figure f;
  f.title = "inner join of 100,000 rows with 100,000, of which 30 % match";
  f.x = {"right rows of a key", true};
  f.y = {"time (ms)", true};
  series once{"partitioned_join"}, indexed{"row_index and join"},
      sorted{"sort of both tables, bisection", origin::peer};
  bool const with_sort = make_sort_join<std::uint32_t> != nullptr;
  auto const multiplicities = s.pick<std::vector<double>>({1, 100}, {1, 10, 100, 1e3, 1e4, 5e4});
  double done = 0;
  for (double const m : multiplicities) {
    join_measure_parameters p;
    p.tables.left = p.tables.right = 100000;
    p.tables.multiplicity = static_cast<std::uint64_t>(m);
    p.tables.match = 0.3;
    p.repetitions = s.repetitions();
    p.with_sort = with_sort;
    try {
      join_run const run = run_join(p, [&](double part, std::string const& what) {
        report((done + part) / static_cast<double>(multiplicities.size()),
               grouped(p.tables.multiplicity) + " of a key, " + what);
      });
      f.wrong += run.wrong;
      for (join_result const& r : run.results) {
        point const seen{m, r.time.median() * 1e3};
        if (r.phase == "once") once.points.push_back(seen);
        if (r.phase == "all") (r.name == "sort" ? sorted : indexed).points.push_back(seen);
      }
    } catch (std::exception const& e) {
      if (!is_lack_of_memory(e)) throw;
      once.missing = indexed.missing = sorted.missing =
          grouped(p.tables.multiplicity) + " of a key: " + e.what();
    }
    ++done;
  }
  if (!with_sort) sorted.missing = "this build has no sort to measure";
  f.lines = {once,
             indexed,
             sorted,
             hashcsr_published("HashCSR", {0.166843, 0.165929, 0.183180, 0.272, 0.625, 3.507}),
             hashcsr_published("multiset of cuCollections, before",
                               {0.169364, 0.251927, 0.876574, 6.816, 56.742, 286.811}),
             hashcsr_published("sort-merge join of cuDF",
                               {0.614171, 0.596207, 0.640105, 0.999, 1.845, 4.264})};
  f.notes = {
      "keys of 4 bytes; a join of 50,000 right rows of a key has 1.5 * 10^9 rows, 12 GB of row "
      "numbers",
      "partitioned_join is the whole call, which allocates its memory; the others are sums of "
      "their phases, in memory that is allocated before",
      "the published sweep does not say how many left rows match: 30 % do in the source of that "
      "benchmark"};
  return f;
}

}  // namespace

publication hashcsr_paper() {
  publication paper;
  paper.id = "hashcsr";
  paper.title = "HashCSR: joins of tables with many rows of a key";
  paper.reference =
      "cuDF, pull request 23640, 2026 (software); after O. Green, HashGraph, ACM TOPC 8(2), 2021";
  paper.hardware = "NVIDIA GH200 480GB";
  paper.figures = {{"multiplicity", "time of a join by the number of right rows of a key",
                    "karpos join join:left=1e5,right=1e5,multiplicity=5e4,match=0.3 --peers",
                    hashcsr_multiplicity, 1}};
  return paper;
}

}  // namespace karpos::perf::paper
