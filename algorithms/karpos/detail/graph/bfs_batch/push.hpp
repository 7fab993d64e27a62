// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs_batch/state.hpp"

// The steps of a push level: `push` ORs front words, without the bits that the neighbours have
// already; `update` makes the new frontier. After a pull level, `list_frontier` runs first.

namespace karpos::detail::bfs_batch {

/// Lists in scratch the vertices of some words of a bitmap, and queues their items.
template <class State>
class vertex_list {
 public:
  static constexpr int width = State::width;
  using tile = device::tile_for<typename State::execution_space, width>;
  using tuned = typename State::tuned;

  KOKKOS_FUNCTION vertex_list(tile const& t, State const& s, std::byte* scratch)
      : m_tile(t),
        m_state(&s),
        m_list(reinterpret_cast<std::uint16_t*>(scratch)) {}

  /// Lists the vertices of the words of all lanes; lane i has word first + i. Returns: how many.
  template <class Words>
  KARPOS_STEP_FUNCTION int list(std::uint64_t first, Words const& bits) {
    m_base = static_cast<local_vertex>(first * 32);
    auto const at =
        m_tile.prefix_sum(m_tile.each([&](int lane) { return lane_mask<32>(bits[lane]).count(); }));
    m_count = at.total;
    m_tile.each([&](int lane) {
      int k = at.before[lane];
      for (lane_mask<32> m(bits[lane]); m; m = m.without_first())
        m_list[k++] = static_cast<std::uint16_t>(lane * 32 + m.first());
    });
    m_tile.sync();
    return m_count;
  }
  KARPOS_STEP_FUNCTION int count() const { return m_count; }
  KARPOS_STEP_FUNCTION local_vertex operator[](int k) const { return m_base + m_list[k]; }

  /// Appends the items of the listed vertices to the frontier queue, by one addition to its length.
  KARPOS_STEP_FUNCTION void enqueue(level_totals& to) const {
    auto const own = m_tile.each([&](int lane) {
      std::uint64_t n = 0;
      for (int k = lane; k < m_count; k += width) n += m_state->items_of((*this)[k]);
      return n;
    });
    std::uint64_t const total = m_tile.prefix_sum(own).total;
    if (total != 0) {
      std::uint64_t at = m_tile.once([&] { return device::fetch_add(&to.items, total); });
      for (int first = 0; first < m_count; first += width) at += write_items(first, at);
    }
    m_tile.sync();  // the list may be overwritten now
  }

 private:
  static constexpr std::uint64_t max_lane_items = 8;

  KOKKOS_FUNCTION static std::uint64_t item(local_vertex v, std::uint64_t part) {
    return part << 32 | v;
  }
  /// Writes the items of the vertices from entry `first` on, one a lane. Returns: how many.
  KARPOS_STEP_FUNCTION std::uint64_t write_items(int first, std::uint64_t at) const {
    auto const v = m_tile.each([&](int lane) -> local_vertex {
      return first + lane < m_count ? (*this)[first + lane] : 0;
    });
    auto const n = m_tile.each([&](int lane) -> std::uint64_t {
      return first + lane < m_count ? m_state->items_of(v[lane]) : 0;
    });
    auto const place = m_tile.prefix_sum(n);
    m_tile.each([&](int lane) {
      if (n[lane] <= max_lane_items)
        for (std::uint64_t i = 0; i < n[lane]; ++i)
          m_state->items[at + place.before[lane] + i] = item(v[lane], i);
    });
    for (auto m = m_tile.ballot([&](int lane) { return n[lane] > max_lane_items; }); m;
         m = m.without_first()) {
      int const from = m.first();
      local_vertex const whole = m_tile.get(v, from);
      std::uint64_t const begin = at + m_tile.get(place.before, from), count = m_tile.get(n, from);
      m_tile.each([&](int lane) {
        for (auto i = static_cast<std::uint64_t>(lane); i < count; i += width)
          m_state->items[begin + i] = item(whole, i);
      });
    }
    return place.total;
  }

