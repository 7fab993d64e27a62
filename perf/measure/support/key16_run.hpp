// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/support/hash_run.hpp"

namespace karpos::perf {

/// Measures hash_map with keys of 16 bytes and values of 8, like run_hash: insert, erase, find
/// hits, misses and mixed. Beside it insert and find by the rule of cuCollections' static_map. All
/// answers are verified. Throws std::invalid_argument if the measured space cannot compare and
/// swap 16 bytes.
hash_run run_16_byte_keys(hash_parameters const& p, reporter const& report);

}  // namespace karpos::perf
