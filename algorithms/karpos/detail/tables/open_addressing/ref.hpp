// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/tables/open_addressing/marks.hpp"
#include "karpos/detail/tables/open_addressing/tuning.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/hash.hpp"
#include "karpos/outcome.hpp"
#include "karpos/probing.hpp"

// Open addressing over buckets of B slots. A key lies in the first bucket on its probe path that
// had an unused slot when the key was inserted; within a bucket, slots fill from the left. So a
// bucket with an empty slot ends a probe. At high load such buckets are rare, and misses would
// probe far. Whenever an insertion has passed 4, 8, 16 (and so on) full buckets, it therefore sets
// an overflow mark of the bucket pair passed last:
//
//   pair p       | k v | k v | k v | k v || k v | k v | k v | k v |   two buckets, one 64-byte line
//   marks of p   8 bits, one for each class of keys (3 bits of the hash), in an array that stays in
//                cache
//
// 2^27 keys on an H200, load 0.9: misses 10.8 G/s without marks, 16.7 with; hits 30.9 and 28.8
// (docs/hash_map.md).
//
//   insert   Merges with a slot that holds the key. If there is none, claims the first empty slot
//            by a compare-and-swap; merges if another thread has won it with the same key. Goes on
//            from a full bucket to its neighbour, then to the next pair of the path.
//   find     Ends at a slot with the key, at a bucket with an empty slot, or after 4, 8, 16 … full
//            buckets if the mark of the key's class is not set in the pair passed last.
//   erase    Turns the slot into a tombstone, which ends no probe. No key takes it before
//            the table is compacted.
//
// On CPUs an insertion sets its marks once it has found a slot. So a refused key leaves no marks,
// and lookups in a full table end as early as in one of load 0.98. An insertion that tries many
// buckets checks whether the table is full (fullness.hpp), and is refused then at the first missing
// mark. GPUs set marks on their way, and do not check (tuning.hpp), until a blocking call has seen
// keys refused. Then bulk insertions do as on CPUs, none by segments. Once the table is full, marks
// of refused keys are removed (storage.hpp). If all keys were inserted by table segments (run.hpp),
// the order of the keys in a full bucket is a mark as well (marks.hpp).
//
// Why relaxed atomics suffice: docs/design/memory_model.md. One key followed through an insertion:
// docs/design/hash_map_walkthrough.md.
//
// Source: the probe loop after cuCollections' static_map (one compare-and-swap per slot); overflow
// marks after the overflow byte of boost::unordered_flat_map, in an array of their own.
// Tests: hash_map_*, bulk_*, hash_set, map_apply, nested_maps, partitioned_insertion,
// build_segments, insertion_teams, fullness, large_table, host_refs, kernels.

namespace karpos::detail::open_addressing {

/// Bytes that keys of open addressing have at most: those that one compare-and-swap takes.
inline constexpr int max_key_bytes = 16;
template <class Key, class T>
using layout_of = slot_layout<Key, T, max_key_bytes>;

/// The types and constants of an open-addressing table. OneStep: one compare-and-swap claims a slot
/// and publishes its pair.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing, int B,
          bool OneStep = device::is_lock_free<sizeof(typename layout_of<Key, T>::word), ExecSpace>>
struct traits : table_traits<Key, T, ExecSpace, Hash, KeyEqual, max_key_bytes> {
  static_assert(
      sizeof(Key) <= 8 || device::is_lock_free<16, ExecSpace>,
      "karpos: keys of more than eight bytes need a compare-and-swap of 16 bytes, as CPUs "
      "of x86-64 and GPUs of compute capability 9.0 have it: build for one of these, or "
      "use karpos::unordered_map");
  static constexpr char const* name = is_no_value<T> ? "hash_set" : "hash_map";  ///< for labels
  using probing = Probing;
  static constexpr int bucket_slots = B;
  static constexpr bool eager_marks = tuning<ExecSpace>::eager_marks;
  using protocol = slot_protocol<Key, T, OneStep, max_key_bytes>;
};
/// Traits of a table whose insertions set marks once they have found a slot, on GPUs, too.
template <class Traits>
struct deferred_marks : Traits {
  static constexpr bool eager_marks = false;
};

/// The table as kernels see it; probe.hpp says what they ask of a table.
template <class Traits>
class table_ref : public Traits {
 public:
  using typename Traits::key_type, typename Traits::layout, typename Traits::mapped_type,
      typename Traits::protocol, typename Traits::word;
  using path = probe_path<typename Traits::probing>;
  static constexpr int bucket_slots = Traits::bucket_slots;
  /// Buckets that a probe visits at most: more if they are small, and full more often.
  static constexpr std::uint32_t probe_limit =
      Traits::probing::probe_limit * (bucket_slots < 4 ? 4 / bucket_slots : 1);
  static constexpr bool merges_under_lock = false;
  static constexpr unsigned threads_at_once = 0;  ///< no limit for kernels that write (launch.hpp)
  using order = key_order<typename Traits::key_bits, bucket_slots>;

