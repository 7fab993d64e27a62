// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "karpos/device/tile.hpp"
#include "karpos/device/word16.hpp"

// What CPUs need: the SIMD tile, prefetch, huge pages, whole-bucket reads, a 16-byte compare-and-swap.

#if defined(__SANITIZE_THREAD__)
#define KARPOS_HOST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KARPOS_HOST_THREAD_SANITIZER 1
#endif
#endif

namespace karpos::device {

/// W lanes of one CPU thread. The lane loop is the SIMD loop: compilers turn the short constant-length
/// loops of the reference tile into vector instructions, so the reference tile is already the tuned one.
template <int W>
using host_tile = reference_tile<W>;

namespace host {

/// Starts to bring the cache line of p in. Never faults, whatever p is.
/// Inlined by force: g++ takes a function that does nothing but prefetch for one without effect, and drops calls of it.
[[gnu::always_inline]] inline void prefetch([[maybe_unused]] void const* p) {
#if defined(__GNUC__)
  // Into the second-level cache, which takes more misses at once than the first (random reads of 1 GiB, two
  // threads: 172 M/s into the first, 197 M/s into the second; asking to own the line for writing: slower).
  __builtin_prefetch(p, 0, 2);
#endif
}

/// x, as if it were not known how it was computed.
inline double kept(double x) {
#if defined(__GNUC__) && defined(__x86_64__)
  asm("" : "+x"(x));
#elif defined(__GNUC__) && defined(__aarch64__)
  asm("" : "+w"(x));
#endif
  return x;
}

/// Asks the kernel to back a large array with huge pages: random access to gigabytes is otherwise bound
/// by address translation (1.5 to 1.8 times slower). A hint: failure changes nothing.
inline void advise_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::uintptr_t page = std::uintptr_t(2) << 20;
  auto const first = (reinterpret_cast<std::uintptr_t>(p) + page - 1) / page * page;
  auto const last = (reinterpret_cast<std::uintptr_t>(p) + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

template <class Word>
inline Word load(Word const* p, std::memory_order order) {
  return std::atomic_ref<Word>(*const_cast<Word*>(p)).load(order);
}
/// The halves in the order lo, hi: a reader that recognises lo sees the hi that was written with it.
inline word16 load(word16 const* p, std::memory_order order) {
  auto const first = order == std::memory_order_relaxed ? std::memory_order_acquire : order;
  std::uint64_t const lo = load(&p->lo, first);
  return {lo, load(&p->hi, std::memory_order_relaxed)};
}

/// Reads B slots. Each slot is read whole; together they are no snapshot. The vector form rests on what
/// x86-64 and AArch64 do rather than on the language: an aligned vector load takes each of its aligned
/// 8- and 16-byte parts at once (docs/design/memory_model.md).
template <int B, class Word>
inline void load_bucket(Word const* bucket, Word (&slots)[B]) {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__)) && \
    !defined(KARPOS_HOST_THREAD_SANITIZER)
#if defined(__AVX__)
  constexpr bool whole = true;  // such processors take 16 aligned bytes at once
#else
  constexpr bool whole = sizeof(Word) <= 8;
#endif
  if constexpr (whole && (sizeof(slots) == 16 || sizeof(slots) == 32 || sizeof(slots) == 64)) {
    using vector [[gnu::vector_size(sizeof(slots))]] = std::uint64_t;
    // volatile: read exactly once, so that a slot tested and a slot used are the same slot.
    vector const v = *reinterpret_cast<vector const volatile*>(bucket);
    std::memcpy(slots, &v, sizeof(slots));
    return;
  }
#endif
  for (int i = 0; i < B; ++i) slots[i] = load(bucket + i, std::memory_order_relaxed);
}

/// The thread sanitizer knows no fences, and needs none: it only asks whether every access is atomic.
inline void acquire_fence() {
#if !defined(KARPOS_HOST_THREAD_SANITIZER)
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

/// A few instants; from the 16th on, until other threads had their turn.
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
// In assembly because compilers call a library function for it, lest a processor of 2003 lack it.
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
}  // namespace karpos::device
