// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cost of a launch, by its form, and of an atomic operation, by the library that provides it: the
/// figures of docs/design/launches.md. Prints medians; takes no arguments.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/program.hpp"
#include "karpos/hash.hpp"
#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda/atomic>
#endif

namespace {

namespace device = karpos::device;
using space = KARPOS_DRIVER_SPACE;
using memory = typename space::memory_space;
template <class T>
using array = Kokkos::View<T*, memory>;

/// Returns the median seconds of f() and a fence.
template <class F>
double median(F const& f, int times = 21) {
  std::vector<double> seconds;
  for (int i = 0; i < times + 2; ++i) {
    space{}.fence();
    auto const start = std::chrono::steady_clock::now();
    f();
    space{}.fence();
    std::chrono::duration<double> const d = std::chrono::steady_clock::now() - start;
    if (i >= 2) seconds.push_back(d.count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + times / 2, seconds.end());
  return seconds[static_cast<std::size_t>(times / 2)];
}

// ---- Launches

constexpr int launches = 50;

void report_launch(char const* what, double seconds) {
  std::printf("%-58s %8.2f us\n", what, seconds / launches * 1e6);
}

struct empty_range {
  std::uint64_t* out;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (i == 0) out[0] += 1;
  }
};

/// Every thread writes a word of scratch.
template <int Level>
struct empty_team {
  using member = typename Kokkos::TeamPolicy<space>::member_type;
  std::uint64_t* out;
  int bytes;
  KOKKOS_FUNCTION void operator()(member const& m) const {
    auto* const words = static_cast<std::uint32_t*>(m.team_scratch(Level).get_shmem(bytes));
    if (bytes > 0) words[m.team_rank()] = static_cast<std::uint32_t>(m.league_rank());
    m.team_barrier();
    if (m.league_rank() == 0 && m.team_rank() == 0) out[0] += bytes > 0 ? words[0] : 1;
  }
};
template <int Bytes>
struct empty_league_step {
  static constexpr int threads = 256, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = Bytes;
  std::uint64_t* out;
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto* const words = reinterpret_cast<std::uint32_t*>(t.scratch());
    words[t.rank()] = static_cast<std::uint32_t>(t.league_rank());
    t.barrier();
    if (t.league_rank() == 0 && t.rank() == 0) out[0] += words[0];
  }
};

template <int Level>
void team_policy(char const* what, int league, int bytes, std::uint64_t* out) {
  using policy = Kokkos::TeamPolicy<space>;
  constexpr int threads = device::is_device<space> ? 256 : 1;
  if (bytes + 4096 > policy::scratch_size_max(Level)) {
    std::printf("%-58s  refused by Kokkos\n", what);
    return;
  }
  report_launch(
      what, median([&] {
        for (int i = 0; i < launches; ++i)
          Kokkos::parallel_for(
              "karpos_bench::team",
              policy(space{}, league, threads).set_scratch_size(Level, Kokkos::PerTeam(bytes)),
              empty_team<Level>{out, bytes});
      }));
}
template <int Bytes>
void league(char const* what, int teams, std::uint64_t* out) {
  report_launch(what, median([&] {
                  for (int i = 0; i < launches; ++i)
                    device::for_each_in_league("karpos_bench::league", space{}, teams,
                                               empty_league_step<Bytes>{out});
                }));
}

struct program_state {
  std::uint64_t* out;
};
template <class StateHandle>
struct empty_step {
  [[maybe_unused]] static constexpr char const* label = "karpos_bench::step";
  StateHandle s;
  static std::uint64_t work() { return 1 << 20; }  // large enough for all threads of a CPU
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    if (team.league_rank() == 0 && team.rank() == 0) s->out[0] += 1;
  }
};
struct empty_program {
  [[maybe_unused]] static constexpr char const* label = "karpos_bench::program";
  using shared = std::uint64_t;
  program_state s;
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void operator()(Grid& grid, shared& done) const {
    grid.run(device::make_step<empty_step>(grid, s), [&] { done = 1; });
    while (done < launches)
      grid.run(device::make_step<empty_step>(grid, s), [&] { decide(grid, done); });
  }

