// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "karpos/device/word16.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define KARPOS_HOST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KARPOS_HOST_THREAD_SANITIZER 1
#endif
#endif

namespace karpos::device {

/// A predicate on words that looks for a certain key in their low 4, 8 or 16 bytes. On CPUs a
/// window compares all its slots with this key at once. Compilers unroll the loop over a general
/// predicate before they see that it is a vector comparison.
template <class P, class Word>
concept key_predicate = requires(P const p, Word const w) {
  { p(w) } -> std::convertible_to<bool>;
  requires std::unsigned_integral<decltype(p.wanted_key())> ||
               std::is_same_v<decltype(p.wanted_key()), bits128>;
  requires sizeof(p.wanted_key()) >= 4 && sizeof(p.wanted_key()) <= sizeof(w);
};

namespace host {

#if defined(__SSE2__)

/// Calls f(0) to f(N - 1), unrolled by a fold. g++ -O2 does not unroll a loop over an array of
/// registers, and keeps that array in memory.
template <int N, class F>
inline void unrolled(F const& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (f(I), ...);
  }(std::make_integer_sequence<int, N>{});
}

/// B words in vector registers, read once. Registers have 16 bytes on all processors. Reading a
/// bucket in wider registers and passing the pieces on through memory ran at half the speed. In
/// registers the wider ones gain nothing if the thread waits for memory.
///
/// Words of up to 8 bytes are read atomically, and so is each half of a 16-byte word. A thread that
/// needs both halves as they were written together reads the word again. Keys of 16 bytes are read
/// atomically where processors do that (host.hpp: reads_bits128).
template <class Word, int B>
class vector_words {
 public:
  void load(Word const* p) {
    unrolled<vectors>([&](int i) { m_parts[i] = reinterpret_cast<__m128i const volatile*>(p)[i]; });
  }
  /// Returns a mask: bit i is set if word i has this key in its low bytes.
  template <class Key>
  std::uint32_t match(Key key) const {
    constexpr int n = sizeof(Word) == 16 && vectors > 1 ? vectors / 2 : vectors;
    constexpr std::uint32_t all = B == 32 ? ~0u : (1u << B) - 1;
    __m128i words[n];
    unrolled<n>([&](int i) {
      if constexpr (sizeof(Word) == 16)  // their low halves
        words[i] = _mm_unpacklo_epi64(m_parts[2 * i % vectors], m_parts[(2 * i + 1) % vectors]);
      else
        words[i] = m_parts[i];
    });
    return equal(words, key) & all;
  }
  std::uint32_t match(bits128 key) const {
    __m128i const wanted =
        _mm_set_epi64x(static_cast<long long>(key.hi), static_cast<long long>(key.lo));
    std::uint32_t found = 0;
    unrolled<B>([&](int i) {
      int const same = _mm_movemask_epi8(_mm_cmpeq_epi32(m_parts[i * vectors / B], wanted));
      found |= static_cast<std::uint32_t>(same == 0xffff) << i;
    });
    return found;
  }
  Word get(int i) const {
    Word words[B];
    std::memcpy(words, m_parts, sizeof(words));
    return words[i];
  }

 private:
  static constexpr int vectors = static_cast<int>(B * sizeof(Word) / 16);

  /// Compares word by word, four to a register. Returns bit i for word i.
  template <int N>
  static std::uint32_t equal(__m128i const (&words)[N], std::uint32_t key) {
    __m128i const wanted = _mm_set1_epi32(static_cast<int>(key));
    if constexpr (sizeof(Word) == 4) {
      __m128i same[N];
      unrolled<N>([&](int i) { same[i] = _mm_cmpeq_epi32(words[i], wanted); });
      return bits(same);
    } else {
      __m128i same[(N + 1) / 2];
      unrolled<(N + 1) / 2>([&](int i) {
        same[i] = _mm_cmpeq_epi32(low_halves(words[2 * i], words[(2 * i + 1) % N]), wanted);
      });
      return bits(same);
    }
  }
  template <int N>
  static std::uint32_t equal(__m128i const (&words)[N], std::uint64_t key) {
    __m128i const low = _mm_set1_epi32(static_cast<int>(key)),
                  high = _mm_set1_epi32(static_cast<int>(key >> 32));
    __m128i same[(N + 1) / 2];
    unrolled<(N + 1) / 2>([&](int i) {
      __m128i const a = words[2 * i], b = words[(2 * i + 1) % N];
      same[i] = _mm_and_si128(_mm_cmpeq_epi32(low_halves(a, b), low),
                              _mm_cmpeq_epi32(high_halves(a, b), high));
    });
    return bits(same);
  }
  /// Returns the low halves of the 8-byte words of two registers; high_halves returns the high
  /// ones.
  static __m128i low_halves(__m128i a, __m128i b) {
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88));
  }
  static __m128i high_halves(__m128i a, __m128i b) {
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0xdd));
  }
  /// Returns one bit for each lane of 4 bytes. All bits of a lane are equal.
  template <int N>
  static std::uint32_t bits(__m128i const (&same)[N]) {
    static_assert(N == 1 || N == 2 || N == 4 || N == 8);
    if constexpr (N == 1) {
      return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(same[0])));
    } else if constexpr (N == 8) {
      return bits({same[0], same[1], same[2], same[3]}) | bits({same[4], same[5], same[6], same[7]})
                                                              << 16;
    } else {
      __m128i const first = _mm_packs_epi32(same[0], same[1]),
                    second = N == 4 ? _mm_packs_epi32(same[N - 2], same[N - 1]) : first;
      return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(first, second)));
    }
  }

  __m128i m_parts[vectors];
};

#endif  // __SSE2__

}  // namespace host
}  // namespace karpos::device
