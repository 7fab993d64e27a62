// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whole buckets compared at once must give what slot by slot gives. Compiled twice: for any processor of
/// this kind, and for this very one, where the registers are wider.
#include <doctest/doctest.h>

#include <karpos/device/atomics.hpp>

#include "support/keys.hpp"

namespace {

using karpos::device::word16;

template <class Word>
Word word_of(std::uint64_t lo, std::uint64_t hi) {
  if constexpr (std::is_same_v<Word, karpos::device::word16>)
    return {lo, hi};
  else
    return static_cast<Word>(hi << 32 ^ lo);
}

/// The plain predicate that is also a pattern.
template <class Word>
struct has_bits {
  Word mask, bits;
  bool operator()(Word w) const {
    if constexpr (std::is_same_v<Word, karpos::device::word16>)
      return (w.lo & mask.lo) == bits.lo && (w.hi & mask.hi) == bits.hi;
    else
      return (w & mask) == bits;
  }
  karpos::device::bit_pattern<Word> pattern() const { return {mask, bits}; }
};
static_assert(
    karpos::device::bitwise_predicate<has_bits<karpos::device::word16>, karpos::device::word16>);

template <class Word, int B>
void agrees() {
  karpos_test::random_numbers random(B);
  alignas(64) Word bucket[B];
  for (int round = 0; round < 300; ++round) {
    // Few different halves, so that full and half matches are frequent.
    for (Word& w : bucket) w = word_of<Word>(random.below(3), random.below(3));
    std::uint64_t const lo = random.below(3), hi = random.below(3);
    std::uint64_t const every = ~std::uint64_t(0), none = 0;
    std::uint64_t const masks[][2] = {
        {every, every}, {every, none}, {none, every}, {none, none}, {1, 2}};
    auto const& [mask_lo, mask_hi] = masks[round % 5];
    Word const mask = sizeof(Word) == 8
                          ? word_of<Word>(mask_lo & 0xffffffffu, mask_hi & 0xffffffffu)
                          : word_of<Word>(mask_lo, mask_hi);
    has_bits<Word> p{mask, word_of<Word>(lo & mask_lo, hi & mask_hi)};
    if constexpr (!std::is_same_v<Word, karpos::device::word16>) p.bits &= mask;

    std::uint64_t expected = 0;
    for (int i = 0; i < B; ++i) expected |= static_cast<std::uint64_t>(p(bucket[i])) << i;
    INFO("word of ", sizeof(Word), " bytes, B = ", B, ", round ", round);
    CHECK(karpos::device::host::match_pattern(bucket, p.pattern()) == expected);

    karpos::device::thread_tile const tile;
    auto const window =
        karpos::device::load_window<B, karpos::device::access::shared>(tile, bucket);
    CHECK(window.match(p).bits() == expected);
    CHECK(window.match([&](Word w) { return p(w); }).bits() == expected);
    CHECK(window.any(p) == (expected != 0));
    int const one = static_cast<int>(random.below(B));
    for (int i = 0; i < B; ++i) bucket[i] = i == one ? word_of<Word>(7, 9) : word_of<Word>(5, 9);
    has_bits<Word> const seven{word_of<Word>(0xffffffffu, 0), word_of<Word>(7, 0)};
    auto const single =
        karpos::device::load_window<B, karpos::device::access::shared>(tile, bucket);
    Word found{};
    CHECK(single.only(seven, found));
    CHECK(bool(found == bucket[one]));
    CHECK(bool(single.get(one) == bucket[one]));
    CHECK_FALSE(
        single.only(has_bits<Word>{word_of<Word>(0xffffffffu, 0), word_of<Word>(6, 0)}, found));
  }
}

TEST_CASE("buckets compared as vectors") {
  agrees<std::uint32_t, 1>();
  agrees<std::uint32_t, 4>();
  agrees<std::uint32_t, 8>();
  agrees<std::uint32_t, 16>();
  agrees<std::uint32_t, 32>();
  agrees<std::uint32_t, 64>();
  agrees<std::uint64_t, 1>();
  agrees<std::uint64_t, 2>();
  agrees<std::uint64_t, 4>();
  agrees<std::uint64_t, 8>();
  agrees<std::uint64_t, 12>();
  agrees<std::uint64_t, 32>();
  agrees<std::uint64_t, 64>();
  agrees<karpos::device::word16, 1>();
  agrees<karpos::device::word16, 2>();
  agrees<karpos::device::word16, 4>();
  agrees<karpos::device::word16, 8>();
  agrees<karpos::device::word16, 32>();
  agrees<karpos::device::word16, 64>();
}

}  // namespace
