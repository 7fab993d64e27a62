// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tests of partition: every row is in the output once, in its partition, and in its old order if
/// that was requested.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <karpos/partition.hpp>
#include <string>
#include <vector>

#include "support/chance.hpp"
#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/memory_limit.hpp"
#include "support/space.hpp"

namespace {

using karpos::key_value;
using karpos::partition_options;
using karpos_test::holds;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

/// Assigns a key to the partition key % partitions, so that tests choose the partitions.
struct modulo {
  std::uint32_t partitions;
  template <class Key>
  KOKKOS_FUNCTION std::uint32_t operator()(Key const& key) const {
    return static_cast<std::uint32_t>(key % partitions);
  }
};
/// Assigns every key to one partition.
struct one_partition {
  std::uint32_t partition;
  template <class Key>
  KOKKOS_FUNCTION std::uint32_t operator()(Key const&) const {
    return partition;
  }
};

template <class Row>
struct result {
  std::vector<Row> rows;
  std::vector<std::uint64_t> offsets;
};

/// Returns the partition that std::stable_sort makes of the rows.
template <class Row, class Partitioner>
result<Row> oracle(std::vector<Row> rows, std::uint32_t partitions, Partitioner const& partition) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](Row const& a, Row const& b) { return partition(a) < partition(b); });
  result<Row> r{rows, std::vector<std::uint64_t>(partitions + 1)};
  for (Row const& row : rows) ++r.offsets[partition(row) + 1];
  for (std::uint32_t p = 0; p < partitions; ++p) r.offsets[p + 1] += r.offsets[p];
  return r;
}

template <class Row>
bool identical(Row const& a, Row const& b) {
  if constexpr (requires { a.key; })
    return a.key == b.key && a.value == b.value;
  else
    return a == b;
}
template <class Row>
bool before(Row const& a, Row const& b) {
  if constexpr (requires { a.key; })
    return a.key != b.key ? a.key < b.key : a.value < b.value;
  else
    return a < b;
}

template <class Row>
void same_partition(std::string const& what, result<Row> got, result<Row> expected, bool stable) {
  holds(what + ": offsets", got.offsets == expected.offsets);
  if (got.offsets != expected.offsets) return;
  if (!stable)
    for (std::size_t p = 0; p + 1 < got.offsets.size(); ++p)
      for (auto* r : {&got, &expected})
        std::sort(r->rows.begin() + static_cast<std::ptrdiff_t>(r->offsets[p]),
                  r->rows.begin() + static_cast<std::ptrdiff_t>(r->offsets[p + 1]), before<Row>);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < got.rows.size(); ++i)
    wrong += !identical(got.rows[i], expected.rows[i]);
  same(what + ": rows that are wrong", wrong, 0);
}

template <class Key, class Partitioner>
void check_keys(std::string const& what, std::vector<Key> const& keys, std::uint32_t partitions,
                Partitioner const& partitioner) {
  auto const in = to_space(keys);
  for (bool const stable : {false, true}) {
    view<Key> const out("out", keys.size());
    view<std::uint32_t> const offsets("offsets", partitions + 1);
    karpos::partition(space(), in, out, offsets, partitioner, {.stable = stable});
    auto const o = to_host(offsets);
    same_partition<Key>(what + (stable ? ", stable" : ""), {to_host(out), {o.begin(), o.end()}},
                        oracle(keys, partitions, partitioner), stable);
  }
}

template <class Key, class T, class Partitioner>
void check_pairs(std::string const& what, std::vector<Key> const& keys, std::uint32_t partitions,
                 Partitioner const& partitioner, bool numbers) {
  using row = key_value<Key, T>;
  std::vector<row> rows;
  std::vector<T> values;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    values.push_back(static_cast<T>(numbers ? i : 3 * i + 1));
    rows.push_back({keys[i], values.back()});
  }
  auto const in = to_space(keys);
  auto const in_values = to_space(values);
  auto const of_row = [&](row const& r) { return partitioner(r.key); };
  for (bool const stable : {false, true}) {
    view<row> const out("out", keys.size());
    view<std::uint64_t> const offsets("offsets", partitions + 1);
    partition_options const options{.stable = stable};
    if (numbers)
      karpos::partition(space(), in, karpos::row_numbers{}, out, offsets, partitioner, options);
    else
      karpos::partition(space(), in, in_values, out, offsets, partitioner, options);
    same_partition<row>(what + (stable ? ", stable" : ""), {to_host(out), to_host(offsets)},
                        oracle(rows, partitions, of_row), stable);
  }
}

