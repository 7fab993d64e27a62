// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/tables/open_addressing/tuning.hpp"
#include "karpos/detail/tables/table_memory.hpp"
#include "karpos/detail/tables/unordered_map/table.hpp"
#include "karpos/detail/tables/unordered_map/traits.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"

// The memory of an unordered_map, one reference-counted array of bytes (drawn in table.hpp), and
// the loops over all slots.

namespace karpos::detail::unordered_map {

// Bodies of loops. Table is what a loop holds of a table (device::held_by_loop).

template <class Table>
struct count_live {
  Table table;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    n += table.template valid_at<device::access::frozen>(i);
  }
};
template <class Table>
struct mark_paths {
  Table table;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { table.mark_path_to(i); }
};
template <class Table>
struct reclaim_slots {
  Table table;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { table.reclaim(i); }
};
template <class Table>
struct reinsert_pairs {
  using value_type = typename std::remove_cvref_t<Table>::value_type;
  Table from, to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (!from.template valid_at<device::access::frozen>(i)) return;
    to.insert(from.slots().template key_at<device::access::frozen>(i), value(i), false);
  }
  KOKKOS_FUNCTION value_type value([[maybe_unused]] std::uint64_t i) const {
    if constexpr (is_no_value<value_type>)
      return {};
    else
      return *from.slots().value_at(i);
  }
};
template <class Table>
struct blank_records {
  Table table;
  bool keys_alone;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (keys_alone)
      table.slots().blank_key(i);
    else
      table.slots().blank_record(i);
  }
};
/// The status words that say the number of keys; the functor returns the i-th, for fill_with.
struct phase_and_size {
  std::uint32_t phase, known_size, changes;
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint64_t i) const {
    return i == 0 ? phase : i == 1 ? known_size : changes;
  }
};

template <class Traits>
class storage {
 public:
  using table_type = table<Traits>;
  using execution_space = typename Traits::execution_space;
  using memory_space = typename Traits::memory_space;
  using bytes_view = Kokkos::View<std::byte*, memory_space>;
  using slots_type = typename Traits::slots;
  static constexpr int prefetch_distance =
      open_addressing::tuning<execution_space>::prefetch_distance;

  storage() = default;
  // Without move operations: a map that is moved from stays a map.
  storage(storage const&) = default;
  storage& operator=(storage const&) = default;
  /// Makes an empty table for `keys` keys. make(bytes) allocates its memory.
  template <class Hash, class Equal, class Make>
  storage(std::uint64_t keys, Hash const& hash, Equal const& equal, Make const& make) {
    place(table_type::home_among(pairs_for(keys), next_seed()),
          function_for<typename Traits::hasher>(hash),
          function_for<typename Traits::key_equal>(equal), make);
    empty(false);
  }
  /// Allocates a table with the capacity, `home` and functions of another one, but no contents.
  template <class Other>
  static storage allocate_like(storage<Other> const& other) {
    storage made;
    if (other.is_allocated())
      made.place(other.view().home(), other.view().hash_function(), other.view().equal_function(),
                 allocate_bytes);
    return made;
  }
  /// Copies the contents of a table with as many slots, and its `home`. If the homes differ and
  /// other maps share this memory, inserts the keys where those maps look for them instead. Throws
  /// if the numbers of slots differ. Blocks.
  template <class Other>
  void copy_from(storage<Other> const& other) {
    if (view().pairs() != other.view().pairs())
      reject("maps of different capacities cannot be copied",
             std::to_string(other.view().capacity()) + " to " + std::to_string(view().capacity()),
             "make the destination by create_mirror, allocate_view or create_copy_view");
    if (static_cast<void*>(m_memory.data()) == other.memory().data()) return;
    if (view().home() != other.view().home() && m_memory.use_count() > 1) {
      storage same_home = allocate_like(other);
      same_home.copy_from(other);
      return insert_all_of(same_home);
    }
    Kokkos::deep_copy(m_memory, other.memory());
    m_table = m_table.with_home(other.view().home());
  }

