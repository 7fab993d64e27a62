// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/open_addressing/ref.hpp"
#include "karpos/detail/unordered_map/insertion.hpp"
#include "karpos/detail/unordered_map/packed_slots.hpp"
#include "karpos/detail/unordered_map/wide_slots.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"
#include "karpos/outcome.hpp"
#include "karpos/probing.hpp"

// The table of an unordered_map as kernels see it, and how a key finds its slot. Buckets, their pairs, probe paths and overflow
// marks are those of hash_map (open_addressing/ref.hpp): a bucket is 32 bytes of words, in every space, so that a copy in
// another space has the same indices. The slots are of one of two kinds: packed_slots.hpp, wide_slots.hpp.
//
// A slot goes from free to live (those that are not filled in one step are claimed in between), and from live to free between
// begin_erase and end_erase only, when nothing is inserted. So while keys are inserted, all threads agree on this:
//
//   closed    a bucket with a slot that was never used: no key went past it. It ends a search, and so does a missing mark.
//   place     a key that is not in takes the first free slot of its path, empty or erased
//
// An insertion looks for its key up to the closed bucket, then claims the first free slot that it saw on the way. If another
// thread was faster it looks at that bucket again: two insertions of equal keys meet at the same slot, one of them claims it and
// the other finds it. A slot that was seen taken is taken for good, so that neither can pass the other. Therefore a look may be
// at old words, too, such as those in the first cache of a GPU: what is live there is live. What is free there is claimed, or read
// once more; and so is a slot that was claimed for what may be the key, for that key may be in by now.

namespace karpos::detail::unordered_map {

/// Words beside the slots: whether an insertion failed; bits of the phase; the number of keys,
/// unless the phase says `modified`; changes of this number since all slots were counted.
enum status_word : int { failed, phase, known_size, changes };
inline constexpr int status_words = 4;
inline constexpr std::uint32_t erasable = 1, modified = 2;

/// Words of the bits of buckets that a key went past.
KOKKOS_FUNCTION constexpr std::uint64_t passed_words(std::uint64_t pairs) {
  return (2 * pairs + 63) / 64 * 2;
}

/// Where the parts of a table lie.
template <class Slots>
struct parts {
  typename Slots::word* words = nullptr;
  std::uint32_t* marks = nullptr;  ///< overflow marks
  /// A bit for each bucket that a key went past: end_erase finds out which. Then a fullness.
  std::uint32_t* passed = nullptr;
  std::uint32_t* status = nullptr;
  typename Slots::record* records = nullptr;
};

template <class Traits>
class table {
 public:
  using slots_type = typename Traits::slots;
  using key_type = typename Traits::key_type;
  using value_type = typename Traits::value_type;
  using word = typename slots_type::word;
  using hasher = typename Traits::hasher;
  using key_equal = typename Traits::key_equal;
  using path = probe_path<double_hashing>;
  using access = device::access;
  static constexpr int bucket_slots = slots_type::bucket_slots;
  static constexpr std::uint64_t no_index = 0xffffffffu;
  /// Buckets that a bounded insertion looks at: as hash_map's.
  static constexpr std::uint32_t probe_limit =
      double_hashing::probe_limit * (bucket_slots < 4 ? 4 / bucket_slots : 1);

  table() = default;
  /// `home`: of home_among, or of another table.
  table(parts<slots_type> const& p, place_among const& home, hasher const& hash,
        key_equal const& equal)
      : m_slots(p.words, p.records, home.count() * bucket_slots),
        m_marks(p.marks),
        m_passed(p.passed),
        m_status(p.status),
        m_home(home),
        m_hash(hash),
        m_equal(equal) {}

  /// Returns what maps hashes to the buckets of a table of `pairs` pairs.
  static place_among home_among(std::uint64_t pairs, std::uint64_t seed) {
    return {hashed::unordered_map, 2 * pairs, 2 * pairs * bucket_slots, seed};
  }
  /// Returns this table with the places of another one, whose words are about to be copied here.
  table with_home(place_among const& home) const {
    table t = *this;
    t.m_home = home;
    return t;
  }

