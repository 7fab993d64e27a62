// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "karpos/detail/hopscotch/hop_word.hpp"
#include "karpos/detail/hopscotch/ref.hpp"
#include "karpos/detail/hopscotch/tuning.hpp"
#include "karpos/detail/slot.hpp"
#include "karpos/detail/table_memory.hpp"
#include "karpos/detail/table_options.hpp"

namespace karpos::detail::hopscotch {

/// Writes the empty lines of a table: heads of zero, empty slots.
template <class Slots>
struct clear_lines_body {
  using word = typename Slots::word;
  word* lines;
  word empty;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    lines[i] = i % (line_slots + 1) == 0 ? Slots::head(0) : empty;
  }
};

/// The memory of a hopscotch table: an array of lines. A storage for bulk_table.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, bool Recheck = true>
class hopscotch_storage {
 public:
  using key_type = Key;
  using mapped_type = T;
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  using hasher = Hash;
  using key_equal = KeyEqual;
  using options = hash_table_options<Key>;
  using ref_type = hopscotch_ref<Key, T, ExecSpace, Hash, KeyEqual, Recheck>;
  static constexpr int prefetch_distance = tuning<ExecSpace>::prefetch_distance;
  /// Bulk insertions into a full table rehash it.
  static constexpr bool grows = true;

  hopscotch_storage(ExecSpace const& exec, std::string name, std::uint64_t max_keys,
                    options const& o, Hash const& hash, KeyEqual const& equal,
                    std::optional<wrapped_memory> memory)
      : m_name(std::move(name)),
        m_options(o),
        m_hash(hash),
        m_equal(equal),
        m_sentinels(sentinels_of<layout>(o)),
        m_max_keys(max_keys) {
    std::uint64_t const lines = lines_for(max_keys, o.load);
    if (memory)
      wrap(lines, *memory);
    else
      allocate(exec, lines);
    clear(exec);
  }

  /// A fresh one of the same kind for other max_keys.
  hopscotch_storage fresh(ExecSpace const& exec, std::uint64_t max_keys) const {
    return {exec, m_name, max_keys, m_options, m_hash, m_equal, {}};
  }

  static std::size_t bytes_for(std::uint64_t max_keys, double load) {
    return bytes_of(lines_for(max_keys, load));
  }

  std::string const& name() const { return m_name; }
  ref_type ref() const {
    return ref_type(m_words.data(), line_geometry{m_lines}, m_sentinels, m_hash, m_equal);
  }
  std::uint64_t max_keys() const { return m_max_keys; }
  /// Slots that a scan visits: ref().slot_at(i) for i below it.
  std::uint64_t slot_count() const { return m_lines * line_slots; }

  /// Makes every slot empty. Asynchronous.
  void clear(ExecSpace const& exec) {
    Kokkos::parallel_for(
        table_label(m_name, "clear"), index_range(exec, m_words.extent(0)),
        clear_lines_body<typename ref_type::protocol>{m_words.data(), ref().slot().empty_slot()});
  }

  /// Takes over the contents of one with the same layout in any space. Asynchronous but for an allocation.
  template <class OtherSpace>
  void copy_from(ExecSpace const& exec,
                 hopscotch_storage<Key, T, OtherSpace, Hash, KeyEqual, Recheck> const& other) {
    if (m_lines != other.m_lines) allocate(exec, other.m_lines);
    m_max_keys = other.m_max_keys;
    m_options = other.m_options;
    m_sentinels = other.m_sentinels;
    m_hash = other.m_hash;
    m_equal = other.m_equal;
    Kokkos::deep_copy(exec, m_words, other.m_words);
  }

 private:
  template <class, class, class, class, class, bool>
  friend class hopscotch_storage;
  using layout = typename ref_type::layout;
  using word = typename layout::word;
  using word_view = Kokkos::View<word*, memory_space>;

  static std::uint64_t lines_for(std::uint64_t max_keys, double load) {
    return line_geometry::lines_for(slots_for(max_keys, load));
  }
  static std::uint64_t words_of(std::uint64_t lines) { return lines * ref_type::line_words; }
  static std::size_t bytes_of(std::uint64_t lines) { return words_of(lines) * sizeof(word); }

  /// Changes nothing when there is no memory.
  void allocate(ExecSpace const& exec, std::uint64_t lines) {
    m_words = allocated<memory_space>(bytes_of(lines), [&] {
      return uninitialized_array<word_view>(exec, table_label(m_name, "lines"), words_of(lines));
    });
    m_lines = lines;
  }
  void wrap(std::uint64_t lines, wrapped_memory memory) {
    require_wrappable(memory, bytes_of(lines),
                      bucket_alignment(ref_type::line_words * sizeof(word)));
    m_words = word_view(static_cast<word*>(memory.data), words_of(lines));
    m_lines = lines;
  }

  std::string m_name;
  options m_options;
  Hash m_hash;
  KeyEqual m_equal;
  sentinels<typename layout::key_bits> m_sentinels;
  word_view m_words;
  std::uint64_t m_lines = 0, m_max_keys = 0;
};

}  // namespace karpos::detail::hopscotch
