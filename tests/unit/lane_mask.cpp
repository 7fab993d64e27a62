// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bitset>
#include <karpos/lane_mask.hpp>
#include <type_traits>

#include "support/keys.hpp"

namespace {

using karpos::lane_mask;

static_assert(std::is_same_v<lane_mask<1>::word, std::uint32_t>);
static_assert(std::is_same_v<lane_mask<32>::word, std::uint32_t>);
static_assert(std::is_same_v<lane_mask<33>::word, std::uint64_t>);
static_assert(std::is_trivially_copyable_v<lane_mask<64>> && sizeof(lane_mask<64>) == 8);
static_assert(lane_mask<1>::all == 1 && lane_mask<31>::all == 0x7fffffffu);
static_assert(lane_mask<32>::all == 0xffffffffu && lane_mask<33>::all == 0x1ffffffffull);
static_assert(lane_mask<64>::all == ~std::uint64_t(0));
static_assert((~lane_mask<33>()).full() && !lane_mask<33>());

/// Compares the operations on one word with std::bitset.
template <int N>
void compare(std::uint64_t random) {
  using mask = lane_mask<N>;
  using word = typename mask::word;
  std::bitset<N> const expected(random);
  mask const m(static_cast<word>(expected.to_ullong()));
  bool same = m.count() == static_cast<int>(expected.count()) && bool(m) == expected.any() &&
              m.full() == expected.all() && m.bits() == expected.to_ullong() &&
              (~m).bits() == (~expected).to_ullong() && m == mask(m.bits()) && !(m == ~m);
  int below = 0;
  bool first = true;
  for (int i = 0; i < N; ++i) {
    std::size_t const position = static_cast<std::size_t>(i);
    same = same && m.test(i) == expected.test(position) && m.rank(i) == below &&
           mask::of(i).count() == 1 && mask::of(i).first() == i &&
           bool(m & mask::of(i)) == expected.test(position) && (m | mask::of(i)).test(i);
    if (expected.test(position) && first) {
      same = same && m.first() == i && m.without_first() == (m & ~mask::of(i));
      first = false;
    }
    below += expected.test(position);
  }
  INFO("N = ", N, ", bits = ", random);
  CHECK(same);
}

template <int N>
void every_operation() {
  karpos_test::random_numbers random(N);
  compare<N>(0);
  compare<N>(lane_mask<N>::all);
  for (int i = 0; i < 200; ++i) compare<N>((random() & random()) & lane_mask<N>::all);

  // Visits each set position of a mask once, in order.
  lane_mask<N> const m(static_cast<typename lane_mask<N>::word>(random() & lane_mask<N>::all));
  lane_mask<N> rest = m, walked;
  int last = -1;
  for (; rest; rest = rest.without_first()) {
    CHECK(rest.first() > last);
    last = rest.first();
    walked = walked | lane_mask<N>::of(last);
  }
  CHECK(walked == m);
}

TEST_CASE("lane_mask does what a bitset does, at the edges of its words") {
  every_operation<1>();
  every_operation<2>();
  every_operation<31>();
  every_operation<32>();
  every_operation<33>();
  every_operation<63>();
  every_operation<64>();
}

}  // namespace
