// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shows why a reader reads the hop word again after every slot that did not hold its key. A
/// variant without this recheck fails in the same searches that the real table survives: once with
/// an interruption at the right moment, and once with threads.
#include <functional>

#include "concurrency/hopscotch_storms.hpp"

namespace {

using karpos_test::hopscotch_host_table;
using karpos_test::is_stamped;
using karpos_test::placed_hash;
using karpos_test::placed_key;
using karpos_test::random_numbers;
using karpos_test::stamped;
using karpos_test::time_slice;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr bool real = true, broken = false;

/// An action in the middle of a search.
class interruption {
 public:
  /// Plans `what` for the comparison that follows n others, and for every later one if
  /// `again_and_again`.
  void plan(int n, std::function<void()> what, bool again_and_again = false) {
    m_wait = n;
    m_what = std::move(what);
    m_again = again_and_again;
  }
  void cancel() { m_wait = never; }
  void compared() {
    if (m_wait == never || m_wait-- > 0) return;
    m_wait = never;  // `m_what` compares keys, too
    m_what();
    if (m_again) m_wait = 0;
  }
  bool happened() const { return m_wait == never; }

 private:
  static constexpr int never = -1;
  int m_wait = never;
  std::function<void()> m_what;
  bool m_again = false;
};

/// Compares keys, and runs the planned interruption during the comparison.
template <class Key>
struct interrupted_equal {
  interruption* during = nullptr;
  bool operator()(Key a, Key b) const {
    if (during != nullptr) during->compared();
    return a == b;
  }
};

template <class Key, bool Recheck>
using interrupted_table =
    hopscotch_host_table<Key, Key, placed_hash<Key>, interrupted_equal<Key>, Recheck>;

/// Returns keys for a table of 8 lines, more than half of them with one home.
template <class Key>
std::vector<Key> crowded_keys(std::size_t n, u64 crowd, random_numbers& random) {
  std::vector<Key> keys;
  for (u64 i = 0; i < n; ++i)
    keys.push_back(placed_key<Key>(random.below(2) == 0 ? crowd : random.below(8),
                                   static_cast<int>(random.below(8)), 1 + i));
  return keys;
}

template <class Key>
std::vector<Key> keys_of(u64 home, std::size_t n, u64 serial, random_numbers& random) {
  std::vector<Key> keys;
  for (u64 i = 0; i < n; ++i)
    keys.push_back(placed_key<Key>(home, static_cast<int>(random.below(8)), serial + i));
  return keys;
}

/// Fills a table so that 7 keys of one home lie in the neighbouring line. They have space to be
/// moved on, while the neighbourhood of that line is full: every insertion of one of that line's
/// own keys moves one of the 7. Returns: the 7 keys.
template <class Table>
std::vector<typename Table::key_type> keys_in_the_way(Table& table, u64 home,
                                                      random_numbers& random) {
  using Key = typename Table::key_type;
  table.clear();
  karpos_test::fill_up(table, keys_of<Key>(home, 7, 1, random), 7);
  auto const far = karpos_test::fill_up(table, keys_of<Key>(home, 7, 10, random), 7);
  for (int j = 2; j < karpos_test::hopscotch::neighbourhood_lines; ++j)
    karpos_test::fill_up(table, keys_of<Key>(table.geometry().line(home ^ 1, j), 7, 20, random), 7);
  return far;
}

struct searches {
  u64 interrupted = 0, missed = 0, wrong = 0, in_disorder = 0;
};

/// Determines which insertion moves which far key, then looks up that key and runs the insertion at
/// the n-th comparison.
template <class Key, bool Recheck, int W>
searches moved_while_searched(int n) {
  interruption during;
  interrupted_table<Key, Recheck> table(56, interrupted_equal<Key>{&during});
  karpos::device::host_tile<W> const tile;
  searches result;
  for (u64 seed = 0; seed < 24; ++seed) {
    random_numbers random(seed);
    u64 const home = seed % 8;
    auto const far = keys_in_the_way(table, home, random);
    for (Key const newcomer : keys_of<Key>(home ^ 1, 7, 30, random)) {
      auto const insert = [&] {
        table.ref().insert(karpos::device::host_tile<1>{}, newcomer, stamped<Key>(newcomer, 0));
      };
      auto const filled = table.saved();
      std::vector<int> places;
      for (Key const key : far) places.push_back(table.place_of(key));
      insert();
      std::vector<Key> moved;
      for (std::size_t k = 0; k < far.size(); ++k)
        if (table.place_of(far[k]) != places[k]) moved.push_back(far[k]);
      auto const one_more = table.saved();
      for (Key const key : moved) {
        table.restore(filled);
        during.plan(n, insert);
        auto const f = table.ref().find(tile, key);
        result.interrupted += during.happened();
        during.cancel();
        result.missed += !f.present;
        result.wrong += f.present && !is_stamped(key, f.value);
        result.in_disorder += !table.inspect().wrong.empty();
      }
      table.restore(one_more);
    }
  }
  return result;
}

/// Counts the keys that are hashed, one for each slot that a search looks at, and runs the planned
/// interruption.
template <class Key>
struct counted_hash : placed_hash<Key> {
  inline static u64 calls = 0;
  inline static interruption during;
  u64 operator()(Key key) const {
    ++calls;
    during.compared();
    return placed_hash<Key>::operator()(key);
  }
};

/// Inserts newcomers that can only get the slot of a key which moves away, while the locks of all
/// keys that could move are held, or all empty slots, until the middle of a later search.
/// Returns how many are refused.
template <class Key>
u64 refused_while_held(bool locks, int searches) {
  using hash = counted_hash<Key>;
  hopscotch_host_table<Key, Key, hash> table(56);
  u64 refused = 0;
  for (u64 seed = 0; seed < 8; ++seed) {
    random_numbers random(seed);
    u64 const home = seed % 8;
    keys_in_the_way(table, home, random);
    auto const lines = table.table();
    using karpos_test::hopscotch::line_slots;
    std::vector<typename decltype(table)::word*> holes;
    for (u64 l = 0; l < 8; ++l)
      for (int s = 1; s <= line_slots; ++s)
        if (lines.slot().reserve(lines.line(l) + s)) holes.push_back(lines.line(l) + s);
    REQUIRE(!holes.empty());
    auto const release_holes = [&] {
      for (auto* const hole : holes) lines.slot().release(hole);
    };
    auto const toggle_locks = [&] {
      for (u64 l = 0; l < 8; ++l)
        for (int c = 0; l != (home ^ 1) && c < karpos_test::hopscotch::key_classes; ++c)
          karpos::device::toggle_bits_release(lines.hop_word(l),
                                              karpos_test::hopscotch::lock_bit(c));
    };
    if (locks) {
      release_holes();
      toggle_locks();
    }
    karpos::device::host_tile<1> const tile;
    hash::calls = 0;
    int left = 1;
    bool disturbed = false;
    karpos_test::hopscotch::relocation<typename decltype(table)::traits> const relocator(lines);
    CHECK(relocator.find_closer_empty(tile, home ^ 1, left, disturbed) ==
          karpos_test::hopscotch::no_slot);
    CHECK(disturbed);
    CHECK(left >= 1 - 8 * karpos_test::hopscotch::tries_per_line -
                      karpos_test::hopscotch::tries_per_search);  // of the table's 8 lines
    hash::during.plan(static_cast<int>(hash::calls) * searches, [&] {
      if (locks)
        toggle_locks();
      else
        release_holes();
    });
    Key const newcomer = keys_of<Key>(home ^ 1, 1, 30, random).front();
    refused +=
        table.ref().insert(tile, newcomer, stamped<Key>(newcomer, 0)) != karpos::outcome::inserted;
    CHECK(hash::during.happened());
    hash::during.cancel();
    CHECK(table.inspect().wrong.empty());
  }
  return refused;
}

TEST_CASE_TEMPLATE("hopscotch: an insertion waits for slots and locks of other threads", Key, u32,
                   u64) {
  for (int const searches : {1, 20}) {
    CHECK(refused_while_held<Key>(true, searches) == 0);
    CHECK(refused_while_held<Key>(false, searches) == 0);
  }
}

TEST_CASE("hopscotch: an insertion does not wait for ever for slots that others hold") {
  using hash = counted_hash<u32>;
  hopscotch_host_table<u32, u32, hash> table(56);
  random_numbers random(1);
  karpos::device::host_tile<1> const tile;
  for (u32 const key : crowded_keys<u32>(400, 3, random))
    if (table.inspect().keys < 54) table.ref().insert(tile, key, stamped<u32>(key, 0));
  auto const lines = table.table();
  u64 held = 0;
  for (u64 l = 0; l < 8; ++l)
    for (int s = 1; s <= karpos_test::hopscotch::line_slots; ++s)
      held += lines.slot().reserve(lines.line(l) + s);
  REQUIRE(held > 0);
  for (u32 const newcomer : keys_of<u32>(3, 4, 500, random)) {
    hash::calls = 0;
    CHECK(table.ref().insert(tile, newcomer, 0u) == karpos::outcome::full);
    CHECK(hash::calls < 100'000);
  }
}

template <class Key, int W>
void only_the_broken_one_misses() {
  INFO("W = ", W);
  auto const caught = moved_while_searched<Key, broken, W>(0);
  MESSAGE("without reading again: ", caught.missed, " of ", caught.interrupted,
          " searches miss a key that is there throughout");
  CHECK(caught.interrupted >= 50);
  CHECK(2 * caught.missed > caught.interrupted);
  for (int n = 0; n < 14; ++n) {
    auto const good = moved_while_searched<Key, real, W>(n);
    CHECK(good.missed == 0);
    CHECK(good.wrong == 0);
    CHECK(good.in_disorder == 0);
    if (n == 0) CHECK(good.interrupted == caught.interrupted);
  }
}

TEST_CASE(
    "hopscotch: a key that is moved on in the middle of a search is found, thanks to the recheck") {
  only_the_broken_one_misses<u32, 8>();
  only_the_broken_one_misses<u64, 1>();
#if KARPOS_FULL_TESTS
  only_the_broken_one_misses<u32, 1>();
  only_the_broken_one_misses<u64, 4>();
#endif
}

/// Inserts and erases other keys at every single comparison of a search.
template <class Key, int W>
void hunted() {
  interruption during;
  interrupted_table<Key, real> table(56, interrupted_equal<Key>{&during});
  karpos::device::host_tile<W> const tile;
  u64 missed = 0, wrong = 0, in_disorder = 0, moved = 0;
  for (u64 seed = 0; seed < (karpos_test::rounds < 100 ? 8 : 40); ++seed) {
    random_numbers random(seed);
    auto const stay = keys_in_the_way(table, seed % 8, random);
    auto others = keys_of<Key>(seed % 8 ^ 1, 10, 300, random);
    auto const more = crowded_keys<Key>(14, random.below(8), random);
    for (Key const key : more) others.push_back(static_cast<Key>(key + (400 << 6)));
    for (Key const key : stay) {
      int const place = table.place_of(key);
      during.plan(
          0,
          [&] {
            Key const other = others[random.below(others.size())];
            if (random.below(3) == 0)
              table.ref().erase(karpos::device::host_tile<1>{}, other);
            else
              table.ref().insert(karpos::device::host_tile<1>{}, other, stamped<Key>(other, 0));
          },
          true);
      auto const f = table.ref().find(tile, key);
      during.cancel();
      missed += !f.present;
      wrong += f.present && !is_stamped(key, f.value);
      moved += table.place_of(key) != place;
    }
    in_disorder += !table.inspect().wrong.empty();
  }
  CHECK(missed == 0);
  CHECK(wrong == 0);
  CHECK(in_disorder == 0);
  CHECK(moved > 0);
}

TEST_CASE("hopscotch: a search is not overtaken by any number of moves") {
  hunted<u32, 4>();
  hunted<u64, 1>();
#if KARPOS_FULL_TESTS
  hunted<u32, 1>();
  hunted<u64, 8>();
#endif
}

/// Erases a key in the middle of its search; other keys and the key itself then reuse its slot.
template <class Key, int W>
void reused() {
  interruption during;
  interrupted_table<Key, real> table(56, interrupted_equal<Key>{&during});
  karpos::device::host_tile<W> const tile;
  u64 strange = 0, taken_over = 0, in_disorder = 0;
  for (u64 seed = 0; seed < 8; ++seed) {
    random_numbers random(seed);
    table.clear();
    auto const in = karpos_test::fill_up(table, crowded_keys<Key>(200, seed % 8, random), 52);
    auto const filled = table.saved();
    for (Key const key : in)
      for (int n = 0; n < 12; ++n)
        for (bool const comes_back : {false, true}) {
          table.restore(filled);
          int const place = table.place_of(key);
          Key const same_home = static_cast<Key>(key + (400 << 6));
          auto const ref = table.ref();
          during.plan(n, [&] {
            karpos::device::host_tile<1> const t;
            ref.erase(t, key);
            ref.insert(t, same_home, stamped<Key>(same_home, 7));
            taken_over += table.place_of(same_home) == place;
            if (!comes_back) return;
            ref.erase(t, same_home);
            ref.insert(t, key, stamped<Key>(key, 9));
          });
          auto const f = ref.find(tile, key);
          bool const happened = during.happened();
          during.cancel();
          bool const old = f.present && f.value == stamped<Key>(key, 0);
          bool const fresh = f.present && f.value == stamped<Key>(key, 9);
          strange += !(old || (happened && (comes_back ? fresh || !f.present : !f.present)));
          in_disorder += !table.inspect().wrong.empty();
        }
  }
  CHECK(strange == 0);
  CHECK(in_disorder == 0);
  CHECK(taken_over > 0);
}

TEST_CASE(
    "hopscotch: a slot that changes hands in the middle of a search gives no pair away half") {
  reused<u32, 1>();
  reused<u64, 1>();
  reused<u64, 4>();
}

/// An equality that sometimes yields, so that much happens during a search.
template <class Key>
struct slow_equal {
  bool operator()(Key a, Key b) const {
    thread_local unsigned calls = 0;
    if (++calls % 16 == 0) std::this_thread::yield();
    return a == b;
  }
};

struct hunt {
  u64 rounds = 0, misses = 0, histories = 0, not_linearizable = 0, moves = 0;
  double seconds = 0;
};

/// Inserts, from two threads, keys that move far keys; looks up the far keys, which are always
/// present, from two others.
template <class Key, bool Recheck>
hunt hunt_far_keys(int milliseconds) {
  using event = karpos_test::event;
  hopscotch_host_table<Key, Key, placed_hash<Key>, slow_equal<Key>, Recheck> table(56);
  hunt result;
  time_slice const time(milliseconds);
  while (!time.over() && result.not_linearizable == 0) {
    random_numbers random(result.rounds++);
    u64 const home = random.below(8);
    auto const far = keys_in_the_way(table, home, random);
    auto const newcomers = keys_of<Key>(home ^ 1, 8, 30, random);
    std::vector<int> places;
    for (Key const key : far) places.push_back(table.place_of(key));
    karpos_test::instants clock;
    std::vector<std::vector<event>> seen[2];
    std::atomic<int> writing{2};
    karpos_test::on_threads(4, [&](int thread) {
      auto const ref = table.ref();
      karpos::device::host_tile<1> const tile;
      if (thread < 2) {
        for (std::size_t i = static_cast<std::size_t>(thread); i < newcomers.size(); i += 2) {
          ref.insert(tile, newcomers[i], stamped<Key>(newcomers[i], 0));
          std::this_thread::yield();
        }
        --writing;
      } else {
        auto& mine = seen[thread - 2];
        mine.resize(far.size());
        for (std::size_t k = 0; writing > 0; k = (k + 1) % far.size()) {
          event e{karpos_test::action::find, 0, false, clock.now(), 0};
          auto const f = ref.find(tile, far[k]);
          e.answer = f.present;
          e.value = f.present ? static_cast<u64>(f.value) : 0;
          e.responded = clock.now();
          if (mine[k].size() < 200) mine[k].push_back(e);
        }
      }
    });
    for (std::size_t k = 0; k < far.size(); ++k) {
      auto history = seen[0][k];
      history.insert(history.end(), seen[1][k].begin(), seen[1][k].end());
      u64 const value = static_cast<u64>(stamped<Key>(far[k], 0));
      result.not_linearizable += !karpos_test::is_linearizable(history, value);
      ++result.histories;
      for (event const& e : history) result.misses += !e.answer;
      result.moves += table.place_of(far[k]) != places[k];
    }
  }
  result.seconds = time.seconds();
  return result;
}

template <class Key>
void threads_catch_the_broken_one() {
  auto const caught = hunt_far_keys<Key, broken>(10000);
  MESSAGE("without reading again: caught after ", caught.seconds, " s, in round ", caught.rounds,
          ", with ", caught.moves, " keys moved");
  CHECK(caught.not_linearizable > 0);
  CHECK(caught.misses > 0);
  auto const good = hunt_far_keys<Key, real>(700);
  MESSAGE("with it: ", good.histories, " histories in ", good.rounds, " rounds, with ", good.moves,
          " keys moved");
  CHECK(good.not_linearizable == 0);
  CHECK(good.misses == 0);
  CHECK(good.moves > 0);
}

TEST_CASE(
    "hopscotch: threads that move keys catch the table without the recheck, not the real one") {
  threads_catch_the_broken_one<u32>();
  threads_catch_the_broken_one<u64>();
}

}  // namespace
