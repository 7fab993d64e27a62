// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/batches.hpp"
#include "karpos/detail/distributed/collective.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/detail/distributed/windows.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/relational/partition/restore.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/tables/open_addressing/plan.hpp"
#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "karpos/detail/tables/region_split.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/peers.hpp"
#include "karpos/device/team.hpp"
#include "karpos/hash.hpp"

// One split for rows over the ranks of a host: by the rank that owns a row, and by the region of
// that rank's table where the search for its key begins (region_split.hpp). No message moves a row.
// Each rank splits its rows into its own window, and an owner handles them there.
//
//   window 0   rows    | for rank 0: region 0, 1, … | for rank 1: region 0, 1, … |
//              results | in the same order                                       |
//   window 1   as window 0
//
//   rank 0     splits | waits | region 0 of window 0, of window 1, region 1 … | waits | restores
//
// An owner handles the rows of all ranks for a region, then those for the next one: the region is
// in the cache (of the GPU; of a core). GPUs read queries and write results over their links while
// others are looked up. The order of the rows is restored on the rank that they come from
// (partition/restore.hpp).
//
// If a GPU inserts rows by table segments (open_addressing/run.hpp), regions are the coarse
// partitions of that insertion: the split into windows is the first of its two passes. The second
// reads each coarse partition from all windows, one piece of it in each. A join works in the same
// way: regions are coarse partitions of the owner's part of the join (join_windows.hpp).
//
// table_exchange.hpp, join_windows.hpp and combine.hpp use it. Tests: window_split,
// distributed_hash_map, distributed_join.

namespace karpos::detail::distributed {

/// The coarse partitions of a table's insertions by segments. Each has `region_pairs` bucket pairs,
/// the last one perhaps fewer. regions == 0: rows are not inserted by segments, and plan_windows
/// chooses the regions.
struct table_segments {
  std::uint64_t region_pairs = 0, regions = 0;
};
/// Returns the coarse partitions of a table if there may be at most `max_coarse`; none for 0.
template <class ExecSpace, class Table>
table_segments segments_of([[maybe_unused]] Table const& table,
                           [[maybe_unused]] std::uint64_t max_coarse) {
  if constexpr (open_addressing::tuning<ExecSpace>::has_segments &&
                open_addressing::has_rows<Table>) {
    std::uint64_t const pairs = table.pairs();
    if (max_coarse == 0) return {};
    auto const plan = open_addressing::pieces_plan<ExecSpace, Table>(pairs, max_coarse);
    if (plan.passes.coarse() != 0)
      return {plan.partition_pairs * plan.passes.each, plan.passes.coarse()};
  }
  return {};
}

/// Facts that a rank tells the others before rows are split: all choose the same regions.
/// `cache_bytes`: of its device; `home`: where a search begins in its table. `segments`: how its
/// table would insert pieces by segments (insertion_access::plan_pieces), if each rank got the same
/// number of rows.
struct split_offer {
  std::uint64_t rows, table_bytes, cache_bytes;
  place_among home;
  table_segments segments = {};
};

/// Constants of a split into windows.
template <class ExecSpace>
struct default_window_tuning {
  static constexpr bool on_device = device::is_device<ExecSpace>;
  /// If every rank has fewer rows, they are sent in messages.
  static constexpr std::uint64_t min_rows = on_device ? 1 << 16 : 1 << 12;
  /// Rows of a rank that are split at once.
  static constexpr std::uint64_t max_batch = std::uint64_t(1) << (on_device ? 27 : 25);
  /// Partitions of all ranks together.
  static constexpr std::uint64_t max_partitions = on_device ? 256 : 1024;
  /// Bits of the number of partitions in the second pass of a join.
  static constexpr int max_second_pass_bits = 8;
  /// On CPUs: bytes of a table that a core's cache holds beside rows and results, and the fewest
  /// rows of a partition.
  static constexpr std::uint64_t region_bytes = 512 << 10, min_partition_rows = 1024;
  /// On GPUs: fewest partitions. Threads that count rows of few partitions wait for each other.
  static constexpr std::uint64_t min_partitions = 64;
};
/// Tests specialise it.
template <class ExecSpace>
struct window_tuning : default_window_tuning<ExecSpace> {};

/// Returns how many coarse partitions a table has at most, if GPUs insert by segments.
template <class ExecSpace>
std::uint64_t max_coarse_partitions(int ranks) {
  return window_tuning<ExecSpace>::max_partitions / static_cast<std::uint64_t>(ranks);
}

/// How rows are split into windows: the same on every rank.
struct window_plan {
  std::uint64_t rows = 0, batch = 0;  // of the rank with most rows; that are split at once
  int ranks = 0;
  std::uint32_t regions = 1;  // of each table
  bool holds_all = false;     // no partition overflows
  double slack = 1;           // of partitions, for keys that occur often (capacity_policy)
  bool by_segments = false;   // regions are the coarse partitions of insertions by segments
  place_among homes[device::most_peers];
  // If by_segments: pairs of a region, by rank; the largest share of a region in its table.
  std::uint64_t region_pairs[device::most_peers] = {};
  double share = 0;

