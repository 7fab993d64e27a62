// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/tables/cuckoo/build_buckets.hpp"
#include "karpos/detail/tables/cuckoo/distinct.hpp"
#include "karpos/detail/tables/cuckoo/place.hpp"
#include "karpos/detail/tables/cuckoo/plan.hpp"
#include "karpos/detail/tables/cuckoo/refs.hpp"
#include "karpos/detail/tables/cuckoo/split.hpp"
#include "karpos/detail/tables/cuckoo/tuning.hpp"
#include "karpos/detail/tables/scans.hpp"
#include "karpos/detail/tables/table_memory.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"

// Cuckoo hashing: a key lies in one of a few candidate slots, and a lookup reads these.
//
// ## The two-level layout (Alcantara et al. 2009)
//
//   level 1   hash(key, seed)  ->  bucket       the first level of Fredman, Komlós and Szemerédi:
//                                               n / 409 buckets, 409 keys on average, 520 at most,
//                                               in 576 slots: 1.41 n in all
//   level 2   mix(hash + constants of the bucket)  ->  a candidate slot in each of three subtables
//                                                      of 192 slots
//
//             | line 0                                    | line 1 … 47 |                       |
//   bucket    | subtable 1: 4 slots | subtable 2: 4 slots |      …      | subtable 3: 192 slots |
//   metadata  one byte for each bucket: the number of its constants
//             (lines of 64 bytes, slots of 8 bytes)
//
//   split     Items are moved into regions of a few neighbouring buckets by a partition
//             (split.hpp).
//   build     A team (CUDA: a block) builds a region's buckets in its scratch (shared memory) by
//             rounds of parallel cuckoo hashing (build_buckets.hpp). A bucket that is not done
//             after 51 rounds is restarted with the next constants. Then it is written, once.
//   look up   Hash, constants, at most three slots; two of them share a line (refs.hpp).
//
// ## The dense layout (bucketed cuckoo hashing: Dietzfelbinger and Weidling 2007, BGHT 2021)
//
//   hash(key, seed)  ->  partition: 24,576 slots, which a GPU's shared memory holds, or up to 2^17
//   mix(hash)        ->  three candidate windows of the partition
//
//   window    | slot 0 | slot 1 | … | slot 7 |     a line of 64 bytes, filled from slot 0 on
//   metadata  one byte for each window; bit (mix(hash) mod 8), the overflow bit, is set if a key
//             with that remainder, whose first candidate this window is, lies in another one
//
//   split     As above; a region is a partition.
//   place     Items go to the first candidate window with an empty slot, or evict another item: an
//             eviction chain. A team of a GPU builds a small partition in its scratch;
//             other partitions are built in memory (place.hpp).
//   look up   The first window; the others only if it has no empty slot and the overflow bit is
//             set (refs.hpp).
//   insert    The absent keys are placed in a copy of the table. If one finds no slot, or there are
//             too many for the load, all keys move to a new table.
//
// ## Failures
//
// If a region overflows, no constants suit a bucket, or an eviction chain does not end, the whole
// table is built anew with the next of 17 seeds. Equal keys show after the build: two_level counts
// equal claims of a slot, dense counts shadowed duplicates, which lookups do not find. Then the
// first of each set of equal keys is selected (distinct.hpp), and the table is built from these.
// Tests: cuckoo_*, nested_structures.

namespace karpos::detail::cuckoo {

template <class View>
struct count_group_keys {
  View table;
  std::uint64_t group_slots;
  std::uint64_t* counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (table.slot.live(table.slots[i])) device::add(counts + i / group_slots, std::uint64_t(1));
  }
};

/// The table of a cuckoo_map: its memory, and how it is built and grown. A storage for cuckoo_table
/// (cuckoo_table.hpp).
template <class Traits>
class table : public Traits {
 public:
  using traits_type = Traits;
  using typename Traits::execution_space, typename Traits::hasher, typename Traits::key_type,
      typename Traits::mapped_type, typename Traits::memory_space, typename Traits::word;
  using options_type = cuckoo_map_options<key_type>;
  using view_type = table_view<Traits>;
  using shape_type = table_shape<word>;
  using two_level = two_level_ref<Traits>;
  using dense = dense_ref<Traits>;
  using plan_type = region_plan<execution_space, word>;
  static constexpr int prefetch_distance = tuning<execution_space>::prefetch_distance;
  static constexpr bool exact_queries = true;  ///< queries are of the key's type
  static constexpr std::uint64_t max_restarts = 16;

