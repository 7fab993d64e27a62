// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/key_sampler.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/reduce_by_key/aggregate.hpp"
#include "karpos/detail/relational/reduce_by_key/in_fixed_partitions.hpp"
#include "karpos/detail/relational/reduce_by_key/plan.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/tuning.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/table_options.hpp"

// The host driver of a reduction by key: memory, and the rounds (drawing in rows.hpp).

namespace karpos::detail::reduce_by_key {

template <class Source>
struct copy_rows {
  Source source;
  typename Source::row* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to[i] = source.make(source.load(i), i); }
};

template <class ExecSpace, class Row, class Result, class Op>
class reduction {
  using tuned = tuning<ExecSpace>;
  using size = sizes<ExecSpace, Row>;
  /// A round leaves at most about half of its rows to the next one, unless the keys were chosen to
  /// meet in one partition. Each round splits with another multiplier, so only keys that were
  /// chosen against all of them reach this limit.
  static constexpr std::uint64_t max_rounds = 100;
  using in_fixed_partitions = reduction_in_fixed_partitions<ExecSpace, Row, Result, Op>;

 public:
  reduction(ExecSpace const& exec, memory<ExecSpace, Row> const& m, Result const& result,
            Op const& op)
      : m_exec(exec),
        m_memory(m),
        m_result(result),
        m_op(op) {}

  /// Reduces a source. Returns the number of groups. Waits.
  template <class Source>
  std::uint64_t run(Source const& source) const {
    if constexpr (device::is_device<ExecSpace>)
      if (in_fixed_partitions::can_reduce(source.size())) return run_in_fixed_partitions(source);
    return run_rounds(run_first_round(source));
  }

 private:
  /// Runs the first round in fixed-capacity partitions, then further ones with its partial rows.
  /// Further rounds reuse the memory of the partitions. If rows were lost, reduces all rows again.
  template <class Source>
  std::uint64_t run_in_fixed_partitions(Source const& source) const {
    in_fixed_partitions const first(m_exec, m_memory.in_fixed_partitions, m_memory.counts, m_result,
                                    m_op);
    counters const counts = first.run(source);
    if (first.has_array_overflow(counts)) return run_rounds(run_first_round(source));
    reduction rest = *this;
    rest.m_memory.split = m_memory.in_fixed_partitions.fixed_partitions;
    rest.m_memory.partial = m_memory.in_fixed_partitions.partial();
    return rest.run_rounds(counts);
  }
  /// Runs further rounds until there are no partial rows. Returns the number of groups.
  std::uint64_t run_rounds(counters counts) const {
    for (std::uint64_t round = 1; counts.partial > 0; ++round) {
      if (round > max_rounds)
        throw hash_error(
            "keys cannot be told apart by their hashes",
            std::to_string(counts.partial) + " rows after " + std::to_string(round) + " rounds",
            "sort them");
      partial_rows<Row> const rows(m_memory.partial, counts.partial);
      if (counts.partial <= size::chunk_rows) {
        fill_with("karpos::reduce_by_key: one chunk", m_exec, m_memory.chunks, 1,
                  constant<partition::chunk>{{0, static_cast<std::uint32_t>(rows.count), 1}});
        aggregate(rows, 1);
        return read_counters().groups;
      }
      split_and_aggregate(rows, round);
      counts = read_counters();
    }
    return counts.groups;
  }

  template <class Source>
  counters run_first_round(Source const& source) const {
    std::uint64_t const n = source.size();
    fill_words("karpos::reduce_by_key: clear", m_exec, m_memory.counts, 1, 0);
    if (n <= size::chunk_rows) {
      device::loop_over("karpos::reduce_by_key: copy", m_exec, n,
                        copy_rows<Source>{source, m_memory.partial});
      return {0, n};
    }
    if (choose_pre_aggregation(source)) {
      int const teams = device::processors(m_exec);
      auto const count = static_cast<std::uint64_t>(teams);
      partition::row_ranges const ranges{n, (n + count - 1) / count, teams};
      device::for_each_in_league("karpos::reduce_by_key: aggregate first", m_exec, teams,
                                 pre_aggregate<ExecSpace, Source, Op>{
                                     source, ranges, partial(n), &m_memory.counts->partial, m_op});
    } else {
      split_and_aggregate(source, 0);
    }
    return read_counters();
  }

