// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/bfs/timeline.hpp"

#include <algorithm>
#include <cstdio>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

/// Returns whether a step looks for the next level. Other steps reset, count, or fill queues.
bool expands(std::string const& step) {
  return step == "expand" || step == "expand_small_frontier" || step == "bottom_up" ||
         step == "bottom_up_queue" || step == "status_array_bfs";
}

}  // namespace

std::string step_name(std::string const& label) {
  std::size_t const colons = label.rfind("::");
  return colons == std::string::npos ? label : label.substr(colons + 2);
}

bfs_timeline timeline_of(std::string const& preset, double seconds,
                         std::vector<timed_kernel> const& kernels) {
  bfs_timeline t{preset, seconds, {}};
  std::int32_t level = -1;
  for (timed_kernel const& k : kernels) {
    std::string const step = step_name(k.label);
    level += expands(step);
    t.steps.push_back({{step, k.begin, k.seconds}, std::max(level, std::int32_t(0))});
  }
  return t;
}

void print(bfs_timeline const& t) {
  constexpr std::size_t max_shown = 40;
  std::printf("\ntimeline of %s: %s\n  level    begins     takes   step\n",
              t.preset.empty() ? "the search" : ("preset " + t.preset).c_str(),
              human_seconds(t.seconds).c_str());
  for (std::size_t i = 0; i < std::min(max_shown, t.steps.size()); ++i) {
    bfs_timeline::step const& s = t.steps[i];
    std::printf("  %s %s %s   %s\n", right(std::to_string(s.level), 5).c_str(),
                right(human_seconds(s.begin), 9).c_str(),
                right(human_seconds(s.seconds), 9).c_str(), s.label.c_str());
  }
  if (t.steps.size() > max_shown)
    std::printf("    ...  and %s more\n", grouped(t.steps.size() - max_shown).c_str());
}

}  // namespace karpos::perf
