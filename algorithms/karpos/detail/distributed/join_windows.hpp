// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/distributed/collective.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/join_rows.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/detail/distributed/window_split.hpp"
#include "karpos/detail/distributed/windows.hpp"
#include "karpos/detail/relational/join/run.hpp"
#include "karpos/detail/relational/join/split_join.hpp"
#include "karpos/detail/relational/join/split_rows.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/peers.hpp"
#include "karpos/device/space.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/join_options.hpp"
#include "karpos/operations.hpp"
#include "karpos/rows.hpp"

// A join over the ranks of a host is one partitioned join (relational/join/split_join.hpp). Each
// rank owns some of its 2^bits partitions. The first pass is the split into windows:
//
//   rank 0   splits both sides into window 0    coarse partitions for rank 0 | for rank 1
//   rank 1   splits both sides into window 1    coarse partitions for rank 0 | for rank 1
//            all wait
//   rank 0   second pass: reads its coarse partitions of both windows, writes its partitions
//            joins these partitions
//
// A row is moved as a word and its number in the whole table, so that the rows of the join need no
// other pass. On its way it is made relative to its owner: words begin at the owner's first
// partition. CPUs copy the rows that they own from the windows, and count them. So do GPUs if some
// partition overflows, or if there are more partitions than two passes make. If keys are too
// frequent, or the join is full, a rank joins these copies by an index of the words.
//
// Tests: distributed_join, join_windows.

namespace karpos::detail::distributed {

/// Divides the partitions of a join, numbered by the high bits of words, among ranks, in order; and
/// those of a rank into coarse ones of 2^each_bits. Maps a word to the number of its coarse
/// partition, those of rank 0 first.
template <class Word>
struct owner_and_coarse {
  int bits, each_bits;
  std::uint32_t ranks, coarse;                       // coarse: partitions of each rank
  std::uint32_t first[device::most_peers + 1] = {};  // partition of each rank, and the end

  owner_and_coarse(int partition_bits, int of_coarse, int rank_count)
      : bits(partition_bits),
        each_bits(of_coarse),
        ranks(static_cast<std::uint32_t>(rank_count)) {
    for (std::uint64_t r = 0; r <= ranks; ++r)
      first[r] = static_cast<std::uint32_t>(((r << bits) + ranks - 1) / ranks);
    std::uint32_t const most = ((std::uint32_t(1) << bits) + ranks - 1) / ranks;
    coarse = (most + (std::uint32_t(1) << each_bits) - 1) >> each_bits;
  }
  std::uint32_t owned_by(int rank) const { return first[rank + 1] - first[rank]; }

  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(Word w) const {
    std::uint32_t const p = partition(w), r = owner(p);
    return r * coarse + ((p - first[r]) >> each_bits);
  }
  /// Returns the first word of the word's owner.
  KOKKOS_FORCEINLINE_FUNCTION Word first_word(Word w) const {
    return static_cast<Word>(first[owner(partition(w))]) << shift();
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION int shift() const {
    return static_cast<int>(8 * sizeof(Word)) - bits;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t partition(Word w) const {
    return static_cast<std::uint32_t>(w >> shift());
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t owner(std::uint32_t p) const {
    return static_cast<std::uint32_t>(std::uint64_t(p) * ranks >> bits);
  }
};

/// Rows of a rank, as they are sent: with their numbers in the whole table, and words relative to
/// their owners.
template <class Source>
struct rows_to_owners : Source {
  using row = typename Source::row;
  using loaded = typename Source::loaded;
  owner_and_coarse<decltype(row::key)> owners;
  std::uint64_t first;

  KOKKOS_FORCEINLINE_FUNCTION row make(loaded const& r, std::uint64_t i) const {
    row sent = Source::make(r, first + i);
    sent.key -= owners.first_word(sent.key);
    return sent;
  }
};

template <class Source>
struct words_in_windows : rows_of_windows<typename Source::row> {
  using rows_of_windows<typename Source::row>::rows_of_windows;
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(typename Source::row const& r) {
    return Source::key_of(r);
  }
};

/// A join in windows. Left, Right: rows, as loops hold them.
template <class ExecSpace, class Ranks, class Left, class Right>
class window_join {
  using form = join::split_form<Left, Right, Right>;
  using row = typename form::row;
  using word = decltype(row::key);
  template <class Rows>
  using source_of = typename form::template source<Rows>;
  using received_rows = partition::rows_of_array<source_of<Left>>;
  using equal =
      decltype(form::equal(std::declval<Left>(), std::declval<Right>(), std::declval<Right>()));
  using local_join = join::split_join<ExecSpace, received_rows, received_rows, equal>;
  using sizes = typename local_join::sizes;
  using buffers = join_buffers<Ranks>;
  using tuned = window_tuning<ExecSpace>;
  static constexpr bool on_device = device::is_device<ExecSpace>;

 public:
  /// Collective.
  window_join(Ranks const& ranks, Left const& left, Right const& right, join_kind kind,
              buffers& memory)
      : m_ranks(ranks),
        m_exec(ranks.exec()),
        m_left{left},
        m_right{right},
        m_kind(kind),
        m_memory(memory),
        m_windows(memory.windows.of(ranks)) {
    count_rows(m_left);
    count_rows(m_right);
    m_how = join::probing_of(kind, m_left.total, m_right.total);
    // Enough partitions that all ranks own about equally many.
    int const fewest = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks.size()))) + 5;
    m_bits = std::max(sizes::bits_for(m_how.swapped ? m_left.total : m_right.total), fewest);
    m_each_bits = on_device ? coarse_bits() : m_bits;
  }
  /// Writes the rows of the join that this rank holds. Returns false, and writes none, if rows must
  /// go in messages. Collective.
  bool try_run(join_output<Ranks>& out) {
    constexpr std::uint64_t max_rows = row_index::max_rows<std::uint32_t>;
    if (m_ranks.size() == 1 || !m_windows.may_open(m_ranks) ||
        std::max(m_left.most, m_right.most) < tuned::min_rows ||
        std::max(m_left.total, m_right.total) > max_rows)
      return false;
    if constexpr (on_device)
      if (m_kind != join_kind::full && m_each_bits <= tuned::max_second_pass_bits &&
          try_run_coarse(out))
        return true;
    if (!try_send(m_left, m_memory.left) || !try_send(m_right, m_memory.right)) return false;
    run_collectively(m_ranks, [&] { join_received(*m_left.received, *m_right.received, out); });
    return true;
  }

