// SPDX-License-Identifier: Apache-2.0
/// \file
/// A team (a CUDA block) of many threads on one CPU thread, so that steps for GPU blocks are tested
/// without a GPU. Each thread is a context (`ucontext_t`) that runs alone until it blocks in a
/// collective; the next thread is drawn at random.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <karpos/device/team.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

#include "support/keys.hpp"

namespace karpos_test {

class emulated_block;
struct alignas(64) word_of_scratch {
  unsigned char bytes[64];
};

/// A team as a step sees it: the collectives of karpos::device::team.
class emulated_team {
 public:
  emulated_team(emulated_block& block, int rank) : m_block(block), m_rank(rank) {}
  int league_rank() const;
  int league_size() const;
  int rank() const { return m_rank; }
  int size() const;
  std::byte* scratch() const;
  void barrier() const;
  bool any(bool yes) const;
  std::uint32_t append(std::uint32_t* counter, bool yes) const;
  std::uint64_t prefix_sum(std::uint64_t v, std::uint64_t& total) const;
  /// Returns a tile of one thread, like the tiles of the space whose steps are tested.
  template <int W>
  karpos::device::reference_tile<W> this_tile() const {
    static_assert(W == 1);
    return {};
  }

 private:
  emulated_block& m_block;
  int m_rank;
};

/// Runs a step on a team. Throws std::logic_error if threads wait for others that will not arrive.
class emulated_block {
 public:
  static constexpr int warp = 32;

  emulated_block(int threads, std::uint64_t seed) : m_random(seed), m_threads(threads) {
    for (int r = 0; r < threads; ++r) m_thread.push_back(take_thread());
  }
  ~emulated_block() {
    for (auto& t : m_thread) spare().push_back(std::move(t));
  }
  emulated_block(emulated_block const&) = delete;
  emulated_block& operator=(emulated_block const&) = delete;

  template <class Step>
  void run(Step const& step, int league_rank, int league_size) {
    // Scratch memory is not initialised on GPUs, so it holds garbage here.
    m_scratch.assign(Step::scratch_bytes / sizeof(word_of_scratch) + 1, {});
    std::memset(m_scratch.data(), 0xa5, m_scratch.size() * sizeof(word_of_scratch));
    m_league_rank = league_rank;
    m_league_size = league_size;
    m_body = [](emulated_block& block, int rank) {
      emulated_team t(block, rank);
      (*static_cast<Step const*>(block.m_step))(t);
    };
    m_step = &step;
    for (int r = 0; r < m_threads; ++r) prepare(r);
    while (resume_threads() || serve_collectives()) {
    }
    for (auto const& t : m_thread)
      if (t->waits_for != call::end) throw std::logic_error("threads wait for ever");
  }

 private:
  friend class emulated_team;
  enum class call { nothing, barrier, any, prefix_sum, append, end };
  struct thread {
    ucontext_t context{};
    static constexpr std::size_t stack_bytes = std::size_t(1) << 16;
    std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    call waits_for = call::nothing;
    std::uint64_t value = 0, result = 0, total = 0;  // of the collective that the thread waits for
    std::uint32_t* counter = nullptr;
  };

  /// Threads of former blocks: fresh stacks for each block took most of its time, in page faults.
  static std::vector<std::unique_ptr<thread>>& spare() {
    static std::vector<std::unique_ptr<thread>> threads;
    return threads;
  }
  static std::unique_ptr<thread> take_thread() {
    if (spare().empty()) return std::make_unique<thread>();
    auto t = std::move(spare().back());
    spare().pop_back();
    return t;
  }