 private:
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void decide(Grid& grid, shared& done) const {
    done += grid.read(s.out) > 0 ? 1 : launches;
  }
};
void program(char const* what, karpos::launch_mode mode, std::uint64_t* out) {
  space const exec;
  device::grid_memory<space> const grid(exec, device::shape_for<1024, 1, 32>(exec, 8192, 1024));
  report_launch(
      what, median([&] { device::run_program<1024, 1>(exec, mode, grid, empty_program{{out}}); }));
}

void time_launches() {
  array<std::uint64_t> const out("out", 1);
  int const teams = 4 * device::processors(space{});
  std::printf("one launch of %d teams, median of 21 times %d in a row\n", teams, launches);
  report_launch("RangePolicy", median([&] {
                  for (int i = 0; i < launches; ++i)
                    Kokkos::parallel_for("karpos_bench::range",
                                         Kokkos::RangePolicy<space>(0, 256 * teams),
                                         empty_range{out.data()});
                }));
  team_policy<0>("TeamPolicy", teams, 0, out.data());
  team_policy<0>("TeamPolicy, 32 KB of scratch, level 0", teams, 32768, out.data());
  team_policy<0>("TeamPolicy, 64 KB of scratch, level 0", teams, 65536, out.data());
  team_policy<1>("TeamPolicy, 64 KB of scratch, level 1", teams, 65536, out.data());
  league<32768>("league, 32 KB of scratch", teams, out.data());
  league<65536>("league, 64 KB of scratch", teams, out.data());
  program("a step of a program, a kernel each, with its decision",
          karpos::launch_mode::kernel_per_step, out.data());
  if (device::has_grid_barrier<space>)
    program("the same between grid barriers of one kernel", karpos::launch_mode::persistent_kernel,
            out.data());
}

// ---- Atomic operations

using word = std::uint32_t;
struct by_karpos {
  static constexpr char const* name = "karpos::device";
  KOKKOS_FUNCTION static word load(word* p) { return device::load_relaxed(p); }
  KOKKOS_FUNCTION static void add(word* p) { device::add(p, word(1)); }
  KOKKOS_FUNCTION static void set(word* p) { device::set_bits(p, word(1)); }
  KOKKOS_FUNCTION static word fetch_add(word* p) { return device::fetch_add(p, 1); }
  KOKKOS_FUNCTION static word swap(word* p) {
    return device::compare_and_swap(p, word(0), word(1));
  }
  KOKKOS_FUNCTION static word scratch_add(word* p) {
    return device::fetch_add(device::scratch(p), 1);
  }
};
struct by_kokkos {
  static constexpr char const* name = "Kokkos";
  KOKKOS_FUNCTION static word load(word* p) {
    return desul::atomic_load(p, desul::MemoryOrderRelaxed{}, desul::MemoryScopeDevice{});
  }
  KOKKOS_FUNCTION static void add(word* p) { Kokkos::atomic_add(p, 1u); }
  KOKKOS_FUNCTION static void set(word* p) { Kokkos::atomic_or(p, 1u); }
  KOKKOS_FUNCTION static word fetch_add(word* p) { return Kokkos::atomic_fetch_add(p, 1u); }
  KOKKOS_FUNCTION static word swap(word* p) { return Kokkos::atomic_compare_exchange(p, 0u, 1u); }
  KOKKOS_FUNCTION static word scratch_add(word* p) { return Kokkos::atomic_fetch_add(p, 1u); }
};
#if defined(KOKKOS_ENABLE_CUDA)
struct by_libcu {
  static constexpr char const* name = "cuda::atomic_ref";
  using ref = cuda::atomic_ref<word, cuda::thread_scope_device>;
  using team_ref = cuda::atomic_ref<word, cuda::thread_scope_block>;
  static constexpr auto relaxed = cuda::memory_order_relaxed;
  KOKKOS_FUNCTION static word load(word* p) { return ref(*p).load(relaxed); }
  KOKKOS_FUNCTION static void add(word* p) { ref(*p).fetch_add(1, relaxed); }
  KOKKOS_FUNCTION static void set(word* p) { ref(*p).fetch_or(1, relaxed); }
  KOKKOS_FUNCTION static word fetch_add(word* p) { return ref(*p).fetch_add(1, relaxed); }
  KOKKOS_FUNCTION static word swap(word* p) {
    word expected = 0;
    ref(*p).compare_exchange_strong(expected, 1, relaxed, relaxed);
    return expected;
  }
  KOKKOS_FUNCTION static word scratch_add(word* p) { return team_ref(*p).fetch_add(1, relaxed); }
};
#endif

