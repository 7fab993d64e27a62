// SPDX-License-Identifier: Apache-2.0
/// \file
/// Limits on memory, to test behaviour when allocations fail.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/space.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KARPOS_TEST_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define KARPOS_TEST_ASAN 1
#endif

namespace karpos_test {

/// Whether a failed allocation ends the program, as with the address sanitizer, instead of throwing
/// an exception.
#if defined(KARPOS_TEST_ASAN)
inline constexpr bool dies_without_memory = true;
#else
inline constexpr bool dies_without_memory = false;
#endif

/// Returns the bytes of this process's data, which RLIMIT_DATA limits.
inline rlim_t data_bytes() {
  std::uint64_t pages[6] = {};
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  REQUIRE(file != nullptr);
  for (auto& p : pages) REQUIRE(std::fscanf(file, "%lu", &p) == 1);
  std::fclose(file);
  return pages[5] * 4096;
}

/// Limits the memory of this process during its lifetime, on systems where RLIMIT_DATA has an
/// effect.
class memory_limit {
 public:
  explicit memory_limit(rlim_t bytes) {
    getrlimit(RLIMIT_DATA, &m_before);
    rlimit const limit{bytes, m_before.rlim_max};
    setrlimit(RLIMIT_DATA, &limit);
  }
  memory_limit(memory_limit const&) = delete;
  ~memory_limit() { setrlimit(RLIMIT_DATA, &m_before); }

 private:
  rlimit m_before{};
};

/// Occupies all memory during its lifetime: this process cannot allocate blocks of `bytes` or more.
class no_memory {
 public:
  explicit no_memory(std::size_t bytes) {
    while (void* const p = std::malloc(bytes)) m_taken.push_back(p);  // takes the free memory
  }
  no_memory(no_memory const&) = delete;
  ~no_memory() {
    for (void* const p : m_taken) std::free(p);
  }

 private:
  memory_limit m_limit{data_bytes()};
  std::vector<void*> m_taken;
};
/// Calls f repeatedly: without memory from its first allocation of `bytes` or more on, then from
/// its second one on, and so on. Returns: the distinct messages of its exceptions. Requires:
/// can_exhaust_memory().
template <class F>
std::set<std::string> messages_without_memory(std::size_t bytes, F const& f) {
  static std::size_t smallest, allocations, last;
  static std::optional<no_memory> taken;
  smallest = bytes;
  auto const before = Kokkos::Tools::Experimental::get_callbacks();
  std::set<std::string> messages;
  std::size_t all = 1;
  for (std::size_t k = 0; k <= all; ++k) {
    allocations = 0;
    last = k == 0 ? ~std::size_t(0) : k - 1;  // the first call counts the allocations
    if (last == 0) taken.emplace(bytes);
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, char const*, void const*, std::uint64_t n) {
          if (n >= smallest && ++allocations == last) taken.emplace(smallest);
        });
    try {
      f();
    } catch (std::exception const& e) {
      taken.reset();
      messages.insert(e.what());
    }
    Kokkos::Tools::Experimental::set_callbacks(before);
    taken.reset();
    if (k == 0) all = allocations;
  }
  return messages;
}
/// Checks that every message contains the word, and none of the others.
inline void check_messages(std::set<std::string> const& messages, std::string const& word,
                           std::initializer_list<char const*> others) {
  CHECK(!messages.empty());
  for (std::string const& said : messages) {
    INFO(said);
    CHECK(said.find("out of memory") != said.npos);
    CHECK(said.find(word) != said.npos);
    for (char const* const other : others) CHECK(said.find(other) == said.npos);
  }
}

/// Returns whether no_memory also exhausts the memory of the space; prints the reason if it does
/// not.
inline bool can_exhaust_memory() {
  if (dies_without_memory) {
    MESSAGE("skipped: the address sanitizer ends a program that has no memory");
    return false;
  }
  if (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, space::memory_space>::accessible) {
    MESSAGE("skipped: the memory of " KARPOS_TEST_SPACE_NAME " cannot be limited");
    return false;
  }
  return true;
}

/// Occupies the memory of the space during its lifetime, if that is not the host's: no allocation
/// of `bytes` or more succeeds.
class no_memory_of_space {
 public:
  explicit no_memory_of_space(std::size_t bytes) {
    for (std::size_t each = std::size_t(1) << 40; each >= bytes;) {
      try {
        m_taken.emplace_back(Kokkos::view_alloc("taken", Kokkos::WithoutInitializing), each);
      } catch (std::exception const&) {
        each /= 2;
      }
    }
  }
  no_memory_of_space(no_memory_of_space const&) = delete;

 private:
  std::vector<Kokkos::View<unsigned char*, space::memory_space>> m_taken;
};

}  // namespace karpos_test
