// SPDX-License-Identifier: Apache-2.0
/// \file
/// Storms over hopscotch tables on the host: concurrent operations on tables so full that
/// insertions move other keys all the time.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "concurrency/histories.hpp"
#include "concurrency/hopscotch_tables.hpp"
#include "concurrency/races.hpp"

namespace karpos_test {

/// A time limit in milliseconds that begins now.
class time_slice {
 public:
  explicit time_slice(int milliseconds) : m_milliseconds(milliseconds) {}
  bool over() const { return seconds() * 1000 >= m_milliseconds; }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin).count();
  }

 private:
  std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
  int m_milliseconds;
};

/// Inserts keys with stamped values until n are stored. Returns: the keys stored.
template <class Table>
std::vector<typename Table::key_type> fill_up(Table const& table,
                                              std::vector<typename Table::key_type> const& with,
                                              std::uint64_t n) {
  using T = typename Table::mapped_type;
  std::vector<typename Table::key_type> in;
  for (auto const key : with) {
    if (in.size() >= n) break;
    if (table.ref().insert(karpos::device::host_tile<1>{}, key, stamped<T>(key, 0)) ==
        karpos::outcome::inserted)
      in.push_back(key);
  }
  return in;
}

/// Operations between all others: looks up keys that stay, and inserts and erases others, so that
/// keys move.
template <class Table>
class bystanders {
 public:
  using Key = typename Table::key_type;
  using T = typename Table::mapped_type;

  bystanders(Table const& table, std::vector<Key> stay, std::vector<Key> changing)
      : m_ref(table.ref()),
        m_stay(std::move(stay)),
        m_changing(std::move(changing)) {}

  template <class Tile>
  void act(Tile const& tile, random_numbers& random) {
    Key const stays = m_stay[random.below(m_stay.size())];
    auto const f = m_ref.find(tile, stays);
    m_missed += !f.present;
    m_wrong += f.present && f.value != stamped<T>(stays, 0);
    if (m_changing.empty()) return;
    Key const other = m_changing[random.below(m_changing.size())];
    std::uint64_t const draw = random();
    if (draw % 4 == 0)
      m_inserted +=
          m_ref.insert(tile, other, stamped<T>(other, draw >> 2)) == karpos::outcome::inserted;
    else if (draw % 4 == 1)
      m_erased += m_ref.erase(tile, other);
    else if (draw % 4 == 2)
      m_inserted += m_ref.insert_or_assign(tile, other, stamped<T>(other, draw >> 2)) ==
                    karpos::outcome::inserted;
    auto const g = m_ref.find(tile, other);
    m_wrong += g.present && !is_stamped(other, g.value);
  }
  /// Returns how many keys are stored after all operations.
  std::uint64_t left() const { return m_stay.size() + m_inserted - m_erased; }
  void check() const {
    CHECK(m_missed == 0);
    CHECK(m_wrong == 0);
  }

 private:
  decltype(std::declval<Table>().ref()) m_ref;
  std::vector<Key> m_stay, m_changing;
  std::atomic<std::uint64_t> m_missed{0}, m_wrong{0}, m_inserted{0}, m_erased{0};
};

template <class Table>
void check_table(Table const& table, std::uint64_t keys) {
  auto const found = table.inspect();
  if (!found.wrong.empty()) FAIL_CHECK("the table is not in order:", found.text());
  CHECK(found.keys == keys);
  CHECK(table.forgotten_slots() == 0);
}

/// Returns the number of keys that the operations of a history leave: 0 or 1.
inline std::uint64_t left_by(std::vector<event> const& history) {
  std::uint64_t n = 0;
  for (event const& e : history)
    n += e.answer *
         (static_cast<int>(e.what <= action::add) - static_cast<int>(e.what == action::erase));
  return n;
}

/// Runs operations on hot keys in a table that is 0.93 full when half of them are stored. 10 or 100
/// hot keys lie among others, 10,000 by themselves. Rounds use 2, 3 and 4 threads in turn.
template <class Key, class T, int W>
void storm_of_hot_keys(std::uint64_t hot, mixture const& mix, int milliseconds) {
  using table_type = hopscotch_host_table<Key, T>;
  std::uint64_t const slots = hot <= 10 ? 56 : hot <= 100 ? 112 : hot * 56 / 100;
  INFO("W = ", W, ", hot keys: ", hot, ", finds: ", mix.find, " of 100");
  time_slice const time(milliseconds);
  for (int round = 0; round == 0 || !time.over(); ++round) {
    table_type table(slots);
    auto const keys = unique_keys<Key>(hot + 3 * slots, static_cast<std::uint64_t>(round % 13));
    auto const from = [&](std::uint64_t i) {
      return keys.begin() + static_cast<std::ptrdiff_t>(i);
    };
    std::vector<Key> const hot_keys(keys.begin(), from(hot)), others(from(hot), from(hot + 16)),
        rest(from(hot + 16), keys.end());
    bystanders<table_type> beside(table, fill_up(table, rest, slots * 93 / 100 - hot / 2 - 8),
                                  others);
    load_of_work work;
    work.threads = 2 + round % 3;
    work.operations = hot <= 100 ? 400 : 5000;
    work.mix = mix;
    work.may_be_full = true;
    auto const histories = record<W, T>(
        table.ref(), hot_keys, work,
        1000 * hot + 100 * mix.find + static_cast<std::uint64_t>(round),
        [&](random_numbers& random) { beside.act(karpos::device::host_tile<W>{}, random); });
    if (!all_linearizable(histories)) return;
    beside.check();
    std::uint64_t left = beside.left();
    for (auto const& history : histories) left += left_by(history);
    check_table(table, left);
  }
}

