// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

// Memory accesses and tiles of the tuned native part for CUDA: intrinsics, PTX and architecture
// macros. Its teams and kernels are in cuda_program.hpp.
//
// Why PTX, and not libcu++'s atomic_ref or Kokkos' atomics: those take generic addresses, which the
// hardware tests for shared memory at every access. They also order the compiler's other accesses
// even when relaxed. Random words in the cache of an H200, PTX / Kokkos 5.0 / libcu++, G/s: loads
// 157 / 37 / 158, additions 106 / 106 / 79, additions in scratch 1,093 / 1,030 / 1,028
// (perf/measure/bench/launches.cpp).

#if defined(KOKKOS_ENABLE_CUDA)

// Unroll all rounds of a loop, or n at a time. Only the GPU's compiler sees the pragmas: g++ warns
// of pragmas that it does not know.
#if defined(__CUDA_ARCH__)
#define KARPOS_UNROLL _Pragma("unroll")
#define KARPOS_UNROLL_BY(n) KARPOS_PRAGMA(unroll n)
#define KARPOS_PRAGMA(text) _Pragma(#text)
#endif

#include <Kokkos_BitManipulation.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/device/scratch_pointer.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/device/word16.hpp"

namespace karpos::device {
namespace cuda {

/// Whether there is a compare-and-swap of 16 bytes. Known on the host as well, so that types chosen
/// by it agree between the host and the device pass.
inline constexpr bool has_compare_and_swap_16 =
#if defined(KOKKOS_ARCH_HOPPER) || defined(KOKKOS_ARCH_HOPPER90) ||        \
    defined(KOKKOS_ARCH_BLACKWELL) || defined(KOKKOS_ARCH_BLACKWELL100) || \
    defined(KOKKOS_ARCH_BLACKWELL120)
    true;
#else
    false;
#endif

#if defined(__CUDACC__)

/// Returns the address in the window of global memory: without it, loads and atomics test for
/// shared memory first.
__device__ inline std::size_t global(void const* p) { return __cvta_generic_to_global(p); }

__device__ inline int lane_id() {
  unsigned id;
  asm("mov.u32 %0, %%laneid;" : "=r"(id));
  return static_cast<int>(id);
}

// Relaxed loads at device scope: each word is read atomically. They order nothing, so that no
// "memory" is clobbered, which would make the compiler read keys and arguments again. They go to
// the L2 cache, where other multiprocessors' writes are visible.
__device__ inline std::uint32_t load_relaxed(std::uint32_t const* p) {
  std::uint32_t v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(global(p)));
  return v;
}
__device__ inline std::uint64_t load_relaxed(std::uint64_t const* p) {
  std::uint64_t v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(global(p)));
  return v;
}
__device__ inline std::uint32_t load_acquire(std::uint32_t const* p) {
  std::uint32_t v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(global(p)) : "memory");
  return v;
}
__device__ inline std::uint64_t load_acquire(std::uint64_t const* p) {
  std::uint64_t v;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(global(p)) : "memory");
  return v;
}
__device__ inline void store_relaxed(std::uint32_t* p, std::uint32_t v) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(global(p)), "r"(v) : "memory");
}
__device__ inline void store_relaxed(std::uint64_t* p, std::uint64_t v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(global(p)), "l"(v) : "memory");
}
/// Writes at the scope of all devices of the system.
__device__ inline void store_to_peer(std::uint32_t* p, std::uint32_t v) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(global(p)), "r"(v) : "memory");
}
__device__ inline void store_to_peer(std::uint64_t* p, std::uint64_t v) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(global(p)), "l"(v) : "memory");
}
__device__ inline void store_release(std::uint32_t* p, std::uint32_t v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(global(p)), "r"(v) : "memory");
}
__device__ inline void store_release(std::uint64_t* p, std::uint64_t v) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(global(p)), "l"(v) : "memory");
}
/// Reads the pair atomically or, if the GPU cannot, lo first: a reader that recognises lo sees the
/// hi that was written with it.
__device__ inline word16 load_relaxed(word16 const* p) {
  word16 w;
  if constexpr (has_compare_and_swap_16) {
    asm volatile("{ .reg .b128 v; ld.relaxed.gpu.global.b128 v, [%2]; mov.b128 {%0, %1}, v; }"
                 : "=l"(w.lo), "=l"(w.hi)
                 : "l"(global(p)));
  } else {
    w.lo = load_acquire(&p->lo);
    w.hi = load_relaxed(&p->hi);
  }
  return w;
}

