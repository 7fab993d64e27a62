// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace karpos::perf {

/// Returns the bytes that this process may still allocate: the least of what the machine, its
/// control groups and its own limits leave. If none of these is known, the largest std::uint64_t.
std::uint64_t memory_left();

/// Refuses an allocation that cannot fit before the memory is touched: a system that overcommits
/// memory kills a program without a message. `bytes` may be an estimate, but no more than what will
/// be allocated; memory allocated already does not count.
/// Throws: allocation_error that names both numbers.
void require_memory(std::uint64_t bytes, std::string const& what, std::string const& advice);

/// Takes the bytes in floating point, in which no estimate overflows.
void require_memory(double bytes, std::string const& what, std::string const& advice);

/// Returns whether the error is a lack of memory: a std::bad_alloc, or an error of Kokkos that says
/// so.
bool is_lack_of_memory(std::exception const& e);

}  // namespace karpos::perf
