// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_UnorderedMap.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/tables/open_addressing/marks.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/detail/tables/unordered_map/slots.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/hash.hpp"
#include "karpos/operations.hpp"
#include "karpos/outcome.hpp"
#include "karpos/probing.hpp"

// The table of an unordered_map as kernels see it, and how a key finds its slot. Buckets, bucket
// pairs, probe paths and overflow marks are those of hash_map (open_addressing/ref.hpp).
//
//   words     | 32 B | 32 B || 32 B | 32 B || …   buckets: alike in every execution space, so that
//                                                 copies have the same indices
//   marks     8 bits for each bucket pair
//   passed    a bit for each bucket that a key went past; then the fullness (fullness.hpp)
//   status    | failed | phase | number of keys | changes |
//   records   | key | value | …                   wide slots only: at the index of the word
//
// slots.hpp has the two kinds of slots. An insertion makes a free slot live; it claims the slot
// first if one instruction cannot fill it. A live slot becomes free only in an erase phase, when no
// key is inserted. While keys are inserted, all threads agree on this:
//
//   closed bucket   has a slot that was never used: no key went past it. It ends a search, and so
//                   does a missing overflow mark.
//   place           a key that is not stored takes the first free slot of its path, empty or erased
//
// An insertion looks for its key up to the closed bucket, then claims the first free slot that it
// saw on the way. If another thread claimed this slot first, the insertion reads the bucket again.
// So two insertions of equal keys meet at the same slot: one claims it, the other finds the key. A
// slot that was seen taken stays taken, so that neither insertion can pass the other.
//
// Therefore an insertion may read old words, such as those in a GPU's L1 cache. A slot that was
// live is live. A bucket is read again if the compare-and-swap of a slot that was free fails, or if
// a slot is claimed for what may be the key, which may be stored by now.
//
// An erasure marks its slot as erased. end_erase then computes `passed` and the marks anew from the
// stored keys, and makes the erased slots empty whose bucket no key went past.
// Tests: unordered_map, unordered_map_as_used, unordered_map_drop_in, nested_structures.

namespace karpos::detail::unordered_map {

/// Status words of a table: whether an insertion failed; the phase bits `erasable` and `modified`;
/// the number of keys, unless `modified` is set; its changes since all slots were counted.
enum status_word : int { failed, phase, known_size, changes };
inline constexpr int status_words = 4;
inline constexpr std::uint32_t erasable = 1, modified = 2;

/// Returns the number of words in the bitmap of buckets that a key went past.
KOKKOS_FUNCTION constexpr std::uint64_t passed_words(std::uint64_t pairs) {
  return (2 * pairs + 63) / 64 * 2;
}

/// Addresses of a table's arrays.
template <class Slots>
struct parts {
  typename Slots::word* words = nullptr;
  std::uint32_t* marks = nullptr;  ///< overflow marks
  /// Bitmap of buckets that a key went past, made by end_erase. A fullness (fullness.hpp) follows.
  std::uint32_t* passed = nullptr;
  std::uint32_t* status = nullptr;
  typename Slots::record* records = nullptr;
};

/// The outcome of an insertion, the index of the key, and the number of buckets probed.
struct place {
  outcome what;
  std::uint64_t index;
  std::uint32_t buckets;  ///< probed
};
/// Returns p as Kokkos' result of an insertion. Sets the outcome last, so that compilers drop the
/// count of buckets if the caller does not read it.
KOKKOS_INLINE_FUNCTION Kokkos::UnorderedMapInsertResult result_of(place const& p) {
  Kokkos::UnorderedMapInsertResult result;
  auto const index = static_cast<std::uint32_t>(p.index);
  if (p.what == outcome::inserted) {
    for (std::uint32_t b = 1; b < p.buckets; ++b) result.increment_list_position();
    result.set_success(index);
  } else if (p.what == outcome::existing) {
    for (std::uint32_t b = 1; b < p.buckets; ++b) result.increment_list_position();
    result.set_existing(index, false);
  }
  return result;
}

/// An operation with Kokkos' interface: op.op(values, index, value), where the stored value is
/// values(index), or at values.data() + index.
template <class Op, class Values, class Value>
concept indexed_op =
    requires(Op const& op, Values const& values, Value const& v) { op.op(values, 0u, v); };

/// Replaces *at by op(*at, value) atomically.
template <class Value, class Op>
KOKKOS_FUNCTION void combine_value(Value* at, Value const& value, Op const& op) {
  if constexpr (std::is_same_v<Op, plus>) {
    Kokkos::atomic_add(at, value);
  } else {
    static_assert(
        sizeof(Value) == 4 || sizeof(Value) == 8,
        "karpos: op(stored, value) is for values of four or eight bytes, plus for all that "
        "Kokkos::atomic_add takes; others change them by op.op(values, index, value)");
    using bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
    auto* const word = reinterpret_cast<bits*>(at);
    bits seen = device::load_relaxed(word);
    for (;;) {
      bits const before = device::compare_and_swap(
          word, seen, to_bits<bits>(static_cast<Value>(op(from_bits<Value>(seen), value))));
      if (before == seen) return;
      seen = before;
    }
  }
}

/// Applies an operation of either interface to the stored value at an index. An operation with
/// Kokkos' interface gets a view of which only the element `index` is a value.
template <class Device, class Value, class Op>
KOKKOS_FUNCTION void apply_op(Value* at, std::uint64_t index, Value const& value, Op const& op) {
  using values_view = Kokkos::View<Value*, Device>;
  if constexpr (std::is_same_v<Op, keep_stored>) {
    return;
  } else if constexpr (indexed_op<Op, values_view, Value>) {
    auto const narrow = static_cast<std::uint32_t>(index);  // Kokkos' indices have 32 bits
    auto const origin = reinterpret_cast<std::uintptr_t>(at) - narrow * sizeof(Value);
    op.op(values_view(reinterpret_cast<Value*>(origin), std::size_t(narrow) + 1), narrow, value);
  } else {
    device::order_used_reads();
    combine_value(at, value, op);
  }
}

template <class Traits>
class table {
 public:
  using slots_type = typename Traits::slots;
  using key_type = typename Traits::key_type;
  using value_type = typename Traits::value_type;
  using word = typename slots_type::word;
  using hasher = typename Traits::hasher;
  using key_equal = typename Traits::key_equal;
  using path = open_addressing::probe_path<double_hashing_of_whole_paths>;
  using access = device::access;
  static constexpr int bucket_slots = slots_type::bucket_slots;
  static constexpr std::uint64_t no_index = 0xffffffffu;
  /// Buckets that a bounded insertion probes at most, as in hash_map.
  static constexpr std::uint32_t probe_limit =
      double_hashing::probe_limit * (bucket_slots < 4 ? 4 / bucket_slots : 1);

