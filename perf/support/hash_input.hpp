// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/support/hash_run.hpp"

namespace karpos::perf {

/// Whether keys and values may lie apart from the table: on the host, while it lies on a device.
bool has_far_input();

/// As run_hash, of hash_map with p.input on the host: insert and find, each held against copies of the same bytes over the
/// link (link_in: to the device; link_in_out: half of them to it and half back at once), between pinned memory and the
/// device. Requires: has_far_input().
hash_run run_hash_from_host(hash_parameters const& p, reporter const& report);

}  // namespace karpos::perf