  void prepare(int rank) {
    thread& t = *m_thread[static_cast<std::size_t>(rank)];
    t.waits_for = call::nothing;
    getcontext(&t.context);
    t.context.uc_stack.ss_sp = t.stack.get();
    t.context.uc_stack.ss_size = thread::stack_bytes;
    t.context.uc_link = &m_scheduler;
    auto const self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&t.context, reinterpret_cast<void (*)()>(&start), 3,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self), rank);
  }
  static void start(unsigned high, unsigned low, int rank) {
    auto const self = static_cast<std::uintptr_t>(high) << 32 | low;
    auto& block = *reinterpret_cast<emulated_block*>(self);
    block.m_body(block, rank);
    block.m_thread[static_cast<std::size_t>(rank)]->waits_for = call::end;
  }

  /// Runs, in random order, the threads that wait for nothing. Returns: whether there were any.
  bool resume_threads() {
    std::vector<thread*> ready;
    for (auto const& t : m_thread)
      if (t->waits_for == call::nothing) ready.push_back(t.get());
    for (std::size_t i = ready.size(); i > 1; --i)
      std::swap(ready[i - 1], ready[m_random.below(i)]);
    for (thread* t : ready) {
      m_current = t;
      swapcontext(&m_scheduler, &t->context);
    }
    return !ready.empty();
  }
  /// Blocks the current thread until the collective has its result.
  thread& wait(call what, std::uint64_t value, std::uint32_t* counter = nullptr) {
    thread& t = *m_current;
    t.waits_for = what;
    t.value = value;
    t.counter = counter;
    swapcontext(&t.context, &m_scheduler);
    return t;
  }

  /// Completes the collectives that all threads concerned have reached. Returns: whether there was
  /// one.
  bool serve_collectives() {
    bool served = false;
    for (std::size_t first = 0; first < m_thread.size(); first += warp)
      served |= serve(first, first + warp < m_thread.size() ? first + warp : m_thread.size(), true);
    return served || serve(0, m_thread.size(), false);
  }
  bool serve(std::size_t first, std::size_t last, bool of_warp) {
    call const what = m_thread[first]->waits_for;
    if (what == call::end || (what == call::append) != of_warp) return false;
    std::uint64_t sum = 0;
    for (std::size_t r = first; r < last; ++r) {
      thread& t = *m_thread[r];
      if (t.waits_for != what) return false;
      t.result = sum;
      sum += t.value;
    }
    std::uint32_t* const counter = m_thread[first]->counter;
    for (std::size_t r = first; r < last; ++r) {
      thread& t = *m_thread[r];
      t.total = sum;
      if (of_warp) t.result += *counter;
      t.waits_for = call::nothing;
    }
    if (of_warp) *counter += static_cast<std::uint32_t>(sum);
    return true;
  }

  random_numbers m_random;
  int m_threads, m_league_rank = 0, m_league_size = 1;
  std::vector<std::unique_ptr<thread>> m_thread;
  std::vector<word_of_scratch> m_scratch;
  ucontext_t m_scheduler{};
  thread* m_current = nullptr;
  void (*m_body)(emulated_block&, int) = nullptr;
  void const* m_step = nullptr;
};

inline int emulated_team::league_rank() const { return m_block.m_league_rank; }
inline int emulated_team::league_size() const { return m_block.m_league_size; }
inline int emulated_team::size() const { return m_block.m_threads; }
inline std::byte* emulated_team::scratch() const {
  return reinterpret_cast<std::byte*>(m_block.m_scratch.data());
}
inline void emulated_team::barrier() const { m_block.wait(emulated_block::call::barrier, 0); }
inline bool emulated_team::any(bool yes) const {
  return m_block.wait(emulated_block::call::any, yes).total != 0;
}
inline std::uint32_t emulated_team::append(std::uint32_t* counter, bool yes) const {
  return static_cast<std::uint32_t>(
      m_block.wait(emulated_block::call::append, yes, counter).result);
}
inline std::uint64_t emulated_team::prefix_sum(std::uint64_t v, std::uint64_t& total) const {
  auto const& t = m_block.wait(emulated_block::call::prefix_sum, v);
  total = t.total;
  return t.result;
}

}  // namespace karpos_test
