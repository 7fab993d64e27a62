// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace karpos::perf {

/// Bytes that this process may still take: of the machine, of its control groups and of its own limits, whichever is
/// least. As many as a word counts where none of these is known.
std::uint64_t memory_left();

/// Refuses what cannot fit, before it is touched: a system that promises more memory than it has ends a program without
/// a word. `bytes` need not be exact, but no more than what will be taken; memory that is there already does not count.
/// Throws: allocation_error that tells both numbers.
void require_memory(std::uint64_t bytes, std::string const& what, std::string const& what_to_do);

/// The same in floating point, in which no estimate overflows.
void require_memory(double bytes, std::string const& what, std::string const& what_to_do);

/// Whether memory could not be had: a std::bad_alloc, or an error in which Kokkos says so.
bool is_lack_of_memory(std::exception const& e);

}  // namespace karpos::perf
