// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/groupby/row_spec.hpp"

#include <karpos/contract.hpp>
#include <sstream>

#include "perf/measure/support/generator_settings.hpp"

namespace karpos::perf {
namespace {

/// A limit that suits keys and counts of 4 bytes.
constexpr std::uint64_t max_rows = (std::uint64_t(1) << 32) - 64;

void set(row_spec& spec, std::string const& key, std::string const& value) {
  bool const zipf = spec.family == row_spec::families::zipf;
  if (key == "rows")
    spec.rows = count_setting(key, value, max_rows);
  else if (key == "distinct")
    spec.distinct = count_setting(key, value, max_rows);
  else if (key == "s" && zipf)
    spec.exponent = number_setting(key, value, 0, 10, false);
  else
    detail::reject("this generator of rows has no setting '" + key + "'",
                   std::string("it has rows=, distinct=") + (zipf ? ", s=" : ""),
                   std::string("write it like ") + (zipf ? "zipf:rows=2^26,distinct=1e7,s=1"
                                                         : "uniform:rows=2^26,distinct=1e7"));
}

}  // namespace

row_spec parse_row_spec(std::string const& text) {
  std::size_t const colon = text.find(':');
  std::string const name = text.substr(0, colon);
  if (name != "uniform" && name != "zipf")
    detail::reject("there is no generator of rows '" + name + "'", "in '" + text + "'",
                   "write one like 'uniform:rows=2^26,distinct=1e7', "
                   "'zipf:rows=2^26,distinct=1e7,s=1'; for a file of that name, ./" +
                       text);
  row_spec spec;
  if (name == "zipf") spec.family = row_spec::families::zipf;
  for_each_setting(
      text, [&](std::string const& key, std::string const& value) { set(spec, key, value); });
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
