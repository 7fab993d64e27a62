// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

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
  /// Not done: call again with the same stage, once what was prefetched had time to come.
  KOKKOS_FUNCTION static constexpr staged_result again() { return staged_result(-2); }

  KOKKOS_FUNCTION constexpr bool is_again() const { return m_code == -2; }
  KOKKOS_FUNCTION constexpr bool is_counted() const { return m_code >= 0; }
  KOKKOS_FUNCTION constexpr bool counts(int counter) const { return m_code == counter; }
  KOKKOS_FUNCTION constexpr int counter() const { return m_code; }

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

/// Runs a staged body over blocks of indices. One CPU thread keeps `Distance` of them in flight, so that as
/// many cache misses overlap; an index that must look further waits its turn in the ring like a new one. With Distance 0
/// every index is asked once: it is done then. Calls done(result) for every index.
///
/// Source: Kocberber, Falsafi, Grot, "Asynchronous memory access chaining", VLDB 2015.
template <class ExecSpace, int Distance, class Body>
struct pipelined {
  static_assert(Distance == 0 || (Distance & (Distance - 1)) == 0);
  index_type n, block = 1;
  Body body;

  pipelined(ExecSpace const& exec, index_type count, Body const& b) : n(count), body(b) {
    if constexpr (Distance > 0) {
      // Long enough to fill the pipeline, short enough to keep every thread busy.
      index_type const share = n / (4 * static_cast<index_type>(exec.concurrency())) + 1;
      block = Kokkos::clamp(share, index_type(4 * Distance), index_type(4096));
    }
  }
  auto policy(ExecSpace const& exec) const {
    // What LaunchBounds' second argument does to registers is CUDA's: on HIP it counts something else.
    constexpr bool bound = native_part<ExecSpace>::bounds_registers;
    using bounds =
        Kokkos::LaunchBounds<bound ? block_threads<Body> : 0, bound ? blocks_at_once<Body> : 0>;
    return Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<index_type>, bounds>(
        exec, 0, (n + block - 1) / block);
  }

  template <class Done>
  KOKKOS_FUNCTION void run(index_type b, Done const& done) const {
    if constexpr (Distance == 0) {
      auto stage = body.prepare(b);
      done(body(b, stage));
    } else {
      struct in_flight {
        index_type i;
        decltype(body.prepare(index_type())) stage;
      } ring[Distance];
      Body const work = body;  // a copy that stays in registers
      index_type next = b * block;
      index_type const last = Kokkos::min(next + block, n);
      int active = 0;
      for (; active < Distance && next < last; ++next) ring[active++] = {next, work.prepare(next)};
      while (active > 0) {
        for (int r = 0; r < active; ++r) {
          staged_result const result = work(ring[r].i, ring[r].stage);
          if (result.is_again()) continue;
          done(result);
          if (next < last) {
            ring[r] = {next, work.prepare(next)};
            ++next;
          } else {
            ring[r--] = ring[--active];
          }
        }
      }
    }
  }

  KOKKOS_FUNCTION void operator()(index_type b) const {
    run(b, [](staged_result) {});
  }
  template <class Tally>
  KOKKOS_FUNCTION void operator()(index_type b, Tally& tally) const {
    run(b, [&](staged_result r) {
      if (r.is_counted()) ++tally[r.counter()];
    });
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
      auto stage = body.prepare(i);
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

/// Runs body(i, stage) for every i in [0, n), stage = body.prepare(i). prepare computes addresses and starts to
/// fetch them; where Distance is not 0 it runs that many indices ahead of the work, and a body that returns
/// staged_result::again() has changed its stage and is called again. With Distance 0 a body is called once.
/// Asynchronous to the host.
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
