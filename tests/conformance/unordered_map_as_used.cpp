// SPDX-License-Identifier: Apache-2.0
/// \file
/// Uses of Kokkos::UnorderedMap beyond its manual, with both maps. Programs name results by their
/// type, write to slots without a key, loop to hash_capacity() or size(), read keys wherever there
/// may be one, and keep maps in arrays. Then tests what this map promises beyond that. Includes
/// only this map's header, like programs that change the include.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <karpos/unordered_map.hpp>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/listener.hpp"
#include "support/space.hpp"

#if defined(__unix__)
#include <unistd.h>
#endif

namespace {

using karpos_test::holds;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;

/// Ends the process if a case hangs, so that a hang counts as a failure.
class patience {
 public:
#if defined(__unix__)
  patience() { alarm(100); }
  ~patience() { alarm(0); }
#else
  patience() {}
#endif
};

struct of_kokkos {
  template <class Key, class Value, class Device = space>
  using map = Kokkos::UnorderedMap<Key, Value, Device>;
};
struct of_karpos {
  template <class Key, class Value, class Device = space>
  using map = karpos::unordered_map<Key, Value, Device>;
};

struct node {  // larger than a word, with its own defaults
  int owner = -1, part = -2, check = -3;
  KOKKOS_FUNCTION friend bool operator==(node const& a, node const& b) {
    return a.owner == b.owner && a.part == b.part && a.check == b.check;
  }
};
struct level {  // fits a word
  int n = -1;
  KOKKOS_FUNCTION friend bool operator==(level const& a, level const& b) { return a.n == b.n; }
};
struct octant {  // without operator==
  int i, j, k, level;
};

template <class T>
struct nth {
  KOKKOS_FUNCTION static T of(std::uint64_t i) { return static_cast<T>(i); }
};
template <>
struct nth<node> {
  KOKKOS_FUNCTION static node of(std::uint64_t i) {
    node n;
    n.owner = static_cast<int>(i), n.part = static_cast<int>(2 * i), n.check = 7;
    return n;
  }
};
template <>
struct nth<level> {
  KOKKOS_FUNCTION static level of(std::uint64_t i) {
    level l;
    l.n = static_cast<int>(i);
    return l;
  }
};
template <>
struct nth<octant> {
  KOKKOS_FUNCTION static octant of(std::uint64_t i) {
    return {static_cast<int>(i % 16), static_cast<int>(i / 16), 5, 3};
  }
};
/// Returns the largest numbers first, which stand for free slots in packed words.
template <>
struct nth<std::uint32_t> {
  KOKKOS_FUNCTION static std::uint32_t of(std::uint64_t i) {
    return static_cast<std::uint32_t>(~i);
  }
};
template <>
struct nth<std::int64_t> {
  KOKKOS_FUNCTION static std::int64_t of(std::uint64_t i) {
    return static_cast<std::int64_t>((std::uint64_t(1) << 63) - 1 - i);
  }
};

template <class Space = space>
auto range(std::uint64_t n) {
  return Kokkos::RangePolicy<Space, Kokkos::IndexType<std::uint64_t>>(0, n);
}

// Writes to slots without a key.

template <class Map>
struct write_all {
  Map map;
  std::uint64_t what;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (!map.valid_at(static_cast<std::uint32_t>(i)))
      map.value_at(static_cast<std::uint32_t>(i)) = nth<typename Map::value_type>::of(what + i);
  }
};
/// Inserts keys [first, first + n), and counts those that were inserted with their value.
template <class Map>
struct insert_right {
  Map map;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& right) const {
    auto const value = nth<typename Map::value_type>::of(i + 1);
    Kokkos::UnorderedMapInsertResult const r =
        map.insert(nth<typename Map::key_type>::of(first + i), value);
    right += r.success() && map.value_at(r.index()) == value;
  }
};
template <class Map>
struct erase_all {
  Map map;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& erased) const {
    erased += map.erase(nth<typename Map::key_type>::of(first + i));
  }
};
template <class Map>
struct count_found {
  Map map;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& found) const {
    auto const at = map.find(nth<typename Map::key_type>::of(first + i));
    found += map.valid_at(at) && map.value_at(at) == nth<typename Map::value_type>::of(i + 1);
  }
};
template <template <class> class Body, class Map>
std::uint64_t counted(Map const& map, std::uint64_t n, std::uint64_t first = 0) {
  std::uint64_t count = 0;
  Kokkos::parallel_reduce(range(n), Body<Map>{map, first}, count);
  return count;
}