  KOKKOS_FUNCTION slots_type const& slots() const { return m_slots; }
  KOKKOS_FUNCTION std::uint64_t capacity() const {
    return m_home.count() == 0 ? 0 : m_slots.slots() + slots_type::reserved_slots;
  }
  KOKKOS_FUNCTION std::uint64_t pairs() const { return m_home.count() / 2; }
  /// The bucket in which the search for a hash begins.
  KOKKOS_FUNCTION place_among const& home() const { return m_home; }
  /// Returns: erasable and modified, as far as they were set before this kernel.
  KOKKOS_FUNCTION std::uint32_t phase_bits() const {
    std::uint32_t bits = 0;
    KOKKOS_IF_ON_DEVICE((bits = device::load_frozen(m_status + phase);))
    KOKKOS_IF_ON_HOST((bits = device::load_relaxed(m_status + phase);))
    return bits;
  }
  KOKKOS_FUNCTION bool is_erasable() const { return (phase_bits() & erasable) != 0; }
  /// Returns whether keys may be inserted; notes that one was refused if not. GPUs note before an
  /// insertion that keys must be counted: all but the first calls read a word alone.
  KOKKOS_FUNCTION bool takes_insertions() const {
    std::uint32_t const bits = phase_bits();
    if (bits == modified) return true;
    bool const taken = (bits & erasable) == 0;
    if (!taken) set_failed();
    if (taken) note_on_device(bits);
    return taken;
  }
  /// Returns whether keys may be erased. GPUs note that keys must be counted.
  KOKKOS_FUNCTION bool takes_erasures() const {
    std::uint32_t const bits = phase_bits();
    if ((bits & erasable) == 0) return false;
    note_on_device(bits);
    return true;
  }
  /// Adds 1 or -1 to the number of keys on CPUs, after a key was inserted or erased. Notes instead
  /// that keys must be counted, after many changes or if threads often did this at once.
  KOKKOS_FUNCTION void count_change([[maybe_unused]] int by) const {
    KOKKOS_IF_ON_HOST((if (!is_modified()) add_to_size(by);))
  }
  KOKKOS_FUNCTION void set_failed() const { device::store_relaxed(m_status + failed, 1u); }
  KOKKOS_FUNCTION hasher const& hash_function() const { return m_hash; }
  KOKKOS_FUNCTION key_equal const& equal_function() const { return m_equal; }

  /// Beside others GPUs look in their first caches first: unless keys are erased just now, what is live there is live.
  template <access Access>
  KOKKOS_FUNCTION bool valid_at(std::uint64_t i) const {
    if (i >= capacity()) return false;
    if constexpr (Access == access::shared && Traits::looks_first) {
      if (slots_type::is_live(load<access::frozen>(i)) && !is_erasable()) return true;
    }
    return slots_type::is_live(load<Access>(i));
  }

  /// Inserts a key into the first free slot of its path. While it runs, nothing is erased.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION place insert(key_type const& key, T const& value,
                                           bool bounded) const {
    if (slots_type::is_reserved(key)) return insert_reserved(key, value);
    std::uint64_t const hash = hash_of(m_hash, key);
    auto const query = slots_type::ask(key, hash);
    std::uint32_t const last = bounded && buckets() > probe_limit ? probe_limit : buckets();
    thread const t{};
    path p(hash, m_home);
    std::uint32_t first_free = 0;  // on the path, counted from 1
    bool searching = true, again = false;
    for (;;) {
      auto const window = again ? load_bucket<access::shared>(t, p) : load_bucket<first_look>(t, p);
      if (auto const at = find_in<access::shared>(window, p, query, key); at != no_index) {
        if (!searching) set_marks(p);
        return {outcome::existing, at, p.tried()};
      }
      again = static_cast<bool>(slots_type::pending(window, query));
      if (again) continue;
      auto const empty = slots_type::empties(window), free = empty | slots_type::tombstones(window);
      if (free && first_free == 0) first_free = p.tried();
      bool const closed = empty || (open_addressing::at_mark(p.tried()) && !marked(p));
      if (searching && (closed || p.tried() == last)) {
        searching = false;
        if (first_free != 0 && first_free != p.tried()) {
          p = bucket_on_path(hash, first_free);
          continue;
        }
      }
      if (!searching && free) {
        std::uint64_t const at = index(p, free.first());
        set_marks(p);
        if (claim(at, empty.test(free.first()), query, key, value))
          return {outcome::inserted, at, p.tried()};
        again = true;
        continue;
      }
      if (p.tried() == last) break;
      if (!searching && p.tried() >= open_addressing::asking_bucket &&
          open_addressing::at_mark(p.tried()) && is_refused(p))
        break;
      p.advance(pairs());
    }
    return {outcome::full, no_index, p.tried()};
  }

