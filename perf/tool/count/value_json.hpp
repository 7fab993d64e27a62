// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "perf/measure/support/context.hpp"
#include "perf/tool/count/exact_number.hpp"

namespace karpos::perf {

/// Returns a value of a column: an integer if all values are integers, otherwise a text, which
/// keeps all digits.
inline json value_json(comparison how, std::string const& value) {
  if (how != comparison::integers || value.empty()) return value;
  return value.front() == '-' ? json(std::stoll(value)) : json(std::stoull(value));
}

}  // namespace karpos::perf