/// Writes the pair atomically or, if the GPU cannot, lo last.
__device__ inline void store_pair(word16* p, word16 w) {
  if constexpr (has_compare_and_swap_16) {
    asm volatile(
        "{ .reg .b128 v; mov.b128 v, {%1, %2}; st.relaxed.gpu.global.b128 [%0], v; }" ::"l"(
            global(p)),
        "l"(w.lo), "l"(w.hi)
        : "memory");
  } else {
    store_relaxed(&p->hi, w.hi);
    store_release(&p->lo, w.lo);
  }
}

__device__ inline std::uint32_t compare_and_swap(std::uint32_t* p, std::uint32_t expected,
                                                 std::uint32_t desired) {
  std::uint32_t old;
  asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(global(p)), "r"(expected), "r"(desired)
               : "memory");
  return old;
}
__device__ inline std::uint64_t compare_and_swap(std::uint64_t* p, std::uint64_t expected,
                                                 std::uint64_t desired) {
  std::uint64_t old;
  asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(old)
               : "l"(global(p)), "l"(expected), "l"(desired)
               : "memory");
  return old;
}
__device__ inline word16 compare_and_swap([[maybe_unused]] word16* p,
                                          [[maybe_unused]] word16 expected,
                                          [[maybe_unused]] word16 desired) {
  word16 old{};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .b128 c, d, o; mov.b128 c, {%3, %4}; mov.b128 d, {%5, %6};"
      "  atom.relaxed.gpu.global.cas.b128 o, [%2], c, d; mov.b128 {%0, %1}, o; }"
      : "=l"(old.lo), "=l"(old.hi)
      : "l"(global(p)), "l"(expected.lo), "l"(expected.hi), "l"(desired.lo), "l"(desired.hi)
      : "memory");
#endif
  return old;
}

__device__ inline std::uint32_t compare_and_swap_acquire(std::uint32_t* p, std::uint32_t expected,
                                                         std::uint32_t desired) {
  std::uint32_t old;
  asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(global(p)), "r"(expected), "r"(desired)
               : "memory");
  return old;
}
__device__ inline std::uint64_t compare_and_swap_acquire(std::uint64_t* p, std::uint64_t expected,
                                                         std::uint64_t desired) {
  std::uint64_t old;
  asm volatile("atom.acquire.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(old)
               : "l"(global(p)), "l"(expected), "l"(desired)
               : "memory");
  return old;
}

/// Sets bits by a reduction instruction: unlike Kokkos::atomic_or it returns nothing, and so waits
/// for nothing.
__device__ inline void set_bits(std::uint32_t* p, std::uint32_t bits) {
  asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(global(p)), "r"(bits) : "memory");
}
__device__ inline void set_bits_of_peer(std::uint32_t* p, std::uint32_t bits) {
  asm volatile("red.relaxed.sys.global.or.b32 [%0], %1;" ::"l"(global(p)), "r"(bits) : "memory");
}
__device__ inline void set_bits(std::uint64_t* p, std::uint64_t bits) {
  asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;" ::"l"(global(p)), "l"(bits) : "memory");
}
__device__ inline double rounded_product(double a, double b) { return __dmul_rn(a, b); }
template <class T>
__device__ inline T opaque(T const& x) {
  if constexpr (sizeof(T) % sizeof(std::uint32_t) != 0) {
    return x;
  } else {
    struct words {
      std::uint32_t of[sizeof(T) / sizeof(std::uint32_t)];
    };
    auto w = Kokkos::bit_cast<words>(x);
    for (std::uint32_t& word : w.of) asm volatile("" : "+r"(word));
    return Kokkos::bit_cast<T>(w);
  }
}
__device__ inline void clear_bits(std::uint32_t* p, std::uint32_t bits) {
  asm volatile("red.relaxed.gpu.global.and.b32 [%0], %1;" ::"l"(global(p)), "r"(~bits) : "memory");
}
__device__ inline void toggle_bits_release(std::uint64_t* p, std::uint64_t bits) {
  asm volatile("red.release.gpu.global.xor.b64 [%0], %1;" ::"l"(global(p)), "l"(bits) : "memory");
}
__device__ inline std::uint64_t fetch_or_acquire(std::uint64_t* p, std::uint64_t bits) {
  std::uint64_t old;
  asm volatile("atom.acquire.gpu.global.or.b64 %0, [%1], %2;"
               : "=l"(old)
               : "l"(global(p)), "l"(bits)
               : "memory");
  return old;
}
/// Acquires, which orders it after the reads that it depends on: an atomic operation is performed
/// in the L2 cache, once the results that it depends on have come from there. A release would cost
/// as much as another atomic operation (docs/design/hopscotch.md, "Beyond the letter").
template <class Word>
__device__ inline Word compare_and_swap_after_reads(Word* p, Word expected, Word desired) {
  return compare_and_swap_acquire(p, expected, desired);
}
__device__ inline void acquire_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ inline void release_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ inline void fence_seq_cst() { asm volatile("fence.sc.gpu;" ::: "memory"); }
/// Does nothing: the L2 cache has served reads whose values were used ("Beyond the letter" again).
__device__ inline void order_used_reads() {}
__device__ inline void sleep(unsigned nanoseconds) { __nanosleep(nanoseconds); }

