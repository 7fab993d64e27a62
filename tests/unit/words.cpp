// SPDX-License-Identifier: Apache-2.0
/// \file
/// Outcomes and reports, error messages, slots and sentinels.
#include <doctest/doctest.h>

#include <karpos/contract.hpp>
#include <karpos/detail/tables/slot.hpp>
#include <karpos/outcome.hpp>
#include <limits>
#include <tuple>

#include "support/check.hpp"
#include "support/uuid.hpp"

namespace {

using karpos::outcome;
using karpos_test::uuid;

TEST_CASE("a report counts outcomes by number and adds up") {
  karpos::insert_report r;
  auto const counter = [&r](outcome o) -> std::uint64_t& {
    return r[karpos::insert_report::counter_of(o)];
  };
  counter(outcome::inserted) += 2;
  counter(outcome::existing) += 1;
  counter(outcome::full) += 1;
  CHECK(r == karpos::insert_report{2, 1, 1, 0});
  counter(outcome::invalid) += 5;
  CHECK(r == karpos::insert_report{2, 1, 1, 5});
  counter(outcome::invalid) = 0;
  r += karpos::insert_report{10, 20, 30, 40};
  CHECK(r == karpos::insert_report{12, 21, 31, 40});
  CHECK_FALSE(r == karpos::insert_report{12, 21, 31, 41});
  CHECK_FALSE(r == karpos::insert_report{12, 21, 30, 40});
}

TEST_CASE("found is a value that may not be there") {
  karpos::found<int> const nothing, something{true, 7};
  CHECK_FALSE(bool(nothing));
  CHECK(nothing.value_or(3) == 3);
  CHECK(bool(something));
  CHECK(*something == 7);
  CHECK(something.value_or(3) == 7);
  // A hash_multimap finds values of any size.
  struct large {
    std::uint64_t x[3];
  };
  karpos::found<large> const no_large, some_large{true, {{1, 2, 3}}};
  CHECK(no_large.value_or({{4, 5, 6}}).x[2] == 6u);
  CHECK(some_large.value_or({{4, 5, 6}}).x[2] == 3u);
}

TEST_CASE("errors say what was asked, what was found and what to do") {
  karpos::capacity_error const e("hash_map is full", 12, 10, 14);
  CHECK(std::string(e.what()) ==
        "karpos: hash_map is full (asked for 12, found space for 10): construct or "
        "rehash with max_keys >= 14");
  CHECK(e.asked() == 12);
  CHECK(e.found() == 10);
  CHECK(e.would_do() == 14);
  karpos_test::throws<std::invalid_argument>([] { karpos::detail::reject("a", "b", "c"); },
                                             "karpos: a (b): c");
  karpos_test::throws<std::invalid_argument>(
      [] { karpos::detail::require_same_extent("keys", 3, "values", 4); }, "keys", "values", "3",
      "4");
  karpos::detail::require_same_extent("keys", 3, "values", 3);
  karpos_test::throws<std::bad_alloc>([] { throw karpos::allocation_error("out of memory"); },
                                      "karpos: out of memory");
}

struct tiny {
  unsigned char x[3];
  friend bool operator==(tiny a, tiny b) {
    return a.x[0] == b.x[0] && a.x[1] == b.x[1] && a.x[2] == b.x[2];
  }
};

template <class Key, class T, class Word>
void packs(Key const& key, T const& value) {
  using layout = karpos::detail::slot_layout<Key, T, 16>;
  static_assert(std::is_same_v<typename layout::word, Word>);
  auto const key_bits = karpos::to_bits<typename layout::key_bits>(key);
  auto const word = layout::pack(key_bits, layout::bits_of(value));
  CHECK(layout::key_of(word) == key_bits);
  CHECK(karpos::from_bits<Key>(layout::key_of(word)) == key);
  CHECK(layout::value_of(word) == value);
  // Neither half may change the other.
  typename layout::key_bits all_others{};
  if constexpr (layout::has_128_bit_key)
    all_others = {{~key_bits.lo, ~key_bits.hi}};
  else
    all_others = static_cast<typename layout::key_bits>(~key_bits);
  auto const other = layout::pack(all_others, layout::bits_of(value));
  CHECK(layout::value_of(other) == value);
}

template <class Key>
void packs_with_every_value(Key const& key) {
  constexpr bool small = sizeof(Key) <= 4;
  using narrow = std::conditional_t<small, std::uint64_t, karpos::device::word16>;
  packs<Key, std::uint8_t, narrow>(key, 255);
  packs<Key, std::int16_t, narrow>(key, -3);
  packs<Key, tiny, narrow>(key, tiny{{1, 2, 3}});
  packs<Key, float, narrow>(key, -1.5f);
  packs<Key, std::int32_t, narrow>(key, -1);
  packs<Key, double, karpos::device::word16>(key, 1e300);
  packs<Key, std::uint64_t, karpos::device::word16>(key, ~std::uint64_t(0));
}

TEST_CASE("every pair of sizes shares a slot without loss") {
  packs_with_every_value<std::int8_t>(-1);
  packs_with_every_value<std::uint16_t>(65535);
  packs_with_every_value<tiny>(tiny{{255, 254, 253}});
  packs_with_every_value<std::int32_t>(-2);
  packs_with_every_value<float>(2.5f);
  packs_with_every_value<std::uint64_t>(~std::uint64_t(7));
  packs_with_every_value<std::int64_t>(-9);
  packs_with_every_value<double>(-2.5);
}

TEST_CASE("a slot with a key of more than eight bytes says that its value is stored") {
  using karpos::device::word32;
  packs<uuid, std::uint8_t, word32>({1, 2}, 255);
  packs<uuid, double, word32>({~std::uint64_t(0), 0}, 1e300);
  packs<karpos::detail::int128, float, word32>(-5, 2.5f);
  using layout = karpos::detail::slot_layout<uuid, int, 16>;
  auto const bits = karpos::to_bits<typename layout::key_bits>(uuid{1, 2});
  CHECK(layout::is_published(layout::pack(bits, 0)));
  CHECK_FALSE(layout::is_published(layout::unused(bits)));
}

TEST_CASE("a slot of a set is the key alone") {
  using karpos::detail::no_value;
  using karpos::detail::slot_layout;
  static_assert(std::is_same_v<slot_layout<std::uint16_t, no_value>::word, std::uint32_t>);
  static_assert(std::is_same_v<slot_layout<std::int32_t, no_value>::word, std::uint32_t>);
  static_assert(std::is_same_v<slot_layout<double, no_value>::word, std::uint64_t>);
  static_assert(std::is_same_v<slot_layout<uuid, no_value, 16>::word, karpos::device::bits128>);
  static_assert(!slot_layout<int, no_value>::has_value && slot_layout<int, int>::has_value);
  CHECK(slot_layout<std::int32_t, no_value>::key_of(
            slot_layout<std::int32_t, no_value>::pack(77, 0)) == 77);
}

TEST_CASE("default sentinels are the largest keys, or bits that no key has") {
  using karpos::detail::default_sentinel;
  CHECK(default_sentinel<std::uint32_t, std::uint32_t>(0) == 0xffffffffu);
  CHECK(default_sentinel<std::uint32_t, std::uint32_t>(1) == 0xfffffffeu);
  CHECK(default_sentinel<std::int32_t, std::uint32_t>(0) ==
        0x7fffffffu);  // INT_MAX, so that -1 is a key
  CHECK(default_sentinel<std::int64_t, std::uint64_t>(2) == 0x7ffffffffffffffdULL);
  // Sentinels of narrow keys lie outside the keys' range, so every value is a key.
  CHECK(default_sentinel<std::uint16_t, std::uint32_t>(0) > 0xffffu);
  CHECK(default_sentinel<std::int8_t, std::uint32_t>(2) > 0xffu);
  CHECK(default_sentinel<std::uint32_t, std::uint64_t>(2) > 0xffffffffu);
  CHECK(default_sentinel<std::int32_t, std::uint64_t>(0) > 0xffffffffu);

  karpos::detail::sentinels<std::uint32_t> const s{1, 2, 3};
  CHECK(s.contains(1));
  CHECK(s.contains(2));
  CHECK(s.contains(3));
  CHECK_FALSE(s.contains(4));
}

}  // namespace
