// SPDX-License-Identifier: Apache-2.0
/// \file
/// A cuckoo_map as a profiler sees it: labels, instances, fences and allocations of every bulk
/// call.
#include <karpos/cuckoo_map.hpp>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/space.hpp"

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
using map_type = karpos::cuckoo_map<u32, u32, space>;

constexpr karpos::cuckoo_layout layouts[] = {karpos::cuckoo_layout::two_level,
                                             karpos::cuckoo_layout::dense};

struct count_visits {
  view<u64> count;
  KOKKOS_FUNCTION void operator()(u32, u32) const { Kokkos::atomic_inc(&count(0)); }
};

bool starts_with(std::string const& label, char const* with) { return label.rfind(with, 0) == 0; }

void every_call(space const& exec, map_type::options const& o) {
  constexpr std::size_t n = 5000;
  auto const keys = to_space(karpos_test::unique_keys<u32>(n));
  view<u32> const values("values", n), out("out", n), keys_out("keys", n);
  view<bool> const flags("flags", n);
  view<u64> const visits("visits", 1);
  map_type map(exec, keys, values, o);
  Kokkos::fence();

  auto const asynchronous = [&](char const* what, auto const& f) {
    check_call(what, exec, waits::never, f);
  };
  asynchronous("find", [&] { map.find(exec, keys, out, 0u); });
  asynchronous("contains", [&] { map.contains(exec, keys, flags); });
  asynchronous("find_if", [&] { map.find_if(exec, keys, out, 0u, flags); });
  asynchronous("contains_if", [&] { map.contains_if(exec, keys, flags, flags); });
  asynchronous("for_each", [&] { map.for_each(exec, count_visits{visits}); });
  check_call("retrieve_all", exec, waits::on_the_instance,
             [&] { map.retrieve_all(exec, keys_out, out); });
  // With a kept workspace, a build of the same size allocates nothing.
  check_call("build", exec, waits::on_the_instance, [&] { map.build(exec, keys, values); });
}

/// Checks a call f that may allocate, fence and launch: all of it on the instance and with the
/// map's name in the labels.
template <class F>
void check_owner(std::string const& what, space const& exec, bool kernels_too, F const& f) {
  exec.fence();
  recorded seen;
  {
    listener const recorder;
    f();
    seen = record;
  }
  exec.fence();
  u64 own = 0;
  for (auto const& [label, device] : seen.launches) {
    // Kokkos names its kernels that fill and copy views.
    bool const ours =
        starts_with(label, "karpos::cuckoo_map::") || starts_with(label, "karpos::partition: ");
    own += ours;
    karpos_test::holds(what + ": the label '" + label + "'",
                       ours || starts_with(label, "Kokkos::"));
    karpos_test::same(what + ": '" + label + "' runs on the instance", device, id_of(exec));
  }
  karpos_test::holds(what + ": has kernels", own > 0 || !kernels_too);
  for (auto const& [label, device] : seen.fences)
    // Kokkos fences every instance before it frees memory.
    if (label.find("deallocate") == std::string::npos)
      karpos_test::same(what + ": fence '" + label + "'", device, id_of(exec));
  for (std::string const& label : seen.allocations)
    karpos_test::holds(what + ": the allocation '" + label + "'",
                       starts_with(label, "karpos::cuckoo_map::"));
  for (std::string const& label : seen.regions)
    karpos_test::holds(what + ": the region '" + label + "'",
                       starts_with(label, "karpos::cuckoo_map"));
  karpos_test::same(what + ": regions are closed", static_cast<u64>(seen.open_regions), 0);
}

void calls_that_allocate(space const& exec, karpos::cuckoo_layout layout) {
  auto const all = karpos_test::unique_keys<u32>(9000);
  auto const keys = to_space(std::vector<u32>(all.begin(), all.begin() + 5000));
  auto const every_key = to_space(all);
  auto twice = all;
  twice[10] = twice[20] = twice[30];
  auto const d_twice = to_space(twice);
  map_type map(exec, keys, keys, {.layout = layout});  // warms up
  map.build(exec, d_twice, d_twice);
  auto const owned = [&](char const* what, auto const& f) { check_owner(what, exec, true, f); };
  owned("construction", [&] { map_type(exec, keys, keys, {.layout = layout}); });
  owned("a build of another size", [&] { map.build(exec, keys, keys); });
  owned("a build with duplicates", [&] { map.build(exec, d_twice, d_twice); });
  owned("stats", [&] { map.stats(exec); });
  map_type copy(exec, keys, keys);
  check_owner("deep_copy", exec, false, [&] { deep_copy(exec, copy, map); });
  if (layout != karpos::cuckoo_layout::dense) return;
  auto const inserted = [&](char const* what, u64 capacity) {
    auto const made = [&] {
      return map_type(exec, keys, keys, {.layout = layout, .capacity = capacity});
    };
    made().insert(exec, every_key, every_key);  // warms up
    auto of = made();
    owned(what, [&] { of.insert(exec, every_key, every_key); });
    CHECK(of.size() == 9000);
  };
  inserted("an insertion", 20000);
  inserted("an insertion that grows", 0);
}

/// Checks both layouts: every call with a kept workspace, which must not allocate, and the calls
/// that may allocate.
void on(space const& exec) {
  for (auto const layout : layouts) {
    map_type::options o{.layout = layout};
    o.keep_workspace = true;
    every_call(exec, o);
    calls_that_allocate(exec, layout);
  }
}

TEST_CASE("cuckoo_map: bulk calls on the default instance") { on(space{}); }

TEST_CASE("cuckoo_map: bulk calls on an instance of the user's") {
  auto const instances = Kokkos::Experimental::partition_space(space{}, 1, 1);
  if (id_of(instances[0]) == id_of(space{}))
    MESSAGE("skipped: " KARPOS_TEST_SPACE_NAME " has one instance only");
  else
    on(instances[1]);
}

TEST_CASE("cuckoo_map: memory is given back") {
  auto const keys = to_space(karpos_test::unique_keys<u32>(5000));
  view<u32> const values("values", 5000);
  for (auto const layout : layouts) {
    listener const recorder;
    {
      map_type map(space{}, keys, values, {.layout = layout});
      // After a build the map holds bytes() and a report.
      CHECK(record.allocated - record.freed >= map.bytes());
      CHECK(record.allocated - record.freed <= map.bytes() + 1024);
    }
    CHECK(record.allocated == record.freed);
  }
}

}  // namespace
