// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/support/hash_run.hpp"

namespace karpos::perf {

/// Returns whether keys and values may lie on the host while the table lies on a device.
bool has_remote_input();

/// Measures insert and find of hash_map with keys and values on the host (p.input), like run_hash.
/// Each operation is compared with copies of the same bytes between pinned memory and the device:
/// `link_in` copies all to the device, `link_in_out` half of them to it and, concurrently, half
/// back.
/// Requires: has_remote_input().
hash_run run_hash_from_host(hash_parameters const& p, reporter const& report);

}  // namespace karpos::perf
