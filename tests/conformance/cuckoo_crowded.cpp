// SPDX-License-Identifier: Apache-2.0
/// \file
/// Small dense cuckoo maps filled to capacity, a few keys at a time: after every insertion every
/// key is found.
#include "support/cuckoo.hpp"

namespace {

using karpos_test::numbered_values;
using karpos_test::random_numbers;
using karpos_test::slice;
using karpos_test::space;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Counts of errors over all rounds: a doctest check each would take longer than what it checks.
struct mishaps {
  u64 lost = 0, strangers = 0, wrong_sizes = 0, wrong_reports = 0, grown = 0;
};

/// Fills a map from a few keys to its capacity and a little beyond.
template <class Key, class T>
class filling {
 public:
  using map_type = karpos::cuckoo_map<Key, T, space>;
  filling(u64 capacity, u64 seed, mishaps& m) : m_mishaps(m), m_random(seed), m_capacity(capacity) {
    m_all = unique_keys<Key>(2 * capacity + 100, seed % 16);
    m_values = numbered_values<T>(m_all.size(), seed);
    m_in = m_random.below(capacity);
    m_d_keys = to_space(m_all);
    m_d_values = to_space(m_values);
  }

  void run(u64 seed) {
    karpos::cuckoo_map_options<Key> o;
    o.layout = karpos::cuckoo_layout::dense;
    o.seed = seed;
    o.load = 0.98;
    o.capacity = m_capacity;
    map_type map(space{}, part(m_d_keys, 0, m_in), part(m_d_values, 0, m_in), o);
    std::size_t const bytes = map.bytes();
    check(map);
    while (m_in < m_capacity) {
      u64 const left = m_capacity - m_in, n = 1 + m_random.below(left < 50 ? left : 50);
      insert(map, n);
      check(map);
    }
    // A map that chose another seed may have one more window.
    m_mishaps.grown += map.bytes() > bytes + 64 + 4;
    insert(map, 1 + m_capacity / 8);
    check(map);
  }

 private:
  template <class View>
  static View part(View const& of, u64 first, u64 last) {
    return Kokkos::subview(of, std::pair<u64, u64>(first, last));
  }
  void insert(map_type& map, u64 n) {
    u64 const again = m_random.below(m_in + 1);  // stored keys come first
    auto const r = map.insert(space{}, part(m_d_keys, m_in - again, m_in + n),
                              part(m_d_values, m_in - again, m_in + n));
    m_mishaps.wrong_reports += !(r == karpos::insert_report{n, again, 0, 0});
    m_in += n;
  }
  void check(map_type const& map) {
    karpos_test::view<T> const out("out", m_all.size());
    map.find(space{}, m_d_keys, out, karpos_test::stand_in<T>);
    space{}.fence();
    auto const found = to_host(out);
    for (std::size_t i = 0; i < m_all.size(); ++i) {
      if (i < m_in) m_mishaps.lost += found[i] != m_values[i];
      if (i >= m_in) m_mishaps.strangers += found[i] != karpos_test::stand_in<T>;
    }
    m_mishaps.wrong_sizes += map.size() != m_in;
    m_mishaps.wrong_sizes += map.stats(space{}).groups != 1;
  }

  mishaps& m_mishaps;
  random_numbers m_random;
  u64 m_capacity, m_in = 0;
  std::vector<Key> m_all;
  std::vector<T> m_values;
  karpos_test::view<Key> m_d_keys;
  karpos_test::view<T> m_d_values;
};

template <class Key, class T>
void loses_no_key(int rounds) {
  mishaps m;
  random_numbers random(rounds);
  u64 fillings = 0;
  for (int round = 0; round < rounds; ++round) {
    u64 const capacity = round % 4 == 3 ? 8 + random.below(1993) : 8 + random.below(120);
    filling<Key, T>(capacity, random(), m).run(random());
    ++fillings;
  }
  CHECK(fillings == static_cast<u64>(rounds));
  CHECK(m.lost == 0);
  CHECK(m.strangers == 0);
  CHECK(m.wrong_sizes == 0);
  CHECK(m.wrong_reports == 0);
  CHECK(m.grown == 0);
}

#if KARPOS_FULL_TESTS
constexpr int rounds = 600;
#else
constexpr int rounds = 200;
#endif

TEST_CASE("cuckoo_map<u32, u32>: filled a few keys at a time it loses none") {
  loses_no_key<u32, u32>(rounds);
}
TEST_CASE("cuckoo_map<u64, u64>: filled a few keys at a time it loses none") {
  loses_no_key<u64, u64>(rounds);
}

}  // namespace