  table_ref() = default;
  /// `has_order`: lookups may use the order of keys (marks.hpp). `seed`: of the home buckets.
  table_ref(word* slots, std::uint32_t* marks, std::uint64_t pairs,
            sentinels<typename Traits::key_bits> s, typename Traits::hasher const& hash,
            typename Traits::key_equal const& equal, bool has_order = false, std::uint64_t seed = 0)
      : m_slots(slots),
        m_marks(marks),
        m_home(hashed::open_addressing, 2 * pairs, 2 * pairs * bucket_slots, seed),
        m_probes(2 * pairs < probe_limit ? static_cast<std::uint32_t>(2 * pairs) : probe_limit),
        m_has_order(has_order),
        m_slot(s),
        m_hash(hash),
        m_equal(equal) {}

  template <class Query>
  KOKKOS_FUNCTION std::uint64_t hash(Query const& query) const {
    return hash_of(m_hash, query);
  }
  KOKKOS_FUNCTION path start_at(std::uint64_t hash) const { return path(hash, m_home); }
  template <class Query>
  KOKKOS_FUNCTION path start(Query const& query) const {
    return start_at(hash(query));
  }
  KOKKOS_FUNCTION std::uint64_t home_of(std::uint64_t hash) const { return m_home(hash); }
  /// Returns which of n equal regions of the table a search begins in.
  KOKKOS_FUNCTION std::uint32_t region_of(std::uint64_t hash, std::uint32_t n) const {
    return m_home.part(hash, n);
  }
  KOKKOS_FUNCTION static path at_home(std::uint64_t home) { return path::at_home(home); }
  KOKKOS_FUNCTION void advance(path& p) const { p.advance(pairs()); }
  /// Returns the second pair on the path of a hash, given the first.
  KOKKOS_FUNCTION std::uint64_t second_pair(std::uint64_t hash, std::uint64_t first) const {
    return Traits::probing::next(hash, first, pairs(), 1);
  }
  KOKKOS_FUNCTION bool past_end(path const& p) const {
    device::assume(m_probes >= 2);  // so that the first step need not check
    return p.tried() > m_probes;
  }
  KOKKOS_FUNCTION word* bucket(path const& p) const { return m_slots + p.bucket() * bucket_slots; }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(path const& p) const { device::prefetch(bucket(p)); }
  template <class Query>
  KOKKOS_FUNCTION bool reserved(Query const& query) const {
    return m_slot.reserved(query);
  }
  KOKKOS_FUNCTION std::uint64_t pairs() const { return m_home.count() / 2; }
  /// Returns the function from a hash to the bucket where its search begins.
  KOKKOS_FUNCTION place_among const& home() const { return m_home; }
  KOKKOS_FUNCTION protocol const& slot() const { return m_slot; }
  /// Returns the i-th slot, for scans.
  KOKKOS_FUNCTION word* slot_at(std::uint64_t i) const { return m_slots + i; }