  /// Splits n rows at most, by owner only, into partitions that each hold all of them.
  void hold_all(std::uint64_t n) {
    rows = batch = n;
    regions = 1;
    holds_all = true;
    by_segments = false;
  }
  bool is_possible() const { return batch > 0; }
  /// Returns the mean number of rows of a partition, of the largest ones.
  double mean_rows() const {
    double const of_rank = static_cast<double>(batch) / ranks;
    return by_segments ? of_rank * share : of_rank / regions;
  }
  std::uint64_t partitions() const { return static_cast<std::uint64_t>(ranks) * regions; }
};

/// Returns how rows are split, given what all ranks offer: by segments if all tables insert so.
template <class ExecSpace>
window_plan plan_windows(std::vector<split_offer> const& all) {
  using tuned = window_tuning<ExecSpace>;
  window_plan plan;
  plan.ranks = static_cast<int>(all.size());
  std::uint64_t table_bytes = 0, cache_bytes = all[0].cache_bytes;
  for (std::size_t r = 0; r < all.size(); ++r) {
    plan.rows = Kokkos::max(plan.rows, all[r].rows);
    table_bytes = Kokkos::max(table_bytes, all[r].table_bytes);
    cache_bytes = Kokkos::min(cache_bytes, all[r].cache_bytes);
    plan.homes[r] = all[r].home;
  }
  if (plan.rows < tuned::min_rows) return plan;
  plan.batch = Kokkos::min(plan.rows, std::uint64_t(tuned::max_batch));
  std::uint64_t const ranks = all.size();
  plan.by_segments = std::all_of(all.begin(), all.end(),
                                 [](split_offer const& r) { return r.segments.regions != 0; });
  if (plan.by_segments) {
    std::uint64_t regions = 0;
    for (std::size_t r = 0; r < all.size(); ++r) {
      regions = Kokkos::max(regions, all[r].segments.regions);
      plan.region_pairs[r] = all[r].segments.region_pairs;
      auto const pairs = static_cast<double>(all[r].home.count() / 2);
      plan.share = Kokkos::max(
          plan.share, Kokkos::min(static_cast<double>(plan.region_pairs[r]), pairs) / pairs);
    }
    plan.regions = static_cast<std::uint32_t>(regions);
    return plan;
  }
  std::uint64_t regions, most = tuned::max_partitions / ranks;
  if constexpr (tuned::on_device) {
    regions =
        Kokkos::max(std::uint64_t(detail::plan_regions_in_cache<ExecSpace>(
                                      cache_bytes, table_bytes, plan.rows, bulk_strategy::automatic)
                                      .regions),
                    tuned::min_partitions / ranks);
  } else {
    regions = table_bytes / tuned::region_bytes;
    most = Kokkos::min(most, plan.batch / (ranks * tuned::min_partition_rows));
  }
  plan.regions = static_cast<std::uint32_t>(
      Kokkos::clamp(regions, std::uint64_t(1), Kokkos::max(most, std::uint64_t(1))));
  return plan;
}

/// Maps a key to its partition: the rank that owns it, and the region of that rank's table.
template <class Hash>
struct owner_and_region {
  Hash hash;
  owner_of_hash owner;
  std::uint32_t regions;
  place_among homes[device::most_peers];

