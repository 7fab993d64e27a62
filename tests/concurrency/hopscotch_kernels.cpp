// SPDX-License-Identifier: Apache-2.0
/// \file
/// Storms over a hopscotch_map in one kernel: concurrent operations on hot keys in a table so full
/// that insertions move other keys, with and without a record of every operation.
#include <karpos/hopscotch_map.hpp>

#include "concurrency/races.hpp"
#include "support/check.hpp"
#include "support/hopscotch_inspect_map.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"
#include "support/stamps.hpp"

namespace {

using karpos_test::action;
using karpos_test::event;
using karpos_test::is_stamped;
using karpos_test::mixture;
using karpos_test::space;
using karpos_test::stamped;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr mixture few_writes{20, 20, 60}, many_writes{40, 40, 20}, writes_mostly{45, 45, 10};

/// Devices run more threads, so fewer rounds suffice.
constexpr bool on_device = karpos::device::is_device<space>;

/// A map that is nearly full of keys that stay.
template <class Key, class T>
struct crowded_map {
  using map_type = karpos::hopscotch_map<Key, T, space>;

  /// Makes a map for `slots` slots. `hot_keys` stay absent at first; other keys are inserted until
  /// only `free` slots are left.
  crowded_map(u64 slots, u64 hot, u64 free) : map(space{}, slots * 98 / 100, {.load = 0.98}) {
    auto const keys = karpos_test::unique_keys<Key>(hot + slots);
    hot_keys.assign(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(hot));
    u64 const n = map.capacity() > free ? map.capacity() - free : 1;
    std::vector<Key> const others(keys.end() - static_cast<std::ptrdiff_t>(n), keys.end());
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = stamped<T>(others[i], 0);
    typename map_type::report_view const report("report");
    map.insert_async(space{}, to_space(others), to_space(values), report);
    auto const flags = view<bool>("flags", n);
    map.contains(space{}, to_space(others), flags);
    auto const there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
    for (std::size_t i = 0; i < n; ++i)
      if (there(i)) stay.push_back(others[i]);
  }

  map_type map;
  std::vector<Key> hot_keys, stay;
};

/// Inserts, assigns, erases or looks up one of the keys, by chance; also looks up one that stays.
template <class Ref, class Key, class T>
struct storm {
  Ref ref;
  view<Key> keys, stay;
  view<u32> inserted, erased;  ///< per key
  view<u64> missed, wrong;     ///< one counter for all keys
  mixture mix;
  u64 seed;

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, u64 i) const {
    u64 const random = karpos::mix(seed + i);
    u64 const draw = random % 100, k = (random >> 8) % keys.extent(0);
    Key const key = keys(k);
    T const value = stamped<T>(key, random >> 16);
    u32 added = 0, removed = 0, bad = 0;
    if (draw < mix.insert) {
      added = (draw % 2 == 0 ? ref.insert(t, key, value) : ref.insert_or_assign(t, key, value)) ==
              karpos::outcome::inserted;
    } else if (draw < mix.insert + mix.erase) {
      removed = ref.erase(t, key);
    } else {
      auto const f = ref.find(t, key);
      bad = f.present && !is_stamped(key, f.value);
    }
    Key const stays = stay(karpos::mix(random) % stay.extent(0));
    auto const g = ref.find(t, stays);
    bad += g.present && g.value != stamped<T>(stays, 0);
    t.once([&] {
      Kokkos::atomic_add(&inserted(k), added);
      Kokkos::atomic_add(&erased(k), removed);
      Kokkos::atomic_add(&missed(0), static_cast<u64>(!g.present));
      Kokkos::atomic_add(&wrong(0), static_cast<u64>(bad));
      return true;
    });
  }
};

template <class Key, class T, int W>
void adds_up(u64 hot, mixture const& mix) {
  INFO("W = ", W, ", hot keys: ", hot, ", finds: ", mix.find, " of 100");
  u64 const slots = hot <= 10 ? 56 : hot <= 100 ? 112 : hot * 56 / 100;
  u64 const operations = hot <= 100 ? 5000 : 40000;
  crowded_map<Key, T> crowd(slots, hot, hot / 2 + slots * 7 / 100);
  auto& map = crowd.map;
  storm<typename karpos::hopscotch_map<Key, T, space>::ref_type, Key, T> const body{
      map.ref(),
      to_space(crowd.hot_keys),
      to_space(crowd.stay),
      view<u32>("inserted", hot),
      view<u32>("erased", hot),
      view<u64>("missed", 1),
      view<u64>("wrong", 1),
      mix,
      1000 * hot + mix.find};
  karpos::device::for_each_tile<W>("karpos_test::storm", space{}, operations, body);
  CHECK(to_host(body.missed)[0] == 0);
  CHECK(to_host(body.wrong)[0] == 0);

  auto const inserted = to_host(body.inserted), erased = to_host(body.erased);
  view<bool> const flags("flags", hot);
  view<T> const values("values", hot);
  map.contains(space{}, body.keys, flags);
  map.find(space{}, body.keys, values, T(0));
  auto const there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
  auto const found = to_host(values);
  u64 size = crowd.stay.size(), wrong = 0;
  for (std::size_t k = 0; k < hot; ++k) {
    size += there(k);
    wrong += inserted[k] - erased[k] != (there(k) ? 1 : 0);
    wrong += there(k) && !is_stamped(crowd.hot_keys[k], found[k]);
  }
  CHECK(wrong == 0);
  karpos_test::check_map_in_order("after a storm", map, size);
}

