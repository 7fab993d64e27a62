// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_UnorderedMap.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "karpos/detail/tables/unordered_map/storage.hpp"
#include "karpos/detail/tables/unordered_map/table.hpp"
#include "karpos/detail/tables/unordered_map/traits.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// A map with the interface of Kokkos::UnorderedMap, on tables of buckets of 32 bytes. Change the
// type and the include, and code that used Kokkos' map works with this one. This header includes
// Kokkos_UnorderedMap.hpp, which has the result type of insertions, insertion operations,
// UnorderedMapInvalidIndex and Bitset. What differs: docs/unordered_map.md. There are two kinds of
// slots:
//
//   packed   | k v | k v | k v | k v |   integers and enums of 8 bytes at most, with an equality
//                                        that compares their bits (that of karpos, Kokkos or std),
//                                        and values of 8 bytes at most
//   wide     | w w w w w w w w |         all other trivially copyable types: bits of the hash and a
//              k v  k v  k v  k v …      state for each slot, and records at the same indices
//
// An index is the number of a slot. A key and its value stay in their slot until the key is erased
// or the map is rehashed, so value_at(i) is a reference. An insertion claims a slot by one
// compare-and-swap. How insertions of equal keys meet, and what becomes of erased slots:
// detail/tables/unordered_map/table.hpp.

namespace karpos {

/// Hash map, or set if Value is void, with the interface of Kokkos::UnorderedMap. Copies are
/// shallow: they share keys and values, which live until the last copy is gone. Moving a map copies
/// it: the one moved from stays valid, and shares the memory. Kernels take maps by value. If Key is
/// const and Value is not, only values can be changed; if both are const, nothing can. Such maps
/// are made from maps without const, and are read faster in kernels.
///
/// Complexity: expected O(1) buckets an operation, at most all. clear, rehash, deep copies, and
///   size if it has to count, read the table once. end_erase makes two passes.
/// Requires:
///   - Key and Value are trivially copyable, or std::pairs of such types.
///   - Hasher and EqualTo are called in kernels. Equal keys have equal hashes. The map mixes the
///     hash unless Hasher has a member type is_avalanching and returns 64 bits. Pairs and
///     Kokkos::Arrays are hashed and compared by their members, even if Hasher is Kokkos::pod_hash
///     or EqualTo Kokkos::pod_equal_to. The default Hasher hashes numbers as karpos::hash does, and
///     other keys by their bytes. It refuses long double, and padding that the compiler can see.
///   - Device is an execution space, a memory space, or a Kokkos::Device.
/// Concurrency:
///   - In kernels insert, find, exists, valid_at, key_at and value_at may run concurrently. If
///     several threads insert equal keys, one succeeds, and the others get existing() with the same
///     index. Between begin_erase and end_erase, erase takes the place of insert.
///   - Maps with const keys are for kernels during which no key is inserted or erased.
///   - Packed slots are lock-free, except slots of 16 bytes if device::is_lock_free<16, ExecSpace>
///     is false: there an insertion waits for threads that have claimed a slot of the same bucket
///     and not yet stored its pair. An insertion into wide slots waits while another thread writes
///     a key with the same 30 bits of hash into a bucket that it searches.
///   - The map does not protect values: threads that change one value concurrently use atomics.
/// Memory: capacity() slots, always in memory that the map allocates. A packed slot takes 16 bytes
///   if key or value has more than four, else 8 (in a set 8 or 4), and 0.1 to 0.3 bytes of bitmaps.
///   A wide slot takes the record of key and value, and 4.1 bytes. A map for n keys has about 2 n
///   slots of 4 or 8 bytes, 1.7 n packed slots of 16 bytes, or 1.25 n wide slots; up to a third
///   more for few keys. It has slots for at least 128 keys. Its bytes are 0.86 to 1.14 times those
///   of a Kokkos::UnorderedMap for n keys, depending on the types.
/// Source: the interface is Kokkos'; open addressing as in hash_map.
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
  /// The default operation of insert: it leaves stored values alone.
  using default_op_type = detail::keep_stored;

