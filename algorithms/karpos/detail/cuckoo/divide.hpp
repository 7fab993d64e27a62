// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "karpos/detail/cuckoo/refs.hpp"
#include "karpos/detail/cuckoo/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"

// Phase 1 of the paper: every key to its group. The paper counts keys atomically, sums and scatters, a random access
// for each. Here a team sorts a tile of items by region in its scratch, reserves a run of every region with one atomic
// addition, and writes runs. A region holds a few neighbouring groups, in no particular order, and has room for some
// more items than hash functions give it: nothing is counted beforehand.

namespace karpos::detail::cuckoo {

/// What became of a build.
struct build_report {
  std::uint64_t invalid = 0;      ///< keys equal to the sentinel
  std::uint64_t overflowing = 0;  ///< items that found no room in their region
  std::uint64_t homeless = 0;     ///< regions, or items, for which there was no place
  std::uint64_t repeated = 0;     ///< keys that were there already
};

/// Items in regions of equal capacity. An empty word stands for no item.
template <class Word>
struct regions {
  Word* items = nullptr;
  std::uint64_t* fill = nullptr;  ///< items of each; more than its capacity if some were left out
  std::uint64_t capacity = 0;

  KOKKOS_FUNCTION std::uint64_t size(std::uint64_t r) const {
    return fill[r] < capacity ? fill[r] : capacity;
  }
  KOKKOS_FUNCTION Word* begin(std::uint64_t r) const { return items + r * capacity; }
};

/// Source of items: pairs of two views.
template <class View, class Keys, class Values>
struct all_pairs {
  using word = typename View::word;
  Keys keys;
  Values values;
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FUNCTION word item(std::uint64_t i) const {
    return View::protocol::item(keys(i), values(i));
  }
};
/// Source of items: those of the pairs whose indices are chosen.
template <class View, class Keys, class Values, class Indices>
struct chosen_pairs {
  using word = typename View::word;
  Keys keys;
  Values values;
  Indices which;
  KOKKOS_FUNCTION std::uint64_t size() const { return which.extent(0); }
  KOKKOS_FUNCTION word item(std::uint64_t i) const {
    return View::protocol::item(keys(which(i)), values(which(i)));
  }
};

/// Items of a source in tiles, all for the same regions.
template <class Source>
struct whole_source {
  Source source;
  KOKKOS_FUNCTION std::uint64_t begin(std::uint64_t tile, std::uint64_t items) const {
    return tile * items;
  }
  KOKKOS_FUNCTION std::uint64_t end(std::uint64_t tile, std::uint64_t items) const {
    std::uint64_t const last = (tile + 1) * items;
    return last < source.size() ? last : source.size();
  }
  KOKKOS_FUNCTION static std::uint64_t first_target(std::uint64_t) { return 0; }
  KOKKOS_FUNCTION auto item(std::uint64_t i) const { return source.item(i); }
};
/// Items of coarse regions in tiles, those of each for regions of their own.
template <class Word>
struct coarse_source {
  regions<Word> from;
  std::uint32_t tiles_each;
  int targets_each;
  KOKKOS_FUNCTION std::uint64_t begin(std::uint64_t tile, std::uint64_t items) const {
    return region_of(tile) * from.capacity + (tile - region_of(tile) * tiles_each) * items;
  }
  KOKKOS_FUNCTION std::uint64_t end(std::uint64_t tile, std::uint64_t items) const {
    std::uint64_t const r = region_of(tile), all = r * from.capacity + from.size(r);
    std::uint64_t const last = begin(tile, items) + items;
    return last < all ? last : all;
  }
  KOKKOS_FUNCTION std::uint64_t first_target(std::uint64_t tile) const {
    return region_of(tile) * static_cast<std::uint64_t>(targets_each);
  }
  KOKKOS_FUNCTION Word item(std::uint64_t i) const { return from.items[i]; }

 private:
  KOKKOS_FUNCTION std::uint64_t region_of(std::uint64_t tile) const {
    return static_cast<std::uint32_t>(tile) / tiles_each;
  }
};

/// Items that a team divides at once.
template <class Word>
inline constexpr int tile_items_of = 32768 / static_cast<int>(sizeof(Word));
/// Regions that one pass divides into: their counters share the scratch of a team with its items.
inline constexpr int max_regions = 2048;

/// One tile of a source to its regions: the group of a key, shifted, less the first of the tile's targets.
template <class ExecSpace, class View, class Source>
struct divide_tile {
  using word = typename View::word;
  using tune = tuning<ExecSpace>;
  static constexpr int threads = tune::threads, teams_at_once = 3;
  static constexpr int tile_items = tile_items_of<word>;
  static constexpr int each = tile_items / threads;
  static constexpr int max_targets = max_regions;

