// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/detail/tables/fullness.hpp"
#include "karpos/detail/tables/hopscotch/hop_word.hpp"
#include "karpos/detail/tables/hopscotch/tuning.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/hash.hpp"

namespace karpos::detail::hopscotch {

/// The states of the slots of a line. A slot is empty; busy, that is reserved by one thread; or
/// holds a pair, and then only the thread that holds the lock of the key changes it.
///
///   8 bytes    | value | key |       filled, changed and emptied by writing the word
///   16 bytes   hi: value, lo: key    reserved, then hi and lo are written in this order; the
///                                    version in the line's head grows before a removed pair's slot
///                                    is used again
///
/// Every write of a slot is a release by a thread that has acquired all earlier writes of the slot.
/// So if a pair was moved out of a slot, a reader that sees a later value of the slot, and then
/// executes an acquire fence, sees the pair's new bit and copy.
template <class Key, class T>
class slot_states : public slot_protocol<Key, T, false> {
  using base = slot_protocol<Key, T, false>;

 public:
  using layout = typename base::layout;
  using word = typename base::word;
  using key_bits = typename base::key_bits;
  static constexpr bool wide = std::is_same_v<word, device::word16>;

  slot_states() = default;
  explicit slot_states(sentinels<key_bits> s) : base(s) {}

  /// Returns the part of a word that says the state of a slot: the word, or its low half.
  KOKKOS_FUNCTION static std::uint64_t* state(word* slot) {
    if constexpr (wide)
      return &slot->lo;
    else
      return slot;
  }
  KOKKOS_FUNCTION static std::uint64_t state_of(word slot) {
    if constexpr (wide)
      return slot.lo;
    else
      return slot;
  }
  KOKKOS_FUNCTION static std::uint64_t* hop_word(word* line) { return state(line); }
  KOKKOS_FUNCTION static std::uint64_t hop_word_of(word head) { return state_of(head); }
  /// Returns the head of a line: a hop word, and in wide lines a version.
  KOKKOS_FUNCTION static word head(std::uint64_t hop_word) {
    if constexpr (wide)
      return {hop_word, 0};
    else
      return hop_word;
  }
  /// Returns the version of a wide line, which grows when a pair leaves one of its slots.
  KOKKOS_FUNCTION static std::uint64_t* version(word* line) { return hop_word(line) + 1; }

  KOKKOS_FUNCTION word busy_slot() const { return layout::pack(this->reserved_keys().busy, 0); }

  /// Reserves an empty slot for this thread. Returns whether it was empty.
  KOKKOS_FUNCTION bool reserve(word* slot) const {
    std::uint64_t const empty = state_of(this->empty_slot());
    return device::compare_and_swap_acquire(state(slot), empty, state_of(busy_slot())) == empty;
  }
  /// Puts a pair into a slot that this thread has reserved: from here on readers see the pair.
  KOKKOS_FUNCTION void fill(word* slot, word pair) const {
    if constexpr (wide) device::store_release(&slot->hi, pair.hi);
    device::store_release(state(slot), state_of(pair));
  }
  /// Reserves and fills a slot of the home line. Returns whether it was empty.
  KOKKOS_FUNCTION bool try_fill(word* slot, word pair) const {
    if constexpr (wide) {
      if (!reserve(slot)) return false;
      fill(slot, pair);
      return true;
    } else {
      return device::compare_and_swap_after_reads(slot, this->empty_slot(), pair) ==
             this->empty_slot();
    }
  }
  /// Removes a pair and keeps its slot reserved, unless the slot does not hold the key of `seen`.
  /// Returns whether it did. Requires: this thread holds the lock of the key.
  KOKKOS_FUNCTION bool reserve_full(word* slot, word seen, word* line) const {
    if constexpr (wide) {
      if (device::compare_and_swap_acquire(&slot->lo, seen.lo, this->reserved_keys().busy) !=
          seen.lo)
        return false;
      device::add_release(version(line), 1);
      return true;
    } else {
      return exchange(slot, seen, busy_slot());
    }
  }
  /// Puts a pair into an empty slot, or empties the slot of a pair. Returns whether the slot was as
  /// seen. Requires: the slot is of the home line, and this thread holds the lock of the key.
  KOKKOS_FUNCTION bool replace(word* slot, word seen, word by, word* line) const {
    if constexpr (!wide) {
      return device::compare_and_swap_after_reads(slot, seen, by) == seen;
    } else {
      if (seen == this->empty_slot()) return try_fill(slot, by);
      if (!reserve_full(slot, seen, line)) return false;
      release(slot);
      return true;
    }
  }
  /// Empties a slot that this thread has reserved.
  KOKKOS_FUNCTION void release(word* slot) const {
    device::store_release(state(slot), state_of(this->empty_slot()));
  }
  /// Reserves the slot of a pair that was copied to another. Requires: this thread holds its lock.
  KOKKOS_FUNCTION void vacate(word* slot, [[maybe_unused]] word* line) const {
    device::store_release(state(slot), state_of(busy_slot()));
    if constexpr (wide) device::add_release(version(line), 1);
  }
  /// Replaces the value of a pair. Requires: this thread holds the lock of the key.
  KOKKOS_FUNCTION void assign(word* slot, word pair) const {
    if constexpr (wide)
      device::store_release(&slot->hi, pair.hi);
    else
      device::store_release(slot, pair);
  }

