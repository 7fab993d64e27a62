// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks for typed cases: doctest's macros are expanded once in this file, instead of in every
/// instantiation.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <exception>
#include <string>

namespace karpos_test {

inline void same(std::string const& what, std::uint64_t got, std::uint64_t expected) {
  INFO(what);
  CHECK(got == expected);
}

inline void holds(std::string const& what, bool condition) {
  INFO(what);
  CHECK(condition);
}

/// Calls f, and checks that it throws Exception with a message that contains every one of the
/// words.
template <class Exception, class F, class... Words>
void throws(F const& f, Words const&... words) {
  std::string message;
  bool thrown = false;
  try {
    f();
  } catch (Exception const& e) {
    thrown = true;
    message = e.what();
  }
  holds("the expected exception is thrown", thrown);
  if (!thrown) return;
  (holds("'" + message + "' says '" + std::string(words) + "'",
         message.find(words) != std::string::npos),
   ...);
}

}  // namespace karpos_test