 private:
  using received_view = Kokkos::View<row*, typename buffers::space::memory_space>;
  template <class Rows>
  struct side {
    Rows rows;
    std::uint64_t first = 0, total = 0, most = 0;  // rows of the ranks before, of all, of a rank
    std::optional<received_view> received = {};    // the rows that this rank owns
    bool overflows = false;  // whether coarse partitions of this side overflow on some rank
  };

  template <class Rows>
  void count_rows(side<Rows>& s) const {
    auto const all = m_ranks.all_gather(s.rows.size());
    for (int r = 0; r < m_ranks.size(); ++r) {
      std::uint64_t const n = all[static_cast<std::size_t>(r)];
      if (r < m_ranks.rank()) s.first += n;
      s.total += n;
      s.most = std::max(s.most, n);
    }
  }
  /// Returns the bits of the number of partitions of a coarse one, so that both passes have about
  /// equally many partitions.
  int coarse_bits() const {
    int bits = m_bits / 2;
    while (bits < m_bits &&
           owner_and_coarse<word>(m_bits, bits, m_ranks.size()).coarse * m_ranks.size() >
               tuned::max_partitions)
      ++bits;
    return bits;
  }
  window_plan plan(std::uint64_t most) const {
    window_plan plan;
    plan.rows = plan.batch = std::max(most, std::uint64_t(1));
    plan.ranks = m_ranks.size();
    plan.regions = owners(plan).coarse;
    // The last coarse partition of each rank may be smaller than the others.
    plan.slack = sizes::slack * static_cast<double>(plan.partitions() << m_each_bits) /
                 static_cast<double>(std::uint64_t(1) << m_bits);
    return plan;
  }
  owner_and_coarse<word> owners(window_plan const& plan) const {
    return {m_bits, plan.holds_all ? m_bits : m_each_bits, m_ranks.size()};
  }
  template <class Rows>
  auto source(side<Rows> const& s) const {
    return rows_to_owners<source_of<Rows>>{
        {s.rows, m_right.rows, join::word_multiplier(m_bits)}, owners({}), s.first};
  }
  /// Returns the sizes of the local join, of left rows that are looked up in right ones.
  sizes local_sizes(std::uint64_t left, std::uint64_t right, std::uint64_t each) const {
    return {left, right, m_bits, owners({}).owned_by(m_ranks.rank()), each};
  }
  /// Sends a side to the owners, unless this rank has received its rows of it. Returns false if
  /// there are no windows. Collective.
  template <class Rows>
  bool try_send(side<Rows>& s, typename buffers::memory& to) const {
    if (s.received) return true;
    window_plan p = plan(s.most);
    if (s.overflows) p.hold_all(p.rows);
    auto const split = distributed::try_split_into_windows<ExecSpace>(
        m_ranks, m_windows, source(s), p, [&](window_plan const& q) { return owners(q); });
    if (!split) return false;
    receive(*split, s, to);
    return true;
  }
  /// Copies this rank's rows of a side from windows. Collective.
  template <class Split, class Rows>
  void receive(Split const& split, side<Rows>& s, typename buffers::memory& to) const {
    s.received = run_collectively(m_ranks, [&] {
      return split.gather([&](std::uint64_t n) {
        return to.template reserve<row>(m_ranks.exec(), "karpos::join: received rows", n);
      });
    });
  }
  template <class Rows>
  auto split(side<Rows> const& s) const {
    using source_type = rows_to_owners<source_of<Rows>>;
    window_plan const p = plan(s.most);
    return window_split<ExecSpace, Ranks, source_type, owner_and_coarse<word>, void>(
        m_ranks, m_exec, source(s), owners(p), p);
  }
  /// Joins the coarse partitions of all windows, on GPUs. Returns false if there is too little
  /// memory for both sides at once, or if a partition overflows on some rank: sides of which no
  /// coarse partition does are received then. Collective.
  bool try_run_coarse(join_output<Ranks>& out) {
    auto left = split(m_left);
    auto right = split(m_right);
    if (!m_windows.try_allocate(m_ranks, left, right)) return false;
    auto const overflowed = run_splits(m_ranks, left, right);
    m_left.overflows = overflowed[0] > 0;
    m_right.overflows = overflowed[1] > 0;
    if (!m_left.overflows && !m_right.overflows && try_join_coarse(left, right, out)) return true;
    if (!m_left.overflows) receive(left, m_left, m_memory.left);
    if (!m_right.overflows) receive(right, m_right, m_memory.right);
    return false;
  }
  /// Joins the coarse partitions of both splits. Returns false if a partition overflows on some
  /// rank. Collective.
  template <class LeftSplit, class RightSplit>
  bool try_join_coarse(LeftSplit const& left, RightSplit const& right,
                       join_output<Ranks>& out) const {
    bool const joined = run_collectively(m_ranks, [&] {
      auto const l = left.counted_partitions(), r = right.counted_partitions();
      words_in_windows<received_rows> const left_rows(left.rows()), right_rows(right.rows());
      std::uint64_t const each = std::uint64_t(1) << m_each_bits;
      return try_join(
          nullptr, share(m_left), nullptr, share(m_right), each, out,
          [&](auto const& both, auto const& emit, std::byte* workspace) {
            auto const kind = m_how.multiplicity;
            return m_how.swapped
                       ? both.run_again(right_rows, r, left_rows, l, kind, emit, workspace)
                       : both.run_again(left_rows, l, right_rows, r, kind, emit, workspace);
          });
    });
    return m_ranks.all_reduce(joined ? 1 : 0, karpos::minimum{}) == 1;
  }
  /// Returns how many rows of a side this rank expects to own.
  template <class Rows>
  std::uint64_t share(side<Rows> const& s) const {
    return keys_of_rank(s.total, m_ranks.size());
  }
  /// Runs run(the local join, emit, workspace), and writes its rows to `out`. Returns whether it
  /// could.
  template <class Run>
  bool try_join(row const* left, std::uint64_t left_rows, row const* right,
                std::uint64_t right_rows, std::uint64_t each, join_output<Ranks>& out,
                Run const& run) const {
    received_rows const l(left, left_rows), r(right, right_rows);
    bool const swapped = m_how.swapped;
    local_join const both(m_exec, swapped ? r : l, swapped ? l : r,
                          form::equal(m_left.rows, m_right.rows, m_right.rows),
                          swapped ? local_sizes(right_rows, left_rows, each)
                                  : local_sizes(left_rows, right_rows, each));
    auto const& exec = m_ranks.exec();
    workspace<typename buffers::space> const w(
        exec, "join_memory", m_memory.kept_workspace(exec, both.bytes()), both.bytes());
    return out.try_fill(std::max(share(m_left), share(m_right)), swapped,
                        [&](auto const& emit) { return run(both, emit, w.data()); });
  }
  /// Joins received rows, by partitions, or by an index if these are too skewed.
  template <class Rows>
  void join_received(Rows const& left, Rows const& right, join_output<Ranks>& out) const {
    if (m_kind != join_kind::full &&
        try_join(left.data(), left.extent(0), right.data(), right.extent(0), 0, out,
                 [&](auto const& both, auto const& emit, std::byte* workspace) {
                   return both.run_counted(m_how.multiplicity, emit, workspace);
                 }))
      return;
    auto const words = [](Rows const& rows) {
      if constexpr (form::is_wide)
        return karpos::rows(member_of_rows(rows, &row::key), member_of_rows(rows, &row::rest));
      else
        return karpos::rows(member_of_rows(rows, &row::key));
    };
    distributed::join_by_index(m_ranks.exec(), words(left), words(right), m_kind,
                               member_of_rows(left, &row::value),
                               member_of_rows(right, &row::value), out);
  }

