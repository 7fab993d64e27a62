// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/graph/bfs/top_down.hpp"
#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/device/team.hpp"

// The second step of a top-down level over several ranks. Each rank has the status bitmap of all
// vertices, and owns some words of it. expand_frontier has claimed vertices of any owner in this
// rank's bitmap: it has discovered its own vertices, and sent the parents of others to their
// owners. Now each rank receives its own vertices that only other ranks have claimed:
//
//   merge_claims   wide levels: by the bitmaps of all ranks. Writes this rank's words to the other
//                  bitmap of all ranks; the loop swaps the two bitmaps
//   receive_lists  narrow levels: by lists of the vertices that each rank has claimed, its own
//                  included. Sets their bits in visited[current]
//
// Afterwards the bitmaps of all ranks are equal. Terms (tile, lane): see state.hpp.

namespace karpos::detail::bfs {

/// Base of both steps.
template <class StateHandle, class ProgressHandle>
struct receiving_step {
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  using tile = typename State::tile;

  StateHandle s;
  ProgressHandle p;
  frontier_output output;

 protected:
  /// Calls f(found) with a bin for this rank's vertices, which enter the queue or are counted.
  template <class Team, class F>
  KARPOS_STEP_FUNCTION void with_bin(Team& team, tile const& t, F const& f) const {
    level_counters& to = s->counters(p->level + 1);
    frontier_bin<State> found(team.template tile_scratch<width>(0, frontier_bin<State>::bytes),
                              frontier_writer<State>(t, *s, p->tail, &to, p->lists_claims));
    f(found);
    found.flush(t);
    if (output == frontier_output::count) found.add_counts(team, to);
  }
};

template <class StateHandle, class ProgressHandle>
struct merge_claims : receiving_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::merge_claims";
  using base = receiving_step<StateHandle, ProgressHandle>;
  using base::s, base::p, base::width, base::output;
  using typename base::State, typename base::tile;

  std::uint64_t work() const { return s->own_words(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    tile const t = team.template this_tile<width>();
    // If there are more words than lanes, a lane merges two at once: it waits for other ranks'
    // memory once, not twice.
    std::uint64_t const words = s->own_words(),
                        tiles = static_cast<std::uint64_t>(team.league_size()) *
                                static_cast<std::uint64_t>(team.template tiles<width>()),
                        each = words > tiles * width ? 2 * width : width;
    this->with_bin(team, t, [&](frontier_bin<State>& found) {
      team.template for_each_tile_across_teams<width>(
          (words + each - 1) / each, [&](std::uint64_t i) {
            std::uint64_t const first = i * each;
            receive(t, s->first_word() + first, static_cast<int>(Kokkos::min(each, words - first)),
                    found);
          });
    });
  }

 private:
  /// Merges n words: word i on lane i % width, at most two on a lane.
  KARPOS_STEP_FUNCTION void receive(tile const& t, std::uint64_t first, int n,
                                    frontier_bin<State>& found) const {
    auto fresh = t.each([&](int lane) { return merge(first, lane, n); });
    // In each round, every lane receives the first vertex that is left in its words.
    while (t.ballot([&](int lane) { return fresh[lane] != 0; })) {
      auto const vertex = [&](int lane, int) {
        int const bit = lane_mask<64>(fresh[lane]).first();
        int const word = bit < 32 ? lane : lane + width;
        return static_cast<local_vertex>((first + static_cast<std::uint64_t>(word)) * 32 +
                                         static_cast<std::uint64_t>(bit % 32));
      };
      auto const won = t.each([&](int lane) -> std::uint32_t { return fresh[lane] != 0 ? 1 : 0; });
      t.each([&](int lane) {
        if (won[lane] != 0) s->receive(vertex(lane, 0), p->level + 1);
      });
      add_found(output, t, found, won, vertex);
      fresh = t.each([&](int lane) { return fresh[lane] & (fresh[lane] - 1); });
    }
  }
  /// Merges this lane's words. Returns the bits that only other ranks had set: those of the second
  /// word in the upper half.
  KARPOS_STEP_FUNCTION std::uint64_t merge(std::uint64_t first, int lane, int n) const {
    constexpr int most = 2;
    std::uint64_t const word = first + static_cast<std::uint64_t>(lane);
    int const count = lane < n ? (n - 1 - lane) / width + 1 : 0;
    std::uint32_t mine[most] = {}, others[most] = {};
    for (int k = 0; k < most; ++k)
      if (k < count) mine[k] = s->bitmap(p->current)[word + k * width];
    s->template add_others<width>(p->current, word, count, others);
    std::uint64_t fresh = 0;
    for (int k = 0; k < most; ++k) {
      if (k >= count) continue;
      std::uint32_t* const to = s->bitmap(1 - p->current) + word + k * width;
      *to = mine[k] | others[k];
      s->copy_to_peers(to, mine[k] | others[k]);
      fresh |= std::uint64_t(others[k] & ~mine[k]) << (32 * k);
    }
    return fresh;
  }
};

template <class StateHandle, class ProgressHandle>
struct receive_lists : receiving_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::receive_lists";
  using base = receiving_step<StateHandle, ProgressHandle>;
  using base::s, base::p, base::width, base::output;
  using typename base::State, typename base::tile;

  std::uint64_t work() const { return p->all_listed; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    tile const t = team.template this_tile<width>();
    this->with_bin(team, t, [&](frontier_bin<State>& found) {
      s->template for_each_list<local_vertex>(
          *p, 0, [&](local_vertex const* list, std::uint64_t n) {
            team.template for_each_tile_across_teams<width>(
                (n + width - 1) / width, [&](std::uint64_t i) {
                  auto const vertex = [&](int lane, int) {
                    return list[i * width + static_cast<std::uint64_t>(lane)];
                  };
                  add_found(output, t, found, t.each([&](int lane) -> std::uint32_t {
                    return i * width + static_cast<std::uint64_t>(lane) < n &&
                                   claim(vertex(lane, 0))
                               ? 1
                               : 0;
                  }),
                            vertex);
                });
          });
    });
  }

 private:
  /// Marks a vertex, and receives it if this rank owns it. Returns whether this thread has done so.
  KARPOS_STEP_FUNCTION bool claim(local_vertex v) const {
    if (s->is_own_word(v / 32)) device::prefetch_far(s->out.offset + v);
    std::uint32_t const before = device::fetch_or(s->bitmap(p->current) + v / 32, bit_of(v));
    if ((before & bit_of(v)) != 0 || !s->is_own_word(v / 32)) return false;
    s->receive(v, p->level + 1);
    return true;
  }
};

/// After local searches: stores parents that other ranks own, of vertices of this rank. Distances
/// are final.
template <class StateHandle, class ProgressHandle>
struct receive_parents {
  static constexpr char const* label = "karpos::bfs::receive_parents";
  static constexpr int width = StateHandle::state::width;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->all_listed; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    s->template for_each_list<parent_claim>(*p, 0, [&](parent_claim const* list, std::uint64_t n) {
      for_each_index<width>(team, n, [&](std::uint64_t i) {
        parent_claim const c = list[i];
        if (s->is_own_word(c.vertex / 32) &&
            static_cast<std::uint32_t>(s->distance[c.vertex]) == c.distance)
          s->store_parent(c.vertex, c.from);
      });
    });
  }
};

/// A step without work: ranks send totals at its end.
template <class StateHandle, class ProgressHandle>
struct send_totals {
  static constexpr char const* label = "karpos::bfs::send_totals";
  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return 0; }
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& /*team*/) const {}
};

}  // namespace karpos::detail::bfs