template <class Key, class T, int W>
void storms() {
  for (mixture const& mix : {few_writes, many_writes, writes_mostly})
    for (u64 const hot : {10, 100, 10000}) adds_up<Key, T, W>(hot, mix);
}

TEST_CASE("hopscotch_map: storms in one kernel, 8-byte slots") {
  storms<u32, u32, 1>();
  storms<u32, u32, 4>();
  storms<u32, u32, 8>();
  storms<u32, u32, 32>();
}
TEST_CASE("hopscotch_map: storms in one kernel, 16-byte slots") {
  storms<u64, u64, 1>();
  storms<u64, u64, 4>();
  storms<u64, u64, 8>();
  storms<u64, u64, 32>();
}

/// Executes operations one after another in tile i, and records each answer and its time. Fences
/// keep each operation between its two instants.
template <class Ref, class Key, class T>
struct recorder {
  Ref ref;
  view<Key> keys;
  view<u64> clock;
  view<u64> which, value, invoked, responded;
  view<u32> what, answer;
  u64 operations;
  mixture mix;
  u64 seed;

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION u64 now(Tile const& t) const {
    return t.once([&] {
      Kokkos::memory_fence();
      u64 const instant = Kokkos::atomic_fetch_add(&clock(0), u64(1));
      Kokkos::memory_fence();
      return instant;
    });
  }

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, u64 i) const {
    for (u64 n = 0; n < operations; ++n) {
      u64 const at = i * operations + n;
      u64 const random = karpos::mix(seed + at), draw = random % 100;
      u64 const k = (random >> 8) % keys.extent(0);
      Key const key = keys(k);
      u64 argument = at + 1;
      auto kind = draw >= mix.insert + mix.erase ? action::find
                  : draw >= mix.insert           ? action::erase
                                                 : static_cast<action>(draw % 3);
      karpos::outcome o = karpos::outcome::existing;
      bool yes = false;
      u64 const before = now(t);
      if (kind == action::insert) {
        o = ref.insert(t, key, static_cast<T>(argument));
      } else if (kind == action::assign) {
        o = ref.insert_or_assign(t, key, static_cast<T>(argument));
      } else if (kind == action::add) {
        o = ref.insert_or_apply(t, key, static_cast<T>(argument), karpos::plus{});
      } else if (kind == action::erase) {
        yes = ref.erase(t, key);
      } else {
        auto const f = ref.find(t, key);
        yes = f.present;
        argument = f.present ? static_cast<u64>(f.value) : 0;
      }
      u64 const after = now(t);
      if (kind <= action::add) yes = o == karpos::outcome::inserted;
      if (o == karpos::outcome::full) {  // changed nothing, and has seen that the key is absent
        kind = action::find;
        argument = 0;
      }
      t.once([&] {
        which(at) = k;
        value(at) = argument;
        invoked(at) = before;
        responded(at) = after;
        what(at) = static_cast<u32>(kind);
        answer(at) = yes;
        return true;
      });
    }
  }
};