  /// Sets the mark of a pair for the class of a hash.
  KOKKOS_FUNCTION void set_mark(std::uint64_t pair, std::uint64_t hash) const {
    open_addressing::set_mark(m_marks, pair, hash);
  }
  /// Sets the overflow marks of the key in slot i, if there is one, in an array beside the table.
  KOKKOS_FUNCTION void mark_stored_key(std::uint64_t i, std::uint32_t* marks) const {
    word const seen = device::load_relaxed(m_slots + i);
    if (!m_slot.live(seen)) return;
    path const home = start(from_bits<key_type>(layout::key_of(seen)));
    path p = home;
    while (p.bucket() != i / bucket_slots && p.tried() < m_probes) advance(p);
    for_each_mark(home, pairs(), p.tried(),
                  [&](std::uint64_t pair) { open_addressing::set_mark(marks, pair, p.hash()); });
  }

  template <class Query>
  KOKKOS_FUNCTION auto holds(Query const& query) const {
    return holds_key<key_type, typename Traits::hasher>(m_slot, m_equal, query);
  }

  /// Inserts an item into this bucket, or replaces the stored value by combine(stored, value).
  template <device::tile Tile, class Holds, class Combine>
  KARPOS_STEP_FUNCTION auto insert_step(Tile const& t, path const& p, Holds const& holds_key,
                                        word item, mapped_type const& value,
                                        Combine const& combine) const {
    return bucket_insertion<Tile, Holds, Combine>{
        *this, t, p, holds_key, item, value, combine, published_window(t, bucket(p))};
  }

  template <device::access Access, device::tile Tile, class Holds>
  KARPOS_STEP_FUNCTION auto find_step(Tile const& t, path const& p,
                                      Holds const& holds_query) const {
    word const* const slots = bucket(p);
    if constexpr (!rereads<Tile>) {
      return bucket_lookup<Tile, Holds, Access>{
          {*this, t, p, device::load_window<bucket_slots, Access>(t, slots), holds_query}};
    } else {
      // CPUs take no branch, for no predictor tells hits from misses, and read the slot again from
      // the nearest cache: extracting it from a vector register is slower. A slot that held the key
      // still holds it, or is a tombstone by now.
      auto const hit = device::load_window<bucket_slots, Access>(t, slots).match(holds_query);
      constexpr int last = bucket_slots - 1;
      word const slot =
          device::load_relaxed(slots + (hit | lane_mask<bucket_slots>::of(last)).first());
      bool const present = holds_query(slot);
      // Slots fill from the left. If the last one was filled since, the key was not stored before.
      bool ended = m_slot.is_empty()(device::load_relaxed(slots + last));
      if (at_mark(p.tried())) ended |= !is_marked(m_marks, p);
      return lookup_step<mapped_type>(static_cast<bool>(present | ended),
                                      {present, layout::value_of(slot)});
    }
  }

  template <device::tile Tile, class Holds>
  KARPOS_STEP_FUNCTION auto erase_step(Tile const& t, path const& p,
                                       Holds const& holds_query) const {
    using device::access;
    word* const slots = bucket(p);
    if constexpr (!rereads<Tile>) {
      return bucket_erasure<Tile, Holds>{
          {*this, t, p, device::load_window<bucket_slots, access::shared>(t, slots), holds_query}};
    } else {
      auto const window = device::load_window<bucket_slots, access::shared>(t, slots);
      if (auto const hit = window.match(holds_query)) {
        word const seen = device::load_relaxed(slots + hit.first());  // again, as in find_step
        bool const erased = holds_query(seen) && m_slot.erase(slots + hit.first(), seen);
        return outcome_step::decide(erased ? outcome::erased : outcome::absent);
      }
      return ends<access::shared>(t, p, window) ? outcome_step::decide(outcome::absent)
                                                : outcome_step::undecided();
    }
  }