/// Erases and inserts a few keys whose home line is full, so that they lie in the way of their
/// neighbours' insertions; the neighbours are erased and inserted concurrently.
template <class Key, class T, int W>
void erasures_of_moving_keys(int milliseconds) {
  using table_type = hopscotch_host_table<Key, T, placed_hash<Key>>;
  INFO("W = ", W);
  time_slice const time(milliseconds);
  std::uint64_t moved = 0;
  for (int round = 0; round == 0 || !time.over(); ++round) {
    table_type table(56);
    random_numbers random(static_cast<std::uint64_t>(round));
    auto const some = [&](std::uint64_t home, std::uint64_t n, std::uint64_t first) {
      std::vector<Key> keys;
      for (std::uint64_t i = 0; i < n; ++i)
        keys.push_back(placed_key<Key>(home, static_cast<int>(random.below(8)), first + i));
      return keys;
    };
    auto stay = fill_up(table, some(0, 7, 1), 7);
    auto const far = fill_up(table, some(0, 5, 10), 5);
    stay.insert(stay.end(), far.begin(), far.end());
    std::vector<int> before;
    for (Key const key : far) before.push_back(table.place_of(key));
    std::vector<Key> others;
    for (std::uint64_t const home : {1, 2, 4, 6, 3, 5, 7}) {
      auto const natives = fill_up(table, some(home, 5, 20), 5);
      stay.insert(stay.end(), natives.begin(), natives.end());
      auto const churn = some(home, 4, 30);
      others.insert(others.end(), churn.begin(), churn.end());
    }
    auto const hot = some(0, 4, 40);
    bystanders<table_type> beside(table, stay, others);
    load_of_work work;
    work.threads = 2 + round % 3;
    work.operations = 300;
    work.mix = {45, 45, 10};
    work.may_be_full = true;
    auto const histories =
        record<W, T>(table.ref(), hot, work, static_cast<std::uint64_t>(round),
                     [&](random_numbers& r) { beside.act(karpos::device::host_tile<W>{}, r); });
    if (!all_linearizable(histories)) return;
    beside.check();
    std::uint64_t left = beside.left();
    for (auto const& history : histories) left += left_by(history);
    check_table(table, left);
    for (std::size_t i = 0; i < far.size(); ++i) moved += table.place_of(far[i]) != before[i];
  }
  CHECK(moved > 0);  // else keys did not move
}

/// Passes slots from key to key at once: a found value must be the whole value of its key. Uses no
/// clock, which would keep the threads in step. The counts of each key must add up.
template <class Key, class T, int W>
void storm_of_stamps(int milliseconds) {
  using table_type = hopscotch_host_table<Key, T>;
  constexpr std::size_t different = 80;
  INFO("W = ", W);
  time_slice const time(milliseconds);
  for (int round = 0; round == 0 || !time.over(); ++round) {
    table_type table(56);
    auto const keys = unique_keys<Key>(different, static_cast<std::uint64_t>(round % 13));
    std::vector<std::atomic<std::int64_t>> balance(different);
    std::atomic<std::uint64_t> wrong{0};
    on_threads(2 + round % 3, [&](int thread) {
      auto const ref = table.ref();
      karpos::device::host_tile<W> const tile;
      random_numbers random(static_cast<std::uint64_t>(100 * round + thread));
      for (int i = 0; i < 2000; ++i) {
        std::uint64_t const draw = random();
        std::size_t const k = (draw >> 8) % different;
        T const value = stamped<T>(keys[k], draw >> 16);
        switch (draw % 6) {
          case 0:
          case 1:
            balance[k] += ref.insert(tile, keys[k], value) == karpos::outcome::inserted;
            break;
          case 2:
            balance[k] += ref.insert_or_assign(tile, keys[k], value) == karpos::outcome::inserted;
            break;
          case 3:
            balance[k] -= ref.erase(tile, keys[k]);
            break;
          default: {
            auto const f = ref.find(tile, keys[k]);
            wrong += f.present && !is_stamped(keys[k], f.value);
          }
        }
      }
    });
    CHECK(wrong == 0);
    std::uint64_t left = 0, lost = 0;
    for (std::size_t k = 0; k < different; ++k) {
      auto const f = table.ref().find(karpos::device::host_tile<1>{}, keys[k]);
      left += f.present;
      lost += balance[k] != static_cast<std::int64_t>(table.count(keys[k]));
      lost += balance[k] != f.present || (f.present && !is_stamped(keys[k], f.value));
    }
    CHECK(lost == 0);
    check_table(table, left);
  }
}

