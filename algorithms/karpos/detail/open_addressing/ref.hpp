// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/holds_key.hpp"
#include "karpos/detail/open_addressing/tuning.hpp"
#include "karpos/detail/slot_protocol.hpp"
#include "karpos/detail/walk.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/hash.hpp"
#include "karpos/outcome.hpp"
#include "karpos/probing.hpp"

// Open addressing over buckets of B slots. A key lies in the first bucket on its probe path that had a slot
// never used when it came; within a bucket, slots fill from the left. So a bucket with an empty slot ends a
// probe: the key would have taken that slot. In a crowded table such buckets are rare, and misses would walk
// far. Whoever leaves 4, 8, 16, … full buckets behind therefore marks the last pair of them:
//
//   pair p       | k v | k v | k v | k v || k v | k v | k v | k v |    two buckets, one 64-byte line
//   marks of p   8 bits, one for each class of keys (3 bits of the hash), in an array that stays in cache
//
// and a probe that comes to a pair whose mark for its class is not set ends there. 2^27 keys on an H200, load
// 0.9: misses 10.8 G/s without marks, 16.3 with; hits 29.0 and 27.3 (perf/results/).
//
// Why this is linearizable key by key with relaxed atomics alone: docs/design/memory_model.md.
//
// Source: the probe loop after cuCollections' static_map (one compare-and-swap per slot); overflow marks
// after the overflow byte of boost::unordered_flat_map, in an array of their own.

namespace karpos::detail::open_addressing {

/// How many classes of keys a pair of buckets keeps overflow marks for.
inline constexpr int marks_per_pair = 8;

/// Whether a path that has tried so many buckets leaves, or looks for, a mark. Not sooner: most keys lie in
/// their first pair and shall not pay. Not at every pair: hits that lie far out would pay each time.
KOKKOS_FUNCTION constexpr bool at_mark(std::uint32_t tried) {
  return tried >= 4 && (tried & (tried - 1)) == 0;
}

/// The table as kernels see it; see hash_map_ref for the contract of each operation.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing, int B,
          bool OneStep =
              device::is_lock_free<sizeof(typename slot_layout<Key, T>::word), ExecSpace>>
class open_addressing_ref {
 public:
  using key_type = Key;
  using mapped_type = T;
  using layout = slot_layout<Key, T>;
  using word = typename layout::word;
  using key_bits = typename layout::key_bits;
  using protocol = slot_protocol<Key, T, OneStep>;
  using path = probe_path<Probing>;
  /// Small buckets are full more often, so that paths may be longer.
  static constexpr std::uint32_t probe_limit = Probing::probe_limit * (B < 4 ? 4 / B : 1);
  static constexpr bool one_step = protocol::one_step;
  static constexpr unsigned threads_at_once = 0;  ///< kernels that write: see launch.hpp
  /// Whether a matched slot is read again instead of taken out of the window.
  template <class Tile>
  static constexpr bool rereads = Tile::width == 1 && tuning<ExecSpace>::reread_slots;

  open_addressing_ref() = default;
  open_addressing_ref(word* slots, std::uint32_t* marks, std::uint64_t pairs, sentinels<key_bits> s,
                      Hash const& hash, KeyEqual const& equal)
      : m_slots(slots),
        m_marks(marks),
        m_pairs(pairs),
        m_probes(2 * pairs < probe_limit ? static_cast<std::uint32_t>(2 * pairs) : probe_limit),
        m_slot(s),
        m_hash(hash),
        m_equal(equal) {}

  /// Where the search for a key begins.
  template <class Query>
  KOKKOS_FUNCTION path start(Query const& query) const {
    return path(hash_of(m_hash, query), m_pairs);
  }
  KOKKOS_FUNCTION word* bucket(path const& p) const { return m_slots + p.bucket() * B; }
  template <class Query>
  KOKKOS_FUNCTION bool reserved(Query const& query) const {
    if constexpr (std::is_same_v<Query, Key>)
      return m_slot.reserved(query);
    else
      return false;
  }
  KOKKOS_FUNCTION protocol const& slot() const { return m_slot; }
  KOKKOS_FUNCTION word* slots() const { return m_slots; }
  /// The i-th slot, for scans.
  KOKKOS_FUNCTION word* slot_at(std::uint64_t i) const { return m_slots + i; }
  KOKKOS_FUNCTION std::uint64_t bucket_count() const { return 2 * m_pairs; }

  /// Predicate: the slot holds a key equal to the query.
  template <class Query>
  KOKKOS_FUNCTION auto holds(Query const& query) const {
    return holds_key<Key>(m_slot, m_equal, query);
  }

