// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/tables/cuckoo/items.hpp"
#include "karpos/detail/tables/slot.hpp"

// Errors that a cuckoo_map throws for keys that it cannot hold.

namespace karpos::detail::cuckoo {

inline void require_no_sentinels(std::uint64_t invalid, std::uint64_t n) {
  if (invalid != 0)
    reject("keys equal to the sentinel",
           std::to_string(invalid) + " of " + std::to_string(n) + " keys",
           "choose another empty_key in the options");
}

template <class Key>
std::string name_of(Key const& key) {
  if constexpr (std::is_arithmetic_v<Key>)
    return std::to_string(key);
  else
    return "the bits " + std::to_string(to_bits<std::uint64_t>(key));
}

/// `example`: the index of the first key that equals one before it.
template <class ExecSpace, class Keys>
[[noreturn]] void reject_duplicates(ExecSpace const& exec, Keys const& keys,
                                    std::uint64_t duplicates, std::uint64_t example) {
  auto const key = read_back(exec, keys.data() + example * keys.stride(0),
                             "karpos::cuckoo_map: the first key that occurs again");
  reject("keys occur more than once",
         std::to_string(duplicates) + " of " + std::to_string(keys.extent(0)) + " keys; keys(" +
             std::to_string(example) + ") = " + name_of(key) + " is the first of them",
         "remove them, or choose duplicate_keys::keep_one");
}

[[noreturn]] inline void throw_unplaced(std::uint64_t n, std::uint64_t seeds,
                                        build_report const& r) {
  throw hash_error("cuckoo_map found no slots for all of " + std::to_string(n) +
                       " keys with any of " + std::to_string(seeds) + " seeds",
                   std::to_string(r.overflowed) + " keys too many in their group, " +
                       std::to_string(r.unplaced) + " groups or keys not placed",
                   "pass a hash function that tells keys apart, or a lower load");
}

}  // namespace karpos::detail::cuckoo