template <class Maps, class Key, class Value>
void free_slots_are_written() {
  patience const limit;
  using map_type = typename Maps::template map<Key, Value>;
  map_type map(100);
  for (std::uint64_t round = 0; round < 3; ++round) {
    Kokkos::parallel_for(range(map.capacity()), write_all<map_type>{map, 1 + round});
    same("inserted over what was written", counted<insert_right>(map, 100, 100 * round), 100);
    same("found", counted<count_found>(map, 100, 100 * round), 100);
    same("size", map.size(), 100);
    holds("begin_erase", map.begin_erase());
    same("erased", counted<erase_all>(map, 100, 100 * round), 100);
    Kokkos::parallel_for(range(map.capacity()), write_all<map_type>{map, 50});
    holds("end_erase", map.end_erase());
    if (round == 1) map.clear();
    same("nothing is in", counted<count_found>(map, 100, 100 * round) + map.size(), 0);
  }
}
template <class Maps>
void free_slots_of_all_layouts() {
  free_slots_are_written<Maps, std::uint32_t, std::uint32_t>();
  free_slots_are_written<Maps, std::int64_t, double>();
  free_slots_are_written<Maps, std::uint32_t, level>();
  free_slots_are_written<Maps, std::int64_t, node>();
}

// The contents of slots without a key.

template <class Map>
struct count_blank {
  Map map;
  std::uint64_t values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& blank) const {
    auto const at = static_cast<std::uint32_t>(i);
    blank += !map.valid_at(at) && map.key_at(at) == typename Map::key_type() &&
             (values == 0 || map.value_at(at) == typename Map::value_type());
  }
};
template <class Maps, class Key, class Value>
void blanks() {
  using map_type = typename Maps::template map<Key, Value>;
  map_type map(100);
  std::uint64_t const n = map.capacity();
  same("blank when new", counted<count_blank>(map, n, 1), n);
  same("inserted", counted<insert_right>(map, 100, 1), 100);
  same("blank beside keys", counted<count_blank>(map, n, 1), n - 100);
  map.begin_erase();
  same("erased", counted<erase_all>(map, 60, 1), 60);
  map.end_erase();
  same("blank after end_erase", counted<count_blank>(map, n, 1), n - 40);
  map.clear();
  same("keys blank after clear", counted<count_blank>(map, n, 0), n);
  map.rehash(5000);
  same("blank after rehash", counted<count_blank>(map, map.capacity(), 1), map.capacity());
}
template <class Maps>
void blanks_of_all_layouts() {
  blanks<Maps, std::uint32_t, std::uint32_t>();
  blanks<Maps, std::int64_t, double>();
  blanks<Maps, std::uint32_t, level>();
  blanks<Maps, std::int64_t, node>();
}

// Loops as programs write them.

template <class Map>
struct insert_grid {
  Map map;
  KOKKOS_FUNCTION void operator()(int i) const { map.insert({i % 70, i / 7}); }
};
template <class Map>
struct count_valid {
  Map map;
  KOKKOS_FUNCTION void operator()(int i, int& valid) const {
    valid += map.valid_at(static_cast<std::uint32_t>(i));
  }
};
/// Colours edges: walks a set of pairs to hash_capacity().
template <class Maps>
void walks_hash_capacity() {
  using set_type = typename Maps::template map<Kokkos::pair<int, int>, void>;
  set_type const set(500);
  Kokkos::parallel_for(Kokkos::RangePolicy<space>(0, 500), insert_grid<set_type>{set});
  int valid = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, static_cast<int>(set.hash_capacity())),
                          count_valid<set_type>{set}, valid);
  same("visited", static_cast<std::uint64_t>(valid), set.size());
  holds("hash_capacity", set.hash_capacity() >= set.capacity());
}

/// Looks up the result of key_at for every index, and sums over the indices that find returns
/// again.
template <class Map>
struct sum_found {
  Map map;
  KOKKOS_FUNCTION void operator()(std::uint32_t i, std::uint64_t& sum) const {
    typename Map::key_type const key = map.key_at(i);
    auto const at = map.find(key);
    if (at == Kokkos::UnorderedMapInvalidIndex || at != i) return;
    sum += static_cast<std::uint64_t>(map.value_at(at).owner);
  }
};
template <class Maps>
void reads_keys_everywhere() {
  using map_type = typename Maps::template map<octant, node>;
  map_type map(200);
  same("inserted", counted<insert_right>(map, 200, 0), 200);
  map.begin_erase();
  same("erased", counted<erase_all>(map, 100, 0), 100);
  map.end_erase();
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, static_cast<int>(map.capacity())),
                          sum_found<map_type>{map}, sum);
  same("sum of the rest", sum, 100 * (101 + 200) / 2);
}

