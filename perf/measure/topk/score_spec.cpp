// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/topk/score_spec.hpp"

#include <sstream>
#include <vector>

#include "perf/measure/support/generator_settings.hpp"

namespace karpos::perf {
namespace {

using families = score_spec::families;

struct family_entry : generator_family {
  families family;
  int max_lists;
};

std::vector<family_entry> const& all_families() {
  // Correlated scores of more lists would draw from the random numbers of the next object.
  static std::vector<family_entry> const entries = {
      {{"uniform", {"m", "n"}, "uniform:m=1e7,n=4"}, families::uniform, 32},
      {{"correlated", {"m", "n"}, "correlated:m=1e7,n=4"}, families::correlated, 15},
      {{"anticorrelated", {"m", "n"}, "anticorrelated:m=1e7,n=4"}, families::anticorrelated, 32},
      {{"zipf", {"m", "n", "s"}, "zipf:m=1e7,n=4,s=1"}, families::zipf, 32}};
  return entries;
}

}  // namespace

score_spec parse_score_spec(std::string const& text) {
  constexpr std::uint64_t max_objects = (std::uint64_t(1) << 32) - 64;
  family_entry const& family = find_family(all_families(), "generator of scores", text);
  auto const max_lists = static_cast<std::uint64_t>(family.max_lists);
  score_spec spec;
  spec.family = family.family;
  for_each_setting(text, family, [&](std::string const& key, std::string const& value) {
    if (key == "m") spec.objects = count_setting(key, value, 1, max_objects);
    if (key == "n") spec.lists = static_cast<int>(count_setting(key, value, 1, max_lists));
    if (key == "s") spec.exponent = number_setting(key, value, 0, 10, false);
  });
  return spec;
}

std::string to_string(score_spec const& spec) {
  std::string text;
  for (family_entry const& f : all_families())
    if (f.family == spec.family) text = f.name;
  text += ":m=" + std::to_string(spec.objects) + ",n=" + std::to_string(spec.lists);
  if (spec.family != families::zipf) return text;
  std::ostringstream s;
  s << spec.exponent;
  return text + ",s=" + s.str();
}

}  // namespace karpos::perf
