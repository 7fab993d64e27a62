// SPDX-License-Identifier: Apache-2.0
/// \file
/// A bucket compared as vectors must give what slot-by-slot comparison gives, and the window of a
/// CPU's thread what the portable window gives. Compiled twice: for any processor of this
/// architecture, and for this very processor.
#include <doctest/doctest.h>

#include <karpos/device/atomics.hpp>

#include "support/keys.hpp"

namespace {

using karpos::device::bits128;
using karpos::device::word16;
using karpos::device::word32;

template <class Word>
Word word_of(std::uint64_t lo, std::uint64_t hi) {
  if constexpr (std::is_same_v<Word, bits128>)
    return {{lo, hi}};
  else if constexpr (std::is_same_v<Word, word32>)
    return {{{lo, hi}}, {hi, lo}};
  else if constexpr (std::is_same_v<Word, word16>)
    return {lo, hi};
  else
    return static_cast<Word>(hi << 32 ^ lo);
}

/// Tests whether a word has this key in its low bytes.
template <class Key, class Word>
Key key_of(Word w) {
  if constexpr (std::is_same_v<Word, word16>)
    return static_cast<Key>(w.lo);
  else if constexpr (std::is_same_v<Word, word32>)
    return w.key;
  else
    return static_cast<Key>(w);
}
template <class Word, class Key>
struct has_key {
  Key key;
  bool operator()(Word w) const { return key_of<Key>(w) == key; }
  Key wanted_key() const { return key; }
};
static_assert(karpos::device::key_predicate<has_key<word16, std::uint64_t>, word16>);
static_assert(karpos::device::key_predicate<has_key<std::uint64_t, std::uint32_t>, std::uint64_t>);
static_assert(!karpos::device::key_predicate<has_key<std::uint32_t, std::uint64_t>, std::uint32_t>);

template <class Tile, class Word, class Key, int B>
void window_agrees(Word const (&bucket)[B], has_key<Word, Key> const& p) {
  std::uint64_t expected = 0;
  for (int i = 0; i < B; ++i) expected |= static_cast<std::uint64_t>(p(bucket[i])) << i;
  auto const window =
      karpos::device::load_window<B, karpos::device::access::shared>(Tile{}, bucket);
  CHECK(window.match(p).bits() == expected);
  CHECK(window.match([&](Word w) { return p(w); }).bits() == expected);
  if constexpr (B > 1) CHECK(window.template match<1>(p).bits() == (expected & ~std::uint64_t(1)));
  CHECK(window.any(p) == (expected != 0));
  for (int i = 0; i < B; ++i) CHECK(bool(window.get(i) == bucket[i]));
  Word found{};
  if (karpos::lane_mask<B>(static_cast<typename karpos::lane_mask<B>::word>(expected)).count() <
      2) {
    CHECK(window.only(p, found) == (expected != 0));
    if (expected != 0) CHECK(p(found));
  }
}

template <class Word, class Key, int B>
void agrees() {
  karpos_test::random_numbers random(B);
  alignas(128) Word bucket[B];
  for (int round = 0; round < 300; ++round) {
    // In a third of the rounds both halves have few values, so full and half matches are frequent.
    // In another third the key is in the bucket; in the last third it almost never is.
    std::uint64_t const values = round % 3 == 0 ? 3 : 1 << 20;
    auto const any = [&] {
      std::uint64_t const low = random.below(values);
      return word_of<Word>(low | random.below(3) << 32, random.below(3));
    };
    for (Word& w : bucket) w = any();
    Word const one = round % 3 == 1 ? bucket[random.below(B)] : any();
    Key const key = key_of<Key>(one);
    INFO("word of ", sizeof(Word), " bytes, key of ", sizeof(Key), ", B = ", B, ", round ", round);
    window_agrees<karpos::device::thread_tile>(bucket, has_key<Word, Key>{key});
    window_agrees<karpos::device::host_thread>(bucket, has_key<Word, Key>{key});
  }
}

template <class Word, class Key>
void agrees_in_every_size() {
  agrees<Word, Key, 1>();
  agrees<Word, Key, 2>();
  agrees<Word, Key, 4>();
  agrees<Word, Key, 8>();
  agrees<Word, Key, 12>();
  agrees<Word, Key, 16>();
  agrees<Word, Key, 32>();
  agrees<Word, Key, 64>();
}

TEST_CASE("buckets compared as vectors") {
  agrees_in_every_size<std::uint32_t, std::uint32_t>();
  agrees_in_every_size<std::uint64_t, std::uint32_t>();
  agrees_in_every_size<std::uint64_t, std::uint64_t>();
  agrees_in_every_size<word16, std::uint64_t>();
  agrees_in_every_size<bits128, bits128>();
  agrees_in_every_size<word32, bits128>();
}

}  // namespace