  /// What lies in a team's scratch.
  struct memory {
    word item[tile_items];  // in the order of their targets
    std::uint16_t target[tile_items];
    std::uint32_t begin[max_targets];  // of a target's run in the tile; at first its length
    // From an index of the tile to one of the region, in wrapping arithmetic.
    std::uint32_t run[max_targets];
  };
  static constexpr std::size_t scratch_bytes = sizeof(memory);
  static constexpr std::uint32_t nothing = ~std::uint32_t(0);

  View table;
  Source source;
  regions<word> to;
  int targets, shift;
  build_report* report;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto& m = *reinterpret_cast<memory*>(t.scratch());
    auto const tile = static_cast<std::uint64_t>(t.league_rank());
    std::uint64_t const first = source.begin(tile, tile_items), last = source.end(tile, tile_items);
    if (first >= last) return;
    std::uint64_t const first_target = source.first_target(tile);

    for (int r = t.rank(); r < targets; r += t.size()) m.begin[r] = 0;
    t.barrier();
    word item[each];
    std::uint32_t at[each];  // target : 16 | rank among the tile's items of that target : 16
    for (int j = 0; j < each; ++j) {
      std::uint64_t const i = first + index(t, j);
      item[j] = i < last ? source.item(i) : table.slot.empty_slot();
    }
    for (int j = 0; j < each; ++j) at[j] = place(m, item[j], first_target);
    t.barrier();
    std::uint64_t const valid = reserve(t, m, first_target);
    sort(m, item, at);
    t.barrier();
    std::uint64_t const left_out = write(t, m, valid, first_target);
    if (left_out != 0) device::add(&report->overflowing, left_out);
    if (t.rank() == 0 && valid != last - first) device::add(&report->invalid, last - first - valid);
  }

 private:
  template <class Team>
  KOKKOS_FUNCTION static std::uint64_t index(Team const& t, int j) {
    return static_cast<std::uint64_t>(j) * static_cast<std::uint64_t>(t.size()) +
           static_cast<std::uint64_t>(t.rank());
  }
  KOKKOS_FUNCTION std::uint32_t place(memory& m, word item, std::uint64_t first_target) const {
    if (!table.slot.live(item)) return nothing;
    std::uint64_t const group = table.group_of(table.hash_of_item(item));
    auto const r = static_cast<std::uint32_t>((group >> shift) - first_target);
    return r << 16 | device::fetch_add(device::scratch(m.begin + r), 1);
  }
  /// Turns lengths into where runs begin, and finds room for each. Returns: the items of the tile.
  template <class Team>
  KOKKOS_FUNCTION std::uint64_t reserve(Team const& t, memory& m,
                                        std::uint64_t first_target) const {
    int const share = (targets + t.size() - 1) / t.size();
    int const from = t.rank() * share, until = from + share < targets ? from + share : targets;
    std::uint64_t mine = 0, total = 0;
    for (int r = from; r < until; ++r) mine += m.begin[r];
    auto begin = static_cast<std::uint32_t>(t.prefix_sum(mine, total));
    for (int r = from; r < until; ++r) {
      std::uint32_t const count = m.begin[r];
      m.begin[r] = begin;
      if (count != 0) {
        std::uint64_t const at = device::fetch_add(to.fill + first_target + r, count);
        m.run[r] = static_cast<std::uint32_t>(at < to.capacity ? at : to.capacity) - begin;
      }
      begin += count;
    }
    t.barrier();
    return total;
  }
  // All reads come before the first write, which might change what they read, for all that a compiler knows.

