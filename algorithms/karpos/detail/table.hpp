// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/backend/launch.hpp"
#include "karpos/backend/tuning.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/bulk.hpp"
#include "karpos/detail/open_addressing.hpp"
#include "karpos/probing.hpp"

namespace karpos {

/// What a table may be told when it is made.
template <class Key>
struct hash_table_options {
  double load = 0.8;                  ///< keys per slot when max_keys are in; in (0, 0.98]
  std::optional<Key> empty_key = {};  ///< key that marks an unused slot; default: the largest value
  std::optional<Key> erased_key =
      {};  ///< key that marks an erased slot; default: the second largest
};

/// Memory of the caller's for a table to live in: at least bytes_for(...), aligned to a bucket.
struct wrapped_memory {
  void* data;
  std::size_t bytes;
};

namespace detail {

/// The owner that hash_map and hash_set share: memory, argument checks, bulk operations.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing, int B,
          bool OneStep = is_lock_free<sizeof(typename slot_layout<Key, T>::word), ExecSpace>>
class open_addressing_table {
 public:
  using ref_type = open_addressing_ref<Key, T, ExecSpace, Hash, KeyEqual, Probing, B, OneStep>;
  using layout = typename ref_type::layout;
  using word = typename layout::word;
  using key_bits = typename layout::key_bits;
  using memory_space = typename ExecSpace::memory_space;
  using options = hash_table_options<Key>;
  using report_view = Kokkos::View<insert_report, memory_space>;
  using erase_view = Kokkos::View<erase_report, memory_space>;
  using tuned = tuning<ExecSpace, open_addressing>;

  open_addressing_table(ExecSpace const& exec, char const* name, std::uint64_t max_keys,
                        options const& o, Hash const& hash, KeyEqual const& equal,
                        std::optional<wrapped_memory> memory)
      : m_name(name),
        m_options(o),
        m_hash(hash),
        m_equal(equal),
        m_sentinels(sentinels_of(o)),
        m_insert_report(
            Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("insert_report"))),
        m_erase_report(
            Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("erase_report"))) {
    adopt(memory ? wrap(max_keys, *memory) : allocate(exec, pairs_for(max_keys, o.load)), max_keys);
    clear(exec);
  }
  open_addressing_table(open_addressing_table&&) = default;
  open_addressing_table& operator=(open_addressing_table&&) = default;
  open_addressing_table(open_addressing_table const&) = delete;
  open_addressing_table& operator=(open_addressing_table const&) = delete;

  /// Pairs of buckets in a table for so many keys.
  static std::uint64_t pairs_for(std::uint64_t max_keys, double load) {
    if (!(load > 0.0 && load <= 0.98))
      reject("load out of range", "load = " + std::to_string(load), "pass a load in (0, 0.98]");
    double const slots = std::ceil(static_cast<double>(max_keys) / load);
    if (slots > 0x1p56)
      throw std::length_error("karpos: capacity overflow (max_keys = " + std::to_string(max_keys) +
                              ", load = " + std::to_string(load) + "): no memory is that large");
    return Probing::pair_count_for((static_cast<std::uint64_t>(slots) + 2 * B - 1) / (2 * B));
  }
  static std::uint64_t slot_count(std::uint64_t pairs) { return pairs * 2 * B; }
  static std::uint64_t mark_words(std::uint64_t pairs) {
    return (pairs * marks_per_pair + 31) / 32;
  }
  static std::size_t bytes_of(std::uint64_t pairs) {
    return slot_count(pairs) * sizeof(word) + mark_words(pairs) * sizeof(std::uint32_t);
  }
  static std::size_t bytes_for(std::uint64_t max_keys, double load) {
    return bytes_of(pairs_for(max_keys, load));
  }

  ref_type ref() const {
    return ref_type(m_slots.data(), m_marks.data(), m_pairs, m_sentinels, m_hash, m_equal);
  }
  std::uint64_t bucket_count() const { return 2 * m_pairs; }
  std::uint64_t max_keys() const { return m_max_keys; }
  options const& made_with() const { return m_options; }

  void clear(ExecSpace const& exec) {
    Kokkos::parallel_for(label("clear"), slot_range(exec, slot_count(m_pairs)),
                         fill_body<word>{m_slots.data(), ref().slot().empty_slot()});
    Kokkos::parallel_for(label("clear marks"), slot_range(exec, m_marks.extent(0)),
                         fill_body<std::uint32_t>{m_marks.data(), 0});
  }