  owner_and_region(Hash const& h, window_plan const& plan)
      : hash(h),
        owner(static_cast<std::uint32_t>(plan.ranks)),
        regions(plan.regions) {
    for (int r = 0; r < plan.ranks; ++r) homes[r] = plan.homes[r];
  }
  template <class Key>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(Key const& key) const {
    std::uint64_t const h = hash_of(hash, key);
    std::uint32_t const rank = owner(h);
    return rank * regions + homes[rank].part(h, regions);
  }
};

/// Maps a key to its partition, as owner_and_region does, if the tables' regions may be coarse
/// partitions of insertions by segments.
template <class Hash>
struct owner_and_pairs {
  /// The region of a hash in a rank's table: of `places` places, two for each pair.
  struct region_of_hash {
    place_among home;
    std::uint32_t places;
    open_addressing::pair_division by_pairs;
  };
  Hash hash;
  owner_of_hash owner;
  std::uint32_t regions;
  region_of_hash regions_of[device::most_peers];

  owner_and_pairs(Hash const& h, window_plan const& plan)
      : hash(h),
        owner(static_cast<std::uint32_t>(plan.ranks)),
        regions(plan.regions) {
    for (int r = 0; r < plan.ranks; ++r) {
      auto const& home = plan.homes[r];
      regions_of[r] = plan.by_segments
                          ? region_of_hash{home, static_cast<std::uint32_t>(home.count()),
                                           open_addressing::pair_division(plan.region_pairs[r])}
                          : region_of_hash{home, 2 * regions, open_addressing::pair_division(1)};
    }
  }
  template <class Key>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(Key const& key) const {
    std::uint64_t const h = hash_of(hash, key);
    std::uint32_t const rank = owner(h);
    auto const& r = regions_of[rank];
    return rank * regions + r.by_pairs(r.home.part(h, r.places) / 2);
  }
};

/// The partitions of all windows for a rank, in the order in which its GPU looks them up: region by
/// region. Chunks of the ranks take turns, so that some teams wait for a link while others do not,
/// and links are busy all the time. Two H200s, 2^27 queries each, rank after rank: 2.78 ms.
template <class Query>
struct partitions_of_windows {
  device::peer_distances peers;
  std::uint32_t const* rows;  // of a region, rank by rank
  std::uint32_t capacity;
  int partitions;  // of all ranks for this one
  std::uint32_t regions;

  KOKKOS_FORCEINLINE_FUNCTION partition::chunk_of_partition chunk_of(std::uint32_t team,
                                                                     std::uint32_t chunks) const {
    auto const ranks = static_cast<std::uint32_t>(peers.count);
    std::uint32_t const turn = team / ranks, g = turn / chunks;
    return {g * ranks + (team - turn * ranks), turn - g * chunks};
  }
  /// Return the region of the n-th partition, and the number of the partition in its window.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t region(std::uint32_t n) const {
    return n / static_cast<std::uint32_t>(peers.count);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t number_of(std::uint32_t n) const {
    return static_cast<std::uint32_t>(peers.rank) * regions + region(n);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t stored_rows(std::uint32_t n) const { return rows[n]; }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T* array_of(std::uint32_t n, T* mine) const {
    return peers.of(rank_of(n), mine);
  }
  /// Returns where the n-th partition begins, relative to this rank's rows: as a signed number.
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t first_row(std::uint32_t n) const {
    auto const distance = peers.bytes[rank_of(n)] / static_cast<std::int64_t>(sizeof(Query));
    return static_cast<std::uint64_t>(distance) + std::uint64_t(number_of(n)) * capacity;
  }
  /// Returns how many arrays take turns.
  std::uint64_t arrays() const { return static_cast<std::uint64_t>(peers.count); }

 private:
  KOKKOS_FORCEINLINE_FUNCTION int rank_of(std::uint32_t n) const {
    return static_cast<int>(n - region(n) * static_cast<std::uint32_t>(peers.count));
  }
};
/// The source of rows in windows, whose places are relative to this rank's rows.
template <class Row>
struct rows_of_windows : partition::plain_rows<Row> {
  Row const* rows;
  KOKKOS_FUNCTION explicit rows_of_windows(Row const* r) : rows(r) {}
  KOKKOS_FUNCTION static std::uint64_t size() { return 0; }  // known by partition
  KOKKOS_FORCEINLINE_FUNCTION Row const* at(std::uint64_t i) const {
    return rows + static_cast<std::int64_t>(i);
  }
  KOKKOS_FORCEINLINE_FUNCTION Row load(std::uint64_t i) const { return *at(i); }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, Row* to) const {
    device::load_streamed<N>(at(i), to);
  }
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(Row const& r) {
    return open_addressing::key_of(r);
  }
};
/// Rows of all windows for a rank, in pieces of the coarse partitions of an insertion by segments.
/// WithColumns: calls a function with views of the keys, and of the values if there are any, after
/// it has gathered them.
template <class Row, class WithColumns>
struct window_pieces {
  partitions_of_windows<Row> from;
  Row const* rows;
  std::uint64_t count, max_coarse;
  place_among home;  // of the table that the rows were split for
  WithColumns with_columns;

