// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_UnorderedMap.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/unordered_map/insertion.hpp"
#include "karpos/detail/unordered_map/storage.hpp"
#include "karpos/detail/unordered_map/traits.hpp"
#include "karpos/outcome.hpp"

// A map with the interface of Kokkos::UnorderedMap, on tables of buckets of 32 bytes: change the
// type and the include, and code that used it works with this map. Results of insertions,
// operations, UnorderedMapInvalidIndex and Bitset are Kokkos' own, which this header includes. What
// differs: docs/unordered_map.md.
//
//   integers of 8 bytes at most, values of 8 bytes      | k v | k v | k v | k v |      the words of a bucket are keys and values
//
//   everything else that is trivially copyable          | w w w w w w w w |            32 bits for each slot: of the hash, and state
//                                                        k v  k v  k v  k v …          records at the same indices
//
// An index is the number of a slot. A key stays in its slot, and its value there, until it is erased or the map is rehashed:
// value_at(i) is a reference. An insertion claims a slot by one compare-and-swap. How equal keys meet, and what becomes of erased
// slots: detail/unordered_map/table.hpp.

namespace karpos {

/// Hash map, or set where Value is void, with the interface of Kokkos::UnorderedMap. Copies are shallow: they share keys and
/// values, which live until the last one is gone; kernels take them by value. With const Key and non-const Value only values can
/// be changed, with both const nothing: those are made from maps, and read faster in kernels.
///
/// Complexity: expected O(1) buckets an operation, at most all; clear, rehash, end_erase, copies,
///   and size when it has to count, read the table once.
/// Requires: Key and Value are trivially copyable, or std::pairs of such types. Hasher and EqualTo
///   are called in kernels; keys that are equal have equal hashes, which are mixed here unless
///   Hasher has a member type is_avalanching and returns 64 bits. Pairs and Kokkos::Arrays are
///   hashed and compared by their members, also by Kokkos::pod_hash and pod_equal_to; other keys
///   that are no numbers are hashed by their bytes. Device is an execution space, a memory space,
///   or a Kokkos::Device.
/// Concurrency: in kernels insert, find, exists, valid_at, key_at and value_at may run beside each other: of insertions of equal
///   keys one succeeds, the others say existing with the same index. Between begin_erase and end_erase erase takes the place of
///   insert. Maps with const keys are for kernels beside which no key is inserted or erased. Lock-free where key and value share a
///   word; else an insertion waits while another one writes a key with the same 30 bits of hash. Values are as in any view:
///   threads that share one change it by atomics.
/// Memory: capacity() slots of sizeof(Key) + sizeof(Value), rounded to 8 or 16 bytes where a slot is one word, plus 4.2 bytes
///   where it is not, and 0.2 bytes. A map for n keys has room for 1.25 n to 2 n; its bytes are 0.86 to
///   1.14 of those of a Kokkos::UnorderedMap for n keys, by their types.
/// Source: the interface is Kokkos'; open addressing as hash_map's.
template <class Key, class Value, class Device = Kokkos::DefaultExecutionSpace,
          class Hasher = detail::unordered_map::default_hash<std::remove_const_t<Key>>,
          class EqualTo = detail::unordered_map::default_equal<std::remove_const_t<Key>>>
class unordered_map {
  using traits = detail::unordered_map::traits<std::remove_const_t<Key>, std::remove_const_t<Value>,
                                               Device, Hasher, EqualTo>;
  using storage = detail::unordered_map::storage<traits>;
  using stored_value = typename traits::value_type;
  using inserted_value = std::conditional_t<std::is_void_v<Value>, int, stored_value>;
  template <class SKey, class SValue>
  static constexpr bool has_types_of =
      std::is_same_v<std::remove_const_t<Key>, std::remove_const_t<SKey>> &&
      std::is_same_v<std::remove_const_t<Value>, std::remove_const_t<SValue>>;