  /// Inserts or merges, and counts the outcomes in a view. Asynchronous.
  template <class Keys, class Values, class Combine, class Stencil>
  void insert(ExecSpace const& exec, char const* what, Keys const& keys, Values const& values,
              Combine const& combine, Stencil const& stencil, report_view const& report) const {
    using body = insert_body<tuned::prefetch_distance, ref_type, Keys, Values, Combine, Stencil>;
    tally_each_staged<tuned::prefetch_distance>(
        label(what), exec, keys.extent(0), body{{ref(), keys}, values, combine, stencil}, report);
  }
  /// The same, waiting for the report.
  template <class Keys, class Values, class Combine, class Stencil>
  insert_report insert(ExecSpace const& exec, char const* what, Keys const& keys,
                       Values const& values, Combine const& combine, Stencil const& stencil) const {
    insert(exec, what, keys, values, combine, stencil, m_insert_report);
    insert_report report;
    Kokkos::deep_copy(exec, report, m_insert_report);
    if (report.invalid != 0)
      reject("keys equal to a sentinel",
             std::to_string(report.invalid) + " of " + std::to_string(keys.extent(0)) +
                 " keys; the others were handled: " + std::to_string(report.inserted) +
                 " inserted, " + std::to_string(report.existing) + " existing, " +
                 std::to_string(report.rejected) + " rejected",
             "choose other sentinels in the options");
    return report;
  }

  void throw_if_rejected(ExecSpace const& exec, insert_report const& report) const {
    if (report.rejected == 0) return;
    std::uint64_t const held = size(exec);
    throw capacity_error(m_name + " is full", held + report.rejected, held, held + report.rejected);
  }

  /// Writes write(answer) for every query. Asynchronous.
  template <class Keys, class Out, class Write, class Stencil>
  void look_up(ExecSpace const& exec, char const* what, Keys const& queries, Out const& out,
               Write const& write, Stencil const& stencil) const {
    using body = lookup_body<tuned::prefetch_distance, ref_type, Keys, T, Out, Write, Stencil>;
    for_each_staged<tuned::prefetch_distance>(label(what), exec, queries.extent(0),
                                              body{{ref(), queries}, out, write, stencil});
  }
  template <class Keys>
  void erase(ExecSpace const& exec, Keys const& keys, erase_view const& report) const {
    tally_each_staged<tuned::prefetch_distance>(
        label("erase"), exec, keys.extent(0),
        erase_body<tuned::prefetch_distance, ref_type, Keys>{{ref(), keys}}, report);
  }
  template <class Keys>
  std::uint64_t erase(ExecSpace const& exec, Keys const& keys) const {
    erase(exec, keys, m_erase_report);
    erase_report report;
    Kokkos::deep_copy(exec, report, m_erase_report);
    return report.erased;
  }

  std::uint64_t size(ExecSpace const& exec) const {
    std::uint64_t n = 0;
    Kokkos::parallel_reduce(label("size"), slot_range(exec, slot_count(m_pairs)),
                            count_body<ref_type>{ref()}, n);
    return n;
  }
  template <class Visit>
  void for_each(ExecSpace const& exec, Visit const& visit) const {
    Kokkos::parallel_for(label("for_each"), slot_range(exec, slot_count(m_pairs)),
                         visit_body<ref_type, Key, Visit>{ref(), visit});
  }
  template <class KeysOut, class ValuesOut>
  std::uint64_t retrieve_all(ExecSpace const& exec, KeysOut const& keys,
                             ValuesOut const& values) const {
    if (keys.extent(0) < slot_count(m_pairs)) {
      std::uint64_t const n = size(exec);
      if (keys.extent(0) < n)
        reject("the views given to retrieve_all are too short",
               std::to_string(keys.extent(0)) + " elements for " + std::to_string(n) + " keys",
               "give views of at least size() elements");
    }
    std::uint64_t n = 0;
    Kokkos::parallel_scan(label("retrieve_all"), slot_range(exec, slot_count(m_pairs)),
                          retrieve_body<ref_type, Key, KeysOut, ValuesOut>{ref(), keys, values}, n);
    return n;
  }

  void rehash(ExecSpace const& exec, std::uint64_t new_max_keys) {
    Kokkos::Profiling::ScopedRegion const region(label("rehash"));
    std::uint64_t const n = size(exec);
    if (new_max_keys < n)
      throw capacity_error(m_name + "::rehash would not hold the keys that are in", n, new_max_keys,
                           n);
    open_addressing_table fresh(exec, m_name.c_str(), new_max_keys, m_options, m_hash, m_equal, {});
    tally_each_staged<0>(label("rehash"), exec, slot_count(m_pairs),
                         reinsert_body<ref_type, Key>{ref(), fresh.ref()}, m_insert_report);
    insert_report report;
    Kokkos::deep_copy(exec, report, m_insert_report);
    if (report.rejected != 0)
      throw capacity_error(m_name + "::rehash found no place for some keys", n, report.inserted,
                           2 * n);
    *this = std::move(fresh);
  }