template <class Key>
std::vector<Key> random_keys(std::size_t n, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<Key> keys(n);
  for (Key& key : keys) key = static_cast<Key>(random());
  return keys;
}

}  // namespace

TEST_CASE("goldens: nothing, one row, and four rows in three partitions") {
  for (std::size_t n : {0, 1, 4}) {
    std::vector<std::uint32_t> keys{5, 3, 4, 8};
    keys.resize(n);
    auto const in = to_space(keys);
    view<std::uint32_t> const out("out", n), offsets("offsets", 4);
    karpos::partition(space(), in, out, offsets, modulo{3}, {.stable = true});
    std::vector<std::uint32_t> const rows[] = {{}, {5}, {3, 4, 5, 8}};
    std::vector<std::uint32_t> const begins[] = {{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 1, 2, 4}};
    std::size_t const i = n == 4 ? 2 : n;
    holds("rows", to_host(out) == rows[i]);
    holds("offsets", to_host(offsets) == begins[i]);
  }
}

TEST_CASE("keys of 4 and 8 bytes, by number of partitions") {
  for (std::uint32_t partitions : {1u, 2u, 3u, 64u, 1000u, 4096u, 8192u}) {
    std::string const what = std::to_string(partitions) + " partitions";
    check_keys("4 bytes, " + what, random_keys<std::uint32_t>(100'003, partitions), partitions,
               modulo{partitions});
    check_keys("8 bytes, " + what, random_keys<std::uint64_t>(50'001, partitions), partitions,
               modulo{partitions});
  }
}

TEST_CASE("more partitions than one pass splits") {
  for (std::uint32_t partitions : {8193u, 20'000u, 100'000u})
    check_keys(std::to_string(partitions) + " partitions",
               random_keys<std::uint32_t>(70'001, partitions), partitions, modulo{partitions});
}

TEST_CASE("passes split by all bits of a partition number, each by no more than has counters") {
  using row = key_value<std::uint32_t, std::uint32_t>;
  using tuned = karpos::detail::partition::tuning<space>;
  for (std::uint64_t partitions : {8193u, 10'000u, 1u << 16, (1u << 16) + 1, 1u << 21, 1u << 26})
    for (bool stable : {false, true}) {
      karpos::detail::partition::plan<space, row> const plan(space(), 1'000'000, partitions,
                                                             stable);
      int bits = 0;
      for (int pass = 0; pass < plan.passes(); ++pass) {
        same("the first bit of a pass", plan.shift(pass), bits);
        bool const in_order = stable || pass > 0;
        holds("counters",
              plan.partitions_of(pass) <= std::uint64_t(tuned::max_partitions(in_order)));
        holds("a pass without bits", plan.bits(pass) > 0);
        bits += plan.bits(pass);
      }
      holds("all bits", std::uint64_t(1) << bits >= partitions);
    }
  // If not stable, teams count the rows of a partition in 32 bits.
  std::uint64_t const most = ~std::uint32_t(0);
  holds("32 bits", !karpos::detail::partition::plan<space, row>(space(), most, 2, false).stable(0));
  holds("more", karpos::detail::partition::plan<space, row>(space(), most + 1, 2, false).stable(0));
}

TEST_CASE("rows of keys and values, and of keys and row numbers") {
  auto const narrow = random_keys<std::uint32_t>(60'000, 5);
  auto const wide = random_keys<std::uint64_t>(60'000, 6);
  for (bool const numbers : {false, true}) {
    std::string const what = numbers ? "numbers" : "values";
    check_pairs<std::uint32_t, std::uint32_t>("4+4, " + what, narrow, 4096, modulo{4096}, numbers);
    check_pairs<std::uint32_t, std::uint64_t>("4+8, " + what, narrow, 17, modulo{17}, numbers);
    check_pairs<std::uint64_t, std::uint64_t>("8+8, " + what, wide, 512, modulo{512}, numbers);
  }
  std::vector<std::uint16_t> const small(1000, 7);
  check_pairs<std::uint16_t, std::uint16_t>("2+2", small, 8, modulo{8}, false);
}

TEST_CASE("skewed partitions: all rows in one, in the first, in the last; sorted rows; few keys") {
  auto const keys = random_keys<std::uint32_t>(200'000, 11);
  for (std::uint32_t partition : {0u, 77u, 4095u})
    check_keys("all in one partition", keys, 4096, one_partition{partition});
  auto sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  check_keys("sorted", sorted, 1024, modulo{1024});
  auto few = keys;
  for (auto& key : few) key %= 3;
  check_keys("three keys", few, 1024, modulo{1024});
  auto half_one = keys;
  for (std::size_t i = 0; i < half_one.size(); i += 2) half_one[i] = 12;
  check_keys("half of them one key", half_one, 8192, modulo{8192});
}

TEST_CASE("sizes around those of tiles and lines, outputs that begin anywhere in a line") {
  random_numbers random(3);
  for (std::size_t n :
       {2u, 15u, 16u, 17u, 1023u, 4095u, 4097u, 24'575u, 24'576u, 24'577u, 131'071u}) {
    auto const keys = random_keys<std::uint32_t>(n, n);
    std::uint32_t const partitions = static_cast<std::uint32_t>(1 + random.below(300));
    check_keys(std::to_string(n) + " rows", keys, partitions, modulo{partitions});
  }
  auto const keys = random_keys<std::uint32_t>(karpos_test::rows_for_random_test(5'000'000), 8);
  auto const in = to_space(keys);
  view<std::uint32_t> const whole("out", keys.size() + 16), offsets("offsets", 101);
  for (std::size_t shift : {1, 5, 15}) {
    auto const out = Kokkos::subview(whole, std::pair(shift, shift + keys.size()));
    Kokkos::deep_copy(whole, 0xabababab);
    karpos::partition(space(), in, out, offsets, modulo{100}, {.stable = true});
    auto const all = to_host(whole);
    auto const o = to_host(offsets);
    auto const first = all.begin() + static_cast<std::ptrdiff_t>(shift);
    auto const last = first + static_cast<std::ptrdiff_t>(keys.size());
    same_partition<std::uint32_t>("shifted", {{first, last}, {o.begin(), o.end()}},
                                  oracle(keys, 100, modulo{100}), true);
    bool untouched = true;
    for (auto i = all.begin(); i != first; ++i) untouched = untouched && *i == 0xabababab;
    for (auto i = last; i != all.end(); ++i) untouched = untouched && *i == 0xabababab;
    holds("nothing else is written", untouched);
  }
}

TEST_CASE("by default the partitions are those of the hash, and about equal") {
  std::vector<std::uint32_t> keys(1 << 18);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(i);
  auto const in = to_space(keys);
  view<std::uint32_t> const out("out", keys.size()), offsets("offsets", 257);
  karpos::partition(space(), in, out, offsets);
  auto const o = to_host(offsets);
  same_partition<std::uint32_t>("hash", {to_host(out), {o.begin(), o.end()}},
                                oracle(keys, 256, karpos::hash_partitioner<std::uint32_t>{256}),
                                false);
  std::uint32_t least = ~0u, most = 0;
  for (std::size_t p = 0; p < 256; ++p) {
    least = std::min(least, o[p + 1] - o[p]);
    most = std::max(most, o[p + 1] - o[p]);
  }
  holds("about 1,024 each", least > 850 && most < 1200);
}

TEST_CASE("the caller's workspace, as large as partition_bytes says") {
  auto const keys = random_keys<std::uint64_t>(30'000, 1);
  auto const in = to_space(keys);
  for (std::uint32_t partitions : {100u, 10'000u}) {
    std::size_t const bytes =
        karpos::partition_bytes<std::uint64_t>(space(), keys.size(), partitions, {.stable = true});
    view<std::byte> const memory("workspace", bytes + 64);
    view<std::uint64_t> const out("out", keys.size()), offsets("offsets", partitions + 1);
    karpos::partition(space(), in, out, offsets, modulo{partitions},
                      {.stable = true, .workspace = {memory.data(), bytes}});
    space().fence();
    same_partition<std::uint64_t>("workspace", {to_host(out), to_host(offsets)},
                                  oracle(keys, partitions, modulo{partitions}), true);
    throws<std::invalid_argument>(
        [&] {
          karpos::partition(space(), in, out, offsets, modulo{partitions},
                            {.stable = true, .workspace = {memory.data(), bytes - 1}});
        },
        "workspace", std::to_string(bytes));
    throws<std::invalid_argument>(
        [&] {
          karpos::partition(space(), in, out, offsets, modulo{partitions},
                            {.stable = true, .workspace = {memory.data() + 1, bytes}});
        },
        "aligned");
  }
}

TEST_CASE("refused: wrong lengths, no partitions, strided output, offsets of a type too small") {
  view<std::uint32_t> const keys("keys", 300), out("out", 300), shorter("out", 299);
  view<std::uint32_t> const offsets("offsets", 5), none("offsets", 1);
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, shorter, offsets); }, "299");
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, out, none); },
                                "no partitions (1 of at least 2 offsets)");
  view<std::uint8_t> const bytes("offsets", 5);
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, out, bytes); }, "64-bit");
  Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, typename space::memory_space> const table(
      "table", 300, 2);
  auto const column = Kokkos::subview(table, Kokkos::ALL, 0);
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, column, offsets); },
                                "contiguous");
  auto const numbers = random_keys<std::uint32_t>(300, 5);
  Kokkos::deep_copy(space(), column, to_space(numbers));
  karpos::partition(space(), column, out, offsets, modulo{4}, {.stable = true});
  auto const expected = oracle(numbers, 4, modulo{4});
  holds("strided keys: rows", to_host(out) == expected.rows);
  auto const begins = to_host(offsets);
  holds("strided keys: offsets",
        std::equal(begins.begin(), begins.end(), expected.offsets.begin(), expected.offsets.end()));
}

