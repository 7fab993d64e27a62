// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/device/atomics.hpp"
#include "karpos/device/space.hpp"
#include "karpos/device/tile.hpp"

namespace karpos::device {

namespace detail {

using index_type = std::uint64_t;

/// One tile for each index: a thread of a range, or a thread of vector length W of a team where tiles span threads.
template <class ExecSpace, int W, class Body>
struct tile_kernel {
  using tile_type = tile_for<ExecSpace, W>;
  using team_member =
      typename Kokkos::TeamPolicy<ExecSpace, Kokkos::IndexType<index_type>>::member_type;
  static constexpr int team_size = 256 / W;
  static constexpr bool in_teams = tile_threads<ExecSpace, W> > 1;

  index_type n;
  Body body;

  KOKKOS_FUNCTION void operator()(index_type i) const { body(tile_type{}, i); }
  KOKKOS_FUNCTION void operator()(team_member const& team) const {
    for (index_type i = first(team); i < n; i += stride(team))
      body(native_part<ExecSpace>::template make_tile<W>(team), i);
  }
  KOKKOS_FUNCTION static index_type first(team_member const& team) {
    return static_cast<index_type>(team.league_rank()) * team_size +
           static_cast<index_type>(team.team_rank());
  }
  KOKKOS_FUNCTION static index_type stride(team_member const& team) {
    return static_cast<index_type>(team.league_size()) * team_size;
  }

  auto policy(ExecSpace const& exec) const {
    index_type const teams = (n + team_size - 1) / team_size;
    if constexpr (in_teams)
      return Kokkos::TeamPolicy<ExecSpace, Kokkos::IndexType<index_type>>(
          exec, static_cast<int>(Kokkos::min(teams, index_type(1) << 30)), team_size, W);
    else
      return Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<index_type>>(exec, 0, n);
  }
};

}  // namespace detail

/// Runs body(tile, i) for every i in [0, n), a tile of W lanes each. Asynchronous to the host.
template <int W, class ExecSpace, class Body>
void for_each_tile(std::string const& label, ExecSpace const& exec, std::uint64_t n,
                   Body const& body) {
  detail::tile_kernel<ExecSpace, W, Body> const kernel{n, body};
  Kokkos::parallel_for(label, kernel.policy(exec), kernel);
}

/// What a staged body says of its index.
class staged_result {
 public:
  /// Done, and counted by no counter.
  KOKKOS_FUNCTION static constexpr staged_result done() { return staged_result(-1); }
  /// Done, and counted by that counter of a tally.
  KOKKOS_FUNCTION static constexpr staged_result counted(int counter) {
    return staged_result(counter);
  }
  /// Not done: call again with the next stage.
  KOKKOS_FUNCTION static constexpr staged_result again() { return staged_result(-2); }
  KOKKOS_FUNCTION static constexpr staged_result done_unless(bool again) {
    return staged_result(-1 - static_cast<int>(again));
  }

  KOKKOS_FUNCTION constexpr bool is_again() const { return m_code == -2; }
  KOKKOS_FUNCTION constexpr bool counts(int counter) const { return m_code == counter; }

 private:
  KOKKOS_FUNCTION constexpr explicit staged_result(int code) : m_code(code) {}
  int m_code;
};

namespace detail {

/// What a staged body wants of GPUs: threads of a block, and blocks that a multiprocessor shall hold at once, which
/// limits the registers of a thread; 0, 0: as it comes. A body whose rare branches need many registers says so by a
/// member `threads_at_once`, the sum over the blocks of a multiprocessor.
template <class Body>
inline constexpr unsigned block_threads = 0;
template <class Body>
inline constexpr unsigned blocks_at_once = 0;
template <class Body>
  requires(Body::threads_at_once > 0)
inline constexpr unsigned block_threads<Body> = 128;
template <class Body>
  requires(Body::threads_at_once > 0)
inline constexpr unsigned blocks_at_once<Body> = Body::threads_at_once / block_threads<Body>;

/// Runs a staged body over blocks of indices. With Distance 0 every index is asked once: it is done then. Else one CPU
/// thread works in straight pipelines, so that as many cache misses overlap: it looks at index i while what i + Distance
/// needs is on its way. Indices that are not done wait, and whenever enough of them do, they get a pipeline of their own.
/// Whether a first look was enough decides no branch, for no predictor could know. Calls done(result) for every look.
///
/// Source: group prefetching and software pipelining after Chen, Ailamaki, Gibbons, Mowry, "Improving hash join performance
/// through prefetching", ICDE 2004.
template <class ExecSpace, int Distance, class Body>
struct pipelined {
  using stage = decltype(std::declval<Body const&>().start(index_type(), std::uint64_t()));
  index_type n, block = 1;
  Body body;