/// Uses a map on the host: a result by its name, size() in a condition and after each insertion,
/// indices in 32 bits.
template <class Maps>
void on_the_host() {
  if (karpos::device::is_device<space>) return;
  using map_type = typename Maps::template map<long, node>;
  map_type map(300);
  Kokkos::UnorderedMapInsertResult r;
  holds("a result that nothing made", r.failed() && !r.success() && !r.existing());
  for (int i = 0; i < 300; ++i) {
    r = map.insert(3L * i, nth<node>::of(static_cast<std::uint64_t>(i)));
    holds("inserted", r.success() && !r.failed() && !r.existing() && !r.freed_existing());
    same("size", map.size(), static_cast<std::uint64_t>(i) + 1);
  }
  r = map.insert(3, node{});
  holds("existing", r.existing() && r.index() == map.find(3));
  std::uint64_t loops = 0;
  for (std::size_t n = 0; n < map.size(); ++n) {
    map.value_at(static_cast<std::uint32_t>(n)).check = -1;
    ++loops;
  }
  same("loops to size()", loops, 300);
  std::uint32_t const narrow{map.find(3)}, most = std::max(map.capacity(), 100u);
  std::uint32_t const sizes[] = {map.size(), map.insert(6, node{}).index()};
  holds("indices of 32 bits", narrow == r.index() && most >= 300 && sizes[0] == 300);
  Kokkos::View<typename map_type::size_type*, Kokkos::HostSpace> const given("given", 2);
  Kokkos::View<std::uint32_t*, Kokkos::HostSpace> const taken = given;
  same("a view of sizes", taken.extent(0), 2);
  map_type other;
  other.allocate_view(map);
  Kokkos::deep_copy(other, map);
  typename map_type::const_map_type frozen = other;
  typename map_type::modifiable_map_type values = map;
  values = other;
  frozen = values;
  holds("a const map of values", frozen.exists(3) && frozen.size() == 300);
  typename Maps::template map<int, int, Kokkos::HostSpace> in_a_space(10);
  holds("a memory space as device", in_a_space.insert(1, 2).success() && in_a_space.size() == 1);
}

/// Keeps a map for each row in an array that kernels reach by a pointer; rows that overflow are
/// rehashed, and the kernel runs again.
template <class Map, class Op>
struct add_entry {
  Map* maps;
  int rows;
  Kokkos::View<int*, space> overflow;
  Kokkos::Bitset<space> done;
  Op op;
  KOKKOS_FUNCTION void operator()(unsigned i) const {
    if (done.test(i)) return;
    auto const row = static_cast<int>(i) % rows;
    auto const column = static_cast<std::uint32_t>(i) / 97 % 1000;
    if (maps[row].insert(column, 1.0, op).failed())
      overflow(row) = 1;
    else
      done.set(i);
  }
};
template <class Maps>
void a_map_for_each_row() {
  if (karpos::device::is_device<space>) return;  // this test writes rows on the host
  using map_type = typename Maps::template map<std::uint32_t, double>;
  using ops = Kokkos::UnorderedMapInsertOpTypes<Kokkos::View<double*, space>, std::size_t>;
  constexpr int rows = 3;
  constexpr unsigned entries = 120'000;
  std::vector<map_type> maps;
  for (int row = 0; row < rows; ++row) maps.emplace_back(16);
  Kokkos::View<int*, space> const overflow("overflow", rows);
  Kokkos::Bitset<space> const done(entries);
  int rehashed = 0;
  for (bool again = true; again;) {
    using body = add_entry<map_type, typename ops::AtomicAdd>;
    Kokkos::parallel_for(Kokkos::RangePolicy<space>(0, static_cast<int>(entries)),
                         body{maps.data(), rows, overflow, done, {}});
    Kokkos::fence();
    again = false;
    for (std::size_t row = 0; row < rows; ++row) {
      if (overflow(row) == 0) continue;
      maps[row].rehash(maps[row].capacity() * 2);
      overflow(row) = 0;
      again = true;
      ++rehashed;
    }
  }
  holds("rows were too small at first", rehashed > 0);
  double sum = 0;
  for (auto const& map : maps) {
    same("columns of a row", map.size(), 1000);
    for (std::uint32_t i = 0; i < map.capacity(); ++i)
      if (map.valid_at(i)) sum += map.value_at(i);
  }
  same("sum of entries", static_cast<std::uint64_t>(sum), entries);
}