 private:
  /// Replaces the word of a slot if its key, not its value, is as seen. Returns whether it did.
  KOKKOS_FUNCTION static bool exchange(word* slot, word seen, word to) {
    auto const key = layout::key_of(seen);
    while (layout::key_of(seen) == key) {
      word const before = device::compare_and_swap_acquire(slot, seen, to);
      if (before == seen) return true;
      seen = before;
    }
    return false;
  }
};

/// The slot of a key, and its pair; no_slot if the key is not stored.
template <class Word>
struct location {
  int slot = no_slot;  ///< of the neighbourhood
  Word pair{};
  KOKKOS_FUNCTION explicit operator bool() const { return slot != no_slot; }
};

/// Parts of a table (fullness.hpp) that an insertion inspects after it has searched in vain.
inline constexpr std::uint32_t inspected_parts = 64;

struct key_home {
  std::uint64_t home;
  int key_class;
};

/// The types of a hopscotch table. A test shows what goes wrong if Recheck is false.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, bool Recheck = true>
struct traits : table_traits<Key, T, ExecSpace, Hash, KeyEqual> {
  static constexpr char const* name = is_no_value<T> ? "hopscotch_set" : "hopscotch_map";
  using protocol = slot_states<Key, T>;
  static constexpr bool recheck = Recheck;
};

/// The lines of a hopscotch table, and how they are read: the phase `find`. Readers take no lock
/// and write nothing. A tile is a thread, or some lanes of a warp (CUDA: a cooperative group).
template <class Traits>
class lines : public Traits {
 public:
  using typename Traits::execution_space, typename Traits::key_bits, typename Traits::key_type,
      typename Traits::layout, typename Traits::mapped_type, typename Traits::protocol,
      typename Traits::word;
  using path = key_home;
  using located = location<word>;
  static constexpr int line_words = line_slots + 1;

  lines() = default;
  /// `full`: words of a fullness (fullness.hpp). Null: insertions search a full table for each key,
  /// and erasures do not note free slots, which the caller does then (storage.hpp).
  lines(word* words, line_geometry const& g, sentinels<key_bits> s,
        typename Traits::hasher const& hash, typename Traits::key_equal const& equal,
        std::uint32_t* full = nullptr)
      : m_lines(words),
        m_full(full),
        m_geometry(g),
        m_slot(s),
        m_hash(hash),
        m_equal(equal) {}