 public:
  using declared_key_type = Key;
  using key_type = std::remove_const_t<Key>;
  using const_key_type = std::add_const_t<key_type>;
  using declared_value_type = Value;
  using value_type = std::remove_const_t<Value>;
  using const_value_type = std::add_const_t<value_type>;
  using device_type = Device;
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using hasher_type = Hasher;
  using equal_to_type = EqualTo;
  using size_type = std::uint32_t;
  using insert_result = Kokkos::UnorderedMapInsertResult;
  /// The operation of an insertion by default: it leaves stored values alone.
  using default_op_type = detail::keep_stored;

  using declared_map_type = unordered_map;
  using insertable_map_type = unordered_map<key_type, value_type, Device, Hasher, EqualTo>;
  using modifiable_map_type = unordered_map<const_key_type, value_type, Device, Hasher, EqualTo>;
  using const_map_type = unordered_map<const_key_type, const_value_type, Device, Hasher, EqualTo>;
  /// The same map for the host, in the same memory if the host reaches that, with the same indices.
  using host_mirror_type =
      unordered_map<Key, Value, detail::unordered_map::host_mirror_device<Device>, Hasher, EqualTo>;
  using HostMirror = host_mirror_type;  // Kokkos' name for it before 5

  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr bool has_const_key = std::is_const_v<Key>;
  static constexpr bool has_const_value = is_set || std::is_const_v<Value>;
  static constexpr bool is_insertable_map = !has_const_key && (is_set || !has_const_value);
  static constexpr bool is_modifiable_map = has_const_key && !has_const_value;
  static constexpr bool is_const_map = has_const_key && has_const_value;

  /// What find returns for keys that are not there: Kokkos::UnorderedMapInvalidIndex. It is never
  /// valid_at.
  static constexpr size_type invalid_index = Kokkos::UnorderedMapInvalidIndex;

  /// A map for capacity_hint different keys, 128 at least; its insertions are bounded. Slots
  /// without a key hold a key and a value as default constructors make them. Waits. Throws
  /// allocation_error (out of memory), std::length_error (capacity overflow: 2^32 slots or more).
  unordered_map(std::uint64_t capacity_hint = 0, hasher_type const& hasher = {},
                equal_to_type const& equal_to = {})
    requires is_insertable_map
      : m_storage(capacity_hint, called_hash(hasher), called_equal(equal_to), storage::allocated) {}
  /// The same, allocated with properties of Kokkos::view_alloc: a label, an execution space instance, a memory space instance.
  template <class Properties>
    requires(is_insertable_map && !std::is_convertible_v<Properties, std::uint64_t> &&
             std::is_constructible_v<typename storage::bytes_view, Properties, std::size_t>)
  explicit unordered_map(Properties const& properties, std::uint64_t capacity_hint = 0,
                         hasher_type const& hasher = {}, equal_to_type const& equal_to = {})
      : m_storage(capacity_hint, called_hash(hasher), called_equal(equal_to),
                  [&](std::size_t bytes) {
                    typename storage::bytes_view const memory(properties, bytes);
                    Kokkos::fence("karpos::unordered_map: its memory is there");
                    return memory;
                  }) {}
  /// Bytes that a map for so many keys takes. Throws std::length_error (capacity overflow).
  static std::size_t bytes_for(std::uint64_t capacity_hint) {
    return storage::bytes_for(capacity_hint);
  }
  /// A map of const keys without memory, to be assigned to.
  unordered_map()
    requires(!is_insertable_map)
  = default;

  /// A map of const keys, or of const keys and values, of one with fewer consts.
  template <class SKey, class SValue>
    requires(std::is_same_v<Key, SKey const> &&
             (std::is_same_v<Value, SValue> || std::is_same_v<Value, SValue const>))
  KOKKOS_FUNCTION unordered_map(unordered_map<SKey, SValue, Device, Hasher, EqualTo> const& src)
      : m_storage(src.m_storage),
        m_bounded_insert(src.m_bounded_insert) {}
  template <class SValue>
    requires(has_const_key && std::is_same_v<Value, SValue const> && !std::is_void_v<SValue> &&
             !std::is_same_v<Value, SValue>)
  KOKKOS_FUNCTION unordered_map(unordered_map<Key, SValue, Device, Hasher, EqualTo> const& src)
      : m_storage(src.m_storage),
        m_bounded_insert(src.m_bounded_insert) {}

