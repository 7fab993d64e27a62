// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace karpos::perf {

/// A number that describes the state of a map beyond its rates.
struct fact {
  std::string name;  ///< its name in JSON
  std::variant<std::uint64_t, double> value;
};

}  // namespace karpos::perf