/// Inserts the keys with numbers from `first` on into a set.
template <class Set>
struct insert_number {
  Set set;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& in) const {
    Kokkos::UnorderedMapInsertResult const r =
        set.insert(nth<typename Set::key_type>::of(first + i));
    in += r.success();
  }
};
/// Fills a set, erases most keys, and rehashes it to the size of the rest.
template <class Maps>
void thinned_set() {
  using set_type = typename Maps::template map<std::size_t, void>;
  set_type set(Kokkos::view_alloc(space{}, "a set"), 2500);
  holds("end_erase without begin_erase does nothing", !set.end_erase());
  auto const before = set.capacity();
  same("inserted", counted<insert_number>(set, 2500), 2500);
  same("inserted once", counted<insert_number>(set, 2500), 0);
  set.begin_erase();
  same("erased", counted<erase_all>(set, 500), 500);
  set.end_erase();
  same("size", set.size(), 2000);
  set.rehash(2000);
  holds("no more capacity than before", set.capacity() <= before && set.capacity() >= 2000);
  same("size", set.size(), 2000);
}

template <class Maps>
void all_uses() {
  free_slots_of_all_layouts<Maps>();
  blanks_of_all_layouts<Maps>();
  walks_hash_capacity<Maps>();
  reads_keys_everywhere<Maps>();
  on_the_host<Maps>();
  a_map_for_each_row<Maps>();
  thinned_set<Maps>();
}

}  // namespace

// Kokkos 5.0.2 does not move erased keys and crashes in one of these uses; 5.2.2 passes.
#if KARPOS_FULL_TESTS && KOKKOS_VERSION >= 50200
TEST_CASE("uses of Kokkos::UnorderedMap work with it") { all_uses<of_kokkos>(); }
#endif
TEST_CASE("uses of Kokkos::UnorderedMap work with karpos::unordered_map") { all_uses<of_karpos>(); }

namespace {

/// Returns a pair with these members and `padding` in its padding bytes.
template <class Pair, class A, class B>
Pair padded(A a, B b, int padding) {
  Pair p{};
  std::memset(static_cast<void*>(&p), padding, sizeof(p));
  p.first = static_cast<typename Pair::first_type>(a);
  p.second = static_cast<typename Pair::second_type>(b);
  return p;
}
/// Checks that keys with equal members are equal, whatever their padding.
template <class Pair, class Hasher, class EqualTo>
void pairs_by_members() {
  if (karpos::device::is_device<space>) return;
  karpos::unordered_map<Pair, int, space, Hasher, EqualTo> map(200);
  std::uint64_t once = 0, found = 0;
  for (int i = 0; i < 200; ++i) once += map.insert(padded<Pair>(i % 20, i / 20, i), i).success();
  same("different keys", once, 200);
  for (int i = 0; i < 200; ++i)
    once += map.insert(padded<Pair>(i % 20, i / 20, 255 - i), 0).success();
  same("no key came twice", once, 200);
  map.rehash(1000);
  for (int i = 0; i < 200; ++i) {
    Pair const key = padded<Pair>(i % 20, i / 20, 3 * i);
    auto const at = map.find(key);
    found += map.valid_at(at) && map.value_at(at) == i && map.key_at(at).first == key.first &&
             map.key_at(at).second == key.second;
  }
  same("found", found, 200);
  map.begin_erase();
  for (int i = 0; i < 200; ++i) once -= map.erase(padded<Pair>(i % 20, i / 20, 7 * i + 1));
  map.end_erase();
  same("left", once + map.size(), 0);
}
template <class Pair>
void pairs_by_members() {
  using karpos::detail::unordered_map::default_equal;
  using karpos::detail::unordered_map::default_hash;
  pairs_by_members<Pair, default_hash<Pair>, default_equal<Pair>>();
#if !KARPOS_FULL_TESTS
  if constexpr (sizeof(Pair) == 16)
#endif
    pairs_by_members<Pair, Kokkos::pod_hash<Pair>, Kokkos::pod_equal_to<Pair>>();
}

}  // namespace

TEST_CASE("pairs are hashed and compared by their members") {
  pairs_by_members<Kokkos::pair<int, long long>>();
  pairs_by_members<Kokkos::pair<char, short>>();  // in one word
  pairs_by_members<std::pair<long long, int>>();
#if KARPOS_FULL_TESTS
  pairs_by_members<std::pair<int, int>>();
  pairs_by_members<Kokkos::pair<double, char>>();
#endif
}

