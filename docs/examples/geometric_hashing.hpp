// SPDX-License-Identifier: Apache-2.0
//
// Geometric hashing: which of many sets of points, the models, does a scene show? It shows one
// rotated, scaled, shifted and with noise; some of its points are missing, and others belong to no
// model. A basis is an ordered pair of points of a set. In the frame of a basis, whose unit is the
// distance of the two, the coordinates of the other points do not depend on rotation, scale and
// shift. A hash_multimap leads from each cell of a frame to all bases of models in whose frames a
// point lies in this cell. For some bases of a scene, the trials, each other point of the scene
// looks up its cell, and votes for these bases. The basis with most votes is the match.
//
// Coordinates are integers below 2^20, and cells are computed without rounding, so that votes are
// the same on every machine.
//
// Source: Y. Lamdan, H. Wolfson, "Geometric hashing: a general and efficient model-based
// recognition scheme", ICCV 1988.
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <karpos/hash_multimap.hpp>
#include <vector>

#if !defined(KARPOS_EXAMPLE_SPACE)
#define KARPOS_EXAMPLE_SPACE Kokkos::DefaultExecutionSpace
#endif

namespace geometric_hashing {

using space = KARPOS_EXAMPLE_SPACE;
using numbers = Kokkos::View<std::uint32_t*, space>;
/// Sets of equally many points: set, point, x or y.
using point_sets = Kokkos::View<std::int32_t** [2], space>;

constexpr std::uint32_t none = 0xffffffff;  // no cell; a key that no hash_multimap finds
constexpr std::int64_t cells_per_unit = 16;

struct point {
  std::int64_t x, y;
};

/// Returns the cell of point c in the frame of basis (a, b), whose origin is in the middle of a and
/// b, and whose x axis leads from a to b. Returns none if a = b, or if the cell is too far away.
KOKKOS_INLINE_FUNCTION std::uint32_t cell_in_frame(point a, point b, point c) {
  point const u{b.x - a.x, b.y - a.y}, v{2 * c.x - a.x - b.x, 2 * c.y - a.y - b.y};
  std::int64_t const unit = 2 * (u.x * u.x + u.y * u.y);
  if (unit == 0) return none;
  auto const cell = [&](std::int64_t product) {  // rounds down
    std::int64_t const n = cells_per_unit * product;
    return n / unit - (n % unit < 0) + (1 << 14);
  };
  std::int64_t const i = cell(u.x * v.x + u.y * v.y), j = cell(u.x * v.y - u.y * v.x);
  return (i | j) >> 15 != 0 ? none : static_cast<std::uint32_t>(i << 15 | j);
}

/// The bases of sets of P points: basis n is points n / P % P and n % P of set n / P / P. A pair of
/// points at one place has a number, but no cells.
struct basis_set {
  point_sets sets;

  KOKKOS_FUNCTION std::uint64_t points() const { return sets.extent(1); }
  KOKKOS_FUNCTION std::uint64_t size() const { return sets.extent(0) * points() * points(); }
  KOKKOS_FUNCTION point at(std::uint64_t set, std::uint64_t p) const {
    return {sets(set, p, 0), sets(set, p, 1)};
  }
  /// Returns the cell of point c in the frame of a basis, or none if c is a point of the basis.
  KOKKOS_FUNCTION std::uint32_t cell(std::uint64_t basis, std::uint64_t c) const {
    std::uint64_t const pair = basis / points(), set = pair / points(), a = pair % points(),
                        b = basis % points();
    return c == a || c == b ? none : cell_in_frame(at(set, a), at(set, b), at(set, c));
  }
};
/// The bases of scenes that are tried: `of_each` of every scene. Trial t begins at point t % P, so
/// that every point is tried.
struct trials {
  basis_set scenes;
  std::uint64_t of_each;  // at most P (P - 1)

