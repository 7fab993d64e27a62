// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/detail/graph/sssp/relax.hpp"
#include "karpos/detail/graph/sssp/start.hpp"

// The part of a search that only several ranks have. A rank stores, for a vertex of another rank,
// the least distance that it has found itself: shorter ones are sent, longer ones are not. A step
// lists the vertex for its owner, once until the list is sent:
//
//   list      | for rank 0 | for rank 1 | …     one array, in which the list for a rank begins at
//               v v v        v                  the first of its vertices, so it always fits
//   listed    3            1                    entries of each list
//   list_bits a bit for each vertex of the graph: listed
//
// Between two steps, the ranks send each other their lists with distances
// (detail/distributed/sssp_run.hpp). `receive` then applies them to the owner's vertices.

namespace karpos::detail::sssp {

/// Appends vertices to the lists of their owners.
template <class State>
class owner_writer {
 public:
  using tile = typename State::tile;
  static constexpr int width = State::width;
  static constexpr std::size_t bytes = 0;

  KOKKOS_FUNCTION explicit owner_writer(State const& s) : m_state(&s) {}

  KARPOS_STEP_FUNCTION void operator()(tile const& t, local_vertex const* vertex, std::uint8_t*,
                                       int count) const {
    State const& s = *m_state;
    for (int first = 0; first < count; first += width) {
      auto const owner = t.each(
          [&](int lane) { return first + lane < count ? s.owner(vertex[first + lane]) : 0; });
      auto left = t.ballot([&](int lane) { return first + lane < count; });
      while (left) {  // in each round, the vertices of one owner
        int const rank = t.get(owner, left.first());
        auto const same =
            t.ballot([&](int lane) { return first + lane < count && owner[lane] == rank; });
        std::uint32_t const begin = t.once([&] {
          return device::fetch_add(s.listed + rank, static_cast<std::uint32_t>(same.count()));
        });
        t.on(same, [&](int lane) {
          s.list[s.begin_of_rank[rank] + begin + static_cast<std::uint32_t>(same.rank(lane))] =
              vertex[first + lane];
        });
        left = left & ~same;
      }
    }
  }

 private:
  State const* m_state;
};

template <class State>
struct bin_for_others<State, true> {
  using bin_type = bin<State, owner_writer<State>>;
  static constexpr std::size_t bytes = (bin_type::bytes + 63) / 64 * 64;

  KARPOS_STEP_FUNCTION bin_for_others(std::byte* scratch, State const& s)
      : others(scratch, owner_writer<State>(s)) {}
  KARPOS_STEP_FUNCTION void flush_others(typename State::tile const& t) { others.flush(t); }

  bin_type others;
};

/// Applies a rule to the vertices that other ranks have sent.
template <class StateHandle, class ProgressHandle, template <class> class Rule>
struct receive : step<StateHandle, ProgressHandle> {
  using base = step<StateHandle, ProgressHandle>;
  using base::width;
  using typename base::State;
  using row = typename Rule<State>::sent_row;
  static constexpr char const* label = "karpos::sssp::receive";

  std::uint64_t work() const { return this->p->received_rows; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    auto const& now = *this->p;
    auto const t = team.template this_tile<width>();
    state.clear_next(team, now);
    state.clear_list_lengths(team);  // they have been sent
    bins<State> found(team, t, state, now, now.split);
    auto const* const rows = static_cast<row const*>(now.received);
    std::uint64_t const n = now.received_rows;
    team.template for_each_tile<width>((n + width - 1) / width, [&](std::uint64_t i) {
      auto const at = [&](int lane) { return i * width + static_cast<std::uint64_t>(lane); };
      auto const target = t.each([&](int lane) -> target_queue {
        if (at(lane) >= n) return target_queue::none;
        return Rule<State>::receive(state, now, rows[at(lane)]);
      });
      auto const vertex = [&](int lane, int) { return rows[at(lane)].vertex; };
      auto const bits = [&](target_queue of) {
        return t.each([&](int lane) -> std::uint32_t { return target[lane] == of ? 1 : 0; });
      };
      found.near.push(t, bits(target_queue::near), vertex);
      found.far.push(t, bits(target_queue::far), vertex);
    });
    found.flush(t);
  }
};

template <class StateHandle, class ProgressHandle>
using receive_distances = receive<StateHandle, ProgressHandle, relax>;
template <class StateHandle, class ProgressHandle>
using receive_nearer_parents = receive<StateHandle, ProgressHandle, parent_of_nearer>;
template <class StateHandle, class ProgressHandle>
using receive_equal_parents = receive<StateHandle, ProgressHandle, parent_of_equal>;

}  // namespace karpos::detail::sssp
