// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph/degrees.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {

std::uint64_t degree_distribution::vertices() const {
  std::uint64_t sum = 0;
  for (group const& g : m_groups) sum += g.vertices;
  return sum;
}
std::uint64_t degree_distribution::edges() const {
  std::uint64_t sum = 0;
  for (group const& g : m_groups) sum += g.degree * g.vertices;
  return sum;
}
double degree_distribution::mean() const {
  std::uint64_t const n = vertices();
  return n == 0 ? 0 : static_cast<double>(edges()) / static_cast<double>(n);
}
double degree_distribution::vertices_below(std::uint64_t degree) const {
  std::uint64_t below = 0;
  for (group const& g : m_groups) below += g.degree < degree ? g.vertices : 0;
  return m_groups.empty() ? 0 : static_cast<double>(below) / static_cast<double>(vertices());
}
double degree_distribution::edges_below(std::uint64_t degree) const {
  std::uint64_t const all = edges();
  std::uint64_t below = 0;
  for (group const& g : m_groups) below += g.degree < degree ? g.degree * g.vertices : 0;
  return all == 0 ? 0 : static_cast<double>(below) / static_cast<double>(all);
}
std::uint64_t degree_distribution::hubs_with(double edges_part) const {
  double left = edges_part * static_cast<double>(edges());
  std::uint64_t hubs = 0;
  for (auto g = m_groups.rbegin(); g != m_groups.rend() && left > 0; ++g) {
    if (g->degree == 0) break;
    auto const degree = static_cast<double>(g->degree), n = static_cast<double>(g->vertices);
    hubs += static_cast<std::uint64_t>(std::min(std::ceil(left / degree), n));
    left -= degree * n;
  }
  return hubs;
}
double degree_distribution::edges_of_first(double fraction) const {
  double left = fraction * static_cast<double>(vertices()), sum = 0;
  for (group const& g : m_groups) {
    double const taken = std::min(left, static_cast<double>(g.vertices));
    sum += taken * static_cast<double>(g.degree);
    left -= taken;
  }
  auto const all = static_cast<double>(edges());
  return all == 0 ? 0 : sum / all;
}

json to_json(degree_distribution const& d) {
  json below = json::array();
  for (std::uint64_t degree = 1; degree <= 2 * d.largest(); degree *= 2)
    below.push_back({{"degree", degree},
                     {"vertices", d.vertices_below(degree)},
                     {"edges", d.edges_below(degree)}});
  return {{"mean", d.mean()},
          {"largest", d.largest()},
          {"hubs_of_tenth", d.hubs_with(0.1)},
          {"hubs_of_fifth", d.hubs_with(0.2)},
          {"below", below}};
}

void print(degree_distribution const& d) {
  std::printf("degrees: mean %s, largest %s; %s have a tenth of the edges, %s a fifth\n",
              three_digits(d.mean()).c_str(), grouped(d.largest()).c_str(),
              counted(d.hubs_with(0.1), "vertex", "vertices").c_str(),
              grouped(d.hubs_with(0.2)).c_str());
  std::printf("  degree below   of the vertices   of the edges\n");
  for (std::uint64_t degree = 1; degree <= 2 * d.largest(); degree *= 2)
    std::printf("  %s %s %% %s %%\n", right(grouped(degree), 12).c_str(),
                right(three_digits(100 * d.vertices_below(degree)), 15).c_str(),
                right(three_digits(100 * d.edges_below(degree)), 12).c_str());
}

}  // namespace karpos::perf