  tile m_tile;
  State const* m_state;
  std::uint16_t* m_list;
  local_vertex m_base = 0;
  int m_count = 0;
};

template <class StateHandle, class ProgressHandle>
struct push {
  static constexpr char const* label = "karpos::bfs_batch::push";
  using State = typename StateHandle::state;
  using tuned = typename State::tuned;
  using edge = typename State::edge;
  static constexpr int width = State::width, group = tuned::push_lanes;
  static constexpr int items_at_once = width / group;
  static constexpr std::uint64_t none = ~std::uint64_t(0);

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->frontier.edges; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    s->clear_totals(team, p->level + 2);
    auto const t = team.template this_tile<width>();
    word const* const front = s->front_of(p->current);
    word* const next = s->front_of(1 - p->current);
    std::uint32_t* const bits = s->bits_of(1 - p->current);
    std::uint64_t const count = p->frontier.items;
    team.template for_each_tile<width>(
        (count + items_at_once - 1) / items_at_once, [&](std::uint64_t i) {
          auto const item = t.each([&](int lane) {
            std::uint64_t const k = i * items_at_once + static_cast<std::uint64_t>(lane / group);
            return k < count ? s->items[k] : none;
          });
          auto const mine =
              t.each([&](int lane) { return edges_of_item(item[lane], lane, front); });
          constexpr edge round = group * tuned::edges_at_once;
          for (edge k = 0;
               t.ballot([&](int lane) { return mine[lane].begin + k < mine[lane].end; });
               k += round)
            t.each([&](int lane) { push_edges(mine[lane], k, next, bits); });
        });
  }

 private:
  struct part {
    edge begin, end;
    word front;
  };
  KARPOS_STEP_FUNCTION part edges_of_item(std::uint64_t item, int lane, word const* front) const {
    if (item == none) return {0, 0, 0};
    auto const v = static_cast<local_vertex>(item);
    edge const first = s->out.begin(v) + static_cast<edge>((item >> 32) * tuned::item_edges);
    edge const end = s->out.end(v);
    edge const last = end - first > tuned::item_edges ? first + edge(tuned::item_edges) : end;
    return {first + static_cast<edge>(lane % group), last, front[v]};
  }
  /// Pushes several edges on one lane, so that their loads overlap.
  KARPOS_STEP_FUNCTION void push_edges(part const& mine, edge k, word* next,
                                       std::uint32_t* bits) const {
    constexpr int n = tuned::edges_at_once;
    local_vertex u[n];
    word x[n];
    for (int j = 0; j < n; ++j) {
      edge const e = mine.begin + k + static_cast<edge>(j * group);
      x[j] = e < mine.end ? mine.front : 0;
      u[j] = x[j] != 0 ? s->out.column[e] : 0;
    }
    for (int j = 0; j < n; ++j)
      if (x[j] != 0) x[j] &= ~s->seen[u[j]];
    for (int j = 0; j < n; ++j) {
      if (x[j] == 0) continue;
      word const stored = device::load_relaxed(next + u[j]);
      if ((x[j] & ~stored) == 0) continue;
      device::set_bits(next + u[j], x[j]);
      if (stored == 0) device::set_bits(bits + u[j] / 32, bit_of(u[j]));
    }
  }
};

