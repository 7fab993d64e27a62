// SPDX-License-Identifier: Apache-2.0
/// \file
/// A cuckoo_map of certain types compared with the oracle, in both layouts: from the host and in
/// kernels.
#pragma once

#include <karpos/device/launch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/cuckoo.hpp"

namespace karpos_test {

/// Sums what for_each visits, as integers.
template <class Key, class T>
struct sum_of_visits {
  view<std::uint64_t> sums;
  KOKKOS_FUNCTION void operator()(Key const& key, T const& value) const {
    Kokkos::atomic_add(&sums(0), std::uint64_t(1));
    Kokkos::atomic_add(&sums(1), static_cast<std::uint64_t>(key));
    Kokkos::atomic_add(&sums(2), static_cast<std::uint64_t>(value));
  }
};

struct is_two {
  KOKKOS_FUNCTION bool operator()(int x) const { return x == 2; }
};

/// Queries a ref in a kernel, with one tile per query. Answers 0 and 1 tell whether the key is
/// stored. Errors: 97 if lanes of a tile disagree, 98 if find and contains disagree, 96 if a thread
/// without a tile finds something else.
template <class Ref, class Key, class T>
struct query_ref {
  Ref ref;
  view<Key> queries;
  view<T> values;
  view<std::uint32_t> answers;

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    Key const key = queries(i);
    auto const f = ref.find(t, key);
    std::uint32_t a = f.present != ref.contains(t, key) ? 98u : f.present ? 1u : 0u;
    std::uint64_t const bits = a == 1 ? karpos::to_bits<std::uint64_t>(f.value) : ~std::uint64_t(0);
    auto const each = t.each([&](int) { return bits; });
    std::uint64_t const first = t.get(each, 0);
    if (!t.ballot([&](int) { return first == bits; }).full()) a = 97;
    if constexpr (Tile::width == 1) {
      auto const alone = ref.find(key);
      if (alone.present != f.present || ref.contains(key) != f.present ||
          (f.present && !(alone.value == f.value)))
        a = 96;
    }
    t.once([&] {
      answers(i) = a;
      values(i) = f.value;
      return true;
    });
  }
};

template <int W, class Map, class Key, class T>
void ref_answers_as(std::string const& what, Map const& map, oracle<Key, T> const& expected,
                    std::vector<Key> const& queries) {
  using ref_type = typename Map::ref_type;
  static_assert(std::is_trivially_copyable_v<ref_type>);
  std::size_t const n = queries.size();
  query_ref<ref_type, Key, T> const kernel{map.ref(), to_space(queries), view<T>("values", n),
                                           view<std::uint32_t>("answers", n)};
  karpos::device::for_each_tile<W>("karpos_test::query", space{}, n, kernel);
  auto const answers = to_host(kernel.answers);
  auto const values = to_host(kernel.values);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bool const here = expected.contains(queries[i]);
    wrong +=
        answers[i] != (here ? 1u : 0u) || (here && !(values[i] == expected.find(queries[i], T{})));
  }
  same(what + ": wrong answers in kernels, W = " + std::to_string(W), wrong, 0);
}

template <class Key, class T>
class cuckoo_suite {
 public:
  using map_type = karpos::cuckoo_map<Key, T, space>;
  using options = typename map_type::options;

  explicit cuckoo_suite(std::string name) : m_name(std::move(name)) {}

  /// Runs all checks. The caller chooses sizes for which the type has enough keys.
  void run(std::vector<std::size_t> const& sizes) {
    for (auto const layout : both_layouts) {
      m_options.layout = layout;
      for (std::size_t n : sizes) of_size(n);
      built_again(sizes.back());
      moved();
      with_a_workspace();
    }
  }

 private:
  struct pairs {
    std::vector<Key> keys, queries;
    std::vector<T> values;
    oracle<Key, T> expected;
  };

  std::string at(std::string const& what) const {
    return m_name + ", " + name_of(m_options.layout) + ", " + what;
  }
  /// Returns n keys, and queries for them mixed with about as many absent keys, if the type has as
  /// many.
  static pairs some_pairs(std::size_t n, std::uint64_t first_value = 0) {
    constexpr std::size_t few = sizeof(Key) == 2 ? 65500 : ~std::size_t(0);
    auto const all = unique_keys<Key>(std::min(2 * n + 100, few));
    pairs p;
    p.keys = slice(all, 0, n);
    p.values = numbered_values<T>(n, first_value);
    p.queries = shuffled(all, n);
    p.expected = oracle_of(p.keys, p.values);
    return p;
  }
  map_type made(pairs const& p) const {
    return map_type(space{}, to_space(p.keys), to_space(p.values), m_options);
  }

