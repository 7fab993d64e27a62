// SPDX-License-Identifier: Apache-2.0
/// \file
/// Hopscotch tables on the host without Kokkos running, and keys with chosen places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <karpos/detail/tables/hopscotch/ref.hpp>
#include <vector>

#include "concurrency/histories.hpp"
#include "support/hopscotch_invariants.hpp"
#include "support/places.hpp"

#include "support/stamps.hpp"

namespace karpos_test {

/// A table with the fewest lines that hold `slots` slots; all of a small table is one crowded
/// neighbourhood.
template <class Key, class T, class Hash = karpos::hash<Key>,
          class KeyEqual = karpos::equal_to<Key>, bool Recheck = true>
class hopscotch_host_table {
 public:
  using key_type = Key;
  using mapped_type = T;
  using traits =
      hopscotch::traits<Key, T, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual, Recheck>;
  using ref_type = hopscotch::table_ref<traits>;
  using lines_type = hopscotch::lines<traits>;
  using layout = typename ref_type::layout;
  using word = typename layout::word;
  using key_bits = typename layout::key_bits;
  using contents = std::vector<word>;

  explicit hopscotch_host_table(std::uint64_t slots, KeyEqual const& equal = {})
      : m_geometry{hopscotch::line_geometry::lines_for(slots)},
        m_equal(equal),
        m_memory(words() + 64 / sizeof(word)),
        m_full((karpos::detail::fullness::words_for(m_geometry.lines()) + 1) / 2) {
    auto const address = reinterpret_cast<std::uintptr_t>(m_memory.data());
    m_lines = m_memory.data() + (64 - address % 64) % 64 / sizeof(word);
    clear();
  }
  hopscotch_host_table(hopscotch_host_table const&) = delete;

  void clear() {
    lines_type const t = table();
    for (std::uint64_t l = 0; l < m_geometry.lines(); ++l) {
      *t.line(l) = ref_type::protocol::head(0);
      std::fill_n(t.line(l) + 1, hopscotch::line_slots, t.slot().empty_slot());
    }
    std::fill(m_full.begin(), m_full.end(), 0);
  }
  ref_type table() const {
    using karpos::detail::default_sentinel;
    constexpr bool wide = sizeof(word) == 16;
    return ref_type(
        lines_type(m_lines, m_geometry,
                   {default_sentinel<Key, key_bits>(0), default_sentinel<Key, key_bits>(1),
                    default_sentinel<Key, key_bits>(wide ? 2 : 1)},
                   {}, m_equal, reinterpret_cast<std::uint32_t*>(m_full.data())));
  }
  karpos::table_ref<ref_type> ref() const { return karpos::table_ref<ref_type>(table()); }
  std::uint64_t slots() const { return m_geometry.lines() * hopscotch::line_slots; }
  hopscotch::line_geometry const& geometry() const { return m_geometry; }

  /// Saves the contents while no thread uses the table; restore() brings them back.
  contents saved() const { return contents(m_lines, m_lines + words()); }
  void restore(contents const& from) {
    std::copy(from.begin(), from.end(), m_lines);
    std::fill(m_full.begin(), m_full.end(), 0);
  }

  /// Counts the empty slots in parts that the table remembers as full (fullness.hpp), while no
  /// thread uses it.
  std::uint64_t forgotten_slots() const {
    auto const* const bits = reinterpret_cast<std::uint32_t const*>(m_full.data()) + 4;
    std::uint64_t n = 0;
    for (std::uint64_t i = 0; i < slots(); ++i) {
      std::uint64_t const part = i / hopscotch::line_slots / karpos::detail::fullness::part_units;
      n += (bits[part / 32] >> part % 32 & 1u) != 0 && !table().slot().live(*table().slot_at(i));
    }
    return n;
  }

  /// Returns the slot of the neighbourhood that holds a key, or no_slot.
  int place_of(Key key) const {
    lines_type const t = table();
    std::uint64_t const home = t.start(key).home;
    for (int s = 0; s < hopscotch::neighbourhood_slots; ++s)
      if (layout::key_of(*t.slot_of(home, s)) == karpos::to_bits<key_bits>(key)) return s;
    return hopscotch::no_slot;
  }
  /// Returns how many slots hold a key.
  std::uint64_t count(Key key) const {
    std::uint64_t n = 0;
    for (std::uint64_t i = 0; i < slots(); ++i)
      n += layout::key_of(*table().slot_at(i)) == karpos::to_bits<key_bits>(key);
    return n;
  }
  hopscotch_inspection inspect() const { return karpos_test::inspect(table()); }

 private:
  std::uint64_t words() const { return m_geometry.lines() * ref_type::line_words; }

  hopscotch::line_geometry m_geometry;
  KeyEqual m_equal;
  std::vector<word> m_memory;
  mutable std::vector<std::uint64_t> m_full;  // refs of a const table change it, too
  word* m_lines = nullptr;
};

/// Makes keys for tables of 8 lines whose bits determine their home line.
template <class Key>
constexpr Key placed_key(std::uint64_t home, int key_class, std::uint64_t serial) {
  return static_cast<Key>(home | static_cast<std::uint64_t>(key_class) << 3 | serial << 6);
}
template <class Key>
struct placed_hash {
  using is_avalanching = void;
  KOKKOS_FUNCTION std::uint64_t operator()(Key key) const {
    constexpr hash_of_place hash(karpos::detail::hashed::hopscotch,
                                 8 * karpos::detail::hopscotch::line_slots);
    auto const k = static_cast<std::uint64_t>(key);
    return hash.with_low_bits(k % 8 << 61, k >> 3 & 7);
  }
};

}  // namespace karpos_test
