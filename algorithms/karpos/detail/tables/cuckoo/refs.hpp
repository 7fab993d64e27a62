// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/tables/cuckoo/geometry.hpp"
#include "karpos/detail/tables/cuckoo/tuning.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/hash.hpp"
#include "karpos/outcome.hpp"

namespace karpos::detail::cuckoo {

/// The types of a cuckoo table. Keys are compared by their bits.
template <class Key, class T, class ExecSpace, class Hash>
struct traits : table_traits<Key, T, ExecSpace, Hash, equal_to<Key>> {
  using protocol = slot_protocol<Key, T, true>;
};

/// A table as kernels see it, whichever its layout.
template <class Traits>
struct table_view {
  using key_type = typename Traits::key_type;
  using mapped_type = typename Traits::mapped_type;
  using hasher = typename Traits::hasher;
  using protocol = typename Traits::protocol;
  using layout = typename Traits::layout;
  using word = typename Traits::word;
  using key_bits = typename Traits::key_bits;

  word* slots = nullptr;
  /// A byte for each bucket: its constants; or for each window: the overflow bits of its keys.
  std::uint8_t* metadata = nullptr;
  std::uint32_t groups = 0;   ///< buckets, or partitions
  std::uint32_t windows = 0;  ///< of a partition
  std::uint64_t seed = 0;
  protocol slot{};
  hasher hash{};

  KOKKOS_FUNCTION std::uint64_t hash_of(key_type const& key) const {
    return detail::hash_of(hash, key, seed);
  }
  KOKKOS_FUNCTION std::uint64_t hash_of_item(word item) const {
    return hash_of(from_bits<key_type>(layout::key_of(item)));
  }
  KOKKOS_FUNCTION std::uint64_t group_of(std::uint64_t hash_of_key) const {
    return multiply_high_narrow(hash_of_key, groups);
  }
};

/// The windows of the dense layout that may hold a key, by its hash.
template <class View>
class key_windows {
 public:
  using word = typename View::word;
  using in_partition = partition_geometry<word>;

  key_windows() = default;
  /// Makes the windows of a key of which only the first window and a few bits of `places` are
  /// known, too few to find the other windows.
  KOKKOS_FUNCTION key_windows(std::uint64_t first_window, std::uint64_t places)
      : m_first(first_window),
        m_places(places) {}
  KOKKOS_FUNCTION key_windows(View const& table, std::uint64_t hash)
      : m_first(table.group_of(hash) * table.windows),
        m_places(in_partition::places(hash)) {}

  KOKKOS_FUNCTION std::uint64_t places() const { return m_places; }
  KOKKOS_FUNCTION std::uint64_t window(View const& table, int choice) const {
    return m_first + in_partition::window_of(m_places, choice, table.windows);
  }
  KOKKOS_FUNCTION word* slots(View const& table, int choice) const {
    return table.slots + window(table, choice) * in_partition::window_slots;
  }

 private:
  std::uint64_t m_first = 0;  // window of the partition
  std::uint64_t m_places = 0;
};

/// Returns whether a slot is a shadowed duplicate: its key is also in another slot, which a lookup
/// reads before. `slots`: of the partition; `at`: the slot's index there.
template <class View>
KOKKOS_FUNCTION bool is_shadowed(View const& table, typename View::word const* slots,
                                 typename View::word item, std::uint32_t at) {
  using in_partition = partition_geometry<typename View::word>;
  constexpr std::uint32_t window_slots = in_partition::window_slots;
  auto const is_among = [&](std::uint32_t window, std::uint32_t n) {
    bool present = false;
    for (std::uint32_t j = 0; j < n; ++j)
      present |=
          View::layout::key_of(slots[window * window_slots + j]) == View::layout::key_of(item);
    return present;
  };
  std::uint64_t const places = in_partition::places(table.hash_of_item(item));
  bool shadowed = false;
  for (int c = 0; c < in_partition::choices; ++c) {
    std::uint32_t const window = in_partition::window_of(places, c, table.windows);
    if (window == at / window_slots) break;
    shadowed |= is_among(window, window_slots);
  }
  return shadowed || is_among(at / window_slots, at % window_slots);
}

/// The members that all refs share; probe.hpp says what kernels ask of a table.
template <class Traits>
class layout_ref {
 public:
  using execution_space = typename Traits::execution_space;
  using key_type = typename Traits::key_type;
  using mapped_type = typename Traits::mapped_type;
  using view = table_view<Traits>;
  using protocol = typename view::protocol;
  using layout = typename view::layout;
  using word = typename view::word;
  static constexpr unsigned threads_at_once = 0;

