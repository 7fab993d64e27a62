// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cuckoo maps when memory runs out: they say so, and can still be queried and built again.
#include <malloc.h>

#include <karpos/contract.hpp>
#include <stdexcept>

#include "support/cuckoo.hpp"
#include "support/memory_limit.hpp"

namespace {

using karpos_test::both_layouts;
using karpos_test::check_contents;
using karpos_test::check_empty_and_usable;
using karpos_test::data_bytes;
using karpos_test::memory_limit;
using karpos_test::name_of;
using karpos_test::numbered_values;
using karpos_test::oracle_of;
using karpos_test::slice;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_space;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using map_type = karpos::cuckoo_map<u32, u32, space>;
using unowned =
    Kokkos::View<u32 const*, typename space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

TEST_CASE("cuckoo_map: a table that no memory can hold is refused with its size") {
  for (auto const layout : both_layouts) {
    auto const keys = unique_keys<u32>(1000);
    map_type map(space{}, to_space(keys), to_space(numbered_values<u32>(1000)), {.layout = layout});
    auto const d_keys = to_space(keys), sentinels = to_space(std::vector<u32>{~u32(0)});
    // These views are not read: the allocation of the table fails first.
    unowned const endless(d_keys.data(), std::size_t(1) << 46);
    throws<karpos::allocation_error>([&] { map.build(space{}, endless, endless); },
                                     "karpos::cuckoo_map::build: out of memory",
                                     std::string(space::memory_space::name()), "bytes in");
    check_contents(name_of(layout) + ", after too large a build", map,
                   oracle_of(keys, numbered_values<u32>(1000)), unique_keys<u32>(3000));
    CHECK(map.bytes() == map_type::bytes_for(1000, {.layout = layout}));
    throws<std::invalid_argument>([&] { map.build(space{}, sentinels, sentinels); }, "sentinel");
    check_empty_and_usable(name_of(layout) + ", after too large a build", map);
  }
}

TEST_CASE("cuckoo_map: a capacity that no memory can hold is refused") {
  map_type::options const o{.layout = karpos::cuckoo_layout::dense, .capacity = u64(1) << 46};
  auto const keys = to_space(unique_keys<u32>(10));
  throws<karpos::allocation_error>([&] { map_type(space{}, keys, keys, o); },
                                   "karpos::cuckoo_map: out of memory",
                                   std::string(space::memory_space::name()), "bytes in");
}

constexpr bool in_host_memory =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename space::memory_space>::accessible;

/// Calls call() with so little memory that it fails, then with more and more until it succeeds;
/// `unharmed` checks the map after each failure. Returns: the number of failures.
template <class Call, class Unharmed>
u64 with_little_memory(u64 step, Call const& call, Unharmed const& unharmed) {
  u64 failures = 0;
  mallopt(M_MMAP_THRESHOLD, 1 << 16);  // returns freed memory to the system, which limits it
  auto const before = data_bytes();    // before failures, which may leave memory with the threads
  for (u64 extra = 0;; extra += step) {
    bool failed = false;
    std::string message;
    {
      memory_limit const limit(before + extra);
      try {
        call();
      } catch (karpos::allocation_error const& e) {
        failed = true;
        message = e.what();
      }
    }
    if (!failed) return failures;
    ++failures;
    CHECK(message.find("karpos::cuckoo_map") == 0);
    unharmed();
    REQUIRE(failures < 1000);
  }
}

TEST_CASE(
    "cuckoo_map: a build that fails somewhere in between leaves the map as it was, or empty") {
  if (!in_host_memory) {
    MESSAGE("skipped: only the memory of the host can be bounded");
    return;
  }
  auto const keys = unique_keys<u32>(1'000'000);
  auto const d_keys = to_space(keys);
  auto twice = keys;
  twice[1] = twice[0];  // makes the build look for duplicates
  auto const d_twice = to_space(twice);
  for (auto const layout : both_layouts)
    for (auto const& many : {d_keys, d_twice}) {
      auto const few = slice(keys, 0, 1000);
      map_type::options const o{.layout = layout};
      map_type map(space{}, to_space(few), to_space(few), o);
      u64 const failures = with_little_memory(
          1'000'000, [&] { map.build(space{}, many, many); },
          [&] {
            bool const as_it_was = map.size() != 0;
            auto const left = as_it_was ? few : std::vector<u32>();
            check_contents(name_of(layout) + ", after a failure", map, oracle_of(left, left),
                           slice(keys, 0, 3000));
            karpos_test::same("bytes", map.bytes(),
                              map_type::bytes_for(as_it_was ? 1000 : many.extent(0), o));
          });
      CHECK(failures > 3);
      CHECK(map.size() == keys.size() - (many.data() == d_twice.data()));
    }
}

TEST_CASE("cuckoo_map: an insertion that fails somewhere in between changes nothing") {
  if (!in_host_memory) {
    MESSAGE("skipped: only the memory of the host can be bounded");
    return;
  }
  auto const keys = unique_keys<u32>(1'000'000);
  auto const d_keys = to_space(keys);
  for (u64 capacity : {0u, 1'000'000u}) {  // with growth and without
    auto const few = slice(keys, 0, 1000);
    auto const expected = oracle_of(few, few);
    map_type map(space{}, to_space(few), to_space(few),
                 {.layout = karpos::cuckoo_layout::dense, .capacity = capacity});
    std::size_t const bytes = map.bytes();
    u64 const failures = with_little_memory(
        2'000'000, [&] { map.insert(space{}, d_keys, d_keys); },
        [&] {
          check_contents("after a failure", map, expected, slice(keys, 0, 3000));
          CHECK(map.bytes() == bytes);
        });
    CHECK(failures > 3);
    CHECK(map.size() == keys.size());
    karpos_test::view<u32> const out("out", keys.size());
    map.find(space{}, d_keys, out, ~u32(0));
    CHECK(karpos_test::to_host(out) == keys);
  }
}

}  // namespace
