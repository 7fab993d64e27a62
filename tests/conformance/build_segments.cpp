// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "karpos/detail/relational/partition/move.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/tables/open_addressing/run.hpp"
#include "karpos/hash_map.hpp"
#include "support/emulated_team.hpp"
#include "support/keys.hpp"
#include "support/near_probing.hpp"
#include "support/places.hpp"

// The step with which GPU teams (blocks) build table segments, on teams that a CPU emulates: their
// threads run in random order.

namespace {

using namespace karpos::detail::open_addressing;
using exec_space = Kokkos::DefaultHostExecutionSpace;
using karpos::double_hashing;
using karpos::linear_probing;
using karpos_test::emulated_block;
using near_probing = karpos_test::near_probing<16>;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST_CASE("partitions have a fixed capacity if their rows and places can be counted") {
  auto const capacity = [](u64 rows, u64 partitions, double slack = 1, u64 most = ~u32(0)) {
    namespace partition = karpos::detail::partition;
    return partition::partition_capacity(
        partitions,
        partition::capacity_policy(double(rows) / double(partitions), slack, most, ~u32(0)));
  };
  CHECK(capacity(1'000'000, 1'000) == 1'248);
  CHECK(capacity(1'000'000, 1'000, 1.5) == 1'792);
  CHECK(capacity(1'000'000, 1'000, 1, 1'024) == 1'024);
  CHECK(capacity(u64(1) << 31, 8) > u32(1) << 28);
  CHECK(capacity(u64(1) << 31, 2) == 0);            // the places of both exceed 2^31
  CHECK(capacity(u64(1) << 31, 1) == 0);            // its rows cannot be counted
  CHECK(capacity((u64(1) << 32) - 1, 1) == 0);      // as long as all rows that 32 bits count
  CHECK(capacity((u64(1) << 32) - 1, 4'096) == 0);  // their capacities are larger
}

TEST_CASE("a search for an empty slot begins at the first one that was seen empty") {
  u32 const none[] = {1, 2, 3, 4}, all[] = {9, 9, 9, 9}, two[] = {1, 2, 9, 9};
  CHECK(first_empty(none, 9u) == 4);
  CHECK(first_empty(all, 9u) == 0);
  CHECK(first_empty(two, 9u) == 2);
  u32 const torn[] = {1, 2, 3, 9, 4, 9, 9, 9};  // slot 3 was filled after its read, slot 4 before
  CHECK(first_empty(torn, 9u) == 3);
}

/// A map with buckets of 32 bytes, whose table a test may change.
template <class Key, class T, class Hash = karpos::hash<Key>, class Probing = double_hashing>
struct open_map : karpos::hash_map<Key, T, exec_space, Hash, karpos::equal_to<Key>, Probing,
                                   sizeof(Key) + sizeof(T) == 8 ? 4 : 2> {
  using open_map::hash_map::hash_map;
  auto table() const { return this->m_storage.ref(); }
};

template <class Key, class T, class Combine, class Hash = karpos::hash<Key>,
          class Probing = double_hashing>
class segmented_map {
  using map_type = open_map<Key, T, Hash, Probing>;
  using table = decltype(std::declval<map_type const&>().table());
  using row = row_of<table>;
  using step = build_segments<exec_space, table, Combine>;

 public:
  explicit segmented_map(u64 max_keys, Hash const& hash = {})
      : m_map(exec_space{}, max_keys, {.load = 0.9, .seed = 0}, hash) {
    (void)m_map.ref();  // the map does not see changes to its table
  }
  map_type& map() { return m_map; }

  /// Runs the step over some rows with segments of at most max_segment_pairs bucket pairs.
  /// `capacity`: capacity of the list of deferred rows.
  segment_counts run(std::vector<row> const& input, u64 max_segment_pairs, u64 max_partitions,
                     u64 capacity, table_state state, Combine const& combine, u64 seed) {
    segment_plan const plan(m_map.bucket_count() / 2, max_segment_pairs, max_partitions);
    CHECK(plan.partitions() * plan.partition_pairs >= plan.pairs);
    CHECK(plan.segments_per_partition * plan.segment_pairs >= plan.partition_pairs);
    CHECK(plan.segment_pairs <= std::max(max_segment_pairs, u64(2)));
    CHECK(plan.segment_pairs % plan.near_pairs == 0);
    CHECK(plan.partition_pairs % plan.near_pairs == 0);
    CHECK(plan.partitions() <= max_partitions);
    m_plan = plan;
    table const t = m_map.table();
    split(partition_of_key<table>(t, plan), input, plan.partitions());
    m_deferred.assign(capacity + 1, row{});
    m_bits.assign(input.size() / 32 + 1, 0);
    segment_counts counts{};
    step const s(t, plan, {m_rows.data(), m_begins.data(), {}},
                 {m_deferred.data(), capacity, m_bits.data()}, &counts, state, combine);
    emulated_block block(24, seed);
    auto const teams = static_cast<int>(plan.partitions() * plan.segments_per_partition);
    for (int team = 0; team < teams; ++team) block.run(s, team, teams);
    return counts;
  }
  /// Returns the deferred rows, from the list and from the bits.
  std::vector<row> deferred(u64 count, u64 capacity) const {
    std::vector<row> rows(m_deferred.begin(),
                          m_deferred.begin() + static_cast<long>(std::min(count, capacity)));
    for (u64 i = 0; i < m_rows.size(); ++i)
      if (set_bits_of{m_bits.data()}(i)) rows.push_back(m_rows[i]);
    return rows;
  }

  /// Adds the expected marks of the rows that are not stored in their first bucket pair: each marks
  /// its second bucket.
  void expect_marks(std::vector<row> const& rows) {
    table const t = m_map.table();
    for (row const& r : rows) {
      auto p = t.start(r.key);
      if (pair_has(p.pair(), t.holds(r.key))) continue;
      t.advance(p);
      m_marks[p.bucket()] |= u32(1) << table::order::class_of(p.hash());
    }
  }
  /// Counts the buckets, without holes and tombstones, whose key order lacks a mark that it must
  /// have or has one that it must not have. Deferred rows may have filled such buckets.
  struct marks_found {
    u64 buckets = 0, missing = 0, needless = 0;
  };
  marks_found compare_marks() const {
    table const t = m_map.table();
    marks_found found;
    for (u64 b = 0; b < m_map.bucket_count(); ++b) {
      bool all_live = true;
      for (int s = 0; s < table::bucket_slots; ++s) all_live &= t.slot().live(slot_of(t, b, s));
      if (!all_live) continue;
      auto const at = m_marks.find(b);
      u32 const wanted = at == m_marks.end() ? 0 : at->second;
      u32 const marks =
          table::order::marks([&](int s) { return table::layout::key_of(slot_of(t, b, s)); });
      found.missing += (wanted & ~marks) != 0;
      found.needless += (marks & ~wanted) != 0 && std::popcount(wanted) != 3;
      ++found.buckets;
    }
    return found;
  }

  /// Counts the rows that are deferred needlessly: a pair on the path of such a row that lies in
  /// its segment has an empty slot or the row's key, or the mark of its second pair is not set.
  u64 count_needless(std::vector<row> const& deferred) const {
    table const t = m_map.table();
    u64 n = 0;
    for (row const& r : deferred) {
      auto const holds = t.holds(r.key);
      auto const has_place = [&](u64 pair) {
        return pair_has(pair, holds) || pair_has(pair, t.slot().is_empty());
      };
      auto p = t.start(r.key);
      u64 const first = p.pair();
      for (u32 i = 1; i < first_mark; ++i) t.advance(p);
      bool const is_near = m_plan->are_near(first, p.pair());
      karpos::detail::one_thread<table> const thread{};
      n += has_place(first) || (is_near && has_place(p.pair())) ||
           (is_near &&
            t.template find_step<karpos::device::access::frozen>(thread, p, holds).decided());
    }
    return n;
  }

 private:
  static auto slot_of(table const& t, u64 bucket, int slot) {
    return *t.slot_at(bucket * table::bucket_slots + static_cast<u64>(slot));
  }
  bool pair_has(u64 pair, auto const& matches) const {
    bool has = false;
    for (int s = 0; s < 2 * table::bucket_slots; ++s)
      has |= matches(slot_of(m_map.table(), 2 * pair, s));
    return has;
  }
  void split(partition_of_key<table> const& of_key, std::vector<row> const& input, u64 partitions) {
    std::vector<std::vector<row>> in_partitions(partitions);
    for (row const& r : input) in_partitions.at(of_key(r.key)).push_back(r);
    m_rows.clear();
    m_begins.assign(1, 0);
    for (auto const& rows : in_partitions) {
      m_rows.insert(m_rows.end(), rows.begin(), rows.end());
      m_begins.push_back(m_rows.size());
    }
  }

  map_type m_map;
  std::optional<segment_plan> m_plan;
  std::vector<row> m_rows, m_deferred;
  std::vector<u64> m_begins;
  std::vector<u32> m_bits;
  std::map<u64, u32> m_marks;
};

template <class Key, class T>
std::map<Key, T> contents(auto const& map) {
  std::map<Key, T> in;
  u64 const n = map.size(exec_space{});
  Kokkos::View<Key*, Kokkos::HostSpace> const keys("keys", n);
  Kokkos::View<T*, Kokkos::HostSpace> const values("values", n);
  CHECK(map.retrieve_all(exec_space{}, keys, values) == n);
  for (u64 i = 0; i < n; ++i) in[keys(i)] = values(i);
  CHECK(in.size() == n);
  return in;
}

template <class X>
Kokkos::View<X*, Kokkos::HostSpace> view_of(std::vector<X> const& from) {
  Kokkos::View<X*, Kokkos::HostSpace> const to("data", from.size());
  std::copy(from.begin(), from.end(), to.data());
  return to;
}

/// Reduces rows, some of them with equal keys, into a map that holds some keys; then inserts the
/// deferred rows one by one.
template <class Key, class T, class Probing = near_probing>
void sums_by_key(u64 n, u64 max_segment_pairs, u64 max_partitions, u64 capacity, bool is_empty) {
  INFO("n = ", n, ", segments of ", max_segment_pairs, ", partitions ", max_partitions,
       ", capacity ", capacity);
  auto const keys = karpos_test::unique_keys<Key>(n);
  auto const draws = karpos_test::skewed_draws(keys, n, n);
  segmented_map<Key, T, karpos::plus, karpos::hash<Key>, Probing> segments(n);
  auto& map = segments.map();
  std::map<Key, T> expected;
  if (!is_empty) {
    std::vector<Key> const some(keys.begin(), keys.begin() + static_cast<long>(n / 3));
    map.insert(exec_space{}, view_of(some), T(1));
    for (Key const key : some) expected[key] = T(1);
  }
  u64 const before = expected.size();
  std::vector<karpos::key_value<Key, T>> rows;
  for (u64 i = 0; i < n; ++i) {
    rows.push_back({draws[i], static_cast<T>(i)});
    expected[draws[i]] += static_cast<T>(i);
  }
  segment_counts const counts =
      segments.run(rows, max_segment_pairs, max_partitions, capacity, {is_empty, false}, {}, n);
  std::vector<Key> deferred_keys;
  std::vector<T> deferred_values;
  auto const deferred = segments.deferred(counts.deferred, capacity);
  for (auto const& r : deferred) {
    deferred_keys.push_back(r.key);
    deferred_values.push_back(r.value);
  }
  CHECK(deferred_keys.size() == counts.deferred);
  CHECK(segments.count_needless(deferred) == 0);
  CHECK(counts.report.inserted + counts.report.existing + counts.deferred == n);
  auto const rest = map.insert_or_apply(exec_space{}, view_of(deferred_keys),
                                        view_of(deferred_values), karpos::plus{});
  CHECK(counts.report.inserted + rest.inserted == expected.size() - before);
  CHECK(contents<Key, T>(map) == expected);
  Kokkos::View<T*, Kokkos::HostSpace> const out("values", n);
  map.find(exec_space{}, view_of(draws), out, T(0));
  u64 wrong = 0;
  for (u64 i = 0; i < n; ++i) wrong += out(i) != expected[draws[i]];
  CHECK(wrong == 0);
}

TEST_CASE("segments of every size sum values by key") {
  for (bool const is_empty : {true, false}) {
    for (u64 const segment : {1, 2, 7, 64, 1000}) {
      sums_by_key<u32, u32>(600, segment, 8192, 600, is_empty);
      sums_by_key<u64, u64>(500, segment, 8192, 500, is_empty);
    }
    sums_by_key<u32, u32>(1, 8, 8192, 10, is_empty);
    sums_by_key<u32, u32>(4, 8, 8192, 10, is_empty);
    sums_by_key<u32, u32, double_hashing>(600, 7, 8192, 600, is_empty);
    sums_by_key<u64, u64, linear_probing>(500, 64, 3, 500, is_empty);
  }
}

TEST_CASE("partitions of several segments, and more deferred rows than the list holds") {
  for (bool const is_empty : {true, false})
    for (u64 const partitions : {1, 3, 16}) {
      sums_by_key<u32, u32>(2000, 16, partitions, 2000, is_empty);
      sums_by_key<u32, u32>(2000, 16, partitions, 5, is_empty);
      sums_by_key<u64, u64>(2000, 32, partitions, 0, is_empty);
    }
}

/// Inserts different keys in several calls; before the last one every seventh key of the first half
/// is erased. A team places such rows first and finds no equal keys. The last call has a key that
/// is stored already. The order of keys must mark all keys beyond their first pair, and few others.
template <class Key, class T, class Probing = near_probing>
void fills_in_order(u64 n, u64 max_segment_pairs, u64 max_partitions, u64 capacity) {
  INFO("n = ", n, ", segments of ", max_segment_pairs, ", partitions ", max_partitions,
       ", capacity ", capacity);
  segmented_map<Key, T, karpos::detail::keep_stored, karpos::hash<Key>, Probing> segments(n);
  auto const keys = karpos_test::unique_keys<Key>(n);
  std::map<Key, T> expected;
  u64 const calls = 4;
  for (u64 call = 0; call < calls; ++call) {
    std::vector<karpos::key_value<Key, T>> rows;
    for (u64 i = call * n / calls; i < (call + 1) * n / calls; ++i)
      rows.push_back({keys[i], static_cast<T>(i)});
    auto const added = rows.size();
    if (call == 3) rows.push_back({expected.begin()->first, T(1)});
    segment_counts const counts = segments.run(rows, max_segment_pairs, max_partitions, capacity,
                                               {call == 0, true}, {}, n + call);
    CHECK(counts.report.invalid == 0);
    std::vector<Key> deferred_keys;
    std::vector<T> deferred_values;
    auto const deferred = segments.deferred(counts.deferred, capacity);
    for (auto const& r : deferred) {
      deferred_keys.push_back(r.key);
      deferred_values.push_back(r.value);
    }
    CHECK(segments.count_needless(deferred) == 0);
    segments.expect_marks(rows);
    auto const found = segments.compare_marks();
    CHECK(found.missing == 0);
    CHECK(found.needless * (sizeof(Key) == 4 ? 10 : 2) <= found.buckets);
    auto const rest =
        segments.map().insert(exec_space{}, view_of(deferred_keys), view_of(deferred_values));
    CHECK(counts.report.inserted + rest.inserted == added);
    for (auto const& r : rows) expected.try_emplace(r.key, r.value);
    if (call == 2) {
      std::vector<Key> gone;
      for (u64 i = 0; i < n / 2; i += 7) gone.push_back(keys[i]);
      CHECK(segments.map().erase(exec_space{}, view_of(gone)) == gone.size());
      for (Key const key : gone) expected.erase(key);
    }
  }
  CHECK(contents<Key, T>(segments.map()) == expected);
}

TEST_CASE("different keys are placed first, and full buckets say what lies beyond their pairs") {
  for (u64 const segment : {2, 7, 64, 1000}) {
    fills_in_order<u32, u32>(1200, segment, 8192, 1200);
    fills_in_order<u64, u64>(1000, segment, 8192, 1000);
  }
  for (u64 const partitions : {1, 3}) {
    fills_in_order<u32, u32>(1000, 16, partitions, 5);
    fills_in_order<u64, u64>(1000, 16, partitions, 0);
  }
  fills_in_order<u32, u32, double_hashing>(1200, 64, 8192, 1200);
  fills_in_order<u64, u64, linear_probing>(1000, 7, 3, 1000);
}

/// Inserts rows, one or two of which have a key that another row or the table has, into a few
/// crowded pairs: copies of a key meet in its first pair, in its second, and in both.
template <class Probing>
void keeps_one_of_equal_keys(u64 seed) {
  INFO("seed ", seed);
  karpos_test::random_numbers random(seed);
  u64 const n = 20 + random() % 60, stored = random() % 2 * (n / 2);
  segmented_map<u32, u32, karpos::detail::keep_stored, karpos::hash<u32>, Probing> segments(n);
  auto keys = karpos_test::unique_keys<u32>(n, static_cast<u32>(seed));
  std::map<u32, u32> expected;
  for (u64 i = 0; i < n; ++i) expected[keys[i]] = ~keys[i];
  for (u64 i = random() % 3; i > 0; --i) keys.push_back(keys[random() % n]);
  std::shuffle(keys.begin() + static_cast<long>(stored), keys.end(), std::mt19937_64(seed));
  using row = karpos::key_value<u32, u32>;
  for (auto const& [first, last] : {std::pair{u64(0), stored}, {stored, u64(keys.size())}}) {
    std::vector<row> rows;
    for (u64 i = first; i < last; ++i) rows.push_back({keys[i], ~keys[i]});
    auto const counts = segments.run(rows, 16, 8192, n, {first == 0, true}, {}, seed);
    auto const deferred = segments.deferred(counts.deferred, n);
    CHECK(segments.count_needless(deferred) == 0);
    CHECK(counts.report.inserted + counts.report.existing + counts.deferred == rows.size());
    for (row const& r : deferred)
      segments.map().insert(exec_space{}, view_of(std::vector<u32>{r.key}), r.value);
  }
  CHECK(contents<u32, u32>(segments.map()) == expected);
}

TEST_CASE("of equal keys one is kept, whichever pairs they find full") {
  for (u64 seed = 1; seed <= 300; ++seed) {
    keeps_one_of_equal_keys<near_probing>(seed);
    keeps_one_of_equal_keys<linear_probing>(seed);
  }
}

/// A hash that puts every seventh key into the first of 64 parts of a table; every 1,001st key has
/// the hash 0.
struct crowds : karpos_test::clustered_hash {
  crowds(u64 slots = 0) : clustered_hash{7, 64, {karpos::detail::hashed::open_addressing, slots}} {}
  KOKKOS_FUNCTION u64 operator()(u32 key) const {
    return key % 1001 == 0 ? 0 : clustered_hash::operator()(key);
  }
};

TEST_CASE(
    "keys that a crowded region has no slot for are counted as rejected, and no others are "
    "missing") {
  u64 const n = 400'000;
  using segmented_map_type = segmented_map<u32, u32, karpos::detail::keep_stored, crowds>;
  segmented_map_type segments(n, crowds(segmented_map_type(n).map().capacity()));
  auto& map = segments.map();
  auto const keys = karpos_test::unique_keys<u32>(n);
  std::vector<karpos::key_value<u32, u32>> rows;
  for (u32 const key : keys) rows.push_back({key, ~key});
  segment_counts const counts = segments.run(rows, 1000, 8192, n / 8, {true, true}, {}, 1);
  std::vector<u32> deferred_keys, deferred_values;
  for (auto const& r : segments.deferred(counts.deferred, n / 8)) {
    deferred_keys.push_back(r.key);
    deferred_values.push_back(r.value);
  }
  CHECK(counts.report.inserted + counts.deferred == n);
  auto const rest = map.insert(exec_space{}, view_of(deferred_keys), view_of(deferred_values));
  CHECK(rest.inserted + rest.rejected == counts.deferred);
  CHECK(rest.rejected > 0);
  u64 const inserted = counts.report.inserted + rest.inserted;
  CHECK(map.size(exec_space{}) == inserted);
  Kokkos::View<u32*, Kokkos::HostSpace> const out("values", n);
  map.find(exec_space{}, view_of(keys), out, 0);
  u64 found = 0, wrong = 0;
  for (u64 i = 0; i < n; ++i) {
    found += out(i) == ~keys[i];
    wrong += out(i) != ~keys[i] && out(i) != 0;
  }
  CHECK(found == inserted);
  CHECK(wrong == 0);
}

/// Stands for a device in the step that splits rows.
struct emulated_device {
  struct memory_space {};
};

template <class Key, class T>
void leaves_dead_slots_out(u64 n) {
  INFO("n = ", n);
  namespace partition = karpos::detail::partition;
  open_map<Key, T> map(exec_space{}, n, {.load = 0.7});
  auto const keys = karpos_test::unique_keys<Key>(n);
  map.insert(exec_space{}, view_of(keys), T(3));
  std::vector<Key> gone;
  for (u64 i = 0; i < n; i += 5) gone.push_back(keys[i]);
  map.erase(exec_space{}, view_of(gone));
  auto const t = map.table();
  using table = std::decay_t<decltype(t)>;
  using source = rows_of_slots<table>;
  using fixed_partitions = partition::fixed_partitions<row_of<table>, empty_slot_filter<table>>;
  segment_plan const plan(map.bucket_count() / 2, 16, 40);
  using of_key = partition_of_key<table>;
  partition::partition_of_row<source, of_key> const partition_of{
      of_key(t, plan), static_cast<u32>(plan.partitions())};
  std::vector<u32> taken(plan.partitions()), filled(plan.partitions());
  auto const capacity = static_cast<u32>(n);
  std::vector<row_of<table>> out(plan.partitions() * capacity), list(n);
  u32 overflowed = 0;
  fixed_partitions const to{taken.data(),
                            filled.data(),
                            list.data(),
                            &overflowed,
                            capacity,
                            static_cast<u32>(n),
                            static_cast<int>(plan.partitions()),
                            {t}};
  source const all(t, map.capacity());
  partition::move_tiles<emulated_device, source, decltype(partition_of), false,
                        fixed_partitions> const step(all, partition_of, {all.size(), all.size(), 2},
                                                     to, out.data());
  emulated_block block(24, n);
  for (int team = 0; team < 2; ++team) block.run(step, team, 2);
  CHECK(overflowed == 0);
  std::map<Key, T> got;
  for (u64 p = 0; p < plan.partitions(); ++p)
    for (u64 i = 0; i < taken[p]; ++i) {
      auto const& r = out[p * capacity + i];
      CHECK(partition_of(r) == p);
      CHECK(got.emplace(r.key, r.value).second);
    }
  CHECK(got == contents<Key, T>(map));
}

TEST_CASE("slots without a key are left out when the slots of a table are split") {
  for (u64 const n : {1, 4, 700}) {
    leaves_dead_slots_out<u32, u32>(n);
    leaves_dead_slots_out<u64, u64>(n);
  }
}

template <class Bits, int B>
void orders_stand_for_sets() {
  using order = key_order<Bits, B>;
  Bits keys[B];
  for (int i = 0; i < B; ++i) keys[i] = static_cast<Bits>(10 + i);
  auto const in = [](Bits const* from) { return [from](int i) { return from[i]; }; };
  u64 none = 0, all = 0;
  do {
    none += order::marks(in(keys)) == 0;
    ++all;
    for (u32 set = 0; set < 1u << order::classes; ++set) {
      Bits moved[B];
      std::copy(keys, keys + B, moved);
      u32 const to = order::permutation(in(keys), set);
      for (int i = 0; i < order::keys; ++i) moved[to >> 2 * i & 3] = keys[i];
      CHECK(std::is_permutation(moved, moved + B, keys));
      CHECK(order::marks(in(moved)) == (std::popcount(set) == 3 ? 15 : set));
    }
  } while (std::next_permutation(keys, keys + order::keys));
  CHECK(2 * none == all);
  for (u64 i = 0; i < 100; ++i) CHECK(order::class_of(karpos::mix(i)) < order::classes);
}

TEST_CASE("orders of keys stand for sets of classes") {
  orders_stand_for_sets<u64, 2>();
  orders_stand_for_sets<u32, 4>();
  orders_stand_for_sets<u64, 4>();
  orders_stand_for_sets<u32, 8>();
}

TEST_CASE("segments divide no pairs that are near each other") {
  for (u64 const pairs : {3, 2000, 100'003})
    for (u64 const partitions : {1, 3, 40}) {
      segment_plan const plan(pairs, 1000, partitions);
      CHECK(plan.near_pairs == double_hashing::near_pairs);
      CHECK(plan.segment_pairs <= 1000);
      CHECK(plan.segment_pairs % plan.near_pairs == 0);
      CHECK(plan.partition_pairs % plan.near_pairs == 0);
      CHECK(plan.segments_per_partition * plan.segment_pairs >= plan.partition_pairs);
    }
}

TEST_CASE("partitions of keys are those of their home pairs") {
  segmented_map<u32, u32, karpos::detail::keep_stored> segments(100000);
  auto const t = segments.map().table();
  for (u64 const segment : {1, 2, 3, 31, 64, 1000, 4096, 100000}) {
    segment_plan const plan(segments.map().bucket_count() / 2, segment, 8192);
    partition_of_key<std::decay_t<decltype(t)>> const of_key(t, plan);
    u64 wrong = 0;
    for (u32 const key : karpos_test::unique_keys<u32>(5000))
      wrong += of_key(key) != t.start(key).pair() / plan.partition_pairs;
    CHECK(wrong == 0);
  }
}

TEST_CASE(
    "no segment is built if partitions are skewed, and keys equal to a sentinel are counted") {
  u64 const keys[] = {10, 20, 30};
  u64 const begins[] = {0, 5, 25, 30};
  for (u64 const most : {19, 20}) {
    segment_counts counts{};
    for (u64 p = 0; p < 3; ++p)
      karpos::detail::partition::find_long_partition{begins, most, &counts.skewed}(p);
    CHECK(counts.skewed == (most < 20 ? 1 : 0));
  }
  segmented_map<u64, u64, karpos::detail::keep_stored> segments(100);
  std::vector<karpos::key_value<u64, u64>> rows;
  for (u64 const key : keys) rows.push_back({key, 1});
  rows.push_back({~u64(0), 1});
  rows.push_back({~u64(0) - 1, 1});
  segment_counts const counts = segments.run(rows, 4, 8192, 10, {true, true}, {}, 1);
  CHECK(counts.report == karpos::insert_report{3, 0, 0, 2});
}

}  // namespace
