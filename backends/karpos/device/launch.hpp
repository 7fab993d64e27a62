// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/device/atomics.hpp"
#include "karpos/device/pipeline.hpp"
#include "karpos/device/space.hpp"
#include "karpos/device/tile.hpp"

namespace karpos::device {

namespace detail {

/// Kernel with a tile (cooperative group) for each index. If a tile is one thread, it is an index
/// of a range policy. Else it is a Kokkos thread of a team, whose vector length is W.
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

/// Runs body(tile, i) for every i in [0, n), each on a tile of W lanes. Asynchronous to the host on
/// GPUs; on CPUs returns when the loop has ended.
template <int W, class ExecSpace, class Body>
void for_each_tile(std::string const& label, ExecSpace const& exec, std::uint64_t n,
                   Body const& body) {
  detail::tile_kernel<ExecSpace, W, Body> const kernel{n, body};
  Kokkos::parallel_for(label, kernel.policy(exec), kernel);
}

namespace detail {

/// Launch bounds of a staged body on GPUs: threads of a block, and blocks that a multiprocessor
/// shall hold at once, which limits the registers of a thread. 0 and 0 mean no bounds. A body whose
/// rare branches need many registers declares a member `threads_at_once`: the number of threads
/// that a multiprocessor shall hold.
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

/// Kernel that calls a staged body once for every index: the portable form.
template <class ExecSpace, class Body>
struct unpipelined_kernel {
  index_type n;
  Body body;

  auto policy(ExecSpace const& exec) const {
    // LaunchBounds' second argument limits registers on CUDA alone: on HIP it counts something
    // else.
    constexpr bool bound = native_part<ExecSpace>::bounds_registers;
    using bounds =
        Kokkos::LaunchBounds<bound ? block_threads<Body> : 0, bound ? blocks_at_once<Body> : 0>;
    return Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<index_type>, bounds>(exec, 0, n);
  }
  KOKKOS_FORCEINLINE_FUNCTION staged_result run(index_type i) const {
    auto stage = body.stage(i);
    return body(i, stage);
  }
  KOKKOS_FUNCTION void operator()(index_type i) const { run(i); }
  template <class Tally>
  KOKKOS_FUNCTION void operator()(index_type i, Tally& tally) const {
    staged_result const r = run(i);
    for (int c = 0; c < Tally::counters; ++c) tally[c] += r.counts(c);
  }
};

/// Returns the kernel that runs a staged body. Each thread keeps Distance indices in flight; 0
/// means no pipeline.
template <int Distance, class ExecSpace, class Body>
auto staged_kernel(ExecSpace const& exec, index_type n, Body const& body) {
  if constexpr (Distance == 0)
    return unpipelined_kernel<ExecSpace, Body>{n, body};
  else
    return pipeline<ExecSpace, Distance, Body>(exec, n, body);
}

/// Kernel with one thread for each index, in blocks of 1,024 unless the body has bounds of its own.
/// For each counter, one hardware vote tells a block how many of its threads returned it: a
/// reduction through shared memory costs a tenth of an insertion, three votes nothing. Blocks of
/// 1,024 are the fastest measured: insertions of 2^27 keys at load 0.5 run at 14.6 G/s in blocks of
/// 1,024 and at 14.3 in blocks of 256.
template <class ExecSpace, class Body, class Tally, class... P>
struct voting_kernel {
  static constexpr bool has_bounds = block_threads<Body> != 0;
  static constexpr int block = has_bounds ? block_threads<Body> : 1024;
  static constexpr unsigned blocks = has_bounds ? blocks_at_once<Body> : 1;
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
      auto stage = body.stage(i);
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

/// Runs body(i, stage) for every i in [0, n), where stage = body.stage(i) says what to probe first.
/// If Distance is not 0, the body also has the members that a pipeline needs (pipeline.hpp). If
/// Distance is 0, the body is called once for each index and must not return again(). Asynchronous
/// to the host on GPUs; on CPUs returns when the loop has ended.
template <int Distance, class ExecSpace, class Body>
void for_each_staged(std::string const& label, ExecSpace const& exec, std::uint64_t n,
                     Body const& body) {
  auto const kernel = detail::staged_kernel<Distance>(exec, n, body);
  Kokkos::parallel_for(label, kernel.policy(exec), kernel);
}

/// Runs a staged body as for_each_staged does, and counts how often it returned counted(0),
/// counted(1), … The counts replace those in `tally`, a view of rank zero. Asynchronous to the host
/// on GPUs; on CPUs returns when the loop has ended.
/// Requires: Tally has `counters` counters, accessed as tally[i], and a Kokkos::reduction_identity.
/// If Distance is not 0, it has at most four counters.
template <int Distance, class ExecSpace, class Body, class Tally, class... P>
void tally_each_staged(std::string const& label, ExecSpace const& exec, std::uint64_t n,
                       Body const& body, Kokkos::View<Tally, P...> const& tally) {
  if constexpr (Distance == 0 && native_part<ExecSpace>::counts_votes) {
    using kernel = detail::voting_kernel<ExecSpace, Body, Tally, P...>;
    Kokkos::parallel_for(label + " (zero)", Kokkos::RangePolicy<ExecSpace>(exec, 0, 1),
                         detail::zero_tally<Tally, P...>{tally});
    auto const blocks = static_cast<int>((n + kernel::block - 1) / kernel::block);
    Kokkos::parallel_for(label, typename kernel::policy_type(exec, blocks, kernel::block),
                         kernel{n, body, tally});
  } else {
    auto const kernel = detail::staged_kernel<Distance>(exec, n, body);
    Kokkos::parallel_reduce(
        label, kernel.policy(exec), kernel,
        Kokkos::Sum<Tally, typename Kokkos::View<Tally, P...>::memory_space>(tally));
  }
}

}  // namespace karpos::device
