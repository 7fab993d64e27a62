// SPDX-License-Identifier: Apache-2.0
/// \file
/// Atomic access to words of 4, 8 and 16 bytes, on the host and in kernels.
#include <doctest/doctest.h>

#include <algorithm>
#include <karpos/device/atomics.hpp>

#include "support/check.hpp"
#include "support/space.hpp"

namespace {

using karpos::device::bits128;
using karpos::device::word16;
using karpos_test::space;
using karpos_test::view;

static_assert(karpos::device::is_lock_free<4, space> && karpos::device::is_lock_free<8, space>);
static_assert(!karpos::device::is_lock_free<2, space> && !karpos::device::is_lock_free<32, space>);
static_assert(karpos::device::has_wide_cas<Kokkos::DefaultHostExecutionSpace> ==
              karpos::device::host::has_compare_and_swap_16);
static_assert(!karpos::device::is_device<Kokkos::DefaultHostExecutionSpace> &&
              karpos::device::warp_width<Kokkos::DefaultHostExecutionSpace> == 1);
static_assert(sizeof(karpos::device::word16) == 16 && alignof(karpos::device::word16) == 16);
static_assert(karpos::device::machine_word<karpos::device::word16> &&
              !karpos::device::machine_word<int>);

template <class Word>
KOKKOS_FUNCTION constexpr Word word_of(std::uint64_t x) {
  if constexpr (std::is_same_v<Word, bits128>)
    return {{x, 3 * x}};
  else if constexpr (std::is_same_v<Word, karpos::device::word16>)
    return {x, 3 * x};
  else
    return static_cast<Word>(x);
}

/// Tries every operation on a word that one thread owns. Returns: how many answers were wrong.
template <class Word>
KOKKOS_FUNCTION int misbehaviours(Word* p, std::uint64_t x) {
  int wrong = 0;
  if constexpr (sizeof(Word) <= 8) {
    karpos::device::store_relaxed(p, word_of<Word>(x));
    wrong += !(karpos::device::load_relaxed(p) == word_of<Word>(x));
    karpos::device::store_release(p, word_of<Word>(x + 1));
    wrong += !(karpos::device::load_acquire(p) == word_of<Word>(x + 1));
  } else {
    *p = word_of<Word>(x + 1);
    wrong += !(karpos::device::load_relaxed(p) == word_of<Word>(x + 1));
  }
  // If the expectation is wrong, the word is unchanged and its value returned.
  wrong += !(karpos::device::compare_and_swap(p, word_of<Word>(x), word_of<Word>(x + 2)) ==
             word_of<Word>(x + 1));
  wrong += !(karpos::device::load_relaxed(p) == word_of<Word>(x + 1));
  wrong += !(karpos::device::compare_and_swap(p, word_of<Word>(x + 1), word_of<Word>(x + 2)) ==
             word_of<Word>(x + 1));
  wrong += !(karpos::device::load_relaxed(p) == word_of<Word>(x + 2));
  if constexpr (std::is_same_v<Word, karpos::device::word16>) {
    // One half that differs suffices to refuse; an exchange replaces both halves.
    karpos::device::word16 const half_right{x + 2, 3 * (x + 2) + 1};
    wrong += !(karpos::device::compare_and_swap(p, half_right, word_of<Word>(x)) ==
               word_of<Word>(x + 2));
    wrong += !(karpos::device::load_relaxed(p) == word_of<Word>(x + 2));
    // Each half is a word of its own: a slot's key is erased without its value.
    wrong += karpos::device::compare_and_swap(&p->lo, x + 2, x + 9) != x + 2;
    wrong += !(karpos::device::load_relaxed(p) == karpos::device::word16{x + 9, 3 * (x + 2)});
  }
  return wrong;
}

template <class Word>
struct misbehaviour_kernel {
  view<Word> words;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, int& wrong) const {
    wrong += misbehaviours(&words(i), i * 0x100000001ULL);
  }
};

/// Writes pairs whose halves belong together, and reads them.
struct pair_kernel {
  view<word16> pairs;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, int& wrong) const {
    karpos::device::store_pair(&pairs(i), {i + 1, 3 * i});
    wrong += !(karpos::device::load_relaxed(&pairs(i)) == word16{i + 1, 3 * i});
  }
};

TEST_CASE("a pair is written as it is read") {
  int wrong = -1;
  Kokkos::parallel_reduce("karpos_test::pairs", Kokkos::RangePolicy<space>(0, 1000),
                          pair_kernel{view<word16>("karpos_test::pairs", 1000)}, wrong);
  CHECK(wrong == 0);
}

