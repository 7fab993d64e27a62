// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/space.hpp"

// Multisplit: moves items into regions of memory, each into the region that is its target, in no particular order.
//
//   source  | tile 0          | tile 1          | …                 a team sorts a tile by target in its scratch,
//             \ sort             \ sort                             reserves a run in every region with one atomic
//             | r0 | r1 | … |    | r0 | r1 | … |                    addition to the region's counter,
//               |    \______       /    |                           and writes runs: neighbours to neighbours
//   regions | r0: run run … room | r1: run run … room | …
//
// Regions have equal capacity: the mean and 6.5 standard deviations of what a hash function sends there, so that no
// histogram is needed; items beyond the capacity are left out and counted. Where there are more regions than a team has
// counters for, a first pass splits into coarse regions of 2^coarse_bits neighbours, and a second one splits these.
//
// karpos::partition (detail/partition/move.hpp) splits for the caller: it counts first, so that parts may be unequal and
// lie side by side, and may keep the order. Cuckoo maps need neither, and save the reading.
//
// Source: Ashkiani, Davidson, Meyer, Owens, "GPU multisplit", PPoPP 2016 (block-level multisplit); there a histogram
// and a scan come first, and the order is kept.

namespace karpos::detail {

/// Constants of a multisplit by execution space. H200, cuckoo_map built of 2^27 pairs: 4.0 ms, of which two passes take
/// 0.86 and 0.89; with 256 or 1,024 threads 5.3 to 6.3 ms.
template <class ExecSpace>
struct multisplit_tuning {
  static constexpr int threads = device::is_device<ExecSpace> ? 512 : 1;  ///< of a team
  static constexpr int teams_at_once = 3;                                 ///< on a multiprocessor
  static constexpr int tile_bytes = 32768;  ///< items that a team sorts in its scratch
  static constexpr int max_targets = 2048;  ///< regions of one pass: their counters are in scratch
};

/// What went wrong with items.
struct multisplit_report {
  std::uint64_t invalid = 0;      ///< items without a target
  std::uint64_t overflowing = 0;  ///< items that found no room in their region
};

/// Items in regions of equal capacity.
template <class Word>
struct multisplit_regions {
  Word* items = nullptr;
  std::uint64_t* fill = nullptr;  ///< items of each; more than the capacity if some were left out
  std::uint64_t capacity = 0;

  KOKKOS_FUNCTION std::uint64_t size(std::uint64_t r) const {
    return Kokkos::min(fill[r], capacity);
  }
  KOKKOS_FUNCTION Word* begin(std::uint64_t r) const { return items + r * capacity; }
};

/// How n items are split: how many regions there are and their capacity, in one pass or in two.
struct multisplit_plan {
  std::uint64_t regions = 1, capacity = 0;
  std::uint64_t coarse_regions = 0, coarse_capacity = 0;  ///< of the first pass of two; 0: one pass
  int coarse_bits = 0;  ///< a coarse region is 2^coarse_bits regions

  /// `mean`: items of a region, on average. max_targets: regions of one pass.
  static multisplit_plan of(std::uint64_t n, std::uint64_t regions, double mean,
                            std::uint64_t max_targets) {
    multisplit_plan p;
    p.regions = regions;
    p.capacity = capacity_for(mean, n);
    if (regions <= max_targets) return p;
    while ((std::uint64_t(1) << (2 * p.coarse_bits)) < regions &&
           (std::uint64_t(2) << p.coarse_bits) <= max_targets)
      ++p.coarse_bits;
    p.coarse_regions = ((regions - 1) >> p.coarse_bits) + 1;
    p.coarse_capacity =
        capacity_for(mean * static_cast<double>(std::uint64_t(1) << p.coarse_bits), n);
    return p;
  }
  /// Whether two passes are enough.
  bool is_possible(std::uint64_t max_targets) const { return coarse_regions <= max_targets; }
  std::uint64_t items() const { return regions * capacity; }
  std::uint64_t coarse_items() const { return coarse_regions * coarse_capacity; }