TEST_CASE("pairs of pairs, and arrays of pairs") {
  if (karpos::device::is_device<space>) return;
  using part = Kokkos::pair<char, long long>;
  using whole = Kokkos::pair<part, std::pair<short, int>>;
  using row = Kokkos::Array<part, 2>;
  karpos::unordered_map<whole, std::pair<int, int>, space> map(100);
  karpos::unordered_map<row, void, space> set(100);
  for (int padding : {0, 255, 17})
    for (int i = 0; i < 100; ++i) {
      part const p = padded<part>(i % 5, i, padding);
      map.insert(whole(p, padded<std::pair<short, int>>(i, i / 2, padding)), {i, padding});
      row r;
      r[0] = p;
      r[1] = padded<part>(i / 3, 1, padding);
      set.insert(r);
    }
  CHECK(map.size() == 100);
  CHECK(set.size() == 100);
  auto const copy = create_mirror(map);
  auto to = copy;
  deep_copy(to, map);
  whole const w(padded<part>(2, 7, 99), padded<std::pair<short, int>>(7, 3, 99));
  REQUIRE(to.exists(w));
  CHECK(to.value_at(to.find(w)) == std::pair<int, int>(7, 0));
  CHECK(to.key_at(to.find(w)).second == w.second);
}

namespace {

/// A value that holds a std::pair, so its special member functions use those of the pair.
struct labelled_pair {
  std::pair<long long, int> ends;
  int label = 7;
};
bool is_blank(labelled_pair const& v) { return v.ends.second == 0 && v.label == 7; }
bool is_blank(std::pair<long long, int> const& v) { return v.first == 0 && v.second == 0; }
bool is_blank(int v) { return v == 0; }

/// Inserts pairs that are not yet stored, and counts those that are found afterwards.
template <class Map>
struct insert_and_find {
  Map map;
  Kokkos::View<typename Map::key_type const*, space> keys;
  Kokkos::View<typename Map::value_type const*, space> values;
  KOKKOS_FUNCTION void operator()(int i, int& n) const {
    map.insert(keys(i), values(i));
    auto const at = map.find(keys(i));
    n += map.valid_at(at) && map.key_at(at).second == keys(i).second;
  }
};
template <class Map>
struct erase_keys {
  Map map;
  Kokkos::View<typename Map::key_type const*, space> keys;
  KOKKOS_FUNCTION void operator()(int i) const { map.erase(keys(i)); }
};
/// Copies bytes, since Kokkos would instantiate assignments in kernels.
template <class T>
auto copied_to_space(std::vector<T> const& from) {
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  std::size_t const bytes = from.size() * sizeof(T);
  Kokkos::View<T*, space> const to(Kokkos::view_alloc("to", Kokkos::WithoutInitializing),
                                   from.size());
  Kokkos::deep_copy(Kokkos::View<unsigned char*, space, unmanaged>(
                        reinterpret_cast<unsigned char*>(to.data()), bytes),
                    Kokkos::View<unsigned char const*, Kokkos::HostSpace, unmanaged>(
                        reinterpret_cast<unsigned char const*>(from.data()), bytes));
  return to;
}

template <class Value>
void pairs_in_kernels(Value const& value) {
  using key_type = std::pair<long long, int>;
  using map_type = karpos::unordered_map<key_type, Value, space>;
  constexpr int n = 300;
  std::vector<key_type> all;
  for (int i = 0; i < n; ++i) all.emplace_back(i, i / 2);
  insert_and_find<map_type> const body{map_type(n), copied_to_space(all),
                                       copied_to_space(std::vector<Value>(n, value))};
  map_type map = body.map;
  for (unsigned new_capacity : {0u, 1000u}) {
    if (new_capacity != 0) map.rehash(new_capacity);
    int found = 0;
    Kokkos::parallel_reduce("karpos_test::insert_and_find", Kokkos::RangePolicy<space>(0, n),
                            insert_and_find<map_type>{map, body.keys, body.values}, found);
    same("found", static_cast<std::uint64_t>(found), n);
    same("size", map.size(), n);
  }
  map.begin_erase();
  Kokkos::parallel_for("karpos_test::erase_keys", Kokkos::RangePolicy<space>(0, n),
                       erase_keys<map_type>{map, body.keys});
  map.end_erase();
  same("left", map.size(), 0);
  if (karpos::device::is_device<space>) return;
  std::uint64_t blank = 0;
  for (std::uint32_t i = 0; i < map.capacity(); ++i) blank += is_blank(map.value_at(i));
  same("blank values", blank, map.capacity());
}

/// A value whose constructor is no constant expression: kernels call it, or a host function does.
struct counter {
  int n;
  KOKKOS_FUNCTION counter() : n(-7) {}
};
template <class Map>
struct insert_keys_alone {
  Map map;
  KOKKOS_FUNCTION void operator()(int i, int& right) const {
    auto const r = map.insert(i);
    right +=
        r.success() && map.value_at(r.index()).first.n == -7 && map.value_at(r.index()).second == 0;
  }
};

}  // namespace