  KOKKOS_FUNCTION std::uint64_t size() const { return scenes.sets.extent(0) * of_each; }
  KOKKOS_FUNCTION std::uint64_t basis(std::uint64_t trial) const {
    std::uint64_t const p = scenes.points(), t = trial % of_each, a = t % p;
    return (trial / of_each * p + a) * p + (a + 1 + t / p) % p;
  }
};

/// Lists the cells of all bases of models, and the bases.
struct list_cells {
  basis_set models;
  numbers cells, bases;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n, bool last) const {
    std::uint64_t const basis = i / models.points();
    std::uint32_t const cell = models.cell(basis, i % models.points());
    if (cell == none) return;
    if (last) {
      cells(n) = cell;
      bases(n) = static_cast<std::uint32_t>(basis);
    }
    ++n;
  }
};
/// Lists the cells of all trials, `none` too.
struct list_queries {
  trials all;
  numbers cells;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const points = all.scenes.points();
    cells(i) = all.scenes.cell(all.basis(i / points), i % points);
  }
};
/// Counts a match of a query as a vote of its trial for a basis.
struct cast_vote {
  numbers votes;
  std::uint64_t points, bases;
  KOKKOS_FUNCTION void operator()(std::uint64_t query, std::uint32_t basis) const {
    Kokkos::atomic_inc(&votes(query / points * bases + basis));
  }
};
/// Counts the votes of a trial for a basis without a table.
struct compare_cells {
  trials all;
  basis_set models;
  numbers queries, votes;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const trial = i / models.size(), basis = i % models.size(),
                        points = all.scenes.points();
    std::uint32_t n = 0;
    for (std::uint64_t c = 0; c < models.points(); ++c) {
      std::uint32_t const cell = models.cell(basis, c);
      for (std::uint64_t q = trial * points; q < (trial + 1) * points; ++q)
        n += cell != none && cell == queries(q);
    }
    votes(i) = n;
  }
};

/// Counts votes, and those that differ from expected ones.
struct count_votes {
  numbers votes, expected;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& all, std::uint64_t& wrong) const {
    all += votes(i);
    wrong += votes(i) != expected(i);
  }
};

/// The trial and the basis of a model that got most votes of a scene. Of equals, the first trial
/// and its first basis.
struct match {
  std::uint32_t votes = 0;
  std::uint64_t trial = 0, basis = 0;
};
/// Finds the match of each scene, as a word: the votes, then 2^32 - 1 less the number of trial and
/// basis, so that the largest word is the match.
struct find_best {
  numbers votes;
  Kokkos::View<std::uint64_t*, space> best;
  std::uint64_t of_each, bases;
  using member = Kokkos::TeamPolicy<space>::member_type;
  KOKKOS_FUNCTION void operator()(member const& team) const {
    std::uint64_t const trial = static_cast<std::uint64_t>(team.league_rank()),
                        first = trial % of_each * bases;
    std::uint64_t most = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, bases),
        [&](std::uint64_t b, std::uint64_t& m) {
          m = Kokkos::max(m, std::uint64_t(votes(trial * bases + b)) << 32 | (none - first - b));
        },
        Kokkos::Max<std::uint64_t>(most));
    Kokkos::single(Kokkos::PerTeam(team),
                   [&] { Kokkos::atomic_max(&best(trial / of_each), most); });
  }
};

inline auto range(space const& exec, std::uint64_t n) {
  return Kokkos::RangePolicy<space, Kokkos::IndexType<std::uint64_t>>(exec, 0, n);
}

/// The table of models, with which scenes are matched. The bases of all models, times the trials of
/// a scene, are fewer than 2^32.
class matcher {
 public:
  matcher(space const& exec, point_sets const& models) : m_models{models} {
    std::uint64_t const all = m_models.size() * m_models.points();
    numbers const cells("cells", all), bases("bases", all);
    std::uint64_t n = 0;
    Kokkos::parallel_scan("cells", range(exec, all), list_cells{m_models, cells, bases}, n);
    m_table = table(exec, n);
    auto const listed = Kokkos::pair(std::uint64_t(0), n);
    m_table.insert(exec, Kokkos::subview(cells, listed), Kokkos::subview(bases, listed));
  }
  std::uint64_t table_size() const { return m_table.size(); }