  auto source() const { return rows_of_windows<Row>(rows); }
};
/// Reads how many rows each partition of the windows has.
template <class Row>
struct read_counts {
  partition::fixed_partitions<Row> mine;
  partitions_of_windows<Row> in;
  std::uint32_t* rows;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const n = static_cast<std::uint32_t>(i);
    auto theirs = mine;
    theirs.taken = in.array_of(n, mine.taken);
    theirs.filled = in.array_of(n, mine.filled);
    rows[n] = theirs.stored_rows(in.number_of(n));
  }
};

/// Computes where each partition begins among the received rows.
struct scan_counts_of_windows {
  std::uint32_t const* rows;
  std::uint64_t* begins;
  std::uint64_t partitions;
  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& sum, bool last) const {
    if (last) begins[p] = sum;
    if (p < partitions) sum += rows[p];
  }
};

/// A step: a team copies a chunk of a partition to where it belongs among the received rows.
template <class Row>
struct gather_chunk {
  static constexpr int threads = 256, teams_at_once = 8;
  static constexpr std::size_t scratch_bytes = 64;
  static constexpr std::uint32_t chunk = 8 * threads;

  partitions_of_windows<Row> in;
  std::uint32_t chunks;  // of a partition
  Row const* rows;
  std::uint64_t const* begins;
  Row* to;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const at = in.chunk_of(static_cast<std::uint32_t>(t.league_rank()), chunks);
    std::uint32_t const end = Kokkos::min((at.chunk + 1) * chunk, in.stored_rows(at.n));
    Row const* const from =
        in.array_of(at.n, rows) + std::uint64_t(in.number_of(at.n)) * in.capacity;
    load_all_then_use<4>(
        at.chunk * chunk + device::rank(t), end, device::size(t),
        [&](std::uint64_t i) { return from[i]; },
        [&](std::uint64_t i, Row const& r) { to[begins[at.n] + i] = r; });
  }
};

/// Lists the rows that overflowed their partition.
struct list_row {
  std::uint32_t *list, *count;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    list[device::fetch_add(count, 1u)] = static_cast<std::uint32_t>(i);
  }
};

/// A piece of a window: the rows of one rank for a region of another, and their results.
template <class Row, class Result>
struct window_piece {
  Row const* rows;
  Result* results;
  std::uint64_t count;
};

/// Copies a chunk of the received rows from their pieces, of which there may be as few as ranks.
template <class Row, class Result>
struct copy_chunk_of_pieces {
  static constexpr std::uint64_t chunk = 1 << 14;

  window_piece<Row, Result> const* pieces;
  std::uint64_t const* begins;  // of each piece among the received rows
  std::uint64_t count, total;   // pieces; rows
  Row* to;

  std::uint64_t chunks() const { return (total + chunk - 1) / chunk; }
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint64_t const end = Kokkos::min((c + 1) * chunk, total);
    std::uint64_t i = c * chunk;
    std::uint64_t const after = device::partition_point(
        std::uint64_t(0), count, [&](std::uint64_t q) { return begins[q] <= i; });
    for (std::uint64_t p = after - 1; i < end; ++p) {
      Row const* const from = pieces[p].rows;
      std::uint64_t const begin = begins[p], stop = Kokkos::min(begin + pieces[p].count, end);
      for (; i < stop; ++i) to[i] = from[i - begin];
    }
  }
};

/// Maps a key to its partition, if rows have results of this type, or none.
template <class ExecSpace, class Hash, class Result>
using owner_and_place = std::conditional_t<device::is_device<ExecSpace> && std::is_void_v<Result>,
                                           owner_and_pairs<Hash>, owner_and_region<Hash>>;

