// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/device/native/step_function.hpp"
#include "karpos/device/space.hpp"

// Software pipelines, by which CPUs run bulk operations whose every index misses the cache. A
// thread probes what index i needs while the data of index i + Distance is on its way, so that
// Distance misses overlap. If one probe does not finish an index, the index is deferred. Whenever
// enough indices are deferred, they get a pipeline of their own over the data that they need next.
// A stage says what a probe reads. A body has
//
//   home(i)                returns where to probe first, in 64 bits: a bucket, a hash
//   first_stage(i, home)   returns the stage of the first probe; fetch and probing may use it,
//                          move_on may not
//   stage(i)               returns that stage in a form that move_on may use, too
//   fetch(stage)           prefetches what the probe at that stage reads
//   operator()(i, stage)   probes; returns a staged_result
//   move_on(stage)         moves on to the next stage, after staged_result::again()
//
// All calls that a body makes for an index are inlined by force (flatten), however large the source
// is: in large sources compilers stop inlining functions of any size, and a call for each index
// costs up to half of the speed.
//
// Source: group prefetching and software pipelining after Chen, Ailamaki, Gibbons, Mowry,
// "Improving hash join performance through prefetching", ICDE 2004.
// Measured: perf/results/cpu/pipelines.md, crowded_sources.md.

namespace karpos::device {

/// The result of one probe by a staged body.
class staged_result {
 public:
  /// Done; no counter counts the index.
  KOKKOS_FUNCTION static constexpr staged_result done() { return {0, -1}; }
  /// Done; the given counter of a tally counts the index.
  KOKKOS_FUNCTION static constexpr staged_result counted(int counter) { return {0, counter}; }
  /// Not done: the body is to be called again with the next stage.
  KOKKOS_FUNCTION static constexpr staged_result again() { return {1, -1}; }
  /// Returns again() if `again` is 1, and done() if it is 0. The argument is an integer because g++
  /// keeps a bool in a byte register, and adds instructions that extend it.
  KOKKOS_FUNCTION static constexpr staged_result done_unless(std::uint32_t again) {
    return {again, -1};
  }

  KOKKOS_FUNCTION constexpr bool is_again() const { return m_again != 0; }
  KOKKOS_FUNCTION constexpr std::uint32_t again_bit() const { return m_again; }
  KOKKOS_FUNCTION constexpr bool counts(int counter) const { return m_counter == counter; }
  /// Returns 1 << (16 * c) for counter c < 4, and 0 if none counts. In sums of up to 65,535 results
  /// the counters stay apart.
  KOKKOS_FUNCTION constexpr std::uint64_t counted_in_16_bits() const {
    return static_cast<std::uint64_t>(m_counter >= 0) << (16 * Kokkos::max(m_counter, 0));
  }

 private:
  KOKKOS_FUNCTION constexpr staged_result(std::uint32_t again, int counter)
      : m_again(again),
        m_counter(counter) {}
  std::uint32_t m_again;
  int m_counter;
};

namespace detail {

using index_type = std::uint64_t;

/// The pipelines over blocks of indices; a thread runs one block at a time. Whether a probe
/// finished its index is a bit and not a branch, for no predictor could foresee it. The bits of
/// Distance probes are read together. Between prefetch and probe only the home of an index is kept:
/// storing whole stages costs more than computing them again.
template <class ExecSpace, int Distance, class Body>
class pipeline {
  static_assert(0 < Distance && Distance <= 64);  // a bit for each index in a word
  static_assert(
      device::is_device<ExecSpace> || std::is_trivially_copyable_v<Body>,
      "karpos: a pipeline copies its body, which must be trivially copyable: give it views "
      "and functions by device::for_loop (loop_arguments.hpp)");

 public:
  pipeline(ExecSpace const& exec, index_type count, Body const& b) : m_count(count), m_body(b) {
    // A block is long enough to fill the pipeline, and short enough to keep every thread busy.
    index_type const share = count / (4 * static_cast<index_type>(exec.concurrency())) + 1;
    m_block = Kokkos::clamp(share, index_type(4 * Distance), index_type(16384));  // sums: 16 bits
  }
  /// Returns a policy that gives blocks to idle threads: other work on a machine slows threads down
  /// unequally.
  auto policy(ExecSpace const& exec) const {
    return Kokkos::RangePolicy<ExecSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                               Kokkos::IndexType<index_type>>(exec, 0,
                                                              (m_count + m_block - 1) / m_block);
  }
  KARPOS_FLATTEN [[gnu::noinline]] KOKKOS_FUNCTION void operator()(index_type block) const {
    run(block, [](staged_result) {});
  }
  template <class Tally>
  KARPOS_FLATTEN [[gnu::noinline]] KOKKOS_FUNCTION void operator()(index_type block,
                                                                   Tally& tally) const {
    static_assert(Tally::counters <= 4);
    std::uint64_t sums = 0;
    run(block, [&](staged_result r) { sums += r.counted_in_16_bits(); });
    for (int c = 0; c < Tally::counters; ++c) tally[c] += sums >> 16 * c & 0xffff;
  }

 private:
  using stage = decltype(std::declval<Body const&>().stage(index_type()));

  /// Deferred indices, and their stages.
  struct unfinished {
    static constexpr index_type capacity = 4 * Distance;
    index_type index[capacity];
    stage at[capacity];
    index_type started = 0;

    /// Probes each index at its next stage. Returns the number of indices that are not done. Not
    /// inlined: the loop that calls it is short of registers.
    template <class Done>
    KARPOS_FLATTEN [[gnu::noinline]] KOKKOS_FUNCTION index_type probe_deferred(Body const& body,
                                                                               index_type count,
                                                                               Done const& done) {
      Body const work = body;
      for (; started < count; ++started) {
        at[started] = work.stage(index[started]);
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

  /// Runs a block; calls done(result) after every probe.
  template <class Done>
  KOKKOS_FUNCTION void run(index_type block, Done const& done) const {
    Body const work = m_body;  // its address is known to no other function: it stays in registers
    index_type const first = block * m_block, last = Kokkos::min(first + m_block, m_count);
    unfinished rest;
    index_type waiting = 0;
    std::uint64_t homes[Distance];
    auto const fetch = [&](index_type i) {
      std::uint64_t const home = work.home(i);
      homes[i % Distance] = home;
      work.fetch(work.first_stage(i, home));
    };
    for (index_type i = first; i < first + Distance && i < last; ++i) fetch(i);
    for (index_type begin = first; begin < last; begin += Distance) {
      index_type const end = Kokkos::min(begin + Distance, last);
      std::uint64_t undecided = 0;  // bit j: index end - 1 - j
      for (index_type i = begin; i < end; ++i) {
        auto s = work.first_stage(i, homes[i % Distance]);
        if (i + Distance < last) fetch(i + Distance);
        staged_result const result = work(i, s);
        done(result);
        undecided += undecided + result.again_bit();
      }
      for (; undecided != 0; undecided &= undecided - 1)
        rest.index[waiting++] =
            end - 1 - static_cast<index_type>(Kokkos::Experimental::countr_zero_builtin(undecided));
      while (waiting + Distance > rest.capacity)
        waiting = rest.probe_deferred(m_body, waiting, done);
    }
    while (waiting > 0) waiting = rest.probe_deferred(m_body, waiting, done);
  }

  index_type m_count, m_block = 1;
  Body m_body;
};

}  // namespace detail
}  // namespace karpos::device
