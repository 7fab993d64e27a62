// SPDX-License-Identifier: Apache-2.0
//
// Two tables joined by two columns: the measurements of stations, and the operators of each station
// and year. Each measurement finds its operators; stations without an operator keep their
// measurements.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/join.hpp>

using ids = Kokkos::View<std::int32_t*>;

/// Makes measurements: station, year, value.
struct make_measurements {
  ids station, year;
  Kokkos::View<double*> value;
  KOKKOS_FUNCTION void operator()(int i) const {
    station(i) = i % 500;
    year(i) = 2000 + i / 500 % 20;
    value(i) = i % 7;
  }
};
/// Makes the operators of stations by year: two for each station and year, but none for stations
/// from 400 on.
struct make_operators {
  ids station, year, name;
  KOKKOS_FUNCTION void operator()(int i) const {
    station(i) = i / 2 % 400;
    year(i) = 2000 + i / 800;
    name(i) = i % 90;
  }
};
/// Sums the measurements of one operator, without making a table of the pairs.
struct sum_of {
  ids name;
  Kokkos::View<double*> value;
  int wanted;
  Kokkos::View<double> sum;
  KOKKOS_FUNCTION void operator()(std::uint64_t measurement, std::uint64_t op) const {
    if (name(op) == wanted) Kokkos::atomic_add(&sum(), value(measurement));
  }
};
struct sum_where {
  ids names;
  Kokkos::View<double*> values;
  int wanted;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, double& sum) const {
    if (names(i) == wanted) sum += values(i);
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  int const measured = 50'000, listed = 16'000, wanted = 17;
  ids const station("station", measured), year("year", measured);
  Kokkos::View<double*> const value("value", measured);
  ids const op_station("station", listed), op_year("year", listed), op_name("name", listed);
  Kokkos::parallel_for(Kokkos::RangePolicy(exec, 0, measured),
                       make_measurements{station, year, value});
  Kokkos::parallel_for(Kokkos::RangePolicy(exec, 0, listed),
                       make_operators{op_station, op_year, op_name});

  karpos::row_index const operators(exec, karpos::rows(op_station, op_year));
  karpos::join const joined(exec, karpos::rows(station, year), operators, karpos::join_kind::left);
  auto const pairs = joined.pairs(exec);  // row numbers; joined.size() of them
  auto const names = karpos::gather(exec, pairs.right, op_name, -1);
  auto const values = karpos::gather(exec, pairs.left, value, 0.0);

  double by_rows = 0, unknown = 0;
  auto const all = Kokkos::RangePolicy(exec, 0, joined.size());
  Kokkos::parallel_reduce(all, sum_where{names, values, wanted}, by_rows);
  Kokkos::parallel_reduce(all, sum_where{names, values, -1}, unknown);

  Kokkos::View<double> const sum("sum");
  karpos::join const inner(exec, karpos::rows(station, year), operators, karpos::join_kind::inner);
  inner.for_each_pair(exec, sum_of{op_name, value, wanted, sum});
  double by_visits = 0;
  Kokkos::deep_copy(by_visits, sum);

  std::printf(
      "%d measurements and %d operators: %lu rows; operator %d measured %.0f, nobody %.0f\n",
      measured, listed, static_cast<unsigned long>(joined.size()), wanted, by_rows, unknown);
  return by_rows == by_visits && by_rows > 0 && joined.size() == 90'000 ? 0 : 1;
}
