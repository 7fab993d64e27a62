// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core_fwd.hpp>
#include <Kokkos_Macros.hpp>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "karpos/device/native/native.hpp"
#include "karpos/device/scratch_pointer.hpp"
#include "karpos/device/space.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/device/word16.hpp"

// Atomic access to machine words in kernels. Words of global memory have device scope. Words of a
// team's scratch (CUDA: a block's shared memory) are named by scratch(p) and have team scope. Not
// Kokkos::atomic_load: up to Kokkos 5.1 it is a compare-and-swap loop, which writes what it reads,
// and is four times slower (native/cuda.hpp).

namespace karpos::device {

/// A word of 4, 8, 16 or 32 bytes, as these functions take it.
template <class Word>
concept machine_word =
    std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t> ||
    std::is_same_v<Word, word16> || std::is_same_v<Word, bits128> || std::is_same_v<Word, word32>;

/// Reads a word atomically; relaxed. The halves of a word16 may be read one after the other: if lo
/// has a value that was written together with hi, then hi is that one or a later one. The members
/// of a word32 are read one after the other.
template <machine_word Word>
KOKKOS_FUNCTION Word load_relaxed(Word const* p) {
  Word r{};
  if constexpr (std::is_same_v<Word, word32>) {
    r = {load_relaxed(&p->key), load_relaxed(&p->rest)};
  } else if constexpr (std::is_same_v<Word, bits128>) {
    KOKKOS_IF_ON_DEVICE((r = {native_device::load_relaxed(static_cast<word16 const*>(p))};))
    KOKKOS_IF_ON_HOST((r = host::load_whole(p);))
  } else {
    KOKKOS_IF_ON_DEVICE((r = native_device::load_relaxed(p);))
    KOKKOS_IF_ON_HOST((r = host::load(p, std::memory_order_relaxed);))
  }
  return r;
}

/// Reads a word that other teams may write concurrently. May return an old value: the read may come
/// from the team's cache, which shows writes of other teams only after a grid barrier.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION Word load_cached(Word const* p) {
  Word r{};
  KOKKOS_IF_ON_DEVICE((r = native_device::load_cached(p);))
  KOKKOS_IF_ON_HOST((r = host::load(p, std::memory_order_relaxed);))
  return r;
}

/// Reads a word atomically. Whatever the thread that stored it with store_release had written
/// before is visible afterwards.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION Word load_acquire(Word const* p) {
  Word r{};
  KOKKOS_IF_ON_DEVICE((r = native_device::load_acquire(p);))
  KOKKOS_IF_ON_HOST((r = host::load(p, std::memory_order_acquire);))
  return r;
}

/// Writes a word atomically; relaxed.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION void store_relaxed(Word* p, Word v) {
  KOKKOS_IF_ON_DEVICE((native_device::store_relaxed(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).store(v, std::memory_order_relaxed);))
}

/// Writes a pair, so that load_relaxed, if it reads this lo, also reads this hi or a later one.
/// Requires: no other thread writes lo concurrently.
KOKKOS_INLINE_FUNCTION void store_pair(word16* p, word16 v) {
  KOKKOS_IF_ON_DEVICE((native_device::store_pair(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref(p->hi).store(v.hi, std::memory_order_relaxed);
                     std::atomic_ref(p->lo).store(v.lo, std::memory_order_release);))
}

/// Writes a word atomically; relaxed, at the scope of the whole system. For memory that other
/// devices read or write concurrently (peers.hpp).
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION void store_to_peer(Word* p, Word v) {
  KOKKOS_IF_ON_DEVICE((native_device::store_to_peer(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).store(v, std::memory_order_relaxed);))
}

/// Writes a word atomically, after everything that this thread has written before.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION void store_release(Word* p, Word v) {
  KOKKOS_IF_ON_DEVICE((native_device::store_release(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).store(v, std::memory_order_release);))
}

/// Replaces `expected` by `desired` atomically; relaxed. Returns the old value, which is `expected`
/// if the swap succeeded.
/// Requires: is_lock_free<sizeof(Word), ExecSpace> of the execution space that runs this.
template <machine_word Word>
KOKKOS_FUNCTION Word compare_and_swap(Word* p, Word expected, Word desired) {
  if constexpr (std::is_same_v<Word, bits128>) {
    return {compare_and_swap<word16>(p, expected, desired)};
  } else {
    Word r{};
    KOKKOS_IF_ON_DEVICE((r = native_device::compare_and_swap(p, expected, desired);))
    KOKKOS_IF_ON_HOST((r = host::compare_and_swap(p, expected, desired);))
    return r;
  }
}

