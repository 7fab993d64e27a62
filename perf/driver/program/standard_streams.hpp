// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace karpos::perf {

/// Takes the places of standard streams that are closed, so that no file which is opened later becomes one.
void occupy_standard_streams();

/// Writes out what standard output still holds. Returns: whether all that was printed has arrived; says why if not.
bool finish_standard_output();

}  // namespace karpos::perf