/// Adds to keys that are always present, and to keys whose insertion may fail, while other keys
/// come and go.
template <class Key, class T, int W>
void sums_of_moving_keys(int milliseconds) {
  using table_type = hopscotch_host_table<Key, T>;
  constexpr std::size_t sums = 16;
  INFO("W = ", W);
  time_slice const time(milliseconds);
  for (int round = 0; round == 0 || !time.over(); ++round) {
    table_type table(56);
    auto const keys = unique_keys<Key>(120, static_cast<std::uint64_t>(round % 13));
    std::vector<Key> const summed(keys.begin(), keys.begin() + sums),
        others(keys.begin() + sums, keys.begin() + 40), rest(keys.begin() + 40, keys.end());
    auto const tile = karpos::device::host_tile<W>{};
    bystanders<table_type> beside(table, fill_up(table, rest, 28), others);
    for (std::size_t k = 0; k < sums / 2; ++k) table.ref().insert(tile, summed[k], T(1));
    std::vector<std::atomic<std::uint64_t>> expected(sums), inserted(sums);
    std::atomic<std::uint64_t> refused{0};
    on_threads(2 + round % 3, [&](int thread) {
      random_numbers random(static_cast<std::uint64_t>(100 * round + thread));
      for (int i = 0; i < 1000; ++i) {
        std::size_t const k = random.below(sums);
        T const value = static_cast<T>(random.below(1000));
        auto const o = table.ref().insert_or_apply(tile, summed[k], value, karpos::plus{});
        if (o != karpos::outcome::full) expected[k] += static_cast<std::uint64_t>(value);
        inserted[k] += o == karpos::outcome::inserted;
        refused += k < sums / 2 && o != karpos::outcome::existing;
        beside.act(tile, random);
      }
    });
    CHECK(refused == 0);
    beside.check();
    std::uint64_t left = beside.left(), wrong = 0;
    for (std::size_t k = 0; k < sums; ++k) {
      auto const f = table.ref().find(tile, summed[k]);
      bool const before = k < sums / 2;
      wrong += f.present != (before || inserted[k] == 1) || inserted[k] > 1;
      wrong += f.present && static_cast<std::uint64_t>(f.value) != expected[k] + before;
      left += f.present;
    }
    CHECK(wrong == 0);
    check_table(table, left);
  }
}

/// Inserts more keys than fit: at most one thread inserts each key, and accepted keys are found
/// from then on.
template <class Key, class T>
void more_than_fits(int milliseconds) {
  using table_type = hopscotch_host_table<Key, T>;
  time_slice const time(milliseconds);
  for (int round = 0; round == 0 || !time.over(); ++round) {
    table_type table(56);
    constexpr std::size_t different = 100;
    auto const keys = unique_keys<Key>(different, static_cast<std::uint64_t>(round % 13));
    std::vector<std::atomic<std::uint64_t>> inserted(different);
    std::atomic<std::uint64_t> lost{0}, invented{0};
    on_threads(4, [&](int thread) {
      auto const ref = table.ref();
      karpos::device::host_tile<1> const tile;
      for (std::size_t i = 0; i < different; ++i) {
        std::size_t const k = (i + static_cast<std::size_t>(thread) * 25) % different;
        auto const o = ref.insert(tile, keys[k], stamped<T>(keys[k], i));
        inserted[k] += o == karpos::outcome::inserted;
        if (o != karpos::outcome::full) lost += !ref.contains(tile, keys[k]);
        if (o == karpos::outcome::existing) {
          auto const f = ref.find(tile, keys[k]);
          lost += !f.present || !is_stamped(keys[k], f.value);
        }
      }
    });
    std::uint64_t total = 0;
    for (std::size_t k = 0; k < different; ++k) {
      invented += inserted[k] > 1 || table.count(keys[k]) != inserted[k];
      total += inserted[k];
    }
    CHECK(lost == 0);
    CHECK(invented == 0);
    CHECK(total <= table.slots());
    CHECK(total >= table.slots() * 9 / 10);
    check_table(table, total);
  }
}

}  // namespace karpos_test