TEST_CASE("refused: too many partitions, rows in place, row numbers that do not fit") {
  view<std::uint32_t> const keys("keys", 300), offsets("offsets", 5);
  throws<std::invalid_argument>(
      [&] { karpos::partition_bytes<std::uint32_t>(space(), 10, (std::uint64_t(1) << 26) + 1); },
      "too many partitions");
  throws<std::invalid_argument>([&] { karpos::partition_bytes<std::uint32_t>(space(), 10, 0); },
                                "no partitions (0): ask for");
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, keys, offsets); },
                                "overlaps");
  view<std::uint32_t> const out("out", 300);
  auto const inside = Kokkos::subview(out, std::pair(100, 105));
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, out, inside); }, "overlaps");
  auto const of_keys = Kokkos::subview(keys, std::pair(100, 105));
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, out, of_keys); }, "offsets",
                                "overlaps");
  view<std::uint32_t> const values("values", 300);
  view<key_value<std::uint32_t, std::uint32_t>> const pairs("rows", 300);
  throws<std::invalid_argument>(
      [&] {
        karpos::partition(space(), keys, values, pairs, Kokkos::subview(values, std::pair(0, 5)));
      },
      "offsets", "overlaps");
  std::size_t const bytes = karpos::partition_bytes<std::uint32_t>(space(), 300, 4) + 1200;
  view<std::byte> const memory("workspace", bytes);
  Kokkos::View<std::uint32_t*, typename space::memory_space, Kokkos::MemoryUnmanaged> const
      in_workspace(reinterpret_cast<std::uint32_t*>(memory.data() + bytes) - 300, 300);
  throws<std::invalid_argument>(
      [&] {
        partition_options const options{.workspace = {memory.data(), bytes}};
        karpos::partition(space(), keys, in_workspace, offsets, {}, options);
      },
      "workspace", "overlaps");
  view<std::uint16_t> const many("keys", 70'000);
  view<key_value<std::uint16_t, std::uint16_t>> const rows("rows", 70'000);
  throws<std::invalid_argument>(
      [&] { karpos::partition(space(), many, karpos::row_numbers{}, rows, offsets); },
      "row numbers", "69999");
  // The numbers of 2^16 rows fit in 16 bits.
  auto const first = [&](std::size_t n) { return std::pair<std::size_t, std::size_t>(0, n); };
  auto const fits = Kokkos::subview(rows, first(65'536));
  karpos::partition(space(), Kokkos::subview(many, first(65'536)), karpos::row_numbers{}, fits,
                    offsets, one_partition{3});
  std::vector<bool> seen(65'536, false);  // in any order
  for (auto const& row : to_host(fits)) seen[row.value] = true;
  same("row numbers of 16 bits", std::count(seen.begin(), seen.end(), true), 65'536);
  throws<std::invalid_argument>(
      [&] {
        karpos::partition(space(), Kokkos::subview(many, first(65'537)), karpos::row_numbers{},
                          Kokkos::subview(rows, first(65'537)), offsets);
      },
      "row numbers", "65536 must fit");
}

TEST_CASE("refused: views that have a length, but no memory") {
  view<std::uint32_t> const keys("keys", 300), out("out", 300), offsets("offsets", 5), none;
  view<key_value<std::uint32_t, std::uint32_t>> const rows("rows", 300);
  Kokkos::View<std::uint32_t*, typename space::memory_space, Kokkos::MemoryUnmanaged> const null(
      nullptr, 300);
  std::string const length = "300 elements";
  throws<std::invalid_argument>([&] { karpos::partition(space(), null, out, offsets); },
                                "keys of a partition", length);
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, null, offsets); },
                                "rows of a partition", length);
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, out, null); },
                                "offsets of a partition", length);
  throws<std::invalid_argument>([&] { karpos::partition(space(), null, keys, rows, offsets); },
                                "keys of a partition", length);
  throws<std::invalid_argument>([&] { karpos::partition(space(), keys, null, rows, offsets); },
                                "values of a partition", length);
  karpos::partition(space(), none, none, offsets);  // an empty partition needs no memory
}

TEST_CASE("refused: no memory for a workspace") {
  if (!karpos_test::can_exhaust_memory()) return;
  std::size_t const n = 1'000'000;  // needs memory twice, in two passes
  view<std::uint32_t> const keys("keys", n), out("out", n), offsets("offsets", (1 << 16) + 1);
  throws<karpos::allocation_error>(
      [&] {
        karpos_test::no_memory const none(std::size_t(1) << 20);
        karpos::partition(space(), keys, out, offsets);
      },
      "karpos::partition: out of memory", "its workspace");
}

namespace {
/// A row whose alignment is smaller than its size.
struct two_words {
  std::uint64_t key, value;
};
}  // namespace

TEST_CASE("the default partitioner by its old name") {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  karpos::hash_part<std::uint32_t> const old_name(7);
#pragma GCC diagnostic pop
  karpos::hash_partitioner<std::uint32_t> const partitioner(7);
  for (std::uint32_t key = 0; key < 1'000; ++key) CHECK(old_name(key) == partitioner(key));
}

TEST_CASE("rows that are aligned to less than their size, many enough to be streamed") {
  auto const keys = random_keys<std::uint64_t>(1'100'000, 9);
  auto const in = to_space(keys);
  view<std::uint64_t> const memory("rows", 2 * keys.size() + 1), offsets("offsets", 65);
  Kokkos::View<two_words*, typename space::memory_space, Kokkos::MemoryUnmanaged> const out(
      reinterpret_cast<two_words*>(memory.data() + 1), keys.size());
  karpos::partition(space(), in, karpos::row_numbers{}, out, offsets, modulo{64});
  auto const words = to_host(memory);
  auto const begins = to_host(offsets);
  std::uint64_t wrong = 0;
  for (std::uint64_t p = 0; p < 64; ++p)
    for (std::uint64_t i = begins[p]; i < begins[p + 1]; ++i) {
      std::uint64_t const key = words[1 + 2 * i], row = words[2 + 2 * i];
      wrong += key % 64 != p || keys[row] != key;
    }
  same("rows that are wrong", wrong, 0);
  same("rows", begins[64], keys.size());
}