enum class operation { load, add, set, fetch_add, swap };
template <class By, operation Op>
struct random_access {
  array<word> words;
  array<word> out;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    word* const p = &words(karpos::mix(i) & (words.extent(0) - 1));
    word seen = 0;
    if constexpr (Op == operation::load) seen = By::load(p);
    if constexpr (Op == operation::add) By::add(p);
    if constexpr (Op == operation::set) By::set(p);
    if constexpr (Op == operation::fetch_add) seen = By::fetch_add(p);
    if constexpr (Op == operation::swap) seen = By::swap(p);
    if (seen == 0xdeadbeef) out(0) = seen;
  }
};
/// Additions to random words of scratch, 64 by each thread.
template <class By>
struct scratch_access {
  static constexpr int threads = 256, teams_at_once = 1, each = 64;
  static constexpr std::size_t scratch_bytes = 16384;
  array<word> out;
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto* const words = reinterpret_cast<word*>(t.scratch());
    for (int i = t.rank(); i < 4096; i += t.size()) words[i] = 0;
    t.barrier();
    word sum = 0;
    for (int i = 0; i < each; ++i)
      sum += By::scratch_add(words +
                             (karpos::mix(static_cast<std::uint64_t>(t.rank() * each + i)) & 4095));
    if (sum == 0xdeadbeef) out(0) = sum;
  }
};

template <class By, operation Op>
double rate(array<word> const& words, array<word> const& out, std::uint64_t n) {
  random_access<By, Op> const body{words, out};
  return static_cast<double>(n) / 1e9 / median([&] {
           Kokkos::parallel_for("karpos_bench::atomics",
                                Kokkos::RangePolicy<space, Kokkos::IndexType<std::uint64_t>>(0, n),
                                body);
         });
}
template <class By>
void time_atomics(array<word> const& words) {
  array<word> const out("out", 1);
  constexpr std::uint64_t n = device::is_device<space> ? 1u << 27 : 1u << 22;
  int const teams = device::is_device<space> ? 32 * device::processors(space{}) : 1024;
  double const scratch = median([&] {
    device::for_each_in_league("karpos_bench::scratch", space{}, teams, scratch_access<By>{out});
  });
  int const threads = device::is_device<space> ? 256 : 1;
  std::printf("%-18s %8.2f %8.2f %8.2f %8.2f %8.2f %10.2f\n", By::name,
              rate<By, operation::load>(words, out, n), rate<By, operation::add>(words, out, n),
              rate<By, operation::set>(words, out, n),
              rate<By, operation::fetch_add>(words, out, n),
              rate<By, operation::swap>(words, out, n),
              static_cast<double>(teams) * threads * 64 / 1e9 / scratch);
}
void time_all_atomics(std::uint64_t size) {
  array<word> const words("words", size);
  std::printf("\nrandom words of %.0f MiB, G/s\n%-18s %8s %8s %8s %8s %8s %10s\n",
              static_cast<double>(size) / (1 << 18), "", "load", "add", "set", "fetch", "cas",
              "scratch");
  time_atomics<by_karpos>(words);
  time_atomics<by_kokkos>(words);
#if defined(KOKKOS_ENABLE_CUDA)
  time_atomics<by_libcu>(words);
#endif
}

// ---- Filling an array

void time_fills(std::uint64_t bytes) {
  array<std::uint64_t> const words("words", bytes / 8);
  auto const report = [&](char const* what, double seconds) {
    std::printf("%-58s %8.1f GB/s\n", what, static_cast<double>(bytes) / 1e9 / seconds);
  };
  std::printf("\nfilling %.0f MiB of 8-byte words\n", static_cast<double>(bytes) / (1 << 20));
  report("Kokkos::deep_copy of zero", median([&] { Kokkos::deep_copy(space{}, words, 0); }));
  report("Kokkos::deep_copy of a value", median([&] { Kokkos::deep_copy(space{}, words, 7); }));
  report("karpos::detail::fill", median([&] { karpos::detail::fill("fill", space{}, words, 7); }));
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::printf("%s\n", space::name());
  time_launches();
  time_fills(std::uint64_t(1) << (device::is_device<space> ? 33 : 28));
  time_all_atomics(1u << 22);  // in a GPU's L2 cache
  time_all_atomics(1u << 28);
}