  void of_size(std::size_t n) {
    auto const p = some_pairs(n);
    auto const what = at(std::to_string(n) + " keys");
    auto const map = made(p);
    check_contents(what, map, p.expected, p.queries);
    holds(what + ": layout", map.layout() == m_options.layout);
    holds(what + ": capacity",
          map.capacity() >= n &&
              (m_options.layout == karpos::cuckoo_layout::dense || map.capacity() == n));
    chosen_queries(what, map, p);
    same(what + ": bytes", map.bytes(), map_type::bytes_for(n, m_options));
    visits(what, map, p);
    if (n > 5000) return;
    ref_answers_as<1>(what, map, p.expected, p.queries);
    ref_answers_as<2>(what, map, p.expected, p.queries);
    ref_answers_as<4>(what, map, p.expected, p.queries);
    ref_answers_as<8>(what, map, p.expected, p.queries);
    ref_answers_as<16>(what, map, p.expected, p.queries);
    ref_answers_as<32>(what, map, p.expected, p.queries);
  }

  /// Checks lookups of the queries that a predicate selects.
  void chosen_queries(std::string const& what, map_type const& map, pairs const& p) {
    std::size_t const n = p.queries.size();
    random_numbers random(n);
    std::vector<int> stencil(n);
    for (int& s : stencil) s = static_cast<int>(random.below(3));
    auto const d_queries = to_space(p.queries);
    auto const d_stencil = to_space(stencil);
    view<T> const out("out", n), two("two", n);
    view<std::uint8_t> const flags("flags", n);
    map.find_if(space{}, d_queries, out, stand_in<T>, d_stencil);
    map.find_if(space{}, d_queries, two, stand_in<T>, d_stencil, is_two{});
    map.contains_if(space{}, d_queries, flags, d_stencil, is_two{});
    auto const found = to_host(out), found_two = to_host(two);
    auto const there = to_host(flags);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
      T const value = p.expected.find(p.queries[i], stand_in<T>);
      wrong += !(found[i] == (stencil[i] != 0 ? value : stand_in<T>));
      wrong += !(found_two[i] == (stencil[i] == 2 ? value : stand_in<T>));
      wrong += there[i] != (stencil[i] == 2 && p.expected.contains(p.queries[i]) ? 1 : 0);
    }
    same(what + ": wrong answers to chosen queries", wrong, 0);
  }

  void visits(std::string const& what, map_type const& map, pairs const& p) {
    view<std::uint64_t> const sums("sums", 3);
    map.for_each(space{}, sum_of_visits<Key, T>{sums});
    space{}.fence();
    std::vector<std::uint64_t> expected(3);
    for (std::size_t i = 0; i < p.keys.size(); ++i) {
      ++expected[0];
      expected[1] += static_cast<std::uint64_t>(p.keys[i]);
      expected[2] += static_cast<std::uint64_t>(p.values[i]);
    }
    holds(what + ": for_each", to_host(sums) == expected);
  }

  /// Builds the map again: larger, smaller, with the same size and other values, empty, and larger.
  void built_again(std::size_t largest) {
    auto map = made(some_pairs(1000));
    std::uint64_t first_value = 1;
    for (std::size_t n :
         {largest, std::size_t(700), std::size_t(700), std::size_t(0), largest / 2}) {
      auto const p = some_pairs(n, first_value++);
      auto const what = at("built again with " + std::to_string(n));
      map.build(space{}, to_space(p.keys), to_space(p.values));
      check_contents(what, map, p.expected, p.queries);
      same(what + ": bytes", map.bytes(), map_type::bytes_for(n, m_options));
    }
  }

  void moved() {
    auto const p = some_pairs(3000), other = some_pairs(10, 7);
    auto map = made(p);
    map_type to(std::move(map));
    check_contents(at("moved"), to, p.expected, p.queries);
    auto assigned = made(other);
    assigned = std::move(to);
    check_contents(at("move-assigned"), assigned, p.expected, p.queries);
    assigned.build(space{}, to_space(other.keys), to_space(other.values));
    check_contents(at("built after a move"), assigned, other.expected, p.queries);
  }

  void with_a_workspace() {
    auto with = m_options;
    with.keep_workspace = true;
    auto const large = some_pairs(5000), small = some_pairs(400, 3);
    map_type map(space{}, to_space(large.keys), to_space(large.values), with);
    std::size_t const bytes = map_type::bytes_for(5000, with);
    std::size_t const workspace = map_type::workspace_bytes_for(5000, with);
    holds(at("a workspace takes memory"), workspace >= 5000 * (sizeof(Key) + sizeof(T)));
    same(at("bytes without a workspace"), bytes, map_type::bytes_for(5000, m_options));
    same(at("bytes with a workspace"), map.bytes(), bytes + workspace);
    map.build(space{}, to_space(small.keys), to_space(small.values));
    check_contents(at("built in a kept workspace"), map, small.expected, small.queries);
    same(at("bytes with a workspace that was larger"), map.bytes(),
         map_type::bytes_for(400, with) + workspace);
    map.build(space{}, to_space(large.keys), to_space(large.values));
    check_contents(at("built larger in a kept workspace"), map, large.expected, large.queries);
  }

  std::string m_name;
  options m_options;
};

/// Returns sizes around the mean (409 keys) of a bucket and the paper's limit (512), and beyond a
/// region.
inline std::vector<std::size_t> cuckoo_sizes(std::vector<std::size_t> const& more) {
  return joined({0, 1, 2, 3, 63, 64, 65, 409, 410, 511, 512, 513, 4097}, more);
}

}  // namespace karpos_test