  template <class Query>
  KOKKOS_FUNCTION std::uint64_t hash(Query const& query) const {
    return hash_of(m_hash, query);
  }
  KOKKOS_FUNCTION path start_at(std::uint64_t hash) const {
    return {m_geometry.home_of(hash), class_of(hash)};
  }
  KOKKOS_FUNCTION std::uint32_t region_of(std::uint64_t hash, std::uint32_t n) const {
    return m_geometry.region_of(hash, n);
  }
  template <class Query>
  KOKKOS_FUNCTION path start(Query const& query) const {
    return start_at(hash(query));
  }
  KOKKOS_FUNCTION protocol const& slot() const { return m_slot; }
  KOKKOS_FUNCTION line_geometry const& geometry() const { return m_geometry; }
  KOKKOS_FUNCTION word* line(std::uint64_t l) const { return m_lines + l * line_words; }
  /// Returns the i-th slot, for scans.
  KOKKOS_FUNCTION word* slot_at(std::uint64_t i) const {
    return line(i / line_slots) + 1 + i % line_slots;
  }
  /// Returns the line that has a slot of a neighbourhood; slot_of returns the slot itself.
  KOKKOS_FUNCTION word* line_of(std::uint64_t home, int slot) const {
    return line(m_geometry.line(home, slot / line_slots));
  }
  KOKKOS_FUNCTION word* slot_of(std::uint64_t home, int slot) const {
    return line_of(home, slot) + 1 + place_in_line(slot);
  }
  KOKKOS_FUNCTION std::uint64_t* hop_word(std::uint64_t home) const {
    return protocol::hop_word(line(home));
  }

  /// Returns whether no slot of the table is free.
  template <device::tile Tile>
  KOKKOS_FUNCTION bool is_full(Tile const& t) const {
    return m_full != nullptr && t.once([&] { return full_lines().is_full(); });
  }
  /// Inspects some more parts of the table for free slots (fullness.hpp).
  template <device::tile Tile>
  KOKKOS_FUNCTION void inspect(Tile const& t) const {
    if (m_full == nullptr) return;
    t.once([&] {
      full_lines().inspect(inspected_parts, [this](std::uint64_t l) {
        for (int i = 1; i < line_words; ++i)
          if (!m_slot.live(device::load_relaxed(line(l) + i))) return false;
        return true;
      });
    });
  }
  /// Notes that a slot of a line is empty. One thread calls it, after it has unlocked the class of
  /// the key that the slot held, then emptied the slot.
  KOKKOS_FUNCTION void mark_line_free(std::uint64_t l) const {
    if (m_full != nullptr) full_lines().mark_free(l);
  }
  /// Does what `mark_line_free` does, if the thread has emptied the slot first, and then unlocked.
  KOKKOS_FUNCTION void mark_line_free_after_unlock(std::uint64_t l) const {
    if (m_full != nullptr) full_lines().mark_free_after_update(l);
  }

  KOKKOS_FUNCTION path path_of(word pair) const {
    return start(from_bits<key_type>(layout::key_of(pair)));
  }

  /// Returns the predicate: the slot holds a key equal to the query.
  template <class Query>
  KOKKOS_FUNCTION auto holds(Query const& query) const {
    return holds_key<key_type, typename Traits::hasher>(m_slot, m_equal, query);
  }

  /// Finds a key. Searches again if the key left its slot before both words of the pair were read.
  template <device::access Access, device::tile Tile, class Holds>
  KARPOS_STEP_FUNCTION located find(Tile const& t, path const& p, Holds const& holds_key) const {
    constexpr bool torn =
        Access == device::access::shared && !device::reads_whole<sizeof(word), execution_space>;
    for (;;) {
      located at = find_once<Access>(t, p, holds_key);
      if (!at) return at;
      if constexpr (torn) at = t.once([&] { return read_untorn(p, holds_key, at); });
      if constexpr (Access == device::access::shared) device::order_used_reads();
      if (at) return at;
    }
  }

