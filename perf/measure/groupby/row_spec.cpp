// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/groupby/row_spec.hpp"

#include <sstream>
#include <vector>

#include "perf/measure/support/generator_settings.hpp"

namespace karpos::perf {
namespace {

/// In the order of row_spec::families.
std::vector<generator_family> const families = {
    {"uniform", {"rows", "distinct"}, "uniform:rows=2^26,distinct=1e7"},
    {"zipf", {"rows", "distinct", "s"}, "zipf:rows=2^26,distinct=1e7,s=1"}};

}  // namespace

row_spec parse_row_spec(std::string const& text) {
  constexpr std::uint64_t max_rows =
      (std::uint64_t(1) << 32) - 64;  // of keys and counts of 4 bytes
  generator_family const& family = find_family(families, "generator of rows", text);
  row_spec spec;
  spec.family = static_cast<row_spec::families>(&family - families.data());
  for_each_setting(text, family, [&](std::string const& key, std::string const& value) {
    if (key == "rows") spec.rows = count_setting(key, value, 1, max_rows);
    if (key == "distinct") spec.distinct = count_setting(key, value, 1, max_rows);
    if (key == "s") spec.exponent = number_setting(key, value, 0, 10, false);
  });
  return spec;
}

std::string to_string(row_spec const& spec) {
  bool const zipf = spec.family == row_spec::families::zipf;
  std::ostringstream text;
  text << (zipf ? "zipf" : "uniform") << ":rows=" << spec.rows << ",distinct=" << spec.distinct;
  if (zipf) text << ",s=" << spec.exponent;
  return text.str();
}

}  // namespace karpos::perf
