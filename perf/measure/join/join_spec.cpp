// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/join/join_spec.hpp"

#include <sstream>
#include <vector>

#include "perf/measure/support/generator_settings.hpp"

namespace karpos::perf {
namespace {

std::vector<generator_family> const families = {
    {"join",
     {"left", "right", "multiplicity", "match", "skew"},
     "join:left=2^27,right=2^27,multiplicity=1,match=0.5,skew=zipf:1"}};

double skew_setting(std::string const& value) {
  if (value == "uniform") return 0;
  if (value.rfind("zipf:", 0) != 0)
    detail::reject("skew of a generator cannot be '" + value + "'", "it is uniform or zipf:s",
                   "write it like " + families.front().example);
  return number_setting("skew=zipf:", value.substr(5), 0, 10, false);
}

}  // namespace

join_spec parse_join_spec(std::string const& text) {
  constexpr std::uint64_t max_rows = (std::uint64_t(1) << 31) - 8;  // by 32-bit row numbers
  generator_family const& family = find_family(families, "generator of tables", text);
  join_spec spec;
  for_each_setting(text, family, [&](std::string const& key, std::string const& value) {
    if (key == "left") spec.left = count_setting(key, value, 1, max_rows);
    if (key == "right") spec.right = count_setting(key, value, 1, max_rows);
    if (key == "multiplicity") spec.multiplicity = count_setting(key, value, 1, max_rows);
    if (key == "match") spec.match = chance_setting(key, value);
    if (key == "skew") spec.skew = skew_setting(value);
  });
  return spec;
}

std::string to_string(join_spec const& spec) {
  std::ostringstream text;
  text << "join:left=" << spec.left << ",right=" << spec.right
       << ",multiplicity=" << spec.multiplicity << ",match=" << spec.match << ",skew=";
  if (spec.skew == 0)
    text << "uniform";
  else
    text << "zipf:" << spec.skew;
  return text.str();
}

}  // namespace karpos::perf