  static std::size_t bytes_for(std::uint64_t keys) {
    storage made;
    made.lay_out(nullptr, pairs_for(keys));
    return made.m_bytes;
  }
  static bytes_view allocate_bytes(std::size_t n) {
    return uninitialized_array<bytes_view>(execution_space(), label("memory"), n);
  }
  static std::string label(char const* what) { return table_label("unordered_map", what); }

  KOKKOS_FUNCTION table_type const& view() const { return m_table; }
  /// Returns the bytes of words and records.
  std::uint64_t slot_bytes() const {
    return m_table.capacity() *
           (sizeof(typename slots_type::word) +
            (slots_type::has_records ? sizeof(typename slots_type::record) : 0));
  }
  /// Throws std::logic_error if the map has no memory.
  void require_memory() const {
    if (!is_allocated())
      reject<std::logic_error>("this unordered_map has no memory",
                               "it was default-constructed, or copied from such a map",
                               "assign one to it first");
  }
  KOKKOS_FUNCTION bool is_allocated() const { return m_memory.data() != nullptr; }
  bytes_view const& memory() const { return m_memory; }

  /// Makes every slot empty. Values in records keep their bytes, as in Kokkos' map. Blocks.
  void clear() const {
    if (is_allocated()) empty(true);
  }
  /// Returns the number of keys; counts them if it is not known. Blocks.
  std::uint64_t count() const {
    phase_and_size const known = read_phase();
    if ((known.phase & modified) == 0) return known.known_size;
    auto const keys = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        label("size"), execution_space(), m_table.capacity(), count_live<held_table>{held()});
    write_phase({known.phase & erasable, static_cast<std::uint32_t>(keys), 0});
    return keys;
  }
  /// Sets what count() returns until keys change, and clears the phase bits. Blocks.
  void set_count(std::uint64_t keys) const {
    write_phase({0, static_cast<std::uint32_t>(keys), 0});
  }
  /// Makes the erased slots empty that no key went past, and sets the marks anew. Blocks.
  void reclaim() const {
    execution_space const exec;
    zero_from(exec, m_marks, m_status);
    device::loop_over(label("end_erase: paths"), exec, m_table.capacity(),
                      mark_paths<held_table>{held()});
    device::loop_over(label("end_erase"), exec, m_table.capacity(),
                      reclaim_slots<held_table>{held()});
    exec.fence("karpos::unordered_map: erased slots are free");
  }
  /// Inserts all pairs into a larger table. Blocks.
  void insert_into(storage const& other) const {
    execution_space const exec;
    device::loop_over(label("rehash"), exec, m_table.capacity(),
                      reinsert_pairs<held_table>{held(), other.held()});
    exec.fence("karpos::unordered_map: the keys are in their new places");
  }

  std::uint32_t get(status_word w) const {
    if (!is_allocated()) return 0;
    return read_back(execution_space(), m_status + w, "karpos::unordered_map: its status");
  }
  void set(status_word w, std::uint32_t value) const {
    if (is_allocated()) write_status(w, 1, constant<std::uint32_t>{value});
  }
  /// Begins or ends an erase phase; keeps the bit `modified`. Blocks.
  void change_phase(std::uint32_t is_erasable) const {
    if (is_allocated()) set(phase, is_erasable | (get(phase) & modified));
  }

 private:
  template <class>
  friend class storage;

  using held_table = device::held_by_loop<execution_space, table_type>;
  /// Returns what loops hold of this table. Requires: this object outlives the loops.
  held_table held() const { return device::for_loop<execution_space>(m_table); }

  phase_and_size read_phase() const {
    return read_back(execution_space(), reinterpret_cast<phase_and_size const*>(m_status + phase),
                     "karpos::unordered_map: its size");
  }
  void write_phase(phase_and_size const& values) const { write_status(phase, 3, values); }
  /// Sets n status words, from `first` on, to make(0), make(1), … Blocks.
  template <class Make>
  void write_status(status_word first, std::uint64_t n, Make const& make) const {
    execution_space const exec;
    if constexpr (device::is_device<execution_space>)
      fill_with(label("set status"), exec, m_status + first, n, make);
    exec.fence("karpos::unordered_map: its status is set");
    if constexpr (!device::is_device<execution_space>)  // a kernel would cost more than counting
      for (std::uint64_t i = 0; i < n; ++i) device::store_relaxed(m_status + first + i, make(i));
  }

  static std::uint64_t pairs_for(std::uint64_t keys) {
    constexpr std::uint64_t pair_slots = 2 * table_type::bucket_slots;
    std::uint64_t const slots = slots_for(Kokkos::max(keys, std::uint64_t(128)), Traits::load);
    std::uint64_t const pairs =
        double_hashing::pair_count_for((slots + pair_slots - 1) / pair_slots);
    if (pairs > (table_type::no_index - slots_type::reserved_slots) / pair_slots)
      reject<std::length_error>("capacity overflow",
                                "an unordered_map for " + std::to_string(keys) + " keys",
                                "its indices have 32 bits, as Kokkos' have; take a hash_map");
    return pairs;
  }
  void empty(bool keys_alone) const {
    execution_space const exec;
    fill_with(label("clear"), exec, m_table.slots().words(), m_table.capacity(),
              constant<typename slots_type::word>{slots_type::empty_word()});
    if constexpr (slots_type::has_records)
      device::loop_over(label("clear records"), exec, m_table.capacity(),
                        blank_records<held_table>{held(), keys_alone});
    zero_from(exec, m_marks, m_status + status_words);
    exec.fence("karpos::unordered_map: a map was emptied");
  }
  /// Replaces the contents by the keys, the values and the status of another table. Blocks.
  void insert_all_of(storage const& other) const {
    std::uint64_t const keys = other.count();
    empty(false);
    other.insert_into(*this);
    set_count(keys);
    set(failed, other.get(failed));
    if ((other.get(phase) & erasable) != 0) set(phase, erasable);
  }
  template <class Make>
  void place(place_among const& home, typename Traits::hasher const& hash,
             typename Traits::key_equal const& equal, Make const& make) {
    std::uint64_t const pairs = home.count() / 2;
    lay_out(nullptr, pairs);
    std::size_t const n = m_bytes;
    m_memory = allocate_or_explain<memory_space>(n, "an unordered_map", "ask for fewer keys",
                                                 [&] { return make(n); });
    device::advise_huge_pages<memory_space>(m_memory.data(), n);
    parts<slots_type> const p = lay_out(m_memory.data(), pairs);
    m_marks = p.marks;
    m_status = p.status;
    m_table = table_type(p, home, hash, equal);
  }
  /// Returns where the arrays lie in memory that begins at base; sets m_bytes.
  parts<slots_type> lay_out(std::byte* base, std::uint64_t pairs) {
    parts<slots_type> p;
    std::uint64_t const slots = pairs * 2 * table_type::bucket_slots;
    arena memory(base);
    memory.allocate(p.words, slots + slots_type::reserved_slots);
    memory.allocate(p.marks, (pairs * open_addressing::marks_per_pair + 31) / 32);
    memory.allocate(p.passed, passed_words(pairs) + fullness::words_for(2 * pairs));
    memory.allocate(p.status, status_words);
    memory.allocate(p.records, slots_type::has_records ? slots : 0);
    m_bytes = memory.bytes();
    return p;
  }
  static void zero_from(execution_space const& exec, std::uint32_t* first, std::uint32_t* last) {
    fill_with(label("clear marks"), exec, first, static_cast<std::uint64_t>(last - first),
              constant<std::uint32_t>{0});
  }

  bytes_view m_memory;
  std::size_t m_bytes = 0;
  std::uint32_t* m_marks = nullptr;
  std::uint32_t* m_status = nullptr;
  table_type m_table;
};

}  // namespace karpos::detail::unordered_map