  using declared_map_type = unordered_map;
  using insertable_map_type = unordered_map<key_type, value_type, Device, Hasher, EqualTo>;
  using modifiable_map_type = unordered_map<const_key_type, value_type, Device, Hasher, EqualTo>;
  using const_map_type = unordered_map<const_key_type, const_value_type, Device, Hasher, EqualTo>;
  /// The type of this map for the host, with the same indices; in the same memory space if the host
  /// reaches that.
  using host_mirror_type =
      unordered_map<Key, Value, detail::unordered_map::host_mirror_device<Device>, Hasher, EqualTo>;
  using HostMirror = host_mirror_type;  // Kokkos' name for it before 5

  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr bool has_const_key = std::is_const_v<Key>;
  static constexpr bool has_const_value = is_set || std::is_const_v<Value>;
  static constexpr bool is_insertable_map = !has_const_key && (is_set || !has_const_value);
  static constexpr bool is_modifiable_map = has_const_key && !has_const_value;
  static constexpr bool is_const_map = has_const_key && has_const_value;

  /// The index that find returns for keys that are not stored, of which valid_at is always false.
  static constexpr size_type invalid_index = Kokkos::UnorderedMapInvalidIndex;

  /// Makes a map for max(capacity_hint, 128) distinct keys. Its insertions are bounded (insert says
  /// what that means). At first, slots hold a default-constructed key and value. Blocks.
  /// Throws allocation_error (out of memory), std::length_error (capacity overflow: 2^32 slots or
  /// more).
  unordered_map(std::uint64_t capacity_hint = 0, hasher_type const& hasher = {},
                equal_to_type const& equal_to = {})
    requires is_insertable_map
      : m_storage((detail::user_call("unordered_map"), capacity_hint), hasher, equal_to,
                  storage::allocate_bytes) {}
  /// Makes a map in memory allocated with properties of Kokkos::view_alloc: a label, an execution
  /// space instance, a memory space instance. Otherwise as the constructor above.
  template <class Properties>
    requires(is_insertable_map && !std::is_convertible_v<Properties, std::uint64_t> &&
             std::is_constructible_v<typename storage::bytes_view, Properties, std::size_t>)
  explicit unordered_map(Properties const& properties, std::uint64_t capacity_hint = 0,
                         hasher_type const& hasher = {}, equal_to_type const& equal_to = {})
      : m_storage((detail::user_call("unordered_map"), capacity_hint), hasher, equal_to,
                  [&](std::size_t bytes) {
                    typename storage::bytes_view const memory(properties, bytes);
                    Kokkos::fence("karpos::unordered_map: its memory is there");
                    return memory;
                  }) {}
  /// Returns the bytes of a map for capacity_hint keys. Throws std::length_error (overflow).
  static std::size_t bytes_for(std::uint64_t capacity_hint) {
    detail::user_call const call("unordered_map", "bytes_for");
    return storage::bytes_for(capacity_hint);
  }
  /// Makes a map of const keys without memory, to be assigned to. find returns invalid_index.
  unordered_map()
    requires(!is_insertable_map)
  = default;

  /// Makes a map of const keys, or of const keys and values, from a map with fewer consts.
  template <class SKey, class SValue>
    requires(has_types_of<SKey, SValue> && has_const_key &&
             (has_const_value || !std::is_const_v<SValue>) &&
             !(std::is_same_v<Key, SKey> && std::is_same_v<Value, SValue>))
  KOKKOS_FUNCTION unordered_map(unordered_map<SKey, SValue, Device, Hasher, EqualTo> const& src)
      : m_storage(src.m_storage),
        m_bounded_insert(src.m_bounded_insert) {}

  // Functions of the host. They run after all work that was enqueued on the default instance of the
  // execution space; fence other instances before. Whether insertions are bounded is a property of
  // the object: a copy keeps what the original had when the copy was made.

