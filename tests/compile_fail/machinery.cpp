// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shows the form of a compile-fail test, and that it sees the library and Kokkos.
#include <Kokkos_Core.hpp>
#include <karpos/version.hpp>

#ifdef KARPOS_GOOD
constexpr int version = KARPOS_VERSION;
#else
constexpr int version = -1;
#endif

static_assert(version == KARPOS_VERSION, "a sentence that says what is wrong");