/// Compares and swaps with acquire order: if it succeeds, everything that the thread that released
/// `expected` had written before is visible.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION Word compare_and_swap_acquire(Word* p, Word expected, Word desired) {
  Word r = expected;
  KOKKOS_IF_ON_DEVICE((r = native_device::compare_and_swap_acquire(p, expected, desired);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).compare_exchange_strong(
      r, desired, std::memory_order_acquire, std::memory_order_relaxed);))
  return r;
}

/// Compares and swaps with acquire order, and after those earlier reads that this call depends on:
/// their values decided whether, where or what it swaps. On GPUs it does not release: other threads
/// may see this thread's writes to other words later. On CPUs it acquires and releases.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION Word compare_and_swap_after_reads(Word* p, Word expected, Word desired) {
  Word r = expected;
  KOKKOS_IF_ON_DEVICE((r = native_device::compare_and_swap_after_reads(p, expected, desired);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).compare_exchange_strong(
      r, desired, std::memory_order_acq_rel, std::memory_order_acquire);))
  return r;
}

/// Sets bits of a word atomically; relaxed.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION void set_bits(Word* p, Word bits) {
  KOKKOS_IF_ON_DEVICE((native_device::set_bits(p, bits);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).fetch_or(bits, std::memory_order_relaxed);))
}

/// Sets bits of a word in the memory of another device (peers.hpp), which may change the word
/// concurrently. Atomic at the scope of the whole system; relaxed.
KOKKOS_INLINE_FUNCTION void set_bits_of_peer(std::uint32_t* p, std::uint32_t bits) {
  KOKKOS_IF_ON_DEVICE((native_device::set_bits_of_peer(p, bits);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<std::uint32_t>(*p).fetch_or(bits, std::memory_order_relaxed);))
}

/// Clears bits of a word atomically; relaxed.
KOKKOS_INLINE_FUNCTION void clear_bits(std::uint32_t* p, std::uint32_t bits) {
  KOKKOS_IF_ON_DEVICE((native_device::clear_bits(p, bits);))
  KOKKOS_IF_ON_HOST(
      (std::atomic_ref<std::uint32_t>(*p).fetch_and(~bits, std::memory_order_relaxed);))
}

/// Flips bits of a word atomically, after everything that this thread has written before.
KOKKOS_INLINE_FUNCTION void toggle_bits_release(std::uint64_t* p, std::uint64_t bits) {
  KOKKOS_IF_ON_DEVICE((native_device::toggle_bits_release(p, bits);))
  KOKKOS_IF_ON_HOST(
      (std::atomic_ref<std::uint64_t>(*p).fetch_xor(bits, std::memory_order_release);))
}

/// Sets bits of a word atomically and returns the old value. Whatever the thread that last released
/// the word had written before is visible afterwards.
KOKKOS_INLINE_FUNCTION std::uint64_t fetch_or_acquire(std::uint64_t* p, std::uint64_t bits) {
  std::uint64_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::fetch_or_acquire(p, bits);))
  KOKKOS_IF_ON_HOST(
      (old = std::atomic_ref<std::uint64_t>(*p).fetch_or(bits, std::memory_order_acquire);))
  return old;
}

/// Orders the relaxed reads before it before everything after it. If one of the words that they
/// read was released, what the releasing thread had written before is visible from here on.
KOKKOS_INLINE_FUNCTION void acquire_fence() {
  KOKKOS_IF_ON_DEVICE((native_device::acquire_fence();))
  KOKKOS_IF_ON_HOST((host::acquire_fence();))
}

/// Orders everything before it before the relaxed writes after it. The order holds for threads that
/// read one of these words and then execute an acquire_fence.
KOKKOS_INLINE_FUNCTION void release_fence() {
  KOKKOS_IF_ON_DEVICE((native_device::release_fence();))
  KOKKOS_IF_ON_HOST((host::release_fence();))
}

/// Orders everything before it before everything after it: if two threads each write a word,
/// execute this fence and read the other's word, one of them sees what the other wrote.
KOKKOS_INLINE_FUNCTION void fence_seq_cst() {
  KOKKOS_IF_ON_DEVICE((native_device::fence_seq_cst();))
  KOKKOS_IF_ON_HOST((host::fence_seq_cst();))
}

/// Acts as fence_seq_cst directly after an atomic read-modify-write operation of this thread. On
/// x86 such an operation is a full fence already.
KOKKOS_INLINE_FUNCTION void fence_seq_cst_after_update() {
  KOKKOS_IF_ON_DEVICE((native_device::fence_seq_cst();))
  KOKKOS_IF_ON_HOST((host::fence_seq_cst_after_update();))
}