  layout_ref() = default;
  KOKKOS_FUNCTION explicit layout_ref(view const& v) : m_table(v) {}

  KOKKOS_FUNCTION std::uint64_t hash(key_type const& key) const { return m_table.hash_of(key); }
  KOKKOS_FUNCTION bool reserved(key_type const& key) const { return m_table.slot.reserved(key); }
  KOKKOS_FUNCTION auto holds(key_type const& key) const {
    return holds_key_bits<layout>{key_bits_of<typename layout::key_bits>(key)};
  }
  /// Returns which of n equal regions of the table the group of a hash lies in.
  KOKKOS_FUNCTION static std::uint32_t region_of(std::uint64_t hash, std::uint32_t n) {
    return multiply_high_narrow(hash, n);
  }
  KOKKOS_FUNCTION protocol const& slot() const { return m_table.slot; }
  KOKKOS_FUNCTION word* slot_at(std::uint64_t i) const { return m_table.slots + i; }

 protected:
  using step = lookup_step<typename Traits::mapped_type>;
  view m_table;
};

/// Lookups in the two-level layout: the bucket's constants, and three slots at most.
template <class Traits>
class two_level_ref : public layout_ref<Traits> {
  using base = layout_ref<Traits>;
  using base::m_table;

 public:
  using typename base::key_type;
  using layout = typename base::layout;
  using word = typename base::word;
  using in_bucket = bucket_geometry<word>;

  struct path {
    word const* bucket = nullptr;
    std::uint64_t places = 0;
  };

  using base::base;

  KOKKOS_FUNCTION path start(key_type const& key) const {
    path const p = start_at(this->hash(key));
    if constexpr (!by_slot) device::prefetch(place(p, 2));
    return p;
  }
  KOKKOS_FUNCTION path start_at(std::uint64_t hash) const {
    std::uint64_t const b = m_table.group_of(hash);
    return {m_table.slots + b * in_bucket::slots, in_bucket::places(hash, m_table.metadata[b])};
  }
  KOKKOS_FUNCTION static std::uint64_t home_of(std::uint64_t hash) { return hash; }
  KOKKOS_FUNCTION path at_home(std::uint64_t hash) const { return start_at(hash); }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(path const& p) const {
    device::prefetch(bucket(p));
    device::prefetch(place(p, 2));
  }
  /// Returns the line of the first two subtables.
  KOKKOS_FUNCTION word const* bucket(path const& p) const {
    return p.bucket + in_bucket::line_of(p.places);
  }

  KOKKOS_FUNCTION static void advance(path const&) {}
  KOKKOS_FUNCTION static bool past_end(path const&) { return false; }

  template <device::access Access, device::tile Tile, class Holds>
  KARPOS_STEP_FUNCTION lookup_step<typename Traits::mapped_type> find_step(
      Tile const& t, path const& p, Holds const& holds_query) const {
    word slot{};
    if constexpr (Tile::width == 1 && by_slot) {
      // Each key of a bucket was in the first subtable once, and those that lost there in the
      // second: an empty slot ends the search.
      for (int s = 0; s < 3; ++s) {
        slot = device::load_frozen(place(p, s));
        if (holds_query(slot)) break;
        if (m_table.slot.is_empty()(slot)) return base::step::decide({});
      }
    } else {
      // Both lines are fetched, and there is no branch, for no predictor knows which of them has
      // the key.
      constexpr int n = static_cast<int>(in_bucket::line);
      auto const hit = device::load_window<n, Access>(t, bucket(p)).match(holds_query);
      int const first = (hit | lane_mask<n>::of(n - 1)).first();
      slot = device::load_frozen(
          p.bucket + select(static_cast<bool>(hit),
                            in_bucket::line_of(p.places) + static_cast<std::uint32_t>(first),
                            in_bucket::slot_of(p.places, 2)));
    }
    return base::step::decide({holds_query(slot), layout::value_of(slot)});
  }

 private:
  static constexpr bool by_slot = tuning<typename Traits::execution_space>::reads_slots;
  KOKKOS_FUNCTION static word const* place(path const& p, int subtable) {
    return p.bucket + in_bucket::slot_of(p.places, subtable);
  }
};

/// Lookups in the dense layout: the first window, and the others only if the metadata say that a
/// key like this one is there.
template <class Traits>
class dense_ref : public layout_ref<Traits> {
  using base = layout_ref<Traits>;
  using base::m_table;

 public:
  using typename base::key_type;
  using word = typename base::word;
  using in_partition = partition_geometry<word>;
  static constexpr int window_slots = in_partition::window_slots;