 private:
  using Traits::eager_marks;
  /// Whether a matched slot is read again instead of extracted from the window.
  template <class Tile>
  static constexpr bool rereads =
      Tile::width == 1 && tuning<typename Traits::execution_space>::reread_slots;

  /// The base of a step in one bucket, for GPUs: the probe evaluates its members as it asks for
  /// them (probe.hpp). CPUs evaluate a step at once, for windows that are kept go through memory
  /// there (two cores, misses: 79 instead of 124 M/s).
  template <device::tile Tile, class Holds>
  struct bucket_search {
    table_ref const& table;
    Tile const& tile;
    path const& at;
    device::window<Tile, word, bucket_slots> window;
    Holds const& holds;

    template <device::access Access = device::access::shared>
    KOKKOS_FUNCTION bool ended() const {
      return table.template ends<Access>(tile, at, window);
    }
  };
  template <device::tile Tile, class Holds, device::access Access>
  struct bucket_lookup : bucket_search<Tile, Holds> {
    word slot{};
    bool present = this->window.only(this->holds, slot);

    KARPOS_STEP_FUNCTION bool decided() const { return present; }
    KOKKOS_FUNCTION bool ended() const {
      if (bucket_search<Tile, Holds>::template ended<Access>()) return true;
      if constexpr (order::classes != 0 && Tile::width == 1 && Access == device::access::frozen)
        return this->table.m_has_order && this->at.tried() == 2 &&
               this->table.ends_in_order(this->at, this->window);
      return false;
    }
    KOKKOS_FUNCTION found<mapped_type> answer() const { return {true, layout::value_of(slot)}; }
  };
  template <device::tile Tile, class Holds>
  struct bucket_erasure : bucket_search<Tile, Holds> {
    lane_mask<bucket_slots> hit = this->window.match(this->holds);

    KARPOS_STEP_FUNCTION bool decided() const { return static_cast<bool>(hit); }
    KOKKOS_FUNCTION outcome answer() const {
      word* const slot = this->table.bucket(this->at) + hit.first();
      word const seen = this->window.get(hit.first());
      bool const erased = this->tile.once([&] { return this->table.m_slot.erase(slot, seen); });
      return erased ? outcome::erased : outcome::absent;
    }
  };

  /// An insertion into a bucket, which happens when the probe asks whether it is decided.
  template <device::tile Tile, class Holds, class Combine>
  struct bucket_insertion {
    table_ref const& table;
    Tile const& tile;
    path const& at;
    Holds const& holds;
    word item;
    mapped_type const& value;
    Combine const& combine;
    device::window<Tile, word, bucket_slots> window;
    outcome done = outcome::existing;

    KARPOS_STEP_FUNCTION bool decided() {
      word* const slots = table.bucket(at);
      if (auto const hit = window.match(holds)) {
        if (!eager_marks && at.tried() > first_mark) [[unlikely]]
          table.set_marks(tile, at);
        table.merge(tile, slots + hit.first(), window.get(hit.first()), value, combine);
        return true;
      }
      auto const is_empty = table.m_slot.is_empty();
      auto holes = window.match(is_empty);
      if (!eager_marks && at.tried() > first_mark && holes) [[unlikely]]
        table.set_marks(tile, at);
      for (; holes; holes = holes.without_first()) {
        word* const slot = slots + holes.first();
        word const seen = tile.once([&] {
          if constexpr (protocol::one_step)
            return device::compare_and_swap(slot, table.m_slot.empty_slot(), item);
          else
            return table.m_slot.claim_then_publish(slot, item);
        });
        if (is_empty(seen)) {
          done = outcome::inserted;
          return true;
        }
        if (holds(seen)) {
          table.merge(tile, slot, seen, value, combine);
          return true;
        }
      }
      if constexpr (eager_marks) {
        if (at_mark(at.tried())) tile.once([&] { return table.mark_pair(at); });
      } else if (at.tried() >= full_check_bucket && at_mark(at.tried()) &&
                 tile.once([&] { return table.is_refused(at); })) [[unlikely]] {
        done = outcome::full;
        return true;
      }
      return false;
    }
    KOKKOS_FUNCTION outcome answer() const { return done; }
    KOKKOS_FUNCTION static bool ended() { return false; }
  };

