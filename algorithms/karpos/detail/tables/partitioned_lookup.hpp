// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/common/host_views.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/partition/restore.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/region_split.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/streaming.hpp"
#include "karpos/device/team.hpp"
#include "karpos/key_value.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// Bulk lookups, of every table: one key after the other, or by partitions (region_split.hpp).
//
//   split     2 4 1 3 . | 7 9 8 6 .    queries by region of the table
//   lookups   region 0 while it is in the cache, then region 1; results beside their queries
//   restore   the results go back to the callers' order, by the tiles of the split
//
// The path of one query: split_rows hashes it once and moves it to its region's partition. A
// thread of look_up_chunk searches the first two buckets of its path. If they do not decide, its
// index goes to a list in scratch (shared memory), and the threads of the team share the list:
// otherwise a whole warp would wait for its longest path. restore_order brings the result back.
//
// Figures: docs/hash_map.md, perf/results/h100/past_the_line.md. Tests: partitioned_lookup,
// restore_order.

namespace karpos::detail {

/// Whether queries may be looked up by partitions: they may be split, and the split can bring
/// Results back.
template <class ExecSpace, class Table, class Queries, class Result>
inline constexpr bool may_partition_lookups =
    may_split_by_region<ExecSpace, Table, Queries> && sizeof(Result) <= 8 &&
    std::has_single_bit(sizeof(Result)) && std::is_default_constructible_v<Result>;

/// In place of a Write: counts the queries that are stored.
struct only_count {};

/// Constants of look_up_chunk.
template <class ExecSpace>
struct lookup_tuning {
  static constexpr int threads = 256, teams_at_once = 8;
  /// Queries of a thread, which it loads at once, by their bytes. H100, 2^27 queries of 4 bytes,
  /// load 0.5 and 0.9, G/s: two of them 40.4 and 36.6, four 41.0 and 36.2; of 8 bytes at load 0.8:
  /// one 24.8, two 24.3.
  static constexpr std::uint32_t each(std::size_t query_bytes) { return query_bytes == 4 ? 2 : 1; }
};

/// The type of results that a lookup writes. Truth values are bytes: restore_order copies any byte
/// for a query that overflowed.
template <class Table, class Write>
using lookup_result = std::conditional_t<
    std::is_same_v<std::decay_t<std::invoke_result_t<Write, found<typename Table::mapped_type>>>,
                   bool>,
    std::uint8_t, std::decay_t<std::invoke_result_t<Write, found<typename Table::mapped_type>>>>;

/// A step: a team looks up a chunk of the queries of a partition. Partitions: which ones, and where
/// they lie.
template <class ExecSpace, class Table, class Query, class Result, class Write,
          class Partitions = partition::partitions_in_order<Query>>
struct look_up_chunk {
  using tuned = lookup_tuning<ExecSpace>;
  static constexpr int threads = tuned::threads, teams_at_once = tuned::teams_at_once;
  static constexpr std::uint32_t each = tuned::each(sizeof(Query)), chunk = each * threads;
  static constexpr std::size_t scratch_bytes = 16 + chunk * sizeof(std::uint16_t);
  static constexpr bool counts = std::is_same_v<Write, only_count>;
  /// Buckets of a path that are searched before the query is put on the list of the team.
  static constexpr int first_buckets = 2;