  /// Returns: the index of a key, or no_index. Where words of first caches were looked at, a key that is found may have been
  /// erased since, if keys are erased just now.
  template <access Access>
  KOKKOS_FUNCTION std::uint64_t find(key_type const& key) const {
    std::uint64_t const at = find_or_erased<Access>(key);
    if constexpr (Access == access::shared && Traits::looks_first) {
      if (at != no_index && is_erasable() && !valid_at<Access>(at)) return no_index;
    }
    return at;
  }

  /// Erases a key. Returns: whether this call did. While it runs, nothing is inserted.
  KOKKOS_FUNCTION bool erase(key_type const& key) const {
    std::uint64_t const at = find_or_erased<access::shared>(key);
    return at != no_index && m_slots.erase(at, load<access::shared>(at));
  }

  // What end_erase does (storage.hpp), slot by slot.

  /// Leaves signs along the path to the key of a slot.
  KOKKOS_FUNCTION void mark_path_to(std::uint64_t i) const {
    if (!valid_at<access::frozen>(i) || i >= m_slots.slots()) return;
    key_type const key = m_slots.template key_at<access::frozen>(i);
    std::uint64_t const hash = hash_of(m_hash, key), bucket = i / bucket_slots;
    for (path p(hash, m_home); p.bucket() != bucket && p.tried() < buckets(); p.advance(pairs())) {
      device::set_bits(m_passed + p.bucket() / 32, std::uint32_t(1) << p.bucket() % 32);
      if (open_addressing::at_mark(p.tried())) set_mark(p.pair(), hash);
    }
  }
  /// An erased slot is as good as new, unless a key went past its bucket.
  KOKKOS_FUNCTION void renew(std::uint64_t i) const {
    word* const at = m_slots.words(i);
    if (!slots_type::is_erased_word(*at)) return;
    std::uint64_t const bucket = i / bucket_slots;
    bool const passed = i < m_slots.slots() && (m_passed[bucket / 32] >> bucket % 32 & 1u) != 0;
    *at = passed ? slots_type::erased_word() : slots_type::empty_word();
    if constexpr (slots_type::has_records) m_slots.blank_record(i);
  }

 private:
  /// Changes of the number of keys that are added up before a count. Adding costs a CPU 6 ns, and
  /// counting 0.5 ns a slot: some 40 ns a change in all, also if a loop asks for each size.
  KOKKOS_FUNCTION std::uint64_t most_changes() const { return 64 + capacity() / 64; }
  /// Failed compare-and-swaps of the sum before a count.
  static constexpr std::uint64_t most_failures = 64;

  KOKKOS_FUNCTION bool is_modified() const { return (phase_bits() & modified) != 0; }
  KOKKOS_FUNCTION void note_on_device([[maybe_unused]] std::uint32_t bits) const {
    KOKKOS_IF_ON_DEVICE((if ((bits & modified) == 0) device::set_bits(m_status + phase, modified);))
  }
  /// Changes the words known_size and changes at once. A thread that finds them changed meanwhile
  /// adds more to `changes`, so that kernels of many threads soon leave the sum alone.
  KOKKOS_FUNCTION void add_to_size(int by) const {
    auto* const both = reinterpret_cast<std::uint64_t*>(m_status + known_size);
    std::uint64_t const most = most_changes();
    std::uint64_t seen = device::load_relaxed(both), added = 1;
    while (seen >> 32 < most) {
      auto const size = static_cast<std::uint32_t>(seen) + static_cast<std::uint32_t>(by);
      std::uint64_t const before =
          device::compare_and_swap(both, seen, ((seen >> 32) + added) << 32 | size);
      if (before == seen) return;
      seen = before;
      added += most / most_failures;
    }
    device::set_bits(m_status + phase, modified);
  }

