// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "karpos/device/word16.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace karpos::device {

/// A set of words: those whose bits under `mask` are `bits`.
template <class Word>
struct bit_pattern {
  Word mask, bits;
};

/// A predicate on words that can also be said as a bit pattern. On CPUs a window compares all its slots with the
/// pattern at once; compilers unroll the loop over a general predicate before they see that it is a vector
/// comparison.
template <class P, class Word>
concept bitwise_predicate = requires(P const p, Word const w) {
  { p(w) } -> std::convertible_to<bool>;
  { p.pattern() } -> std::same_as<bit_pattern<Word>>;
};

namespace host {

#if defined(__SSE2__)

// One bit for each equal lane of 4 or 8 bytes, in registers of 16, 32 and 64 bytes.
inline std::uint32_t equal_lanes(__m128i v, __m128i mask, __m128i bits, std::uint32_t) {
  return static_cast<std::uint32_t>(
      _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(_mm_and_si128(v, mask), bits))));
}
inline std::uint32_t equal_lanes(__m128i v, __m128i mask, __m128i bits, std::uint64_t) {
  __m128i const halves = _mm_cmpeq_epi32(_mm_and_si128(v, mask), bits);
  __m128i const both = _mm_and_si128(halves, _mm_shuffle_epi32(halves, 0xb1));
  return static_cast<std::uint32_t>(_mm_movemask_pd(_mm_castsi128_pd(both)));
}
inline __m128i load_vector(void const* p, __m128i) {
  return _mm_loadu_si128(static_cast<__m128i const*>(p));
}
#if defined(__AVX2__)
inline std::uint32_t equal_lanes(__m256i v, __m256i mask, __m256i bits, std::uint32_t) {
  return static_cast<std::uint32_t>(
      _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(v, mask), bits))));
}
inline std::uint32_t equal_lanes(__m256i v, __m256i mask, __m256i bits, std::uint64_t) {
  return static_cast<std::uint32_t>(
      _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(v, mask), bits))));
}
inline __m256i load_vector(void const* p, __m256i) {
  return _mm256_loadu_si256(static_cast<__m256i const*>(p));
}
#endif
#if defined(__AVX512F__)
inline std::uint32_t equal_lanes(__m512i v, __m512i mask, __m512i bits, std::uint32_t) {
  return _mm512_cmpeq_epi32_mask(_mm512_and_si512(v, mask), bits);
}
inline std::uint32_t equal_lanes(__m512i v, __m512i mask, __m512i bits, std::uint64_t) {
  return _mm512_cmpeq_epi64_mask(_mm512_and_si512(v, mask), bits);
}
inline __m512i load_vector(void const* p, __m512i) { return _mm512_loadu_si512(p); }
#endif

/// The widest register that this processor has and that divides the bytes.
template <int Bytes>
constexpr auto vector_for() {
#if defined(__AVX512F__)
  if constexpr (Bytes % 64 == 0)
    return __m512i{};
  else
#endif
#if defined(__AVX2__)
      if constexpr (Bytes % 32 == 0)
    return __m256i{};
  else
#endif
    return __m128i{};
}

#endif  // __SSE2__

template <class Word>
inline bool fits(Word w, bit_pattern<Word> p) {
  if constexpr (std::is_same_v<Word, word16>)
    return (w.lo & p.mask.lo) == p.bits.lo && (w.hi & p.mask.hi) == p.bits.hi;
  else
    return (w & p.mask) == p.bits;
}

/// Bit i: slot i is of the pattern.
template <int B, class Word>
inline std::uint64_t match_pattern(Word const (&slots)[B], bit_pattern<Word> p) {
#if defined(__SSE2__)
  if constexpr (sizeof(slots) % 16 == 0 && (sizeof(Word) <= 8 || B <= 32)) {  // 64 lanes at most
    using lane = std::conditional_t<sizeof(Word) == 4, std::uint32_t, std::uint64_t>;
    using vector = decltype(vector_for<static_cast<int>(sizeof(slots))>());
    constexpr int words = static_cast<int>(sizeof(vector) / sizeof(Word));
    constexpr int lanes = static_cast<int>(sizeof(vector) / sizeof(lane));
    Word masks[words], bits[words];
    for (int i = 0; i < words; ++i) masks[i] = p.mask, bits[i] = p.bits;
    auto const mask = load_vector(masks, vector{}), wanted = load_vector(bits, vector{});
    std::uint64_t m = 0;
    for (int i = 0; i < B / words; ++i)
      m |= static_cast<std::uint64_t>(
               equal_lanes(load_vector(slots + i * words, vector{}), mask, wanted, lane{}))
           << (i * lanes);
    if constexpr (sizeof(Word) == 16) {  // two lanes a slot: both must agree
      std::uint64_t both = 0;
      for (int i = 0; i < B; ++i) both |= ((m >> (2 * i)) & (m >> (2 * i + 1)) & 1) << i;
      return both;
    }
    return m;
  }
#endif
  std::uint64_t m = 0;
  for (int i = 0; i < B; ++i) m |= static_cast<std::uint64_t>(fits(slots[i], p)) << i;
  return m;
}

}  // namespace host
}  // namespace karpos::device