  // On the host. What was enqueued on the default instance of the execution space comes before;
  // fence others. Whether insertions are bounded is a property of this object: copies keep what it
  // was when they were made.

  /// Erases everything; insertions are bounded from now on. Waits.
  void clear()
    requires is_insertable_map
  {
    m_bounded_insert = true;
    m_storage.clear();
  }
  /// Makes room for requested_capacity keys, or for those that are in if these are more, and moves the keys: indices change. Copies of
  /// the map keep the old memory. Insertions into the new one are bounded as bounded_insert says,
  /// or if the map was empty. An erase phase ends, and no insertion has failed.
  /// Returns: whether it did: maps of const keys do not. Waits. Throws as the constructor, and the
  ///   map is as it was then.
  bool rehash(std::uint64_t requested_capacity = 0) {
    return rehash(requested_capacity, capacity() == 0 || size() == 0);
  }
  bool rehash(std::uint64_t requested_capacity, bool bounded_insert) {
    if constexpr (is_insertable_map) {
      std::uint64_t const keys = size();
      unordered_map larger(Kokkos::max(keys, requested_capacity), hash_function(),
                           equal_function());
      if (keys != 0) {
        m_storage.insert_into(larger.m_storage);
        larger.m_storage.remember(keys);
      }
      larger.m_bounded_insert = bounded_insert;
      *this = larger;
    }
    return is_insertable_map;
  }
  /// Number of keys. On CPUs it is known after insertions or erasures by one thread but for one
  /// call after every 64 + capacity() / 64 of them; after others the first call counts the keys.
  /// Copies share what is known. Waits. Requires: nothing is inserted or erased beside it, or later
  /// calls may not count that.
  size_type size() const { return is_allocated() ? static_cast<size_type>(m_storage.count()) : 0; }
  /// Whether an insertion has failed, for want of room or in an erase phase, since the map was
  /// made, cleared, rehashed or the flag reset. Waits.
  bool failed_insert() const { return m_storage.get(detail::unordered_map::failed) != 0; }
  void reset_failed_insert_flag() { m_storage.set(detail::unordered_map::failed, 0); }

  /// From here to end_erase keys may be erased, and insertions fail. Returns: false if that is so already. Where keys are const it
  /// changes nothing, and is true. Waits.
  bool begin_erase() const {
    if (erasable()) return false;
    if (is_insertable_map) m_storage.change_phase(detail::unordered_map::erasable);
    return true;
  }
  /// Makes the slots of erased keys free for others; keys that are in keep their indices. Returns: false without a begin_erase.
  /// Waits.
  bool end_erase() const {
    if (!is_insertable_map || !erasable()) return false;
    m_storage.renew();
    m_storage.change_phase(0);
    return true;
  }
  bool erasable() const {
    return is_insertable_map &&
           (m_storage.get(detail::unordered_map::phase) & detail::unordered_map::erasable) != 0;
  }

  // On the host and in kernels.

  KOKKOS_FUNCTION bool is_allocated() const { return m_storage.is_allocated(); }
  /// Indices are below it, and at most capacity() keys fit. If keys are integers of 4 or 8 bytes,
  /// three slots are reserved for the three largest integers: other keys fill capacity() - 3.
  KOKKOS_FUNCTION size_type capacity() const { return static_cast<size_type>(table().capacity()); }
  /// capacity(): indices are below this, too.
  KOKKOS_FUNCTION size_type hash_capacity() const { return capacity(); }
  hasher_type hash_function() const {
    return detail::unordered_map::function_for<hasher_type>(table().hash_function());
  }
  equal_to_type equal_function() const {
    return detail::unordered_map::function_for<equal_to_type>(table().equal_function());
  }

