// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "karpos/device/native/simd.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/device/word16.hpp"

// Machine instructions of CPUs: the SIMD tile, prefetch, huge pages, whole-bucket reads, and a
// 16-byte compare-and-swap.

namespace karpos::device {

/// A plain thread of a CPU, whose windows lie in vector registers.
struct host_thread : reference_tile<1> {};

/// W lanes of one CPU thread. The loop over lanes is the SIMD loop: compilers turn the short loops
/// of constant length in the reference tile into vector instructions. For W > 1 the reference tile
/// is therefore the tuned one.
template <int W>
using host_tile = std::conditional_t<W == 1, host_thread, reference_tile<W>>;

namespace host {

/// Prefetches the cache line of p. Never faults, whatever p is.
///
/// g++ considers a function that only prefetches to be without effect, and drops calls of it, also
/// from functions that it inlines. A volatile asm, which has no instruction, is an effect. (Lookups
/// of a row index had no prefetch: 31 instead of 9 ns for each of 2^22 keys, one thread.)
[[gnu::always_inline]] inline void prefetch([[maybe_unused]] void const* p) {
#if defined(__GNUC__)
  // Into the first-level cache. Lookups in a table of 2^24 keys at load 0.5, 16 threads of an Intel
  // Xeon: 1,420 M/s from the second level and 1,574 from the first; insertions 1,078 and 1,218.
  // (When a key took more instructions, the second level was faster.) Prefetching for writing is
  // slower.
  __builtin_prefetch(p, 0, 3);
  asm volatile("" : : "m"(*static_cast<char const*>(p)));
#endif
}

/// Returns x, and hides from the compiler how it was computed.
inline double kept(double x) {
#if defined(__GNUC__) && defined(__x86_64__)
  asm("" : "+x"(x));
#elif defined(__GNUC__) && defined(__aarch64__)
  asm("" : "+w"(x));
#endif
  return x;
}

/// Returns condition ? a : b, for words and pointers, without a branch. Assembly, because compilers
/// make a branch of what they recognise as a condition.
template <class T>
[[gnu::always_inline]] inline T select(bool condition, T a, T b) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#if defined(__GNUC__) && defined(__x86_64__)
  asm("test{b %b2, %b2|\t%b2, %b2}\n\tcmovne{ %1, %0|\t%0, %1}"
      : "+r"(b)
      : "r"(a), "q"(condition)
      : "cc");
  return b;
#elif defined(__GNUC__) && defined(__aarch64__)
  T chosen;
  unsigned const c = condition;
  if constexpr (sizeof(T) == 4)
    asm("cmp %w3, #0\n\tcsel %w0, %w1, %w2, ne" : "=r"(chosen) : "r"(a), "r"(b), "r"(c) : "cc");
  else
    asm("cmp %w3, #0\n\tcsel %0, %1, %2, ne" : "=r"(chosen) : "r"(a), "r"(b), "r"(c) : "cc");
  return chosen;
#else
  return condition ? a : b;
#endif
}

/// Tells the compiler that the condition holds.
[[gnu::always_inline]] inline void assume([[maybe_unused]] bool condition) {
#if defined(__GNUC__)
  if (!condition) __builtin_unreachable();
#endif
}

/// Asks the kernel to back a large array with huge pages: address translation otherwise limits
/// random access to gigabytes (1.5 to 1.8 times slower). A hint: failure changes nothing.
inline void advise_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::uintptr_t page = std::uintptr_t(2) << 20;
  auto const first = (reinterpret_cast<std::uintptr_t>(p) + page - 1) / page * page;
  auto const last = (reinterpret_cast<std::uintptr_t>(p) + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

/// Writes a cache line past the caches. `to` and `from` are aligned to a cache line.
inline void stream_line(void* to, void const* from) {
#if defined(__SSE2__)
  auto* const t = static_cast<__m128i*>(to);
  auto const* const f = static_cast<__m128i const*>(from);
  for (int i = 0; i < 4; ++i) _mm_stream_si128(t + i, _mm_load_si128(f + i));
#else
  std::memcpy(to, from, 64);
#endif
}
inline void end_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

template <class Word>
inline Word load(Word const* p, std::memory_order order) {
  return std::atomic_ref<Word>(*const_cast<Word*>(p)).load(order);
}
/// Reads lo before hi: a reader that recognises lo sees the hi that was written with it.
inline word16 load(word16 const* p, std::memory_order order) {
  auto const first = order == std::memory_order_relaxed ? std::memory_order_acquire : order;
  std::uint64_t const lo = load(&p->lo, first);
  return {lo, load(&p->hi, std::memory_order_relaxed)};
}

/// Returns whether this processor reads aligned bits128 by one access. The manuals of Intel and AMD
/// promise that of processors with AVX, and of instructions of SSE, too.
inline bool reads_bits128() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx") != 0;
#else
  return false;
#endif
}
/// Reads 16 bytes at once. In assembly, because compilers call a library function for it. Requires:
/// reads_bits128().
inline bits128 load_whole(bits128 const* p) {
#if defined(__AVX__)
  __m128i v;
  asm volatile("vmovdqa{ %1, %0| %0, %1}" : "=x"(v) : "m"(*p));
  return std::bit_cast<bits128>(v);
#elif defined(__x86_64__)
  __m128i v;
  asm volatile("movdqa{ %1, %0| %0, %1}" : "=x"(v) : "m"(*p));
  return std::bit_cast<bits128>(v);
#else
  return *p;
#endif
}
/// Reads the members one after the other.
inline word32 load(word32 const* p, std::memory_order order) {
  return {load_whole(&p->key), load(&p->rest, order)};
}
inline bits128 load(bits128 const* p, std::memory_order) { return load_whole(p); }

/// B words of a bucket, read one by one: for the thread sanitizer, and for processors without SSE2.
template <class Word, int B>
class array_words {
 public:
  void load(Word const* bucket) {
    for (int i = 0; i < B; ++i) m_words[i] = host::load(bucket + i, std::memory_order_relaxed);
  }
  template <class Key>
  std::uint64_t match(Key key) const {
    std::uint64_t bits = 0;
    for (int i = 0; i < B; ++i)
      bits |= static_cast<std::uint64_t>(low_bytes<Key>(m_words[i]) == key) << i;
    return bits;
  }
  Word get(int i) const { return m_words[i]; }

