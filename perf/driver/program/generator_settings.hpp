// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

// The words behind the colon of a generator: name:key=value,key=value.

namespace karpos::perf {

/// Calls set(key, value) for each setting.
/// Throws: std::invalid_argument for a key that is given twice, and what `set` throws.
void for_each_setting(std::string const& generator,
                      std::function<void(std::string const&, std::string const&)> const& set);

/// Throws: std::invalid_argument that names the key of a value out of range, or of what is no number.
std::uint64_t count_setting(std::string const& key, std::string const& value, std::uint64_t most);
/// A number of at most `most`, and above `least`, or equal to it where that is included.
double number_setting(std::string const& key, std::string const& value, double least, double most,
                      bool least_included);

}  // namespace karpos::perf