  Table table;
  Partitions in;
  std::uint32_t chunks;  // of a partition
  Query const* all_queries;
  Result* all_results;  // beside the queries; or their count
  Write write;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const at = in.chunk_of(static_cast<std::uint32_t>(t.league_rank()), chunks);
    std::uint32_t const n = at.n, p = in.number_of(n), first = at.chunk * chunk,
                        stored = in.stored_rows(n);
    if (first >= stored) return;
    Query const* const queries = in.array_of(n, all_queries);
    Result* const results = counts ? all_results : in.array_of(n, all_results);
    std::uint32_t const rows = stored - first;
    std::uint64_t const begin = std::uint64_t(p) * in.capacity + first;
    auto* const undecided = reinterpret_cast<std::uint32_t*>(t.scratch());
    auto* const stored_here = undecided + 1;
    auto* const list = reinterpret_cast<std::uint16_t*>(t.scratch() + 16);
    if (t.rank() == 0) *undecided = *stored_here = 0;
    t.barrier();
    struct alignas(each * sizeof(Result)) piece {
      Result of[each];
    } found_values{};
    std::uint32_t count = 0;
    std::uint32_t const mine = device::rank(t) * each;
    Query query[each];
    bool const whole = mine + each <= rows;
    if (whole)
      device::load_streamed<each>(queries + begin + mine, query);
    else
      for (std::uint32_t j = 0; j < each; ++j)
        if (mine + j < rows) query[j] = queries[begin + mine + j];
    KARPOS_UNROLL
    for (std::uint32_t j = 0; j < each; ++j)
      if (mine + j < rows) {
        answer a;
        if (!try_decide(query[j], a))
          list[device::fetch_add(device::scratch(undecided), 1u)] =
              static_cast<std::uint16_t>(mine + j);
        if constexpr (counts)
          count += a.present;
        else
          found_values.of[j] = write(a);
      }
    if constexpr (!counts) {
      if (whole)
        *reinterpret_cast<piece*>(results + begin + mine) = found_values;
      else
        for (std::uint32_t j = 0; j < each; ++j)
          if (mine + j < rows) results[begin + mine + j] = found_values.of[j];
    }
    t.barrier();
    for (std::uint32_t i = device::rank(t), end = *undecided; i < end; i += device::size(t)) {
      std::uint64_t const k = begin + list[i];
      answer const a = go_on(queries[k]);
      if constexpr (counts)
        count += a.present;
      else
        results[k] = write(a);
    }
    if constexpr (counts) {
      device::fetch_add(device::scratch(stored_here), count);
      t.barrier();
      if (t.rank() == 0) device::add(results, std::uint64_t(*stored_here));
    }
  }

 private:
  using answer = found<typename Table::mapped_type>;
  using thread = one_thread<Table>;
  static constexpr auto access = device::access::frozen;

  /// Searches the first buckets of the path. Returns whether they decide, and then the answer.
  KOKKOS_FORCEINLINE_FUNCTION bool try_decide(Query const& q, answer& a) const {
    if (table.reserved(q)) return true;
    auto path = table.start(q);
    auto const holds = table.holds(q);
    KARPOS_UNROLL
    for (int bucket = 0; bucket < first_buckets; ++bucket) {
      if (bucket != 0) table.advance(path);
      auto s = table.template find_step<access>(thread{}, path, holds);
      if (s.decided()) {
        a = s.answer();
        return true;
      }
      if (s.ended()) return true;
    }
    return false;
  }
  /// Searches the rest of the path.
  KOKKOS_FORCEINLINE_FUNCTION answer go_on(Query const& q) const {
    auto path = table.start(q);
    auto const holds = table.holds(q);
    KARPOS_UNROLL
    for (int bucket = 0; bucket < first_buckets; ++bucket) table.advance(path);
    if (table.past_end(path)) return {};
    auto const step = [&](auto& at) {
      return table.template find_step<access>(thread{}, at, holds);
    };
    return probe<probe_reach::whole_path>(table, path, answer{}, step).answer();
  }
};

/// Looks up the queries of partitions: writes results, or adds to the count, as look_up_chunk says.
/// Asynchronous.
template <class ExecSpace, class Table, class Query, class Partitions, class Result, class Write>
void look_up_partitions(ExecSpace const& exec, std::string const& label, Table const& table,
                        Partitions const& in, Query const* queries, Result* results,
                        Write const& write) {
  using step = look_up_chunk<ExecSpace, Table, Query, Result, Write, Partitions>;
  std::uint32_t const chunks = (in.capacity + step::chunk - 1) / step::chunk;
  device::for_each_in_league(label, exec, in.partitions * static_cast<int>(chunks),
                             step{table, in, chunks, queries, results, write});
}
template <class ExecSpace, class Table, class Query, class Result, class Write>
void look_up_partitions(ExecSpace const& exec, std::string const& label, Table const& table,
                        partition::partitioned_rows<Query> const& queries, Result* results,
                        Write const& write) {
  detail::look_up_partitions(exec, label, table, partition::partitions_in_order<Query>{queries.in},
                             static_cast<Query const*>(queries.rows), results, write);
}

/// Looks one query up. Body: a lookup_body.
template <class Body>
struct look_up_one {
  Body body;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto path = body.stage(i);
    body(i, path);
  }
};