/// Runs splits of this rank's rows, and waits until all ranks have. Returns for each split how many
/// rows of all ranks overflowed. Collective.
///
/// Other processes see the rows: a thread ends its stores past the caches (end_streaming), the
/// fence of the space ends those of all threads, and the exchange of the numbers orders processes.
/// MPI does not promise that for memory it does not know: hence the fences around it, for CPUs that
/// reorder stores.
template <class Ranks, class... Splits>
auto run_splits(Ranks const& ranks, Splits const&... splits) {
  using overflowed = std::array<std::uint64_t, sizeof...(Splits)>;
  auto const mine = run_collectively(ranks, [&] {
    (splits.start(), ...);
    return overflowed{splits.finish()...};
  });
  std::atomic_thread_fence(std::memory_order_seq_cst);
  auto const all = ranks.all_gather(mine);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  overflowed sum{};
  for (overflowed const& of_rank : all)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of_rank[i];
  return sum;
}

/// A split of the rows of a source into the windows. Partitioner: maps a key to its partition, of
/// which rank 0 owns the first ones. Result: what belongs to a row; or void.
template <class ExecSpace, class Ranks, class Source, class Partitioner, class Result>
class window_split {
  static constexpr bool on_device = device::is_device<ExecSpace>;
  using row = typename Source::row;
  static constexpr bool has_results = !std::is_void_v<Result>;
  using partition_of = partition::partition_of_row<Source, Partitioner>;
  using split_type =
      std::conditional_t<on_device, partition::recorded_split<ExecSpace, Source, partition_of>,
                         partition::counted_split<ExecSpace, Source, partition_of>>;

 public:
  window_split(Ranks const& ranks, ExecSpace const& exec, Source const& source,
               Partitioner const& partitioner, window_plan const& plan)
      : m_ranks(ranks),
        m_exec(exec),
        m_plan(plan),
        m_split(exec, source, {partitioner, static_cast<std::uint32_t>(plan.partitions())},
                partitions()) {
    place(nullptr, nullptr);
  }
  /// Return the bytes of a window, the same on every rank, and of this rank's own memory.
  std::size_t window_bytes() const { return m_window_bytes; }
  std::size_t own_bytes() const { return m_own_bytes; }
  void allocate(std::byte* window, device::peer_distances const& peers, std::byte* own) {
    m_peers = peers;
    place(window, own);
  }

