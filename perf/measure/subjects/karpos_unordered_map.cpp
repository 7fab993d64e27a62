// SPDX-License-Identifier: Apache-2.0
#include "karpos/unordered_map.hpp"

#include "perf/measure/subjects/unordered_maps.hpp"

namespace karpos::perf {
namespace {

template <class Key>
struct karpos_unordered_map : unordered_subject<Key, unordered_map<Key, Key, space>> {
  using unordered_subject<Key, unordered_map<Key, Key, space>>::unordered_subject;
};

register_subject<karpos_unordered_map> const registration("unordered", "karpos::unordered_map",
                                                          false);

}  // namespace
}  // namespace karpos::perf
