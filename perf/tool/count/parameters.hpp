// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/tool/count/exact_number.hpp"
#include "perf/tool/count/table_format.hpp"

namespace karpos::perf {

/// Parameters of `karpos count`.
struct count_options {
  std::string file;
  format_settings format;
  std::size_t top = 10;
  bool as_json = false, distributed = false;
};

struct frequent_value {
  std::string value;
  std::uint64_t count;
};

struct count_result {
  table_format format;
  comparison compared = comparison::integers;
  std::uint64_t lines = 0, values = 0, distinct = 0;
  std::vector<frequent_value> top;
  double seconds = 0, counting_seconds = 0;
};

}  // namespace karpos::perf
