// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bulk operations on views in host memory while the table is not, in tiny batches, compared with
/// an oracle. Without a device, memory spaces defined here, which are aliases of the host's, stand
/// in for its memory.
#include <karpos/cuckoo_map.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/hash_set.hpp>
#include <karpos/hopscotch_map.hpp>
#include <numeric>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/memory_limit.hpp"
#include "support/oracle.hpp"
#include "support/space.hpp"

namespace {

using karpos::detail::staging;
using karpos_test::holds;
using karpos_test::same;
using karpos_test::skewed_draws;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr bool on_device = karpos::device::is_device<space> &&
                           !Kokkos::SpaceAccessibility<space, Kokkos::HostSpace>::accessible;
template <int>
struct alias_memory : Kokkos::HostSpace {
  using memory_space = alias_memory;
  using device_type = Kokkos::Device<Kokkos::DefaultHostExecutionSpace, alias_memory>;
};
using pageable = std::conditional_t<on_device, Kokkos::HostSpace, alias_memory<0>>;
using pinned = std::conditional_t<on_device, karpos::detail::pinned_space, alias_memory<1>>;
#if defined(KOKKOS_HAS_SHARED_SPACE)
using shared = Kokkos::SharedSpace;
#else
using shared = space::memory_space;
#endif
using table_memory = space::memory_space;

}  // namespace

template <int I>
struct Kokkos::is_memory_space<alias_memory<I>> : std::true_type {};

namespace karpos::detail {
template <>
inline constexpr staging staging_of<space, alias_memory<0>> = staging::through_pinned;
template <>
inline constexpr staging staging_of<space, alias_memory<1>> = staging::direct;
template <>
inline constexpr batch_plan batch_plan_for<space, staging::through_pinned> = {5, 2};
template <>
inline constexpr batch_plan batch_plan_for<space, staging::direct> = {7, 3};
}  // namespace karpos::detail

namespace {

constexpr std::size_t sizes[] = {0, 1, 4, 5, 6, 7, 8, 10, 14, 23, 300};

/// A view in some memory, and its allocation.
template <class Memory, class X>
class placed {
 public:
  using view_type = Kokkos::View<X*, Memory, Kokkos::MemoryUnmanaged>;

  explicit placed(std::vector<X> const& from)
      : m_own(Kokkos::view_alloc(Kokkos::WithoutInitializing, "placed"), from.size()),
        view(m_own.data(), from.size()) {
    Kokkos::deep_copy(m_own, host_view(from.data(), from.size()));
  }
  placed(std::size_t n, X const& x) : m_own("placed", n), view(m_own.data(), n) {
    Kokkos::deep_copy(m_own, x);
  }
  /// Copies host memory without a fence: calls that write there have blocked until they were done.
  std::vector<X> contents() const {
    if constexpr (std::is_same_v<Memory, pageable> || std::is_same_v<Memory, pinned>)
      return std::vector<X>(m_own.data(), m_own.data() + m_own.extent(0));
    else
      return to_host(m_own);
  }

 private:
  using host_view = Kokkos::View<X const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  static constexpr bool is_alias =
      std::is_same_v<Memory, alias_memory<0>> || std::is_same_v<Memory, alias_memory<1>>;
  Kokkos::View<X*, std::conditional_t<is_alias, Kokkos::HostSpace, Memory>> m_own;