__device__ inline std::uint32_t fetch_or(std::uint32_t* p, std::uint32_t bits) {
  std::uint32_t old;
  asm volatile("atom.relaxed.gpu.global.or.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(global(p)), "r"(bits)
               : "memory");
  return old;
}
__device__ inline std::uint32_t fetch_min(std::uint32_t* p, std::uint32_t v) {
  std::uint32_t old;
  asm volatile("atom.relaxed.gpu.global.min.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(global(p)), "r"(v)
               : "memory");
  return old;
}
__device__ inline std::uint64_t fetch_min(std::uint64_t* p, std::uint64_t v) {
  std::uint64_t old;
  asm volatile("atom.relaxed.gpu.global.min.u64 %0, [%1], %2;"
               : "=l"(old)
               : "l"(global(p)), "l"(v)
               : "memory");
  return old;
}
/// Reads at the scope of a block: the L1 cache may answer.
__device__ inline std::uint32_t load_cached(std::uint32_t const* p) {
  std::uint32_t r;
  asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(r) : "l"(global(p)) : "memory");
  return r;
}
__device__ inline std::uint64_t load_cached(std::uint64_t const* p) {
  std::uint64_t r;
  asm volatile("ld.relaxed.cta.global.u64 %0, [%1];" : "=l"(r) : "l"(global(p)) : "memory");
  return r;
}
__device__ inline std::uint32_t fetch_add(std::uint32_t* p, std::uint32_t v) {
  std::uint32_t old;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(global(p)), "r"(v)
               : "memory");
  return old;
}
__device__ inline std::uint64_t fetch_add(std::uint64_t* p, std::uint64_t v) {
  std::uint64_t r;
  asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
               : "=l"(r)
               : "l"(global(p)), "l"(v)
               : "memory");
  return r;
}
__device__ inline void add(std::uint32_t* p, std::uint32_t v) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(global(p)), "r"(v) : "memory");
}
__device__ inline void add(std::uint64_t* p, std::uint64_t v) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(global(p)), "l"(v) : "memory");
}

__device__ inline void add_release(std::uint64_t* p, std::uint64_t v) {
  asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(global(p)), "l"(v) : "memory");
}