  using thread = device::tile_for<typename Traits::execution_space, 1>;
  static constexpr access first_look = Traits::looks_first ? access::frozen : access::shared;

  KOKKOS_FUNCTION std::uint32_t buckets() const {
    return static_cast<std::uint32_t>(m_home.count());
  }
  KOKKOS_FUNCTION std::uint64_t index(path const& p, int slot) const {
    return p.bucket() * bucket_slots + static_cast<std::uint64_t>(slot);
  }
  template <access Access>
  KOKKOS_FUNCTION word load(std::uint64_t i) const {
    if constexpr (Access == access::frozen)
      return device::load_frozen(m_slots.words(i));
    else
      return device::load_relaxed(m_slots.words(i));
  }
  template <access Access>
  KOKKOS_FUNCTION auto load_bucket(thread const& t, path const& p) const {
    return device::load_window<bucket_slots, Access>(t, m_slots.words(p.bucket() * bucket_slots));
  }
  /// Returns: where the key is in a bucket that was read, or no_index.
  template <access Access, class Window>
  KOKKOS_FUNCTION std::uint64_t find_in(Window const& window, path const& p,
                                        typename slots_type::query const& query,
                                        key_type const& key) const {
    for (auto hits = window.match(query); hits; hits = hits.without_first()) {
      std::uint64_t const at = index(p, hits.first());
      if (m_slots.template holds<Access>(at, key, m_equal)) return at;
    }
    return no_index;
  }
  /// Returns: the index of a key, or no_index. Beside insertions GPUs look at words in their first caches first: what is found
  /// there is there, unless it was erased since. What is not may have come since.
  template <access Access>
  KOKKOS_FUNCTION std::uint64_t find_or_erased(key_type const& key) const {
    if (m_home.count() == 0) return no_index;
    if (slots_type::is_reserved(key)) {
      std::uint64_t const at = m_slots.reserved_slot(key);
      return valid_at<Access>(at) ? at : no_index;
    }
    std::uint64_t const hash = hash_of(m_hash, key);
    if constexpr (Access == access::shared && Traits::looks_first) {
      std::uint64_t first_open = no_index;
      std::uint64_t const at = find_by<access::frozen, Access>(hash, key, first_open);
      if (at != no_index || is_free_still(first_open)) return at;
    }
    std::uint64_t unused = 0;
    return find_by<Access, Access>(hash, key, unused);
  }
  /// The same along a path; words and records may be read in different ways. Where these differ, first_open becomes the first
  /// slot on the path, if there is one, that was free, or was about to be filled with what may be the key.
  template <access Words, access Records>
  KOKKOS_FUNCTION std::uint64_t find_by(std::uint64_t hash, key_type const& key,
                                        [[maybe_unused]] std::uint64_t& first_open) const {
    auto const query = slots_type::ask(key, hash);
    thread const t{};
    for (path p(hash, m_home);; p.advance(pairs())) {
      auto const window = load_bucket<Words>(t, p);
      std::uint64_t const at = find_in<Records>(window, p, query, key);
      if (at != no_index) return at;
      auto const empty = slots_type::empties(window);
      if constexpr (Words != Records) {
        auto const open =
            empty | slots_type::tombstones(window) | slots_type::pending(window, query);
        if (open && first_open == no_index) first_open = index(p, open.first());
      }
      if (empty) return no_index;
      if (open_addressing::at_mark(p.tried()) && !marked(p)) return no_index;
      if (p.tried() == buckets()) return no_index;
    }
  }
  /// Whether a slot that was the first one of a path where the key could go is free: then no key of that path came since.
  KOKKOS_FUNCTION bool is_free_still(std::uint64_t at) const {
    if (at == no_index) return false;
    return is_free(load<access::shared>(at));
  }
  KOKKOS_FUNCTION static bool is_free(word w) {
    return slots_type::is_empty_word(w) || slots_type::is_erased_word(w);
  }
  /// The n-th bucket of a path, counted from 1.
  KOKKOS_FUNCTION path bucket_on_path(std::uint64_t hash, std::uint32_t n) const {
    path p(hash, m_home);
    while (p.tried() < n) p.advance(pairs());
    return p;
  }

