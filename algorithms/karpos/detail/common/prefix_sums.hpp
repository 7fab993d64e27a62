// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/index_range.hpp"

// Exclusive prefix sums of counts, and bits with the number of bits set before each word.

namespace karpos::detail {

/// Computes exclusive prefix sums: values[i] becomes the sum of the counts before it. The element
/// behind the last one becomes the sum of all. Counts may be the values themselves.
template <class Counts>
struct exclusive_sum {
  Counts count;
  std::uint64_t* values;
  std::uint64_t n;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& sum, bool final) const {
    std::uint64_t const value = count(i), before = sum;
    sum += value;
    if (!final) return;
    values[i] = before;
    if (i + 1 == n) values[n] = sum;
  }
};
struct values_at {
  std::uint64_t const* values;
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t i) const { return values[i]; }
};
/// Computes exclusive prefix sums of n counts. Returns the sum of all. Waits.
template <class ExecSpace, class Counts>
std::uint64_t exclusive_scan(char const* label, ExecSpace const& exec, Counts const& count,
                             std::uint64_t* values, std::uint64_t n) {
  std::uint64_t sum = 0;
  Kokkos::parallel_scan(label, index_range(exec, n), exclusive_sum<Counts>{count, values, n}, sum);
  return sum;
}
/// Computes exclusive prefix sums of n values in place. Returns the sum of all. Waits.
template <class ExecSpace>
std::uint64_t exclusive_scan(char const* label, ExecSpace const& exec, std::uint64_t* values,
                             std::uint64_t n) {
  return detail::exclusive_scan(label, exec, values_at{values}, values, n);
}

/// Bits in words of 64, and the number of bits set before each word. A loop over the words sets
/// them and counts their bits; rank() then adds up the counts.
struct ranked_bits {
  std::uint64_t *bits = nullptr, *ranks = nullptr;
  std::uint64_t words = 0;

  void allocate_from(arena& a, std::uint64_t n) {
    words = n / 64 + 1;
    a.allocate(bits, words);
    a.allocate(ranks, words + 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION void set(std::uint64_t word, std::uint64_t b) const {
    bits[word] = b;
    ranks[word] = popcount(b);
  }
  /// Computes the ranks of all words. Returns the number of bits set. Waits.
  template <class ExecSpace>
  std::uint64_t rank(char const* label, ExecSpace const& exec) const {
    return detail::exclusive_scan(label, exec, ranks, words);
  }
  /// Returns the number of bits set before bit i.
  KOKKOS_FUNCTION std::uint64_t rank(std::uint64_t i) const {
    return ranks[i / 64] + popcount(bits[i / 64] & ((std::uint64_t(1) << i % 64) - 1));
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t popcount(std::uint64_t word) {
    std::uint64_t n = word;
    KOKKOS_IF_ON_DEVICE(
        (n = static_cast<std::uint64_t>(Kokkos::Experimental::popcount_builtin(word));))
    // Without an instruction for it, compilers call a function; they find the instruction in this.
    KOKKOS_IF_ON_HOST((n -= n >> 1 & 0x5555555555555555u;
                       n = (n & 0x3333333333333333u) + (n >> 2 & 0x3333333333333333u);
                       n = ((n + (n >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;))
    return n;
  }
};

}  // namespace karpos::detail