/// Returns how many histories take too long to check: operations of a warp overlap.
template <class Key, class T, int W>
std::size_t recorded(u64 hot, mixture const& mix, u64 seed) {
  INFO("W = ", W, ", hot keys: ", hot, ", finds: ", mix.find, " of 100");
  u64 const slots = hot <= 10 ? 56 : hot <= 100 ? 112 : hot * 56 / 100;
  u64 const tiles = on_device ? (hot <= 10 ? 24 : hot <= 100 ? 200 : 2000) : 8;
  u64 const operations = hot <= 10 ? 60 : hot <= 100 ? 100 : on_device ? 30 : 4000;
  u64 const all = tiles * operations;
  crowded_map<Key, T> crowd(slots, hot, hot / 2 + slots * 7 / 100);
  recorder<typename karpos::hopscotch_map<Key, T, space>::ref_type, Key, T> const body{
      crowd.map.ref(),
      to_space(crowd.hot_keys),
      view<u64>("clock", 1),
      view<u64>("which", all),
      view<u64>("value", all),
      view<u64>("invoked", all),
      view<u64>("responded", all),
      view<u32>("what", all),
      view<u32>("answer", all),
      operations,
      mix,
      seed};
  karpos::device::for_each_tile<W>("karpos_test::record", space{}, tiles, body);
  auto const which = to_host(body.which), value = to_host(body.value),
             invoked = to_host(body.invoked), responded = to_host(body.responded);
  auto const what = to_host(body.what), answer = to_host(body.answer);
  std::vector<std::vector<event>> histories(hot);
  u64 size = crowd.stay.size();
  for (std::size_t i = 0; i < all; ++i) {
    event const e{static_cast<action>(what[i]), value[i], answer[i] != 0, invoked[i], responded[i]};
    histories[which[i]].push_back(e);
    if (e.answer) size += e.what <= action::add ? 1 : 0;
    if (e.answer) size -= e.what == action::erase ? 1 : 0;
  }
  karpos_test::check_map_in_order("after a recorded storm", crowd.map, size);
  return karpos_test::undecided_histories(histories, on_device ? 200'000 : ~u64(0));
}

template <class Key, class T, int W>
void records() {
  u64 seed = 0;
  for (mixture const& mix : {few_writes, many_writes, writes_mostly})
    for (u64 const hot : {10, 100, 10000}) {
      u64 const rounds = hot <= 100 ? 5 : 1;
      u64 undecided = 0;
      for (u64 round = 0; round < rounds; ++round)
        undecided += recorded<Key, T, W>(hot, mix, 1000000 * ++seed);
      if (undecided > 0)
        MESSAGE("SKIP: ", undecided, " of ", hot * rounds, " histories take too long to check");
      CHECK(20 * undecided <= hot * rounds);  // a wrong one may be among them
    }
}

TEST_CASE("hopscotch_map: histories from one kernel, 8-byte slots") {
  records<u32, u32, 1>();
  records<u32, u32, 8>();
}
TEST_CASE("hopscotch_map: histories from one kernel, 16-byte slots") {
  records<u64, u64, 1>();
  records<u64, u64, 4>();
}

/// Adds to sums while other keys come and go: no addition is lost or done twice.
template <class Ref, class Key, class T>
struct summing {
  Ref ref;
  view<Key> keys, others;
  view<u64> sums;  ///< accepted additions of each key
  view<u64> balance;

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, u64 i) const {
    u64 const random = karpos::mix(i);
    u64 const k = random % keys.extent(0);
    T const value = static_cast<T>((random >> 20) % 100);
    auto const o = ref.insert_or_apply(t, keys(k), value, karpos::plus{});
    Key const other = others((random >> 8) % others.extent(0));
    u64 change = 0;
    if ((random >> 30) % 2 == 0)
      change = ref.insert(t, other, stamped<T>(other, random)) == karpos::outcome::inserted;
    else
      change = u64(0) - u64(ref.erase(t, other));
    t.once([&] {
      if (o != karpos::outcome::full) Kokkos::atomic_add(&sums(k), static_cast<u64>(value));
      Kokkos::atomic_add(&balance(0), change + (o == karpos::outcome::inserted));
      return true;
    });
  }
};

template <class Key, class T, int W>
void sums_are_exact_in_kernels() {
  INFO("W = ", W);
  constexpr u64 summed = 16, changing = 24;
  for (int round = 0; round < 5; ++round) {
    crowded_map<Key, T> crowd(56, summed + changing, 28);
    auto const middle = crowd.hot_keys.begin() + static_cast<std::ptrdiff_t>(summed);
    std::vector<Key> const keys(crowd.hot_keys.begin(), middle);
    std::vector<Key> const others(middle, crowd.hot_keys.end());
    summing<typename karpos::hopscotch_map<Key, T, space>::ref_type, Key, T> const body{
        crowd.map.ref(), to_space(keys), to_space(others), view<u64>("sums", summed),
        view<u64>("balance", 1)};
    karpos::device::for_each_tile<W>("karpos_test::sums", space{}, 5000, body);
    view<T> const out("out", summed);
    crowd.map.find(space{}, body.keys, out, T(0));
    auto const found = to_host(out);
    auto const expected = to_host(body.sums);
    u64 wrong = 0;
    for (std::size_t k = 0; k < summed; ++k) wrong += static_cast<u64>(found[k]) != expected[k];
    CHECK(wrong == 0);
    karpos_test::check_map_in_order("after sums", crowd.map,
                                    crowd.stay.size() + to_host(body.balance)[0]);
  }
}

TEST_CASE("hopscotch_map: sums are exact while their keys are moved on") {
  sums_are_exact_in_kernels<u32, u32, 1>();
  sums_are_exact_in_kernels<u32, u32, 8>();
  sums_are_exact_in_kernels<u64, u64, 1>();
  sums_are_exact_in_kernels<u64, u64, 4>();
}

}  // namespace