  pipelined(ExecSpace const& exec, index_type count, Body const& b) : n(count), body(b) {
    if constexpr (Distance > 0) {
      // Long enough to fill the pipeline, short enough to keep every thread busy.
      index_type const share = n / (4 * static_cast<index_type>(exec.concurrency())) + 1;
      block = Kokkos::clamp(share, index_type(4 * Distance), index_type(16384));
    }
  }
  auto policy(ExecSpace const& exec) const {
    // What LaunchBounds' second argument does to registers is CUDA's: on HIP it counts something else.
    constexpr bool bound = native_part<ExecSpace>::bounds_registers;
    using bounds =
        Kokkos::LaunchBounds<bound ? block_threads<Body> : 0, bound ? blocks_at_once<Body> : 0>;
    // Blocks of CPUs go to whoever is free: neighbours on a machine slow threads down unequally.
    using schedule =
        Kokkos::Schedule<std::conditional_t<(Distance > 0), Kokkos::Dynamic, Kokkos::Static>>;
    return Kokkos::RangePolicy<ExecSpace, schedule, Kokkos::IndexType<index_type>, bounds>(
        exec, 0, (n + block - 1) / block);
  }

  /// Indices for which a first look was not enough, and how far they are.
  struct unfinished {
    static constexpr index_type room = 4 * Distance;
    index_type index[room];
    stage at[room];
    index_type started = 0;

    /// Looks at the next stage of each. Returns: how many are left.
    template <class Done>
    KOKKOS_FUNCTION index_type look(Body const& work, index_type count, Done const& done) {
      for (; started < count; ++started) {
        at[started] = work.start(index[started], work.hash(index[started]));
        work.move_on(at[started]);
      }
      for (index_type j = 0; j < count && j < Distance; ++j) work.fetch(at[j]);
      index_type left = 0;
      for (index_type j = 0; j < count; ++j) {
        if (j + Distance < count) work.fetch(at[j + Distance]);
        staged_result const result = work(index[j], at[j]);
        done(result);
        if (!result.is_again()) continue;
        index[left] = index[j];
        at[left] = at[j];
        work.move_on(at[left++]);
      }
      return started = left;
    }
  };

  template <class Done>
  KOKKOS_FORCEINLINE_FUNCTION void run(index_type b, Done const& done) const {
    if constexpr (Distance == 0) {
      auto s = body.start(b, body.hash(b));
      done(body(b, s));
    } else {
      Body const work = body;  // a copy that stays in registers
      index_type const first = b * block, last = Kokkos::min(first + block, n);
      unfinished rest;
      index_type waiting = 0;
      std::uint64_t hashes
          [Distance];  // alone: whole stages that are stored and loaded again cost more than they save
      auto const fetch = [&](index_type i) {
        std::uint64_t const h = work.hash(i);
        hashes[i % Distance] = h;
        work.fetch(work.start(i, h));
      };
      for (index_type i = first; i < first + Distance && i < last; ++i) fetch(i);
      for (index_type i = first; i < last; ++i) {
        auto s = work.start(i, hashes[i % Distance]);
        if (i + Distance < last) fetch(i + Distance);
        staged_result const result = work(i, s);
        done(result);
        rest.index[waiting] = i;
        waiting += result.is_again();
        while (waiting == rest.room) waiting = rest.look(work, waiting, done);
      }
      while (waiting > 0) waiting = rest.look(work, waiting, done);
    }
  }