  /// Claims a slot that was seen free. Expects the word that new slots have, then the one that is
  /// there, for users may have written to its value.
  template <class T>
  KOKKOS_FUNCTION bool claim(std::uint64_t at, bool is_empty,
                             typename slots_type::query const& query, key_type const& key,
                             T const& value) const {
    word const seen = is_empty ? slots_type::empty_word() : slots_type::erased_word();
    if (m_slots.claim(at, seen, query, key, value)) return true;
    if constexpr (slots_type::has_values_in_words) {
      word const written = load<access::shared>(at);
      return is_free(written) && m_slots.claim(at, written, query, key, value);
    } else {
      return false;
    }
  }
  template <class T>
  KOKKOS_FUNCTION place insert_reserved(key_type const& key, T const& value) const {
    std::uint64_t const at = m_slots.reserved_slot(key);
    for (;;) {  // a slot that was claimed by another thread is looked at until it is filled
      word const seen = load<access::shared>(at);
      if (slots_type::is_live(seen)) return {outcome::existing, at, 1};
      if (is_free(seen) && m_slots.claim(at, seen, slots_type::ask_reserved(), key, value))
        return {outcome::inserted, at, 1};
    }
  }

  KOKKOS_FUNCTION static std::uint64_t mark_bit(std::uint64_t pair, std::uint64_t hash) {
    return pair * open_addressing::marks_per_pair + hash % open_addressing::marks_per_pair;
  }
  KOKKOS_FUNCTION bool marked(path const& p) const {
    std::uint64_t const bit = mark_bit(p.pair(), p.hash());
    return (device::load_relaxed(m_marks + bit / 32) >> bit % 32 & 1u) != 0;
  }
  KOKKOS_FUNCTION void set_mark(std::uint64_t pair, std::uint64_t hash) const {
    std::uint64_t const bit = mark_bit(pair, hash);
    device::set_bits(m_marks + bit / 32, std::uint32_t(1) << bit % 32);
  }
  /// Sets the marks of a stored key; see open_addressing/ref.hpp.
  KOKKOS_FUNCTION void set_marks(path const& p) const {
    if (p.tried() <= open_addressing::first_mark) return;
    open_addressing::for_each_mark(path(p.hash(), m_home), pairs(), p.tried(),
                                   [&](std::uint64_t pair) { set_mark(pair, p.hash()); });
    if (p.tried() > open_addressing::asking_bucket) device::release_fence();
  }
  KOKKOS_FUNCTION bool is_refused(path const& p) const {
    return open_addressing::is_full(m_passed + passed_words(pairs()), pairs(), p.tried(),
                                    [this](std::uint64_t bucket) { return is_full(bucket); }) &&
           !marked(p);
  }
  /// Whether a bucket has neither a free slot nor one of an erased key.
  KOKKOS_FUNCTION bool is_full(std::uint64_t bucket) const {
    for (std::uint64_t i = bucket * bucket_slots; i < (bucket + 1) * bucket_slots; ++i) {
      if (is_free(load<access::shared>(i))) return false;
    }
    return true;
  }

  slots_type m_slots;
  std::uint32_t* m_marks = nullptr;
  std::uint32_t* m_passed = nullptr;
  std::uint32_t* m_status = nullptr;
  place_among m_home;  // buckets
  hasher m_hash{};
  key_equal m_equal{};
};

}  // namespace karpos::detail::unordered_map
