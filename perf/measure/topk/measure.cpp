// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/topk/measure.hpp"

#include <utility>
#include <variant>

#include "perf/measure/support/host_memory.hpp"

namespace karpos::perf {

score_source generated_scores(topk_parameters const& p) {
  score_source source;
  score_spec spec = parse_score_spec(p.scores);
  spec.seed = p.seed;
  source.content = spec;
  return source;
}

topk_run run_topk(topk_parameters const& p, score_source source, reporter const& report) {
  auto const* const spec = std::get_if<score_spec>(&source.content);
  if (spec == nullptr) return measure_topk<double>(p, std::move(source), report);
  // A table of scores, and the sorted lists of scores and ids.
  auto const objects = static_cast<double>(spec->objects);
  double const entries = objects * spec->lists;
  constexpr double published_bytes = 80;  // an object, in published_query
  if constexpr (on_host)
    require_memory(entries * (2 * sizeof(float) + sizeof(std::uint32_t)) +
                       (p.published_stride > 0 ? objects * published_bytes : 0),
                   "the table of scores, with its lists,",
                   "ask for fewer objects (m=) or lists (n=)");
  return measure_topk<float>(p, std::move(source), report);
}

}  // namespace karpos::perf
