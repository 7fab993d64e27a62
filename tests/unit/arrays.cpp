// SPDX-License-Identifier: Apache-2.0
/// \file
/// The primitives that all structures use: arrays that are filled, read back and explained, and the
/// one loop of linear probing.
#include <cstdint>
#include <karpos/detail/common/arrays.hpp>
#include <karpos/detail/common/word_probing.hpp>
#include <vector>

#include "support/check.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::same;
using karpos_test::space;
using karpos_test::to_host;
using karpos_test::view;

/// Checks that a fill changes the elements [begin, begin + n) of an array, and no others.
template <class Word>
void fills_exactly(std::uint64_t begin, std::uint64_t n, Word value, Word other) {
  std::uint64_t const all = begin + n + 5;
  view<Word> const array("array", all);
  Kokkos::deep_copy(array, other);
  Kokkos::View<Word*, space::memory_space, Kokkos::MemoryUnmanaged> const part(array.data() + begin,
                                                                               n);
  karpos::detail::fill("karpos_test::fill", space{}, part, value);
  space{}.fence();
  auto const got = to_host(array);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < all; ++i)
    wrong += got[i] != (i >= begin && i < begin + n ? value : other);
  same("elements wrong after filling " + std::to_string(n) + " from " + std::to_string(begin),
       wrong, 0);
}

TEST_CASE("fill writes every element of an array, aligned or not, and nothing beside") {
  for (std::uint64_t begin = 0; begin < 5; ++begin)
    for (std::uint64_t const n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 1000, 1001, 1003}) {
      fills_exactly<std::uint32_t>(begin, n, 0x12345678u, ~0u);
      fills_exactly<std::uint64_t>(begin, n, 0x123456789abcdefull, 1);
      fills_exactly<std::uint8_t>(begin, n, 7, 9);
      fills_exactly<double>(begin, n, -0.5, 2);
    }
}

TEST_CASE("an arena adds up bytes, and says the most there can be instead of a sum that wraps") {
  std::uint32_t *few, *many, *more;
  karpos::detail::arena a;
  a.allocate(few, 65);
  CHECK(a.bytes() == 512);
  a.allocate(many, std::uint64_t(1) << 62);
  CHECK(a.bytes() >= std::uint64_t(1) << 63);
  std::size_t const most = a.bytes();
  a.allocate(more, 1);
  CHECK(a.bytes() == most);
}

/// Words that depend on their index.
struct twice_the_index {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint64_t i) const {
    return static_cast<std::uint32_t>(2 * i);
  }
};
TEST_CASE("fill_with gives every element the word for its index") {
  for (std::uint64_t const n : {0, 1, 3, 4, 5, 1001}) {
    view<std::uint32_t> const array("array", n);
    karpos::detail::fill_with("karpos_test::fill", space{}, array, twice_the_index{});
    space{}.fence();
    auto const got = to_host(array);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < n; ++i) wrong += got[i] != 2 * i;
    same("elements wrong of " + std::to_string(n), wrong, 0);
  }
}

TEST_CASE("an array that cannot be had is explained, with its bytes, its space and a way out") {
  karpos_test::throws<karpos::allocation_error>(
      [] {
        karpos::detail::allocate_or_explain<space::memory_space>(
            12345, "a test", "ask for less", []() -> int { throw std::runtime_error("none"); });
      },
      "12345 bytes", space::memory_space::name(), "a test", "ask for less", "none");
}

struct pair {
  std::uint64_t a, b;
};

TEST_CASE("an object is read back from the memory of a space") {
  view<pair> const there("pair", 3);
  auto const mirror = Kokkos::create_mirror_view(there);
  mirror(1) = {3, 4};
  Kokkos::deep_copy(there, mirror);
  pair const p = karpos::detail::read_back(space{}, there.data() + 1, "karpos_test: a pair");
  CHECK(p.a == 3);
  CHECK(p.b == 4);
}

namespace word_probing = karpos::detail::word_probing;

/// Inserts key i % distinct for every i, all with the same home slot, and counts the outcomes of
/// the probes.
struct insert_all {
  word_probing::table<std::uint32_t> table;
  std::uint32_t distinct;
  std::uint64_t first;
  view<std::uint32_t> ended;
  KOKKOS_FUNCTION void operator()(int i) const {
    std::uint32_t const key = static_cast<std::uint32_t>(i) % distinct;
    auto const p = table.insert_or_find(first, key, [&](std::uint32_t w) { return w == key; });
    Kokkos::atomic_inc(&ended(static_cast<int>(p.ended)));
  }
};

TEST_CASE("linear probing inserts each key once, wraps around, and says when it is full") {
  constexpr std::uint32_t slots = 37, none = ~0u;
  for (std::uint32_t const distinct : {1u, 36u, 37u, 50u}) {
    view<std::uint32_t> const words("words", slots), ended("ended", 7);
    Kokkos::deep_copy(words, none);
    word_probing::table<std::uint32_t> const table{words.data(), slots, none};
    int const n = 10 * static_cast<int>(distinct);
    Kokkos::parallel_for("karpos_test::probe", Kokkos::RangePolicy<space>(0, n),
                         insert_all{table, distinct, 30, ended});
    space{}.fence();
    auto const counts = to_host(ended);
    std::uint32_t const fit = Kokkos::min(distinct, slots);
    CHECK(counts[static_cast<int>(karpos::outcome::inserted)] == fit);
    CHECK(counts[static_cast<int>(karpos::outcome::absent)] == 0);
    CHECK(counts[static_cast<int>(karpos::outcome::full)] == 10 * (distinct - fit));
    CHECK(counts[static_cast<int>(karpos::outcome::found)] == 9 * fit);
  }
}

}  // namespace