TEST_CASE("kernels insert keys alone where values are a std::pair") {
  using map_type = karpos::unordered_map<int, std::pair<counter, int>, space>;
  map_type const map(300);
  int right = 0;
  Kokkos::parallel_reduce("karpos_test::insert_keys_alone", Kokkos::RangePolicy<space>(0, 300),
                          insert_keys_alone<map_type>{map}, right);
  same("with the value of a default constructor", static_cast<std::uint64_t>(right), 300);
}

TEST_CASE("kernels insert, find and erase keys and values of std::pair") {
  pairs_in_kernels(3);
  pairs_in_kernels(std::pair<long long, int>(1, 2));
  pairs_in_kernels(labelled_pair{{1, 2}, 3});
}

TEST_CASE("zeros and NaN in pairs and arrays are one key each") {
  if (karpos::device::is_device<space>) return;
  using point = Kokkos::Array<double, 2>;
  karpos::unordered_map<Kokkos::pair<double, double>, void, space> pairs(10);
  karpos::unordered_map<point, void, space> arrays(10);
  double const nan = Kokkos::Experimental::quiet_NaN_v<double>, zero = 0;
  for (double x : {zero, -zero, nan, -nan, 1.0}) {
    pairs.insert({x, x});
    arrays.insert(point{x, 2.0});
  }
  CHECK(pairs.size() == 3);
  CHECK(arrays.size() == 3);
}

TEST_CASE("size() is counted once after a change, and copies share what was counted") {
  using map_type = karpos::unordered_map<std::uint32_t, std::uint32_t, space>;
  map_type map(1000);
  map_type const copy = map;
  map_type::const_map_type const frozen = map;
  auto const all_say = [&](std::string const& when, std::uint64_t n) {
    same(when + ": a copy", copy.size(), n);
    same(when + ": the map", map.size(), n);
    same(when + ": a const map", frozen.size(), n);
    karpos_test::listener const recorder;
    std::uint64_t sum = 0;
    for (int i = 0; i < 100; ++i) sum += map.size() + copy.size() + frozen.size();
    same(when + ": remembered", sum, 300 * n);
    same(when + ": kernels that count again", karpos_test::record.launches.size(), 0);
  };
  all_say("new", 0);
  same("inserted", counted<insert_right>(copy, 300), 300);
  all_say("by a copy", 300);
  same("existing", counted<insert_right>(map, 400), 100);
  all_say("some were in", 400);
  same("nothing new", counted<insert_right>(map, 400), 0);
  all_say("all were in", 400);
  map.begin_erase();
  same("in an erase phase", map.size(), 400);
  same("erased", counted<erase_all>(map, 100), 100);
  same("in an erase phase, a copy", copy.size(), 300);
  same("erased", counted<erase_all>(map, 200), 100);
  same("in an erase phase, again", map.size(), 200);
  map.end_erase();
  all_say("erased", 200);
  map.clear();
  all_say("cleared", 0);
  same("inserted again", counted<insert_right>(map, 50), 50);
  auto mirror = create_mirror(map);
  deep_copy(mirror, map);
  same("a mirror of a map that nobody counted", mirror.size(), 50);
  all_say("after a copy", 50);
  map.rehash(3000);
  same("rehashed", map.size(), 50);
  same("inserted into the larger one", counted<insert_right>(map, 70), 20);
  same("size", map.size(), 70);
  same("the smaller one", copy.size(), 50);
}

/// Checks sizes after kernels that insert or erase a given number of keys, some of them stored or
/// erased already.
template <class Map>
void sizes_of_phases() {
  Map map(3000);
  Map const copy = map;
  std::uint64_t live = 0;  // keys [0, live)
  for (std::uint64_t const most : {1, 40, 3000})
    for (std::uint64_t const step : {1, 2, 7, 60, 100, 700}) {
      std::string const when =
          std::to_string(step) + " keys at a time, up to " + std::to_string(most);
      for (int round = 0; round < 20 && live + step <= most; ++round, live += step) {
        std::uint64_t const again = Kokkos::min(live, step);
        same(when + ": new", counted<insert_right>(map, step + again, live - again), step);
        if (round % 3 != 1) same(when + ": inserted", copy.size(), live + step);
      }
      if (step % 2 == 0) same(when + ": before an erase phase", map.size(), live);
      map.begin_erase();
      for (int round = 0; round < 15 && live >= step; ++round, live -= step) {
        same(when + ": gone", counted<erase_all>(map, 2 * step, live - step), step);
        if (round % 3 != 1) same(when + ": erased", map.size(), live - step);
      }
      map.end_erase();
      same(when + ": after an erase phase", copy.size(), live);
    }
  auto mirror = create_mirror(map);
  same("more", counted<insert_right>(map, live + 10), 10);
  deep_copy(mirror, map);
  same("a mirror", mirror.size(), live + 10);
  same("the map", map.size(), live + 10);
}
TEST_CASE("size() is right after any insertions and erasures") {
  sizes_of_phases<karpos::unordered_map<std::uint32_t, std::uint32_t, space>>();
  sizes_of_phases<karpos::unordered_map<std::uint32_t, node, space>>();
}

