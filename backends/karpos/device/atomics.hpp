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

// Atomic access to machine words in kernels: words of global memory at device scope, and words of a
// team's scratch, named by scratch(p), at team scope. Not Kokkos::atomic_load: that is a
// compare-and-swap loop (up to Kokkos 5.1), fourteen times slower, and it writes what it reads.

namespace karpos::device {

/// Word of 4, 8 or 16 bytes that these functions take.
template <class Word>
concept machine_word = std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t> ||
                       std::is_same_v<Word, word16>;

/// Reads a word at once, in no order with other accesses. A word16 is read so that a reader that
/// recognises its lo half sees the hi half that was written with it, or a later one.
template <machine_word Word>
KOKKOS_FUNCTION Word load_relaxed(Word const* p) {
  Word r{};
  KOKKOS_IF_ON_DEVICE((r = native_device::load_relaxed(p);))
  KOKKOS_IF_ON_HOST((r = host::load(p, std::memory_order_relaxed);))
  return r;
}

/// Reads a word that other teams may write at the same time. May return an old value: the read may
/// come from the team's cache, which shows writes of other teams only after a grid barrier.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION Word load_cached(Word const* p) {
  Word r{};
  KOKKOS_IF_ON_DEVICE((r = native_device::load_cached(p);))
  KOKKOS_IF_ON_HOST((r = host::load(p, std::memory_order_relaxed);))
  return r;
}

/// Reads a word at once; what the thread that stored it with store_release had written before is
/// visible.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION Word load_acquire(Word const* p) {
  Word r{};
  KOKKOS_IF_ON_DEVICE((r = native_device::load_acquire(p);))
  KOKKOS_IF_ON_HOST((r = host::load(p, std::memory_order_acquire);))
  return r;
}

/// Writes a word at once, in no order with other accesses.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION void store_relaxed(Word* p, Word v) {
  KOKKOS_IF_ON_DEVICE((native_device::store_relaxed(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).store(v, std::memory_order_relaxed);))
}

/// The same in memory that other devices read, or write, meanwhile.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION void store_to_peer(Word* p, Word v) {
  KOKKOS_IF_ON_DEVICE((native_device::store_to_peer(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).store(v, std::memory_order_relaxed);))
}

/// Writes a word at once, after everything that this thread has written before.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION void store_release(Word* p, Word v) {
  KOKKOS_IF_ON_DEVICE((native_device::store_release(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).store(v, std::memory_order_release);))
}

/// Replaces expected by desired at once; relaxed. Returns what was there: expected means success.
/// Requires: is_lock_free<sizeof(Word), the execution space that runs this>.
template <machine_word Word>
KOKKOS_FUNCTION Word compare_and_swap(Word* p, Word expected, Word desired) {
  Word r{};
  KOKKOS_IF_ON_DEVICE((r = native_device::compare_and_swap(p, expected, desired);))
  KOKKOS_IF_ON_HOST((r = host::compare_and_swap(p, expected, desired);))
  return r;
}

/// Compares and swaps with acquire order: if it succeeds, all that the thread that released
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

/// As compare_and_swap_acquire, and not before the reads whose values this thread has used. No
/// release on GPUs: what this thread wrote to other words may be seen later. CPUs: acquire and
/// release.
template <machine_word Word>
  requires(sizeof(Word) <= 8)
KOKKOS_FUNCTION Word compare_and_swap_after_reads(Word* p, Word expected, Word desired) {
  Word r = expected;
  KOKKOS_IF_ON_DEVICE((r = native_device::compare_and_swap_after_reads(p, expected, desired);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).compare_exchange_strong(
      r, desired, std::memory_order_acq_rel, std::memory_order_acquire);))
  return r;
}

/// Sets bits of a word at once; relaxed.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION void set_bits(Word* p, Word bits) {
  KOKKOS_IF_ON_DEVICE((native_device::set_bits(p, bits);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).fetch_or(bits, std::memory_order_relaxed);))
}

/// The same in the memory of another device (peers.hpp), which may change the word, too.
KOKKOS_INLINE_FUNCTION void set_bits_of_peer(std::uint32_t* p, std::uint32_t bits) {
  KOKKOS_IF_ON_DEVICE((native_device::set_bits_of_peer(p, bits);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<std::uint32_t>(*p).fetch_or(bits, std::memory_order_relaxed);))
}

