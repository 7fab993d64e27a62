// SPDX-License-Identifier: Apache-2.0
/// \file
/// Columns of strings in the memory of the space under test.
#pragma once

#include <cstddef>
#include <karpos/string_column.hpp>
#include <string>
#include <vector>

#include "support/space.hpp"

namespace karpos_test {

/// Copies strings to the space under test, behind bytes that belong to none of them.
template <class Offset, class Byte = char>
auto strings_in_space(std::vector<std::string> const& strings, std::string const& before = "") {
  std::vector<Byte> bytes;
  auto const append = [&](std::string const& s) {
    for (char const c : s) bytes.push_back(static_cast<Byte>(c));
  };
  append(before);
  std::vector<Offset> offsets{static_cast<Offset>(bytes.size())};
  for (std::string const& s : strings) {
    append(s);
    offsets.push_back(static_cast<Offset>(bytes.size()));
  }
  return karpos::string_column(space(), to_space(bytes), to_space(offsets));
}

}  // namespace karpos_test
