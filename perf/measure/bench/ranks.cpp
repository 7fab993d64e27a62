// SPDX-License-Identifier: Apache-2.0
/// \file
/// Time of bulk insertions, lookups, joins and reductions over MPI ranks; on one rank also of
/// karpos::partitioned_join and karpos::reduce_by_key, which work without ranks. Every rank has
/// 2^LOG rows of 4 + 4 bytes. Prints medians by the clock of the slowest rank. Results are
/// checked after the warm-up and the first reading, those of insertions by their number.
///
///   mpirun -n P karpos_bench_ranks [LOG [READINGS [KEPT]]]
///
/// Default: 2^27 rows on GPUs, 2^20 on CPUs; 5 readings. KEPT: max_kept_bytes of the communicator.
#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <karpos/distributed/hash_map.hpp>
#include <karpos/distributed/join.hpp>
#include <karpos/distributed/reduce_by_key.hpp>
#include <karpos/distributed/run_ranks.hpp>
#include <karpos/hash.hpp>
#include <karpos/partitioned_join.hpp>
#include <karpos/reduce_by_key.hpp>
#include <vector>

#include "perf/measure/support/sequences.hpp"

namespace {

namespace dist = karpos::distributed;
using space = KARPOS_DRIVER_SPACE;
using communicator = dist::communicator<space>;
using key = std::uint32_t;
template <class T>
using array = Kokkos::View<T*, typename space::memory_space>;
using range = Kokkos::RangePolicy<space, Kokkos::IndexType<std::uint64_t>>;

/// The keys of this rank's part of all rows: row(first + i).
template <class Row>
struct make_keys {
  Row row;
  std::uint64_t first;
  array<key> keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { keys(i) = key(row(first + i)); }
};
/// Half of the rows have the key 0.
struct skewed {
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t i) const { return i % 2 == 0 ? i : 0; }
};
struct in_order {
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t i) const { return i; }
};
struct drawn_row {
  karpos::perf::rank_sequence draw;
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t i) const {
    return draw(static_cast<double>(karpos::mix(i + 1) >> 11) * 0x1p-53);
  }
};
struct count_unequal {
  array<key> a, b;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const { n += a(i) != b(i); }
};
/// Pairs whose rows have different keys.
template <class Left, class Number>
struct count_wrong_pairs {
  Left left_key;
  karpos::perf::permutation right_key;
  array<Number> left, right;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    n += left_key(left(i)) != right_key(right(i));
  }
};
struct sum_of_values {
  array<key> values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const { n += values(i); }
};

class bench {
 public:
  bench(communicator const& ranks, int log, int readings)
      : m_ranks(ranks),
        m_log(log),
        m_readings(readings) {}

  void run() const {
    tables();
    joins("join", in_order{});
    joins("join, half of the left rows of one key", skewed{});
    reductions("Zipf", drawn_row{karpos::perf::rank_sequence::of(all(), 1.0)});
    reductions("uniform", drawn_row{karpos::perf::rank_sequence::of(all(), 0.0)});
  }

 private:
  std::uint64_t mine() const { return std::uint64_t(1) << m_log; }
  std::uint64_t all() const { return mine() * std::uint64_t(m_ranks.size()); }
  range rows(std::uint64_t n) const { return {m_ranks.exec(), 0, n}; }

  template <class Row>
  array<key> keys_of(Row const& row) const {
    array<key> const keys("keys", mine());
    Kokkos::parallel_for("make keys", rows(mine()),
                         make_keys<Row>{row, mine() * std::uint64_t(m_ranks.rank()), keys});
    return keys;
  }
  template <class Count>
  std::uint64_t sum(std::uint64_t n, Count const& count) const {
    std::uint64_t of_rank = 0;
    Kokkos::parallel_reduce("sum", rows(n), count, of_rank);
    return m_ranks.all_reduce(of_rank);
  }
  /// Prints the median time of f() after a warm-up. wrong(): the number of wrong results.
  template <class Prepare, class F, class Wrong>
  void measure(char const* what, Prepare const& prepare, F const& f, Wrong const& wrong) const {
    std::vector<double> seconds;
    std::uint64_t bad = 0;
    for (int i = 0; i <= m_readings; ++i) {
      prepare();
      m_ranks.exec().fence();
      m_ranks.barrier();
      Kokkos::Timer const clock;
      f();
      m_ranks.exec().fence();
      double const slowest = m_ranks.all_reduce(clock.seconds(), karpos::maximum{});
      if (i > 0) seconds.push_back(slowest);
      if (i < 2) bad += wrong();
    }
    std::sort(seconds.begin(), seconds.end());
    double const median = seconds[seconds.size() / 2];
    if (m_ranks.rank() == 0)
      std::printf("%d ranks, 2^%d rows each  %-42s %9.3f ms (%.3f to %.3f) %8.2f G/s  wrong %llu\n",
                  m_ranks.size(), m_log, what, 1e3 * median, 1e3 * seconds.front(),
                  1e3 * seconds.back(), 1e-9 * static_cast<double>(all()) / median,
                  static_cast<unsigned long long>(bad));
  }

