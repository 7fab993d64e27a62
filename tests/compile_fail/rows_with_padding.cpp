// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes rows of a struct whose padding would make equal rows differ.
#include <karpos/rows.hpp>

struct key {
#ifdef KARPOS_GOOD
  std::int64_t a;
#else
  std::int32_t a;
#endif
  std::int64_t b;
};

std::uint64_t hash_first(Kokkos::View<key*> const& keys) { return karpos::rows(keys).hash(0); }