  /// Returns whether to aggregate ranges of rows before they are split, by a sample of the keys.
  template <class Source>
  bool choose_pre_aggregation(Source const& source) const {
    if (source.size() < tuned::min_sampled_rows) return false;
    count_sample(m_exec, source, tuned::sample, m_memory.sample);
    sample_statistics const s =
        read_back(m_exec, m_memory.sample, "karpos::reduce_by_key: a sample of the keys");
    return tuned::is_device ? s.keys - s.distinct >= tuned::min_equal : holds_most(s);
  }
  /// Returns whether the first table of a CPU thread holds most of the rows. A row that it does not
  /// hold costs more than if it were split at once. That is so if less than a quarter of the sample
  /// are keys seen once, or if the groups are few. Chao's estimate of the groups is trusted if the
  /// keys seen again, except the most frequent one, are about equally frequent. A long tail
  /// deceives it.
  static bool holds_most(sample_statistics const& s) {
    double const once = s.once, again = s.keys - once - s.most,
                 groups = s.distinct + once * once / (2.0 * s.repeated() + 1);
    return 4 * once < s.keys || (again <= 3.0 * s.repeated() && groups <= double(size::chunk_rows));
  }

  /// Splits rows into partitions by the mixed key, and aggregates these.
  template <class Source>
  void split_and_aggregate(Source const& source, std::uint64_t round) const {
    std::uint64_t const n = source.size(), partitions = size::partitions(n);
    partition_of_bits const partition_of(partitions, round);
    decltype(auto) keys = reduce_by_key::split_source(source);
    using row = typename std::remove_cvref_t<decltype(keys)>::row;
    auto* const split = reinterpret_cast<row*>(m_memory.split);
    partition::split_by_counting(m_exec, keys, partition_of,
                                 partition::plan<ExecSpace, row>(m_exec, n, partitions, false),
                                 m_memory.partition_workspace, split, m_memory.offsets);
    std::uint64_t const most = size::max_chunks(n);
    partition::split_into_chunks(
        m_exec,
        partition::chunk_list{m_memory.offsets, m_memory.first, m_memory.chunks, partitions,
                              static_cast<std::uint32_t>(size::chunk_rows)},
        most);
    fill_words("karpos::reduce_by_key: clear", m_exec, &m_memory.counts->partial, 1, 0);
    aggregate(reduce_by_key::source_after_split(source, split, n), most);
  }
  template <class Rows>
  void aggregate(Rows const& rows, std::uint64_t chunks) const {
    device::for_each_in_league(
        "karpos::reduce_by_key: aggregate chunks", m_exec, static_cast<int>(chunks),
        aggregate_chunks<ExecSpace, Rows, Op, Result>{rows, m_memory.chunks, m_result,
                                                      partial(rows.size()), m_memory.counts, m_op});
  }

  partial_array<Row> partial(std::uint64_t capacity) const { return {m_memory.partial, capacity}; }
  counters read_counters() const {
    return read_back(m_exec, m_memory.counts,
                     "karpos::reduce_by_key: numbers of groups and partial rows");
  }

  ExecSpace m_exec;
  memory<ExecSpace, Row> m_memory;
  Result m_result;
  Op m_op;
};

/// Reduces a source by key. Returns the number of groups. Throws std::invalid_argument if the
/// result has no space for all of them. `bytes_call` names the call for a workspace's bytes.
template <class ExecSpace, class Source, class Result, class Op>
std::uint64_t run(ExecSpace const& exec, Source const& source, Result const& result, Op const& op,
                  wrapped_memory const& given, char const* bytes_call) {
  using row = typename Source::row;
  std::size_t const bytes = memory<ExecSpace, row>(exec, source.size()).bytes();
  workspace<ExecSpace> const w(exec, bytes_call, given, bytes);
  reduction<ExecSpace, row, Result, Op> const all(
      exec, memory<ExecSpace, row>(exec, source.size(), w.data()), result, op);
  std::uint64_t const groups = all.run(source);
  w.finish();
  require_length("a view for different keys", result.capacity, groups, "keys");
  return groups;
}

}  // namespace karpos::detail::reduce_by_key
