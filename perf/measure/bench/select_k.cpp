// SPDX-License-Identifier: Apache-2.0
/// \file
/// Time of karpos::select_k_rows, beside one call of karpos::select_k for each row, and beside
/// reading the table at the rate of a copy in the same run. Rows of one length and of different
/// lengths, sorted results. Every result is checked. Prints medians in ms; arguments are the
/// numbers of rows, of columns and k: 4,096, 65,536 and 64 on GPUs, 256 rows on CPUs by default.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <karpos/hash.hpp>
#include <karpos/select_k.hpp>

#include "perf/measure/bench/median.hpp"

namespace {

using space = KARPOS_DRIVER_SPACE;
template <class T>
using array = Kokkos::View<T*, typename space::memory_space>;
template <class T>
using table = Kokkos::View<T**, Kokkos::LayoutRight, typename space::memory_space>;
using over_rows = Kokkos::RangePolicy<space, Kokkos::IndexType<std::uint64_t>>;

enum class order { random, rising, equal };

template <class T>
struct make_scores {
  array<T> scores;
  order kind;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    scores(i) = kind == order::random ? static_cast<T>(karpos::mix(i + 1) >> 40) * T(0x1p-24)
                                      : static_cast<T>(kind == order::rising ? i % 65536 : 7);
  }
};
struct make_offsets {
  array<std::uint64_t> offsets;
  std::uint64_t size, rows;
  KOKKOS_FUNCTION void operator()(std::uint64_t r) const {  // rising lengths, and random ones
    offsets(r) = r * r / rows * size / rows;
  }
};
/// Counts rows whose results do not fall or do not belong to their indices, or whose last one does
/// not have k - 1 elements before it.
template <class T>
struct count_wrong {
  array<T> scores;
  array<std::uint64_t> offsets;
  table<std::uint32_t> indices;
  table<T> values;
  KOKKOS_FUNCTION void operator()(std::uint64_t r, std::uint64_t& wrong) const {
    std::uint64_t const first = offsets(r), n = offsets(r + 1) - first;
    std::uint64_t const k = Kokkos::min<std::uint64_t>(values.extent(1), n);
    bool right = true;
    for (std::uint64_t i = 0; i < k; ++i)
      right = right && indices(r, i) < n && scores(first + indices(r, i)) == values(r, i) &&
              (i == 0 || values(r, i - 1) >= values(r, i));
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; right && i < n; ++i)
      before += scores(first + i) > values(r, k - 1) ||
                (scores(first + i) == values(r, k - 1) && i < indices(r, k - 1));
    wrong += !(right && (k == 0 || before == k - 1));
  }
};

template <class T>
struct bench {
  std::uint64_t rows, columns, k;
  space exec{};
  array<T> scores{Kokkos::view_alloc("scores", Kokkos::WithoutInitializing), rows* columns};
  array<std::uint64_t> uniform{"offsets", rows + 1}, rising{"offsets of rising lengths", rows + 1};
  table<std::uint32_t> indices{"indices", rows, k};
  table<T> values{"values", rows, k};

  std::uint64_t wrong(array<std::uint64_t> const& offsets) const {
    std::uint64_t n = 0;
    Kokkos::parallel_reduce("count wrong", over_rows(exec, 0, rows),
                            count_wrong<T>{scores, offsets, indices, values}, n);
    return n;
  }
  /// Seconds in which a copy moves as many bytes as the table has: half of them read, half written.
  double copy_seconds() const {
    std::uint64_t const half = rows * columns / 2;
    auto const from = Kokkos::subview(scores, std::pair(std::uint64_t(0), half));
    auto const to = Kokkos::subview(scores, std::pair(half, 2 * half));
    return karpos::perf::median_seconds([] {}, [&] { Kokkos::deep_copy(exec, to, from); });
  }
  /// Prints a line. Returns the number of wrong rows.
  template <class F>
  std::uint64_t line(char const* what, char const* order, double copy,
                     array<std::uint64_t> const& offsets, F const& f) const {
    double const seconds = karpos::perf::median_seconds([] {}, f);
    std::uint64_t const bad = wrong(offsets);
    std::printf("%-7s %-8s %-18s %10.3f %8.1f %10.2f %s\n", sizeof(T) == 4 ? "float" : "double",
                order, what, seconds * 1e3,
                static_cast<double>(rows * columns * sizeof(T)) / seconds * 1e-9, copy / seconds,
                bad == 0 ? "" : "WRONG");
    std::fflush(stdout);
    return bad;
  }
  std::uint64_t run(double copy, order kind, char const* name) const {
    Kokkos::parallel_for("make scores", over_rows(exec, 0, rows * columns),
                         make_scores<T>{scores, kind});
    table<T> const all(scores.data(), rows, columns);
    std::uint64_t bad = line("rows", name, copy, uniform,
                             [&] { karpos::select_k_rows(exec, all, k, indices, values); });
    bad += line("different lengths", name, copy, rising,
                [&] { karpos::select_k_rows(exec, scores, rising, k, indices, values); });
    bad += line("single calls", name, copy, uniform, [&] {
      for (std::uint64_t r = 0; r < rows; ++r)
        karpos::select_k(exec, Kokkos::subview(all, r, Kokkos::ALL), k,
                         Kokkos::subview(indices, r, Kokkos::ALL),
                         Kokkos::subview(values, r, Kokkos::ALL));
    });
    array<std::uint32_t> const index("index", k);
    array<T> const value("value", k);
    double const one = karpos::perf::median_seconds(
        [] {}, [&] { karpos::select_k(exec, scores, k, index, value); });
    array<karpos::detail::ranked<karpos::detail::radix_key<T>>> const selected("selected", k);
    double const digits = karpos::perf::median_seconds(
        [] {}, [&] { karpos::detail::select_k::select_by_radix(exec, scores, k, selected); });
    std::printf("%-7s %-8s %-18s %10.3f %8s %10.2f  (by digits %.3f)\n", "", name, "all as one row",
                one * 1e3, "", copy / one, digits * 1e3);
    return bad;
  }
  std::uint64_t run_all() const {
    Kokkos::parallel_for("make offsets", over_rows(exec, 0, rows + 1),
                         make_offsets{rising, rows * columns, rows});
    auto const host = Kokkos::create_mirror_view(uniform);
    for (std::uint64_t r = 0; r <= rows; ++r) host(r) = r * columns;
    Kokkos::deep_copy(uniform, host);
    Kokkos::deep_copy(exec, scores, T(0));
    double const copy = copy_seconds();
    return run(copy, order::random, "random") + run(copy, order::rising, "rising") +
           run(copy, order::equal, "equal");
  }
};

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  bool const on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, space::memory_space>::accessible;
  auto const argument = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  std::uint64_t const rows = argument(1, on_host ? 256 : 4096), columns = argument(2, 65536);
  std::uint64_t const k = argument(3, 64);
  if (rows < 1 || columns < 1 || k < 1 || k > columns) {
    std::fprintf(stderr, "usage: karpos_bench_select_k [ROWS [COLUMNS [K]]], K <= COLUMNS\n");
    return 2;
  }
  std::printf("%llu rows of %llu, k %llu; copy: the bytes of the table at a copy's rate\n",
              static_cast<unsigned long long>(rows), static_cast<unsigned long long>(columns),
              static_cast<unsigned long long>(k));
  std::printf("%-7s %-8s %-18s %10s %8s %10s\n", "scores", "order", "call", "ms", "GB/s",
              "copy/this");
  return bench<float>{rows, columns, k}.run_all() + bench<double>{rows, columns, k}.run_all() == 0
             ? 0
             : 1;
}
