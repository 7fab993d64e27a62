// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace karpos::perf {

/// Opens /dev/null in place of closed standard streams, so that a file opened later does not become
/// one.
void occupy_standard_streams();

/// Flushes standard output. Returns whether everything was written; prints the reason if not.
bool finish_standard_output();

}  // namespace karpos::perf
