// SPDX-License-Identifier: Apache-2.0
/// \file
/// A key of sixteen bytes on a machine that does not compare and swap as many.
#include <karpos/detail/tables/open_addressing/ref.hpp>

#include "support/emulated_space.hpp"

struct key {
  std::uint64_t x[2];
};

#ifdef KARPOS_GOOD
using space = Kokkos::DefaultHostExecutionSpace;
#else
using space = karpos_test::emulated_space;
#endif

using traits =
    karpos::detail::open_addressing::traits<key, int, space, karpos::hash<key>,
                                            karpos::equal_to<key>, karpos::double_hashing, 2>;
static_assert(traits::bucket_slots == 2);
