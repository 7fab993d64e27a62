// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/native/announced_kernel.hpp"
#include "karpos/device/native/step_function.hpp"
#include "karpos/device/space.hpp"
#include "karpos/device/state_handle.hpp"
#include "karpos/device/team.hpp"
#include "karpos/launch_mode.hpp"

// A program is a loop over steps, such as the levels of a search. A grid object runs it. A step
// says what every team does, and ends when all teams are done. All teams are the league:
//
//   struct step {
//     static constexpr char const* label;  // of its kernel, if it is launched
//     template <class Team> KOKKOS_FUNCTION void operator()(Team& team) const;
//     // Optional: about how many edges or words the step reads. If they are at most 1,024, one CPU
//     // thread runs the step as a league of one team: league_size() differs between steps.
//     std::uint64_t work() const;
//   };
//   // A long loop is called unless it must be inlined, and a kernel that calls it is slow: its
//   // steps then read their state through pointers to the stack.
//   struct program {
//     static constexpr char const* label;  // of its kernel, if it runs inside one
//     // State of the loop: trivial, aligned to at most 16 bytes. One kernel keeps it in shared
//     // memory, uninitialised: the first then() must set it.
//     using shared = …;
//     KARPOS_PROGRAM template <class Grid>
//     KOKKOS_FORCEINLINE_FUNCTION void operator()(Grid& grid, shared& p) const;
//   };
//
//   grid.run(step, then)   runs a step on every team, then calls then(). launched_grid calls it on
//                          the host: on CPUs when all teams are done, on GPUs once the step is
//                          launched (read and write wait for it). In one kernel, thread 0 of every
//                          team calls it when all teams are done. Each team has a `shared` of its
//                          own there, and all must decide alike
//   grid.handle(x)         returns a handle to x that a step holds (state_handle.hpp): a copy for
//                          kernels, a pointer within one kernel and on CPUs. Its type is
//                          handle_of<X>
//   make_step<step>(grid, s, p, …)
//                          returns step<…>{grid.handle(s), grid.handle(p), …}, whose template
//                          arguments are the types of the handles
//   grid.read(p)           in then(): returns *p. In one kernel, sizeof(*p) is a multiple of 8 and
//                          at most 128. The next step must not write *p: some teams may run it
//                          while others still read.
//   grid.write(p, v)       in then(): sets *p = v, to be read after the program: steps may not see
//                          it yet
//
// launched_grid runs the loop on the host and each step as a kernel, in every space. If a space has
// a grid barrier, its cooperative grid runs the same loop inside one kernel: a barrier replaces a
// launch and a round trip to the host.