  table(options_type const& o, hasher const& hash) : m_options(o), m_hash(hash) {
    (void)shape_type::of(0, 0, o);  // throws if the layout is unknown, or the load out of range
    require_enumerators(o.duplicates);
    m_empty =
        o.empty_key ? key_bits_of<key_bits>(*o.empty_key) : default_sentinel<key_type, key_bits>(0);
    if (!o.seed) m_options.seed = next_seed();  // growth, copies and restarts keep it
  }

  static constexpr char const* name = Traits::layout::has_value ? "cuckoo_map" : "cuckoo_set";
  static std::string label(char const* what) { return table_label(name, what); }

  /// Releases the memory: the state of a default-constructed or moved-from table.
  void release() {
    m_shape = {};
    m_arrays = {};
    m_workspace = {};
    m_size = m_restarts = 0;
  }

  options_type const& options() const { return m_options; }
  std::uint64_t size() const { return m_size; }
  std::uint64_t restarts() const { return m_restarts; }
  shape_type const& shape() const { return m_shape; }
  std::size_t bytes() const { return m_shape.bytes() + m_workspace.size(); }
  view_type view() const {
    return {m_arrays.slots.data(),
            reinterpret_cast<std::uint8_t*>(m_arrays.metadata.data()),
            static_cast<std::uint32_t>(m_shape.groups),
            m_shape.windows,
            seed(m_restarts),
            typename view_type::protocol({m_empty, m_empty, m_empty}),
            m_hash};
  }
  /// Returns the number of slots that a scan visits; scan_ref returns the ref that it reads them
  /// by, in either layout.
  std::uint64_t slot_count() const { return m_shape.slots; }
  dense scan_ref() const { return dense(view()); }
  /// Calls f with the ref of the layout.
  template <class F>
  void with_ref(F const& f) const {
    if (m_options.layout == cuckoo_layout::two_level)
      f(two_level(view()));
    else
      f(dense(view()));
  }
  /// Returns how many keys fit into the dense layout without growing.
  std::uint64_t capacity() const {
    double const rounding = 1 + 1e-12;
    return static_cast<std::uint64_t>(static_cast<double>(m_shape.slots) * m_options.load *
                                      rounding);
  }

  static std::size_t workspace_bytes_for(std::uint64_t n, options_type const& o) {
    auto const s = shape_type::of(n, o.capacity, o);
    auto const plan = plan_type::of(n, s);
    return memory_type(execution_space{}, plan, needs_coarse(plan, s)).bytes;
  }

  /// Replaces the contents. Blocks. See cuckoo_map::build for what it throws.
  template <class Keys, class Values>
  void build(execution_space const& exec, Keys const& keys, Values const& values) {
    Kokkos::Profiling::ScopedRegion const region(label("build"));
    reserve(exec, keys.extent(0), m_options.capacity);
    try {
      build_from(exec, keys, values);
    } catch (...) {
      m_arrays.clear(name, exec, view().slot.empty_slot());
      finish(0);
      throw;
    }
  }

  /// Adds the pairs whose keys are absent; of equal keys, the first. Requires: the layout is dense.
  /// Blocks. Throws if keys equal the sentinel, once the other pairs are added.
  template <class Keys, class Values>
  insert_report insert(execution_space const& exec, Keys const& keys, Values const& values) {
    Kokkos::Profiling::ScopedRegion const region(label("insert"));
    dense const ref(view());
    insert_report report;
    std::uint64_t const n = keys.extent(0);
    report.invalid = count_sentinels(exec, keys);
    auto const absent = find_distinct(name, exec, view(), keys,
                                      absent_from<dense, Keys, everything>{ref, keys, {}});
    report.inserted = absent.count;
    report.existing = n - report.invalid - absent.count;
    auto const source = selected(keys, values, absent);
    std::uint64_t const total = m_size + absent.count, key_capacity = capacity();
    if (total > key_capacity)
      grow(exec, source, Kokkos::max(total, key_capacity + key_capacity / 2));
    else if (absent.count == 0 || try_place_new(exec, source))
      finish(total);
    else
      grow(exec, source, key_capacity);
    require_no_sentinels(report.invalid, n);
    return report;
  }