  /// Inserts a key with a value, unless it is there: then op changes the stored value, atomically. A bounded insertion looks at
  /// 1,024 buckets at most (2,048 of two slots): below 98 % of capacity() it does not fail, unless as many keys share a hash.
  /// One that is not bounded (rehash) fails when no slot is free.
  /// op is default_op_type (nothing); one of Kokkos::UnorderedMapInsertOpTypes, or of that interface; karpos::plus; or a function
  /// op(stored, value) for values of four or eight bytes. A set takes a number as value, and ignores it.
  /// op may not throw (operations.hpp says what functors may do).
  /// Returns: success() if the key was not in and is now; existing(); or failed(), in an erase
  /// phase, too: then the map is as it was. Then index(), unless it failed, and list_position(),
  /// the buckets that were looked at before the last one. freed_existing() is never true.
  template <class Op = default_op_type>
  KOKKOS_FORCEINLINE_FUNCTION insert_result insert(key_type const& key,
                                                   inserted_value const& value = {},
                                                   [[maybe_unused]] Op const& op = {}) const {
    static_assert(!is_set || std::is_same_v<Op, default_op_type>,
                  "karpos: there is no value in a set that an operation could change");
    if constexpr (is_insertable_map) {
      if (!is_allocated()) return {};
      if (!table().takes_insertions()) return {};
      detail::unordered_map::place const at = table().insert(key, value, m_bounded_insert);
      if (at.what == outcome::full) table().set_failed();
      if (at.what == outcome::inserted) table().count_change(1);
      if constexpr (!is_set) {
        if (at.what == outcome::existing) apply(at.index, value, op);
      }
      return detail::unordered_map::result_of(at);
    } else {
      return {};
    }
  }
  /// Inserts a key with a default-constructed std::pair: GPUs may lack the constructor.
  KOKKOS_FORCEINLINE_FUNCTION insert_result insert(key_type const& key) const
    requires(detail::unordered_map::is_pair<inserted_value> &&
             !std::is_trivially_copyable_v<inserted_value> &&
             !detail::unordered_map::made_by_compilers<inserted_value>)
  {
    room_of_pair made;
    traits::slots::blank(made.pair);
    return insert(key, made.pair);
  }
  /// Erases a key, between begin_erase and end_erase. Returns: whether this call did.
  KOKKOS_FUNCTION bool erase(key_type const& key) const {
    if constexpr (is_insertable_map) {
      if (!is_allocated() || !table().takes_erasures() || !table().erase(key)) return false;
      table().count_change(-1);
      return true;
    } else {
      return false;
    }
  }
  /// Returns: the index of a key, or invalid_index.
  KOKKOS_FUNCTION size_type find(key_type const& key) const {
    return static_cast<size_type>(table().template find<access>(key));
  }
  KOKKOS_FUNCTION bool exists(key_type const& key) const { return find(key) != invalid_index; }
  /// Whether a key is at an index, of any size.
  KOKKOS_FUNCTION bool valid_at(std::uint64_t i) const {
    return table().template valid_at<access>(i);
  }
  /// The key at an index; unless valid_at(i), what a default constructor makes, but between its
  /// erasure and end_erase it may still be a key that was there. Requires: i < capacity().
  KOKKOS_FUNCTION key_type key_at(std::uint64_t i) const {
    KARPOS_EXPECTS(i < capacity(), "key_at takes an index below capacity()");
    return table().slots().template key_at<access>(i);
  }
  /// The value at an index: a reference, or a copy if values are const. After an erasure it
  /// keeps the value until end_erase. A slot without a key may be written to, which an insertion of
  /// a key there overwrites. It is read as by any plain load: beside kernels or threads that write
  /// it, use an atomic one. Requires: i < capacity(). Maps only.
  KOKKOS_FUNCTION decltype(auto) value_at(std::uint64_t i) const
    requires(!is_set)
  {
    KARPOS_EXPECTS(i < capacity(), "value_at takes an index below capacity()");
    using result = std::conditional_t<has_const_value, stored_value, stored_value&>;
    return static_cast<result>(*table().slots().value_at(i));
  }

