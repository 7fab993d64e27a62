// SPDX-License-Identifier: Apache-2.0
/// \file
/// A split that records its tiles, and its inverse: every row of the source gets the result of its
/// own row, or is reported as overflowed. On GPUs, and on a device that a CPU emulates.
#include <doctest/doctest.h>

#include "support/emulated_space.hpp"
// The headers below must see its declarations.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "karpos/detail/relational/partition/restore.hpp"
#include "support/check.hpp"
#include "support/emulated_restore.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

namespace partition = karpos::detail::partition;
using karpos_test::random_numbers;
using karpos_test::same;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using tested_space = std::conditional_t<karpos::device::is_device<karpos_test::space>,
                                        karpos_test::space, karpos_test::emulated_space>;
template <class X>
using array = Kokkos::View<X*, tested_space::memory_space>;

struct modulo {
  u32 partitions;
  template <class Key>
  KOKKOS_FUNCTION u32 operator()(Key key) const {
    return static_cast<u32>(key % partitions);
  }
};
/// Writes three times a row to the result of the row.
template <class Key>
struct triple {
  Key const* rows;
  u64* results;
  KOKKOS_FUNCTION void operator()(u64 i) const { results[i] = 3 * u64(rows[i]); }
};
template <class Key>
struct triple_overflowed {
  Key const* rows;
  u64* results;
  u32* count;
  KOKKOS_FUNCTION void operator()(u64 i) const {
    results[i] = 3 * u64(rows[i]);
    karpos::device::add(count, 1u);
  }
};
struct write_to {
  u64* results;
  KOKKOS_FUNCTION u64& operator()(u64 i) const { return results[i]; }
};

/// Splits keys into `partitions` ones of `capacity` rows, triples each, and checks the results.
template <class Key>
void restores(std::vector<Key> const& keys, u32 partitions, u32 capacity) {
  INFO(keys.size(), " keys of ", sizeof(Key), " bytes, ", partitions, " partitions of ", capacity);
  tested_space const exec{};
  u64 const n = keys.size();
  array<Key> const in("keys", n);
  auto const host_in = Kokkos::create_mirror_view(in);
  std::copy(keys.begin(), keys.end(), host_in.data());
  Kokkos::deep_copy(in, host_in);
  using source = partition::keys_only<array<Key>>;
  using of_row = partition::partition_of_row<source, modulo>;
  partition::capacity_split<tested_space, Key> by_capacity({partitions},
                                                           partition::capacity_policy(1));
  by_capacity.fine.capacity = capacity;
  partition::recorded_split<tested_space, source, of_row> split(
      exec, source(in), of_row{{partitions}, partitions}, by_capacity);
  karpos::detail::arena sizes;
  split.allocate_from(sizes);
  array<std::byte> const memory("memory", sizes.bytes());
  karpos::detail::arena a(memory.data());
  split.allocate_from(a);
  array<Key> const rows("rows", split.places());
  array<u64> const of_rows("results of rows", split.places()), out("results", n);
  array<u32> const overflowed("overflowed", 1);
  split.run(rows.data());
  karpos::device::loop_over("test: triple", exec, split.places(),
                            triple<Key>{rows.data(), of_rows.data()});
  partition::restore_order(exec, split.record(), static_cast<u64 const*>(of_rows.data()),
                           write_to{out.data()});
  split.for_each_overflowed(triple_overflowed<Key>{in.data(), out.data(), overflowed.data()});
  Kokkos::fence();
  auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, out);
  u64 wrong = 0, beyond = 0;
  for (u64 i = 0; i < n; ++i) wrong += got(i) != 3 * u64(keys[i]);
  same("wrong results", wrong, 0);
  std::vector<u64> of_partition(partitions);
  for (Key const k : keys) ++of_partition[k % partitions];
  for (u64 const k : of_partition) beyond += k > capacity ? k - capacity : 0;
  u64 const seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, overflowed)(0);
  CHECK(seen >= beyond);  // whole runs overflow
  CHECK((seen == 0) == (beyond == 0));
}

template <class Key>
std::vector<Key> random_keys(u64 n, u64 below) {
  random_numbers random(n + below);
  std::vector<Key> keys(n);
  for (Key& k : keys) k = static_cast<Key>(random.below(below));
  return keys;
}

template <class Key>
void restores_all() {
  u64 const many = karpos::device::is_device<karpos_test::space> ? 1'000'003 : 6'007;
  for (u64 const n : {u64(0), u64(1), u64(4), u64(577), many})
    for (u32 const partitions : {1u, 7u, 128u, 256u}) {
      auto const keys = random_keys<Key>(n, u64(1) << 31);
      auto const all = static_cast<u32>(n / 32 * 32 + 32);
      restores(keys, partitions, all);
      restores(keys, partitions, static_cast<u32>(n / partitions / 32 * 32 + 32));
    }
}

}  // namespace

TEST_CASE("results go back to the order of the rows, whatever overflowed") {
  restores_all<u32>();
  restores_all<u64>();
}

TEST_CASE("equal rows: all but the first runs of a partition overflow") {
  restores(std::vector<u32>(5'000, 42), 16, 32);
  restores(std::vector<u32>(5'000, 42), 16, 1'024);
  auto keys = random_keys<u32>(5'000, 1'000);
  std::fill(keys.begin() + 1'000, keys.begin() + 3'000, 17);
  restores(keys, 100, 64);
}
