// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/topk/measure.hpp"

#include <utility>

#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/tool/command.hpp"

namespace karpos::perf {

topk_run run_topk(topk_parameters const& p, topk_progress const& report) {
  Kokkos::Timer const clock;
  if (is_generator(p.scores)) {
    score_spec spec = parse_score_spec(p.scores);
    spec.seed = p.seed;
    // A table of scores, and the sorted lists of scores and ids.
    double const entries = static_cast<double>(spec.objects) * spec.lists;
    if constexpr (on_host)
      require_memory(entries * (2 * sizeof(float) + sizeof(std::uint32_t)),
                     "the table of scores, with its lists,",
                     "ask for fewer objects (m=) or lists (n=)");
    return measure_topk<float>(p, spec, clock, report);
  }
  score_file file =
      read_scores(p.scores, [&](double part, std::string const& w) { report(0.4 * part, w); });
  return measure_topk<double>(p, std::move(file), clock, report);
}

}  // namespace karpos::perf