  /// Erases everything, ends an erase phase and resets the failed_insert flag. Values in wide slots
  /// keep their bytes. Insertions through this object are bounded from now on. Blocks.
  void clear()
    requires is_insertable_map
  {
    m_bounded_insert = true;
    m_storage.clear();
  }
  /// Moves the keys to new memory for requested_capacity keys, or for all stored keys if these are
  /// more. Indices change. Copies of the map keep the old memory. Insertions through this object
  /// are then bounded if bounded_insert is true; without that argument, if the map was empty. An
  /// erase phase ends, and the failed_insert flag is reset. The new memory does not keep the label,
  /// the instance and the memory space instance of Kokkos::view_alloc. Blocks.
  /// Returns true; false for maps of const keys, which do not change.
  /// Throws what the constructor throws; the map is then as it was.
  bool rehash(std::uint64_t requested_capacity = 0) {
    return rehash(requested_capacity, capacity() == 0 || size() == 0);
  }
  bool rehash(std::uint64_t requested_capacity, bool bounded_insert) {
    if constexpr (is_insertable_map) {
      detail::user_call const call("unordered_map", "rehash");
      std::uint64_t const keys = size();
      unordered_map larger(Kokkos::max(keys, requested_capacity), hash_function(),
                           equal_function());
      if (keys != 0) {
        m_storage.insert_into(larger.m_storage);
        larger.m_storage.set_count(keys);
      }
      larger.m_bounded_insert = bounded_insert;
      *this = larger;
    }
    return is_insertable_map;
  }
  /// Returns the number of keys. Blocks. On CPUs insertions and erasures update the number; after
  /// about 64 + capacity() / 64 of them, or fewer if threads contend, the next call counts the
  /// slots. On GPUs the first call after a kernel that called insert, or erase in an erase phase,
  /// counts them. Copies share the known number.
  /// Requires: no key is inserted or erased concurrently; otherwise later calls may miss that
  ///   change.
  size_type size() const { return is_allocated() ? static_cast<size_type>(m_storage.count()) : 0; }
  /// Returns whether an insertion has failed since the map was made, cleared or rehashed, or the
  /// flag was reset. An insertion fails if it finds no free slot, or in an erase phase. Blocks.
  bool failed_insert() const { return m_storage.get(detail::unordered_map::failed) != 0; }
  /// Resets the flag that failed_insert returns. Blocks.
  void reset_failed_insert_flag() { m_storage.set(detail::unordered_map::failed, 0); }

  /// Begins an erase phase: until end_erase keys may be erased, and insertions fail. Returns false
  /// if an erase phase has begun already. Maps of const keys return true, and nothing changes.
  /// Blocks.
  bool begin_erase() const {
    if (erasable()) return false;
    if (is_insertable_map) m_storage.change_phase(detail::unordered_map::erasable);
    return true;
  }
  /// Ends an erase phase: makes the slots of erased keys free for others. Stored keys keep their
  /// indices. Returns false without a begin_erase, and for maps of const keys. Blocks.
  bool end_erase() const {
    if (!is_insertable_map || !erasable()) return false;
    m_storage.reclaim();
    m_storage.change_phase(0);
    return true;
  }
  /// Returns whether the map is in an erase phase. Blocks.
  bool erasable() const {
    return is_insertable_map &&
           (m_storage.get(detail::unordered_map::phase) & detail::unordered_map::erasable) != 0;
  }

  // Functions of the host and of kernels.

  KOKKOS_FUNCTION bool is_allocated() const { return m_storage.is_allocated(); }
  /// Returns the number of slots: indices are below it. At most capacity() keys fit. In packed
  /// slots, if keys fill their part of the slot, three slots are reserved for the three largest
  /// keys: other keys fill capacity() - 3. Keys of 8 bytes always fill it; keys of 4 bytes do in
  /// sets and if values have at most 4.
  KOKKOS_FUNCTION size_type capacity() const { return static_cast<size_type>(table().capacity()); }
  /// Returns capacity(), which also bounds indices.
  KOKKOS_FUNCTION size_type hash_capacity() const { return capacity(); }
  hasher_type hash_function() const {
    return detail::unordered_map::function_for<hasher_type>(table().hash_function());
  }
  equal_to_type equal_function() const {
    return detail::unordered_map::function_for<equal_to_type>(table().equal_function());
  }

