// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>
#include <string>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/cuckoo/build_buckets.hpp"
#include "karpos/detail/cuckoo/items.hpp"
#include "karpos/detail/cuckoo/memory.hpp"
#include "karpos/detail/cuckoo/place.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/multisplit.hpp"
#include "karpos/detail/table_memory.hpp"
#include "karpos/device/league.hpp"

namespace karpos::detail::cuckoo {

/// One attempt to put items into a table, with one seed: splits them into regions, then builds the buckets of each
/// (two_level) or places them (dense).
template <class ExecSpace, class View>
class build_attempt {
 public:
  using word = typename View::word;
  using arrays = table_arrays<word, ExecSpace>;
  using workspace = build_workspace<word, ExecSpace>;
  using shape = table_shape<word>;
  using split_tuning = multisplit_tuning<ExecSpace>;

  build_attempt(std::string const& name, ExecSpace const& exec, View const& table, shape const& s,
                arrays const& a, workspace const& w)
      : m_name(name),
        m_exec(exec),
        m_table(table),
        m_shape(s),
        m_arrays(a),
        m_workspace(w) {}

  /// Regions for n items of a table.
  static multisplit_plan plan_for(std::uint64_t n, shape const& s) {
    auto p = plan_for_groups(n, s.groups, region_shift(s), split_tuning::max_targets);
    if (s.layout == cuckoo_layout::two_level)
      p.capacity = Kokkos::min<std::uint64_t>(p.capacity, builder::max_items);
    return p;
  }
  /// Whether the workspace of a build has to hold the coarse regions, the memory of the table being too small for them.
  static bool needs_coarse(multisplit_plan const& p, shape const& s) {
    return p.coarse_items() > s.slots;
  }

  /// Builds the table from the items of a source, whatever is in it. Waits for the report.
  template <class Source>
  build_report build(Source const& source) const {
    multisplit_plan const p = plan_for(source.size(), m_shape);
    split(source, p, needs_coarse(p, m_shape) ? nullptr : m_arrays.slots.data());
    if (m_shape.layout == cuckoo_layout::two_level) {
      device::for_each_in_league(label("build buckets"), m_exec, static_cast<int>(p.regions),
                                 builder{m_table, m_workspace.regions(p), m_workspace.report()});
      return report();
    }
    m_arrays.clear(m_name, m_exec, m_table.slot.empty_slot());
    place(p);
    build_report r = report();
    if (r.unplaced == 0)
      Kokkos::parallel_reduce(label("count duplicates"), index_range(m_exec, m_shape.slots),
                              count_shadowed_duplicates<View>{m_table}, r.duplicates);
    return r;
  }
  /// Adds the items of a source to a dense table, in a workspace with coarse regions. Waits for the report.
  template <class Source>
  build_report add(Source const& source) const {
    multisplit_plan const p = plan_for(source.size(), m_shape);
    split(source, p, nullptr);
    place(p);
    return report();
  }

 private:
  using builder = build_buckets<ExecSpace, View>;
  using placer = place_items<ExecSpace, View>;

  std::string label(char const* what) const { return table_label(m_name, what); }
  /// A region of two levels has the buckets of a team, a dense one is a partition.
  static int region_shift(shape const& s) {
    return s.layout == cuckoo_layout::dense
               ? 0
               : std::countr_zero(static_cast<unsigned>(builder::buckets));
  }

  template <class Source>
  void split(Source const& source, multisplit_plan const& p, word* coarse_memory) const {
    fill(label("clear counters"), m_exec, m_workspace.counters, 0);
    multisplit<split_tuning>(label("multisplit"), m_exec, source,
                             region_of_item<View>{m_table, region_shift(m_shape)}, p,
                             m_workspace.coarse_regions(p, coarse_memory), m_workspace.regions(p),
                             &m_workspace.report()->split);
  }
  void place(multisplit_plan const& p) const {
    placer const step{m_table, m_workspace.regions(p), m_workspace.report()};
    device::for_each_in_league(label("place"), m_exec,
                               static_cast<int>(p.regions * step.teams_each()), step);
  }
  build_report report() const {
    return read_back(m_exec, m_workspace.report(),
                     "karpos::cuckoo_map: whether every key has a place");
  }

  std::string m_name;
  ExecSpace m_exec;
  View m_table;
  shape m_shape;
  arrays m_arrays;
  workspace m_workspace;
};

}  // namespace karpos::detail::cuckoo