/// Clears bits of a word at once; relaxed.
KOKKOS_INLINE_FUNCTION void clear_bits(std::uint32_t* p, std::uint32_t bits) {
  KOKKOS_IF_ON_DEVICE((native_device::clear_bits(p, bits);))
  KOKKOS_IF_ON_HOST(
      (std::atomic_ref<std::uint32_t>(*p).fetch_and(~bits, std::memory_order_relaxed);))
}

/// Changes each of the bits of a word to its opposite at once, after everything that this thread
/// has written before.
KOKKOS_INLINE_FUNCTION void toggle_bits_release(std::uint64_t* p, std::uint64_t bits) {
  KOKKOS_IF_ON_DEVICE((native_device::toggle_bits_release(p, bits);))
  KOKKOS_IF_ON_HOST(
      (std::atomic_ref<std::uint64_t>(*p).fetch_xor(bits, std::memory_order_release);))
}

/// Sets bits of a word at once; what the thread that last released it had written before is
/// visible. Returns what was there.
KOKKOS_INLINE_FUNCTION std::uint64_t fetch_or_acquire(std::uint64_t* p, std::uint64_t bits) {
  std::uint64_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::fetch_or_acquire(p, bits);))
  KOKKOS_IF_ON_HOST(
      (old = std::atomic_ref<std::uint64_t>(*p).fetch_or(bits, std::memory_order_acquire);))
  return old;
}

/// Orders the relaxed reads before it before everything after it: what was released to one of the
/// words that they read is visible from here on.
KOKKOS_INLINE_FUNCTION void acquire_fence() {
  KOKKOS_IF_ON_DEVICE((native_device::acquire_fence();))
  KOKKOS_IF_ON_HOST((host::acquire_fence();))
}

/// Orders everything before it before the relaxed writes after it, for threads that read these and
/// execute an acquire_fence.
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

/// A fence_seq_cst directly after an atomic read-modify-write operation of this thread, which is
/// such a fence already on x86.
KOKKOS_INLINE_FUNCTION void fence_seq_cst_after_update() {
  KOKKOS_IF_ON_DEVICE((native_device::fence_seq_cst();))
  KOKKOS_IF_ON_HOST((host::fence_seq_cst_after_update();))
}

/// An acquire_fence for reads whose values this thread has used, which costs nothing where such
/// reads are in order anyway.
KOKKOS_INLINE_FUNCTION void order_used_reads() {
  KOKKOS_IF_ON_DEVICE((native_device::order_used_reads();))
  KOKKOS_IF_ON_HOST((host::acquire_fence();))
}

/// Exponential back-off: waits longer each time, and lets other threads run.
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

// Words of a team's scratch: six of the calls for global memory, and exchange; those of 8 bytes
// take load_relaxed, add and compare_and_swap. On CPUs a team is one thread: plain accesses.

template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION Word load_relaxed(scratch_pointer<Word> p) {
  Word v = 0;
  KOKKOS_IF_ON_DEVICE((v = native_device::load_relaxed(p);))
  KOKKOS_IF_ON_HOST((v = *p.address;))
  return v;
}
/// Reads N neighbours, each at once. Requires: they take 16 bytes, and are aligned to that.
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
/// The same without what was there.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION void add(scratch_pointer<Word> p, std::type_identity_t<Word> v) {
  KOKKOS_IF_ON_DEVICE((native_device::add(p, v);))
  KOKKOS_IF_ON_HOST((*p.address += v;))
}
/// Stores v. Returns what was there.
KOKKOS_INLINE_FUNCTION std::uint32_t exchange(scratch_pointer<std::uint32_t> p, std::uint32_t v) {
  std::uint32_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::exchange(p, v);))
  KOKKOS_IF_ON_HOST((old = *p.address; *p.address = v;))
  return old;
}
/// Makes the word the larger of itself and v. Returns what was there.
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

