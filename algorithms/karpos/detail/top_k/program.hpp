// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/top_k/complete.hpp"
#include "karpos/detail/top_k/grow.hpp"
#include "karpos/detail/top_k/shrink.hpp"
#include "karpos/device/program.hpp"

// A query by cells, phase by phase. launched_grid runs it from the host, cooperative_grid inside of one kernel.

namespace karpos::detail::top_k {

/// The options of a query that its loop needs.
struct ranking_plan {
  double growth, growth_shrinking;
  std::uint64_t first_stride;
  std::uint64_t deepest_growth, max_survivors;  // beyond, everything is read
  top_k_bail_out bail_out;
  bool set;
};

template <class State>
struct ranking_program {
  using shared = ranking_progress;
  using progress = ranking_progress;

  State s;
  ranking_plan plan;

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void operator()(Grid& grid, progress& p) const {
    using G = typename Grid::template handle_of<State>;
    using P = typename Grid::template handle_of<progress>;
    grid.run(prepare<G>{grid.handle(s)}, [&] { begin(grid, p); });
    if (p.crowded) return;
    while (p.growing) {
      grid.run(grow<G, P, true>{grid.handle(s), grid.handle(p)}, [] {});
      grid.run(measure<G, P>{grid.handle(s), grid.handle(p), false}, [&] { grown(grid, p); });
    }
    do {
      if (left_to_read(p))
        grid.run(grow<G, P, false>{grid.handle(s), grid.handle(p)},
                 [&] { p.grown = p.begin = p.depth; });
      if (p.depth == s.lists.longest) {
        rank_cells(grid, p, (s.objects.places + 15) / 16);
        rank_cells(grid, p, s.objects.places);
      }
      grid.run(list_survivors<G, P>{grid.handle(s), grid.handle(p)}, [&] { listed(grid, p); });
    } while (left_to_read(p));
    while (p.shrinking) {
      if (p.begin < p.depth) grid.run(shrink<G, P>{grid.handle(s), grid.handle(p)}, [] {});
      grid.run(rank<G, P>{grid.handle(s), grid.handle(p), 0}, [] {});
      grid.run(measure<G, P>{grid.handle(s), grid.handle(p), true}, [&] { raise(grid, p); });
      grid.run(sift<G, P>{grid.handle(s), grid.handle(p)}, [&] { sifted(grid, p); });
    }
    if (!p.crowded) answer(grid, p);
    grid.run(clean<G, P>{grid.handle(s), grid.handle(p)}, [&] { record(grid, p); });
  }

 private:
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void begin(Grid& grid, progress& p) const {
    p = progress{};
    p.crowded = grid.read(&s.words->measure).usable == 0;
    p.growing = plan.bail_out != top_k_bail_out::at_once;
    if (p.growing)
      p.stride(0, plan.first_stride, s.lists.longest);
    else
      read_the_rest(p);
    if (p.crowded) record(grid, p);
  }

  /// After a stride of the growing phase.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void grown(Grid& grid, progress& p) const {
    measured const m = grid.read(&s.words->measure);
    std::uint64_t const longest = s.lists.longest;
    p.threshold = m.threshold;
    p.grown = p.depth;
    p.growing = m.unseen_most > m.threshold && p.depth < longest;
    p.begin = p.depth;
    if (!p.growing) return;
    if (p.depth > plan.deepest_growth && plan.bail_out == top_k_bail_out::automatic)
      read_the_rest(p);
    else
      p.stride(plan.growth, State::tuned::min_stride, longest);
  }
  /// Too many objects may still win: what is left is added up, without looking at it.
  KOKKOS_FUNCTION void read_the_rest(progress& p) const {
    p.growing = false;
    p.bailed = true;
    p.depth = s.lists.longest;
  }

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void rank_cells(Grid& grid, progress& p, std::uint64_t first) const {
    using G = typename Grid::template handle_of<State>;
    using P = typename Grid::template handle_of<progress>;
    grid.run(rank<G, P>{grid.handle(s), grid.handle(p), first}, [] {});
    grid.run(measure<G, P>{grid.handle(s), grid.handle(p), true}, [&] { raise(grid, p); });
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void raise(Grid& grid, progress& p) const {
    p.threshold = grid.read(&s.words->measure).threshold;
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void listed(Grid& grid, progress& p) const {
    p.candidates = p.survivors = grid.read(&s.words->count).survivors;
    bool const too_many =
        p.survivors > s.survivor_room ||
        (plan.bail_out == top_k_bail_out::automatic && p.survivors > plan.max_survivors);
    if (too_many && p.depth < s.lists.longest) {
      read_the_rest(p);
    } else {
      p.crowded = p.survivors > s.survivor_room;
      p.shrinking = !p.crowded;
    }
  }

  /// After a round of the shrinking phase, the first of which reads nothing.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void sifted(Grid& grid, progress& p) const {
    counted const now = grid.read(&s.words->count);
    bool const stuck = now.survivors == p.survivors;
    bool const exhausted = p.depth == s.lists.longest;
    p.survivors = now.survivors;
    p.list = 1 - p.list;
    p.begin = p.depth;
    p.shrunk = p.depth;
    if (p.survivors <= s.k || (stuck && (exhausted || now.open == 0))) {
      p.shrinking = false;
      p.crowded = !answered(p) && p.survivors > s.final_room;
    } else if (!exhausted && now.open > 0) {
      p.stride(plan.growth_shrinking, State::tuned::min_stride, s.lists.longest);
    }
  }
  /// After the growing phase: whether the query has given up looking, and has not read the rest yet.
  KOKKOS_FUNCTION bool left_to_read(progress const& p) const {
    return p.bailed && p.begin < p.depth;
  }
  KOKKOS_FUNCTION bool answered(progress const& p) const { return plan.set && p.survivors <= s.k; }

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void answer(Grid& grid, progress& p) const {
    using G = typename Grid::template handle_of<State>;
    using P = typename Grid::template handle_of<progress>;
    if (answered(p)) {
      grid.run(write_set<G, P>{grid.handle(s), grid.handle(p)}, [] {});
      return;
    }
    grid.run(number_finalists<G, P>{grid.handle(s), grid.handle(p)}, [&] {
      p.begin = 0;
      p.collecting = true;
    });
    while (p.collecting)
      grid.run(collect<G, P>{grid.handle(s), grid.handle(p)}, [&] { collected(grid, p); });
    grid.run(evaluate<G, P>{grid.handle(s), grid.handle(p)}, [] {});
    if (p.survivors <= State::tuned::finalists_in_order)
      grid.run(write_ranked<G, P>{grid.handle(s), grid.handle(p)}, [] {});
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void collected(Grid& grid, progress& p) const {
    p.collected = p.depth;
    std::uint64_t const all = std::uint64_t(p.survivors) * s.list_count();
    // Of two words, for others may count the next stride already.
    auto const parity = p.strides % 2;
    p.scores[parity] = grid.read(&s.words->count).scores[parity];
    p.collecting = std::uint64_t(p.scores[0]) + p.scores[1] < all && p.depth < s.lists.longest;
    if (p.collecting) p.stride(2, 4096, s.lists.longest);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void record(Grid& grid, progress& p) const {
    grid.write(&s.words->record, ranking_record{p.grown, p.shrunk, p.collected, p.candidates,
                                                p.survivors, p.strides, p.bailed, p.crowded});
  }
};

}  // namespace karpos::detail::top_k