  /// Splits the rows. Asynchronous.
  void start() const { m_split.run(m_rows); }
  /// Waits for the split. Returns how many rows of this rank overflowed.
  std::uint64_t finish() const {
    if constexpr (on_device) {
      return overflowed();
    } else {
      m_exec.fence("karpos::distributed: rows in windows");
      return 0;
    }
  }
  /// Splits the rows as run_splits does. Collective.
  std::uint64_t run() const { return run_splits(m_ranks, *this)[0]; }
  /// Looks up all queries for this rank, on a GPU. Asynchronous.
  template <class Table, class Write>
  void look_up(std::string const& label, Table const& table, Write const& write) const {
    detail::look_up_partitions(m_exec, label, table, counted_partitions(),
                               static_cast<row const*>(m_rows), m_results, write);
  }
  /// Returns the partitions of all windows for this rank, and reads how many rows each has. For
  /// GPUs. Asynchronous.
  auto counted_partitions() const {
    auto const& mine = m_split.rows_in(m_rows).in;
    partitions_of_windows<row> const in{m_peers, m_counts, mine.capacity,
                                        static_cast<int>(m_plan.partitions()), m_plan.regions};
    device::loop_over("karpos::distributed: read counts", m_exec, m_plan.partitions(),
                      read_counts<row>{mine, in, m_counts});
    return in;
  }
  row const* rows() const { return m_rows; }
  /// Returns the pieces of all windows for this rank, region by region, on a CPU.
  auto pieces() const {
    std::vector<window_piece<row, result>> all;
    for (std::uint64_t g = 0; g < m_plan.regions; ++g)
      for (int r = 0; r < m_plan.ranks; ++r) {
        auto const mine = m_split.rows_in(m_rows);
        std::uint64_t const p = static_cast<std::uint64_t>(m_peers.rank) * m_plan.regions + g,
                            *begins = m_peers.of(r, mine.begins), begin = begins[p];
        all.push_back({m_peers.of(r, m_rows) + begin,
                       has_results ? m_peers.of(r, m_results) + begin : nullptr,
                       begins[p + 1] - begin});
      }
    return all;
  }
  /// Calls f with the window_pieces for this rank, on a GPU, if rows are inserted by segments.
  /// Returns what f does, which is whether they were inserted; else false. Blocks.
  template <class WithColumns, class F>
  bool try_with_pieces(WithColumns const& with_columns, F const& f) const {
    if constexpr (on_device)
      if (m_plan.by_segments) {
        auto const in = counted_partitions();
        return f(window_pieces<row, WithColumns>{in, m_rows, count_received(),
                                                 max_coarse_partitions<ExecSpace>(m_plan.ranks),
                                                 m_plan.homes[m_peers.rank], with_columns});
      }
    return false;
  }
  /// Copies the rows of all windows for this rank to reserve(their number), region by region.
  /// Returns these rows. Blocks.
  template <class Reserve>
  auto gather(Reserve const& reserve) const {
    if constexpr (on_device) {
      using step = gather_chunk<row>;
      auto const in = counted_partitions();
      auto const rows = reserve(count_received());
      std::uint32_t const chunks = (in.capacity + step::chunk - 1) / step::chunk;
      device::for_each_in_league("karpos::distributed: received rows", m_exec,
                                 in.partitions * static_cast<int>(chunks),
                                 step{in, chunks, m_rows, m_begins, rows.data()});
      m_exec.fence("karpos::distributed: received rows");
      return rows;
    } else {
      return gather_pieces(reserve);
    }
  }
  /// Does what gather does, on a CPU.
  template <class Reserve>
  auto gather_pieces(Reserve const& reserve) const {
    auto const all = pieces();
    std::vector<std::uint64_t> counts;
    for (auto const& p : all) counts.push_back(p.count);
    blocks const to(counts);
    auto const rows = reserve(to.total);
    copy_chunk_of_pieces<row, result> const step{all.data(), to.begin.data(), all.size(), to.total,
                                                 rows.data()};
    device::loop_over("karpos::distributed: received rows", m_exec, step.chunks(), step);
    m_exec.fence("karpos::distributed: received rows");
    return rows;
  }
  /// Writes the result of row i to out(i); rows that overflowed get an unspecified one.
  /// Asynchronous.
  template <class Out>
  void restore(Out const& out) const {
    m_split.restore(static_cast<result const*>(m_results), out);
  }
  /// Returns how many rows of this rank overflowed, on a GPU.
  std::uint32_t overflowed() const {
    return read_back(m_exec, m_split.overflowed(), "karpos::distributed: overflowed rows");
  }
  /// Writes the numbers of these rows to a list of overflowed() + 1 elements. Asynchronous.
  void list_overflowed(std::uint32_t* list, std::uint32_t rows) const {
    fill_words("karpos::distributed: overflowed rows", m_exec, list + rows, 1, 0);
    m_split.for_each_overflowed(list_row{list, list + rows});
  }

 private:
  using result = std::conditional_t<has_results, Result, std::byte>;

  auto partitions() const {
    if constexpr (on_device) {
      partition::capacity_split<ExecSpace, row> split(
          {m_plan.partitions()}, partition::capacity_policy(m_plan.mean_rows(), m_plan.slack));
      if (m_plan.holds_all)
        split.fine.capacity = static_cast<std::uint32_t>((m_plan.batch + 31) / 32 * 32);
      return split;
    } else {
      return m_plan.partitions();
    }
  }
  /// Returns the number of rows of all windows for this rank, once counted_partitions() was called,
  /// and computes where each partition begins among them. For GPUs. Blocks.
  std::uint64_t count_received() const {
    auto const n = m_plan.partitions();
    Kokkos::parallel_scan("karpos::distributed: begins", index_range(m_exec, n + 1),
                          scan_counts_of_windows{m_counts, m_begins, n});
    return read_back(m_exec, m_begins + n, "karpos::distributed: received rows");
  }
  void place(std::byte* window, std::byte* own) {
    arena shared(window), mine(own);
    std::uint64_t places = m_plan.batch;
    if constexpr (on_device) places = m_split.places();
    shared.allocate(m_rows, places);
    shared.allocate(m_results, has_results ? places : 0);
    if constexpr (on_device)
      m_split.allocate_from(mine, shared, has_results);
    else
      m_split.allocate_from(mine, shared);
    mine.allocate(m_counts, on_device ? m_plan.partitions() : 0);
    mine.allocate(m_begins, on_device ? m_plan.partitions() + 1 : 0);
    m_window_bytes = shared.bytes();
    m_own_bytes = mine.bytes();
  }

