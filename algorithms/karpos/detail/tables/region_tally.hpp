// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/partition/restore.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/region_split.hpp"
#include "karpos/detail/tables/scans.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/table_options.hpp"

// Bulk operations by region of the table whose outcomes are counted, not written: insertions,
// erasures, and the number of queries that are stored. Rows are split (region_split.hpp); then a
// kernel has a thread for each place of the partitions, in their order, so that one region after
// the other is in the cache. If rows overflowed, another kernel handles them in place.
//
// Figures: docs/hash_map.md. Tests: partitioned_lookup.

namespace karpos::detail {

// The keys and the values of the rows of a source, as the bodies of bulk kernels read them.

template <class Source>
struct keys_of_source {
  Source source;
  KOKKOS_FUNCTION auto operator()(std::uint64_t i) const { return Source::key_of(source.load(i)); }
};
template <class Source, class T>
struct values_of_source {
  Source source;
  KOKKOS_FUNCTION T operator()([[maybe_unused]] std::uint64_t i) const {
    if constexpr (is_no_value<T>)
      return {};
    else
      return source.load(i).value;
  }
};

/// The number of queries that are stored.
struct stored_count {
  std::uint64_t stored = 0;

  static constexpr int counters = 1;
  KOKKOS_FUNCTION constexpr std::uint64_t& operator[](int) { return stored; }
  KOKKOS_FUNCTION constexpr stored_count& operator+=(stored_count const& other) {
    stored += other.stored;
    return *this;
  }
};
/// A staged body that counts the queries that are stored.
template <class Table, class Queries>
struct count_stored : count_present_body<Table, Queries> {
  static constexpr unsigned threads_at_once = 0;
  KOKKOS_FUNCTION std::uint64_t stage(std::uint64_t i) const {
    std::uint64_t stored = 0;
    count_present_body<Table, Queries>::operator()(i, stored);
    return stored;
  }
  KOKKOS_FUNCTION device::staged_result operator()(std::uint64_t, std::uint64_t stored) const {
    return stored != 0 ? device::staged_result::counted(0) : device::staged_result::done();
  }
};

// These make the staged body of an operation for the rows of a source.

template <class Table>
struct erase_rows {
  Table const& table;
  template <class Source>
  auto operator()(Source const& rows) const {
    using keys = keys_of_source<Source>;
    return erase_body<0, Table, keys>{{device::for_loop<space>(table), keys{rows}}};
  }

 private:
  using space = typename Table::execution_space;
};
template <class Table>
struct count_rows {
  /// Teams count the queries of a region, as they look them up: they share those of long paths.
  static constexpr bool by_teams = true;
  Table const& table;
  template <class Source>
  auto operator()(Source const& rows) const {
    using keys = keys_of_source<Source>;
    return count_stored<device::held_by_loop<space, Table>, keys>{
        {device::for_loop<space>(table), keys{rows}}};
  }

 private:
  using space = typename Table::execution_space;
};
template <class Table, class Combine>
struct insert_rows {
  Table const& table;
  Combine const& combine;
  template <class Source>
  auto operator()(Source const& rows) const {
    using keys = keys_of_source<Source>;
    using values = values_of_source<Source, typename Table::mapped_type>;
    return insert_body<0, Table, keys, values, Combine, everything>{
        {device::for_loop<space>(table), keys{rows}}, values{rows}, combine, {}};
  }

 private:
  using space = typename Table::execution_space;
};

/// Returns the source of keys [first, last).
template <class ExecSpace, class Keys>
auto source_of_keys(Keys const& keys, std::uint64_t first, std::uint64_t last) {
  auto const part = detail::slice_of(keys, first, last);
  using held = device::held_by_loop<ExecSpace, std::remove_const_t<decltype(part)>>;
  return partition::keys_only<held>(device::for_loop<ExecSpace>(part));
}

/// A staged body for the indices that `chosen` selects. For others the body is not called at all.
template <class Body, class Chosen>
struct chosen_rows {
  static constexpr unsigned threads_at_once = Body::threads_at_once;
  Body body;
  Chosen chosen;
  KOKKOS_FUNCTION bool stage(std::uint64_t i) const { return chosen(i); }
  KARPOS_STEP_FUNCTION device::staged_result operator()(std::uint64_t i, bool is_chosen) const {
    if (!is_chosen) return device::staged_result::done();
    auto path = body.stage(i);
    return body(i, path);
  }
};

/// A bulk operation on the rows of a source by regions of a table. Tally: counts of outcomes.
template <class Tally, class ExecSpace, class Table, class Source>
class region_tally {
  using row = typename Source::row;
  using stored_rows = partition::rows_of_array<Source>;