  struct path {
    key_windows<typename base::view> windows;
    int choice = 0;
  };

  using base::base;

  KOKKOS_FUNCTION path start(key_type const& key) const { return start_at(this->hash(key)); }
  KOKKOS_FUNCTION path start_at(std::uint64_t hash) const { return {{m_table, hash}, 0}; }
  /// Returns the first window of a key, and the number of its overflow bit.
  KOKKOS_FUNCTION std::uint64_t home_of(std::uint64_t hash) const {
    key_windows<typename base::view> const windows(m_table, hash);
    return windows.window(m_table, 0) * overflow_bits | windows.places() % overflow_bits;
  }
  KOKKOS_FUNCTION path at_home(std::uint64_t home) const {
    return {{home / overflow_bits, home % overflow_bits}, 0};
  }
  KOKKOS_FUNCTION word* bucket(path const& p) const { return p.windows.slots(m_table, p.choice); }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(path const& p) const {
    device::prefetch(bucket(p));
    if (p.choice == 0) device::prefetch(m_table.metadata + p.windows.window(m_table, 0));
  }

  /// Moves on to the next window that may hold the key.
  KOKKOS_FUNCTION static void advance(path& p) { ++p.choice; }
  KOKKOS_FUNCTION static bool past_end(path const& p) { return p.choice >= in_partition::choices; }

  /// Searches one window, on GPUs in parts that a thread reads at once. Windows fill from their
  /// first slot on, so that an empty slot ends the search.
  template <device::access Access, device::tile Tile, class Holds>
  KARPOS_STEP_FUNCTION lookup_step<typename Traits::mapped_type> find_step(
      Tile const& t, path const& p, Holds const& holds_query) const {
    word const* const slots = bucket(p);
    if constexpr (Tile::width == 1 && !tuning<typename Traits::execution_space>::reads_slots) {
      // CPUs take no branch, for no predictor knows in which window a key lies.
      auto const hit = device::load_window<window_slots, Access>(t, slots).match(holds_query);
      word const slot = device::load_frozen(
          slots + (hit | lane_mask<window_slots>::of(window_slots - 1)).first());
      bool const present = holds_query(slot);
      bool ended = m_table.slot.is_empty()(device::load_frozen(slots + window_slots - 1));
      if (p.choice == 0) ended |= !overflowed(p);
      return lookup_step<typename Traits::mapped_type>(static_cast<bool>(present | ended),
                                                       {present, base::layout::value_of(slot)});
    } else {
      constexpr int at_once =
          tuning<typename Traits::execution_space>::read_bytes / static_cast<int>(sizeof(word));
      constexpr int part_slots =
          Tile::width == 1 && at_once < window_slots ? at_once : window_slots;
      for (int i = 0; i < window_slots; i += part_slots) {
        auto const part = device::load_window<part_slots, Access>(t, slots + i);
        word slot{};
        if (part.only(holds_query, slot))
          return base::step::decide({true, base::layout::value_of(slot)});
        if (part.any(m_table.slot.is_empty())) return base::step::decide({});
      }
      return p.choice == 0 && !overflowed(p) ? base::step::decide({}) : base::step::undecided();
    }
  }

 private:
  static constexpr std::uint64_t overflow_bits = 8;  // overflow bits of a window

  /// Returns whether a key like this one overflowed: it lies elsewhere, because its first window
  /// was full.
  KOKKOS_FUNCTION bool overflowed(path const& p) const {
    return (m_table.metadata[p.windows.window(m_table, 0)] &
            in_partition::overflow_bit(p.windows.places())) != 0;
  }
};

/// A table as a user's kernel sees it, whose layout is chosen when the program runs.
template <class Traits>
class any_ref : public layout_ref<Traits> {
  using base = layout_ref<Traits>;
  using base::m_table;

 public:
  using typename base::key_type;
  any_ref() = default;
  any_ref(cuckoo_layout chosen, typename base::view const& v) : base(v), m_layout(chosen) {}

  template <device::access Access, device::tile Tile, class Query>
  KOKKOS_FUNCTION found<typename Traits::mapped_type> find(Tile const& t, Query const& key) const {
    require_query_type<key_type, Query>();
    if (m_layout == cuckoo_layout::two_level)
      return find_in<Access>(two_level_ref<Traits>(m_table), t, key);
    return find_in<Access>(dense_ref<Traits>(m_table), t, key);
  }

 private:
  cuckoo_layout m_layout = cuckoo_layout::two_level;
};

}  // namespace karpos::detail::cuckoo
