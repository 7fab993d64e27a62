// SPDX-License-Identifier: Apache-2.0
/// \file
/// A table of more than 2^32 slots, of which only the pages in use take memory.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <Kokkos_Core.hpp>
#include <karpos/detail/tables/open_addressing/ref.hpp>
#include <karpos/map_ref.hpp>
#include <karpos/probing.hpp>

#include "support/keys.hpp"

namespace {

/// Zero-filled address space; empty if the system refuses to reserve it.
class reservation {
 public:
  explicit reservation(std::size_t bytes) : m_bytes(bytes) {
    m_data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m_data != MAP_FAILED) madvise(m_data, bytes, MADV_NOHUGEPAGE);
  }
  reservation(reservation const&) = delete;
  ~reservation() {
    if (*this) munmap(m_data, m_bytes);
  }
  explicit operator bool() const { return m_data != MAP_FAILED; }
  template <class X>
  X* as() const {
    return static_cast<X*>(m_data);
  }

 private:
  std::size_t m_bytes;
  void* m_data;
};

template <class Key, class T, class Probing, int B>
void works_beyond_32_bits() {
  using ref_type =
      karpos::detail::open_addressing::table_ref<karpos::detail::open_addressing::traits<
          Key, T, Kokkos::DefaultHostExecutionSpace, karpos::hash<Key>, karpos::equal_to<Key>,
          Probing, B>>;
  using word = typename ref_type::word;
  std::uint64_t const pairs = Probing::pair_count_for((std::uint64_t(1) << 31) / B + 1000);
  std::uint64_t const slot_count = 2 * pairs * B;
  reservation const slots(slot_count * sizeof(word));
  reservation const marks(4 * karpos::detail::open_addressing::words_behind_slots(pairs));
  if (!slots || !marks) {
    MESSAGE("skipped: the system reserves no ", slot_count * sizeof(word),
            " bytes of address space");
    return;
  }
  // A slot of zeros is empty: 0 is the empty sentinel.
  ref_type const table(slots.as<word>(), marks.as<std::uint32_t>(), pairs, {0, 1, 2}, {}, {});
  karpos::table_ref<ref_type> const ref(table);
  karpos::device::thread_tile const tile;
  auto const keys = karpos_test::unique_keys<Key>(3000);
  std::uint64_t highest = 0, wrong = 0;
  for (Key const key : keys) {
    if (key <= 2) continue;
    auto const home = static_cast<std::uint64_t>(table.bucket(table.start(key)) - table.slot_at(0));
    highest = home > highest ? home : highest;
    wrong += home >= slot_count;
    wrong += ref.insert(tile, key, static_cast<T>(key / 2)) != karpos::outcome::inserted;
  }
  CHECK(highest > std::uint64_t(0xff000000u));
  for (Key const key : keys) {
    if (key <= 2) continue;
    auto const f = ref.find(tile, key);
    wrong += !f.present || f.value != static_cast<T>(key / 2);
    wrong += !ref.erase(tile, key);
    wrong += ref.find(tile, key).present;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a table of more than 2^32 slots") {
  works_beyond_32_bits<std::uint32_t, std::uint32_t, karpos::double_hashing, 8>();
  works_beyond_32_bits<std::uint64_t, std::uint64_t, karpos::linear_probing, 1>();
}

}  // namespace
