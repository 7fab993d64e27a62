// SPDX-License-Identifier: Apache-2.0
/// \file
/// A partition as a profiler sees it: labels, instances, fences.
#include <karpos/partition.hpp>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::check_call;
using karpos_test::id_of;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::view;
using karpos_test::waits;

void partitions(space const& exec) {
  std::size_t const n = 20'000;
  auto const keys = to_space(karpos_test::unique_keys<std::uint32_t>(n));
  view<std::uint32_t> const out("out", n);
  for (std::uint32_t count : {16u, 10'000u})
    for (bool stable : {false, true}) {
      view<std::uint64_t> const offsets("offsets", count + 1);
      karpos::hash_partitioner<std::uint32_t> const by_hash{count};
      karpos::partition_options options{.stable = stable};
      std::size_t const bytes = karpos::partition_bytes<std::uint32_t>(exec, n, count, options);
      view<std::byte> const memory("memory", bytes);
      Kokkos::fence();
      options.workspace = {memory.data(), bytes};
      check_call("in the caller's memory", exec, waits::never,
                 [&] { karpos::partition(exec, keys, out, offsets, by_hash, options); });
    }
}

}  // namespace

TEST_CASE("a partition in the caller's memory waits for nothing and allocates nothing") {
  partitions(space());
  auto const instances = Kokkos::Experimental::partition_space(space(), 1, 1);
  if (id_of(instances[0]) == id_of(space()))
    MESSAGE("skipped: " KARPOS_TEST_SPACE_NAME " has one instance only");
  else
    partitions(instances[1]);
}
