// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace karpos::detail {

/// How far an operation on a table goes before it returns to its caller.
enum class walk { to_the_end, one_bucket };

}  // namespace karpos::detail