  void tables() const {
    auto const stored = keys_of(karpos::perf::permutation::of(all(), 3)),
               queries = keys_of(karpos::perf::permutation::of(all(), 4));
    array<key> const found("found", mine());
    dist::hash_map<key, key, space> map(m_ranks, all(), {.load = 0.8});
    measure(
        "insertion, load 0.8", [&] { map.clear(); }, [&] { map.insert(stored, stored); },
        [&] { return map.size() == all() ? 0 : 1; });
    measure(
        "lookups, hits", [] {}, [&] { map.find(queries, found, ~key(0)); },
        [&] {
          return sum(mine(), count_unequal{queries, found});
        });
  }

  template <class Left>
  void joins(char const* what, Left const& left_key) const {
    auto const order = karpos::perf::permutation::of(all(), 6);
    auto const left = keys_of(left_key), right = keys_of(order);
    if (m_ranks.size() == 1) {
      auto const& exec = m_ranks.exec();
      array<std::byte> const workspace(
          "workspace",
          karpos::partitioned_join_bytes(exec, karpos::rows(left), karpos::rows(right)));
      array<key> const l("left", mine()), r("right", mine());
      std::uint64_t found = 0;
      measure(
          "partitioned_join without ranks", [] {},
          [&] {
            found = karpos::partitioned_join(
                exec, karpos::rows(left), karpos::rows(right), karpos::join_kind::inner, l, r,
                {.workspace = {workspace.data(), workspace.extent(0)}});
          },
          [&] {
            return (found != all()) +
                   sum(mine(), count_wrong_pairs<Left, key>{left_key, order, l, r});
          });
    }
    auto const over_ranks = [&](char const* name, auto&... memory) {
      dist::joined_rows<typename space::memory_space> pairs{};
      measure(
          name, [&] { pairs = {}; },
          [&] {
            pairs = dist::join(m_ranks, karpos::rows(left), karpos::rows(right),
                               karpos::join_kind::inner, memory...);
          },
          [&] {
            return (pairs.total != all()) +
                   sum(pairs.left.extent(0), count_wrong_pairs<Left, std::uint64_t>{
                                                 left_key, order, pairs.left, pairs.right});
          });
    };
    over_ranks(what);
    dist::join_memory<space> memory;
    over_ranks("the same, with a join_memory", memory);
  }

  template <class Row>
  void reductions(char const* what, Row const& row) const {
    auto const keys = keys_of(row);
    array<key> const ones("ones", mine());
    Kokkos::deep_copy(ones, 1);
    char name[64];
    if (m_ranks.size() == 1) {
      array<key> const group("groups", mine()), sums("sums", mine());
      array<std::byte> const workspace(
          "workspace", karpos::reduce_by_key_bytes<key, key>(m_ranks.exec(), mine()));
      std::uint64_t groups = 0;
      std::snprintf(name, sizeof name, "reduce_by_key without ranks, %s", what);
      measure(
          name, [] {},
          [&] {
            groups = karpos::reduce_by_key(m_ranks.exec(), keys, ones, group, sums, karpos::plus{},
                                           {.workspace = {workspace.data(), workspace.extent(0)}});
          },
          [&] { return sum(groups, sum_of_values{sums}) == all() ? 0 : 1; });
    }
    dist::reduction_memory<space> memory;
    dist::reduced_groups<key, key, typename space::memory_space> groups{};
    std::snprintf(name, sizeof name, "reduce_by_key, %s", what);
    measure(
        name, [] {},
        [&] { groups = dist::reduce_by_key(m_ranks, keys, ones, karpos::plus{}, memory); },
        [&] {
          return sum(groups.values.extent(0), sum_of_values{groups.values}) == all() ? 0 : 1;
        });
  }

  communicator const& m_ranks;
  int m_log, m_readings;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int const code = dist::run_ranks(MPI_COMM_WORLD, [&] {
    Kokkos::ScopeGuard const guard(argc, argv);
    auto const number = [&](int i, std::uint64_t otherwise) {
      return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
    };
    dist::communicator_options options;
    options.max_kept_bytes = number(3, options.max_kept_bytes);
    communicator const ranks(MPI_COMM_WORLD, space{}, options);
    constexpr int log = karpos::device::is_device<space> ? 27 : 20;
    bench(ranks, static_cast<int>(number(1, log)), static_cast<int>(number(2, 5))).run();
  });
  MPI_Finalize();
  return code;
}