  KOKKOS_FUNCTION static void sort(memory& m, word const (&item)[each],
                                   std::uint32_t const (&at)[each]) {
    std::uint32_t to_index[each];
    for (int j = 0; j < each; ++j)
      to_index[j] = at[j] == nothing ? nothing : m.begin[at[j] >> 16] + (at[j] & 0xffff);
    for (int j = 0; j < each; ++j) {
      if (at[j] == nothing) continue;
      m.item[to_index[j]] = item[j];
      m.target[to_index[j]] = static_cast<std::uint16_t>(at[j] >> 16);
    }
  }
  /// Returns: items of the thread for which there was no room.
  template <class Team>
  KOKKOS_FUNCTION std::uint64_t write(Team const& t, memory const& m, std::uint64_t valid,
                                      std::uint64_t first_target) const {
    constexpr int batch = each < 4 ? each : 4;
    static_assert(each % batch == 0);
    std::uint64_t left_out = 0;
    for (int first = 0; first < each; first += batch) {
      word* where[batch];
      word item[batch]{};
      for (int j = 0; j < batch; ++j) {
        std::uint64_t const i = index(t, first + j);
        where[j] = nullptr;
        if (i >= valid) continue;
        item[j] = m.item[i];
        std::uint32_t const r = m.target[i], at = m.run[r] + static_cast<std::uint32_t>(i);
        if (at < to.capacity)
          where[j] = to.begin(first_target + r) + at;
        else
          ++left_out;
      }
      for (int j = 0; j < batch; ++j)
        if (where[j] != nullptr) *where[j] = item[j];
    }
    return left_out;
  }
};

/// How n items are divided: into regions of 2^shift groups, in two passes where they are too many for one.
struct division {
  std::uint64_t regions = 1, capacity = 0;
  std::uint64_t coarse_regions = 0, coarse_capacity = 0;  ///< none: one pass
  int shift = 0, coarse_bits = 0;

  /// Room for the mean, 6.5 standard deviations and, for means near 1, 16 more: one region in 10^10 has more.
  static std::uint64_t room_for(double mean, std::uint64_t n) {
    auto const room = static_cast<std::uint64_t>(std::ceil(mean + 6.5 * std::sqrt(mean))) + 16;
    return room < n ? room : n;
  }
  static division of(std::uint64_t n, std::uint64_t groups, int shift, std::uint64_t max_targets) {
    division d;
    d.shift = shift;
    d.regions = ((groups - 1) >> shift) + 1;
    double const each = static_cast<double>(n) / static_cast<double>(groups) *
                        static_cast<double>(std::uint64_t(1) << shift);
    d.capacity = room_for(each, n);
    if (d.regions <= max_targets) return d;
    while ((std::uint64_t(1) << (2 * d.coarse_bits)) < d.regions &&
           (std::uint64_t(2) << d.coarse_bits) <= max_targets)
      ++d.coarse_bits;
    d.coarse_regions = ((d.regions - 1) >> d.coarse_bits) + 1;
    d.coarse_capacity = room_for(each * static_cast<double>(std::uint64_t(1) << d.coarse_bits), n);
    return d;
  }
  /// Throws std::length_error where two passes are not enough.
  void require_possible(std::uint64_t n) const {
    if (coarse_regions > max_regions)
      throw std::length_error("karpos: cuckoo_map cannot be built from so many keys at once (" +
                              std::to_string(n) + "): divide them among several maps");
  }
  std::uint64_t items() const { return regions * capacity; }
  std::uint64_t coarse_items() const { return coarse_regions * coarse_capacity; }
};

/// Divides the items of a source. `to` is the target, `coarse` room for a first pass where there are two; the counters
/// of both are zero. Asynchronous.
template <class ExecSpace, class View, class Source>
void divide(std::string const& label, ExecSpace const& exec, View const& table,
            Source const& source, division const& d, regions<typename View::word> const& coarse,
            regions<typename View::word> const& to, build_report* report) {
  using word = typename View::word;
  using from_source = divide_tile<ExecSpace, View, whole_source<Source>>;
  auto const tiles = [](std::uint64_t n) {
    return (n + from_source::tile_items - 1) / from_source::tile_items;
  };
  auto const league = static_cast<int>(tiles(source.size()));
  if (d.coarse_regions == 0) {
    device::for_each_in_league(
        label, exec, league,
        from_source{table, {source}, to, static_cast<int>(d.regions), d.shift, report});
    return;
  }
  using from_coarse = divide_tile<ExecSpace, View, coarse_source<word>>;
  device::for_each_in_league(label + " (coarse)", exec, league,
                             from_source{table,
                                         {source},
                                         coarse,
                                         static_cast<int>(d.coarse_regions),
                                         d.shift + d.coarse_bits,
                                         report});
  auto const tiles_each = static_cast<std::uint32_t>(tiles(d.coarse_capacity));
  int const targets_each = 1 << d.coarse_bits;
  device::for_each_in_league(
      label, exec, static_cast<int>(d.coarse_regions * tiles_each),
      from_coarse{table, {coarse, tiles_each, targets_each}, to, targets_each, d.shift, report});
}

}  // namespace karpos::detail::cuckoo