TEST_CASE("a host that asks for size() after each insertion or erasure seldom has keys counted") {
  if (karpos::device::is_device<space>) return;
  constexpr std::uint32_t n = 10'000;
  karpos::unordered_map<std::uint32_t, std::uint32_t, space> map(n);
  karpos_test::listener const recorder;
  std::uint64_t wrong = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    map.insert(i, i);
    map.insert(i / 2, i);
    wrong += map.size() != i + 1;
  }
  map.begin_erase();
  for (std::uint32_t i = 0; i < n; ++i) {
    map.erase(i);
    map.erase(i);
    wrong += map.size() != n - i - 1;
  }
  map.end_erase();
  same("wrong sizes", wrong + map.size(), 0);
  std::uint64_t counts = 0;
  for (auto const& l : karpos_test::record.launches) counts += l.label.ends_with("size");
  holds("some " + std::to_string(counts) + " counts", 2 <= counts && counts <= 2 * n / 64);
}

TEST_CASE("threads of the host that insert or erase at once leave the size right") {
  if (karpos::device::is_device<space>) return;
  constexpr std::uint32_t n = 20'000;
  karpos::unordered_map<std::uint32_t, std::uint32_t, space> map(
      2'000'000);  // large enough to add up many changes
  auto const by_threads = [](auto const& f) {
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t)
      threads.emplace_back([&f, t] {
        for (std::uint32_t i = t % 2; i < n; i += 2) f(i);  // two threads have the same keys
      });
    for (auto& t : threads) t.join();
  };
  for (int round = 0; round < 5; ++round) {
    by_threads([&](std::uint32_t i) { map.insert(i, i); });
    same("inserted", map.size(), n);
    map.begin_erase();
    by_threads([&](std::uint32_t i) { map.erase(i); });
    same("erased", map.size(), 0);
    map.end_erase();
  }
}

TEST_CASE("an insertion in an erase phase fails, and says so") {
  karpos::unordered_map<std::uint32_t, node, space> map(100);
  same("inserted", counted<insert_right>(map, 50), 50);
  CHECK(!map.failed_insert());
  map.begin_erase();
  same("in an erase phase", counted<insert_right>(map, 10, 50), 0);
  CHECK(map.failed_insert());
  CHECK(!map.begin_erase());
  map.end_erase();
  CHECK(map.failed_insert());
  map.reset_failed_insert_flag();
  CHECK(!map.failed_insert());
  same("afterwards", counted<insert_right>(map, 10, 50), 10);
  map.begin_erase();
  map.rehash(500);
  CHECK(!map.erasable());
  CHECK(map.size() == 60);
}

namespace {

// A hash and an equality that hold views, so they are not trivially copyable. Keys are
// nth<std::uint32_t>: the bits of ~i.

struct labels {
  Kokkos::View<std::uint32_t*, space> label;
  Kokkos::View<std::uint64_t[2], space> calls;  ///< calls for keys with a label, and without
  KOKKOS_FUNCTION std::uint32_t of(std::uint32_t key) const {
    bool const has_label = ~key < label.extent(0);
    Kokkos::atomic_inc(&calls(has_label ? 0 : 1));
    return has_label ? label(~key) : 0;
  }
};
struct hash_of_label : labels {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t key) const { return of(key); }
};
struct equal_labels : labels {
  KOKKOS_FUNCTION bool operator()(std::uint32_t a, std::uint32_t b) const { return of(a) == of(b); }
};
static_assert(!std::is_trivially_copyable_v<hash_of_label>);

/// Returns labels that are equal for keys i and i + 100.
labels make_labels() {
  labels const made{Kokkos::View<std::uint32_t*, space>("label", 200),
                    Kokkos::View<std::uint64_t[2], space>("calls")};
  auto const on_host = Kokkos::create_mirror_view(made.label);
  for (std::uint32_t i = 0; i < 200; ++i) on_host(i) = i % 100 * 2654435761u;
  Kokkos::deep_copy(made.label, on_host);
  return made;
}
void called_with_keys_alone(labels const& f) {
  auto const calls = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, f.calls);
  holds("the functions were called", calls(0) > 0);
  same("calls with what is no key", calls(1), 0);
}

