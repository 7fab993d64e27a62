// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/cuckoo/build_buckets.hpp"
#include "karpos/detail/cuckoo/distinct.hpp"
#include "karpos/detail/cuckoo/divide.hpp"
#include "karpos/detail/cuckoo/memory.hpp"
#include "karpos/detail/cuckoo/place.hpp"
#include "karpos/detail/cuckoo/refs.hpp"
#include "karpos/detail/table_memory.hpp"

namespace karpos::detail::cuckoo {

/// The table of a cuckoo_map: memory, and how it is filled.
template <class Key, class T, class ExecSpace, class Hash>
class table {
 public:
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  using options = cuckoo_map_options<Key>;
  using view = table_view<Key, T, Hash>;
  using word = typename view::word;
  using extents_type = extents<word>;
  using two_level = two_level_ref<Key, T, ExecSpace, Hash>;
  using dense = dense_ref<Key, T, ExecSpace, Hash>;
  static constexpr int prefetch_distance = tuning<ExecSpace>::prefetch_distance;
  static constexpr std::uint64_t max_restarts = 16;

  table(options const& o, Hash const& hash) : m_options(o), m_hash(hash) {
    if (o.layout == cuckoo_layout::dense) slots_for(0, o.load);  // throws if out of range
    m_empty = o.empty_key ? to_bits<key_bits>(*o.empty_key) : default_sentinel<Key, key_bits>(0);
  }

  static std::string name() { return "cuckoo_map"; }
  static std::string label(char const* what) { return table_label(name(), what); }

  options const& chosen() const { return m_options; }
  std::uint64_t size() const { return m_size; }
  std::uint64_t restarts() const { return m_restarts; }
  extents_type const& extent() const { return m_extents; }
  std::size_t bytes() const { return m_extents.bytes() + m_work.bytes(); }
  view seen() const {
    return {m_slots.data(),
            reinterpret_cast<std::uint8_t*>(m_marks.data()),
            static_cast<std::uint32_t>(m_extents.groups),
            m_extents.windows,
            seed(m_restarts),
            typename view::protocol({m_empty, m_empty, m_empty}),
            m_hash};
  }

  /// Keys that fit into the dense layout without growing.
  std::uint64_t capacity() const {
    double const rounding = 1 + 1e-12;
    return static_cast<std::uint64_t>(static_cast<double>(m_extents.slots) * m_options.load *
                                      rounding);
  }
  static division division_for(std::uint64_t n, extents_type const& e, cuckoo_layout layout) {
    using builder = build_buckets<ExecSpace, view>;
    if (layout == cuckoo_layout::dense) return division::of(n, e.groups, 0, max_regions);
    auto d = division::of(n, e.groups, std::countr_zero(static_cast<unsigned>(builder::buckets)),
                          max_regions);
    if (d.capacity > builder::max_items) d.capacity = builder::max_items;
    return d;
  }

  static std::size_t workspace_bytes_for(std::uint64_t n, options const& o) {
    auto const e = extents_type::of(n, o.capacity, o);
    division const d = division_for(n, e, o.layout);
    return workspace<word, ExecSpace>::bytes_for(d, d.coarse_items() > e.slots);
  }

  /// Replaces the contents. Waits for exec. See cuckoo_map::build for what it throws.
  template <class Keys, class Values>
  void build(ExecSpace const& exec, Keys const& keys, Values const& values) {
    Kokkos::Profiling::ScopedRegion const region(label("build"));
    begin(exec, keys.extent(0), m_options.capacity);
    try {
      fill_with(exec, keys, values);
    } catch (...) {
      clear(exec);
      finish(0);
      throw;
    }
  }

  /// Adds the pairs whose keys are new, the first of equal ones. Requires: the layout is dense.
  template <class Keys, class Values>
  insert_report insert(ExecSpace const& exec, Keys const& keys, Values const& values);

  /// Takes over the contents of a table in any space. Waits for exec.
  template <class OtherSpace>
  void copy_from(ExecSpace const& exec, table<Key, T, OtherSpace, Hash> const& other) {
    if (m_extents.slots != other.m_extents.slots || m_extents.marks != other.m_extents.marks)
      std::tie(m_slots, m_marks) = allocate(exec, other.m_extents);
    m_extents = other.m_extents;
    m_options = other.m_options;
    m_hash = other.m_hash;
    m_empty = other.m_empty;
    m_size = other.m_size;
    m_restarts = other.m_restarts;
    Kokkos::deep_copy(exec, m_slots, other.m_slots);
    Kokkos::deep_copy(exec, m_marks, other.m_marks);
    exec.fence("karpos::deep_copy: the source may change once this returns");
  }