  Ranks const& m_ranks;
  ExecSpace m_exec;
  side<Left> m_left;
  side<Right> m_right;
  join_kind m_kind;
  buffers& m_memory;
  typename buffers::window_type& m_windows;
  join::probing m_how{};
  int m_bits = 0, m_each_bits = 0;
};

/// Joins rows of all ranks in windows. Returns whether it did. Collective.
template <class Ranks, class Left, class Right>
bool try_join_in_windows(Ranks const& ranks, Left const& left, Right const& right, join_kind kind,
                         join_buffers<Ranks>& memory, join_output<Ranks>& out) {
  using space = typename join_buffers<Ranks>::space;
  using form = join::split_form<Left, Right, Right>;
  if constexpr (device::has_peer_windows<space> && (form::is_exact || form::is_wide)) {
    using device::for_loop, device::held_by_loop;
    return window_join<space, Ranks, held_by_loop<space, Left>, held_by_loop<space, Right>>(
               ranks, for_loop<space>(left), for_loop<space>(right), kind, memory)
        .try_run(out);
  }
  return false;
}

/// Runs distributed::join in memory of `buffers`. Returns: the rows that this rank holds, in
/// `buffers` if `keeps`, and the number of rows on all ranks. Collective.
template <template <class> class Result, class ExecSpace, class Left, class Right, class Buffers>
auto join_over_ranks(karpos::distributed::communicator<ExecSpace> const& ranks, Left const& left,
                     Right const& right, join_kind kind, Buffers& buffers, bool keeps) try {
  static_assert(is_row_view<Left> && is_row_view<Right>,
                "karpos: the sides of a join are rows(column, ...)");
  static_assert(
      std::is_same_v<typename Left::row_type, typename Right::row_type>,
      "karpos: the two sides of a join have columns of the same types, in the same order");
  static_assert(!Left::may_have_nulls && !Right::may_have_nulls,
                "karpos: columns of a join over ranks have no nulls: leave such rows out");
  static_assert(!Left::has_strings,
                "karpos: columns of a join over ranks have no strings: their bytes are not sent; "
                "join by numbers of strings, which karpos::label writes");
  Kokkos::Profiling::ScopedRegion const region("karpos::distributed::join");
  user_call const call("distributed::join");
  require_same(ranks, "the kind of a join", kind);
  run_collectively(ranks, [&] { require_enumerators(kind); });
  auto const& exec = ranks.exec();
  buffers.keeps = keeps;
  std::optional<kept_windows<ExecSpace, karpos::distributed::communicator<ExecSpace>>> kept;
  if (!keeps) kept.emplace(ranks, buffers.windows);
  join_output out(ranks, kind, buffers);
  if (ranks.size() == 1) {
    run_collectively(ranks, [&] { join_alone(exec, left, right, kind, buffers, out); });
  } else if (!try_join_in_windows(ranks, left, right, kind, buffers, out)) {
    auto const mine = send_rows(ranks, left), theirs = send_rows(ranks, right);
    run_collectively(ranks, [&] {
      distributed::join_by_index(exec, as_rows(right, mine.rows), as_rows(right, theirs.rows), kind,
                                 mine.numbers, theirs.numbers, out);
    });
  }
  return Result<typename ExecSpace::memory_space>{out.left(), out.right(),
                                                  ranks.all_reduce(out.size())};
} catch (karpos::distributed::collective_error const&) {
  buffers.windows.close(ranks);
  throw;
}

}  // namespace karpos::detail::distributed