__device__ inline unsigned shared(void const* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ inline void set_bits(scratch_pointer<std::uint32_t> p, std::uint32_t bits) {
  asm volatile("red.relaxed.cta.shared.or.b32 [%0], %1;" ::"r"(shared(p.address)), "r"(bits)
               : "memory");
}
__device__ inline std::uint32_t load_relaxed(scratch_pointer<std::uint32_t> p) {
  std::uint32_t r;
  asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(r) : "r"(shared(p.address)) : "memory");
  return r;
}
__device__ inline std::uint32_t fetch_add(scratch_pointer<std::uint32_t> p, std::uint32_t v) {
  std::uint32_t r;
  asm volatile("atom.relaxed.cta.shared.add.u32 %0, [%1], %2;"
               : "=r"(r)
               : "r"(shared(p.address)), "r"(v)
               : "memory");
  return r;
}
__device__ inline void add(scratch_pointer<std::uint32_t> p, std::uint32_t v) {
  asm volatile("red.relaxed.cta.shared.add.u32 [%0], %1;" ::"r"(shared(p.address)), "r"(v)
               : "memory");
}
__device__ inline std::uint32_t exchange(scratch_pointer<std::uint32_t> p, std::uint32_t v) {
  std::uint32_t r;
  asm volatile("atom.relaxed.cta.shared.exch.b32 %0, [%1], %2;"
               : "=r"(r)
               : "r"(shared(p.address)), "r"(v)
               : "memory");
  return r;
}
__device__ inline std::uint32_t fetch_max(scratch_pointer<std::uint32_t> p, std::uint32_t v) {
  std::uint32_t r;
  asm volatile("atom.relaxed.cta.shared.max.u32 %0, [%1], %2;"
               : "=r"(r)
               : "r"(shared(p.address)), "r"(v)
               : "memory");
  return r;
}
__device__ inline std::uint32_t compare_and_swap(scratch_pointer<std::uint32_t> p,
                                                 std::uint32_t expected, std::uint32_t desired) {
  std::uint32_t old;
  asm volatile("atom.relaxed.cta.shared.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "r"(shared(p.address)), "r"(expected), "r"(desired)
               : "memory");
  return old;
}
__device__ inline std::uint64_t load_relaxed(scratch_pointer<std::uint64_t> p) {
  std::uint64_t r;
  asm volatile("ld.relaxed.cta.shared.u64 %0, [%1];" : "=l"(r) : "r"(shared(p.address)) : "memory");
  return r;
}
__device__ __forceinline__ void load_relaxed(scratch_pointer<std::uint32_t> p,
                                             std::uint32_t (&to)[4]) {
  asm volatile("ld.relaxed.cta.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared(p.address))
               : "memory");
}
__device__ __forceinline__ void load_relaxed(scratch_pointer<std::uint64_t> p,
                                             std::uint64_t (&to)[2]) {
  asm volatile("ld.relaxed.cta.shared.v2.u64 {%0, %1}, [%2];"
               : "=l"(to[0]), "=l"(to[1])
               : "r"(shared(p.address))
               : "memory");
}
__device__ inline void add(scratch_pointer<std::uint64_t> p, std::uint64_t v) {
  asm volatile("red.relaxed.cta.shared.add.u64 [%0], %1;" ::"r"(shared(p.address)), "l"(v)
               : "memory");
}
__device__ inline std::uint64_t compare_and_swap(scratch_pointer<std::uint64_t> p,
                                                 std::uint64_t expected, std::uint64_t desired) {
  std::uint64_t old;
  asm volatile("atom.relaxed.cta.shared.cas.b64 %0, [%1], %2, %3;"
               : "=l"(old)
               : "r"(shared(p.address)), "l"(expected), "l"(desired)
               : "memory");
  return old;
}
/// Appends with one addition for a warp, all of whose threads take part.
__device__ inline std::uint32_t append_in_block(std::uint32_t* counter, bool yes) {
  unsigned const members = __ballot_sync(~0u, yes);
  if (members == 0) return 0;
  int const first = __ffs(static_cast<int>(members)) - 1, lane = lane_id();
  std::uint32_t at = 0;
  if (lane == first) at = fetch_add(scratch(counter), static_cast<std::uint32_t>(__popc(members)));
  at = __shfl_sync(~0u, at, first);
  return at + static_cast<std::uint32_t>(__popc(members & ((1u << lane) - 1)));
}

/// Reads B slots with 128-bit loads. Each aligned slot of 4 or 8 bytes is read atomically (PTX: a
/// vector access is a set of scalar accesses). Relaxed loads bypass the L1 cache, so that a 32-byte
/// bucket costs two requests to the L2. Frozen reads take the second half from the L1.
template <bool Frozen, int B, class Word>
__device__ inline void load_bucket(Word const* bucket, Word (&slots)[B]) {
  if constexpr (Frozen && sizeof(Word) >= 8 && sizeof(slots) % 16 == 0) {
    auto const* const from = reinterpret_cast<std::uint64_t const*>(bucket);
    auto* const to = reinterpret_cast<std::uint64_t*>(slots);
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(slots) / 8); i += 2)
      asm volatile("ld.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(to[i]), "=l"(to[i + 1])
                   : "l"(global(from + i)));
  } else if constexpr (Frozen && sizeof(slots) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < B; i += 4)
      asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(slots[i]), "=r"(slots[i + 1]), "=r"(slots[i + 2]), "=r"(slots[i + 3])
                   : "l"(global(bucket + i)));
  } else if constexpr (sizeof(Word) == 8 && B % 2 == 0) {
    for (int i = 0; i < B; i += 2)
      asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(slots[i]), "=l"(slots[i + 1])
                   : "l"(global(bucket + i)));
  } else if constexpr (sizeof(Word) == 4 && B % 4 == 0) {
    for (int i = 0; i < B; i += 4)
      asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(slots[i]), "=r"(slots[i + 1]), "=r"(slots[i + 2]), "=r"(slots[i + 3])
                   : "l"(global(bucket + i)));
  } else {
    for (int i = 0; i < B; ++i) slots[i] = load_relaxed(bucket + i);
  }
}

