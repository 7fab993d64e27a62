// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "karpos/detail/tables/hopscotch/ref.hpp"
#include "karpos/detail/tables/hopscotch/tuning.hpp"
#include "karpos/detail/tables/table_memory.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/table_options.hpp"

namespace karpos::detail::hopscotch {

/// Functor that returns the words of empty lines: heads of zero, empty slots.
template <class Slots>
struct empty_lines {
  using word = typename Slots::word;
  word empty;
  KOKKOS_FUNCTION word operator()(std::uint64_t i) const {
    return i % (line_slots + 1) == 0 ? Slots::head(0) : empty;
  }
};

/// Clears the bits of full parts: the body of a loop over the words of bits.
struct mark_lines_free {
  fullness full;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { full.mark_parts_of_word_free(i); }
};

/// The memory of a hopscotch table: an array of lines, and a fullness (fullness.hpp), which the
/// table allocates even if the lines are in the caller's memory. A storage for hash_table.
template <class Traits>
class storage : public Traits {
 public:
  using typename Traits::execution_space, typename Traits::memory_space;
  using settings_type = table_settings<Traits>;
  using ref_type = table_ref<Traits>;
  static constexpr int prefetch_distance = tuning<execution_space>::prefetch_distance;
  static constexpr bool grows = true, tracks_free_slots = true;

  /// Makes a storage without memory, to be assigned to.
  storage() : m_settings(0, {}, {}, {}) {}
  storage(execution_space const& exec, settings_type const& settings,
          std::optional<wrapped_memory> memory = {})
      : m_settings(settings) {
    std::uint64_t const n = lines_for(settings.max_keys, settings.options.load);
    if (memory)
      wrap(exec, n, *memory);
    else
      allocate(exec, n);
    clear(exec);
  }

  /// Releases the memory: the state of a default-constructed or moved-from table.
  void release() {
    m_words = {};
    m_full = {};
    m_lines = m_settings.max_keys = 0;
  }

  static std::size_t bytes_for(std::uint64_t max_keys, double load) {
    return bytes_of(lines_for(max_keys, load));
  }

  settings_type const& settings() const { return m_settings; }
  ref_type ref() const { return make_ref(m_full.data()); }
  ref_type scan_ref() const { return ref(); }
  template <class F>
  void with_ref(F const& f) const {
    f(ref());
  }
  /// Calls f, which enqueues at most n erasures, with the ref for them. If n is large, that ref
  /// does not note free slots, and a kernel after the erasures clears all bits of full parts.
  template <class F>
  void with_erasure_ref(execution_space const& exec, std::uint64_t n, F const& f) const {
    std::uint64_t const words = fullness::bit_words_for(m_lines);
    if (n < tuning<execution_space>::min_batched_erasures + words) {
      f(ref());
      return;
    }
    f(make_ref(nullptr));
    device::loop_over(label("mark lines free"), exec, words,
                      mark_lines_free{fullness(m_full.data(), m_lines)});
  }
  static std::string label(char const* what) { return table_label(Traits::name, what); }
  /// Returns the number of slots that a scan visits: ref().slot_at(i) for i below it.
  std::uint64_t slot_count() const { return m_lines * line_slots; }

  /// Makes every slot empty. Asynchronous.
  void clear(execution_space const& exec) {
    fill_with(label("clear"), exec, m_words,
              empty_lines<typename Traits::protocol>{ref().slot().empty_slot()});
    fill(label("clear full lines"), exec, m_full, 0);
  }

  /// Copies a table with the same layout in any space. Asynchronous but for an allocation.
  template <class Other>
    requires same_contents<Traits, Other>
  void copy_from(execution_space const& exec, storage<Other> const& other) {
    if (m_lines != other.m_lines) allocate(exec, other.m_lines);
    m_settings = other.m_settings;
    Kokkos::deep_copy(exec, m_words, other.m_words);
    Kokkos::deep_copy(exec, m_full, other.m_full);
  }

 private:
  template <class>
  friend class storage;
  using word = typename Traits::word;
  using word_view = Kokkos::View<word*, memory_space>;
  using full_view = Kokkos::View<std::uint32_t*, memory_space>;

  ref_type make_ref(std::uint32_t* full) const {
    return ref_type(lines<Traits>(m_words.data(), line_geometry(m_lines, m_settings.seed),
                                  m_settings.reserved_keys, m_settings.hash, m_settings.equal,
                                  full));
  }
  static std::uint64_t lines_for(std::uint64_t max_keys, double load) {
    return line_geometry::lines_for(slots_for(max_keys, load));
  }
  static std::uint64_t words_of(std::uint64_t n) { return n * lines<Traits>::line_words; }
  static std::size_t bytes_of(std::uint64_t n) { return words_of(n) * sizeof(word); }

  /// Allocates n lines. Changes nothing if there is not enough memory.
  void allocate(execution_space const& exec, std::uint64_t n) {
    auto [words, full] = allocate_table<memory_space>(bytes_of(n), [&] {
      return std::pair{uninitialized_array<word_view>(exec, label("lines"), words_of(n)),
                       full_lines(exec, n)};
    });
    m_words = words;
    m_full = full;
    m_lines = n;
  }
  full_view full_lines(execution_space const& exec, std::uint64_t n) const {
    return full_view(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("full lines")),
                     fullness::words_for(n));
  }
  void wrap(execution_space const& exec, std::uint64_t n, wrapped_memory memory) {
    require_wrappable(memory, bytes_of(n), lines<Traits>::line_words * sizeof(word));
    m_full = allocate_table<memory_space>(0, [&] { return full_lines(exec, n); });
    m_words = word_view(static_cast<word*>(memory.data), words_of(n));
    m_lines = n;
  }

  settings_type m_settings;
  word_view m_words;
  full_view m_full;
  std::uint64_t m_lines = 0;
};

}  // namespace karpos::detail::hopscotch