/// Bulk lookups of queries in a table. Write: the result of what was found. Row: what is split, a
/// query or a key_value of it and its number, which the table then takes for the query.
template <class ExecSpace, class Table, class Queries, class Out, class Write,
          class Row = typename Queries::non_const_value_type>
class partitioned_lookup {
  using held = device::held_by_loop<ExecSpace, Queries>;
  static constexpr bool has_numbers = !std::is_same_v<Row, typename Queries::non_const_value_type>;
  using result = lookup_result<Table, Write>;
  using source = std::conditional_t<has_numbers, partition::keys_and_values<Row, held, row_numbers>,
                                    partition::keys_only<held>>;
  using split_type = region_split<ExecSpace, Table, source>;

 public:
  partitioned_lookup(ExecSpace const& exec, std::string const& label, Table const& table,
                     Write const& write, table_regions const& plan)
      : m_exec(exec),
        m_label(label),
        m_table(table),
        m_write(write),
        m_plan(plan) {}

  std::size_t bytes(Queries const& queries) const {
    return memory(*this, slice(queries, 0), nullptr).bytes;
  }
  /// Looks queries up, in memory of bytes(queries). Asynchronous.
  void run(Queries const& queries, Out const& out, std::byte* at) const {
    for (std::uint64_t i = 0; i < queries.extent(0); i += m_plan.batch)
      run_batch(slice(queries, i), at, [&](auto const&...) { return slice(out, i); });
  }
  /// Splits a batch, then calls after_split(split, rows), which returns the output of the lookups.
  /// Looks nothing up if that is null.
  template <class AfterSplit>
  void run_batch(Queries const& queries, std::byte* at, AfterSplit const& after_split) const {
    memory const m(*this, queries, at);
    m.split.run(m.rows);
    Out const out = after_split(m.split, static_cast<Row const*>(m.rows));
    if (out.data() == nullptr) return;
    detail::look_up_partitions(m_exec, m_label, m_table, m.split.rows_in(m.rows), m.results,
                               m_write);
    partition::restore_order(m_exec, m.split.record(), static_cast<result const*>(m.results),
                             device::for_loop<ExecSpace>(out));
    auto const body = make_keyed_body<lookup_body, 0>(m_table, queries, out, m_write, everything{});
    m.split.for_each_overflowed(look_up_one<std::decay_t<decltype(body)>>{body});
  }

 private:
  struct memory {
    split_type split;
    Row* rows;
    result* results;
    std::size_t bytes;

    memory(partitioned_lookup const& in, Queries const& queries, std::byte* at)
        : split(in.m_exec, in.m_table, source_of(queries), in.m_plan) {
      arena a(at);
      split.allocate_from(a);
      a.allocate(rows, split.places());
      a.allocate(results, split.places());
      bytes = a.bytes();
    }
  };
  static source source_of(Queries const& queries) {
    held const keys = device::for_loop<ExecSpace>(queries);
    if constexpr (has_numbers)
      return source(keys, row_numbers{});
    else
      return source(keys);
  }
  /// Returns the batch of a view that begins at `first`.
  template <class View>
  View slice(View const& view, std::uint64_t first) const {
    std::uint64_t const end = Kokkos::min(first + m_plan.batch, std::uint64_t(view.extent(0)));
    if constexpr (Kokkos::is_view_v<View>)
      return Kokkos::subview(view, std::pair(first, end));
    else
      return view.slice(first, end);
  }

  ExecSpace m_exec;
  std::string m_label;
  Table m_table;
  Write m_write;
  table_regions m_plan;
};

/// Calls f(lookup) if queries are looked up by partitions: if such lookups can be, and the plan for
/// a table of table_bytes bytes says so. Out: the view of results.
template <class Stencil, class Out, class ExecSpace, class Table, class Queries, class Write,
          class F>
