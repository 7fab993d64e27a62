// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tiles (cooperative groups) and windows of every width. The tuned tile of the space under test
/// must do what the portable reference tile does on the host, while other tiles of the same warp do
/// different work.
#include <doctest/doctest.h>

#include <karpos/device/atomics.hpp>
#include <karpos/device/launch.hpp>
#include <karpos/hash.hpp>

#include "support/check.hpp"
#include "support/space.hpp"

namespace {

using karpos::device::word16;
using karpos_test::space;
using karpos_test::view;

static_assert(karpos::device::tile<karpos::device::tile_for<space, 1>> &&
              karpos::device::tile<karpos::device::tile_for<space, 2>> &&
              karpos::device::tile<karpos::device::tile_for<space, 32>>);
static_assert(karpos::device::tile<karpos::device::reference_tile<64>>);
static_assert(karpos::device::tile<karpos::device::thread_tile> &&
              karpos::device::thread_tile::width == 1);
static_assert(karpos::device::tile_for<space, 16>::width == 16);
static_assert(!karpos::device::tile<int> &&
              !karpos::device::tile<karpos::device::reference_tile<3>>);

KOKKOS_FUNCTION constexpr std::uint64_t noise(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return karpos::mix(karpos::mix(a * 1000003 + b) + c);
}

/// Three words, so that shuffles of odd sizes are tested.
struct triple {
  std::uint32_t x, y, z;
};

constexpr int max_lanes = 64;

/// Exercises every function of a tile, a different number of times on each tile. If lanes disagreed
/// about a uniform result, the digests would differ or the kernel would hang.
struct exercise {
  std::uint64_t* digests;    ///< one for each tile
  std::uint32_t* counters;   ///< one for each tile: how often `once` ran
  std::uint32_t* lane_hits;  ///< max_lanes for each tile: how often `on` reached the lane
  std::uint32_t* agreed;     ///< one for each tile: lanes that agree about the digest

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    constexpr int width = Tile::width;
    using mask = karpos::lane_mask<width>;
    std::uint64_t digest = i;
    int const rounds = 1 + static_cast<int>(noise(i, 0, 0) % 9);
    for (int round = 0; round < rounds; ++round) {
      std::uint64_t const r = static_cast<std::uint64_t>(round);
      mask const m = t.ballot([&](int lane) { return (noise(i, r, 1) >> (lane % 64) & 1) != 0; });
      digest = karpos::mix(digest + m.bits());

      auto const numbers =
          t.each([&](int lane) { return noise(i, r, 100 + static_cast<std::uint64_t>(lane)); });
      digest = karpos::mix(digest + t.get(numbers, round % width));
      digest = karpos::mix(digest + t.get(numbers, width - 1));
      auto const sums = t.prefix_sum(numbers);
      digest = karpos::mix(digest + sums.total + t.get(sums.before, width - 1));
      auto const others = t.gather(numbers, [&](int lane) { return (lane * 5 + round) % width; });
      digest = karpos::mix(digest + t.get(others, width / 2));
      digest +=
          t.ballot([&](int lane) { return (sums.before[lane] ^ others[lane]) % 2 == 0; }).bits();
      // Each lane's own value must be unchanged.
      digest += t.ballot([&](int lane) { return numbers[lane] % 2 == 0; }).bits();

      auto const words = t.each([&](int lane) {
        return karpos::device::word16{r, i + static_cast<std::uint64_t>(lane) * 0x100000000ULL};
      });
      digest = karpos::mix(digest + t.get(words, (width - 1) / 2).hi + t.get(words, 0).lo);
      auto const triples = t.each([&](int lane) {
        return triple{static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(r), 77u};
      });
      triple const middle = t.get(triples, width / 2);
      digest = karpos::mix(digest + middle.x + 10 * middle.y + 100 * middle.z);
      auto const flags = t.each([&](int lane) { return lane % 3 == 0; });
      digest += t.get(flags, width - 1);

      digest += t.once([&] { return Kokkos::atomic_fetch_add(&counters[i], 1u); });
      if (m) {  // uniform: every lane takes the same branch
        t.on(m, [&](int lane) {
          Kokkos::atomic_inc(&lane_hits[i * max_lanes + static_cast<std::uint64_t>(lane)]);
        });
        digest += static_cast<std::uint64_t>(m.first());
      }
      t.sync();
    }
    auto const digest_of_lane = t.each([&](int) { return digest; });
    std::uint64_t const other = t.get(digest_of_lane, width - 1);
    mask const agreeing = t.ballot([&](int) { return other == digest; });
    t.once([&] {
      digests[i] = digest;
      agreed[i] = static_cast<std::uint32_t>(agreeing.count());
      return true;
    });
  }
};

/// Runs the reference tile of width W in one thread of a kernel.
template <int W>
struct by_reference {
  exercise body;
  KOKKOS_FUNCTION void operator()(karpos::device::thread_tile const&, std::uint64_t i) const {
    body(karpos::device::reference_tile<W>{}, i);
  }
};

struct results {
  explicit results(std::uint64_t n)
      : digests("digests", n),
        counters("counters", n),
        lane_hits("hits", max_lanes * n),
        agreed("agreed", n) {}
  exercise body() const {
    return {digests.data(), counters.data(), lane_hits.data(), agreed.data()};
  }
  view<std::uint64_t> digests;
  view<std::uint32_t> counters, lane_hits, agreed;
};

