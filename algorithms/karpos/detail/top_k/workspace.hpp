// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "karpos/detail/table_memory.hpp"
#include "karpos/detail/top_k/program.hpp"
#include "karpos/detail/top_k/row_query.hpp"
#include "karpos/device/program.hpp"

namespace karpos {

namespace detail::top_k {
template <class ExecSpace, class Lists, class Aggregate>
class search;
}

/// The memory of ranked queries, for any number of them, one at a time; copies share it. It fits lists of the same kind
/// of ids, as many or fewer, with as many objects or fewer, and up to max_k results.
///
/// A query by a weighted sum keeps a word for every object, and allocates nothing. Some keep all scores of every object they
/// see instead, in memory that the first of them allocates: those by stride_policy::paper; those for more than an eighth of
/// the objects; those whose scores are infinite, tie in thousands or are dwarfed by a few others. Queries by
/// other aggregates do so too; their workspace has the memory from the start. On GPUs sorting allocates: thousands of
/// finalists, and rows.
///
/// Memory: top_k_workspace_bytes.
template <execution_space ExecSpace, class Lists, class Aggregate = weighted_sum>
class top_k_workspace {
 public:
  using id_type = typename Lists::id_type;
  using score_type = typename Lists::score_type;
  using memory_space = typename Lists::memory_space;

  /// Throws: allocation_error if memory cannot be had. Waits.
  top_k_workspace(ExecSpace const& exec, Lists const& lists, std::uint64_t max_k)
      : m_size(lists, max_k),
        m_rows(std::make_shared<row_memory>()) {
    static_assert(detail::reaches<ExecSpace, Kokkos::View<int*, memory_space>>,
                  "karpos: the lists lie in a memory space that the execution space cannot reach; "
                  "copy them first");
    detail::allocated<memory_space>(bytes_for(exec, lists, max_k), [&] {
      if constexpr (by_cells)
        allocate(exec);
      else
        allocate_rows(exec);
      return 0;
    });
    exec.fence("karpos::top_k_workspace: made");
  }

  static std::size_t bytes_for(ExecSpace const& exec, Lists const& lists, std::uint64_t max_k) {
    sizes const n(lists, max_k);
    if constexpr (!by_cells) return row_memory::bytes_for(n.places, n.objects, n.lists);
    using detail::top_k::query_words;
    std::size_t const a_place = (n.small_cells() ? 4 : 8) + (n.dense ? 0 : sizeof(id_type));
    return n.places * a_place + (n.places + 31) / 32 * 4 + n.survivors * 8 +
           2 * sizeof(std::uint32_t) * histogram_classes + sizeof(query_words) +
           n.finals * (static_cast<std::size_t>(n.lists) * sizeof(double) + sizeof(entry)) +
           device::grid_memory<ExecSpace>::bytes_for(shape_of(exec));
  }

 private:
  template <class E, class L, class A>
  friend class detail::top_k::search;
  static constexpr bool by_cells = std::is_same_v<Aggregate, weighted_sum>;
  using row_memory = detail::top_k::row_memory<ExecSpace, id_type, score_type, memory_space>;
  using table = detail::top_k::object_table<id_type>;
  using entry = detail::top_k::ranked_object<id_type>;
  using tuned = detail::top_k::tuning<ExecSpace>;
  template <class T>
  using array = Kokkos::View<T*, memory_space>;
  template <class Cell>
  using state = detail::top_k::cell_state<ExecSpace, id_type, score_type, Cell>;
  static constexpr int histogram_classes =
      state<std::uint32_t>::classes::count > state<std::uint64_t>::classes::count
          ? state<std::uint32_t>::classes::count
          : state<std::uint64_t>::classes::count;

  /// What the arrays are dimensioned by.
  struct sizes {
    sizes(Lists const& l, std::uint64_t max_k)
        : lists(l.lists()),
          dense(l.is_dense()),
          objects(l.objects()),
          places(dense ? objects : table::places_for(objects)),
          k(max_k < objects ? max_k : objects),
          survivors(least(objects / 8 + 65536, objects)),
          finals(least(2 * k + 2048, survivors)) {
      constexpr std::uint64_t most = std::uint64_t(1) << 32;
      if (places > most)
        detail::reject("sorted lists have too many sparse ids for a ranked query",
                       std::to_string(objects), "say with sparse(at_most) how many differ");
    }
    /// They leave 24 bits for a sum, or more.
    bool small_cells() const { return dense && lists <= 8; }
    static std::uint64_t least(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

    int lists;
    bool dense;
    std::uint64_t objects, places, k, survivors, finals;
  };

  static device::grid_shape shape_of(ExecSpace const& exec) {
    constexpr std::size_t small = state<std::uint32_t>::team_bytes;
    constexpr std::size_t large = state<std::uint64_t>::team_bytes;
    return device::shape_for<tuned::team_threads, tuned::teams_per_processor, tuned::tile_width>(
        exec, small < large ? large : small, 0);
  }
  template <class T>
  static void make(array<T>& view, ExecSpace const& exec, char const* what, std::uint64_t n,
                   T const& value = T{}) {
    std::string const label = detail::table_label("top_k", what);
    view = detail::uninitialized_array<array<T>>(exec, label, n);
    detail::fill(label, exec, view, value);
  }
  void allocate(ExecSpace const& exec) {
    sizes const& n = m_size;
    make(m_keys, exec, "keys", n.dense ? 0 : n.places, table::empty);
    make(m_small_cells, exec, "cells", n.small_cells() ? n.places : 0);
    make(m_large_cells, exec, "cells", n.small_cells() ? 0 : n.places);
    make(m_marked, exec, "marked", (n.places + 31) / 32);
    for (auto& s : m_survivors) make(s, exec, "survivors", n.survivors);
    make(m_histogram, exec, "histogram", 2 * histogram_classes);
    make(m_words, exec, "words", 1);
    make(m_final_scores, exec, "final_scores", n.finals * static_cast<std::uint64_t>(n.lists));
    make(m_finals, exec, "finals", n.finals);
    m_grid = device::grid_memory<ExecSpace>(exec, shape_of(exec));
  }
  void allocate_rows(ExecSpace const& exec) const {
    std::size_t const bytes = row_memory::bytes_for(m_size.places, m_size.objects, m_size.lists);
    *m_rows = detail::allocated<memory_space>(bytes, [&] {
      row_memory made;
      made.allocate(exec, m_size.places, m_size.objects, m_size.lists, m_size.dense);
      return made;
    });
  }

  sizes m_size;
  array<typename table::word> m_keys;
  array<std::uint32_t> m_small_cells;
  array<std::uint64_t> m_large_cells;
  array<std::uint32_t> m_marked, m_survivors[2], m_histogram;
  array<detail::top_k::query_words> m_words;
  array<double> m_final_scores;
  array<entry> m_finals;
  device::grid_memory<ExecSpace> m_grid;
  std::shared_ptr<row_memory> m_rows;
};

/// Bytes that a top_k_workspace for these lists allocates. What is allocated later by the queries that it names: the
/// same of a workspace for another aggregate.
template <class Aggregate = weighted_sum, class Lists,
          execution_space ExecSpace = typename Lists::memory_space::execution_space>
std::size_t top_k_workspace_bytes(Lists const& lists, std::uint64_t k, ExecSpace const& exec = {}) {
  return top_k_workspace<ExecSpace, Lists, Aggregate>::bytes_for(exec, lists, k);
}

}  // namespace karpos
