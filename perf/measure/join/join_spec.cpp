// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/join/join_spec.hpp"

#include <karpos/contract.hpp>
#include <sstream>

#include "perf/measure/support/generator_settings.hpp"

namespace karpos::perf {
namespace {

constexpr char const* join_example =
    "join:left=2^27,right=2^27,multiplicity=1,match=0.5,skew=zipf:1";

/// A limit from 32-bit row numbers.
constexpr std::uint64_t max_join_rows = (std::uint64_t(1) << 31) - 8;

double skew_setting(std::string const& value) {
  if (value == "uniform") return 0;
  if (value.rfind("zipf:", 0) != 0)
    detail::reject("skew of a generator cannot be '" + value + "'", "it is uniform or zipf:s",
                   std::string("write it like ") + join_example);
  return number_setting("skew=zipf:", value.substr(5), 0, 10, false);
}

void set(join_spec& spec, std::string const& key, std::string const& value) {
  if (key == "left")
    spec.left = count_setting(key, value, max_join_rows);
  else if (key == "right")
    spec.right = count_setting(key, value, max_join_rows);
  else if (key == "multiplicity")
    spec.multiplicity = count_setting(key, value, max_join_rows);
  else if (key == "match")
    spec.match = number_setting(key, value, 0, 1, true);
  else if (key == "skew")
    spec.skew = skew_setting(value);
  else
    detail::reject("this generator of tables has no setting '" + key + "'",
                   "it has left=, right=, multiplicity=, match=, skew=",
                   std::string("write it like ") + join_example);
}

}  // namespace

join_spec parse_join_spec(std::string const& text) {
  std::string const name = text.substr(0, text.find(':'));
  if (name != "join")
    detail::reject(
        "there is no generator of tables '" + name + "'", "in '" + text + "'",
        std::string("write one like '") + join_example + "'; for a file of that name, ./" + text);
  join_spec spec;
  for_each_setting(
      text, [&](std::string const& key, std::string const& value) { set(spec, key, value); });
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