  /// Copies the contents of a table in any space. Blocks.
  template <class Other>
    requires same_contents<Traits, Other>
  void copy_from(execution_space const& exec, table<Other> const& other) {
    if (!m_arrays.has(other.m_shape)) m_arrays = arrays::allocate(name, exec, other.m_shape);
    m_shape = other.m_shape;
    m_options = other.m_options;
    m_hash = other.m_hash;
    m_empty = other.m_empty;
    m_size = other.m_size;
    m_restarts = other.m_restarts;
    m_arrays.copy_from(exec, other.m_arrays);
    exec.fence("karpos::deep_copy: the source may change once this returns");
  }

  /// Returns statistics; zeros if the table has no memory. Reads every slot. Blocks.
  cuckoo_stats stats(execution_space const& exec) const {
    if (m_shape.slots == 0) return {};
    auto const counts = allocate_array<Kokkos::View<std::uint64_t*, memory_space>>(
        exec, label("group sizes"), "the sizes of groups", "free memory first", m_shape.groups);
    Kokkos::deep_copy(exec, counts, 0);
    Kokkos::parallel_for(
        label("group sizes"), index_range(exec, m_shape.slots),
        count_group_keys<view_type>{view(), m_shape.slots / m_shape.groups, counts.data()});
    auto const sizes = copy_to_host(exec, counts);
    auto const [low, high] = std::minmax_element(sizes.data(), sizes.data() + m_shape.groups);
    std::uint64_t restarts = 0;
    if (m_shape.layout == cuckoo_layout::two_level) {
      auto const metadata = copy_to_host(exec, m_arrays.metadata);
      auto const* const bytes = reinterpret_cast<std::uint8_t const*>(metadata.data());
      for (std::uint64_t b = 0; b < m_shape.groups; ++b) restarts += bytes[b];
    }
    double const factor =
        m_size == 0 ? 0 : static_cast<double>(m_shape.slots) / static_cast<double>(m_size);
    return {m_size, m_shape.slots, factor, m_shape.groups, *low, *high, m_restarts, restarts};
  }

 private:
  template <class>
  friend class table;
  using key_bits = typename view_type::key_bits;
  using arrays = table_arrays<word, execution_space>;
  using workspace = Kokkos::View<std::byte*, memory_space>;
  using memory_type = split_memory<execution_space, word>;
  using tune = tuning<execution_space>;
  using builder = build_buckets<execution_space, view_type>;
  using placer = place_items<execution_space, view_type>;
  using scratch_placer = place_in_scratch<execution_space, view_type>;
  static constexpr bool places_in_scratch =
      tune::on_device && tune::has_shared_memory && sizeof(word) == 8;

  /// Returns the seed of the hash function, which differs between tables and between sizes of a
  /// table. With one seed for all, keys in the order of a table would crowd in some groups of the
  /// next.
  std::uint64_t seed(std::uint64_t restart) const {
    std::uint64_t const size = 2 * m_shape.slots + (m_options.layout == cuckoo_layout::dense);
    return mix(mix(*m_options.seed) + place_multiplier(hashed::cuckoo, size) + restart);
  }

  /// Returns whether the workspace of a build has to hold the coarse regions, because the memory of
  /// the table is too small for them.
  static bool needs_coarse(plan_type const& p, shape_type const& s) {
    return p.split.coarse_places() > s.slots;
  }
  /// Allocates a workspace if it is too small. Changes nothing if there is not enough memory.
  void reserve_workspace(execution_space const& exec, plan_type const& p, bool with_coarse) {
    std::size_t const n = memory_type(exec, p, with_coarse).bytes;
    if (m_workspace.size() >= n) return;
    m_workspace = allocate_table<memory_space>(
        n, [&] { return uninitialized_array<workspace>(exec, label("workspace"), n); });
  }