  /// Returns whether a key that is not in this window cannot lie further along the path.
  template <device::access Access, device::tile Tile, class Window>
  KOKKOS_FUNCTION bool ends(Tile const& t, path const& p, Window const& window) const {
    if (window.any(m_slot.is_empty())) return true;
    return at_mark(p.tried()) && !t.once([&] { return is_marked<Access>(m_marks, p); });
  }

  /// Returns whether the order of keys (marks.hpp) ends a path at the second, full bucket.
  template <class Window>
  KOKKOS_FORCEINLINE_FUNCTION bool ends_in_order(path const& p, Window const& window) const {
    auto const key = [&](int i) { return layout::key_of(window.get(i)); };
    typename Traits::key_bits const erased = m_slot.reserved_keys().erased;
    bool has_tombstone = false;
    for (int i = 0; i < bucket_slots; ++i) has_tombstone = has_tombstone | (key(i) == erased);
    return !has_tombstone && (order::marks(key) >> order::class_of(p.hash()) & 1) == 0;
  }

  /// Sets the mark of the bucket that a path has come to, as set_marks_before does.
  KOKKOS_FUNCTION bool mark_pair(path const& p) const {
    set_mark(p.pair(), p.hash());
    if (p.tried() >= full_check_bucket) device::release_fence();
    return true;
  }
  template <device::tile Tile>
  KOKKOS_FUNCTION void set_marks(Tile const& t, path const& p) const {
    t.once([&] {
      set_marks_before(m_marks, start_at(p.hash()), p, pairs());
      return true;
    });
  }
  /// Returns whether an insertion is refused at this mark: the table is full, and the mark is not
  /// set, so that its key does not lie behind it.
  KOKKOS_FUNCTION bool is_refused(path const& p) const {
    return open_addressing::is_full(m_marks + mark_words(pairs()), pairs(), p.tried(),
                                    [this](std::uint64_t bucket) { return is_full(bucket); }) &&
           !is_marked(m_marks, p);
  }
  KOKKOS_FUNCTION bool is_full(std::uint64_t bucket) const {
    for (std::uint64_t i = bucket * bucket_slots; i < (bucket + 1) * bucket_slots; ++i)
      if (m_slot.is_empty()(device::load_relaxed(m_slots + i))) return false;
    return true;
  }

  /// Returns a window without slots that are claimed but not yet published, for they might be about
  /// to hold this key. Spins: the thread that claimed one is two stores away from publishing it.
  template <device::tile Tile>
  KOKKOS_FUNCTION auto published_window(Tile const& t, word const* slots) const {
    auto window = device::load_window<bucket_slots, device::access::shared>(t, slots);
    if constexpr (!protocol::one_step)
      while (window.match([this](word w) { return m_slot.busy(w); }))
        window = device::load_window<bucket_slots, device::access::shared>(t, slots);
    return window;
  }

  template <device::tile Tile, class Combine>
  KOKKOS_FUNCTION void merge(Tile const& t, word* slot, word seen, mapped_type const& value,
                             Combine const& combine) const {
    if constexpr (layout::has_value && !std::is_same_v<Combine, keep_stored>)
      t.once([&] {
        m_slot.merge(slot, seen, value, combine);
        return true;
      });
  }

  word* m_slots = nullptr;
  std::uint32_t* m_marks = nullptr;
  place_among m_home;  // buckets
  std::uint32_t m_probes = 0;
  bool m_has_order = false;
  protocol m_slot{};
  typename Traits::hasher m_hash{};
  typename Traits::key_equal m_equal{};
};

}  // namespace karpos::detail::open_addressing
