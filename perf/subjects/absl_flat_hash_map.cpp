// SPDX-License-Identifier: Apache-2.0
#include <absl/container/flat_hash_map.h>

#include "perf/subjects/one_thread.hpp"

namespace karpos::perf {
namespace {

template <class Key>
struct absl_map : one_thread_subject<Key, absl::flat_hash_map<Key, Key>> {
  using one_thread_subject<Key, absl::flat_hash_map<Key, Key>>::one_thread_subject;
};

register_host_peer<absl_map> const here("absl", "absl::flat_hash_map");

}  // namespace
}  // namespace karpos::perf
