// SPDX-License-Identifier: Apache-2.0
#include "karpos/hash_map.hpp"

#include "perf/measure/subjects/karpos_map.hpp"

namespace karpos::perf {
namespace {

template <class Key>
struct karpos_hash_map : karpos_map<hash_map<Key, Key, space>> {
  using karpos_map<hash_map<Key, Key, space>>::karpos_map;
};

register_subject<karpos_hash_map> const registration("hash", "karpos::hash_map", false);

}  // namespace
}  // namespace karpos::perf
