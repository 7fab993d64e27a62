// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks that every answer of a breadth-first search must pass.
#include "support/bfs_subject.hpp"

namespace karpos_test {

namespace {

/// Collects the failures of hundreds of conditions, so that one check reports them all.
struct report_errors {
  std::string text;
  void unless(bool condition, std::string const& what) {
    if (!condition) text += (text.empty() ? "" : "; ") + what;
  }
  void unequal(std::string const& what, std::uint64_t got, std::uint64_t expected) {
    unless(got == expected,
           what + " " + std::to_string(got) + " instead of " + std::to_string(expected));
  }
};

/// Counts the vertices and their out-edges, level by level.
struct level_sums {
  std::uint64_t visited = 0, edges = 0;
  std::vector<std::uint64_t> vertices, edges_of;
};

level_sums sums_of(host_graph const& g, std::vector<std::int32_t> const& distance) {
  level_sums s;
  for (std::uint64_t v = 0; v < g.vertices; ++v) {
    if (distance[v] < 0) continue;
    auto const level = static_cast<std::size_t>(distance[v]);
    if (s.vertices.size() <= level) {
      s.vertices.resize(level + 1);
      s.edges_of.resize(level + 1);
    }
    ++s.visited;
    ++s.vertices[level];
    s.edges += g.degree(v);
    s.edges_of[level] += g.degree(v);
  }
  return s;
}

void check_levels(report_errors& c, level_sums const& s, karpos::bfs_report const& r) {
  c.unequal("recorded levels", r.level.size(), std::min<std::uint64_t>(s.vertices.size(), 1024));
  std::uint64_t up = 0, down = 0;
  for (std::size_t l = 0; l < r.level.size() && l < s.vertices.size(); ++l) {
    std::string const where = "level " + std::to_string(l) + ": ";
    c.unequal(where + "vertices", r.level[l].vertices, s.vertices[l]);
    if (!r.level[l].bottom_up) c.unequal(where + "edges", r.level[l].edges, s.edges_of[l]);
    c.unless(r.level[l].hubs <= r.hubs, where + "more hubs than the graph has");
    (r.level[l].bottom_up ? up : down) += r.level[l].edges;
  }
  if (s.vertices.size() > 1024) return;
  c.unequal("edges of top-down levels", down, r.edges_top_down);
  c.unequal("edges of bottom-up levels", up, r.edges_bottom_up);
}

/// Checks that the report's first switches of direction agree with the directions of its levels.
void check_direction_switches(report_errors& c, karpos::bfs_options const& o,
                              karpos::bfs_report const& r) {
  int up = -1, down = -1, switches = 0;
  for (std::size_t l = 0; l < r.level.size(); ++l) {
    bool const now = r.level[l].bottom_up, before = l > 0 && r.level[l - 1].bottom_up;
    if (now && up < 0) up = static_cast<int>(l);
    if (!now && before && down < 0) down = static_cast<int>(l);
    switches += now != before ? 1 : 0;
  }
  c.unless(r.first_bottom_up == up, "bottom-up from level " + std::to_string(r.first_bottom_up) +
                                        " instead of " + std::to_string(up));
  c.unless(r.first_top_down_again == down, "top-down again from level " +
                                               std::to_string(r.first_top_down_again) +
                                               " instead of " + std::to_string(down));
  if (o.direction == karpos::bfs_direction::gamma)
    c.unless(switches <= 1 && down < 0, "gamma switches more than once");
  if (o.direction == karpos::bfs_direction::top_down || !r.bottom_up_available)
    c.unless(up < 0 && r.edges_bottom_up == 0, "goes bottom-up where it must not");
}

void check_report(report_errors& c, host_graph const& g, karpos::bfs_options const& o,
                  std::vector<std::int32_t> const& distance, karpos::bfs_report const& r) {
  level_sums const s = sums_of(g, distance);
  c.unequal("visited", r.visited, s.visited);
  c.unequal("levels", static_cast<std::uint64_t>(r.levels), s.vertices.size());
  c.unless(r.bottom_up_available == (g.kind != sides::directed), "bottom_up_available");
  check_levels(c, s, r);
  if (r.level.size() == s.vertices.size()) check_direction_switches(c, o, r);
  if (r.first_bottom_up < 0) c.unequal("edges of the component", r.edges_top_down, s.edges);
  if (!o.hub_cache) c.unequal("hub cache hits", r.hub_cache_hits, 0);
}

}  // namespace

void check_report(std::string const& what, host_graph const& g, karpos::bfs_options const& o,
                  std::vector<std::int32_t> const& distance, karpos::bfs_report const& r) {
  report_errors c;
  check_report(c, g, o, distance, r);
  holds(what + ": " + c.text, c.text.empty());
}

void check_answer(std::string const& what, host_graph const& g,
                  std::vector<std::uint64_t> const& sources, karpos::bfs_options const& o,
                  std::vector<std::int32_t> const& expected, bfs_answer const& a) {
  report_errors c;
  std::uint64_t wrong = 0;
  for (std::uint64_t v = 0; v < g.vertices; ++v) wrong += a.distance[v] != expected[v] ? 1 : 0;
  c.unequal("wrong distances", wrong, 0);
  if (!a.parent.empty())
    c.unequal("wrong parents", wrong_parents(g, sources, a.distance, a.parent), 0);
  c.unless(a.defects.valid(), a.defects.to_string());
  check_report(c, g, o, expected, a.report);
  holds(what + ": " + c.text, c.text.empty());
}

}  // namespace karpos_test