  table() = default;
  /// `home`: made by home_among, or copied from another table.
  table(parts<slots_type> const& p, place_among const& home, hasher const& hash,
        key_equal const& equal)
      : m_slots(p.words, p.records, home.count() * bucket_slots),
        m_marks(p.marks),
        m_passed(p.passed),
        m_status(p.status),
        m_home(home),
        m_hash(hash),
        m_equal(equal) {}

  /// Returns the function from hashes to the buckets of a table of `pairs` bucket pairs.
  static place_among home_among(std::uint64_t pairs, std::uint64_t seed) {
    return {hashed::unordered_map, 2 * pairs, 2 * pairs * bucket_slots, seed};
  }
  /// Returns this table with the `home` of another one, whose words are about to be copied here.
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
  /// Returns the function from a hash to the bucket where its search begins.
  KOKKOS_FUNCTION place_among const& home() const { return m_home; }
  /// Returns the bits `erasable` and `modified`; on GPUs perhaps those from before the kernel.
  KOKKOS_FUNCTION std::uint32_t phase_bits() const {
    std::uint32_t bits = 0;
    KOKKOS_IF_ON_DEVICE((bits = device::load_frozen(m_status + phase);))
    KOKKOS_IF_ON_HOST((bits = device::load_relaxed(m_status + phase);))
    return bits;
  }
  KOKKOS_FUNCTION bool is_erasable() const { return (phase_bits() & erasable) != 0; }
  /// Returns whether keys may be inserted; if not, notes that an insertion failed. GPUs note before
  /// an insertion that keys must be counted. All calls but the first ones only read a word.
  KOKKOS_FUNCTION bool try_begin_insertion() const {
    std::uint32_t const bits = phase_bits();
    if (bits == modified) return true;
    bool const taken = (bits & erasable) == 0;
    if (!taken) set_failed();
    if (taken) set_modified_on_device(bits);
    return taken;
  }
  /// Returns whether keys may be erased. GPUs note that keys must be counted.
  KOKKOS_FUNCTION bool try_begin_erasure() const {
    std::uint32_t const bits = phase_bits();
    if ((bits & erasable) == 0) return false;
    set_modified_on_device(bits);
    return true;
  }
  /// Adds `by`, 1 or -1, to the number of keys on CPUs, after a key was inserted or erased. Notes
  /// instead that keys must be counted, after many changes or if threads often contend.
  KOKKOS_FUNCTION void count_change([[maybe_unused]] int by) const {
    KOKKOS_IF_ON_HOST((if (!is_modified()) add_to_size(by);))
  }
  KOKKOS_FUNCTION void set_failed() const { device::store_relaxed(m_status + failed, 1u); }
  KOKKOS_FUNCTION hasher const& hash_function() const { return m_hash; }
  KOKKOS_FUNCTION key_equal const& equal_function() const { return m_equal; }