void with_partitioned_lookup(ExecSpace const& exec, std::string const& label, Table const& table,
                             std::uint64_t table_bytes, Queries const& queries, Write const& write,
                             bulk_strategy strategy, F const& f) {
  using result = std::decay_t<std::invoke_result_t<Write, found<typename Table::mapped_type>>>;
  if constexpr (std::is_same_v<Stencil, everything> &&
                may_partition_lookups<ExecSpace, Table, Queries, result>) {
    auto const plan = detail::plan_regions(exec, table_bytes, queries.extent(0), strategy);
    if (!plan.is_direct())
      f(partitioned_lookup<ExecSpace, Table, Queries, Out, Write>(exec, label, table, write, plan));
  }
}
/// Stands for a function whose results are of type Result.
template <class Result>
struct any_result {
  template <class T>
  KOKKOS_FUNCTION Result operator()(found<T> const&) const {
    return Result{};
  }
};
/// Returns the bytes of workspace that lookups of queries take, whose results are of type Result.
template <class Result, class ExecSpace, class Table, class Queries>
std::size_t lookup_bytes(ExecSpace const& exec, Table const& table, std::uint64_t table_bytes,
                         Queries const& queries, bulk_strategy strategy) {
  std::size_t bytes = 0;
  detail::with_partitioned_lookup<everything, Queries>(
      exec, "look up", table, table_bytes, queries, any_result<Result>{}, strategy,
      [&](auto const& lookup) { bytes = lookup.bytes(queries); });
  return bytes;
}
/// Returns whether results replace queries: result i the query i, of as many bytes. Lookups by
/// partitions would read overflowed queries after that.
template <class Out, class Queries>
bool replaces_queries(Out const& out, Queries const& queries) {
  bool const same_places = static_cast<void const*>(out.data()) == queries.data() &&
                           (out.extent(0) < 2 || out.stride(0) == queries.stride(0));
  return same_places && sizeof(*out.data()) == sizeof(*queries.data());
}
/// Throws std::invalid_argument if the output overlaps the queries and does not replace them; of
/// strided views only the first elements are compared.
template <class Out, class Queries>
void require_apart_or_replacing(Out const& out, Queries const& queries) {
  if (replaces_queries(out, queries)) return;
  require_apart_if_strided_too("the output", out, queries);
}
/// Enqueues lookups of queries in views that kernels reach: writes write(what was found) to out.
/// Distance: the keys in flight of a CPU thread.
template <int Distance, class ExecSpace, class Table, class Queries, class Out, class Write,
          class Stencil>
void enqueue_lookups(ExecSpace const& exec, std::string const& label, Table const& table,
                     std::uint64_t table_bytes, Queries const& queries, Out const& out,
                     Write const& write, Stencil const& stencil, bulk_options const& bulk) {
  bool is_done = false;
  detail::with_partitioned_lookup<Stencil, Out>(
      exec, label, table, table_bytes, queries, write, bulk.strategy, [&](auto const& lookup) {
        if (detail::replaces_queries(out, queries)) return;
        auto const memory = detail::try_workspace(exec, bulk.workspace, lookup.bytes(queries));
        if (!memory) return;
        lookup.run(queries, out, memory->data());
        memory->release();
        is_done = true;
      });
  if (is_done) return;
  device::for_each_staged<Distance>(
      label, exec, queries.extent(0),
      detail::make_keyed_body<lookup_body, Distance>(table, queries, out, write, stencil));
}
/// Looks up queries in views that may be on the host, as enqueue_lookups does. with_table(f) calls
/// f with the table.
template <int Distance, class ExecSpace, class WithTable, class Queries, class Out, class Write,
          class Stencil>
void look_up(ExecSpace const& exec, std::string const& label, WithTable const& with_table,
             std::uint64_t table_bytes, Queries const& queries, Out const& out, Write const& write,
             Stencil const& stencil, bulk_options const& bulk) {
  detail::require_enumerators(bulk.strategy);
  detail::require_same_extent("queries", queries.extent(0), "the output", out.extent(0));
  detail::require_stencil("queries", queries, stencil);
  detail::require_apart_or_replacing(out, queries);
  detail::in_batches(
      exec, queries.extent(0),
      [&](auto const& instance, auto const& q, auto const& o, auto const& s) {
        detail::require_reachable<ExecSpace, std::decay_t<decltype(q)>, std::decay_t<decltype(o)>,
                                  view_type_of<std::decay_t<decltype(s)>>>();
        with_table([&](auto const& table) {
          detail::enqueue_lookups<Distance>(instance, label, table, table_bytes, q, o, write, s,
                                            detail::options_of_batch(exec, instance, bulk));
        });
      },
      detail::input{queries}, detail::output{out}, detail::input{stencil});
}

}  // namespace karpos::detail