 public:
  region_tally(ExecSpace const& exec, Table const& table, Source const& source,
               table_regions const& plan)
      : m_exec(exec),
        m_source(source),
        m_split(exec, table, source, plan) {}

  /// Returns the bytes of memory that run takes.
  std::size_t bytes() const { return memory(*this, nullptr).bytes; }

  /// Handles all rows, in memory of bytes(). make_body(source) returns the staged body for the rows
  /// of a source. Returns the counts of outcomes. Blocks.
  template <class MakeBody>
  Tally run(std::string const& label, MakeBody const& make_body, std::byte* at) const {
    memory const m(*this, at);
    m.split.run(m.rows);
    Tally done;
    if constexpr (requires { MakeBody::by_teams; }) {
      fill_words("karpos::hash_table: clear count", m_exec, m.counts, 1, 0);
      detail::look_up_partitions(m_exec, label, make_body.table, m.split.rows_in(m.rows),
                                 &m.counts->stored, only_count{});
      done = read_back(m_exec, m.counts, label + ": counts");
    } else {
      done = tally(label + " by regions", m, m.split.places(),
                   make_body(stored_rows(m.rows, m.split.places())),
                   partition::holds_row<row>{m.split.rows_in(m.rows).in});
    }
    if (read_back(m_exec, m.split.overflowed(), label + ": overflowed rows") != 0)
      done += tally(label + " overflowed rows", m, m_source.size(), make_body(m_source),
                    m.split.overflowed_rows());
    return done;
  }

 private:
  using split_type = region_split<ExecSpace, Table, Source>;
  struct memory {
    split_type split;
    row* rows;
    Tally* counts;
    std::size_t bytes;

    memory(region_tally const& in, std::byte* at) : split(in.m_split) {
      arena a(at);
      split.allocate_from(a, false);
      a.allocate(rows, split.places());
      a.allocate(counts, 1);
      bytes = a.bytes();
    }
  };
  template <class Body, class Chosen>
  Tally tally(std::string const& label, memory const& m, std::uint64_t n, Body const& body,
              Chosen const& chosen) const {
    Kokkos::View<Tally, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged> const counts(
        m.counts);
    device::tally_each_staged<0>(label, m_exec, n, chosen_rows<Body, Chosen>{body, chosen}, counts);
    return read_back(m_exec, m.counts, label + ": counts");
  }

  ExecSpace m_exec;
  Source m_source;
  split_type m_split;
};

/// Handles n rows by regions of a table, in the caller's memory or its own, if that is planned and
/// there is memory. Returns whether it did; then adds the outcomes to `done`. make_source(first,
/// last) returns the source of rows [first, last), make_body(source) the body for the rows of a
/// source. Blocks.
template <class Tally, class ExecSpace, class Table, class MakeSource, class MakeBody>
bool try_tally_by_regions(ExecSpace const& exec, std::string const& label, Table const& table,
                          table_regions const& plan, std::uint64_t n, wrapped_memory const& given,
                          MakeSource const& make_source, MakeBody const& make_body, Tally& done) {
  if (plan.is_direct()) return false;
  auto const batch = [&](std::uint64_t first) {
    auto const source = make_source(first, Kokkos::min(first + plan.batch, n));
    return region_tally<Tally, ExecSpace, Table, std::remove_const_t<decltype(source)>>(
        exec, table, source, plan);
  };
  auto const w = detail::try_workspace(exec, given, batch(0).bytes());
  if (!w) return false;
  for (std::uint64_t first = 0; first < n; first += plan.batch)
    done += batch(first).run(label, make_body, w->data());
  w->release();
  return true;
}

}  // namespace karpos::detail

template <>
struct Kokkos::reduction_identity<karpos::detail::stored_count> {
  KOKKOS_FUNCTION static karpos::detail::stored_count sum() { return {}; }
};