/// Acts as acquire_fence for those earlier reads that this call depends on: their values decided
/// whether it is called. Costs nothing on hardware that keeps such reads in order.
KOKKOS_INLINE_FUNCTION void order_used_reads() {
  KOKKOS_IF_ON_DEVICE((native_device::order_used_reads();))
  KOKKOS_IF_ON_HOST((host::acquire_fence();))
}

/// Exponential back-off: waits longer each time, up to a limit, and lets other threads run.
class back_off {
 public:
  KOKKOS_FUNCTION void wait() {
    KOKKOS_IF_ON_DEVICE((native_device::sleep(16u << m_round);))
    KOKKOS_IF_ON_HOST((host::pause(1 << m_round);))
    if (m_round < longest) ++m_round;
  }

 private:
  static constexpr int longest = 6;
  int m_round = 0;
};

// Words of a team's scratch. All calls are relaxed, and atomic among the threads of the team. On
// CPUs a team is one thread, so that the accesses are plain. The calls do what they do on global
// memory, and there is exchange in addition:
//
//   4 bytes   load_relaxed, set_bits, add, fetch_add, fetch_max, compare_and_swap, exchange
//   8 bytes   load_relaxed, add, compare_and_swap

template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION Word load_relaxed(scratch_pointer<Word> p) {
  Word v = 0;
  KOKKOS_IF_ON_DEVICE((v = native_device::load_relaxed(p);))
  KOKKOS_IF_ON_HOST((v = *p.address;))
  return v;
}
/// Reads N adjacent words, each atomically. Requires: they take 16 bytes, and are aligned to that.
template <class Word, int N>
KOKKOS_FORCEINLINE_FUNCTION void load_relaxed(scratch_pointer<Word> p, Word (&to)[N]) {
  static_assert(N * sizeof(Word) == 16);
  KOKKOS_IF_ON_DEVICE((native_device::load_relaxed(p, to);))
  KOKKOS_IF_ON_HOST((for (int i = 0; i < N; ++i) to[i] = p.address[i];))
}
KOKKOS_INLINE_FUNCTION void set_bits(scratch_pointer<std::uint32_t> p, std::uint32_t bits) {
  KOKKOS_IF_ON_DEVICE((native_device::set_bits(p, bits);))
  KOKKOS_IF_ON_HOST((*p.address |= bits;))
}
KOKKOS_INLINE_FUNCTION std::uint32_t fetch_add(scratch_pointer<std::uint32_t> p, std::uint32_t v) {
  std::uint32_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::fetch_add(p, v);))
  KOKKOS_IF_ON_HOST((old = *p.address; *p.address = old + v;))
  return old;
}
/// Adds to the word, and returns nothing.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION void add(scratch_pointer<Word> p, std::type_identity_t<Word> v) {
  KOKKOS_IF_ON_DEVICE((native_device::add(p, v);))
  KOKKOS_IF_ON_HOST((*p.address += v;))
}
/// Stores v. Returns the old value.
KOKKOS_INLINE_FUNCTION std::uint32_t exchange(scratch_pointer<std::uint32_t> p, std::uint32_t v) {
  std::uint32_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::exchange(p, v);))
  KOKKOS_IF_ON_HOST((old = *p.address; *p.address = v;))
  return old;
}
/// Replaces the word by the larger of itself and v. Returns the old value.
KOKKOS_INLINE_FUNCTION std::uint32_t fetch_max(scratch_pointer<std::uint32_t> p, std::uint32_t v) {
  std::uint32_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::fetch_max(p, v);))
  KOKKOS_IF_ON_HOST((old = *p.address; *p.address = Kokkos::max(old, v);))
  return old;
}
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION Word compare_and_swap(scratch_pointer<Word> p, std::type_identity_t<Word> expected,
                                      std::type_identity_t<Word> desired) {
  Word old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::compare_and_swap(p, expected, desired);))
  KOKKOS_IF_ON_HOST((old = *p.address; if (old == expected)* p.address = desired;))
  return old;
}

/// Sets bits of a word atomically; relaxed. Returns the old value.
KOKKOS_INLINE_FUNCTION std::uint32_t fetch_or(std::uint32_t* p, std::uint32_t bits) {
  std::uint32_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::fetch_or(p, bits);))
  KOKKOS_IF_ON_HOST(
      (old = std::atomic_ref<std::uint32_t>(*p).fetch_or(bits, std::memory_order_relaxed);))
  return old;
}

/// Replaces a word by the larger of itself and v atomically; relaxed. Returns the old value.
KOKKOS_INLINE_FUNCTION std::uint32_t fetch_max(std::uint32_t* p, std::uint32_t v) {
  std::uint32_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = Kokkos::atomic_fetch_max(p, v);))
  // Not Kokkos::atomic_fetch_max, which begins with a plain read on CPUs.
  KOKKOS_IF_ON_HOST((old = load_relaxed(static_cast<std::uint32_t const*>(p)); while (old < v) {
    std::uint32_t const found = compare_and_swap(p, old, v);
    if (found == old) break;
    old = found;
  }))
  return old;
}