 private:
  /// The mean, 6.5 standard deviations and, for means near 1, 16 more: one region in 10^10 has more.
  static std::uint64_t capacity_for(double mean, std::uint64_t n) {
    auto const room = static_cast<std::uint64_t>(std::ceil(mean + 6.5 * std::sqrt(mean))) + 16;
    return Kokkos::min(room, n);
  }
};

/// Tiles of a source, whose items may have any target.
template <class Source>
struct tiles_of_source {
  Source source;
  KOKKOS_FUNCTION std::uint64_t begin(std::uint64_t tile, std::uint64_t items) const {
    return tile * items;
  }
  KOKKOS_FUNCTION std::uint64_t end(std::uint64_t tile, std::uint64_t items) const {
    return Kokkos::min((tile + 1) * items, source.size());
  }
  KOKKOS_FUNCTION static std::uint64_t first_target(std::uint64_t) { return 0; }
  KOKKOS_FUNCTION auto item(std::uint64_t i) const { return source.item(i); }
};
/// Tiles of coarse regions: the targets of each are `targets_each` regions of its own.
template <class Word>
struct tiles_of_coarse {
  multisplit_regions<Word> from;
  std::uint32_t tiles_each;
  int targets_each;
  KOKKOS_FUNCTION std::uint64_t begin(std::uint64_t tile, std::uint64_t items) const {
    return region_of(tile) * from.capacity + (tile - region_of(tile) * tiles_each) * items;
  }
  KOKKOS_FUNCTION std::uint64_t end(std::uint64_t tile, std::uint64_t items) const {
    std::uint64_t const r = region_of(tile);
    return Kokkos::min(begin(tile, items) + items, r * from.capacity + from.size(r));
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

/// Splits one tile: a step for the teams of a league.
template <class ExecSpace, class Word, class Tiles, class Target,
          class Tuning = multisplit_tuning<ExecSpace>>
struct multisplit_tile {
  static constexpr int threads = Tuning::threads, teams_at_once = Tuning::teams_at_once;
  static constexpr int tile_items = Tuning::tile_bytes / static_cast<int>(sizeof(Word));
  static constexpr int each = tile_items / threads;
  static constexpr int max_targets = Tuning::max_targets;

  /// What lies in a team's scratch.
  struct memory {
    Word item[tile_items];  // sorted by target
    std::uint16_t target[tile_items];
    std::uint32_t begin[max_targets];  // of a target's run in the tile; at first its length
    // From an index of the tile to one of the region, in wrapping arithmetic.
    std::uint32_t run[max_targets];
  };
  static constexpr std::size_t scratch_bytes = sizeof(memory);
  static constexpr std::uint32_t none = ~std::uint32_t(0);
  // An item's target and rank are packed into two halves of a word.
  static_assert(tile_items % threads == 0 && tile_items < (1 << 16) && max_targets < (1 << 16));

  Tiles tiles;
  Target target;
  multisplit_regions<Word> to;
  int targets;  ///< of a tile
  multisplit_report* report;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto& m = *reinterpret_cast<memory*>(t.scratch());
    auto const tile = static_cast<std::uint64_t>(t.league_rank());
    std::uint64_t const first = tiles.begin(tile, tile_items), last = tiles.end(tile, tile_items);
    if (first >= last) return;
    std::uint64_t const first_target = tiles.first_target(tile);

    for (int r = t.rank(); r < targets; r += t.size()) m.begin[r] = 0;
    t.barrier();
    Word item[each];
    std::uint32_t at[each];  // target : 16 | rank among the tile's items of that target : 16
    for (int j = 0; j < each; ++j) {
      std::uint64_t const i = first + index(t, j);
      item[j] = i < last ? tiles.item(i) : target.padding();
    }
    for (int j = 0; j < each; ++j) at[j] = rank_in_target(m, item[j], first_target);
    t.barrier();
    std::uint64_t const valid = reserve_runs(t, m, first_target);
    sort(m, item, at);
    t.barrier();
    std::uint64_t const left_out = write_runs(t, m, valid, first_target);
    if (left_out != 0) device::add(&report->overflowing, left_out);
    if (t.rank() == 0 && valid != last - first) device::add(&report->invalid, last - first - valid);
  }

 private:
  template <class Team>
  KOKKOS_FUNCTION static std::uint64_t index(Team const& t, int j) {
    return static_cast<std::uint64_t>(j) * static_cast<std::uint64_t>(t.size()) +
           static_cast<std::uint64_t>(t.rank());
  }
  KOKKOS_FUNCTION std::uint32_t rank_in_target(memory& m, Word item,
                                               std::uint64_t first_target) const {
    if (!target.is_valid(item)) return none;
    std::uint32_t const own = target(item) - static_cast<std::uint32_t>(first_target);
    return own << 16 | device::fetch_add(device::scratch(m.begin + own), 1);
  }
  /// Turns the lengths of runs into their begins in the tile, and reserves each in its region. Returns: the valid items
  /// of the tile.
  template <class Team>
  KOKKOS_FUNCTION std::uint64_t reserve_runs(Team const& t, memory& m,
                                             std::uint64_t first_target) const {
    int const targets_each = (targets + t.size() - 1) / t.size();
    int const from = t.rank() * targets_each, until = Kokkos::min(from + targets_each, targets);
    std::uint64_t mine = 0, total = 0;
    for (int r = from; r < until; ++r) mine += m.begin[r];
    auto begin = static_cast<std::uint32_t>(t.prefix_sum(mine, total));
    for (int r = from; r < until; ++r) {
      std::uint32_t const count = m.begin[r];
      m.begin[r] = begin;
      if (count != 0) {
        std::uint64_t const at = device::fetch_add(to.fill + first_target + r, count);
        m.run[r] = static_cast<std::uint32_t>(Kokkos::min(at, to.capacity)) - begin;
      }
      begin += count;
    }
    t.barrier();
    return total;
  }
  /// Moves the items of a thread to their runs. All loads come before the first store: a compiler must assume that they
  /// alias.
  KOKKOS_FUNCTION static void sort(memory& m, Word const (&item)[each],
                                   std::uint32_t const (&at)[each]) {
    std::uint32_t to_index[each];
    for (int j = 0; j < each; ++j)
      to_index[j] = at[j] == none ? none : m.begin[at[j] >> 16] + (at[j] & 0xffff);
    for (int j = 0; j < each; ++j) {
      if (at[j] == none) continue;
      m.item[to_index[j]] = item[j];
      m.target[to_index[j]] = static_cast<std::uint16_t>(at[j] >> 16);
    }
  }
  /// Writes the runs of a tile, neighbours to neighbours. Returns: items of the thread for which there was no room.
  template <class Team>
  KOKKOS_FUNCTION std::uint64_t write_runs(Team const& t, memory const& m, std::uint64_t valid,
                                           std::uint64_t first_target) const {
    constexpr int batch = each < 4 ? each : 4;
    static_assert(each % batch == 0);
    std::uint64_t left_out = 0;
    for (int first = 0; first < each; first += batch) {
      Word* where[batch];
      Word item[batch]{};
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

/// Moves the items of a source into regions.
///
///   source  size() and item(i), a Word
///   target  is_valid(item): whether the item has a target; target(item): the number of its region, 32 bits;
///           padding(): an item that is not valid; coarsened(bits): the target functor of regions 2^bits as large
///   coarse  regions of the first pass, where the plan has two; unused else
///
/// The counters of `to` and `coarse` and the report are zero beforehand; the report adds up over calls. Asynchronous.
/// Requires: plan.is_possible(max_targets).
template <class Tuning, class ExecSpace, class Word, class Source, class Target>
void multisplit(std::string const& label, ExecSpace const& exec, Source const& source,
                Target const& target, multisplit_plan const& plan,
                multisplit_regions<Word> const& coarse, multisplit_regions<Word> const& to,
                multisplit_report* report) {
  using first = multisplit_tile<ExecSpace, Word, tiles_of_source<Source>, Target, Tuning>;
  using second = multisplit_tile<ExecSpace, Word, tiles_of_coarse<Word>, Target, Tuning>;
  auto const tiles = [](std::uint64_t n) {
    return (n + first::tile_items - 1) / first::tile_items;
  };
  auto const league = static_cast<int>(tiles(source.size()));
  if (plan.coarse_regions == 0) {
    device::for_each_in_league(label, exec, league,
                               first{{source}, target, to, static_cast<int>(plan.regions), report});
    return;
  }
  device::for_each_in_league(label + " (coarse)", exec, league,
                             first{{source},
                                   target.coarsened(plan.coarse_bits),
                                   coarse,
                                   static_cast<int>(plan.coarse_regions),
                                   report});
  auto const tiles_each = static_cast<std::uint32_t>(tiles(plan.coarse_capacity));
  int const targets_each = 1 << plan.coarse_bits;
  device::for_each_in_league(
      label, exec, static_cast<int>(plan.coarse_regions * tiles_each),
      second{{coarse, tiles_each, targets_each}, target, to, targets_each, report});
}

}  // namespace karpos::detail