 public:
  view_type view;
};

using flag = std::uint8_t;
struct is_odd {
  template <class X>
  KOKKOS_FUNCTION bool operator()(X const& x) const {
    return x % 2 == 1;
  }
};

template <class Map>
using oracle_of = karpos_test::oracle<typename Map::key_type, typename Map::mapped_type>;

template <class Map>
void contents_are(std::string const& what, Map const& map, oracle_of<Map> const& expected) {
  view<typename Map::key_type> const keys("keys", map.capacity());
  view<typename Map::mapped_type> const values("values", map.capacity());
  u64 const n = map.retrieve_all(space{}, keys, values);
  holds(what, expected.equals(to_host(keys), to_host(values), n));
}

/// Draws n keys, some of them equal, with a value for each, and queries for lookups.
template <class Map>
struct offers {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  explicit offers(std::size_t n)
      : draws(skewed_draws(unique_keys<Key>(n / 2 + 1), n, n)),
        queries(unique_keys<Key>(n)),
        values(n),
        numbers(n) {
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(1 + i % 100);
    for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<flag>(i % 3);
  }
  std::vector<Key> draws, queries;
  std::vector<T> values;
  std::vector<flag> numbers;  // stencil: every third number is odd
};

struct plus_host {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

template <class Map>
void add(oracle_of<Map>& o, karpos::insert_report& report, typename Map::key_type key,
         typename Map::mapped_type value) {
  ++(o.insert_or_apply(key, value, plus_host{}) == karpos::outcome::inserted ? report.inserted
                                                                             : report.existing);
}

/// Checks merges of all rows and of selected ones, with values from a view or one value for all.
template <class Map, class KeyMemory, class ValueMemory>
void merges(std::size_t n) {
  offers<Map> const o(n);
  using T = typename Map::mapped_type;
  placed<KeyMemory, typename Map::key_type> const keys(o.draws);
  placed<ValueMemory, T> const values(o.values);
  Map map(space{}, n + 1);
  oracle_of<Map> expected;
  karpos::insert_report all, again;
  for (std::size_t i = 0; i < n; ++i) add<Map>(expected, all, o.draws[i], o.values[i]);
  holds("report of insert_or_apply",
        map.insert_or_apply(space{}, keys.view, values.view, karpos::plus{}) == all);
  contents_are("contents after insert_or_apply", map, expected);
  for (std::size_t i = 0; i < n; ++i) add<Map>(expected, again, o.draws[i], T(3));
  holds("report of insert_or_apply, one value",
        map.insert_or_apply(space{}, keys.view, T(3), karpos::plus{}) == again);
  contents_are("contents after one value for all", map, expected);
  for (std::size_t i = 0; i < n; ++i) add<Map>(expected, again, o.draws[i], T(3));
  map.insert_or_apply(space{}, keys.view, T(3), karpos::plus{}, {karpos::bulk_strategy::reduced});
  contents_are("contents after one value for all, reduced", map, expected);
  same("erase", map.erase(space{}, keys.view), expected.size());
  contents_are("contents after erase", map, {});
}

/// Checks insertions in which every key has one value of its own.
template <class Map, class KeyMemory, class ValueMemory>
void insertions(std::size_t n) {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  offers<Map> const o(n);
  placed<KeyMemory, Key> const keys(o.queries);
  placed<ValueMemory, T> const values(o.values), sevens(n, T(7));
  placed<ValueMemory, flag> const stencil(o.numbers);
  Map map(space{}, n + 1);
  oracle_of<Map> some, all, assigned;
  for (std::size_t i = 0; i < n; ++i) {
    if (o.numbers[i] % 2 == 1) some.insert(o.queries[i], o.values[i]);
    all.insert(o.queries[i], o.numbers[i] % 2 == 1 ? o.values[i] : T(7));
    assigned.insert(o.queries[i], o.values[i]);
  }
  karpos::insert_report const chosen =
      map.insert_if(space{}, keys.view, values.view, stencil.view, is_odd{});
  holds("report of insert_if", chosen == karpos::insert_report{some.size(), 0, 0, 0});
  contents_are("contents after insert_if", map, some);
  holds("report of insert", map.insert(space{}, keys.view, sevens.view) ==
                                karpos::insert_report{n - some.size(), some.size(), 0, 0});
  contents_are("contents after insert", map, all);
  holds("report of insert_or_assign",
        map.insert_or_assign(space{}, keys.view, values.view) == karpos::insert_report{0, n, 0, 0});
  contents_are("contents after insert_or_assign", map, assigned);

  placed<ValueMemory, T> const out(n, T(0));
  Map fresh(space{}, n + 1);
  holds("report of find_or_insert",
        fresh.find_or_insert(space{}, keys.view, values.view, out.view) ==
            karpos::insert_report{n, 0, 0, 0});
  holds("values of find_or_insert", out.contents() == o.values);
}

/// Checks lookups; every second query is stored. Answers in host memory are read as soon as the
/// call returns.
template <class Map, class QueryMemory, class OutMemory>
void lookups(Map const& map, offers<Map> const& o) {
  using T = typename Map::mapped_type;
  std::size_t const n = o.queries.size();
  placed<QueryMemory, typename Map::key_type> const queries(o.queries);
  placed<QueryMemory, flag> const stencil(o.numbers);
  placed<OutMemory, T> const found(n, T(1)), found_if(n, T(1));
  placed<OutMemory, bool> const there(n, false), there_if(n, false);
  map.find(space{}, queries.view, found.view, T(9));
  map.find_if(space{}, queries.view, found_if.view, T(9), stencil.view, is_odd{});
  map.contains(space{}, queries.view, there.view);
  map.contains_if(space{}, queries.view, there_if.view, stencil.view, is_odd{});
  if constexpr (std::is_same_v<OutMemory, table_memory> || std::is_same_v<OutMemory, shared>)
    space{}.fence();
  auto const values = found.contents(), values_if = found_if.contents();
  auto const flags = there.contents(), flags_if = there_if.contents();
  u64 wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bool const in = i % 2 == 0, chosen = o.numbers[i] % 2 == 1;
    wrong += values[i] != (in ? o.values[i] : T(9));
    wrong += values_if[i] != (in && chosen ? o.values[i] : T(9));
    wrong += flags[i] != in;
    wrong += flags_if[i] != (in && chosen);
  }
  same("wrong answers", wrong, 0);
  same("count", map.count(space{}, queries.view), (n + 1) / 2);
}

template <class Map>
void lookups_everywhere(Map const& map, offers<Map> const& o) {
  lookups<Map, pageable, pageable>(map, o);
#if KARPOS_FULL_TESTS
  lookups<Map, pinned, pinned>(map, o);
  lookups<Map, pinned, pageable>(map, o);
#endif
  lookups<Map, table_memory, pageable>(map, o);
  lookups<Map, pinned, table_memory>(map, o);
#if KARPOS_FULL_TESTS
  lookups<Map, shared, shared>(map, o);
#endif
}

template <class Map>
void fill_with_every_second(Map& map, offers<Map> const& o) {
  std::vector<typename Map::key_type> keys;
  std::vector<typename Map::mapped_type> values;
  for (std::size_t i = 0; i < o.queries.size(); i += 2) {
    keys.push_back(o.queries[i]);
    values.push_back(o.values[i]);
  }
  map.insert(space{}, to_space(keys), to_space(values));
}

template <class Map>
void every_operation() {
  for (std::size_t const n : sizes) {
    INFO("elements: ", n);
#if KARPOS_FULL_TESTS
    merges<Map, pageable, pageable>(n);
    merges<Map, pinned, pinned>(n);
#endif
    merges<Map, pageable, pinned>(n);
    merges<Map, table_memory, pageable>(n);
    insertions<Map, pageable, pageable>(n);
#if KARPOS_FULL_TESTS
    insertions<Map, pinned, pinned>(n);
#endif
    insertions<Map, pinned, table_memory>(n);
#if KARPOS_FULL_TESTS
    insertions<Map, shared, shared>(n);
#endif
    offers<Map> const o(n);
    Map map(space{}, n + 1);
    fill_with_every_second(map, o);
    lookups_everywhere(map, o);
  }
}

}  // namespace