 private:
  template <class, class, class, class>
  friend class table;
  using layout = typename view::layout;
  using key_bits = typename layout::key_bits;
  using slot_view = Kokkos::View<word*, memory_space>;
  using mark_view = Kokkos::View<std::uint32_t*, memory_space>;

  std::uint64_t seed(std::uint64_t restart) const { return mix(mix(m_options.seed) + restart); }
  static bool complete(build_report const& r) {
    return r.overflowing == 0 && r.homeless == 0 && r.repeated == 0;
  }

  /// Makes room for a table of n keys, with room for some number of them, and for building it. Changes nothing when
  /// there is no memory.
  void begin(ExecSpace const& exec, std::uint64_t n, std::uint64_t room) {
    auto const e = extents_type::of(n, room, m_options);
    division const d = division_for(n, e, m_options.layout);
    auto slots = m_slots;
    auto marks = m_marks;
    auto work = m_work;
    if (e.slots != slots.extent(0) || e.mark_words() != marks.extent(0))
      std::tie(slots, marks) = allocate(exec, e);
    d.require_possible(n);
    work.reserve(name(), exec, d, d.coarse_items() > e.slots);
    m_slots = slots;
    m_marks = marks;
    m_work = work;
    m_extents = e;
    m_size = m_restarts = 0;
  }
  void finish(std::uint64_t n) {
    m_size = n;
    if (!m_options.keep_workspace) m_work = {};
  }

  template <class Keys, class Values>
  void fill_with(ExecSpace const& exec, Keys const& keys, Values const& values) {
    std::uint64_t const n = keys.extent(0);
    all_pairs<view, Keys, Values> const pairs{keys, values};
    // Equal keys show where they share a slot. Where too many keys meet in one place, there may be equal ones too:
    // that is looked into once it has happened with two seeds, for it happens without them.
    for (m_restarts = 0; m_restarts < 2; ++m_restarts) {
      build_report const r = attempt(exec, pairs);
      if (r.invalid != 0) reject_sentinels(r.invalid, n);
      if (complete(r)) return finish(n);
      if (r.repeated != 0) break;
    }
    auto const first = distinct(name(), exec, seen(), keys, keep_all{});
    if (first.kept == n) return try_seeds(exec, pairs);
    if (m_options.duplicates == duplicate_keys::reject)
      reject_duplicates(exec, keys, n - first.kept, first.first_repeated);
    begin(exec, first.kept, m_options.capacity);
    try_seeds(exec, chosen(keys, values, first));
  }
  void clear(ExecSpace const& exec) {
    fill(label("clear"), exec, m_slots, seen().slot.empty_slot());
    fill(label("clear marks"), exec, m_marks, 0);
  }
  static std::pair<slot_view, mark_view> allocate(ExecSpace const& exec, extents_type const& e) {
    return allocated<memory_space>(e.bytes(), [&] {
      return std::pair{uninitialized_array<slot_view>(exec, label("slots"), e.slots),
                       uninitialized_array<mark_view>(exec, label("marks"), e.mark_words())};
    });
  }

  /// Builds with one seed after the other, from m_restarts on.
  template <class Source>
  void try_seeds(ExecSpace const& exec, Source const& source) {
    build_report r;
    for (; m_restarts <= max_restarts; ++m_restarts) {
      r = attempt(exec, source);
      if (complete(r)) return finish(source.size());
    }
    m_restarts = 0;
    throw hash_error("cuckoo_map found no place for all of " + std::to_string(source.size()) +
                         " keys with any of " + std::to_string(max_restarts + 1) + " seeds",
                     std::to_string(r.overflowing) + " keys too many in their group, " +
                         std::to_string(r.homeless) + " groups or keys without a place",
                     "pass a hash function that tells keys apart, or a lower load");
  }

