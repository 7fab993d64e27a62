// SPDX-License-Identifier: Apache-2.0
/// \file
/// Insertions into a dense cuckoo map after it was built.
#include <stdexcept>

#include "support/cuckoo.hpp"

namespace {

using karpos_test::check_contents;
using karpos_test::check_empty_and_usable;
using karpos_test::joined;
using karpos_test::numbered_values;
using karpos_test::oracle;
using karpos_test::shuffled;
using karpos_test::slice;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_space;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using karpos::cuckoo_layout;
using karpos::insert_report;

/// A map and its oracle.
template <class Key, class T, class Hash = karpos::seeded_hash<Key>>
class pair_of_maps {
 public:
  using map_type = karpos::cuckoo_map<Key, T, space, Hash>;
  using options = typename map_type::options;

  pair_of_maps(std::vector<Key> const& keys, options const& o)
      : map(space{}, to_space(keys), to_space(numbered_values<T>(keys.size())), o),
        expected(karpos_test::oracle_of(keys, numbered_values<T>(keys.size()))),
        m_keeps(o.keep_workspace) {}

  /// Inserts keys, and compares the report.
  void insert(std::string const& what, std::vector<Key> const& keys) {
    auto const values = numbered_values<T>(keys.size(), m_next_value += 1000);
    insert_report counted;
    for (std::size_t i = 0; i < keys.size(); ++i)
      ++counted[static_cast<int>(expected.insert(keys[i], values[i]))];
    auto const r = map.insert(space{}, to_space(keys), to_space(values));
    karpos_test::same(what + ": inserted", r.inserted, counted.inserted);
    karpos_test::same(what + ": existing", r.existing, counted.existing);
    karpos_test::same(what + ": rejected or invalid", r.rejected + r.invalid, 0);
    karpos_test::same(what + ": size", map.size(), expected.size());
  }
  /// Inserts keys that cannot be placed, and checks that nothing changes.
  void fail(std::string const& what, std::vector<Key> const& keys,
            std::vector<Key> const& queries) {
    std::size_t const bytes = map.bytes();
    throws<karpos::hash_error>(
        [&] { map.insert(space{}, to_space(keys), to_space(numbered_values<T>(keys.size()))); },
        "karpos::cuckoo_map::insert: no slots", "17 seeds");
    check(what, joined(queries, keys));
    if (!m_keeps) karpos_test::same(what + ": bytes", map.bytes(), bytes);
  }
  void check(std::string const& what, std::vector<Key> const& queries) const {
    check_contents(what, map, expected, queries);
  }

  map_type map;
  oracle<Key, T> expected;

