// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"
#include "perf/measure/support/timer.hpp"

// Ceilings: what the memory of a machine allows, measured over as many bytes as a table takes. They
// are random aligned reads, random compare-and-swap, and a streaming copy. Each is the fastest of
// several variants of its kernel, so a ratio to it says how much there is to gain.

namespace karpos::perf {

/// One ceiling: `operations` accesses of `bytes_each` bytes each took `time`.
struct ceiling {
  std::string name;     ///< random_read, random_cas, copy
  std::string variant;  ///< the fastest variant
  std::uint64_t operations = 0;
  int bytes_each = 0;  ///< copy: read plus written
  samples time;

  double rate() const { return static_cast<double>(operations) / time.median(); }
  double bytes_per_second() const { return rate() * bytes_each; }
};

template <int Bytes>
struct alignas(Bytes) memory_line {
  std::uint64_t words[Bytes / 8];
};

KOKKOS_FUNCTION constexpr std::uint64_t random_index(std::uint64_t i, std::uint64_t n) {
  return multiply_high(mix(i), n);
}

/// The cache that a line is prefetched into; the values are locality hints of __builtin_prefetch.
enum class level { first = 3, second = 2 };

/// Prefetches a line for reading, even if it will be written: on hosts this was measured to be
/// faster than prefetching it for writing.
template <level To>
KOKKOS_FUNCTION void fetch([[maybe_unused]] void const* p) {
  KOKKOS_IF_ON_HOST((__builtin_prefetch(p, 0, static_cast<int>(To));))
}

/// Runs access(address) for the random addresses of one block of indices on a CPU. Each address is
/// prefetched `Distance` accesses ahead, which keeps the CPU's line buffers full. Blocks are
/// scheduled dynamically, as in the library.
template <class Access, int Distance, level To>
struct pipelined_block {
  using item = typename Access::item;
  static constexpr bool writes = Access::writes;
  Access access;
  std::uint64_t n, block, items;
  item* data;

  KOKKOS_FUNCTION void operator()(std::uint64_t b) const {
    item* ahead[Distance];
    std::uint64_t const first = b * block;
    std::uint64_t const last = first + block < n ? first + block : n;
    for (std::uint64_t i = first; i < first + Distance; ++i) ahead[i % Distance] = start(i);
    std::uint64_t gathered = 0;
    for (std::uint64_t i = first; i < last; ++i) {
      item* const p = ahead[i % Distance];
      ahead[i % Distance] = start(i + Distance);
      gathered ^= access(p, i);
    }
    access.finish(gathered);
  }
  KOKKOS_FUNCTION item* start(std::uint64_t i) const {
    item* const p = data + random_index(i, items);
    fetch<To>(p);
    return p;
  }
};

/// Runs `PerThread` independent accesses in each thread, the pattern that suits a GPU. Neighbouring
/// threads take neighbouring indices.
template <class Access, int PerThread>
struct independent {
  using item = typename Access::item;
  static constexpr bool writes = Access::writes;
  Access access;
  std::uint64_t n, threads, items;
  item* data;

  KOKKOS_FUNCTION void operator()(std::uint64_t t) const {
    std::uint64_t gathered[PerThread];
    for (int k = 0; k < PerThread; ++k) {
      std::uint64_t const i = t + static_cast<std::uint64_t>(k) * threads;
      gathered[k] = access(data + random_index(i, items), i);
    }
    for (int k = 1; k < PerThread; ++k) gathered[0] ^= gathered[k];
    access.finish(gathered[0]);
  }
};

/// Reads a whole aligned line.
template <int Bytes>
struct read_line {
  using item = memory_line<Bytes>;
  static constexpr bool writes = false;
  std::uint64_t* sink;

  KOKKOS_FUNCTION std::uint64_t operator()(item const* p, std::uint64_t) const {
    item const line = *p;
    std::uint64_t all = line.words[0];
    for (int w = 1; w < Bytes / 8; ++w) all ^= line.words[w];
    return all;
  }
  KOKKOS_FUNCTION void finish(std::uint64_t gathered) const {
    if (gathered == 0x123456789abcdefULL) *sink = gathered;  // never true; keeps the reads alive
  }
};

/// Swaps a word whose bits are all set for the index. Succeeds once for each word.
template <class Word>
struct swap_word {
  using item = Word;
  static constexpr bool writes = true;
  std::uint64_t* sink;