  template <device::tile Tile>
  KOKKOS_FUNCTION auto load_line(Tile const& t, std::uint64_t l) const {
    return device::load_window<line_words, device::access::shared>(t, line(l));
  }
  /// Finds a key whose lock this tile holds. `hop`: the hop word of its home.
  template <device::tile Tile, class Holds>
  KOKKOS_FUNCTION located find_locked(Tile const& t, path const& p, std::uint64_t hop,
                                      Holds const& holds_key) const {
    auto const all = load_line(t, p.home);
    if (auto const hit = all.template match<1>(holds_key))
      return {hit.first() - 1, all.get(hit.first())};
    if ((hop & far_bit(p.key_class)) == 0) return {};
    return search_far<device::access::frozen>(t, p, hop, holds_key);
  }

 private:
  KOKKOS_FUNCTION fullness full_lines() const { return {m_full, m_geometry.lines()}; }

  /// Searches the home line, which is enough for most keys, then the far slots. With concurrent
  /// writers a hit counts only if the hop word shows that the class is not empty: then this thread,
  /// and every operation ordered after this one, reads that hop word or a newer one.
  template <device::access Access, device::tile Tile, class Holds>
  KARPOS_STEP_FUNCTION located find_once(Tile const& t, path const& p,
                                         Holds const& holds_key) const {
    home_search seen;
    if constexpr (Tile::width == 1 && tuning<execution_space>::reads_home_in_parts) {
      seen = search_home_in_parts<Access>(t, p, holds_key);
    } else if constexpr (Tile::width == 1) {
      seen = search_home_at_once<Access>(t, p, holds_key);
    } else {
      auto const all = device::load_window<line_words, Access>(t, line(p.home));
      std::uint64_t const hop = protocol::hop_word_of(all.get(0));
      if (!may_hold(hop, p.key_class)) return {};
      if (auto const hit = all.template match<1>(holds_key))
        return {hit.first() - 1, all.get(hit.first())};
      seen = home_miss<Access>(t, p, hop);
    }
    if (seen.needs_far) seen.at = search_far<Access>(t, p, seen.hop, holds_key);
    return seen.at;
  }

  /// The result of a search in the home line: the key's slot, or that the far slots of this hop
  /// word are to be searched.
  struct home_search {
    located at;
    std::uint64_t hop = 0;
    bool needs_far = false;
  };
  template <device::access Access, device::tile Tile>
  KOKKOS_FUNCTION home_search home_miss(Tile const& t, path const& p, std::uint64_t seen) const {
    std::uint64_t const hop = reread_hop_word<Access>(t, p, seen);
    return {{}, hop, (hop & far_bit(p.key_class)) != 0};
  }

  /// Searches the home line in parts, for GPUs, where requests to memory are the cost: an early hit
  /// or an empty class saves the later requests.
  template <device::access Access, device::tile Tile, class Holds>
  KOKKOS_FUNCTION home_search search_home_in_parts(Tile const& t, path const& p,
                                                   Holds const& holds_key) const {
    word const* const home = line(p.home);
    std::uint64_t hop = 0;
    located at;
    if constexpr (Access == device::access::shared) {
      auto const head = device::load_window<2, Access>(t, home);
      hop = protocol::hop_word_of(head.get(0));
      if (!may_hold(hop, p.key_class) || find_in_window<1>(head, 0, holds_key, at)) return {at};
      if (find_in_window<0>(device::load_window<2, Access>(t, home + 2), 2, holds_key, at))
        return {at};
    } else {
      auto const head = device::load_window<4, Access>(t, home);
      hop = protocol::hop_word_of(head.get(0));
      if (find_in_window<1>(head, 0, holds_key, at) || !may_hold(hop, p.key_class)) return {at};
    }
    if (find_in_window<0>(device::load_window<4, Access>(t, home + 4), 4, holds_key, at))
      return {at};
    return home_miss<Access>(t, p, hop);
  }