  /// Returns whether slot i holds a key. If other threads may write, GPUs read their L1 cache
  /// first: unless keys are erased just now, a slot that was live there is live.
  template <access Access>
  KOKKOS_FUNCTION bool valid_at(std::uint64_t i) const {
    if (i >= capacity()) return false;
    if constexpr (Access == access::shared && Traits::reads_l1_first) {
      if (slots_type::is_live(load<access::frozen>(i)) && !is_erasable()) return true;
    }
    return slots_type::is_live(load<Access>(i));
  }

  /// Inserts a key into the first free slot of its path. Requires: nothing is erased meanwhile.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION place insert(key_type const& key, T const& value,
                                           bool bounded) const {
    if (slots_type::is_reserved(key)) return insert_reserved(key, value);
    std::uint64_t const hash = hash_of(m_hash, key);
    auto const query = slots_type::make_query(key, hash);
    std::uint32_t const last = bounded && buckets() > probe_limit ? probe_limit : buckets();
    thread const t{};
    path p(hash, m_home);
    std::uint32_t first_free = 0;  // a bucket of the path, counted from 1; 0: none
    bool searching = true, again = false;
    for (;;) {
      auto const window =
          again ? load_bucket<access::shared>(t, p) : load_bucket<first_access>(t, p);
      if (auto const at = find_in<access::shared>(window, p, query, key); at != no_index) {
        if (!searching) set_marks(p);
        return {outcome::existing, at, p.tried()};
      }
      again = static_cast<bool>(slots_type::match_pending(window, query));
      if (again) continue;
      auto const empty = window.match(slots_type::is_empty()),
                 free = empty | window.match(slots_type::is_erased());
      if (free && first_free == 0) first_free = p.tried();
      bool const closed =
          empty || (open_addressing::at_mark(p.tried()) && !open_addressing::is_marked(m_marks, p));
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
      if (!searching && p.tried() >= open_addressing::full_check_bucket &&
          open_addressing::at_mark(p.tried()) && is_refused(p))
        break;
      p.advance(pairs());
    }
    return {outcome::full, no_index, p.tried()};
  }

  /// Returns the index of a key, or no_index. A key that was found in a GPU's L1 cache may have
  /// been erased since: in an erase phase its slot is read again.
  template <access Access>
  KOKKOS_FUNCTION std::uint64_t find(key_type const& key) const {
    std::uint64_t const at = find_or_erased<Access>(key);
    if constexpr (Access == access::shared && Traits::reads_l1_first) {
      if (at != no_index && is_erasable() && !valid_at<Access>(at)) return no_index;
    }
    return at;
  }

  /// Erases a key. Returns whether this call erased it. Requires: nothing is inserted meanwhile.
  KOKKOS_FUNCTION bool erase(key_type const& key) const {
    std::uint64_t const at = find_or_erased<access::shared>(key);
    return at != no_index && m_slots.erase(at, load<access::shared>(at));
  }

  // The functions that bulk lookups ask of a table (probe.hpp), while no key is inserted or erased.
  // Reserved slots are part of the table: no key is a sentinel.

