// SPDX-License-Identifier: Apache-2.0
/// \file
/// A multimap as a profiler sees it: labels, instances, fences.
#include <karpos/hash_multimap.hpp>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::check_call;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::view;
using karpos_test::waits;

void queries_a_multimap(space const& exec) {
  std::size_t const n = 20'000;
  auto values = karpos_test::unique_keys<std::uint32_t>(n);
  for (std::size_t i = n / 2; i < n; ++i) values[i] = values[i - n / 2];
  auto const keys = to_space(values);
  karpos::hash_multimap<std::uint32_t, std::uint32_t, space> map(exec, 10 * n);
  view<std::uint32_t> const out("out", n);
  view<bool> const flags("flags", n);
  map.insert(exec, keys, keys);
  map.ref(exec, 5 * n);
  Kokkos::fence();
  check_call("count", exec, waits::never, [&] { map.count(exec, keys, out); });
  check_call("contains", exec, waits::never, [&] { map.contains(exec, keys, flags); });
  check_call("find_any", exec, waits::never, [&] { map.find_any(exec, keys, out, 0u); });
}

}  // namespace

TEST_CASE("lookups in a multimap neither wait nor allocate") {
  queries_a_multimap(space());
  auto const instances = Kokkos::Experimental::partition_space(space(), 1, 1);
  if (karpos_test::id_of(instances[0]) == karpos_test::id_of(space()))
    MESSAGE("skipped: " KARPOS_TEST_SPACE_NAME " has one instance only");
  else
    queries_a_multimap(instances[1]);
}
