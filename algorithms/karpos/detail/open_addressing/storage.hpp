// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "karpos/detail/open_addressing/ref.hpp"
#include "karpos/detail/open_addressing/tuning.hpp"
#include "karpos/detail/slot.hpp"
#include "karpos/detail/table_memory.hpp"
#include "karpos/detail/table_options.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos::detail::open_addressing {

/// The memory of an open-addressing table: an array of slots in pairs of buckets and an array of overflow
/// marks. A storage for bulk_table.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing, int B,
          bool OneStep =
              device::is_lock_free<sizeof(typename slot_layout<Key, T>::word), ExecSpace>>
class open_addressing_storage {
 public:
  using key_type = Key;
  using mapped_type = T;
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  using hasher = Hash;
  using key_equal = KeyEqual;
  using options = hash_table_options<Key>;
  using ref_type = open_addressing_ref<Key, T, ExecSpace, Hash, KeyEqual, Probing, B, OneStep>;
  static constexpr int prefetch_distance = tuning<ExecSpace>::prefetch_distance;

  open_addressing_storage(ExecSpace const& exec, std::string name, std::uint64_t max_keys,
                          options const& o, Hash const& hash, KeyEqual const& equal,
                          std::optional<wrapped_memory> memory)
      : m_name(std::move(name)),
        m_options(o),
        m_hash(hash),
        m_equal(equal),
        m_sentinels(sentinels_of<layout>(o)),
        m_max_keys(max_keys) {
    std::uint64_t const pairs = pairs_for(max_keys, o.load);
    if (memory)
      wrap(pairs, *memory);
    else
      allocate(exec, pairs);
    clear(exec);
  }

  /// A fresh one of the same kind for other max_keys.
  open_addressing_storage fresh(ExecSpace const& exec, std::uint64_t max_keys) const {
    return {exec, m_name, max_keys, m_options, m_hash, m_equal, {}};
  }

  static std::size_t bytes_for(std::uint64_t max_keys, double load) {
    return bytes_of(pairs_for(max_keys, load));
  }

  std::string const& name() const { return m_name; }
  ref_type ref() const {
    return ref_type(m_slots.data(), m_marks.data(), m_pairs, m_sentinels, m_hash, m_equal);
  }
  std::uint64_t max_keys() const { return m_max_keys; }
  /// Slots that a scan visits: ref().slot_at(i) for i below it.
  std::uint64_t slot_count() const { return slots_of(m_pairs); }
  std::uint64_t bucket_count() const { return 2 * m_pairs; }

  /// Makes every slot empty. Asynchronous.
  void clear(ExecSpace const& exec) {
    fill(table_label(m_name, "clear"), exec, m_slots, ref().slot().empty_slot());
    fill(table_label(m_name, "clear marks"), exec, m_marks, 0);
  }

  /// Takes over the contents of one with the same layout in any space. Asynchronous but for an allocation.
  template <class OtherSpace, bool OtherOneStep>
  void copy_from(ExecSpace const& exec,
                 open_addressing_storage<Key, T, OtherSpace, Hash, KeyEqual, Probing, B,
                                         OtherOneStep> const& other) {
    if (m_pairs != other.m_pairs) allocate(exec, other.m_pairs);
    m_max_keys = other.m_max_keys;
    m_options = other.m_options;
    m_sentinels = other.m_sentinels;
    m_hash = other.m_hash;
    m_equal = other.m_equal;
    Kokkos::deep_copy(exec, m_slots, other.m_slots);
    Kokkos::deep_copy(exec, m_marks, other.m_marks);
  }

 private:
  template <class, class, class, class, class, class, int, bool>
  friend class open_addressing_storage;
  using layout = typename ref_type::layout;
  using word = typename layout::word;
  using slot_view = Kokkos::View<word*, memory_space>;
  using mark_view = Kokkos::View<std::uint32_t*, memory_space>;

  /// Pairs of buckets in a table for so many keys.
  static std::uint64_t pairs_for(std::uint64_t max_keys, double load) {
    return Probing::pair_count_for((slots_for(max_keys, load) + 2 * B - 1) / (2 * B));
  }
  static std::uint64_t slots_of(std::uint64_t pairs) { return pairs * 2 * B; }
  static std::uint64_t mark_words(std::uint64_t pairs) {
    return (pairs * marks_per_pair + 31) / 32;
  }
  static std::size_t bytes_of(std::uint64_t pairs) {
    return slots_of(pairs) * sizeof(word) + mark_words(pairs) * sizeof(std::uint32_t);
  }

  /// Changes nothing when there is no memory.
  void allocate(ExecSpace const& exec, std::uint64_t pairs) {
    auto [slots, marks] = allocated<memory_space>(bytes_of(pairs), [&] {
      return std::pair{
          uninitialized_array<slot_view>(exec, table_label(m_name, "slots"), slots_of(pairs)),
          uninitialized_array<mark_view>(exec, table_label(m_name, "marks"), mark_words(pairs))};
    });
    m_slots = slots;
    m_marks = marks;
    m_pairs = pairs;
  }
  void wrap(std::uint64_t pairs, wrapped_memory memory) {
    require_wrappable(memory, bytes_of(pairs), bucket_alignment(B * sizeof(word)));
    auto* const slots = static_cast<word*>(memory.data);
    m_slots = slot_view(slots, slots_of(pairs));
    m_marks =
        mark_view(reinterpret_cast<std::uint32_t*>(slots + slots_of(pairs)), mark_words(pairs));
    m_pairs = pairs;
  }

  std::string m_name;
  options m_options;
  Hash m_hash;
  KeyEqual m_equal;
  sentinels<typename layout::key_bits> m_sentinels;
  slot_view m_slots;
  mark_view m_marks;
  std::uint64_t m_pairs = 0, m_max_keys = 0;
};

/// Slots of a bucket of the default size.
template <class Key, class T, class ExecSpace>
inline constexpr int default_bucket_slots =
    tuning<ExecSpace>::bucket_bytes / static_cast<int>(sizeof(typename slot_layout<Key, T>::word));

}  // namespace karpos::detail::open_addressing
