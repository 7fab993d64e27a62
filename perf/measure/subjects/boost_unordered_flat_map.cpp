// SPDX-License-Identifier: Apache-2.0
#include <boost/unordered/unordered_flat_map.hpp>

#include "perf/measure/subjects/one_thread.hpp"

namespace karpos::perf {
namespace {

template <class Key>
struct boost_map : one_thread_subject<Key, boost::unordered_flat_map<Key, Key>> {
  using one_thread_subject<Key, boost::unordered_flat_map<Key, Key>>::one_thread_subject;
};

register_host_peer<boost_map> const registration("boost", "boost::unordered_flat_map");

}  // namespace
}  // namespace karpos::perf
