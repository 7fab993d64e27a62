// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace karpos::perf {

/// A number that tells more about a map than its rates do.
struct fact {
  std::string name;  ///< as JSON says it
  std::variant<std::uint64_t, double> value;
};

}  // namespace karpos::perf