namespace karpos::device {

#if defined(__clang__)  // would ask for braces around handles that a step inherits
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wmissing-braces"
#endif
/// Returns a step that holds handles to s and p, and these arguments.
KARPOS_PROGRAM template <template <class, class> class Step, class Grid, class State, class Shared,
                         class... Arguments>
KOKKOS_FORCEINLINE_FUNCTION auto make_step(Grid const& grid, State const& s, Shared const& p,
                                           Arguments const&... arguments) {
  return Step<typename Grid::template handle_of<State>, typename Grid::template handle_of<Shared>>{
      grid.handle(s), grid.handle(p), arguments...};
}
/// Returns a step that holds a handle to s, and these arguments.
KARPOS_PROGRAM template <template <class> class Step, class Grid, class State, class... Arguments>
KOKKOS_FORCEINLINE_FUNCTION auto make_step(Grid const& grid, State const& s,
                                           Arguments const&... arguments) {
  return Step<typename Grid::template handle_of<State>>{grid.handle(s), arguments...};
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

namespace detail {

/// Kernel that runs a step on the teams of a Kokkos::TeamPolicy.
template <class ExecSpace, class Step>
struct team_kernel {
  using member = typename Kokkos::TeamPolicy<ExecSpace>::member_type;
  Step step;
  std::size_t scratch_bytes;

  KOKKOS_FUNCTION void operator()(member const& m) const {
    auto* const scratch = static_cast<std::byte*>(
        m.team_scratch(0).get_shmem(static_cast<std::ptrdiff_t>(scratch_bytes)));
    team<ExecSpace> t(typename team<ExecSpace>::handle(m, scratch));
    step(t);
  }
};

}  // namespace detail

/// The teams of a grid, their threads, and the scratch of each team. A grid_memory is made for one
/// shape.
struct grid_shape {
  int teams = 1, threads = 1;
  std::size_t scratch_bytes = 0;  // of a team in all
  std::size_t thread_bytes = 0;   // among these, those that each thread adds
  std::size_t host_scratch_bytes() const { return static_cast<std::size_t>(teams) * scratch_bytes; }
};

/// Runs a program step by step from the host, with a kernel for each step.
template <class ExecSpace>
class launched_grid {
 public:
  using execution_space = ExecSpace;

  /// `scratch` has shape.host_scratch_bytes() bytes, and `next` has host::work_counters words, for
  /// teams on CPUs. GPUs use neither.
  launched_grid(ExecSpace const& exec, grid_shape shape, std::byte* scratch, std::uint64_t* next)
      : m_exec(exec),
        m_shape(shape),
        m_scratch(scratch),
        m_next(next),
        m_is_profiled(Kokkos::Tools::profileLibraryLoaded()) {}

  template <class State>
  using handle_of =
      std::conditional_t<is_device<ExecSpace>, state_copy<State>, state_pointer<State>>;
  template <class State>
  handle_of<State> handle(State const& s) const {
    if constexpr (is_device<ExecSpace>)
      return {s};
    else
      return {&s};
  }

  template <class Step, class Then>
  void run(Step const& step, Then const& then) {
    if constexpr (is_device<ExecSpace>)
      launch_on_teams(step);
    else
      run_on_threads(Step::label, !m_is_profiled && is_small(step), &run_step<Step>, &step);
    then();
  }

  template <class T>
  T read(T const* p) {
    if constexpr (is_device<ExecSpace>) {
      T value{};
      using memory = typename ExecSpace::memory_space;
      Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const to(&value);
      Kokkos::deep_copy(m_exec, to, Kokkos::View<T const, memory, Kokkos::MemoryUnmanaged>(p));
      m_exec.fence("karpos::launched_grid: a word that decides about the next step");
      return value;
    } else {
      return *p;
    }
  }
  template <class T>
  void write(T* p, T const& value) {
    if constexpr (is_device<ExecSpace>) {
      using memory = typename ExecSpace::memory_space;
      Kokkos::View<T const, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(&value);
      Kokkos::deep_copy(m_exec, Kokkos::View<T, memory, Kokkos::MemoryUnmanaged>(p), from);
      m_exec.fence("karpos::launched_grid: a word written from the host");
    } else {
      *p = value;
    }
  }

 private:
  /// Launches teams of at most 256 threads, because with more threads the scratch of their tiles
  /// may exceed the shared memory that Kokkos gives a team: 48 KB on some GPUs. The number is a
  /// power of two, as Kokkos' scans require.
  template <class Step>
  void launch_on_teams(Step const& step) const {
    using policy = Kokkos::TeamPolicy<ExecSpace>;
    int const threads = Kokkos::min(m_shape.threads, 256);
    std::size_t const bytes =
        m_shape.scratch_bytes -
        m_shape.thread_bytes * static_cast<std::size_t>(m_shape.threads - threads);
    auto const scratch = Kokkos::PerTeam(static_cast<int>(bytes + 16));
    detail::team_kernel<ExecSpace, Step> const kernel{step, bytes};
    int const max_threads = policy(m_exec, m_shape.teams, 1)
                                .set_scratch_size(0, scratch)
                                .team_size_max(kernel, Kokkos::ParallelForTag());
    auto const fitting = static_cast<unsigned>(Kokkos::min(threads, max_threads));
    policy const teams(m_exec, m_shape.teams, static_cast<int>(Kokkos::bit_floor(fitting)));
    Kokkos::parallel_for(Step::label, policy(teams).set_scratch_size(0, scratch), kernel);
  }
  /// A step for teams of one CPU thread each, and the grid that runs it.
  struct threads_of_step {
    launched_grid const& grid;
    void (*run_step)(void const* step, team<ExecSpace>& team);
    void const* step;
    int league;
  };
  static void run_teams(void const* of, std::uint64_t first, std::uint64_t last) {
    auto const& all = *static_cast<threads_of_step const*>(of);
    launched_grid const& grid = all.grid;
    for (std::uint64_t i = first; i < last; ++i) {
      team<ExecSpace> t(typename team<ExecSpace>::handle(
          static_cast<int>(i), all.league, grid.m_scratch + i * grid.m_shape.scratch_bytes,
          grid.m_next));
      all.run_step(all.step, t);
    }
  }
  template <class Step>
  KARPOS_FLATTEN static void run_step(void const* step, team<ExecSpace>& t) {
    (*static_cast<Step const*>(step))(t);
  }
  void run_on_threads(char const* label, bool alone,
                      void (*run_of_step)(void const*, team<ExecSpace>&), void const* step) const {
    for (int i = 0; i < host::work_counters; ++i) m_next[i] = 0;
    auto const teams = static_cast<std::uint64_t>(alone ? 1 : m_shape.teams);
    threads_of_step const all{*this, run_of_step, step, static_cast<int>(teams)};
    if (alone) {
      run_teams(&all, 0, 1);
      return;
    }
    detail::run_parts(label, m_exec, {&run_teams, &all, teams, 1});
    m_exec.fence("karpos::launched_grid: end of a step");
  }
  /// Returns whether the calling thread ends a step before other threads would have woken up. Two
  /// CPU cores, a search of a path of 5,000 vertices: 1.9 ms, and 4.6 ms with a parallel region for
  /// each step; far more if idle threads sleep.
  template <class Step>
  static bool is_small(Step const& step) {
    if constexpr (requires { step.work(); })
      return step.work() <= 1024;
    else
      return false;
  }

  ExecSpace m_exec;
  grid_shape m_shape;
  std::byte* m_scratch;
  std::uint64_t* m_next;
  bool m_is_profiled;  // a tool sees small steps, too: they run as kernels
};

namespace detail {
/// Returns the number of threads of a Kokkos team: a power of two, as Kokkos' scans require. It is
/// at most max_threads and 256, and the scratch of these threads fits into level 0.
template <class ExecSpace>
int policy_threads(int max_threads, std::size_t team_bytes, std::size_t thread_bytes) {
  auto const available =
      static_cast<std::size_t>(Kokkos::TeamPolicy<ExecSpace>::scratch_size_max(0));
  int threads = 1;
  auto const bytes = [&](int n) {
    return team_bytes + (thread_bytes + 8) * static_cast<std::size_t>(n) + 64;
  };
  while (2 * threads <= Kokkos::min(max_threads, 256) && bytes(2 * threads) <= available)
    threads *= 2;
  return threads;
}
}  // namespace detail

/// Returns the shape of a grid. On GPUs a team has Threads threads and a multiprocessor
/// PerProcessor teams, so that all teams run at once. On CPUs there is a team for each thread. A
/// team has team_bytes of scratch, and tile_bytes for each tile of W lanes. With Kokkos alone
/// (KARPOS_NATIVE=generic, and GPUs without a native part), teams are smaller and up to four times
/// as many.
template <int Threads, int PerProcessor, int W, class ExecSpace>
grid_shape shape_for(ExecSpace const& exec, std::size_t team_bytes, std::size_t tile_bytes) {
  grid_shape s;
  s.scratch_bytes = team<ExecSpace>::reserved_bytes + team_bytes;
  if constexpr (is_device<ExecSpace>) {
    s.thread_bytes = tile_bytes / tile_threads<ExecSpace, W>;
    s.threads = Threads;
    if constexpr (warp_width<ExecSpace> == 1)
      s.threads = detail::policy_threads<ExecSpace>(Threads, s.scratch_bytes, s.thread_bytes);
    s.scratch_bytes += s.thread_bytes * static_cast<std::size_t>(s.threads);
    s.teams = processors(exec) * PerProcessor * Kokkos::min(Threads / s.threads, 4);
  } else {
    s.scratch_bytes =
        (s.scratch_bytes + tile_bytes + 127) / 128 * 128;  // teams share no cache line
    s.teams = exec.concurrency();
  }
  return s;
}

/// Memory that a grid needs in addition to the program's own: allocated once, used by one program
/// at a time.
template <class ExecSpace>
class grid_memory {
 public:
  grid_memory() = default;
  grid_memory(ExecSpace const& exec, grid_shape shape) : m_shape(shape) {
    using Kokkos::view_alloc;
    if constexpr (is_device<ExecSpace>)
      m_bytes = bytes_view(view_alloc(exec, "karpos::grid_memory"), words_bytes);
    else
      m_bytes = bytes_view(view_alloc(exec, Kokkos::WithoutInitializing, "karpos::grid_memory"),
                           bytes_for(shape));
  }
  static std::size_t bytes_for(grid_shape shape) {
    return words_bytes + (is_device<ExecSpace> ? 0 : shape.host_scratch_bytes());
  }
  grid_shape shape() const { return m_shape; }
  /// Returns the counters of teams on CPUs. In cooperative kernels the first word is the grid
  /// barrier.
  std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(m_bytes.data()); }
  std::byte* scratch() const { return m_bytes.data() + words_bytes; }

 private:
  using bytes_view = Kokkos::View<std::byte*, typename ExecSpace::memory_space>;
  /// A whole number of cache lines, because the scratch of teams follows.
  static constexpr std::size_t words_bytes =
      (host::work_counters * sizeof(std::uint64_t) + 127) / 128 * 128;
  grid_shape m_shape;
  bytes_view m_bytes;
};

/// Runs a program inside one kernel, which is announced to Kokkos Tools. Asynchronous to the host.
/// Returns: whether the kernel was started. It is not if its teams do not all fit on the device at
/// once.
/// Throws: std::runtime_error if the launch fails for another reason.
template <int Threads, int PerProcessor, class ExecSpace, class Program>
  requires(has_grid_barrier<ExecSpace>)
bool run_in_one_kernel(ExecSpace const& exec, grid_memory<ExecSpace> const& memory,
                       Program const& program) {
  announced_kernel const announced(Program::label, exec);
  return native_part<ExecSpace>::template run_cooperatively<Threads, PerProcessor>(
      exec, memory.shape().teams, memory.shape().scratch_bytes, memory.words(), program);
}

/// Runs a program. Asynchronous to the host if it runs inside one kernel. If it is launched step by
/// step, blocks: on GPUs until its last read or write, on CPUs until its end.
/// Throws: std::invalid_argument if `driver` is persistent_kernel, and the space or the device
/// cannot run the program in one kernel.
template <int Threads, int PerProcessor, class ExecSpace, class Program>
void run_program(ExecSpace const& exec, launch_mode driver, grid_memory<ExecSpace> const& memory,
                 Program const& program) {
  if constexpr (has_grid_barrier<ExecSpace>)
    if (driver != launch_mode::kernel_per_step &&
        run_in_one_kernel<Threads, PerProcessor>(exec, memory, program))
      return;
  if (driver == launch_mode::persistent_kernel)
    karpos::detail::reject("launch_mode::persistent_kernel is not available",
                           std::string(ExecSpace::name()) +
                               (has_grid_barrier<ExecSpace> ? ", blocks do not all fit" : ""),
                           "choose launch_mode::automatic");
  launched_grid<ExecSpace> grid(exec, memory.shape(), memory.scratch(), memory.words());
  typename Program::shared shared{};
  program(grid, shared);
}

}  // namespace karpos::device
