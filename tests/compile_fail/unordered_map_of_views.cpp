// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values are copied as bits, too; such a copy would not count the references to a view.
#include <karpos/unordered_map.hpp>

#ifdef KARPOS_GOOD
using value = int*;
#else
using value = Kokkos::View<int*>;
#endif

std::size_t bytes() { return karpos::unordered_map<int, value>::bytes_for(10); }
