// SPDX-License-Identifier: Apache-2.0
/// \file
/// Atomic minima and maxima on the host, which are loops over a compare-and-swap.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstdint>
#include <karpos/device/atomics.hpp>

namespace {

using karpos::device::fetch_max;
using karpos::device::fetch_min;

TEST_CASE("minima and maxima return what was there") {
  std::uint32_t word = 7;
  CHECK(fetch_min(&word, 9) == 7);
  CHECK(fetch_min(&word, 4) == 7);
  CHECK(fetch_max(&word, 3) == 4);
  CHECK(fetch_max(&word, 8) == 4);
  CHECK(word == 8);
  std::uint64_t wide = ~std::uint64_t(0);
  CHECK(fetch_min(&wide, std::uint64_t(1) << 40) == ~std::uint64_t(0));
  CHECK(wide == std::uint64_t(1) << 40);
}

/// A word that changes between its first read and its first write, as if another thread had written
/// it. The word lies in a page that is write-protected: the signal handler of the first write
/// changes the word and lifts the protection, and the CPU repeats the write.
template <class Word>
class changing_word {
 public:
  changing_word(Word before, Word then) {
    s_word = static_cast<Word*>(
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(s_word != MAP_FAILED);
    s_then = then;
    *s_word = before;
    struct sigaction change = {};
    change.sa_handler = [](int) {
      ::mprotect(s_word, bytes, PROT_READ | PROT_WRITE);
      *s_word = s_then;
    };
    ::sigaction(SIGSEGV, &change, &m_handler_before);
    ::mprotect(s_word, bytes, PROT_READ);
  }
  ~changing_word() {
    ::sigaction(SIGSEGV, &m_handler_before, nullptr);
    ::munmap(s_word, bytes);
  }
  changing_word(changing_word const&) = delete;

  Word* address() const { return s_word; }
  Word value() const { return *s_word; }

 private:
  static constexpr std::size_t bytes = 4096;
  static inline Word *s_word, s_then;
  struct sigaction m_handler_before = {};
};

/// Returns the word after a minimum with v: the word is `before` when it is read, and `then` when
/// it is written.
template <class Word>
Word after_minimum(Word before, Word then, Word v) {
  changing_word<Word> const word(before, then);
  CHECK(fetch_min(word.address(), v) == then);
  return word.value();
}
std::uint32_t after_maximum(std::uint32_t before, std::uint32_t then, std::uint32_t v) {
  changing_word<std::uint32_t> const word(before, then);
  CHECK(fetch_max(word.address(), v) == then);
  return word.value();
}

TEST_CASE("minima and maxima of a word that another thread changes meanwhile") {
  CHECK(after_minimum<std::uint32_t>(100, 90, 5) == 5);
  CHECK(after_minimum<std::uint32_t>(100, 3, 5) == 3);
  CHECK(after_minimum<std::uint64_t>(100, 90, 5) == 5);
  CHECK(after_minimum<std::uint64_t>(100, 3, 5) == 3);
  CHECK(after_maximum(1, 2, 50) == 50);
  CHECK(after_maximum(1, 60, 50) == 60);
}

}  // namespace