/// Counts the keys ~i, for i < most, whose value is i + 1. Requires: the host can read the map.
template <class Map>
std::uint64_t counted_by_host(Map const& map, std::uint32_t most) {
  std::uint64_t right = 0;
  for (std::uint32_t i = 0; i < map.capacity(); ++i) {
    if (!map.valid_at(i)) continue;
    std::uint32_t const number = ~map.key_at(i);
    right += number < most && map.value_at(i) == nth<typename Map::value_type>::of(number + 1u);
  }
  return right;
}

template <class Value, class EqualTo>
void maps_of_functions_with_views(labels const& f, EqualTo const& equal) {
  using map_type = karpos::unordered_map<std::uint32_t, Value, space, hash_of_label, EqualTo>;
  constexpr bool by_label = std::is_same_v<EqualTo, equal_labels>;
  map_type map(100, hash_of_label{f}, equal);
  same("inserted", counted<insert_right>(map, 100), 100);
  same("size", map.size(), 100);
  same("found", counted<count_found>(map, 100), 100);
  same("found by equal labels", counted<count_found>(map, 100, 100), by_label ? 100 : 0);

  map_type const before = map;
  map.rehash(1000);
  holds("there is more capacity", map.capacity() > 1000);
  same("found after rehash", counted<count_found>(map, 100), 100);

  holds("begin_erase", map.begin_erase());
  same("erased", counted<erase_all>(map, 40, 60), 40);
  holds("end_erase", map.end_erase());
  same("size after end_erase", map.size(), 60);
  same("found after end_erase", counted<count_found>(map, 100), 60);
  same("the old memory", counted<count_found>(before, 100), 100);

  map_type copy;
  copy.create_copy_view(map);
  map_type from_others(1000, hash_of_label{f}, equal);
  map_type const beside = from_others;  // has its own places
  deep_copy(from_others, map);
  auto mirror = create_mirror(map);
  deep_copy(mirror, map);
  map.clear();
  same("nothing is in", counted<count_found>(map, 100) + map.size(), 0);
  same("a copy", counted<count_found>(copy, 100), 60);
  same("a copy in memory of others", counted<count_found>(beside, 100), 60);
  same("a mirror", counted_by_host(mirror, 60), 60);
  typename map_type::const_map_type const frozen = copy;
  same("a const map", counted<count_found>(frozen, 100) + frozen.size(), 60 + 60);
  same("inserted after clear", counted<insert_right>(map, 100), 100);
}

template <class EqualTo>
void sets_of_functions_with_views(labels const& f, EqualTo const& equal) {
  using set_type = karpos::unordered_map<std::uint32_t, void, space, hash_of_label, EqualTo>;
  set_type set(100, hash_of_label{f}, equal);
  same("inserted", counted<insert_number>(set, 100), 100);
  set.rehash(1000);
  same("inserted again", counted<insert_number>(set, 100), 0);
  set.begin_erase();
  same("erased", counted<erase_all>(set, 40, 60), 40);
  set.end_erase();
  set_type copy;
  copy.create_copy_view(set);
  set.clear();
  same("sizes", set.size() + copy.size(), 60);
  same("inserted into the copy", counted<insert_number>(copy, 100), 40);
}

}  // namespace

TEST_CASE("a hash and an equality may hold views: every call takes them") {
  labels const f = make_labels();
  using bits = karpos::detail::unordered_map::default_equal<std::uint32_t>;
  maps_of_functions_with_views<std::uint32_t>(f, bits{});  // packed slots
  maps_of_functions_with_views<double>(f, equal_labels{f});
  sets_of_functions_with_views(f, equal_labels{f});
#if KARPOS_FULL_TESTS
  maps_of_functions_with_views<double>(f, bits{});
  sets_of_functions_with_views(f, bits{});
#endif
  called_with_keys_alone(f);
}

TEST_CASE("types and limits are Kokkos'") {
  using map_type = karpos::unordered_map<int, int, space>;
  static_assert(std::is_same_v<map_type::size_type, std::uint32_t> &&
                std::is_same_v<map_type::insert_result, Kokkos::UnorderedMapInsertResult>);
  static_assert(map_type::invalid_index == Kokkos::UnorderedMapInvalidIndex);
  auto const hint = std::uint64_t(1) << 32;
  throws<std::length_error>([&] { map_type const map(hint); }, "capacity overflow", "hash_map");
  throws<std::length_error>([&] { (void)map_type::bytes_for(hint); }, "hash_map");
  map_type map(10);
  throws<std::length_error>([&] { map.rehash(hint); }, "hash_map");
  CHECK(map.size() == 0);
  CHECK(karpos::unordered_map<int, void, space>::bytes_for(2'000'000'000) > 8'000'000'000);
  throws<std::length_error>([] { (void)map_type::bytes_for(2'200'000'000); }, "hash_map");
}
