// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

// KARPOS_STEP_FUNCTION stands before a function that a loop calls for each index, unless that
// function calls nothing itself. The function is inlined into the loop, however large the source
// is.
//
// GPUs and clang inline it by force. g++ inlines all that a loop of a CPU calls, because loops have
// the attribute flatten. If functions are inlined by force, g++ often misses what they call: it
// inlines into a loop what it has analysed already, and the order in which it analyses functions
// leaves such calls out.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
#define KARPOS_STEP_FUNCTION KOKKOS_INLINE_FUNCTION
#else
#define KARPOS_STEP_FUNCTION KOKKOS_FORCEINLINE_FUNCTION
#endif

// KARPOS_FLATTEN makes a loop on a CPU inline all calls. It is empty for sanitizers and for tests
// at -Og: without it, instrumented code compiles three times as fast.
#if !defined(KARPOS_FLATTEN)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KARPOS_FLATTEN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KARPOS_FLATTEN
#endif
#endif
#endif
#if !defined(KARPOS_FLATTEN)
#define KARPOS_FLATTEN [[gnu::flatten]]
#endif

// KARPOS_RARE_FUNCTION stands before a function that a loop calls once in thousands of indices. On
// CPUs it is not inlined into a flattened loop, so that the loop keeps its registers for the rest.
#if defined(__GNUC__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
#define KARPOS_RARE_FUNCTION [[gnu::noinline]] KOKKOS_FUNCTION
#else
#define KARPOS_RARE_FUNCTION KARPOS_STEP_FUNCTION
#endif

// KARPOS_INLINE_CALLS stands before a statement that calls a lambda, which is then inlined. clang
// applies flatten only to the calls that stand in the loop's own function.
#if defined(__clang__) && defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::always_inline)
#define KARPOS_INLINE_CALLS [[clang::always_inline]]
#endif
#endif
#if !defined(KARPOS_INLINE_CALLS)
#define KARPOS_INLINE_CALLS
#endif
