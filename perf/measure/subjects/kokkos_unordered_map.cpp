// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_UnorderedMap.hpp>

#include "perf/measure/subjects/unordered_maps.hpp"

namespace karpos::perf {
namespace {

template <class Key>
struct kokkos_unordered_map : unordered_subject<Key, Kokkos::UnorderedMap<Key, Key, space>> {
  using unordered_subject<Key, Kokkos::UnorderedMap<Key, Key, space>>::unordered_subject;
};

register_subject<kokkos_unordered_map> const registration("kokkos", "Kokkos::UnorderedMap", true);

}  // namespace
}  // namespace karpos::perf