  // Copies of maps, made on the host; keys and values of the two maps differ at most by const. Each
  // call waits. Keys keep their indices. The exception is a destination that was made without src
  // and shares its memory with copies: its keys get new indices.

  /// Becomes a copy of src, of any device, in memory of its own; nothing if the two share memory.
  template <class SKey, class SValue, class SDevice>
    requires(has_types_of<SKey, SValue>)
  void create_copy_view(unordered_map<SKey, SValue, SDevice, Hasher, EqualTo> const& src) {
    if (static_cast<void*>(m_storage.memory().data()) == src.m_storage.memory().data()) return;
    allocate_view(src);
    deep_copy_view(src);
  }
  /// Takes memory of its own, with the capacity of src; its contents are not defined before deep_copy_view.
  template <class SKey, class SValue, class SDevice>
    requires(has_types_of<SKey, SValue>)
  void allocate_view(unordered_map<SKey, SValue, SDevice, Hasher, EqualTo> const& src) {
    m_storage = storage::shaped_like(src.m_storage);
    m_bounded_insert = src.m_bounded_insert;
  }
  /// Copies what is in src. Throws std::invalid_argument unless the capacities are equal.
  template <class SKey, class SValue, class SDevice>
    requires(has_types_of<SKey, SValue>)
  void deep_copy_view(unordered_map<SKey, SValue, SDevice, Hasher, EqualTo> const& src) {
    m_storage.copy_from(src.m_storage);
  }

 private:
  template <class, class, class, class, class>
  friend class unordered_map;

  union room_of_pair {
    KOKKOS_FUNCTION room_of_pair() {}
    inserted_value pair;
  };

  /// Nothing is inserted or erased beside maps of const keys, so that GPUs read them through any
  /// cache. CPUs read all maps in one way: compilers spill what they hoist out of plain reads (16 +
  /// 24 bytes: 136 instructions a hit, not 115).
  static constexpr auto access = has_const_key && device::is_device<execution_space>
                                     ? device::access::frozen
                                     : device::access::shared;

  KOKKOS_FUNCTION typename storage::table_type const& table() const { return m_storage.view(); }
  static typename traits::hasher called_hash(hasher_type const& f) {
    return detail::unordered_map::function_for<typename traits::hasher>(f);
  }
  static typename traits::key_equal called_equal(equal_to_type const& f) {
    return detail::unordered_map::function_for<typename traits::key_equal>(f);
  }
  template <class Op>
  KOKKOS_FUNCTION void apply(std::uint64_t i, stored_value const& value, Op const& op) const {
    detail::unordered_map::apply_op<Device>(table().slots().value_at(i), i, value, op);
  }

  storage m_storage;
  bool m_bounded_insert = true;
};

/// Copies keys and values, of the same types but for const, from any device to any other; dst has the capacity of src
/// (create_mirror). Indices stay as deep_copy_view says. Waits.
template <class DKey, class DValue, class DDevice, class SKey, class SValue, class SDevice,
          class Hasher, class EqualTo>
  requires(std::is_same_v<std::remove_const_t<DKey>, std::remove_const_t<SKey>> &&
           std::is_same_v<std::remove_const_t<DValue>, std::remove_const_t<SValue>>)
void deep_copy(unordered_map<DKey, DValue, DDevice, Hasher, EqualTo>& dst,
               unordered_map<SKey, SValue, SDevice, Hasher, EqualTo> const& src) {
  dst.deep_copy_view(src);
}
/// Returns: a map in memory that the host reaches, of the capacity of src, to deep_copy to.
template <class Key, class Value, class Device, class Hasher, class EqualTo>
auto create_mirror(unordered_map<Key, Value, Device, Hasher, EqualTo> const& src) {
  typename unordered_map<Key, Value, Device, Hasher, EqualTo>::host_mirror_type dst;
  dst.allocate_view(src);
  return dst;
}

}  // namespace karpos

namespace Kokkos {
// Callers of Kokkos::UnorderedMap's name the namespace.
using karpos::create_mirror;
using karpos::deep_copy;
}  // namespace Kokkos