/// Sets bits of a word at once; relaxed. Returns what was there.
KOKKOS_INLINE_FUNCTION std::uint32_t fetch_or(std::uint32_t* p, std::uint32_t bits) {
  std::uint32_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::fetch_or(p, bits);))
  KOKKOS_IF_ON_HOST(
      (old = std::atomic_ref<std::uint32_t>(*p).fetch_or(bits, std::memory_order_relaxed);))
  return old;
}

/// Makes a word the larger of itself and v at once; relaxed. Returns what was there.
KOKKOS_INLINE_FUNCTION std::uint32_t fetch_max(std::uint32_t* p, std::uint32_t v) {
  std::uint32_t old = 0;
  KOKKOS_IF_ON_DEVICE((old = Kokkos::atomic_fetch_max(p, v);))
  // Kokkos' own begins with a plain read on CPUs.
  KOKKOS_IF_ON_HOST((old = load_relaxed(static_cast<std::uint32_t const*>(p)); while (old < v) {
    std::uint32_t const found = compare_and_swap(p, old, v);
    if (found == old) break;
    old = found;
  }))
  return old;
}

/// Makes a word the smaller of itself and v at once; relaxed. Returns what was there.
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

/// Adds to a word at once; relaxed. Returns what was there.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION Word fetch_add(Word* p, std::type_identity_t<Word> v) {
  Word old = 0;
  KOKKOS_IF_ON_DEVICE((old = native_device::fetch_add(p, v);))
  KOKKOS_IF_ON_HOST((old = std::atomic_ref<Word>(*p).fetch_add(v, std::memory_order_relaxed);))
  return old;
}

/// Adds to a word at once; relaxed. Cheaper than fetch_add where many add to the same word.
template <class Word>
  requires(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>)
KOKKOS_FUNCTION void add(Word* p, Word v) {
  KOKKOS_IF_ON_DEVICE((native_device::add(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*p).fetch_add(v, std::memory_order_relaxed);))
}

/// Adds to a word at once, after everything that this thread has written before.
KOKKOS_INLINE_FUNCTION void add_release(std::uint64_t* p, std::uint64_t v) {
  KOKKOS_IF_ON_DEVICE((native_device::add_release(p, v);))
  KOKKOS_IF_ON_HOST((std::atomic_ref<std::uint64_t>(*p).fetch_add(v, std::memory_order_release);))
}

/// Brings the cache line of p near, where that pays: CPUs hide memory latency so, GPUs by other
/// threads.
KOKKOS_FORCEINLINE_FUNCTION void prefetch([[maybe_unused]] void const* p) {
  KOKKOS_IF_ON_HOST((host::prefetch(p);))
}

/// Fetches an address on CPUs, and on GPUs, too, into the L2 cache: for kernels of too few threads
/// to hide latency.
KOKKOS_FORCEINLINE_FUNCTION void prefetch_far([[maybe_unused]] void const* p) {
  KOKKOS_IF_ON_DEVICE((native_device::prefetch(p);))
  KOKKOS_IF_ON_HOST((host::prefetch(p);))
}

/// How a kernel reads a table. Shared: others may change it meanwhile, every read sees the newest
/// word. Frozen: no thread does while the kernel runs, so that reads may be served by caches that
/// other threads' writes do not reach (H200, 2^27 keys at load 0.5: finds 38.4 G/s frozen, 24.5 G/s
/// shared).
enum class access { shared, frozen };

/// Reads a word that does not change meanwhile.
template <machine_word Word>
KOKKOS_FORCEINLINE_FUNCTION Word load_frozen(Word const* p) {
  return *p;
}
/// Reads N neighbouring words that do not change meanwhile, in loads of 16 bytes where the type
/// allows it.
/// Requires: p is aligned to the N words, which take 16 bytes.
template <class T, int N>
  requires(sizeof(T) == 4 || sizeof(T) == 8)
KOKKOS_FORCEINLINE_FUNCTION void load_frozen(T const* p, T (&to)[N]) {
  static_assert(N * sizeof(T) == 16);
  KOKKOS_IF_ON_DEVICE((native_device::load_16_frozen(p, to);))
  KOKKOS_IF_ON_HOST((for (int i = 0; i < N; ++i) to[i] = p[i];))
}

/// Reads the B slots of a bucket as a window. Slots are read whole; the window is no snapshot.
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
