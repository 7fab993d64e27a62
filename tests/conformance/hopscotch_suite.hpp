// SPDX-License-Identifier: Apache-2.0
/// \file
/// The suites of maps, for a hopscotch_map of certain types.
#pragma once

#include <karpos/hopscotch_map.hpp>
#include <string>

#include "conformance/bulk_suite.hpp"
#include "conformance/ref_suite.hpp"
#include "support/hopscotch_inspect_map.hpp"

namespace karpos_test {

template <class Key, class T, int W>
void check_hopscotch() {
  karpos::hopscotch_map<Key, T, space> map(space{}, 2000);
  check_map_in_kernels<W>("hopscotch", map);
  check_map_in_order("after all operations in kernels", map, map.size(space{}));
}

/// Checks operations by single threads, by tiles that read a line in several steps or in one, and
/// by wider tiles.
template <class Key, class T>
void check_hopscotch_in_kernels() {
  check_hopscotch<Key, T, 1>();
  check_hopscotch<Key, T, 2>();
  check_hopscotch<Key, T, 4>();
  check_hopscotch<Key, T, 8>();
  check_hopscotch<Key, T, 32>();
}

template <class Key, class T>
void check_hopscotch_in_bulk(std::string const& name) {
  bulk_suite<karpos::hopscotch_map<Key, T, space>>("hopscotch, " + name).run();
}

}  // namespace karpos_test