 private:
  u64 m_next_value = 5000000;
  bool m_keeps;
};

/// Inserts ten batches up to the capacity, each with duplicates and with stored keys; then ten
/// batches beyond it.
template <class Key, class T>
void inserts_batches(u64 capacity, double load, bool keep_workspace = false) {
  std::string const name =
      "capacity " + std::to_string(capacity) + ", load " + std::to_string(load);
  auto const all = unique_keys<Key>(3 * capacity);
  std::size_t const start = capacity / 10, step = (capacity - start) / 10;
  typename pair_of_maps<Key, T>::options o{
      .layout = cuckoo_layout::dense, .load = load, .capacity = capacity};
  o.keep_workspace = keep_workspace;
  pair_of_maps<Key, T> both(slice(all, 0, start), o);
  std::size_t const bytes = both.map.bytes();
  std::size_t last = start;
  for (u64 b = 0; b < 10; ++b) {
    auto const fresh = slice(all, last, b == 9 ? capacity : last + step);
    last += fresh.size();
    auto batch = joined(fresh, karpos_test::skewed_draws(fresh, step / 2, b));
    batch = joined(batch, slice(all, 0, start / 2));
    auto const what = name + ", batch " + std::to_string(b);
    both.insert(what, shuffled(batch, b));
    both.check(what, all);
  }
  CHECK(both.map.size() == capacity);
  if (!keep_workspace) CHECK(both.map.bytes() == bytes);  // up to the capacity it does not grow
  for (u64 b = 0; b < 10; ++b) {
    auto const fresh = slice(all, last, last + step);
    last += step;
    auto const what = name + ", beyond it, batch " + std::to_string(b);
    both.insert(what, shuffled(joined(fresh, joined(fresh, slice(all, 0, 100))), b));
    both.check(what, all);
  }
  CHECK(both.map.bytes() > bytes);
  both.map.build(space{}, to_space(slice(all, 5, 105)), to_space(numbered_values<T>(100)));
  check_contents(name + ", built again", both.map,
                 karpos_test::oracle_of(slice(all, 5, 105), numbered_values<T>(100)), all);
}

TEST_CASE("cuckoo_map<u32, u32>: batches of insertions, up to the capacity and beyond it") {
  for (u64 capacity : {200u, 2000u, 100000u})
    for (double load : {0.7, 0.95, 0.98}) inserts_batches<u32, u32>(capacity, load);
  inserts_batches<u32, u32>(2000, 0.95, true);
  inserts_batches<u32, u32>(200000, 0.95);  // two partitions, and then three
}
TEST_CASE("cuckoo_map<u64, u64>: batches of insertions, up to the capacity and beyond it") {
  for (u64 capacity : {200u, 2000u, 100000u})
    for (double load : {0.7, 0.95, 0.98}) inserts_batches<u64, u64>(capacity, load);
}

TEST_CASE("cuckoo_map: a map built of nothing grows") {
  for (double load : {0.01, 0.5, 0.98}) {
    auto const keys = unique_keys<u32>(20000);
    pair_of_maps<u32, u32> both({}, {.layout = cuckoo_layout::dense, .load = load});
    both.insert("nothing", {});
    both.check("nothing", keys);
    std::size_t last = 0;
    for (std::size_t n : {1u, 1u, 6u, 3u, 50u, 1000u, 10000u}) {
      both.insert("next", slice(keys, last, last + n));
      last += n;
      both.check(std::to_string(last) + " keys", keys);
    }
    both.insert("all again", keys);
    both.insert("all once more", keys);
    both.check("all", keys);
  }
}

TEST_CASE("cuckoo_map: of a batch with sentinels the others are inserted") {
  constexpr u32 largest = ~u32(0);
  for (u64 capacity : {0u, 1000u}) {  // with growth and without
    pair_of_maps<u32, u32> both({1, 2, 3}, {.layout = cuckoo_layout::dense, .capacity = capacity});
    std::vector<u32> batch{3, largest, 4, 4, largest, 1, largest};
    for (u32 i = 0; i < 200; ++i) batch.push_back(100 + i);
    auto const values = numbered_values<u32>(batch.size(), 777);
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (batch[i] != largest) both.expected.insert(batch[i], values[i]);
    for (int round = 0; round < 2; ++round) {
      throws<std::invalid_argument>(
          [&] { both.map.insert(space{}, to_space(batch), to_space(values)); },
          "karpos::cuckoo_map::insert: ", "sentinel", "3 of 207");
      both.check("after sentinels", batch);
    }
    throws<std::invalid_argument>(
        [&] {
          both.map.insert(space{}, to_space(std::vector<u32>{largest}),
                          to_space(std::vector<u32>{1}));
        },
        "1 of 1");
    both.check("after a sentinel alone", batch);
    both.insert("afterwards", {1, 1000000, 1000001});
    both.check("afterwards", {1, 2, 1000000, 1000001});
  }
}

/// A hash family in which all large keys have one hash, whatever the seed.
template <class Key>
struct collides {
  KOKKOS_FUNCTION u64 operator()(Key key, u64 seed) const {
    return key >= (Key(1) << 20) ? 0 : karpos::mix(key + seed);
  }
};

/// If every window of the sentinel is full, a lookup finds no empty slot that could stand for the
/// sentinel.
TEST_CASE("cuckoo_map: a sentinel is no absent key, even where its windows are full") {
  constexpr u32 largest = ~u32(0);
  std::vector<u32> keys;
  for (u32 i = 0; i < 8; ++i) keys.push_back((1u << 20) + i);  // one window three times
  using map_of_colliding = pair_of_maps<u32, u32, collides<u32>>;
  map_of_colliding both(keys, {.layout = cuckoo_layout::dense, .capacity = 1000});
  throws<std::invalid_argument>(
      [&] {
        both.map.insert(space{}, to_space(std::vector<u32>{largest}),
                        to_space(std::vector<u32>{1}));
      },
      "karpos::cuckoo_map::insert: ", "sentinel", "1 of 1");
  both.check("the others", keys);
}

template <class Key, class T>
void keeps_everything_when_an_insertion_fails(u64 capacity, bool keep_workspace) {
  std::vector<Key> good(1000), more(1000), bad(600);
  for (std::size_t i = 0; i < 1000; ++i) {
    good[i] = static_cast<Key>(5 * i);
    more[i] = static_cast<Key>(5 * i + 1);
  }
  for (std::size_t i = 0; i < bad.size(); ++i) bad[i] = (Key(1) << 20) + static_cast<Key>(i);
  auto const all = joined(good, more);
  typename pair_of_maps<Key, T, collides<Key>>::options o{
      .layout = cuckoo_layout::dense, .load = 0.95, .capacity = capacity};
  o.keep_workspace = keep_workspace;
  pair_of_maps<Key, T, collides<Key>> both(good, o);
  for (int round = 0; round < 3; ++round) {
    both.fail("all collide", bad, all);
    both.fail("some collide", shuffled(joined(bad, slice(more, 300, 900)), 4), all);
  }
  // Insertable keys can still be inserted, together with stored ones.
  both.insert("some good keys", slice(more, 0, 500));
  both.insert("two that collide", {bad[0], good[0], bad[1]});
  both.check("two that collide", joined(all, bad));
  both.fail("all collide with two", bad, all);
  both.insert("all good keys", shuffled(joined(more, good), 5));
  both.check("in the end", joined(all, bad));
  check_empty_and_usable("cleared", both.map = pair_of_maps<Key, T, collides<Key>>({}, o).map);
}

TEST_CASE("cuckoo_map: an insertion that finds no slot changes nothing") {
  for (u64 capacity : {0u, 3000u})  // with growth and without
    for (bool keep_workspace : {false, true}) {
      keeps_everything_when_an_insertion_fails<u32, u32>(capacity, keep_workspace);
      keeps_everything_when_an_insertion_fails<u64, u64>(capacity, keep_workspace);
    }
}

}  // namespace