  /// Inserts a key with a value. If the key is stored already, op changes the stored value,
  /// atomically. A bounded insertion searches at most 1,024 buckets (2,048 if a bucket has two
  /// slots). It does not fail below 98 % of capacity(), unless more keys share a hash than fit in
  /// the slots of one search: 4,096, or 8,192 if slots are wide, or packed in 4 bytes. An insertion
  /// that is not bounded (rehash) fails if no slot is free.
  /// op is default_op_type (does nothing); an operation of Kokkos::UnorderedMapInsertOpTypes; an
  /// operation with the same member op(values, index, value); karpos::plus; or a function
  /// op(stored, value) for values of four or eight bytes. op may not throw (operations.hpp says
  /// what functors may do). A set takes a number as value, and ignores it.
  /// Returns: success() if the key was inserted; existing() if it was stored already; failed(),
  ///   with the map unchanged, if there is no slot or in an erase phase. If keys are const, or the
  ///   map has no memory, always failed(), which failed_insert() does not count. Unless it failed:
  ///   index(), and list_position(), the number of buckets on the search path before the key's.
  ///   freed_existing() is never true.
  template <class Op = default_op_type>
  KOKKOS_FORCEINLINE_FUNCTION insert_result insert(key_type const& key,
                                                   inserted_value const& value = {},
                                                   [[maybe_unused]] Op const& op = {}) const {
    static_assert(!is_set || std::is_same_v<Op, default_op_type>,
                  "karpos: there is no value in a set that an operation could change");
    if constexpr (is_insertable_map) {
      if (!is_allocated()) return {};
      if (!table().try_begin_insertion()) return {};
      detail::unordered_map::place const at = table().insert(key, value, m_bounded_insert);
      if (at.what == outcome::full) table().set_failed();
      if (at.what == outcome::inserted) table().count_change(1);
      if constexpr (!is_set) {
        if (at.what == outcome::existing)
          detail::unordered_map::apply_op<Device>(table().slots().value_at(at.index), at.index,
                                                  value, op);
      }
      return detail::unordered_map::result_of(at);
    } else {
      return {};
    }
  }
  /// Inserts a key with a default-constructed std::pair, whose constructor GPUs may lack.
  KOKKOS_FORCEINLINE_FUNCTION insert_result insert(key_type const& key) const
    requires(detail::unordered_map::is_pair<inserted_value> &&
             !std::is_trivially_copyable_v<inserted_value> &&
             !detail::unordered_map::constexpr_constructible<inserted_value>)
  {
    uninitialized_pair made;
    traits::slots::blank(made.pair);
    return insert(key, made.pair);
  }
  /// Erases a key, between begin_erase and end_erase. Returns whether this call erased it.
  KOKKOS_FUNCTION bool erase(key_type const& key) const {
    if constexpr (is_insertable_map) {
      if (!is_allocated() || !table().try_begin_erasure() || !table().erase(key)) return false;
      table().count_change(-1);
      return true;
    } else {
      return false;
    }
  }
  /// Returns the index of a key, or invalid_index.
  KOKKOS_FUNCTION size_type find(key_type const& key) const {
    return static_cast<size_type>(table().template find<access>(key));
  }
  KOKKOS_FUNCTION bool exists(key_type const& key) const { return find(key) != invalid_index; }
  /// Returns whether a key is stored at index i, which may be any number.
  KOKKOS_FUNCTION bool valid_at(std::uint64_t i) const {
    return table().template valid_at<access>(i);
  }
  /// Returns the key at an index. If !valid_at(i), returns a default-constructed key; but between a
  /// key's erasure and end_erase it may still be the erased key. Requires: i < capacity().
  KOKKOS_FUNCTION key_type key_at(std::uint64_t i) const {
    KARPOS_EXPECTS(i < capacity(), "key_at takes an index below capacity()");
    return table().slots().template key_at<access>(i);
  }
  /// Returns the value at an index: a reference, or a copy if values are const. The value of an
  /// erased key stays until end_erase. A slot without a key may be written to; an insertion of a
  /// key there overwrites the value. The value is read by a plain load: if kernels or threads write
  /// it concurrently, use an atomic load. Requires: i < capacity(). Maps only.
  KOKKOS_FUNCTION decltype(auto) value_at(std::uint64_t i) const
    requires(!is_set)
  {
    KARPOS_EXPECTS(i < capacity(), "value_at takes an index below capacity()");
    using result = std::conditional_t<has_const_value, stored_value, stored_value&>;
    return static_cast<result>(*table().slots().value_at(i));
  }

  // Copies of maps, made on the host. Keys and values of the two maps differ at most by const. Each
  // call blocks. The failed_insert flag and an erase phase are copied, too. deep_copy and
  // deep_copy_view do not copy hash and equality: those of dst must have the state of those of src.
  //
  // Keys keep their indices, with one exception: dst has shallow copies, and was not made from src
  // (by create_mirror, allocate_view or create_copy_view). The shallow copies probe with dst's own
  // seed, so keys are inserted anew, at other indices. That takes a copy of src in dst's memory
  // space while it runs.