/// Replaces a word by the smaller of itself and v atomically; relaxed. Returns the old value.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION Word fetch_min(Word* p, std::type_identity_t<Word> v) {
  Word old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::fetch_min(p, v);))
  KOKKOS_IF_ON_HOST((old = load_relaxed(static_cast<Word const*>(p)); while (old > v) {
    Word const found = compare_and_swap(p, old, v);
    if (found == old) break;
    old = found;
  }))
  return old;
}

/// Adds to a word atomically; relaxed. Returns the old value.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION Word fetch_add(Word* p, std::type_identity_t<Word> v) {
  Word old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::fetch_add(p, v);))
  KOKKOS_IF_ON_HOST((old = std::atomic_ref<Word>(*p).fetch_add(v, std::memory_order_relaxed);))
  return old;
}

/// Adds to a word atomically; relaxed. Cheaper than fetch_add if many threads add to one word.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION void add(Word* p, Word v) {
  KOKKOS_IF_ON_DEVICE((native_device::add(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).fetch_add(v, std::memory_order_relaxed);))
}

/// Adds to a word atomically, after everything that this thread has written before.
KOKKOS_INLINE_FUNCTION void add_release(std::uint64_t* p, std::uint64_t v) {
  KOKKOS_IF_ON_DEVICE((native_device::add_release(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<std::uint64_t>(*p).fetch_add(v, std::memory_order_release);))
}

/// Prefetches the cache line of p on CPUs. Does nothing on GPUs, which hide memory latency by other
/// threads.
KOKKOS_FORCEINLINE_FUNCTION void prefetch([[maybe_unused]] void const* p) {
  KOKKOS_IF_ON_HOST((host::prefetch(p);))
}

/// Prefetches p on CPUs, and on GPUs into the L2 cache: for kernels with too few threads to hide
/// memory latency.
KOKKOS_FORCEINLINE_FUNCTION void prefetch_far([[maybe_unused]] void const* p) {
  KOKKOS_IF_ON_DEVICE((native_device::prefetch(p);))
  KOKKOS_IF_ON_HOST((host::prefetch(p);))
}

/// How a kernel reads a table. `shared`: other threads may change the table concurrently, and every
/// read sees the newest word. `frozen`: no thread changes the table while the kernel runs, so that
/// caches which miss other threads' writes may serve the reads (H200, 2^27 keys at load 0.5: finds
/// 38.4 G/s frozen, 24.5 G/s shared).
enum class access { shared, frozen };

/// Reads a word that no thread changes concurrently.
template <machine_word Word>
KOKKOS_FORCEINLINE_FUNCTION Word load_frozen(Word const* p) {
  return *p;
}
/// Reads N adjacent words that no thread changes concurrently, on GPUs in one load of 16 bytes.
/// Requires: the words take 16 bytes, and p is aligned to that.
template <class T, int N>
  requires(sizeof(T) == 4 || sizeof(T) == 8)
KOKKOS_FORCEINLINE_FUNCTION void load_frozen(T const* p, T (&to)[N]) {
  static_assert(N * sizeof(T) == 16);
  KOKKOS_IF_ON_DEVICE((native_device::load_16_frozen(p, to);))
  KOKKOS_IF_ON_HOST((for (int i = 0; i < N; ++i) to[i] = p[i];))
}

/// Reads the B slots of a bucket as a window. Each slot is read as load_relaxed reads it, but if
/// Access is frozen, GPU tiles of width 1 use plain loads. The window as a whole is no snapshot.
/// Requires: if B slots take a multiple of 16 bytes, the bucket is aligned to 16 bytes.
template <int B, access Access, tile Tile, machine_word Word>
KOKKOS_FUNCTION window<Tile, Word, B> load_window(Tile const& t, Word const* bucket) {
  if constexpr (std::is_same_v<Tile, host_thread>) {
    return window<Tile, Word, B>(t, bucket);
  } else if constexpr (Tile::width == 1) {
    alignas(16) Word slots[B];
    KOKKOS_IF_ON_DEVICE((native_device::load_bucket<Access == access::frozen>(bucket, slots);))
    KOKKOS_IF_ON_HOST((for (int i = 0; i < B; ++i) slots[i] = load_relaxed(bucket + i);))
    return window<Tile, Word, B>(t, slots);
  } else {
    return window<Tile, Word, B>(t, [&](int i) { return load_relaxed(bucket + i); });
  }
}

}  // namespace karpos::device
