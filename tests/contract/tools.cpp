// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tables as a profiler sees them: labels, instances, fences and allocations of every bulk call.
#include <algorithm>
#include <cstddef>
#include <karpos/device/program.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/hopscotch_map.hpp>
#include <karpos/map_operation.hpp>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/space.hpp"

namespace karpos_test {

/// A CPU whose programs are one kernel each; no program runs.
struct one_kernel_space : Kokkos::DefaultHostExecutionSpace {
  static inline int announced =
      0;  ///< kernels that a profiler saw begin, and not end, at the launch
};
struct named_program {
  static constexpr char const* label = "karpos::named";
};

}  // namespace karpos_test

template <>
struct Kokkos::Tools::Experimental::DeviceTypeTraits<karpos_test::one_kernel_space>
    : DeviceTypeTraits<Kokkos::DefaultHostExecutionSpace> {};

template <>
struct karpos::device::host::part<karpos_test::one_kernel_space>
    : part<Kokkos::DefaultHostExecutionSpace> {
  static constexpr bool has_grid_barrier = true;
  template <int Threads, int PerProcessor, class Program>
  static bool run_cooperatively(karpos_test::one_kernel_space const&, int, std::size_t,
                                std::uint64_t*, Program const&) {
    karpos_test::one_kernel_space::announced = karpos_test::record.open_kernels;
    return true;
  }
};