  /// Becomes a copy of src, from any device, in memory of its own. Does nothing if the two maps
  /// share memory. Throws allocation_error (out of memory).
  template <class SKey, class SValue, class SDevice>
    requires(has_types_of<SKey, SValue>)
  void create_copy_view(unordered_map<SKey, SValue, SDevice, Hasher, EqualTo> const& src) {
    if (static_cast<void*>(m_storage.memory().data()) == src.m_storage.memory().data()) return;
    detail::user_call const call("unordered_map", "create_copy_view");
    allocate_view(src);
    deep_copy_view(src);
  }
  /// Allocates memory of its own, with the capacity of src. Its contents are undefined until
  /// deep_copy_view. Throws allocation_error (out of memory).
  template <class SKey, class SValue, class SDevice>
    requires(has_types_of<SKey, SValue>)
  void allocate_view(unordered_map<SKey, SValue, SDevice, Hasher, EqualTo> const& src) {
    detail::user_call const call("unordered_map", "allocate_view");
    m_storage = storage::allocate_like(src.m_storage);
    m_bounded_insert = src.m_bounded_insert;
  }
  /// Copies the contents of src. Throws, and changes nothing: std::invalid_argument if the
  /// capacities differ; allocation_error if keys are inserted anew (see above) and there is no
  /// memory for that.
  template <class SKey, class SValue, class SDevice>
    requires(has_types_of<SKey, SValue>)
  void deep_copy_view(unordered_map<SKey, SValue, SDevice, Hasher, EqualTo> const& src) {
    detail::user_call const call("unordered_map", "deep_copy_view");
    m_storage.copy_from(src.m_storage);
  }

 private:
  template <class, class, class, class, class>
  friend class unordered_map;
  template <class K, class V, class D, class H, class E, view_1d Queries, view_1d Out>
  friend void find(typename karpos::unordered_map<K, V, D, H, E>::execution_space const&,
                   karpos::unordered_map<K, V, D, H, E> const&, Queries const&, Out const&,
                   std::remove_const_t<V> const&, bulk_options const&);
  template <class K, class V, class D, class H, class E, view_1d Queries, view_1d Out>
  friend void contains(typename karpos::unordered_map<K, V, D, H, E>::execution_space const&,
                       karpos::unordered_map<K, V, D, H, E> const&, Queries const&, Out const&,
                       bulk_options const&);
  template <class K, class V, class D, class H, class E, view_1d Queries>
  friend std::size_t lookup_bytes(
      typename karpos::unordered_map<K, V, D, H, E>::execution_space const&,
      karpos::unordered_map<K, V, D, H, E> const&, Queries const&, bulk_strategy);

  template <class Queries, class Out, class Write>
  void look_up(execution_space const& exec, char const* what, Queries const& queries,
               Out const& out, Write const& write, bulk_options const& bulk) const {
    detail::user_call const call(what);
    detail::require_key_type<key_type, Queries>();
    m_storage.require_memory();
    detail::look_up<storage::prefetch_distance>(
        exec, storage::label(what), [&](auto const& f) { f(m_storage.view()); },
        m_storage.slot_bytes(), queries, out, write, detail::everything{}, bulk);
  }
  template <class Queries>
  std::size_t lookup_bytes(execution_space const& exec, Queries const& queries,
                           bulk_strategy strategy) const {
    detail::user_call const call("lookup_bytes");
    using result = std::conditional_t<is_set, bool, stored_value>;
    detail::require_enumerators(strategy);
    m_storage.require_memory();
    return detail::lookup_bytes<result>(exec, m_storage.view(), m_storage.slot_bytes(), queries,
                                        strategy);
  }

  union uninitialized_pair {
    KOKKOS_FUNCTION uninitialized_pair() {}
    inserted_value pair;
  };

  /// How kernels read slots. While kernels use maps of const keys, no key is inserted or erased, so
  /// GPUs may read such maps through any cache. CPUs read all maps by atomic loads: compilers hoist
  /// plain loads out of loops, and then spill the values (keys of 16 bytes with values of 24: 136
  /// instructions a hit instead of 115).
  static constexpr auto access = has_const_key && device::is_device<execution_space>
                                     ? device::access::frozen
                                     : device::access::shared;

  KOKKOS_FUNCTION typename storage::table_type const& table() const { return m_storage.view(); }

  storage m_storage;
  bool m_bounded_insert = true;
};

