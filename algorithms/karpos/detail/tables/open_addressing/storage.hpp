// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/detail/tables/open_addressing/ref.hpp"
#include "karpos/detail/tables/open_addressing/run.hpp"
#include "karpos/detail/tables/open_addressing/tuning.hpp"
#include "karpos/detail/tables/table_memory.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/table_options.hpp"

namespace karpos::detail::open_addressing {

/// Sets the overflow marks of the key in slot i, in `marks`: the body of a loop over slots.
template <class Table>
struct gather_marks {
  Table table;
  std::uint32_t* marks;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { table.mark_stored_key(i, marks); }
};

/// The memory of an open-addressing table: an array of slots in bucket pairs, and an array of
/// overflow marks with the fullness (fullness.hpp) at its end. A storage for hash_table.
template <class Traits>
class storage : public Traits {
 public:
  using typename Traits::execution_space, typename Traits::memory_space;
  using settings_type = table_settings<Traits>;
  using ref_type = table_ref<Traits>;
  static constexpr int prefetch_distance = tuning<execution_space>::prefetch_distance;
  static constexpr bool has_tombstones = true;
  static constexpr bool has_segments = tuning<execution_space>::has_segments && has_rows<ref_type>;

  /// Makes a storage without memory, to be assigned to.
  storage() : m_settings(0, {}, {}, {}) {}
  storage(execution_space const& exec, settings_type const& settings,
          std::optional<wrapped_memory> memory = {})
      : m_settings(settings) {
    if constexpr (Traits::layout::has_128_bit_key) device::require_bits128<execution_space>();
    std::uint64_t const pairs = pairs_for(settings.max_keys, settings.options.load);
    if (memory)
      wrap(pairs, *memory);
    else
      allocate(exec, pairs);
    clear(exec);
    if (!memory) enable_order();
  }

  /// Releases the memory: the state of a default-constructed or moved-from table.
  void release() {
    invalidate_order();
    m_slots = {};
    m_marks = {};
    m_pairs = m_settings.max_keys = 0;
  }

  static std::size_t bytes_for(std::uint64_t max_keys, double load) {
    return bytes_of(pairs_for(max_keys, load));
  }

  settings_type const& settings() const { return m_settings; }
  ref_type ref() const { return make_ref(false); }
  ref_type scan_ref() const { return ref(); }
  /// Calls f with what bulk lookups use: they may use the order of keys.
  template <class F>
  void with_ref(F const& f) const {
    f(make_ref(has_order()));
  }
  /// Calls f, which enqueues erasures, with the ref for them.
  template <class F>
  void with_erasure_ref(execution_space const&, std::uint64_t, F const& f) const {
    f(ref());
  }
  // Several host threads may call these at once.

  /// Returns whether the order of the keys in full buckets says what lies beyond their pairs
  /// (marks.hpp): as long as all keys were inserted by segments.
  bool has_order() const { return std::atomic_ref(m_has_order).load(std::memory_order_relaxed); }
  void invalidate_order() const {
    std::atomic_ref(m_has_order).store(false, std::memory_order_relaxed);
  }
  /// Lets the order of keys be used. Requires: the table is empty, and no ref changes it unnoticed.
  void enable_order() { m_has_order = ref_type::order::classes != 0; }
  /// Returns the ref of bulk insertions that defer marks.
  auto deferring_ref() const { return make_ref<table_ref<deferred_marks<Traits>>>(false); }
  bool defers_marks() const {
    return std::atomic_ref(m_defers_marks).load(std::memory_order_relaxed);
  }
  /// Notes that keys were refused: from now on, bulk insertions defer marks.
  void defer_marks() const {
    std::atomic_ref(m_defers_marks).store(true, std::memory_order_relaxed);
  }
  /// Returns whether the marks were rebuilt, and since then only insertions that defer them ran.
  bool has_rebuilt_marks() const {
    return std::atomic_ref(m_has_rebuilt_marks).load(std::memory_order_relaxed);
  }
  void invalidate_rebuilt_marks() const {
    std::atomic_ref(m_has_rebuilt_marks).store(false, std::memory_order_relaxed);
  }
  /// Removes the marks of refused keys, if there is memory for that: many of them keep lookups of
  /// missing keys from ending early. Gathers the marks of the stored keys beside the table, then
  /// replaces those of the table. Blocks.
  /// Requires: no slot is empty, and all keys are published.
  void rebuild_marks(execution_space const& exec) {
    std::uint64_t const words = mark_words(m_pairs);
    try {
      auto const gathered = allocate_table<memory_space>(words * sizeof(std::uint32_t), [&] {
        return uninitialized_array<mark_view>(exec, label("marks of stored keys"), words);
      });
      fill(label("rebuild marks"), exec, gathered, 0);
      device::loop_over(label("rebuild marks"), exec, slots_of(m_pairs),
                        gather_marks<ref_type>{ref(), gathered.data()});
      Kokkos::deep_copy(exec,
                        Kokkos::subview(m_marks, std::pair<std::uint64_t, std::uint64_t>(0, words)),
                        gathered);
      exec.fence("karpos::hash_table: the memory that marks were gathered in is freed");
      m_has_rebuilt_marks = true;
    } catch (allocation_error const&) {
    }
  }
  static std::string label(char const* what) { return table_label(Traits::name, what); }
  /// Returns the number of slots that a scan visits: ref().slot_at(i) for i below it.
  std::uint64_t slot_count() const { return slots_of(m_pairs); }
  std::uint64_t bucket_count() const { return 2 * m_pairs; }