  /// Allocates a table of n keys with capacity for `key_capacity` keys, and the workspace. Changes
  /// nothing if there is not enough memory.
  void reserve(execution_space const& exec, std::uint64_t n, std::uint64_t key_capacity) {
    auto const s = shape_type::of(n, key_capacity, m_options);
    auto const plan = plan_type::of(n, s);
    auto const a = m_arrays.has(s) ? m_arrays : arrays::allocate(name, exec, s);
    require_countable(n);
    reserve_workspace(exec, plan, needs_coarse(plan, s));
    m_arrays = a;
    m_shape = s;
    m_size = m_restarts = 0;
  }
  /// Throws std::length_error if n is too large for GPUs, which count rows in 32 bits.
  static void require_countable(std::uint64_t n) {
    constexpr std::uint64_t max_keys = ~std::uint32_t(0);
    if (device::is_device<execution_space> && n > max_keys)
      reject<std::length_error>("too many keys for a GPU",
                                std::to_string(n) + " of at most " + std::to_string(max_keys),
                                "divide them among several tables");
  }
  template <class Array>
  static auto copy_to_host(execution_space const& exec, Array const& array) {
    auto const copy =
        Kokkos::create_mirror_view(Kokkos::view_alloc(Kokkos::WithoutInitializing), array);
    Kokkos::deep_copy(exec, copy, array);
    exec.fence("karpos::cuckoo_map: copied to the host");
    return copy;
  }
  void finish(std::uint64_t n) {
    m_size = n;
    if (!m_options.keep_workspace) m_workspace = {};
  }

  /// Builds the table with its seed from the items of a source, whatever it contains: splits the
  /// items into regions, then builds the buckets of each, or places the items. Blocks.
  template <class Source>
  build_report try_build(execution_space const& exec, Source const& source) const {
    plan_type const p = plan_type::of(source.size(), m_shape);
    bool const with_coarse = needs_coarse(p, m_shape);
    memory_type const m(exec, p, with_coarse, m_workspace.data());
    split_by_region(exec, view(), source, m, with_coarse ? m.coarse_items : m_arrays.slots.data());
    auto const league = static_cast<int>(p.regions);
    if (m_shape.layout == cuckoo_layout::two_level) {
      device::for_each_in_league(label("build buckets"), exec, league,
                                 builder{view(), m.regions(), m.report});
      return report(exec, m);
    }
    if constexpr (places_in_scratch)
      if (m_shape.windows <= scratch_placer::max_windows) {
        device::for_each_in_league(label("place in scratch"), exec, league,
                                   scratch_placer{view(), m.regions(), m.report});
        return report(exec, m);
      }
    m_arrays.clear(name, exec, view().slot.empty_slot());
    place(exec, m);
    build_report r = report(exec, m);
    if (r.unplaced == 0)
      Kokkos::parallel_reduce(label("count duplicates"), index_range(exec, m_shape.slots),
                              count_shadowed_duplicates<view_type>{view()}, r.duplicates);
    return r;
  }
  void place(execution_space const& exec, memory_type const& m) const {
    placer const step{view(), m.regions(), m.plan.capacity(), m.report};
    device::for_each_in_league(label("place"), exec,
                               static_cast<int>(m.plan.regions * step.teams_each()), step);
  }
  static build_report report(execution_space const& exec, memory_type const& m) {
    return read_back(exec, m.report, "karpos::cuckoo_map: whether every key has a place");
  }