  using mapped_type = value_type;
  using execution_space = typename Traits::execution_space;
  static constexpr unsigned threads_at_once = 0;
  struct wanted {
    typename slots_type::query query;
    key_type key;
  };
  KOKKOS_FUNCTION std::uint64_t hash(key_type const& key) const { return hash_of(m_hash, key); }
  KOKKOS_FUNCTION path start_at(std::uint64_t hash) const { return path(hash, m_home); }
  KOKKOS_FUNCTION path start(key_type const& key) const { return start_at(hash(key)); }
  KOKKOS_FUNCTION std::uint64_t home_of(std::uint64_t hash) const { return m_home(hash); }
  KOKKOS_FUNCTION static path at_home(std::uint64_t home) { return path::at_home(home); }
  KOKKOS_FUNCTION std::uint32_t region_of(std::uint64_t hash, std::uint32_t n) const {
    return m_home.part(hash, n);
  }
  KOKKOS_FUNCTION void advance(path& p) const { p.advance(pairs()); }
  KOKKOS_FUNCTION bool past_end(path const& p) const { return p.tried() > buckets(); }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(path const& p) const {
    device::prefetch(m_slots.words(p.bucket() * bucket_slots));
  }
  KOKKOS_FUNCTION static constexpr bool reserved(key_type const&) { return false; }
  KOKKOS_FUNCTION wanted holds(key_type const& key) const {
    return {slots_type::make_query(key, hash(key)), key};
  }
  template <access Access, device::tile Tile>
  KARPOS_STEP_FUNCTION lookup_step<mapped_type> find_step(Tile const& t, path const& p,
                                                          wanted const& w) const {
    if (slots_type::is_reserved(w.key)) [[unlikely]] {
      std::uint64_t const at = m_slots.reserved_slot(w.key);
      if (!valid_at<Access>(at)) return {true, {}};
      return {true, {true, stored_value(at)}};
    }
    auto const window = load_bucket<Access>(t, p);
    std::uint64_t const at = find_in<Access>(window, p, w.query, w.key);
    if (at != no_index) return {true, {true, stored_value(at)}};
    return {window.any(slots_type::is_empty()) || (open_addressing::at_mark(p.tried()) &&
                                                   !open_addressing::is_marked<Access>(m_marks, p)),
            {}};
  }

  // The two passes of end_erase (storage.hpp), for one slot.

  /// Sets the overflow marks and the `passed` bits of the buckets before that of the key in slot i.
  KOKKOS_FUNCTION void mark_path_to(std::uint64_t i) const {
    if (!valid_at<access::frozen>(i) || i >= m_slots.slots()) return;
    key_type const key = m_slots.template key_at<access::frozen>(i);
    std::uint64_t const hash = hash_of(m_hash, key), bucket = i / bucket_slots;
    for (path p(hash, m_home); p.bucket() != bucket && p.tried() < buckets(); p.advance(pairs())) {
      device::set_bits(m_passed + p.bucket() / 32, std::uint32_t(1) << p.bucket() % 32);
      if (open_addressing::at_mark(p.tried())) open_addressing::set_mark(m_marks, p.pair(), hash);
    }
  }
  /// Resets an erased slot, and makes it empty unless a key went past its bucket.
  KOKKOS_FUNCTION void reclaim(std::uint64_t i) const {
    word* const at = m_slots.words(i);
    if (!slots_type::is_erased()(*at)) return;
    std::uint64_t const bucket = i / bucket_slots;
    bool const passed = i < m_slots.slots() && (m_passed[bucket / 32] >> bucket % 32 & 1u) != 0;
    *at = passed ? slots_type::erased_word() : slots_type::empty_word();
    if constexpr (slots_type::has_records) m_slots.blank_record(i);
  }

 private:
  KOKKOS_FUNCTION value_type stored_value([[maybe_unused]] std::uint64_t i) const {
    if constexpr (is_no_value<value_type>)
      return {};
    else
      return *m_slots.value_at(i);
  }
  /// Returns how many changes of the number of keys are added up before the slots are counted.
  /// Adding costs a CPU 6 ns, and counting 0.5 ns per slot: at most some 40 ns per change in all.
  KOKKOS_FUNCTION std::uint64_t max_changes() const { return 64 + capacity() / 64; }
  /// Failed compare-and-swaps of the sum after which the slots must be counted.
  static constexpr std::uint64_t max_failures = 64;

  KOKKOS_FUNCTION bool is_modified() const { return (phase_bits() & modified) != 0; }
  KOKKOS_FUNCTION void set_modified_on_device([[maybe_unused]] std::uint32_t bits) const {
    KOKKOS_IF_ON_DEVICE((if ((bits & modified) == 0) device::set_bits(m_status + phase, modified);))
  }
  /// Updates the words known_size and changes by one compare-and-swap. A thread whose
  /// compare-and-swap fails adds more to `changes`, so that many threads soon leave the sum alone.
  KOKKOS_FUNCTION void add_to_size(int by) const {
    auto* const both = reinterpret_cast<std::uint64_t*>(m_status + known_size);
    std::uint64_t const most = max_changes();
    std::uint64_t seen = device::load_relaxed(both), added = 1;
    while (seen >> 32 < most) {
      auto const size = static_cast<std::uint32_t>(seen) + static_cast<std::uint32_t>(by);
      std::uint64_t const before =
          device::compare_and_swap(both, seen, ((seen >> 32) + added) << 32 | size);
      if (before == seen) return;
      seen = before;
      added += most / max_failures;
    }
    device::set_bits(m_status + phase, modified);
  }