  KOKKOS_FUNCTION void operator()(index_type b) const {
    run(b, [](staged_result) {});
  }
  template <class Tally>
  KOKKOS_FUNCTION void operator()(index_type b, Tally& tally) const {
    Tally sum{};
    run(b, [&](staged_result r) {
      for (int c = 0; c < Tally::counters; ++c) sum[c] += r.counts(c);
    });
    for (int c = 0; c < Tally::counters; ++c) tally[c] += sum[c];
  }
};

/// One thread per index in blocks of 1,024, counters voted on by the block: a reduction through shared memory
/// costs a tenth of an insertion, three votes nothing. The block size is the measured one: insertions of 2^27
/// keys at load 0.5 run at 14.6 G/s in blocks of 1,024 and 14.3 in blocks of 256.
template <class ExecSpace, class Body, class Tally, class... P>
struct voting {
  static constexpr bool asks = block_threads<Body> != 0;
  static constexpr int block = asks ? block_threads<Body> : 1024;
  static constexpr unsigned blocks = asks ? blocks_at_once<Body> : 1;
  using policy_type = Kokkos::TeamPolicy<ExecSpace, Kokkos::IndexType<index_type>,
                                         Kokkos::LaunchBounds<block, blocks>>;
  index_type n;
  Body body;
  Kokkos::View<Tally, P...> tally;

  KOKKOS_FUNCTION void operator()(typename policy_type::member_type const& team) const {
    auto const i = static_cast<index_type>(team.league_rank()) * block +
                   static_cast<index_type>(team.team_rank());
    auto r = staged_result::done();
    if (i < n) {
      auto stage = body.start(i, body.hash(i));
      r = body(i, stage);
    }
    for (int c = 0; c < Tally::counters; ++c) {
      int const count = native_part<ExecSpace>::count_votes(r.counts(c));
      if (count > 0 && team.team_rank() == 0)
        Kokkos::atomic_add(&tally()[c], static_cast<std::uint64_t>(count));
    }
  }
};

template <class Tally, class... P>
struct zero_tally {
  Kokkos::View<Tally, P...> tally;
  KOKKOS_FUNCTION void operator()(int) const { tally() = Tally{}; }
};

}  // namespace detail

/// Runs body(i, stage) for every i in [0, n), stage = body.start(i, body.hash(i)), which is the place where to look first.
/// Where Distance is not 0, the body also has
///
///   fetch(stage)     begins to bring near what a look at that stage reads; called that many indices ahead of the look
///   move_on(stage)   on to the next stage of an index of which the body said staged_result::again(); it is then called again
///
/// and start runs more than once for an index. With Distance 0 a body is called once. Asynchronous to the host.
template <int Distance, class ExecSpace, class Body>
void for_each_staged(std::string const& label, ExecSpace const& exec, std::uint64_t n,
                     Body const& body) {
  detail::pipelined<ExecSpace, Distance, Body> const kernel(exec, n, body);
  Kokkos::parallel_for(label, kernel.policy(exec), kernel);
}

/// As for_each_staged; counts in a view of rank zero how often the body returned counted(0), counted(1), …
/// Tally has `counters` of them, reached by tally[i], and a Kokkos::reduction_identity. Asynchronous.
template <int Distance, class ExecSpace, class Body, class Tally, class... P>
void tally_each_staged(std::string const& label, ExecSpace const& exec, std::uint64_t n,
                       Body const& body, Kokkos::View<Tally, P...> const& tally) {
  if constexpr (Distance == 0 && native_part<ExecSpace>::counts_votes) {
    using kernel = detail::voting<ExecSpace, Body, Tally, P...>;
    Kokkos::parallel_for(label + " (zero)", Kokkos::RangePolicy<ExecSpace>(exec, 0, 1),
                         detail::zero_tally<Tally, P...>{tally});
    auto const blocks = static_cast<int>((n + kernel::block - 1) / kernel::block);
    Kokkos::parallel_for(label, typename kernel::policy_type(exec, blocks, kernel::block),
                         kernel{n, body, tally});
  } else {
    detail::pipelined<ExecSpace, Distance, Body> const kernel(exec, n, body);
    Kokkos::parallel_reduce(
        label, kernel.policy(exec), kernel,
        Kokkos::Sum<Tally, typename Kokkos::View<Tally, P...>::memory_space>(tally));
  }
}

}  // namespace karpos::device