  KOKKOS_FUNCTION std::uint64_t operator()(item* p, std::uint64_t i) const {
    if constexpr (std::is_same_v<Word, device::word16>)
      return device::compare_and_swap(p, device::word16{~0ULL, ~0ULL}, device::word16{i, i}).lo;
    else
      return device::compare_and_swap(p, ~std::uint64_t(0), i);
  }
  KOKKOS_FUNCTION void finish(std::uint64_t gathered) const {
    if (gathered == 0x123456789abcdefULL) *sink = gathered;
  }
};

template <class ExecSpace>
class ceilings {
 public:
  static constexpr int line_bytes = device::is_device<ExecSpace> ? 32 : 64;

  /// Measures over `bytes` bytes with `operations` accesses a repetition. Makes fewer accesses if
  /// all readings of one ceiling would take longer than five seconds, and at most 25 repetitions.
  ceilings(ExecSpace const& exec, std::size_t bytes, std::uint64_t operations, int repetitions = 5)
      : m_exec(exec),
        m_timer(exec),
        m_operations(operations),
        m_repetitions(std::min(repetitions, max_repetitions)),
        m_memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "karpos::perf::ceilings"),
                 (bytes + line_bytes - 1) / line_bytes),
        m_sink("karpos::perf::sink", 1) {
    if constexpr (std::is_same_v<typename ExecSpace::memory_space, Kokkos::HostSpace>)
      device::host::advise_huge_pages(m_memory.data(), m_memory.extent(0) * line_bytes);
    reset();
  }

  ceiling random_read() {
    return best<read_line<line_bytes>>("random_read", [] {});
  }
  /// Reads single words of 8 bytes, as the GUPS benchmark does, of which memory moves a line each.
  ceiling random_word_read() {
    return best<read_line<8>>("random_word_read", [] {});
  }
  /// Swaps 8-byte words; or 16-byte words, if `wide` is set and the space swaps those in one
  /// instruction.
  ceiling random_cas(bool wide) {
    if constexpr (device::is_lock_free<16, ExecSpace>)
      if (wide) return best<swap_word<device::word16>>("random_cas", [this] { reset(); });
    return best<swap_word<std::uint64_t>>("random_cas", [this] { reset(); });
  }
  /// Copies one half of the memory to the other.
  ceiling copy() {
    std::size_t const half = m_memory.extent(0) / 2;
    auto const from = Kokkos::subview(m_memory, std::make_pair(std::size_t(0), half));
    auto const to = Kokkos::subview(m_memory, std::make_pair(half, 2 * half));
    ceiling c{"copy", "deep_copy", half, 2 * line_bytes, {}};
    c.time = m_timer.repeat(m_repetitions, [&] { Kokkos::deep_copy(m_exec, to, from); });
    return c;
  }

 private:
  using line = memory_line<line_bytes>;

  static constexpr double max_seconds = 5;
  static constexpr int max_repetitions = 25;
  static constexpr int ways = device::is_device<ExecSpace> ? 3 : 5;  // variants that best() tries
  static constexpr std::uint64_t pilot_operations = std::uint64_t(1) << 20;

  /// Sets all bits, as swap_word expects. This also touches every page.
  void reset() {
    std::uint64_t const words = m_memory.extent(0) * (line_bytes / 8);
    Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space> const flat(
        reinterpret_cast<std::uint64_t*>(m_memory.data()), words);
    Kokkos::deep_copy(m_exec, flat, ~std::uint64_t(0));
  }

  template <class Access, class Prepare>
  ceiling best(char const* name, Prepare const& prepare) {
    ceiling c{name, "", affordable<Access>(), static_cast<int>(sizeof(typename Access::item)), {}};
    if constexpr (device::is_device<ExecSpace>) {
      try_independent<Access, 1>(c, prepare);
      try_independent<Access, 2>(c, prepare);
      try_independent<Access, 4>(c, prepare);
    } else {
      try_pipelined<Access, 16, level::first>(c, prepare);
      try_pipelined<Access, 64, level::first>(c, prepare);
      try_pipelined<Access, 32, level::second>(c, prepare);
      try_pipelined<Access, 64, level::second>(c, prepare);
      try_pipelined<Access, 128, level::second>(c, prepare);
    }
    return c;
  }
  /// Returns m_operations, or as many as all readings make in max_seconds if these are fewer. At
  /// least min(m_operations, pilot_operations), which are enough to measure a rate.
  template <class Access>
  std::uint64_t affordable() {
    if (m_operations <= pilot_operations) return m_operations;
    double const each = pilot_seconds<Access>() / static_cast<double>(pilot_operations);
    double const fit = max_seconds / (ways * (m_repetitions + 1)) / each;
    if (!(fit < static_cast<double>(m_operations))) return m_operations;
    return std::max(pilot_operations, static_cast<std::uint64_t>(fit));
  }
  template <class Access>
  double pilot_seconds() {
    std::uint64_t const n = pilot_operations;
    if constexpr (device::is_device<ExecSpace>)
      return m_timer.once(
          [] {},
          [&] {
            run(n, "pilot",
                independent<Access, 1>{{m_sink.data()}, n, n, count<Access>(), data<Access>()});
          });
    else
      return m_timer.once([] {},
                          [&] {
                            run(n / 4096, "pilot",
                                pipelined_block<Access, 16, level::first>{
                                    {m_sink.data()}, n, 4096, count<Access>(), data<Access>()});
                          });
  }
  template <class Kernel>
  void run(std::uint64_t n, std::string const& name, Kernel const& kernel) {
    using schedule = Kokkos::Schedule<
        std::conditional_t<device::is_device<ExecSpace>, Kokkos::Static, Kokkos::Dynamic>>;
    using policy = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>, schedule>;
    policy all(m_exec, 0, n);
    if constexpr (!device::is_device<ExecSpace>) all.set_chunk_size(1);
    Kokkos::parallel_for("karpos::perf::" + name, all, kernel);
  }
  template <class Access, int PerThread, class Prepare>
  void try_independent(ceiling& c, Prepare const& prepare) {
    std::uint64_t const threads = (c.operations + PerThread - 1) / PerThread;
    keep_faster(c, std::to_string(PerThread) + " per thread", prepare, threads,
                independent<Access, PerThread>{
                    {m_sink.data()}, c.operations, threads, count<Access>(), data<Access>()});
  }
  template <class Access, int Distance, level To, class Prepare>
  void try_pipelined(ceiling& c, Prepare const& prepare) {
    // Blocks are long, since the first accesses of a block wait for memory, but there are several
    // per thread.
    std::uint64_t const share =
        c.operations / (8 * static_cast<std::uint64_t>(m_exec.concurrency()));
    std::uint64_t const block = std::clamp<std::uint64_t>(share, 1024, 16384);
    std::uint64_t const blocks = (c.operations + block - 1) / block;
    keep_faster(c,
                "prefetch " + std::to_string(Distance) + " ahead into " +
                    (To == level::first ? "L1" : "L2"),
                prepare, blocks,
                pipelined_block<Access, Distance, To>{
                    {m_sink.data()}, c.operations, block, count<Access>(), data<Access>()});
  }
  template <class Prepare, class Kernel>
  void keep_faster(ceiling& c, std::string const& variant, Prepare const& prepare, std::uint64_t n,
                   Kernel const& kernel) {
    auto const all = [&] { run(n, c.name, kernel); };
    samples const time = Kernel::writes ? m_timer.repeat(m_repetitions, prepare, all)
                                        : m_timer.repeat(m_repetitions, all);
    if (c.variant.empty() || time.median() < c.time.median()) {
      c.variant = variant;
      c.time = time;
    }
  }
  template <class Access>
  typename Access::item* data() {
    return reinterpret_cast<typename Access::item*>(m_memory.data());
  }
  template <class Access>
  std::uint64_t count() const {
    return m_memory.extent(0) * line_bytes / sizeof(typename Access::item);
  }

  ExecSpace m_exec;
  timer<ExecSpace> m_timer;
  std::uint64_t m_operations;
  int m_repetitions;
  Kokkos::View<line*, typename ExecSpace::memory_space> m_memory;
  Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space> m_sink;
};

}  // namespace karpos::perf
