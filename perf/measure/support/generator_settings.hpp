// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <karpos/contract.hpp>
#include <string>
#include <vector>

// Texts that describe generated input: family:key=value,key=value.

namespace karpos::perf {

struct generator_family {
  std::string name;
  std::vector<std::string> keys;
  std::string example;
};

/// Returns the family that the text names; Family is generator_family, or derived from it. `what`
/// is "generator", or says what of: "generator of scores".
/// Throws: std::invalid_argument that has an example of each family.
template <class Family>
Family const& find_family(std::vector<Family> const& families, char const* what,
                          std::string const& text) {
  std::string const name = text.substr(0, text.find(':'));
  std::string examples;
  for (Family const& f : families) {
    if (name == f.name) return f;
    examples += (examples.empty() ? "'" : ", '") + f.example + "'";
  }
  detail::reject(std::string("there is no ") + what + " '" + name + "'", "in '" + text + "'",
                 "write one like " + examples + "; for a file of that name, ./" + text);
}

/// Calls set(key, value) for each setting.
/// Throws: std::invalid_argument for a key that the family lacks, or that is given twice; and what
/// `set` throws.
void for_each_setting(std::string const& text, generator_family const& family,
                      std::function<void(std::string const&, std::string const&)> const& set);

/// Parses an integer. Throws: std::invalid_argument that names the key, for a value out of range or
/// not a number.
std::uint64_t count_setting(std::string const& key, std::string const& value, std::uint64_t least,
                            std::uint64_t most);
/// Parses a number of at most `most`, and above `least`, or equal to it if `least_included` is set.
double number_setting(std::string const& key, std::string const& value, double least, double most,
                      bool least_included);
/// Parses a number from 0 to 1.
inline double chance_setting(std::string const& key, std::string const& value) {
  return number_setting(key, value, 0, 1, true);
}

}  // namespace karpos::perf