namespace {

using karpos_test::check_call;
using karpos_test::id_of;
using karpos_test::listener;
using karpos_test::record;
using karpos_test::recorded;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::view;
using karpos_test::waits;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct visitor {
  view<u64> count;
  KOKKOS_FUNCTION void operator()(u32, u32) const { Kokkos::atomic_inc(&count(0)); }
};

struct counter {
  KOKKOS_FUNCTION void operator()(u32, u32, u64& n) const { ++n; }
};
struct is_odd {
  KOKKOS_FUNCTION bool operator()(u32 key, u32) const { return key % 2 == 1; }
};

using small_hash_map = karpos::hash_map<u32, u32, space>;
using small_hopscotch_map = karpos::hopscotch_map<u32, u32, space>;

template <class map_type>
void every_call(space const& exec) {
  constexpr std::size_t n = 1000;
  map_type map(exec, 2 * n);
  auto const keys = to_space(karpos_test::unique_keys<u32>(n));
  view<u32> const values("values", n), out("out", n), keys_out("keys", n);
  view<bool> const flags("flags", n);
  view<u64> const visits("visits", 1);
  typename map_type::report_view const report("report");
  typename map_type::erase_view const erased("erased");
  Kokkos::fence();

  auto const asynchronous = [&](char const* what, auto const& f) {
    check_call(what, exec, waits::never, f);
  };
  auto const waiting = [&](char const* what, auto const& f) {
    check_call(what, exec, waits::on_the_instance, f);
  };

  asynchronous("insert_async", [&] { map.insert_async(exec, keys, values, report); });
  asynchronous("insert_async, one value", [&] { map.insert_async(exec, keys, 1u, report); });
  asynchronous("insert_or_assign_async",
               [&] { map.insert_or_assign_async(exec, keys, values, report); });
  asynchronous("insert_or_apply_async",
               [&] { map.insert_or_apply_async(exec, keys, values, karpos::plus{}, report); });
  asynchronous("find", [&] { map.find(exec, keys, out, 0u); });
  asynchronous("find_if", [&] { map.find_if(exec, keys, out, 0u, flags); });
  asynchronous("contains", [&] { map.contains(exec, keys, flags); });
  asynchronous("contains_if", [&] { map.contains_if(exec, keys, flags, flags); });
  asynchronous("for_each", [&] { map.for_each(exec, visitor{visits}); });
  asynchronous("erase_async", [&] { map.erase_async(exec, keys, erased); });
  asynchronous("clear", [&] { map.clear(exec); });

  waiting("insert", [&] { map.insert(exec, keys, values); });
  waiting("insert_if", [&] { map.insert_if(exec, keys, values, flags); });
  waiting("insert_or_throw", [&] { map.insert_or_throw(exec, keys, values); });
  waiting("insert_or_assign", [&] { map.insert_or_assign(exec, keys, values); });
  waiting("insert_or_apply", [&] { map.insert_or_apply(exec, keys, values, karpos::maximum{}); });
  waiting("find_or_insert", [&] { map.find_or_insert(exec, keys, values, out); });
  waiting("count", [&] { map.count(exec, keys); });
  waiting("reduce", [&] {
    u64 total = 0;
    map.reduce(exec, counter{}, Kokkos::Sum<u64>(total));
  });
  waiting("erase_if", [&] { map.erase_if(exec, is_odd{}); });
  (void)map.ref();  // from here on a scan computes the size
  waiting("size", [&] { map.size(exec); });
  waiting("retrieve_all", [&] { map.retrieve_all(exec, keys_out, out); });
  waiting("erase", [&] { map.erase(exec, keys); });
}

TEST_CASE("bulk calls on the default instance") {
  every_call<small_hash_map>(space{});
  every_call<small_hopscotch_map>(space{});
}

TEST_CASE("bulk calls on an instance of the user's") {
  auto const instances = Kokkos::Experimental::partition_space(space{}, 1, 1);
  if (id_of(instances[0]) == id_of(space{}))
    MESSAGE("skipped: " KARPOS_TEST_SPACE_NAME " has one instance only");
  else {
    every_call<small_hash_map>(instances[1]);
    every_call<small_hopscotch_map>(instances[1]);
  }
}

/// Returns whether a kernel of a call, or a region that stands for one, has a word in its label.
template <class F>
bool launches_named(F const& f, std::string const& word) {
  listener const recorder;
  f();
  bool found = false;
  for (auto const& [label, device] : record.launches)
    found |= label.find(word) != std::string::npos;
  for (std::string const& label : record.regions) found |= label.find(word) != std::string::npos;
  return found;
}

TEST_CASE("insertions by table segments and of reduced rows use the caller's workspace") {
  using karpos::bulk_strategy;
  auto const exec = Kokkos::Experimental::partition_space(space{}, 1, 1)[0];
  constexpr std::size_t n = 20'000;
  small_hash_map map(exec, 2 * n);
  auto const keys = to_space(karpos_test::unique_keys<u32>(n));
  view<u32> const values("values", n);
  std::size_t const bytes = std::max(map.insert_bytes(exec, n, bulk_strategy::partitioned),
                                     map.insert_or_apply_bytes(exec, n, bulk_strategy::reduced));
  view<std::byte> const memory("workspace", bytes);
  karpos::bulk_options const by_segments{bulk_strategy::partitioned, {memory.data(), bytes}};
  karpos::bulk_options const reduced{bulk_strategy::reduced, {memory.data(), bytes}};
  Kokkos::fence();
  auto const insert = [&] { map.insert(exec, keys, values, by_segments); };
  auto const apply = [&] { map.insert_or_apply(exec, keys, values, karpos::plus{}, reduced); };
  check_call("insert by segments", exec, waits::on_the_instance, insert);
  map.clear(exec);  // a table that holds keys takes few more by regions
  CHECK(launches_named(insert, "by segments") == karpos::device::is_device<space>);
  check_call("insert_or_apply of groups", exec, waits::on_the_instance, apply);
  CHECK(launches_named(apply, "reduce_by_key"));
}

/// Checks that labels start with the name of the map, unless Kokkos chooses them.
template <class map_type>
void construction_and_rehash(std::string const& name) {
  auto const exec = Kokkos::Experimental::partition_space(space{}, 1, 1)[0];
  auto const keys = to_space(karpos_test::unique_keys<u64>(100));
  recorded seen;
  {
    listener const recorder;
    map_type map(exec, 100);
    seen = record;
  }
  exec.fence();
  for (auto const& [label, device] : seen.launches) {
    CHECK(label.rfind(name, 0) == 0);
    CHECK(device == id_of(exec));
  }
  CHECK(!seen.allocations.empty());
  for (std::string const& label : seen.allocations) CHECK(label.rfind(name, 0) == 0);

  map_type map(exec, 100);
  map.insert(exec, keys, u64(1));
  map.rehash(exec, 200);  // warms up
  {
    listener const recorder;
    map.rehash(exec, 200);
    seen = record;
  }
  CHECK(seen.launches.size() >= 2);
  for (auto const& [label, device] : seen.launches) {
    CHECK(label.rfind(name, 0) == 0);
    CHECK(device == id_of(exec));
  }
  for (std::string const& label : seen.allocations) CHECK(label.rfind(name, 0) == 0);
  CHECK(seen.open_regions == 0);
}

TEST_CASE("construction and rehash launch on the instance and allocate their own memory only") {
  construction_and_rehash<karpos::hash_map<u64, u64, space>>("karpos::hash_map::");
  construction_and_rehash<karpos::hopscotch_map<u64, u64, space>>("karpos::hopscotch_map::");
}

TEST_CASE(
    "an insertion that grows launches on the instance and allocates memory of the map's only") {
  auto const exec = Kokkos::Experimental::partition_space(space{}, 1, 1)[0];
  auto const keys = to_space(karpos_test::unique_keys<u64>(400));
  karpos::hopscotch_map<u64, u64, space> warm(exec, 100), map(exec, 100);
  warm.insert(exec, keys, u64(1));
  recorded seen;
  {
    listener const recorder;
    map.insert(exec, keys, u64(1));
    seen = record;
  }
  CHECK(map.max_keys() > 100);
  for (auto const& [label, device] : seen.launches) {
    CHECK(label.rfind("karpos::hopscotch_map::", 0) == 0);
    CHECK(device == id_of(exec));
  }
  CHECK(!seen.allocations.empty());
  for (std::string const& label : seen.allocations)
    CHECK(label.rfind("karpos::hopscotch_map::", 0) == 0);
  for (std::string const& label : seen.regions) CHECK(label.rfind("karpos::", 0) == 0);
  CHECK(seen.open_regions == 0);
}

using operation = karpos::map_operation<u32, u32>;
using karpos::map_op;
using karpos_test::holds;
using karpos_test::same;

/// Counts the kernels that a call launches, all of them or those with a word in their labels.
template <class F>
u64 launches_of(F const& f, std::string const& word = "") {
  listener const recorder;
  f();
  u64 n = 0;
  for (auto const& [label, device] : record.launches) n += label.find(word) != std::string::npos;
  return n;
}
u64 launches_of_apply(small_hash_map& map, std::vector<operation> const& operations) {
  auto const in = to_space(operations);
  view<karpos::map_result<u32>> const results("results", operations.size());
  return launches_of([&] { map.apply(space{}, in, results); });
}

TEST_CASE("apply on a small map: kernels for what it inserts and erases, not for every operation") {
  auto const keys = karpos_test::unique_keys<u32>(200);
  small_hash_map map(space{}, 100);
  map.insert(space{}, to_space(std::vector<u32>(keys.begin(), keys.begin() + 90)), 1u);
  same("one insertion", launches_of_apply(map, {{map_op::insert, keys[99], 1u}}), 1);
  std::vector<operation> finds, known, mixed;
  for (std::size_t i = 0; i < 20000; ++i) {
    finds.push_back({map_op::find, keys[i % 100], 0u});
    known.push_back({map_op::insert, keys[i % 90], 0u});
    mixed.push_back({i % 2 == 0 ? map_op::insert : map_op::erase, keys[i % 99], 0u});
  }
  same("lookups: counted, and run", launches_of_apply(map, finds), 2);
  holds("insertions of stored keys", launches_of_apply(map, known) <= 3);
  (void)map.ref();
  same("lookups after a ref was made", launches_of_apply(map, finds), 2);
  holds("insertions and erasures", launches_of_apply(map, mixed) < mixed.size() / 2);
  map.insert(space{}, to_space(keys), 1u);
  holds("insertions and erasures in a nearly full map",
        map.size(space{}) > 130 && launches_of_apply(map, mixed) < mixed.size() / 2);
}

TEST_CASE("a nearly full map is compacted rarely while single keys come and go") {
  auto const keys = karpos_test::unique_keys<u32>(1300);
  small_hash_map map(space{}, 1000);
  auto const live = static_cast<std::ptrdiff_t>(map.capacity() * 24 / 25);
  map.insert(space{}, to_space(std::vector<u32>(keys.begin(), keys.begin() + live)), 1u);
  auto const pairs = [&] {
    for (u32 i = 0; i < 50; ++i) {
      map.erase(space{}, to_space(std::vector<u32>{keys[i]}));
      map.insert(space{}, to_space(std::vector<u32>{keys[1250 + i]}), 1u);
    }
  };
  holds("compactions", launches_of(pairs, "compact") <= 1);
  map.clear(space{});
  map.insert(space{}, to_space(std::vector<u32>(keys.begin(), keys.begin() + live)), 1u);
  holds("scans", launches_of(pairs, "count slots") <= 1);
}

template <class map_type>
void over_wrapped_memory() {
  std::size_t const bytes = map_type::bytes_for(500, 0.8);
  view<unsigned char> const memory("memory", bytes);
  listener const recorder;
  map_type map(space{}, karpos::wrapped_memory{memory.data(), memory.size()}, 500);
  CHECK(record.allocated < 1024);
}

TEST_CASE("over wrapped memory only the reports are allocated") {
  over_wrapped_memory<small_hash_map>();
  over_wrapped_memory<small_hopscotch_map>();
}

TEST_CASE("a program in one kernel begins and ends by its label") {
  using one_kernel = karpos_test::one_kernel_space;
  listener const recorder;
  CHECK(karpos::device::run_in_one_kernel<1, 1>(
      one_kernel(), karpos::device::grid_memory<one_kernel>(), karpos_test::named_program()));
  REQUIRE(record.launches.size() == 1);
  CHECK(record.launches[0].label == "karpos::named");
  CHECK(record.launches[0].device == Kokkos::Tools::Experimental::device_id(one_kernel()));
  CHECK(one_kernel::announced == 1);
  CHECK(record.open_kernels == 0);
}

}  // namespace
