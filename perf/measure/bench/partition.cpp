// SPDX-License-Identifier: Apache-2.0
/// \file
/// Time of karpos::partition and of a copy of 8-byte rows in the same run, by the number of
/// partitions and the skew of the keys. Every result is checked. Prints medians in ms; the argument
/// is the number of rows, 2^27 on GPUs and 2^24 on CPUs by default.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <karpos/partition.hpp>
#include <vector>

namespace {

using space = KARPOS_DRIVER_SPACE;
template <class T>
using array = Kokkos::View<T*, typename space::memory_space>;
using karpos::key_value;
using row = key_value<std::uint32_t, std::uint32_t>;

template <class F>
double median_ms(F const& f, int times = 7) {
  std::vector<double> ms;
  for (int i = 0; i < times + 1; ++i) {
    space{}.fence();
    auto const start = std::chrono::steady_clock::now();
    f();
    space{}.fence();
    std::chrono::duration<double, std::milli> const d = std::chrono::steady_clock::now() - start;
    if (i > 0) ms.push_back(d.count());
  }
  std::nth_element(ms.begin(), ms.begin() + times / 2, ms.end());
  return ms[static_cast<std::size_t>(times / 2)];
}

using over_rows = Kokkos::RangePolicy<space, Kokkos::IndexType<std::uint64_t>>;

struct copy_rows {
  array<row> from, to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to(i) = from(i); }
};

enum class key_distribution { random, one, half_one };
struct make_keys {
  array<std::uint32_t> keys, values;
  key_distribution kind;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const random = karpos::mix(i + 1);
    bool const same =
        kind == key_distribution::one || (kind == key_distribution::half_one && random % 2 == 0);
    keys(i) = same ? 7 : static_cast<std::uint32_t>(random >> 32);
    values(i) = static_cast<std::uint32_t>(i);
  }
};

/// Counts rows that lie outside of their partition, or whose value does not belong to their key.
struct count_wrong {
  array<std::uint32_t> keys;
  array<row> out;
  array<std::uint64_t> offsets;
  karpos::hash_partitioner<std::uint32_t> partition_of;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    row const r = out(i);
    std::uint32_t const p = partition_of(r.key);
    if (i < offsets(p) || i >= offsets(p + 1) || keys(r.value) != r.key) ++wrong;
  }
};

struct bench {
  space exec;
  std::uint64_t rows;
  array<std::uint32_t> keys{"keys", rows}, values{"values", rows}, out_keys{"out", rows};
  array<row> out{"out", rows};

  /// Prints a line. Returns the number of wrong rows.
  std::uint64_t run(char const* kind, std::uint32_t partitions, bool stable, double copy) const {
    array<std::uint64_t> const offsets("offsets", partitions + 1);
    array<std::byte> const memory(
        "memory", karpos::partition_bytes<row>(exec, rows, partitions, {.stable = stable}));
    karpos::hash_partitioner<std::uint32_t> const partition_of{partitions};
    karpos::partition_options const options{.stable = stable,
                                            .workspace = {memory.data(), memory.extent(0)}};
    double const alone =
        median_ms([&] { karpos::partition(exec, keys, out_keys, offsets, partition_of, options); });
    double const pairs = median_ms(
        [&] { karpos::partition(exec, keys, values, out, offsets, partition_of, options); });
    double const numbers = median_ms([&] {
      karpos::partition(exec, keys, karpos::row_numbers{}, out, offsets, partition_of, options);
    });
    std::uint64_t wrong = 0;
    Kokkos::parallel_reduce("count wrong", over_rows(exec, 0, rows),
                            count_wrong{keys, out, offsets, partition_of}, wrong);
    std::printf("%-8s %10u %-7s %10.3f %10.3f %10.3f %9.2f %s\n", kind, partitions,
                stable ? "stable" : "", alone, pairs, numbers, copy / pairs,
                wrong == 0 ? "" : "WRONG");
    std::fflush(stdout);
    return wrong;
  }
};

std::uint64_t run_all(std::uint64_t rows) {
  bench const b{{}, rows};
  Kokkos::deep_copy(b.out, row{0, 0});
  double const copy =
      median_ms([&] {
        Kokkos::parallel_for(
            "copy", over_rows(b.exec, 0, rows / 2),
            copy_rows{Kokkos::subview(b.out, std::pair(rows / 2, rows / 2 * 2)),
                      Kokkos::subview(b.out, std::pair(std::uint64_t(0), rows / 2))});
      }) *
      2;
  std::printf("%llu rows; a copy of them, 4+4 bytes: %.3f ms\n",
              static_cast<unsigned long long>(rows), copy);
  std::printf("%-8s %10s %-7s %10s %10s %10s %9s\n", "keys", "partitions", "", "keys, ms",
              "4+4, ms", "row no, ms", "copy/4+4");
  std::uint64_t wrong = 0;
  for (auto [kind, name] :
       {std::pair(key_distribution::random, "random"), std::pair(key_distribution::one, "one"),
        std::pair(key_distribution::half_one, "half one")}) {
    Kokkos::parallel_for("make keys", over_rows(b.exec, 0, rows),
                         make_keys{b.keys, b.values, kind});
    for (std::uint32_t partitions : {2u, 256u, 1024u, 4096u, 8192u, 65536u})
      for (bool stable : {false, true}) {
        if (kind != key_distribution::random && (stable || partitions != 4096)) continue;
        wrong += b.run(name, partitions, stable, copy);
      }
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  bool const on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, space::memory_space>::accessible;
  int const bits = on_host ? 24 : 27;
  std::uint64_t const rows =
      argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::uint64_t(1) << bits;
  if (rows < 2 || rows > std::uint64_t(1) << 32) {
    std::fprintf(stderr, "usage: karpos_bench_partition [ROWS], 2 to 2^32\n");
    return 2;
  }
  return run_all(rows) == 0 ? 0 : 1;
}
