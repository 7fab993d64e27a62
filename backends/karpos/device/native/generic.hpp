// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/device/scratch_pointer.hpp"
#include "karpos/device/word16.hpp"

// Memory accesses of the generic native part, which uses Kokkos alone and runs on any device space.
// Kokkos' fences give the memory orders, which are therefore stronger than asked for. The tuned
// parts are measured against this one.

namespace karpos::device::generic {

// Loads and stores are volatile accesses. Kokkos::atomic_load is a compare-and-swap loop up to
// Kokkos 5.1. An aligned word of 4 or 8 bytes is one access; volatile accesses are made each time,
// and bypass what a thread has cached.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word load_relaxed(Word const* p) {
  return *const_cast<Word const volatile*>(p);
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word load_acquire(Word const* p) {
  Word const w = load_relaxed(p);
  Kokkos::load_fence();
  return w;
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void store_relaxed(Word* p, Word v) {
  *const_cast<Word volatile*>(p) = v;
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void store_to_peer(Word* p, Word v) {
  store_relaxed(p, v);
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void store_release(Word* p, Word v) {
  Kokkos::store_fence();
  store_relaxed(p, v);
}
/// Reads lo first: a reader that recognises lo sees the hi that was written with it.
KOKKOS_FORCEINLINE_FUNCTION word16 load_relaxed(word16 const* p) {
  std::uint64_t const lo = load_acquire(&p->lo);
  return {lo, load_relaxed(&p->hi)};
}

template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word compare_and_swap(Word* p, Word expected, Word desired) {
  return Kokkos::atomic_compare_exchange(p, expected, desired);
}
KOKKOS_FORCEINLINE_FUNCTION void store_pair(word16* p, word16 v) {
  store_relaxed(&p->hi, v.hi);
  store_release(&p->lo, v.lo);
}
/// Not to be called: part::has_wide_cas is false.
KOKKOS_FORCEINLINE_FUNCTION word16 compare_and_swap(word16*, word16, word16) { return {}; }
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word compare_and_swap_acquire(Word* p, Word expected, Word desired) {
  Word const w = compare_and_swap(p, expected, desired);
  Kokkos::load_fence();
  return w;
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word compare_and_swap_after_reads(Word* p, Word expected,
                                                              Word desired) {
  Kokkos::memory_fence();
  return compare_and_swap_acquire(p, expected, desired);
}

template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void set_bits(Word* p, Word bits) {
  Kokkos::atomic_or(p, bits);
}
KOKKOS_FORCEINLINE_FUNCTION void set_bits_of_peer(std::uint32_t* p, std::uint32_t bits) {
  Kokkos::atomic_or(p, bits);
}
KOKKOS_FORCEINLINE_FUNCTION void clear_bits(std::uint32_t* p, std::uint32_t bits) {
  Kokkos::atomic_and(p, ~bits);
}
KOKKOS_FORCEINLINE_FUNCTION void toggle_bits_release(std::uint64_t* p, std::uint64_t bits) {
  Kokkos::store_fence();
  Kokkos::atomic_fetch_xor(p, bits);
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t fetch_or(std::uint32_t* p, std::uint32_t bits) {
  return Kokkos::atomic_fetch_or(p, bits);
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word fetch_min(Word* p, Word v) {
  return Kokkos::atomic_fetch_min(p, v);
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word load_cached(Word const* p) {
  return load_relaxed(p);
}
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t fetch_or_acquire(std::uint64_t* p, std::uint64_t bits) {
  std::uint64_t const old = Kokkos::atomic_fetch_or(p, bits);
  Kokkos::load_fence();
  return old;
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word fetch_add(Word* p, Word v) {
  return Kokkos::atomic_fetch_add(p, v);
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void add(Word* p, Word v) {
  Kokkos::atomic_add(p, v);
}
KOKKOS_FORCEINLINE_FUNCTION void add_release(std::uint64_t* p, std::uint64_t v) {
  Kokkos::store_fence();
  Kokkos::atomic_add(p, v);
}

// Words of scratch (CUDA: shared memory): Kokkos' atomics take addresses of either memory.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word load_relaxed(scratch_pointer<Word> p) {
  return load_relaxed(static_cast<Word const*>(p.address));
}
template <class Word, int N>
KOKKOS_FORCEINLINE_FUNCTION void load_relaxed(scratch_pointer<Word> p, Word (&to)[N]) {
  for (int i = 0; i < N; ++i) to[i] = load_relaxed(static_cast<Word const*>(p.address + i));
}
KOKKOS_FORCEINLINE_FUNCTION void set_bits(scratch_pointer<std::uint32_t> p, std::uint32_t bits) {
  Kokkos::atomic_or(p.address, bits);
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t fetch_add(scratch_pointer<std::uint32_t> p,
                                                    std::uint32_t v) {
  return Kokkos::atomic_fetch_add(p.address, v);
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void add(scratch_pointer<Word> p, Word v) {
  Kokkos::atomic_add(p.address, v);
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t exchange(scratch_pointer<std::uint32_t> p,
                                                   std::uint32_t v) {
  return Kokkos::atomic_exchange(p.address, v);
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t fetch_max(scratch_pointer<std::uint32_t> p,
                                                    std::uint32_t v) {
  return Kokkos::atomic_fetch_max(p.address, v);
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word compare_and_swap(scratch_pointer<Word> p, Word expected,
                                                  Word desired) {
  return Kokkos::atomic_compare_exchange(p.address, expected, desired);
}

KOKKOS_FORCEINLINE_FUNCTION void acquire_fence() { Kokkos::load_fence(); }
KOKKOS_FORCEINLINE_FUNCTION void release_fence() { Kokkos::store_fence(); }
KOKKOS_FORCEINLINE_FUNCTION void fence_seq_cst() { Kokkos::memory_fence(); }
KOKKOS_FORCEINLINE_FUNCTION void order_used_reads() { Kokkos::load_fence(); }
KOKKOS_FORCEINLINE_FUNCTION void sleep(unsigned) {}
KOKKOS_FORCEINLINE_FUNCTION void prefetch(void const*) {}

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void load_16_frozen(T const* p, T (&to)[N]) {
  for (int i = 0; i < N; ++i) to[i] = p[i];
}
template <int N, class T>
KOKKOS_FORCEINLINE_FUNCTION void load_streamed(T const* p, T* to) {
  for (int i = 0; i < N; ++i) to[i] = p[i];
}
template <bool Frozen, int B, class Word>
KOKKOS_FORCEINLINE_FUNCTION void load_bucket(Word const* bucket, Word (&slots)[B]) {
  for (int i = 0; i < B; ++i) slots[i] = Frozen ? bucket[i] : load_relaxed(bucket + i);
}

/// Returns a * b, rounded. Volatile, so that compilers do not fuse the product with an addition.
KOKKOS_FORCEINLINE_FUNCTION double rounded_product(double a, double b) {
  double volatile p = a * b;
  return p;
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T opaque(T const& x) {
  return x;
}

}  // namespace karpos::device::generic
