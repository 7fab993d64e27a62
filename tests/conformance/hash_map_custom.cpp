// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parts of a hash_map that a user may supply: hashes, equalities, sentinels.
#include "conformance/custom_suite.hpp"

#include <karpos/hash_map.hpp>

namespace {

using karpos_test::all_ones_hash;
using karpos_test::constant_hash;
using karpos_test::identity_hash;
using karpos_test::inserts_finds_and_erases;
using karpos_test::space;

struct custom_maps {
  template <class Key, class T, class Hash = karpos::hash<Key>,
            class KeyEqual = karpos::equal_to<Key>>
  using map = karpos::hash_map<Key, T, space, Hash, KeyEqual>;
};

template <class Hash, class Probing, int B>
using map_with = karpos::hash_map<std::uint32_t, std::uint32_t, space, Hash,
                                  karpos::equal_to<std::uint32_t>, Probing, B>;

TEST_CASE("a hash that is the same for all keys costs time, not keys") {
  auto const keys = karpos_test::unique_keys<std::uint32_t>(600);
  inserts_finds_and_erases(map_with<constant_hash, karpos::linear_probing, 4>(space{}, 300), keys);
  inserts_finds_and_erases(map_with<constant_hash, karpos::double_hashing, 4>(space{}, 300), keys);
  inserts_finds_and_erases(map_with<all_ones_hash, karpos::double_hashing, 1>(space{}, 300), keys);
}

TEST_CASE("a hash that does not mix is mixed: consecutive keys do not crowd") {
  std::vector<std::uint32_t> keys(20000);
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = i;
  inserts_finds_and_erases(map_with<identity_hash, karpos::double_hashing, 4>(space{}, 10000),
                           keys);
}

TEST_CASE("an equality of the user's decides what is a duplicate") {
  karpos_test::an_equality_decides<custom_maps>();
}
TEST_CASE("queries may have a type of their own") {
  karpos_test::queries_have_a_type_of_their_own<custom_maps>();
}
TEST_CASE("with sentinels of the user's, the largest keys can be stored") {
  karpos_test::the_largest_keys_can_be_stored<custom_maps>();
}
TEST_CASE("keys with bits to spare give no key up") {
  karpos_test::keys_with_bits_to_spare<custom_maps>();
}
TEST_CASE("enumerations, structures and floating point numbers are keys too") {
  karpos_test::keys_of_odd_types<custom_maps>();
}

TEST_CASE("functions and views of any kind are taken") {
  karpos_test::functions_and_views_of_any_kind<custom_maps>();
}

}  // namespace
