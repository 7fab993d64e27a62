// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "perf/measure/join/measure.hpp"

namespace karpos::perf {
namespace {

/// Names in the order of join_kind.
constexpr char const* names_of_kinds[] = {"inner", "left", "right",      "full",
                                          "semi",  "anti", "right_semi", "right_anti"};

}  // namespace

std::vector<std::string> join_kind_names() {
  return {std::begin(names_of_kinds), std::end(names_of_kinds)};
}

join_kind join_kind_of(std::string const& name) {
  auto const* const at = std::find(std::begin(names_of_kinds), std::end(names_of_kinds), name);
  return static_cast<join_kind>(at - std::begin(names_of_kinds));
}

}  // namespace karpos::perf