  /// Builds with the current seed. Waits for the report.
  template <class Source>
  build_report attempt(ExecSpace const& exec, Source const& source) {
    division const d = division_for(source.size(), m_extents, m_options.layout);
    bool const coarse_in_table = d.coarse_items() <= m_extents.slots;
    divide_source(exec, source, d, coarse_in_table ? m_slots.data() : nullptr);
    if (m_options.layout == cuckoo_layout::two_level) {
      device::for_each_in_league(
          label("build buckets"), exec, static_cast<int>(d.regions),
          build_buckets<ExecSpace, view>{seen(), divided(d), m_work.report()});
    } else {
      clear(exec);
      place(exec, d);
    }
    build_report r = reported(exec);
    if (m_options.layout == cuckoo_layout::dense && r.homeless == 0)
      Kokkos::parallel_reduce(label("look for equal keys"), index_range(exec, m_extents.slots),
                              count_twins<view>{seen()}, r.repeated);
    return r;
  }

  template <class Space>
  static auto unmanaged(build_report* r) {
    return Kokkos::View<build_report, Space, Kokkos::MemoryUnmanaged>(r);
  }
  build_report reported(ExecSpace const& exec) const {
    build_report r;
    Kokkos::deep_copy(exec, unmanaged<Kokkos::HostSpace>(&r),
                      unmanaged<memory_space>(m_work.report()));
    exec.fence("karpos::cuckoo_map: whether every key has a place");
    return r;
  }

  regions<word> divided(division const& d) const {
    return {m_work.items.data(), m_work.fill(), d.capacity};
  }
  template <class Source>
  void divide_source(ExecSpace const& exec, Source const& source, division const& d,
                     word* room_for_coarse) {
    regions<word> const to = divided(d);
    regions<word> const coarse{room_for_coarse ? room_for_coarse : to.items + d.items(),
                               to.fill + d.regions, d.coarse_capacity};
    fill(label("clear counters"), exec, m_work.counters, 0);
    divide(label("divide"), exec, seen(), source, d, coarse, to, m_work.report());
  }
  void place(ExecSpace const& exec, division const& d) {
    place_items<ExecSpace, view> const placing{seen(), divided(d), m_work.report()};
    device::for_each_in_league(label("place"), exec,
                               static_cast<int>(d.regions * placing.teams_each()), placing);
  }

  template <class Source>
  bool place_new(ExecSpace const& exec, Source const& source);
  template <class Source>
  void move_to_new(ExecSpace const& exec, Source const& source, std::uint64_t room);

  template <class Keys, class Values, class Distinct>
  static auto chosen(Keys const& keys, Values const& values, Distinct const& first) {
    using indices = Kokkos::View<std::uint64_t const*, memory_space>;
    indices const which =
        Kokkos::subview(first.indices, std::pair<std::uint64_t, std::uint64_t>(0, first.kept));
    return chosen_pairs<view, Keys, Values, indices>{keys, values, which};
  }

  [[noreturn]] static void reject_sentinels(std::uint64_t invalid, std::uint64_t n) {
    reject("keys equal to the sentinel",
           std::to_string(invalid) + " of " + std::to_string(n) + " keys",
           "choose another empty_key in the options");
  }
  template <class Keys>
  [[noreturn]] static void reject_duplicates(ExecSpace const& exec, Keys const& keys,
                                             std::uint64_t repeated, std::uint64_t example) {
    Key key{};
    Kokkos::deep_copy(exec, key, Kokkos::subview(keys, example));
    reject("keys occur more than once",
           std::to_string(repeated) + " of " + std::to_string(keys.extent(0)) + " keys; keys(" +
               std::to_string(example) + ") = " + name_of(key) + " is the first of them",
           "remove them, or choose duplicate_keys::keep_one");
  }

  static std::string name_of(Key const& key) {
    if constexpr (std::is_arithmetic_v<Key>)
      return std::to_string(key);
    else
      return "the bits " + std::to_string(to_bits<std::uint64_t>(key));
  }

  options m_options;
  Hash m_hash;
  key_bits m_empty{};
  extents_type m_extents;
  slot_view m_slots;
  mark_view m_marks;
  workspace<word, ExecSpace> m_work;
  std::uint64_t m_size = 0, m_restarts = 0;
};

}  // namespace karpos::detail::cuckoo

#include "karpos/detail/cuckoo/insert.hpp"
