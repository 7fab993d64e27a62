// SPDX-License-Identifier: Apache-2.0
/// \file
/// The interface of hash_set, in bulk and in kernels. The tests of hash_map cover what the two
/// share.
#include <karpos/hash_set.hpp>
#include <set>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u64 = std::uint64_t;

template <class Set>
std::multiset<typename Set::key_type> contents(Set const& set) {
  view<typename Set::key_type> const keys("keys", set.capacity());
  u64 const n = set.retrieve_all(space{}, keys);
  auto const all = to_host(keys, n);
  return {all.begin(), all.end()};
}

template <class Key>
struct sum_keys {
  view<u64> sums;
  KOKKOS_FUNCTION void operator()(Key const& key) const {
    Kokkos::atomic_add(&sums(0), u64(1));
    Kokkos::atomic_add(&sums(1), static_cast<u64>(key));
  }
};
struct below_five {
  KOKKOS_FUNCTION bool operator()(int x) const { return x < 5; }
};

std::vector<bool> flags_of(view<bool> const& flags) {
  auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
  return std::vector<bool>(mirror.data(), mirror.data() + mirror.size());
}

/// Checks of a set with 3000 keys, of which the first 2000 are inserted.
template <class Set>
struct set_suite {
  using Key = typename Set::key_type;
  std::vector<Key> const keys = unique_keys<Key>(3000);
  std::vector<Key> const in = std::vector<Key>(keys.begin(), keys.begin() + 2000);
  std::multiset<Key> const expected = std::multiset<Key>(in.begin(), in.end());
  std::vector<int> const stencil = digits(keys.size());

  void run() const {
    tiny_sets();
    Set set(space{}, 2000);
    inserts(set);
    finds_keys(set);
    erases_and_inserts_again(set);
    refuses(set);
    lives_elsewhere();
  }

 private:
  static std::vector<int> digits(std::size_t n) {
    std::vector<int> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<int>(i % 10);
    return all;
  }

  void tiny_sets() const {
    for (std::size_t n : {0u, 1u, 4u}) {
      Set tiny(space{}, n);
      auto const few =
          to_space(std::vector<Key>(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n)));
      CHECK(bool(tiny.insert(space{}, few) == karpos::insert_report{n, 0, 0, 0}));
      CHECK(tiny.size(space{}) == n);
      CHECK(tiny.erase(space{}, few) == n);
      CHECK(tiny.size(space{}) == 0);
    }
  }

  /// Inserts every key once, and 4000 draws more.
  void inserts(Set& set) const {
    auto draws = karpos_test::skewed_draws(in, 4000, 71);
    draws.insert(draws.end(), in.begin(), in.end());
    CHECK(bool(set.insert(space{}, to_space(draws)) == karpos::insert_report{2000, 4000, 0, 0}));
    CHECK(bool(contents(set) == expected));
    CHECK(set.insert_or_throw(space{}, to_space(draws)).existing == 6000);
    CHECK(set.max_keys() == 2000);
    CHECK(Set::bytes_for(2000) >= set.capacity() * sizeof(Key));
  }

  void finds_keys(Set& set) const {
    std::vector<bool> there(keys.size()), there_if(keys.size());
    u64 sum = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      there[i] = i < 2000;
      there_if[i] = i < 2000 && i % 10 < 5;
      sum += i < 2000 ? static_cast<u64>(keys[i]) : 0;
    }
    view<bool> const flags("flags", keys.size()), flags_if("flags", keys.size());
    view<u64> const sums("sums", 2);
    set.contains(space{}, to_space(keys), flags);
    set.contains_if(space{}, to_space(keys), flags_if, to_space(stencil), below_five{});
    set.for_each(space{}, sum_keys<Key>{sums});
    space{}.fence();
    CHECK(flags_of(flags) == there);
    CHECK(flags_of(flags_if) == there_if);
    CHECK(to_host(sums) == std::vector<u64>{2000, sum});
  }

  /// Erases and inserts again; ends with the 1500 keys whose digit is below five.
  void erases_and_inserts_again(Set& set) const {
    typename Set::report_view const report("report");
    typename Set::erase_view const erased("erased");
    set.clear(space{});
    set.insert_async(space{}, to_space(keys), report);
    space{}.fence();
    auto const r = karpos_test::to_host_scalar(report);
    CHECK(r.inserted + r.rejected == 3000);
    CHECK(r.inserted >= 2000);
    set.erase_async(space{}, to_space(keys), erased);
    space{}.fence();
    CHECK(karpos_test::to_host_scalar(erased).erased == r.inserted);
    CHECK(set.size(space{}) == 0);
    set.rehash(space{}, 4000);
    CHECK(set.insert_if(space{}, to_space(keys), to_space(stencil), below_five{}).inserted == 1500);
    CHECK(set.size(space{}) == 1500);
  }

  /// Checks keys that do not fit, and bad arguments.
  void refuses(Set& set) const {
    Set small(space{}, 100);
    u64 const slots = small.capacity();
    CHECK(bool(small.insert(space{}, to_space(keys)) ==
               karpos::insert_report{slots, 0, 3000 - slots, 0}));
    CHECK(contents(small).size() == slots);
    throws<karpos::capacity_error>([&] { small.insert_or_throw(space{}, to_space(keys)); },
                                   "hash_set", "found space for " + std::to_string(slots));
    view<bool> const short_flags("flags", 3);
    view<Key> const few("few", 3);
    throws<std::invalid_argument>([&] { set.contains(space{}, to_space(keys), short_flags); },
                                  "3000", "3");
    throws<std::invalid_argument>([&] { set.insert_if(space{}, few, to_space(stencil)); }, "3000",
                                  "3");
    throws<std::invalid_argument>([&] { set.retrieve_all(space{}, few); }, "1500", "3");
  }

  /// Checks a set in a user's memory, and its copy.
  void lives_elsewhere() const {
    view<unsigned char> const memory("memory", Set::bytes_for(2000));
    Set wrapped(space{}, karpos::wrapped_memory{memory.data(), memory.size()}, 2000);
    CHECK(wrapped.insert(space{}, to_space(in)).inserted == 2000);
    Set copy(space{}, 10);
    deep_copy(space{}, copy, wrapped);
    CHECK(wrapped.erase(space{}, to_space(in)) == 2000);
    CHECK(bool(contents(copy) == expected));
  }
};