template <int W>
void conforms() {
  constexpr std::uint64_t n = 1000;
  std::vector<std::uint64_t> digests(n);
  std::vector<std::uint32_t> counters(n), hits(max_lanes * n), agreed(n);
  exercise const on_host{digests.data(), counters.data(), hits.data(), agreed.data()};
  for (std::uint64_t i = 0; i < n; ++i) on_host(karpos::device::reference_tile<W>{}, i);

  results const tuned(n), reference(n);
  karpos::device::for_each_tile<W>("karpos_test::tile", space{}, n, tuned.body());
  karpos::device::for_each_tile<1>("karpos_test::reference_tile", space{}, n,
                                   by_reference<W>{reference.body()});
  INFO("W = ", W);
  CHECK(karpos_test::to_host(tuned.digests) == digests);
  CHECK(karpos_test::to_host(tuned.counters) == counters);
  CHECK(karpos_test::to_host(tuned.lane_hits) == hits);
  CHECK(karpos_test::to_host(tuned.agreed) == std::vector<std::uint32_t>(n, W));
  CHECK(karpos_test::to_host(reference.digests) == digests);
  CHECK(karpos_test::to_host(reference.lane_hits) == hits);
}

TEST_CASE("tiles of every width do what the reference tile does") {
  conforms<1>();
  conforms<2>();
  conforms<4>();
  conforms<8>();
  conforms<16>();
  conforms<32>();
  // Tiles of 64 lanes, for warps of 64, are tested only where a tile is a loop in one thread.
  if constexpr (karpos::device::warp_width<space> == 1) conforms<64>();
}

/// Reads bucket i through windows of W, 2W, 4W and 16 slots for tiles of W lanes, and counts the
/// differences from a plain read.
template <class Word>
struct read_windows {
  Word const* words;
  std::uint64_t size;
  std::uint32_t* wrong;

  template <int B, karpos::device::tile Tile>
  KOKKOS_FUNCTION std::uint32_t through(Tile const& t, std::uint64_t i) const {
    using mask = typename karpos::lane_mask<B>::word;
    Word const* const bucket = words + i * B % (size - B + 1) / B * B;
    auto const window = karpos::device::load_window<B, karpos::device::access::shared>(t, bucket);
    auto const frozen = karpos::device::load_window<B, karpos::device::access::frozen>(t, bucket);
    using portable = karpos::device::reference_tile<Tile::width>;
    using loaded_by =
        std::conditional_t<std::is_same_v<Tile, karpos::device::host_thread>, portable, Tile>;
    loaded_by const tile(t);
    auto const loaded =
        karpos::device::window<loaded_by, Word, B>(tile, [&](int slot) { return bucket[slot]; });
    static_assert(loaded.rounds * Tile::width == B);
    std::uint32_t bad = 0;
    mask odd = 0;
    for (int slot = 0; slot < B; ++slot) {
      if (low(bucket[slot]) % 2 == 1) odd |= mask(1) << slot;
      bad += !(window.get(slot) == bucket[slot]);
      bad += !(loaded.get(slot) == bucket[slot]);
      bad += !(frozen.get(slot) == bucket[slot]);
    }
    bad += window.match([](Word w) { return low(w) % 2 == 1; }).bits() != odd;
    bad += loaded.match([](Word w) { return low(w) % 2 == 1; }).bits() != odd;
    constexpr int first = B / 2;
    mask const upper = static_cast<mask>(odd >> first << first);
    bad += window.template match<first>([](Word w) { return low(w) % 2 == 1; }).bits() != upper;
    bad += static_cast<bool>(window.match([](Word) { return false; }));
    bad += !window.match([](Word) { return true; }).full();
    return bad;
  }
  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    constexpr int width = Tile::width;
    std::uint32_t bad = through<width>(t, i) + through<2 * width>(t, i);
    if constexpr (width <= 16) bad += through<4 * width>(t, i);
    if constexpr (width <= 4) bad += through<16>(t, i);  // whole buckets of 64 bytes and more
    t.once([&] {
      wrong[i] = bad;
      return true;
    });
  }

  KOKKOS_FUNCTION static std::uint64_t low(Word w) {
    if constexpr (std::is_same_v<Word, karpos::device::word16>)
      return w.lo ^ w.hi;
    else
      return w;
  }
};

template <class Word, int W>
void windows_conform() {
  constexpr std::uint64_t n = 512;
  std::vector<Word> words(4096);
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    if constexpr (std::is_same_v<Word, karpos::device::word16>)
      words[i] = {noise(i, 1, 1), noise(i, 2, 2)};
    else
      words[i] = static_cast<Word>(noise(i, 3, 3));
  }
  auto const data = karpos_test::to_space(words);
  view<std::uint32_t> const wrong("wrong", n);
  Kokkos::deep_copy(wrong, 99u);
  karpos::device::for_each_tile<W>("karpos_test::window", space{}, n,
                                   read_windows<Word>{data.data(), words.size(), wrong.data()});
  INFO("W = ", W, ", word of ", sizeof(Word), " bytes");
  CHECK(karpos_test::to_host(wrong) == std::vector<std::uint32_t>(n, 0));
}

TEST_CASE("windows read what is there, for every width and bucket") {
  windows_conform<std::uint32_t, 1>();
  windows_conform<std::uint64_t, 1>();
  windows_conform<std::uint64_t, 2>();
  windows_conform<std::uint64_t, 4>();
  windows_conform<std::uint64_t, 8>();
  windows_conform<std::uint64_t, 16>();
  windows_conform<std::uint64_t, 32>();
  windows_conform<karpos::device::word16, 1>();
  windows_conform<karpos::device::word16, 4>();
  windows_conform<std::uint32_t, 32>();
}

}  // namespace
