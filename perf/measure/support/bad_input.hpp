// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace karpos::perf {

/// Thrown if the input or an option cannot be used; the message says which, and why. The exit code
/// is 2.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace karpos::perf