TEST_CASE("hash_set in bulk") {
  set_suite<karpos::hash_set<std::uint32_t, space>>().run();
  set_suite<karpos::hash_set<std::int64_t, space, karpos::hash<std::int64_t>,
                             karpos::equal_to<std::int64_t>, karpos::linear_probing>>()
      .run();
  set_suite<karpos::hash_set<std::uint16_t, space>>().run();
}

TEST_CASE("keys equal to a sentinel are refused by hash_set") {
  karpos::hash_set<std::uint32_t, space> set(space{}, 10);
  auto const keys = to_space(std::vector<std::uint32_t>{1, ~0u, 2});
  throws<std::invalid_argument>([&] { set.insert(space{}, keys); }, "sentinel", "1 of 3");
  CHECK(contents(set) == std::multiset<std::uint32_t>{1, 2});
}

template <class Ref, class Key>
struct set_operations {
  Ref ref;
  view<Key> keys;
  view<u64> counts;  ///< inserted, existing, contained, erased

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, u64 i) const {
    Key const key = keys(i % keys.extent(0));
    auto const o = ref.insert(t, key);
    bool const there = ref.contains(t, key);
    // Each odd key is erased when its last copy arrives, unless another thread erases it first.
    bool const gone = i % keys.extent(0) % 2 == 1 && ref.erase(t, key);
    t.once([&] {
      Kokkos::atomic_add(&counts(0), u64(o == karpos::outcome::inserted));
      Kokkos::atomic_add(&counts(1), u64(o == karpos::outcome::existing));
      Kokkos::atomic_add(&counts(2), u64(there));
      Kokkos::atomic_add(&counts(3), u64(gone));
      return true;
    });
  }
};

template <class Key, int B, int W>
void in_kernels() {
  constexpr u64 different = 200, copies = 10;
  karpos::hash_set<Key, space, karpos::hash<Key>, karpos::equal_to<Key>, karpos::double_hashing, B>
      set(space{}, different * copies);
  auto const keys = unique_keys<Key>(different);
  set_operations<decltype(set.ref()), Key> const body{set.ref(), to_space(keys),
                                                      view<u64>("counts", 4)};
  karpos::device::for_each_tile<W>("karpos_test::set", space{}, different * copies, body);
  auto const counts = to_host(body.counts);
  INFO("B = ", B, ", W = ", W, ", key of ", sizeof(Key), " bytes");
  CHECK(counts[0] + counts[1] == different * copies);
  CHECK(counts[2] >= different * copies / 2);  // keys that no thread erases are always stored
  CHECK(counts[0] - counts[3] == set.size(space{}));
  std::multiset<Key> even;
  for (std::size_t i = 0; i < keys.size(); i += 2) even.insert(keys[i]);
  CHECK(bool(contents(set) == even));
}

TEST_CASE("hash_set in kernels") {
  in_kernels<std::uint32_t, 4, 1>();
  in_kernels<std::uint64_t, 2, 2>();
  in_kernels<std::int16_t, 32, 32>();
#if KARPOS_FULL_TESTS
  in_kernels<std::uint32_t, 16, 16>();
  in_kernels<std::uint64_t, 8, 1>();
  in_kernels<std::int64_t, 1, 1>();
#endif
}

}  // namespace
