// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

// The settings after the colon of a generator: name:key=value,key=value.

namespace karpos::perf {

/// Calls set(key, value) for each setting.
/// Throws: std::invalid_argument for a key that is given twice, and what `set` throws.
void for_each_setting(std::string const& generator,
                      std::function<void(std::string const&, std::string const&)> const& set);

/// Parses a count. Throws: std::invalid_argument that names the key, for a value out of range or
/// not a number.
std::uint64_t count_setting(std::string const& key, std::string const& value, std::uint64_t most);
/// Parses a number of at most `most`, and above `least`, or equal to it if `least_included` is set.
double number_setting(std::string const& key, std::string const& value, double least, double most,
                      bool least_included);

}  // namespace karpos::perf
