// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search of a MatrixMarket file: counts the vertices at each distance from the first
// one.
//
//   example_bfs_levels [FILE.mtx]
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <karpos/bfs.hpp>
#include <karpos/build_csr.hpp>
#include <limits>
#include <stdexcept>
#include <string>

using ids = Kokkos::View<std::uint32_t*>;

struct edge_list {
  std::uint64_t vertices = 0;
  ids sources, targets;
};

/// Reads the coordinates of a sparse matrix and ignores the rest of each line. (The driver's
/// `karpos bfs` reads more formats, is faster, and names the line in which a file is wrong.)
edge_list read_matrix_market(std::string const& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line.starts_with('%')) {
  }
  std::uint64_t rows = 0, columns = 0, entries = 0;
  if (std::sscanf(line.c_str(), "%lu %lu %lu", &rows, &columns, &entries) != 3 || rows != columns)
    throw std::runtime_error(path + " is no square MatrixMarket file");
  edge_list list{rows, ids("sources", entries), ids("targets", entries)};
  auto const sources = Kokkos::create_mirror_view(list.sources);
  auto const targets = Kokkos::create_mirror_view(list.targets);
  for (std::uint64_t i = 0; i < entries; ++i) {
    std::uint32_t row = 0, column = 0;
    if (!(file >> row >> column)) throw std::runtime_error(path + " ends too early");
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    sources(i) = row - 1;  // the format counts from 1
    targets(i) = column - 1;
  }
  Kokkos::deep_copy(list.sources, sources);
  Kokkos::deep_copy(list.targets, targets);
  return list;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  try {
    edge_list const list =
        read_matrix_market(argc > 1 ? argv[1] : KARPOS_EXAMPLE_DATA "/karate.mtx");
    auto const graph =
        karpos::build_csr(exec, list.vertices, list.sources, list.targets, {.symmetrise = true});

    Kokkos::View<std::int32_t*> distances("distances", graph.vertices());
    karpos::bfs_report const report = karpos::bfs(exec, graph, 0, distances);

    std::cout << report.visited << " of " << graph.vertices() << " vertices reached\n";
    for (std::size_t l = 0; l < report.level.size(); ++l)
      std::cout << "  distance " << l << ": " << report.level[l].vertices << '\n';
  } catch (std::exception const& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
