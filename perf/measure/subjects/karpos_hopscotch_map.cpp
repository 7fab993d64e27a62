// SPDX-License-Identifier: Apache-2.0
#include "karpos/hopscotch_map.hpp"

#include "perf/measure/subjects/karpos_map.hpp"

namespace karpos::perf {
namespace {

template <class Key>
struct karpos_hopscotch_map : karpos_map<hopscotch_map<Key, Key, space>> {
  using karpos_map<hopscotch_map<Key, Key, space>>::karpos_map;
};

register_subject<karpos_hopscotch_map> const registration("hopscotch", "karpos::hopscotch_map",
                                                          false);

}  // namespace
}  // namespace karpos::perf