  Ranks const& m_ranks;
  ExecSpace m_exec;
  window_plan m_plan;
  split_type m_split;
  device::peer_distances m_peers{};
  row* m_rows = nullptr;
  result* m_results = nullptr;
  std::uint32_t* m_counts = nullptr;  // of the partitions of all windows for this rank
  std::uint64_t* m_begins = nullptr;  // of these partitions among the received rows
  std::size_t m_window_bytes = 0, m_own_bytes = 0;
};

/// Windows, and memory of this rank's own, that splits use one after the other. Destruction is
/// collective if there are windows.
template <class ExecSpace, class Ranks>
class window_memory : public reusable_windows<ExecSpace, Ranks> {
 public:
  /// Gives splits, all used at once, their memory. Returns false if there is too little memory for
  /// windows. Collective.
  template <class... Splits>
  bool try_allocate(Ranks const& ranks, Splits&... splits) {
    if (!this->try_reserve(ranks, (splits.window_bytes() + ...))) return false;
    run_collectively(ranks, [&] {
      auto const own = m_own.template reserve<std::byte>(
          ranks.exec(), "karpos::distributed: record of a split", (splits.own_bytes() + ...));
      std::byte *in_window = this->data(), *of_own = own.data();
      ((splits.allocate(in_window, this->distances(), of_own), in_window += splits.window_bytes(),
        of_own += splits.own_bytes()),
       ...);
    });
    return true;
  }

 private:
  reusable_memory<ExecSpace> m_own;
};

/// The windows of a communicator, kept for calls that bring no memory: such a call takes them, and
/// gives them back at its end, unless they are large, or an exception is thrown: then it closes
/// them. Construction and destruction are collective.
template <class ExecSpace, class Ranks>
class kept_windows {
  using windows = window_memory<ExecSpace, Ranks>;

 public:
  kept_windows(Ranks const& ranks, windows_by_ranks<windows>& to)
      : m_ranks(ranks),
        m_kept(std::static_pointer_cast<windows>(std::exchange(ranks.m_windows, nullptr))),
        m_used(to.of(ranks)) {
    if (m_kept == nullptr) m_kept = std::make_shared<windows>();
    m_used = std::move(*m_kept);
  }
  kept_windows(kept_windows const&) = delete;
  kept_windows& operator=(kept_windows const&) = delete;
  ~kept_windows() {
    if (std::uncaught_exceptions() > m_exceptions) return;
    *m_kept = std::move(m_used);
    if (m_kept->has_at_most(m_ranks.m_kept_bytes)) m_ranks.m_windows = std::move(m_kept);
    m_used = {};
  }

 private:
  Ranks const& m_ranks;
  std::shared_ptr<windows> m_kept;
  windows& m_used;
  int m_exceptions = std::uncaught_exceptions();
};

/// Splits the rows of a source into windows, by partitioner_of(plan). If rows overflow, splits all
/// rows again, by owner only. Returns the split; null if rows must go in messages: they are few, or
/// there is too little memory for windows. Collective.
template <class ExecSpace, class Ranks, class Memory, class Source, class PartitionerOf>
auto try_split_into_windows(Ranks const& ranks, Memory& memory, Source const& source,
                            window_plan plan, PartitionerOf const& partitioner_of) {
  using split_type = window_split<ExecSpace, Ranks, Source, decltype(partitioner_of(plan)), void>;
  std::unique_ptr<split_type> split;
  // A place in a partition has 32 bits. Places of all partitions may need more if each holds all
  // rows: runs of the record (tile_record) wrap then, but what is sent is not restored.
  constexpr std::uint64_t max_rows = std::uint64_t(1) << 30;
  if (!plan.is_possible() || plan.rows > max_rows) return split;
  plan.batch = plan.rows;
  for (;;) {
    split = run_collectively(ranks, [&] {
      return std::make_unique<split_type>(ranks, ExecSpace(ranks.exec()), source,
                                          partitioner_of(plan), plan);
    });
    bool const is_open = memory.try_allocate(ranks, *split);
    if (is_open && split->run() == 0) return split;
    split.reset();
    if (!is_open) return split;
    plan.hold_all(plan.rows);
  }
}

}  // namespace karpos::detail::distributed