template <class StateHandle, class ProgressHandle>
struct update {
  static constexpr char const* label = "karpos::bfs_batch::update";
  using State = typename StateHandle::state;
  using tuned = typename State::tuned;
  static constexpr int width = State::width;
  static constexpr std::size_t tile_bytes = tuned::list_bytes;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->frontier.edges + s->words; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    auto const t = team.template this_tile<width>();
    vertex_list<State> found(t, *s, team.template tile_scratch<width>(0, tile_bytes));
    std::uint32_t* const before = s->bits_of(p->current);
    std::uint32_t const* const bits = s->bits_of(1 - p->current);
    constexpr std::uint64_t each = tuned::list_words;
    thread_totals sum;
    level_totals& to = s->totals_of(p->level + 1);
    team.template for_each_tile<width>((s->words + each - 1) / each, [&](std::uint64_t i) {
      std::uint64_t const first = i * each;
      auto const has = [&](int lane) {
        return lane < int(each) && first + static_cast<std::uint64_t>(lane) < s->words;
      };
      auto const fresh =
          t.each([&](int lane) { return has(lane) ? bits[first + lane_of(lane)] : 0u; });
      t.each([&](int lane) {
        if (has(lane)) clear_words(before, first + lane_of(lane));
      });
      if (!t.ballot([&](int lane) { return fresh[lane] != 0; })) return;
      found.list(first, fresh);
      t.each([&](int lane) {
        for (int k = lane; k < found.count(); k += width) visit(found[k], sum);
      });
      found.enqueue(to);
    });
    add_totals<typename State::execution_space>(team, sum, to);
  }

 private:
  KOKKOS_FUNCTION static std::uint64_t lane_of(int lane) {
    return static_cast<std::uint64_t>(lane);
  }

  /// Clears the words of the old frontier's vertices: they are the targets of the next level.
  KARPOS_STEP_FUNCTION void clear_words(std::uint32_t* before, std::uint64_t w) const {
    lane_mask<32> m(before[w]);
    if (!m) return;
    before[w] = 0;
    word* const old = s->front_of(p->current);
    for (; m; m = m.without_first()) old[w * 32 + lane_of(m.first())] = 0;
  }
  KARPOS_STEP_FUNCTION void visit(local_vertex v, thread_totals& sum) const {
    word const x = s->front_of(1 - p->current)[v];
    s->seen[v] |= x;
    s->template record_value<1>(0, v, x, p->level - p->base + 2);
    sum.reached |= x;
    sum.edges += s->out.degree(v);
  }
};

/// Lists the frontier that a pull level has found.
template <class StateHandle, class ProgressHandle>
struct list_frontier {
  static constexpr char const* label = "karpos::bfs_batch::list_frontier";
  using State = typename StateHandle::state;
  using tuned = typename State::tuned;
  static constexpr int width = State::width;
  static_assert(width == 32);

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return s->vertices; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    auto const t = team.template this_tile<width>();
    vertex_list<State> found(t, *s, team.template tile_scratch<width>(0, tuned::list_bytes));
    constexpr std::uint64_t each = tuned::list_words;
    team.template for_each_tile<width>((s->words + each - 1) / each, [&](std::uint64_t i) {
      std::uint64_t const first = i * each;
      auto bits = t.each([](int) -> std::uint32_t { return 0; });
      for (std::uint64_t w = 0; w < each && first + w < s->words; ++w) {
        auto const of_word = static_cast<std::uint32_t>(
            t.ballot([&](int lane) { return test_and_clear(first + w, lane); }).bits());
        bits = t.each([&](int lane) { return lane == int(w) ? of_word : bits[lane]; });
      }
      t.each([&](int lane) {
        std::uint64_t const w = first + static_cast<std::uint64_t>(lane);
        if (lane >= int(each) || w >= s->words) return;
        s->bits_of(p->current)[w] = bits[lane];
        s->bits_of(1 - p->current)[w] = 0;
      });
      if (found.list(first, bits) > 0) found.enqueue(s->totals_of(p->level));
    });
  }

 private:
  /// Returns whether vertex `lane` of word w is in the frontier; clears its next frontier word.
  KARPOS_STEP_FUNCTION bool test_and_clear(std::uint64_t w, int lane) const {
    std::uint64_t const v = w * 32 + static_cast<std::uint64_t>(lane);
    if (v >= s->vertices) return false;
    s->front_of(1 - p->current)[v] = 0;
    return s->front_of(p->current)[v] != 0;
  }
};

}  // namespace karpos::detail::bfs_batch