  /// Searches the home line at once, for CPUs, where mispredicted branches are the cost: hits and
  /// misses take the same path. The slot is read again, from the nearest cache, because extracting
  /// it from a vector register is slower.
  template <device::access Access, device::tile Tile, class Holds>
  KOKKOS_FUNCTION home_search search_home_at_once(Tile const& t, path const& p,
                                                  Holds const& holds_key) const {
    word const* const home = line(p.home);
    auto const all = device::load_window<line_words, Access>(t, home);
    auto const hit = all.template match<1>(holds_key);
    std::uint64_t const seen = protocol::hop_word_of(all.get(0));
    if (Access == device::access::shared && hit && !may_hold(seen, p.key_class)) return {};
    int const i = (hit | lane_mask<line_words>::of(line_words - 1)).first();
    word const pair = device::load_relaxed(home + i);
    bool const there = holds_key(pair);
    std::uint64_t const hop = reread_hop_word<Access>(t, p, seen);
    // A key that was seen but is gone may have been moved to a far slot.
    bool const far = (hop & far_bit(p.key_class)) != 0, needs_far = !there & far;
    return {{there ? i - 1 : no_slot, pair}, hop, needs_far};
  }

  /// Returns the hop word after slots that did not hold the key. With concurrent writers it is read
  /// again: if the key was moved on, its new bit was set before its old slot was cleared.
  template <device::access Access, device::tile Tile>
  KOKKOS_FUNCTION std::uint64_t reread_hop_word(Tile const& t, path const& p,
                                                std::uint64_t seen) const {
    if constexpr (Access == device::access::shared && Traits::recheck) {
      device::acquire_fence();  // on every lane: each has read slots
      t.sync();
      return t.once([&] { return device::load_relaxed(hop_word(p.home)); });
    } else {
      return seen;
    }
  }

  /// Returns whether a word of a part of a line, from First on, holds the key, and where. For one
  /// thread, with each word in a register.
  template <int First, class Tile, class Slot, int N, class Holds>
  KOKKOS_FUNCTION static bool find_in_window(device::window<Tile, Slot, N> const& part, int offset,
                                             Holds const& holds_key, located& at) {
    return find_in_window(part, offset, holds_key, at, std::integral_constant<int, First>{},
                          std::make_integer_sequence<int, N - First>{});
  }
  template <class Window, class Holds, int First, int... I>
  KOKKOS_FUNCTION static bool find_in_window(Window const& part, int offset, Holds const& holds_key,
                                             located& at, std::integral_constant<int, First>,
                                             std::integer_sequence<int, I...>) {
    ((holds_key(part.get(First + I)) ? (at = {offset + First + I - 1, part.get(First + I)}, 0) : 0),
     ...);
    return static_cast<bool>(at);
  }

  /// Searches the far slots in their order. Keys are only moved to later slots, so that there are
  /// at most as many steps as far slots.
  template <device::access Access, device::tile Tile, class Holds>
  KOKKOS_FUNCTION located search_far(Tile const& t, path const& p, std::uint64_t hop,
                                     Holds const& holds_key) const {
    for (std::uint32_t far = far_slots(hop); far != 0;) {
      int const s = lane_mask<neighbourhood_slots>(far).first();
      word const pair = t.once([&] { return device::load_relaxed(slot_of(p.home, s)); });
      if (holds_key(pair)) return {s, pair};
      far = far_slots(reread_hop_word<Access>(t, p, hop)) & ~((2u << s) - 1);
    }
    return {};
  }
  /// Reads the two halves of a pair that holds the key, until no pair left its line in between.
  /// Returns nothing if the key left its slot.
  template <class Holds>
  KOKKOS_FUNCTION located read_untorn(path const& p, Holds const& holds_key, located at) const {
    if constexpr (protocol::wide) {
      std::uint64_t const* const version = protocol::version(line_of(p.home, at.slot));
      word* const slot = slot_of(p.home, at.slot);
      for (;;) {
        std::uint64_t const before = device::load_acquire(version);
        at.pair.lo = device::load_acquire(&slot->lo);
        if (!holds_key(at.pair)) return {};
        at.pair.hi = device::load_acquire(&slot->hi);
        if (device::load_relaxed(version) == before) break;
      }
    }
    return at;
  }

  word* m_lines = nullptr;
  std::uint32_t* m_full = nullptr;
  line_geometry m_geometry{};
  protocol m_slot{};
  typename Traits::hasher m_hash{};
  typename Traits::key_equal m_equal{};
};

}  // namespace karpos::detail::hopscotch