 private:
  template <class Key>
  static Key low_bytes(Word w) {
    if constexpr (std::is_same_v<Word, word16>)
      return static_cast<Key>(w.lo);
    else if constexpr (std::is_same_v<Word, word32>)
      return w.key;
    else
      return static_cast<Key>(w);
  }
  Word m_words[B];
};

template <class Word, int B>
inline constexpr bool fits_vectors =
    B <= 32 && B * sizeof(Word) <= 128 && B * sizeof(Word) % 16 == 0 &&
    std::has_single_bit(B * sizeof(Word));
/// The words that a CPU thread reads of a bucket at once. The vector form relies on x86-64 rather
/// than on the language: an aligned vector load reads each of its aligned 8-byte parts atomically
/// (docs/design/memory_model.md).
template <class Word, int B>
#if defined(__SSE2__) && !defined(KARPOS_HOST_THREAD_SANITIZER)
using bucket_words =
    std::conditional_t<fits_vectors<Word, B>, vector_words<Word, B>, array_words<Word, B>>;
#else
using bucket_words = array_words<Word, B>;
#endif

/// The thread sanitizer does not support fences and needs none: it only checks that every access is
/// atomic.
inline void acquire_fence() {
#if !defined(KARPOS_HOST_THREAD_SANITIZER)
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}
inline void release_fence() {
#if !defined(KARPOS_HOST_THREAD_SANITIZER)
  std::atomic_thread_fence(std::memory_order_release);
#endif
}
/// Under the thread sanitizer, uses an atomic operation on a word that no other thread knows, which
/// is a full fence on x86.
inline void fence_seq_cst() {
#if defined(KARPOS_HOST_THREAD_SANITIZER)
  std::atomic<int>(0).fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}
/// Orders only the compiler's accesses on x86: its locked operations order what comes before and
/// after them.
inline void fence_seq_cst_after_update() {
#if defined(__x86_64__)
  std::atomic_signal_fence(std::memory_order_seq_cst);
#else
  fence_seq_cst();
#endif
}

/// Waits for `instants` pause instructions; from 16 on, yields to other threads instead.
inline void pause(int instants) {
  if (instants >= 16) {
    std::this_thread::yield();
    return;
  }
  for (int i = 0; i < instants; ++i) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
  }
}

template <class Word>
inline Word compare_and_swap(Word* p, Word expected, Word desired) {
  std::atomic_ref<Word>(*p).compare_exchange_strong(expected, desired, std::memory_order_relaxed);
  return expected;
}

#if defined(__x86_64__)
inline constexpr bool has_compare_and_swap_16 = true;
// In assembly because compilers call a library function for it: an x86-64 processor of 2003 may
// lack it.
inline word16 compare_and_swap(word16* p, word16 expected, word16 desired) {
  asm volatile("lock cmpxchg16b %0"
               : "+m"(*p), "+a"(expected.lo), "+d"(expected.hi)
               : "b"(desired.lo), "c"(desired.hi)
               : "cc", "memory");
  return expected;
}
#else
inline constexpr bool has_compare_and_swap_16 = false;
#endif

}  // namespace host

/// Window of a CPU thread: the slots stay in registers.
template <class Slot, int B>
class window<host_thread, Slot, B> {
 public:
  static constexpr int width = 1;

  KOKKOS_FUNCTION window(host_thread const&, [[maybe_unused]] Slot const* bucket) {
    KOKKOS_IF_ON_HOST((m_words.load(bucket);))
  }
  template <int First = 0, class P>
  KOKKOS_FUNCTION lane_mask<B> match(P const& p) const {
    std::uint64_t bits = 0;
    if constexpr (key_predicate<P, Slot>) {
      KOKKOS_IF_ON_HOST((bits = m_words.match(p.wanted_key());))
    } else {
      for (int i = First; i < B; ++i) bits |= static_cast<std::uint64_t>(p(get(i))) << i;
    }
    using word = typename lane_mask<B>::word;
    return lane_mask<B>(static_cast<word>(bits) & static_cast<word>(lane_mask<B>::all << First));
  }
  template <class P>
  KOKKOS_FUNCTION bool any(P const& p) const {
    return static_cast<bool>(match(p));
  }
  template <class P>
  KOKKOS_FUNCTION bool only(P const& p, Slot& slot) const {
    auto const m = match(p);
    if (m) slot = get(m.first());
    return static_cast<bool>(m);
  }
  KOKKOS_FUNCTION Slot get([[maybe_unused]] int i) const {
    Slot slot{};
    KOKKOS_IF_ON_HOST((slot = m_words.get(i);))
    return slot;
  }

 private:
  host::bucket_words<Slot, B> m_words;
};

}  // namespace karpos::device