__device__ inline void prefetch(void const* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(global(p)));
}

template <class T, int N>
__device__ __forceinline__ void load_16_frozen(T const* p, T (&to)[N]) {
  uint4 const v = *reinterpret_cast<uint4 const*>(p);
  if constexpr (sizeof(T) == 4) {
    to[0] = static_cast<T>(v.x);
    to[1] = static_cast<T>(v.y);
    to[2] = static_cast<T>(v.z);
    to[3] = static_cast<T>(v.w);
  } else {
    to[0] = static_cast<T>(std::uint64_t(v.y) << 32 | v.x);
    to[1] = static_cast<T>(std::uint64_t(v.w) << 32 | v.z);
  }
}

template <int N, class T>
__device__ __forceinline__ void load_streamed(T const* p, T* to) {
  constexpr int each = sizeof(T) <= 16 ? 16 / static_cast<int>(sizeof(T)) : 1;
  if constexpr (sizeof(T) * each == 16 && N % each == 0) {
    struct piece {
      T of[each];
    };
    if (reinterpret_cast<std::uintptr_t>(p) % 16 == 0) {
#pragma unroll
      for (int i = 0; i < N; i += each) {
        auto const v = Kokkos::bit_cast<piece>(__ldcs(reinterpret_cast<uint4 const*>(p + i)));
#pragma unroll
        for (int k = 0; k < each; ++k) to[i + k] = v.of[k];
      }
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = p[i];
}

/// Returns the number of threads of the block for which `yes` holds. All threads of the block take
/// part.
__device__ inline int count_in_block(bool yes) { return __syncthreads_count(yes); }

/// Returns lane i's value of any trivially copyable type, in 32-bit pieces, among the named members
/// only.
template <class V>
__device__ inline V shuffle(V const& v, int lane, int width, unsigned members) {
  static_assert(std::is_trivially_copyable_v<V>);
  constexpr int pieces = (sizeof(V) + 3) / 4;
  union exchange {
    __device__ exchange() : words{} {}
    int words[pieces];
    V value;
  } e;
  e.value = v;
  for (int i = 0; i < pieces; ++i) e.words[i] = __shfl_sync(members, e.words[i], lane, width);
  return e.value;
}

/// Returns the sum of v over this lane and the lanes of the tile below it, by doubling the
/// distance.
template <class V>
__device__ inline V inclusive_sum(V v, int lane, int width, unsigned members) {
  for (int d = 1; d < width; d *= 2) {
    V const below = __shfl_up_sync(members, v, d, width);
    if (lane >= d) v += below;
  }
  return v;
}

__device__ inline void block_barrier() { __syncthreads(); }
__device__ inline bool any_in_block(bool yes) { return __syncthreads_or(yes) != 0; }

/// Returns the sum of v over the threads of a block before this one; `total` is the sum over all.
/// `words` are 33 words of shared memory.
__device__ inline std::uint64_t block_prefix_sum(std::uint64_t v, int thread, int threads,
                                                 std::uint64_t* words, std::uint64_t& total) {
  int const lane = thread % 32;
  std::uint64_t const in_warp = inclusive_sum(v, lane, 32, ~0u);
  if (lane == 31) words[thread / 32] = in_warp;
  __syncthreads();
  if (thread < 32) {
    std::uint64_t const warp = thread < threads / 32 ? words[thread] : 0;
    std::uint64_t const up_to = inclusive_sum(warp, lane, 32, ~0u);
    words[thread] = up_to - warp;
    if (thread == 31) words[32] = up_to;
  }
  __syncthreads();
  std::uint64_t const before = words[thread / 32] + in_warp - v;
  total = words[32];
  __syncthreads();
  return before;
}

/// Returns the count of a grid barrier before a launch: fewer than `blocks` blocks have arrived
/// since.
__device__ __forceinline__ std::uint64_t arrivals_before(std::uint64_t const* arrived,
                                                         unsigned blocks) {
  return load_relaxed(arrived) / blocks * blocks;
}
/// Grid barrier: waits until every block has called it as often as this one. Then runs then() on
/// thread 0, while the other threads of the block still wait. *arrivals counts the arrivals of all
/// blocks up to the previous barrier.
///
/// Makes all writes of all blocks before the barrier visible after it: thread 0 releases those of
/// its block, and acquires those of the other blocks, which also empties the L1 cache.
template <class Then>
__device__ __forceinline__ void grid_barrier(std::uint64_t* arrived, std::uint64_t* arrivals,
                                             unsigned blocks, Then const& then) {
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("red.release.gpu.global.add.u64 [%0], 1;" ::"l"(global(arrived)) : "memory");
    std::uint64_t const all = *arrivals + blocks;
    *arrivals = all;
    while (load_acquire(arrived) < all) {
    }
    then();
  }
  __syncthreads();
}

#endif  // __CUDACC__

/// W lanes of a warp: one Kokkos "thread" of a TeamPolicy with vector length W, or any W
/// neighbouring threads of a block whose index space is aligned to W. The lane is taken from the
/// hardware, because a RangePolicy launches blocks of shape (1, N, 1).
template <int W>
  requires(W >= 1 && W <= 32)
class warp_tile {
 public:
  static constexpr int width = W;

  template <class V>
  struct varying {
    V mine;
    KOKKOS_FUNCTION V const& operator[](int) const { return mine; }
  };

  /// Finds this thread's lane and the members of its tile. A whole warp names its members by a
  /// constant. For other members the compiler must ask, at each synchronisation, whether all of
  /// them name the same.
  KOKKOS_FUNCTION warp_tile() {
    KOKKOS_IF_ON_DEVICE((int const id = lane_id(); m_lane = W == 32 ? id : id % W;
                         m_shift = W == 32 ? 0 : id - m_lane;
                         m_members = static_cast<unsigned>(lane_mask<W>::all) << m_shift;))
  }

  template <class P>
  KOKKOS_FUNCTION lane_mask<W> ballot(P const& p) const {
    [[maybe_unused]] bool const mine = p(m_lane);
    unsigned bits = 0;
    KOKKOS_IF_ON_DEVICE((bits = (__ballot_sync(m_members, mine) >> m_shift) & lane_mask<W>::all;))
    return lane_mask<W>(bits);
  }
  template <class F>
  KOKKOS_FUNCTION auto each(F const& f) const {
    if constexpr (std::is_void_v<decltype(f(0))>)
      f(m_lane);
    else
      return varying<std::decay_t<decltype(f(0))>>{f(m_lane)};
  }
  template <class V>
  KOKKOS_FUNCTION V get(varying<V> const& v, [[maybe_unused]] int lane) const {
    V r = v.mine;
    KOKKOS_IF_ON_DEVICE((r = shuffle(v.mine, lane, W, m_members);))
    return r;
  }
  template <class V, class From>
  KOKKOS_FUNCTION varying<V> gather(varying<V> const& v, From const& from) const {
    varying<V> r{v};
    [[maybe_unused]] int const lane = from(m_lane);
    KOKKOS_IF_ON_DEVICE((r.mine = shuffle(v.mine, lane, W, m_members);))
    return r;
  }
  template <class F>
  KOKKOS_FUNCTION auto once(F const& f) const {
    if constexpr (std::is_void_v<decltype(f())>) {
      once([&] {
        f();
        return 0;
      });
    } else {
      std::decay_t<decltype(f())> r{};
      if (m_lane == 0) r = f();
      // A shuffle orders no memory. After __syncwarp, the other lanes see what lane 0 wrote.
      KOKKOS_IF_ON_DEVICE((r = shuffle(r, 0, W, m_members); __syncwarp(m_members);))
      return r;
    }
  }
  template <class F>
  KOKKOS_FUNCTION void on(lane_mask<W> m, F const& f) const {
    if (m.test(m_lane)) f(m_lane);
    sync();
  }
  template <class V>
  KOKKOS_FUNCTION prefix_sums<varying<V>, V> prefix_sum(varying<V> const& v) const {
    prefix_sums<varying<V>, V> r{v, v.mine};
    KOKKOS_IF_ON_DEVICE((V const sum = inclusive_sum(v.mine, m_lane, W, m_members);
                         r.before.mine = sum - v.mine;
                         r.total = shuffle(sum, W - 1, W, m_members);))
    return r;
  }
  KOKKOS_FUNCTION void sync() const { KOKKOS_IF_ON_DEVICE((__syncwarp(m_members);)) }

 private:
  int m_lane = 0, m_shift = 0;
  unsigned m_members = 0;
};

}  // namespace cuda
}  // namespace karpos::device

#endif  // KOKKOS_ENABLE_CUDA