/// Adds one to each of a few words by compare-and-swap, from all threads.
template <class Word>
struct increment_kernel {
  view<Word> words;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, int& torn) const {
    Word* const p = &words(i % words.extent(0));
    Word seen = karpos::device::load_relaxed(p);
    while (true) {
      Word next{};
      if constexpr (std::is_base_of_v<word16, Word>)
        static_cast<word16&>(next) = {seen.lo + 1, seen.hi + 3};
      else
        next = static_cast<Word>(seen + 1);
      Word const before = karpos::device::compare_and_swap(p, seen, next);
      if constexpr (std::is_base_of_v<word16, Word>) torn += before.hi != 3 * before.lo;
      if constexpr (std::is_same_v<Word, bits128>) {
        bits128 const read = karpos::device::load_relaxed(p);
        torn += read.hi != 3 * read.lo;
      }
      if (before == seen) return;
      seen = before;
    }
  }
};

template <class Word>
void each_alone() {
  Word on_host{};
  if constexpr (karpos::device::is_lock_free<sizeof(Word), Kokkos::DefaultHostExecutionSpace>)
    CHECK(misbehaviours(&on_host, 0xfedcba9876543210ULL) == 0);
  if constexpr (karpos::device::is_lock_free<sizeof(Word), space>) {
    view<Word> const words("karpos_test::words", 1000);
    int wrong = -1;
    Kokkos::parallel_reduce("karpos_test::misbehaviours", Kokkos::RangePolicy<space>(0, 1000),
                            misbehaviour_kernel<Word>{words}, wrong);
    CHECK(wrong == 0);
  } else {
    MESSAGE("skipped: no compare-and-swap of ", sizeof(Word), " bytes on " KARPOS_TEST_SPACE_NAME);
  }
}

template <class Word>
void together() {
  if constexpr (karpos::device::is_lock_free<sizeof(Word), space>) {
    constexpr std::uint64_t n = 60000, hot = 3;
    view<Word> const words("karpos_test::words", hot);
    int torn = -1;
    Kokkos::parallel_reduce("karpos_test::increments", Kokkos::RangePolicy<space>(0, n),
                            increment_kernel<Word>{words}, torn);
    CHECK(torn == 0);
    for (Word const& w : karpos_test::to_host(words)) CHECK(bool(w == word_of<Word>(n / hot)));
  } else {
    MESSAGE("skipped: no compare-and-swap of ", sizeof(Word), " bytes on " KARPOS_TEST_SPACE_NAME);
  }
}

/// Sets a bit, claims a ticket and adds to two sums, in each thread.
struct read_modify_write {
  view<std::uint32_t> bits, tickets, sum32;
  view<std::uint64_t> sum64;
  KOKKOS_FUNCTION void operator()(int i, int& wrong) const {
    auto const u = static_cast<std::uint32_t>(i);
    std::uint32_t const bit = std::uint32_t(1) << (u % 32);
    if ((karpos::device::fetch_or(&bits(u / 32), bit) & bit) != 0) ++wrong;
    if ((karpos::device::fetch_or(&bits(u / 32), bit) & bit) == 0) ++wrong;
    std::uint32_t const ticket = karpos::device::fetch_add(&tickets(0), 1);
    karpos::device::store_relaxed(&tickets(1 + ticket), u + 1);
    karpos::device::add(&sum32(0), u);
    karpos::device::add(&sum64(0), static_cast<std::uint64_t>(i) << 20);
  }
};

TEST_CASE("fetch_or, karpos::device::fetch_add and add lose nothing") {
  constexpr std::uint32_t n = 64000;
  read_modify_write const kernel{view<std::uint32_t>("bits", n / 32),
                                 view<std::uint32_t>("tickets", n + 1),
                                 view<std::uint32_t>("sum32", 1), view<std::uint64_t>("sum64", 1)};
  int wrong = -1;
  Kokkos::parallel_reduce("karpos_test::read_modify_write", Kokkos::RangePolicy<space>(0, int(n)),
                          kernel, wrong);
  CHECK(wrong == 0);
  for (std::uint32_t const w : karpos_test::to_host(kernel.bits)) CHECK(w == ~0u);
  auto taken = karpos_test::to_host(kernel.tickets);
  CHECK(taken[0] == n);
  std::sort(taken.begin() + 1, taken.end());
  for (std::uint32_t i = 0; i < n; ++i) CHECK(taken[1 + i] == i + 1);
  std::uint64_t const sum = std::uint64_t(n) * (n - 1) / 2;
  CHECK(karpos_test::to_host(kernel.sum32)[0] == static_cast<std::uint32_t>(sum));
  CHECK(karpos_test::to_host(kernel.sum64)[0] == sum << 20);
}

TEST_CASE("a word of one thread") {
  each_alone<std::uint32_t>();
  each_alone<std::uint64_t>();
  each_alone<karpos::device::word16>();
  each_alone<bits128>();
}

TEST_CASE("increments by compare-and-swap from all threads lose nothing") {
  together<std::uint32_t>();
  together<std::uint64_t>();
  together<karpos::device::word16>();
  together<bits128>();
}

}  // namespace
