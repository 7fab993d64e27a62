// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "perf/measure/subjects/one_thread.hpp"

namespace karpos::perf {
namespace {

template <class Key>
struct std_map : one_thread_subject<Key, std::unordered_map<Key, Key>> {
  using one_thread_subject<Key, std::unordered_map<Key, Key>>::one_thread_subject;
};

register_host_peer<std_map> const registration("std", "std::unordered_map");

}  // namespace
}  // namespace karpos::perf