/// Writes the value of each query to out, or `missing`, by default Value{}, if the query is not
/// stored. Queries have the key type; the elements of out are of the map's value type, or of a type
/// that holds each of its values. out may be the memory of queries if both have elements of the
/// same size and equal strides: result i then overwrites query i. Values are trivially copyable and
/// default-constructible. Asynchronous; blocks if queries or out are on the host and the map is on
/// a device, or if it allocates a workspace and the GPU has no stream-ordered memory for it.
/// Concurrency: no key is inserted or erased, and no value changed, until it has run.
/// Memory: as find of hash_map (karpos/lookup_table.hpp): many queries of a large map are split by
///   region of the table on GPUs, in a workspace of lookup_bytes(), bulk.workspace or allocated.
/// Throws std::invalid_argument if queries and out have different lengths or overlap in another
///   way, or for an unknown strategy; std::logic_error if the map has no memory.
template <class Key, class Value, class Device, class Hasher, class EqualTo, view_1d Queries,
          view_1d Out>
void find(typename unordered_map<Key, Value, Device, Hasher, EqualTo>::execution_space const& exec,
          unordered_map<Key, Value, Device, Hasher, EqualTo> const& map, Queries const& queries,
          Out const& out, std::remove_const_t<Value> const& missing = {},
          bulk_options const& bulk = {}) {
  using value = std::remove_const_t<Value>;
  detail::require_result_type<value, Out>();
  map.look_up(exec, "find", queries, out, detail::value_or<value>{missing}, bulk);
}
/// Writes to out whether each query is stored. Otherwise as find; of sets, too.
template <class Key, class Value, class Device, class Hasher, class EqualTo, view_1d Queries,
          view_1d Out>
void contains(
    typename unordered_map<Key, Value, Device, Hasher, EqualTo>::execution_space const& exec,
    unordered_map<Key, Value, Device, Hasher, EqualTo> const& map, Queries const& queries,
    Out const& out, bulk_options const& bulk = {}) {
  map.look_up(exec, "contains", queries, out, detail::presence{}, bulk);
}
/// Returns the bytes of workspace that find and contains of these queries take: 0 if they are
/// direct. Throws std::invalid_argument for an unknown strategy, std::logic_error if the map has no
/// memory.
template <class Key, class Value, class Device, class Hasher, class EqualTo, view_1d Queries>
std::size_t lookup_bytes(
    typename unordered_map<Key, Value, Device, Hasher, EqualTo>::execution_space const& exec,
    unordered_map<Key, Value, Device, Hasher, EqualTo> const& map, Queries const& queries,
    bulk_strategy strategy = bulk_strategy::automatic) {
  return map.lookup_bytes(exec, queries, strategy);
}

/// Copies the contents of a map, of the same types but for const, from any device to any other.
/// Which indices stay, and what else is copied: see "Copies of maps" above. Blocks.
/// Requires: dst has the capacity of src, as a map from create_mirror has (else throws
///   std::invalid_argument). Hash and equality of both maps have equal state.
/// Throws allocation_error as deep_copy_view does.
template <class DKey, class DValue, class DDevice, class SKey, class SValue, class SDevice,
          class Hasher, class EqualTo>
  requires(std::is_same_v<std::remove_const_t<DKey>, std::remove_const_t<SKey>> &&
           std::is_same_v<std::remove_const_t<DValue>, std::remove_const_t<SValue>>)
void deep_copy(unordered_map<DKey, DValue, DDevice, Hasher, EqualTo>& dst,
               unordered_map<SKey, SValue, SDevice, Hasher, EqualTo> const& src) {
  detail::user_call const call("deep_copy");
  dst.deep_copy_view(src);
}
/// Returns a map in memory that the host reaches, with the capacity of src, as a destination of
/// deep_copy. Throws allocation_error (out of memory).
template <class Key, class Value, class Device, class Hasher, class EqualTo>
auto create_mirror(unordered_map<Key, Value, Device, Hasher, EqualTo> const& src) {
  detail::user_call const call("create_mirror");
  typename unordered_map<Key, Value, Device, Hasher, EqualTo>::host_mirror_type dst;
  dst.allocate_view(src);
  return dst;
}

}  // namespace karpos

namespace Kokkos {
// Callers of functions of Kokkos::UnorderedMap write Kokkos::create_mirror and Kokkos::deep_copy.
using karpos::create_mirror, karpos::deep_copy;
}  // namespace Kokkos
