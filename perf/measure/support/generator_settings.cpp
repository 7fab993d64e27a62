// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/generator_settings.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {

void for_each_setting(std::string const& text, generator_family const& family,
                      std::function<void(std::string const&, std::string const&)> const& set) {
  auto const contains = [](std::vector<std::string> const& list, std::string const& key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  std::size_t const colon = text.find(':');
  std::istringstream items(colon == std::string::npos ? "" : text.substr(colon + 1));
  std::vector<std::string> given;
  for (std::string item; std::getline(items, item, ',');) {
    std::size_t const equals = item.find('=');
    std::string const key = item.substr(0, equals);
    if (contains(given, key))
      detail::reject(key + " of a generator is given twice", "'" + item + "'", "give it once");
    given.push_back(key);
    if (!contains(family.keys, key)) {
      std::string keys;
      for (std::string const& k : family.keys) keys += (keys.empty() ? "" : ", ") + k + "=";
      detail::reject("generator " + family.name + " has no setting '" + key + "'", "it has " + keys,
                     "write it like " + family.example);
    }
    set(key, equals == std::string::npos ? "" : item.substr(equals + 1));
  }
}

std::uint64_t count_setting(std::string const& key, std::string const& value, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t count = 0;
  bool parsed = true;
  try {
    count = parse_count(value);
  } catch (std::invalid_argument const&) {
    parsed = false;
  }
  if (!parsed || count < least || count > most)
    detail::reject(
        key + " of a generator is out of range", "'" + value + "'",
        "choose an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return count;
}

double number_setting(std::string const& key, std::string const& value, double least, double most,
                      bool least_included) {
  std::istringstream in(value);
  double x = 0;
  if (!(in >> x) || !in.eof() || !(x > least || (least_included && x == least)) || !(x <= most)) {
    std::ostringstream range;
    range << "choose a number " << (least_included ? "from " : "above ") << least
          << (least_included ? " to " : ", up to ") << most;
    detail::reject(key + " of a generator is out of range", "'" + value + "'", range.str());
  }
  return x;
}

}  // namespace karpos::perf
