// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>
#include <string>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/tables/cuckoo/build_buckets.hpp"
#include "karpos/detail/tables/cuckoo/items.hpp"
#include "karpos/detail/tables/cuckoo/memory.hpp"
#include "karpos/detail/tables/cuckoo/place.hpp"
#include "karpos/detail/tables/cuckoo/place_in_scratch.hpp"
#include "karpos/detail/tables/cuckoo/regions.hpp"
#include "karpos/detail/tables/table_memory.hpp"
#include "karpos/device/league.hpp"

namespace karpos::detail::cuckoo {

/// An attempt to put items into a table, with one seed: splits the items into regions, then builds
/// the buckets of each (two_level) or places the items (dense).
template <class ExecSpace, class View>
class build_attempt {
 public:
  using word = typename View::word;
  using arrays = table_arrays<word, ExecSpace>;
  using workspace = build_workspace<word, ExecSpace>;
  using shape = table_shape<word>;
  using plan_type = region_plan<ExecSpace, word>;

  build_attempt(std::string const& name, ExecSpace const& exec, View const& table, shape const& s,
                arrays const& a, workspace const& w)
      : m_name(name),
        m_exec(exec),
        m_table(table),
        m_shape(s),
        m_arrays(a),
        m_workspace(w) {}

  /// Returns the regions for n items of a table.
  static plan_type plan_for(std::uint64_t n, shape const& s) {
    constexpr std::uint64_t max_fixed_partitions =
                                partition::tuning<ExecSpace>::max_partitions(false),
                            one_pass = tune::on_device
                                           ? Kokkos::min(tune::max_regions, max_fixed_partitions)
                                           : ~std::uint64_t(0);
    bool const in_buckets = s.layout == cuckoo_layout::two_level;
    return {n, s.groups, region_shift(s), one_pass,
            in_buckets ? std::uint64_t(builder::max_items) : ~std::uint64_t(0)};
  }
  /// Returns whether the workspace of a build has to hold the coarse regions, because the memory of
  /// the table is too small for them.
  static bool needs_coarse(plan_type const& p, shape const& s) {
    return p.split.coarse_places() > s.slots;
  }

  /// Builds the table from the items of a source, whatever it contains. Blocks until it is built.
  template <class Source>
  build_report build(Source const& source) const {
    plan_type const p = plan_for(source.size(), m_shape);
    bool const with_coarse = needs_coarse(p, m_shape);
    auto const memory = m_workspace.arrays(m_exec, p, with_coarse);
    split(source, memory, with_coarse ? memory.coarse_items : m_arrays.slots.data());
    auto const league = static_cast<int>(p.regions);
    if (m_shape.layout == cuckoo_layout::two_level) {
      device::for_each_in_league(label("build buckets"), m_exec, league,
                                 builder{m_table, memory.regions(), memory.report});
      return report(memory);
    }
    if constexpr (places_in_scratch)
      if (m_shape.windows <= scratch_placer::max_windows) {
        device::for_each_in_league(label("place in scratch"), m_exec, league,
                                   scratch_placer{m_table, memory.regions(), memory.report});
        return report(memory);
      }
    m_arrays.clear(m_name, m_exec, m_table.slot.empty_slot());
    place(p, memory);
    build_report r = report(memory);
    if (r.unplaced == 0)
      Kokkos::parallel_reduce(label("count duplicates"), index_range(m_exec, m_shape.slots),
                              count_shadowed_duplicates<View>{m_table}, r.duplicates);
    return r;
  }
  /// Adds the items of a source to a dense table, in a workspace with coarse regions. Blocks until
  /// they are added.
  template <class Source>
  build_report add(Source const& source) const {
    plan_type const p = plan_for(source.size(), m_shape);
    auto const memory = m_workspace.arrays(m_exec, p, true);
    split(source, memory, memory.coarse_items);
    place(p, memory);
    return report(memory);
  }

 private:
  using tune = tuning<ExecSpace>;
  using builder = build_buckets<ExecSpace, View>;
  using placer = place_items<ExecSpace, View>;
  using scratch_placer = place_in_scratch<ExecSpace, View>;
  using memory_type = split_memory<ExecSpace, word>;
  static constexpr bool places_in_scratch =
      tune::on_device && tune::has_shared_memory && sizeof(word) == 8;

  std::string label(char const* what) const { return table_label(m_name, what); }
  /// Returns log2 of the groups of a region, which are a team's buckets (two_level) or one
  /// partition (dense).
  static int region_shift(shape const& s) {
    return s.layout == cuckoo_layout::dense
               ? 0
               : std::countr_zero(static_cast<unsigned>(builder::buckets));
  }

  template <class Source>
  void split(Source const& source, memory_type const& memory, word* coarse) const {
    cuckoo::split_by_region(label("clear counters"), m_exec, m_table, source, memory, coarse);
  }
  void place(plan_type const& p, memory_type const& memory) const {
    placer const step{m_table, memory.regions(), p.capacity(), memory.report};
    device::for_each_in_league(label("place"), m_exec,
                               static_cast<int>(p.regions * step.teams_each()), step);
  }
  build_report report(memory_type const& memory) const {
    return read_back(m_exec, memory.report, "karpos::cuckoo_map: whether every key has a place");
  }

  std::string m_name;
  ExecSpace m_exec;
  View m_table;
  shape m_shape;
  arrays m_arrays;
  workspace m_workspace;
};

}  // namespace karpos::detail::cuckoo