  template <class Keys, class Values>
  void build_from(execution_space const& exec, Keys const& keys, Values const& values) {
    std::uint64_t const n = keys.extent(0);
    all_pairs<view_type, Keys, Values> const pairs{keys, values};
    // Two attempts before equal keys are looked for: an attempt fails without them, too, if rarely.
    for (m_restarts = 0; m_restarts < 2; ++m_restarts) {
      build_report const r = try_build(exec, pairs);
      if (r.is_complete()) return finish(n);
      if (m_restarts == 0) require_no_sentinels(count_sentinels(exec, keys), n);
      if (r.duplicates != 0) break;
    }
    auto const first = find_distinct(name, exec, view(), keys, everything{});
    if (first.count == n) return try_seeds(exec, pairs);
    if (m_options.duplicates == duplicate_keys::reject)
      reject_duplicates(exec, keys, n - first.count, first.first_duplicate);
    reserve(exec, first.count, m_options.capacity);  // and the first seed again
    try_seeds(exec, selected(keys, values, first));
  }
  /// Builds with one seed after the other, from m_restarts on to `last`. Throws hash_error if none
  /// succeeds.
  template <class Source>
  void try_seeds(execution_space const& exec, Source const& source,
                 std::uint64_t last = max_restarts) {
    build_report r;
    for (; m_restarts <= last; ++m_restarts) {
      r = try_build(exec, source);
      if (r.is_complete()) return finish(source.size());
    }
    m_restarts = 0;
    throw_unplaced(source.size(), max_restarts + 1, r);
  }
  template <class Keys>
  std::uint64_t count_sentinels(execution_space const& exec, Keys const& keys) const {
    return count_reserved_keys(label("count sentinels"), exec, view().slot, keys);
  }

  /// Adds pairs whose keys are absent and all different, to a copy of the table. Returns whether
  /// all were placed; if not, the table is as it was.
  template <class Source>
  bool try_place_new(execution_space const& exec, Source const& source) {
    auto const before = m_arrays, copy = arrays::allocate(name, exec, m_shape);
    plan_type const p = plan_type::of(source.size(), m_shape);
    reserve_workspace(exec, p, true);
    m_arrays = copy;
    m_arrays.copy_from(exec, before);
    memory_type const m(exec, p, true, m_workspace.data());
    split_by_region(exec, view(), source, m, m.coarse_items);
    place(exec, m);
    if (report(exec, m).is_complete()) return true;
    m_arrays = before;
    finish(m_size);
    return false;
  }

  /// Replaces the table by one with capacity for `key_capacity` keys, built from its pairs and
  /// those of a source.
  template <class Source>
  void grow(execution_space const& exec, Source const& source, std::uint64_t key_capacity) {
    using keys_view = Kokkos::View<key_type*, memory_space>;
    using values_view = Kokkos::View<mapped_type*, memory_space>;
    std::uint64_t const n = m_size + source.size();
    auto const [keys, values] =
        allocate_table<memory_space>(n * (sizeof(key_type) + sizeof(mapped_type)), [&] {
          return std::pair{uninitialized_array<keys_view>(exec, label("keys to move"), n),
                           uninitialized_array<values_view>(exec, label("values to move"), n)};
        });
    std::uint64_t retrieved = 0;
    Kokkos::parallel_scan(label("keys to move"), index_range(exec, m_shape.slots),
                          retrieve_body<dense, keys_view, values_view>{dense(view()), keys, values},
                          retrieved);
    Kokkos::parallel_for(
        label("keys to add"), index_range(exec, source.size()),
        append_pairs<view_type, Source, keys_view, values_view>{source, keys, values, m_size});
    table larger(m_options, m_hash);
    larger.reserve(exec, n, key_capacity);
    if (larger.m_shape.slots == m_shape.slots) larger.m_restarts = m_restarts + 1;  // this failed
    larger.try_seeds(exec, all_pairs<view_type, keys_view, values_view>{keys, values},
                     larger.m_restarts + max_restarts);
    *this = std::move(larger);
  }

  /// Returns the source of the pairs at the indices of distinct keys.
  template <class Keys, class Values>
  static auto selected(Keys const& keys, Values const& values,
                       distinct_keys<memory_space> const& distinct) {
    using indices = Kokkos::View<std::uint64_t const*, memory_space>;
    indices const list = Kokkos::subview(
        distinct.indices, std::pair<std::uint64_t, std::uint64_t>(0, distinct.count));
    return selected_pairs<view_type, Keys, Values, indices>{keys, values, list};
  }

  options_type m_options;
  hasher m_hash;
  key_bits m_empty{};
  shape_type m_shape;
  arrays m_arrays;
  workspace m_workspace;
  std::uint64_t m_size = 0, m_restarts = 0;
};

}  // namespace karpos::detail::cuckoo
