// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/topk/score_spec.hpp"

#include <algorithm>
#include <charconv>
#include <karpos/contract.hpp>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

using families = score_spec::families;

struct family_entry {
  char const* name;
  families family;
  int max_lists;
  std::vector<std::string> keys;
  char const* example;
};

std::vector<family_entry> const& all_families() {
  // Correlated scores of more lists would draw from the random numbers of the next object.
  static std::vector<family_entry> const entries = {
      {"uniform", families::uniform, 32, {"m", "n"}, "uniform:m=1e7,n=4"},
      {"correlated", families::correlated, 15, {"m", "n"}, "correlated:m=1e7,n=4"},
      {"anticorrelated", families::anticorrelated, 32, {"m", "n"}, "anticorrelated:m=1e7,n=4"},
      {"zipf", families::zipf, 32, {"m", "n", "s"}, "zipf:m=1e7,n=4,s=1"}};
  return entries;
}

family_entry const& find_family(std::string const& name, std::string const& text) {
  std::string examples;
  for (family_entry const& f : all_families()) {
    if (name == f.name) return f;
    examples += (examples.empty() ? "'" : ", '") + std::string(f.example) + "'";
  }
  detail::reject("there is no generator of scores '" + name + "'", "in '" + text + "'",
                 "write one like " + examples + "; for a file of that name, ./" + text);
}

std::uint64_t count_between(std::string const& key, std::string const& value, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t count = 0;
  bool good = true;
  try {
    count = parse_count(value);
  } catch (std::invalid_argument const&) {
    good = false;
  }
  if (!good || count < least || count > most)
    detail::reject(key + " of a generator is out of range", "'" + value + "'",
                   "choose a count from " + std::to_string(least) + " to " + std::to_string(most));
  return count;
}

double exponent_of(std::string const& value) {
  double s = 0;
  auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), s);
  if (error != std::errc() || end != value.data() + value.size() || !(s > 0 && s <= 10))
    detail::reject("s of a generator is out of range", "'" + value + "'",
                   "choose a number above 0, up to 10");
  return s;
}

void parse_setting(score_spec& spec, family_entry const& family, std::string const& item,
                   std::vector<std::string>& given) {
  constexpr std::uint64_t max_objects = (std::uint64_t(1) << 32) - 64;
  std::size_t const equals = item.find('=');
  std::string const key = item.substr(0, equals);
  std::string const value = equals == std::string::npos ? "" : item.substr(equals + 1);
  if (std::find(given.begin(), given.end(), key) != given.end())
    detail::reject(key + " of a generator is given twice", "'" + item + "'", "give it once");
  given.push_back(key);
  bool known = false;
  std::string keys;
  for (std::string const& k : family.keys) {
    known = known || k == key;
    keys += (keys.empty() ? "" : ", ") + k + "=";
  }
  if (!known)
    detail::reject("generator " + std::string(family.name) + " has no setting '" + key + "'",
                   "it has " + keys, std::string("write it like ") + family.example);
  if (key == "m") spec.objects = count_between(key, value, 1, max_objects);
  if (key == "n")
    spec.lists = static_cast<int>(
        count_between(key, value, 1, static_cast<std::uint64_t>(family.max_lists)));
  if (key == "s") spec.exponent = exponent_of(value);
}

}  // namespace

score_spec parse_score_spec(std::string const& text) {
  std::size_t const colon = text.find(':');
  std::string const name = text.substr(0, colon);
  family_entry const& family = find_family(name, text);
  score_spec spec;
  spec.family = family.family;
  std::istringstream items(colon == std::string::npos ? "" : text.substr(colon + 1));
  std::vector<std::string> given;
  for (std::string item; std::getline(items, item, ',');) parse_setting(spec, family, item, given);
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