  /// Returns the votes of each trial for each basis. By the table, or by comparison with all cells.
  numbers votes(space const& exec, trials const& all, bool by_table = true) const {
    numbers const queries("queries", all.size() * all.scenes.points()),
        votes("votes", all.size() * m_models.size());
    Kokkos::parallel_for("queries", range(exec, queries.extent(0)), list_queries{all, queries});
    if (by_table)
      m_table.for_each_match(exec, queries, cast_vote{votes, all.scenes.points(), m_models.size()});
    else
      Kokkos::parallel_for("compare", range(exec, votes.extent(0)),
                           compare_cells{all, m_models, queries, votes});
    return votes;
  }
  /// Returns the match of each scene.
  std::vector<match> matches(space const& exec, trials const& all, numbers const& votes) const {
    std::uint64_t const bases = m_models.size();
    Kokkos::View<std::uint64_t*, space> const best("best", all.scenes.sets.extent(0));
    if (votes.extent(0) > 0)
      Kokkos::parallel_for(
          "best", Kokkos::TeamPolicy<space>(exec, static_cast<int>(all.size()), Kokkos::AUTO),
          find_best{votes, best, all.of_each, bases});
    exec.fence();
    auto const words = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), best);
    std::vector<match> found(words.extent(0));  // without votes
    for (std::uint64_t s = 0; s < found.size() && votes.extent(0) > 0; ++s) {
      std::uint64_t const at = none - (words(s) & none);
      found[s] = {static_cast<std::uint32_t>(words(s) >> 32), s * all.of_each + at / bases,
                  at % bases};
    }
    return found;
  }

 private:
  using table = karpos::hash_multimap<std::uint32_t, std::uint32_t, space>;
  basis_set m_models;
  table m_table;
};

/// Models of random points, and scenes that show some of them.
struct input {
  point_sets models, scenes;
  std::vector<std::uint32_t> shown;  // the model of each scene
};
/// Makes sets of `points` points. A scene shows a model turned, scaled by 0.5 to 2, and shifted; a
/// quarter of its points are others, and each is up to `noise` away from its place.
inline input make_input(std::uint32_t models, std::uint32_t scenes, std::uint32_t points,
                        double noise) {
  std::uint64_t drawn = 0;
  auto const random = [&](double below) {
    return below * 0x1p-53 * static_cast<double>(karpos::mix(++drawn) >> 11);
  };
  input all{point_sets("models", models, points), point_sets("scenes", scenes, points), {}};
  auto const model = Kokkos::create_mirror_view(all.models);
  auto const scene = Kokkos::create_mirror_view(all.scenes);
  for (std::uint32_t m = 0; m < models; ++m)
    for (std::uint32_t p = 0; p < points; ++p)
      for (int d = 0; d < 2; ++d) model(m, p, d) = static_cast<std::int32_t>(random(1000));
  for (std::uint32_t s = 0; s < scenes; ++s) {
    auto const shown = static_cast<std::uint32_t>(random(models));
    double const angle = random(6.283185307179586), scale = 0.5 + random(1.5),
                 c = scale * std::cos(angle), d = scale * std::sin(angle), shift = random(5000);
    all.shown.push_back(shown);
    for (std::uint32_t p = 0; p < points; ++p) {
      auto const other = static_cast<std::uint32_t>(random(p + 1));  // shuffles
      scene(s, p, 0) = scene(s, other, 0), scene(s, p, 1) = scene(s, other, 1);
      bool const is_of_model = p >= points / 4;
      double const x = is_of_model ? model(shown, p, 0) : random(1000),
                   y = is_of_model ? model(shown, p, 1) : random(1000),
                   at[2] = {c * x - d * y, d * x + c * y};
      for (int i = 0; i < 2; ++i)
        scene(s, other, i) =
            static_cast<std::int32_t>(std::lround(at[i] + shift + noise * (random(2) - 1)));
    }
  }
  Kokkos::deep_copy(all.models, model);
  Kokkos::deep_copy(all.scenes, scene);
  return all;
}

}  // namespace geometric_hashing