  using thread = device::tile_for<typename Traits::execution_space, 1>;
  static constexpr access first_access = Traits::reads_l1_first ? access::frozen : access::shared;

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
  /// Returns the index of the key in a bucket that was read, or no_index.
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
  /// Returns the index of a key, or no_index. If keys may be inserted concurrently, GPUs first read
  /// words in their L1 cache. A key that is found there is stored, unless it was erased since. For
  /// a key that is not found, the path is read again past the L1 cache, unless the first slot that
  /// the key could have taken is still free.
  template <access Access>
  KOKKOS_FUNCTION std::uint64_t find_or_erased(key_type const& key) const {
    if (m_home.count() == 0) return no_index;
    if (slots_type::is_reserved(key)) {
      std::uint64_t const at = m_slots.reserved_slot(key);
      return valid_at<Access>(at) ? at : no_index;
    }
    std::uint64_t const hash = hash_of(m_hash, key);
    if constexpr (Access == access::shared && Traits::reads_l1_first) {
      std::uint64_t first_open = no_index;
      std::uint64_t const at = find_by<access::frozen, Access>(hash, key, first_open);
      if (at != no_index || is_still_free(first_open)) return at;
    }
    std::uint64_t unused = 0;
    return find_by<Access, Access>(hash, key, unused);
  }
  /// Searches the path of a hash for a key. If words and records are read by different access,
  /// first_open becomes the first slot on the path that was free, or claimed for what may be the
  /// key; it keeps its value if there is no such slot.
  template <access Words, access Records>
  KOKKOS_FUNCTION std::uint64_t find_by(std::uint64_t hash, key_type const& key,
                                        [[maybe_unused]] std::uint64_t& first_open) const {
    auto const query = slots_type::make_query(key, hash);
    thread const t{};
    for (path p(hash, m_home);; p.advance(pairs())) {
      auto const window = load_bucket<Words>(t, p);
      std::uint64_t const at = find_in<Records>(window, p, query, key);
      if (at != no_index) return at;
      auto const empty = window.match(slots_type::is_empty());
      if constexpr (Words != Records) {
        auto const open = empty | window.match(slots_type::is_erased()) |
                          slots_type::match_pending(window, query);
        if (open && first_open == no_index) first_open = index(p, open.first());
      }
      if (empty) return no_index;
      if (open_addressing::at_mark(p.tried()) && !open_addressing::is_marked<Records>(m_marks, p))
        return no_index;
      if (p.tried() == buckets()) return no_index;
    }
  }
  /// Returns whether a slot is still free: if so, no key that would have taken it was inserted.
  KOKKOS_FUNCTION bool is_still_free(std::uint64_t at) const {
    if (at == no_index) return false;
    return is_free(load<access::shared>(at));
  }
  KOKKOS_FUNCTION static bool is_free(word w) {
    return slots_type::is_empty()(w) || slots_type::is_erased()(w);
  }
  /// Returns a path at its n-th bucket, counted from 1.
  KOKKOS_FUNCTION path bucket_on_path(std::uint64_t hash, std::uint32_t n) const {
    path p(hash, m_home);
    while (p.tried() < n) p.advance(pairs());
    return p;
  }

  /// Claims a slot that was seen free. Expects the word of a new or erased slot first, then the
  /// stored word, whose value users may have set. Returns false if another thread was faster.
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
    for (;;) {  // spins while another thread fills the slot
      word const seen = load<access::shared>(at);
      if (slots_type::is_live(seen)) return {outcome::existing, at, 1};
      if (is_free(seen) && m_slots.claim(at, seen, slots_type::make_reserved_query(), key, value))
        return {outcome::inserted, at, 1};
    }
  }

  /// Sets the overflow marks before the bucket of a key that is stored, or about to be.
  KOKKOS_FUNCTION void set_marks(path const& p) const {
    if (p.tried() > open_addressing::first_mark)
      open_addressing::set_marks_before(m_marks, path(p.hash(), m_home), p, pairs());
  }
  KOKKOS_FUNCTION bool is_refused(path const& p) const {
    return open_addressing::is_full(m_passed + passed_words(pairs()), pairs(), p.tried(),
                                    [this](std::uint64_t bucket) { return is_full(bucket); }) &&
           !open_addressing::is_marked(m_marks, p);
  }
  /// Returns whether a bucket has no free slot, neither an empty nor an erased one.
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