  /// Makes every slot empty. Asynchronous.
  void clear(execution_space const& exec) {
    m_defers_marks = m_has_rebuilt_marks = false;
    fill(label("clear"), exec, m_slots, ref().slot().empty_slot());
    fill(label("clear marks"), exec, m_marks, 0);
  }

  /// Copies a table with the same layout in any space. Asynchronous but for an allocation.
  template <class Other>
    requires(same_contents<Traits, Other> && Traits::bucket_slots == Other::bucket_slots &&
             std::is_same_v<typename Traits::probing, typename Other::probing>)
  void copy_from(execution_space const& exec, storage<Other> const& other) {
    if (m_pairs != other.m_pairs) allocate(exec, other.m_pairs);
    m_settings = other.m_settings;
    Kokkos::deep_copy(exec, m_slots, other.m_slots);
    Kokkos::deep_copy(exec, m_marks, other.m_marks);
    m_has_order = other.has_order();
    m_defers_marks = other.defers_marks();
    m_has_rebuilt_marks = other.has_rebuilt_marks();
  }

 private:
  template <class>
  friend class storage;
  using Traits::bucket_slots;
  using word = typename Traits::word;
  using slot_view = Kokkos::View<word*, memory_space>;
  using mark_view = Kokkos::View<std::uint32_t*, memory_space>;
  static constexpr std::uint64_t pair_slots = 2 * bucket_slots;

  template <class Ref = ref_type>
  Ref make_ref(bool has_order) const {
    return Ref(m_slots.data(), m_marks.data(), m_pairs, m_settings.reserved_keys, m_settings.hash,
               m_settings.equal, has_order, m_settings.seed);
  }
  /// Returns the bucket pairs of a table for max_keys keys at that load.
  static std::uint64_t pairs_for(std::uint64_t max_keys, double load) {
    return Traits::probing::pair_count_for((slots_for(max_keys, load) + pair_slots - 1) /
                                           pair_slots);
  }
  static std::uint64_t slots_of(std::uint64_t pairs) { return pairs * pair_slots; }
  static std::size_t bytes_of(std::uint64_t pairs) {
    return slots_of(pairs) * sizeof(word) + words_behind_slots(pairs) * sizeof(std::uint32_t);
  }

  /// Allocates `pairs` bucket pairs. Changes nothing if there is not enough memory.
  void allocate(execution_space const& exec, std::uint64_t pairs) {
    auto [slots, marks] = allocate_table<memory_space>(bytes_of(pairs), [&] {
      return std::pair{
          uninitialized_array<slot_view>(exec, label("slots"), slots_of(pairs)),
          uninitialized_array<mark_view>(exec, label("marks"), words_behind_slots(pairs))};
    });
    m_slots = slots;
    m_marks = marks;
    m_pairs = pairs;
  }
  void wrap(std::uint64_t pairs, wrapped_memory memory) {
    require_wrappable(memory, bytes_of(pairs), bucket_slots * sizeof(word));
    auto* const slots = static_cast<word*>(memory.data);
    m_slots = slot_view(slots, slots_of(pairs));
    m_marks = mark_view(reinterpret_cast<std::uint32_t*>(slots + slots_of(pairs)),
                        words_behind_slots(pairs));
    m_pairs = pairs;
  }

  settings_type m_settings;
  slot_view m_slots;
  mark_view m_marks;
  std::uint64_t m_pairs = 0;
  mutable bool m_has_order = false;
  mutable bool m_defers_marks = false, m_has_rebuilt_marks = false;
};

template <class Key, class T, class ExecSpace>
inline constexpr int default_bucket_slots =
    tuning<ExecSpace>::bucket_bytes / static_cast<int>(sizeof(typename layout_of<Key, T>::word));

}  // namespace karpos::detail::open_addressing