  /// Inserts the key, or merges value into the stored one with combine(stored, value).
  template <device::tile Tile, class Combine>
  KOKKOS_FUNCTION outcome upsert(Tile const& t, Key const& key, T const& value,
                                 Combine const& combine) const {
    KARPOS_EXPECTS(!reserved(key), "a key equal to a sentinel cannot be inserted");
    outcome result = outcome::full;
    path p = start(key);
    upsert_along<walk::to_the_end>(t, p, holds(key), protocol::item(key, value), value, combine,
                                   result);
    return result;
  }
  template <device::access Access, device::tile Tile, class Query>
  KOKKOS_FUNCTION found<T> find(Tile const& t, Query const& query) const {
    found<T> result;
    path p = start(query);
    find_along<walk::to_the_end, Access>(t, p, holds(query), result);
    return result;
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool erase(Tile const& t, Query const& query) const {
    bool erased = false;
    path p = start(query);
    erase_along<walk::to_the_end>(t, p, holds(query), erased);
    return erased;
  }

  // The same along a path that the caller keeps, to its end or bucket by bucket. They return whether the
  // result is decided; if not, the path has moved to the bucket to look at next.

  template <walk Walk, device::tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION bool upsert_along(Tile const& t, path& p, Holds const& holds_key, word pair,
                                    T const& value, Combine const& combine, outcome& result) const {
    while (p.tried() <= m_probes) {
      word* const slots = bucket(p);
      auto const window = published_window(t, slots);
      if (auto const hit = window.match(holds_key)) {
        merge(t, slots + hit.first(), window.get(hit.first()), value, combine);
        return decide(result, outcome::existing);
      }
      for (auto holes = window.match(m_slot.is_empty()); holes; holes = holes.without_first()) {
        word* const slot = slots + holes.first();
        word const seen = t.once([&] { return m_slot.claim(slot, pair); });
        if (m_slot.is_empty()(seen)) return decide(result, outcome::inserted);
        if (holds_key(seen)) {
          merge(t, slot, seen, value, combine);
          return decide(result, outcome::existing);
        }
      }
      if (at_mark(p.tried())) t.once([&] { return set_mark(p); });
      p.advance(m_pairs);
      if constexpr (Walk == walk::one_bucket) return p.tried() > m_probes;
    }
    return true;
  }

  template <walk Walk, device::access Access, device::tile Tile, class Holds>
  KOKKOS_FUNCTION bool find_along(Tile const& t, path& p, Holds const& holds_query,
                                  found<T>& result) const {
    while (p.tried() <= m_probes) {
      word const* const slots = bucket(p);
      auto const window = device::load_window<B, Access>(t, slots);
      word slot{};
      if constexpr (!rereads<Tile>) {
        if (window.only(holds_query, slot))
          return decide(result, found<T>{true, layout::value_of(slot)});
        if (ends(t, p, window)) return true;
      } else {
        // CPUs leave by one exit whether the key is there or not, for no predictor knows which, and read the
        // slot again from the nearest cache: taking it out of a vector register is slower. A slot that held
        // the key holds it still or is a tombstone by now.
        auto const hit = window.match(holds_query);
        if (hit | window.match(m_slot.is_empty())) {
          slot = device::load_relaxed(slots + (hit | lane_mask<B>::of(B - 1)).first());
          return decide(result, found<T>{holds_query(slot), layout::value_of(slot)});
        }
        if (at_mark(p.tried()) && !marked(p)) return true;
      }
      p.advance(m_pairs);
      if constexpr (Walk == walk::one_bucket) return p.tried() > m_probes;
    }
    return true;
  }

  template <walk Walk, device::tile Tile, class Holds>
  KOKKOS_FUNCTION bool erase_along(Tile const& t, path& p, Holds const& holds_query,
                                   bool& erased) const {
    while (p.tried() <= m_probes) {
      word* const slots = bucket(p);
      auto const window = device::load_window<B, device::access::shared>(t, slots);
      if (auto const hit = window.match(holds_query)) {
        word* const slot = slots + hit.first();
        if constexpr (!rereads<Tile>) {
          word const seen = window.get(hit.first());
          return decide(erased, t.once([&] { return m_slot.bury(slot, seen); }));
        } else {
          word const seen = device::load_relaxed(slot);  // again, as in find
          return decide(erased, holds_query(seen) && m_slot.bury(slot, seen));
        }
      }
      if (ends(t, p, window)) return true;
      p.advance(m_pairs);
      if constexpr (Walk == walk::one_bucket) return p.tried() > m_probes;
    }
    return true;
  }

 private:
  template <class Result>
  KOKKOS_FUNCTION static bool decide(Result& result, Result const& r) {
    result = r;
    return true;
  }
  /// Whether a key that is not in this window cannot lie further along the path.
  template <device::tile Tile, class Window>
  KOKKOS_FUNCTION bool ends(Tile const& t, path const& p, Window const& window) const {
    if (window.any(m_slot.is_empty())) return true;
    return at_mark(p.tried()) && !t.once([&] { return marked(p); });
  }

  KOKKOS_FUNCTION static std::uint64_t mark_bit(path const& p) {
    return p.pair() * marks_per_pair + p.hash() % marks_per_pair;
  }
  KOKKOS_FUNCTION bool marked(path const& p) const {
    std::uint64_t const bit = mark_bit(p);
    return ((device::load_relaxed(m_marks + bit / 32) >> (bit % 32)) & 1u) != 0;
  }
  /// Not read first: nobody waits for the write, but would for the read.
  KOKKOS_FUNCTION bool set_mark(path const& p) const {
    std::uint64_t const bit = mark_bit(p);
    device::set_bits(m_marks + bit / 32, std::uint32_t(1) << (bit % 32));
    return true;
  }

  /// A window in which no slot is claimed but not yet published: it might be about to hold our key. Its
  /// claimant is a running thread two stores away from publishing it.
  template <device::tile Tile>
  KOKKOS_FUNCTION auto published_window(Tile const& t, word const* slots) const {
    auto window = device::load_window<B, device::access::shared>(t, slots);
    if constexpr (!one_step)
      while (window.match([this](word w) { return m_slot.busy(w); }))
        window = device::load_window<B, device::access::shared>(t, slots);
    return window;
  }

  template <device::tile Tile, class Combine>
  KOKKOS_FUNCTION void merge(Tile const& t, word* slot, word seen, T const& value,
                             Combine const& combine) const {
    if constexpr (layout::has_value && !std::is_same_v<Combine, keep_stored>)
      t.once([&] {
        m_slot.merge(slot, seen, value, combine);
        return true;
      });
  }

  word* m_slots = nullptr;
  std::uint32_t* m_marks = nullptr;
  std::uint64_t m_pairs = 0;
  std::uint32_t m_probes = 0;
  protocol m_slot{};
  Hash m_hash{};
  KeyEqual m_equal{};
};

}  // namespace karpos::detail::open_addressing