  /// Takes over the contents of a table with the same layout in any space.
  template <class OtherTable>
  void copy_from(ExecSpace const& exec, OtherTable const& other) {
    if (m_pairs != other.m_pairs) adopt(allocate(exec, other.m_pairs), other.max_keys());
    m_max_keys = other.max_keys();
    m_options = other.made_with();
    m_sentinels = other.m_sentinels;
    m_hash = other.m_hash;
    m_equal = other.m_equal;
    Kokkos::deep_copy(exec, m_slots, other.m_slots);
    Kokkos::deep_copy(exec, m_marks, other.m_marks);
    exec.fence("karpos::deep_copy: the source may change once this returns");
  }

  std::string label(char const* what) const { return "karpos::" + m_name + "::" + what; }

 private:
  template <class, class, class, class, class, class, int, bool>
  friend class open_addressing_table;

  struct storage {
    Kokkos::View<word*, memory_space> slots;
    Kokkos::View<std::uint32_t*, memory_space> marks;
    std::uint64_t pairs;
  };

  void adopt(storage s, std::uint64_t max_keys) {
    m_slots = std::move(s.slots);
    m_marks = std::move(s.marks);
    m_pairs = s.pairs;
    m_max_keys = max_keys;
  }

  storage allocate(ExecSpace const& exec, std::uint64_t pairs) const {
    auto const array = [&](char const* what) {
      return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label(what));
    };
    try {
      storage s{Kokkos::View<word*, memory_space>(array("slots"), slot_count(pairs)),
                Kokkos::View<std::uint32_t*, memory_space>(array("marks"), mark_words(pairs)),
                pairs};
      if constexpr (std::is_same_v<memory_space, Kokkos::HostSpace>)
        host::advise_huge_pages(s.slots.data(), s.slots.size() * sizeof(word));
      return s;
    } catch (std::exception const& e) {
      throw allocation_error("out of memory (" + std::to_string(bytes_of(pairs)) + " bytes in " +
                             memory_space::name() + "): ask for fewer keys or a higher load; " +
                             e.what());
    }
  }

  storage wrap(std::uint64_t max_keys, wrapped_memory memory) const {
    std::uint64_t const pairs = pairs_for(max_keys, m_options.load);
    if (memory.bytes < bytes_of(pairs))
      reject("the memory to wrap is too small",
             std::to_string(memory.bytes) + " bytes for " + std::to_string(bytes_of(pairs)),
             "allocate bytes_for(max_keys, load)");
    // A bucket is read with vector instructions that want its natural alignment; more than a cache line is
    // what no allocation of Kokkos' promises.
    constexpr std::uintptr_t bucket_bytes = B * sizeof(word),
                             natural = bucket_bytes & (~bucket_bytes + 1);
    constexpr std::uintptr_t alignment = natural < 64 ? natural : 64;
    if (reinterpret_cast<std::uintptr_t>(memory.data) % alignment != 0)
      reject("the memory to wrap is not aligned",
             "buckets need " + std::to_string(alignment) + " bytes", "align it to that");
    auto* const slots = static_cast<word*>(memory.data);
    auto* const marks = reinterpret_cast<std::uint32_t*>(slots + slot_count(pairs));
    return {Kokkos::View<word*, memory_space>(slots, slot_count(pairs)),
            Kokkos::View<std::uint32_t*, memory_space>(marks, mark_words(pairs)), pairs};
  }

  static sentinels<key_bits> sentinels_of(options const& o) {
    auto const chosen = [](std::optional<Key> const& key, int i) {
      return key ? to_bits<key_bits>(*key) : default_sentinel<Key, key_bits>(i);
    };
    key_bits const empty = chosen(o.empty_key, 0), erased = chosen(o.erased_key, 1);
    if (empty == erased)
      reject("empty_key and erased_key are equal", std::to_string(empty),
             "choose two different keys");
    if constexpr (sizeof(word) <= 8) return {empty, erased, erased};
    // A claimed slot needs a third key: the largest default that the caller did not choose. Also where one
    // step does, so that every space stores the same keys and a table can be copied between them.
    key_bits busy = default_sentinel<Key, key_bits>(2);
    for (int i = 0; busy == empty || busy == erased; ++i) busy = default_sentinel<Key, key_bits>(i);
    return {empty, erased, busy};
  }

  static auto slot_range(ExecSpace const& exec, std::uint64_t n) {
    return Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>>(exec, 0, n);
  }

  std::string m_name;
  options m_options;
  Hash m_hash;
  KeyEqual m_equal;
  sentinels<key_bits> m_sentinels;
  Kokkos::View<word*, memory_space> m_slots;
  Kokkos::View<std::uint32_t*, memory_space> m_marks;
  std::uint64_t m_pairs = 0, m_max_keys = 0;
  // Where kernels count for calls that wait for a report: allocated once, so that no call allocates.
  report_view m_insert_report;
  erase_view m_erase_report;
};

/// Slots of a bucket of the default size.
template <class Key, class T, class ExecSpace>
inline constexpr int default_bucket_slots =
    tuning<ExecSpace, open_addressing>::bucket_bytes /
    static_cast<int>(sizeof(typename slot_layout<Key, T>::word));

}  // namespace detail
}  // namespace karpos
