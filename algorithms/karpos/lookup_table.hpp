// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/common/host_views.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/tables/lookup_access.hpp"
#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/region_split.hpp"
#include "karpos/detail/tables/region_tally.hpp"
#include "karpos/detail/tables/scans.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/map_ref.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// Lookups in every map and set: in bulk from the host, and one key at a time on the host.
// Operations that change a table: karpos/hash_table.hpp.

namespace karpos {

/// Bulk lookups. They read like a frozen ref: they assume that no other thread changes the table.
/// They see what earlier work on the same execution space instance wrote. They must not run
/// concurrently with operations that change the table on another instance. A call on a table
/// without memory throws std::logic_error, but not size, empty, retrieve_all, begin and end, which
/// find no key.
///
/// find, find_if, contains, contains_if and for_each only enqueue, with two exceptions. All but
/// for_each block if queries, outputs or the stencil are on the host and the table is on a device
/// (hash_table.hpp). find and contains also block if they allocate a workspace and the GPU has no
/// stream-ordered memory for it. reduce says when it blocks.
///
/// Storage owns the memory of a table and offers: with_ref(f), which calls f with the table as
/// kernels see it (probe.hpp); slot_count() and scan_ref(), for scans; size(), if it is known
/// without a scan; label(what), the label of a kernel; prefetch_distance, the keys in flight per
/// CPU thread.
template <class Storage>
class lookup_table {
 public:
  using key_type = typename Storage::key_type;
  using mapped_type = typename Storage::mapped_type;
  using execution_space = typename Storage::execution_space;
  using memory_space = typename Storage::memory_space;
  static constexpr bool has_values = Storage::layout::has_value;
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory_space>::accessible;

  /// Writes the value of each query to out, or `missing` if the query is not stored, by default
  /// mapped_type{}: zero for numbers. Asynchronous. A query may be of any type that the map's hash
  /// and equality take (cuckoo_map: the key's type). The elements of out are of the map's value
  /// type, or of a type that holds each of its values. Maps only. out may be the memory of queries
  /// if both have elements of the same size and equal strides. Result i then overwrites query i,
  /// and lookups are direct.
  /// Memory: if queries are split by region of the table (bulk_strategy), a workspace of
  ///   lookup_bytes(): bulk.workspace, which must live until the lookups have run, or allocated. If
  ///   there is no memory for it, or the given one is too small or not aligned, or views are on the
  ///   host, lookups are direct.
  /// Throws std::invalid_argument if queries and out have different lengths or overlap in another
  ///   way, or for an unknown strategy.
  template <view_1d Queries, view_1d Out>
    requires has_values
  void find(execution_space const& exec, Queries const& queries, Out const& out,
            mapped_type const& missing = {}, bulk_options const& bulk = {}) const {
    detail::require_result_type<mapped_type, Out>();
    look_up(exec, "find", queries, out, detail::value_or<mapped_type>{missing},
            detail::everything{}, bulk);
  }
  /// Does what find does for the queries with predicate(stencil(i)); writes `missing` for the
  /// others. Asynchronous. Maps only.
  template <view_1d Queries, view_1d Out, view_1d Stencil, class Predicate = detail::as_bool>
    requires has_values
  void find_if(execution_space const& exec, Queries const& queries, Out const& out,
               mapped_type const& missing, Stencil const& stencil,
               Predicate const& predicate = {}) const {
    detail::require_result_type<mapped_type, Out>();
    look_up(exec, "find_if", queries, out, detail::value_or<mapped_type>{missing},
            detail::where{stencil, predicate});
  }
  /// Writes to out whether each query is stored. Asynchronous.
  /// Memory, Throws: as find.
  template <view_1d Queries, view_1d Out>
  void contains(execution_space const& exec, Queries const& queries, Out const& out,
                bulk_options const& bulk = {}) const {
    look_up(exec, "contains", queries, out, detail::presence{}, detail::everything{}, bulk);
  }
  /// Does what contains does for the queries with predicate(stencil(i)); writes false for the
  /// others. Asynchronous.
  template <view_1d Queries, view_1d Out, view_1d Stencil, class Predicate = detail::as_bool>
  void contains_if(execution_space const& exec, Queries const& queries, Out const& out,
                   Stencil const& stencil, Predicate const& predicate = {}) const {
    look_up(exec, "contains_if", queries, out, detail::presence{},
            detail::where{stencil, predicate});
  }

  /// Returns the bytes of workspace that find, contains, count and erase of these queries take at
  /// most: 0 if all of them are direct. Throws std::invalid_argument for an unknown strategy,
  /// std::logic_error if the table has no memory.
  template <view_1d Queries>
  std::size_t lookup_bytes(execution_space const& exec, Queries const& queries,
                           bulk_strategy strategy = bulk_strategy::automatic) const {
    detail::user_call const call(Storage::name, "lookup_bytes");
    using result = std::conditional_t<has_values, mapped_type, bool>;
    return Kokkos::max({lookup_bytes_for<result>(exec, queries, strategy),
                        lookup_bytes_for<bool>(exec, queries, strategy),
                        tally_bytes(exec, queries, strategy)});
  }

  /// Returns how many of the queries are stored. Blocks. Memory: as find. Throws
  /// std::invalid_argument for an unknown strategy.
  template <view_1d Queries>
  std::uint64_t count(execution_space const& exec, Queries const& queries,
                      bulk_options const& bulk = {}) const {
    detail::user_call const call(Storage::name, "count");
    require_queries<Queries>();
    detail::require_enumerators(bulk.strategy);
    require_memory();
    std::uint64_t n = 0;
    detail::in_batches(
        exec, queries.extent(0),
        [&](auto const& instance, auto const& batch) {
          n += count_present(instance, batch, detail::options_of_batch(exec, instance, bulk));
        },
        detail::input{queries});
    return n;
  }

  /// Calls visit(key, value), or visit(key) for a set, in a kernel for everything that is stored.
  /// Asynchronous. visit may not throw (operations.hpp says what functors may do).
  template <class Visit>
  void for_each(execution_space const& exec, Visit const& visit) const {
    require_memory("for_each");
    auto const table = m_storage.scan_ref();
    device::loop_over(label("for_each"), exec, m_storage.slot_count(),
                      device::make_body<execution_space, detail::visit_body>(table, visit));
  }
  /// Calls visit(key, value) in a kernel for every pair. If visit takes the value by reference and
  /// changes it, the new value is stored. Asynchronous. Every call through a name that is not const
  /// selects this overload, even if visit only reads.
  /// Concurrency: must not run concurrently with anything else that uses the map. To read only,
  ///   call it through a const reference: the overload above may run concurrently with lookups.
  template <class Visit>
    requires has_values
  void for_each(execution_space const& exec, Visit const& visit) {
    require_memory("for_each");
    auto const table = m_storage.scan_ref();
    device::loop_over(label("for_each"), exec, m_storage.slot_count(),
                      device::make_body<execution_space, detail::update_body>(table, visit));
  }
  /// Reduces over everything that is stored: calls visit(key, value, partial), or visit(key,
  /// partial) for a set, in a kernel. `reducer` is a reducer of Kokkos, such as
  /// Kokkos::Sum<double>(total). Partial results are joined in any order, by the rules of
  /// Kokkos::parallel_reduce. Blocks if the result is a scalar.
  template <class Visit, class Reducer>
  void reduce(execution_space const& exec, Visit const& visit, Reducer const& reducer) const {
    require_memory("reduce");
    auto const table = m_storage.scan_ref();
    using body = detail::reduce_body<decltype(table), Visit, typename Reducer::value_type>;
    Kokkos::parallel_reduce(label("reduce"), detail::index_range(exec, m_storage.slot_count()),
                            body{table, visit}, reducer);
  }
  /// Writes every pair to two views, in no particular order. Returns the number of pairs. Blocks.
  /// Throws std::invalid_argument if the views have different lengths or fewer than size()
  /// elements. Maps only.
  template <view_1d KeysOut, view_1d ValuesOut>
    requires has_values
  std::uint64_t retrieve_all(execution_space const& exec, KeysOut const& keys,
                             ValuesOut const& values) const {
    detail::require_reachable<execution_space, ValuesOut>();
    detail::user_call const call(Storage::name, "retrieve_all");
    detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
    return retrieve(exec, keys, values);
  }
  /// Writes every key of a set to a view, in no particular order. Returns the number of keys.
  /// Blocks. Throws std::invalid_argument if the view has fewer than size() elements.
  template <view_1d KeysOut>
    requires(!has_values)
  std::uint64_t retrieve_all(execution_space const& exec, KeysOut const& keys) const {
    return retrieve(exec, keys, detail::constant<mapped_type>{});
  }
  /// Returns the number of keys. Complexity: constant for cuckoo_map and cuckoo_set, and for others
  /// while it is known (hash_table::size); otherwise the table is read once, which blocks.
  std::uint64_t size(execution_space const& exec) const {
    if constexpr (requires { m_storage.size(); })
      return m_storage.size();
    else
      return scan_slots(exec).live;
  }
  bool empty(execution_space const& exec) const { return size(exec) == 0; }
  /// Returns the number of keys, by a default instance. If the number is not known, Kokkos::fence
  /// waits for all work first; the calls above wait for one instance.
  std::uint64_t size() const {
    Kokkos::fence("karpos: size without an instance");
    return size(execution_space());
  }

  // One key at a time on the host, for tables in memory that the host reaches (create_host_mirror
  // makes one), while no kernel changes the table. Queries are of the types that bulk calls take.

  /// Returns a copy of the value, or nothing if the key is not stored. Maps only.
  template <class Query>
    requires(has_values && on_host)
  found<mapped_type> find(Query const& query) const {
    return find_one("find", query);
  }
  template <class Query>
    requires on_host
  bool contains(Query const& query) const {
    return find_one("contains", query).present;
  }
  // These overloads refuse, by an error of one sentence, calls in kernels that captured the table
  // instead of ref(), and bulk calls without an execution space instance.
  template <detail::not_an_instance<execution_space> First, class... Rest>
    requires(!on_host || sizeof...(Rest) > 0)
  detail::call_without_instance<First> find(First const&, Rest const&...) const;
  template <detail::not_an_instance<execution_space> First, class... Rest>
    requires(!on_host || sizeof...(Rest) > 0)
  detail::call_without_instance<First> contains(First const&, Rest const&...) const;
  template <detail::not_an_instance<execution_space> First, class... Rest>
  detail::call_without_instance<First> insert(First const&, Rest const&...) const;
  template <detail::not_an_instance<execution_space> First, class... Rest>
  detail::call_without_instance<First> insert_or_assign(First const&, Rest const&...) const;
  template <detail::not_an_instance<execution_space> First, class... Rest>
  detail::call_without_instance<First> erase(First const&, Rest const&...) const;
  /// Iterates over everything that is stored, in no particular order. The forward iterators return
  /// copies: a std::pair of key and value, or a key.
  auto begin() const
    requires on_host
  {
    return detail::slot_iterator(m_storage.scan_ref(), 0, m_storage.slot_count());
  }
  auto end() const
    requires on_host
  {
    return detail::slot_iterator(m_storage.scan_ref(), m_storage.slot_count(),
                                 m_storage.slot_count());
  }

 protected:
  explicit lookup_table(Storage&& s) : m_storage(std::move(s)) {}
  lookup_table(lookup_table const&) = delete;  // kernels capture ref() instead; deep_copy copies
  // Tables are moved by these functions. A moved-from table has no memory.
  lookup_table(lookup_table&& other) : m_storage(std::move(other.m_storage)) {
    other.m_storage.release();
  }
  lookup_table& operator=(lookup_table&& other) {
    if (this == &other) return *this;
    m_storage = std::move(other.m_storage);
    other.m_storage.release();
    return *this;
  }
  /// Throws std::logic_error if the table has no memory. `what` names a call that makes no
  /// detail::user_call of its own: that would slow down lookups of one key.
  void require_memory(char const* what = nullptr) const {
    if (m_storage.slot_count() != 0) return;
    detail::user_call const call(Storage::name, what);
    detail::reject<std::logic_error>("this table has no memory",
                                     "it was default-constructed or moved from",
                                     "assign one to it first");
  }
  std::string label(char const* what) const { return m_storage.label(what); }
  std::uint64_t table_bytes() const {
    return m_storage.slot_count() * sizeof(typename Storage::layout::word);
  }
  /// Counts the slots that hold keys (live), and those that hold tombstones (dead). Blocks.
  detail::slot_counts scan_slots(execution_space const& exec) const {
    auto const table = m_storage.scan_ref();
    detail::slot_counts n;
    Kokkos::parallel_reduce(label("count slots"), detail::index_range(exec, m_storage.slot_count()),
                            detail::count_slots_body<decltype(table)>{table}, n.live, n.dead);
    return n;
  }

  template <class Queries>
  std::uint64_t count_present(execution_space const& exec, Queries const& queries,
                              bulk_options const& bulk = {}) const {
    detail::require_reachable<execution_space, Queries>();
    std::uint64_t n = 0;
    m_storage.with_ref([&](auto const& table) {
      detail::stored_count counted;
      if (try_by_regions(exec, "count", table, queries, bulk, detail::max_table_bytes_per_query,
                         detail::count_rows<std::decay_t<decltype(table)>>{table}, counted)) {
        n = counted.stored;
        return;
      }
      n = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
          label("count"), exec, queries.extent(0),
          device::make_body<execution_space, detail::count_present_body>(table, queries));
    });
    return n;
  }

  /// Handles keys by regions of the table, if that is planned and there is memory. Returns whether
  /// it did; then adds the outcomes to `done`. Blocks.
  template <class Table, class Keys, class MakeBody, class Tally>
  bool try_by_regions(execution_space const& exec, char const* what, Table const& table,
                      Keys const& keys, bulk_options const& bulk, std::uint64_t max_bytes_per_key,
                      MakeBody const& make_body, Tally& done) const {
    if constexpr (detail::may_split_by_region<execution_space, Table, Keys>)
      return detail::try_tally_by_regions(
          exec, label(what), table,
          detail::plan_regions(exec, table_bytes(), keys.extent(0), bulk.strategy,
                               max_bytes_per_key),
          keys.extent(0), bulk.workspace,
          [&](std::uint64_t first, std::uint64_t last) {
            return detail::source_of_keys<execution_space>(keys, first, last);
          },
          make_body, done);
    return false;
  }

  template <class Queries, class Out, class Write, class Stencil>
  void look_up(execution_space const& exec, char const* what, Queries const& queries,
               Out const& out, Write const& write, Stencil const& stencil,
               bulk_options const& bulk = {}) const {
    detail::user_call const call(Storage::name, what);
    require_queries<Queries>();
    require_memory();
    detail::look_up<distance>(
        exec, label(what), [&](auto const& f) { m_storage.with_ref(f); }, table_bytes(), queries,
        out, write, stencil, bulk);
  }
  /// Returns the bytes of workspace that lookups with results of type Result take.
  template <class Result, class Queries>
  std::size_t lookup_bytes_for(execution_space const& exec, Queries const& queries,
                               bulk_strategy strategy) const {
    detail::require_enumerators(strategy);
    require_memory();
    std::size_t bytes = 0;
    m_storage.with_ref([&](auto const& table) {
      bytes = detail::lookup_bytes<Result>(exec, table, table_bytes(), queries, strategy);
    });
    return bytes;
  }

  Storage m_storage;

 private:
  friend struct detail::lookup_access;
  /// Returns the bytes of workspace that count and erase take at most.
  template <class Queries>
  std::size_t tally_bytes(execution_space const& exec, Queries const& queries,
                          bulk_strategy strategy) const {
    std::size_t bytes = 0;
    m_storage.with_ref([&](auto const& table) {
      using table_type = std::decay_t<decltype(table)>;
      if constexpr (detail::may_split_by_region<execution_space, table_type, Queries>) {
        auto const plan = detail::plan_regions(exec, table_bytes(), queries.extent(0), strategy,
                                               detail::max_table_bytes_per_change);
        if (plan.is_direct()) return;
        auto const keys = detail::source_of_keys<execution_space>(
            queries, 0, Kokkos::min(std::uint64_t(queries.extent(0)), plan.batch));
        using source = std::remove_const_t<decltype(keys)>;
        bytes = detail::region_tally<erase_report, execution_space, table_type, source>(exec, table,
                                                                                        keys, plan)
                    .bytes();
      }
    });
    return bytes;
  }
  static constexpr int distance = Storage::prefetch_distance;

  template <class Queries>
  static constexpr void require_queries() {
    if constexpr (requires { requires Storage::exact_queries; })
      detail::require_key_type<key_type, Queries>();
  }
  template <class Query>
  found<mapped_type> find_one(char const* what, Query const& query) const {
    if constexpr (requires { requires Storage::exact_queries; })
      detail::require_query_type<key_type, Query>();
    require_memory(what);
    found<mapped_type> answer;
    m_storage.with_ref([&](auto const& table) {
      using thread = detail::one_thread<decltype(table)>;
      if (!table.reserved(query))
        answer = detail::find_in<device::access::frozen>(table, thread{}, query);
    });
    return answer;
  }
  template <class KeysOut, class ValuesOut>
  std::uint64_t retrieve(execution_space const& exec, KeysOut const& keys,
                         ValuesOut const& values) const {
    detail::user_call const call(Storage::name, "retrieve_all");
    detail::require_reachable<execution_space, KeysOut>();
    if (keys.extent(0) < m_storage.slot_count())
      detail::require_length("a view", keys.extent(0), size(exec), "keys");
    auto const table = m_storage.scan_ref();
    std::uint64_t n = 0;
    Kokkos::parallel_scan(
        label("retrieve_all"), detail::index_range(exec, m_storage.slot_count()),
        detail::retrieve_body<decltype(table), KeysOut, ValuesOut>{table, keys, values}, n);
    return n;
  }
};

/// Returns a copy of a table in the host's memory, for lookups there one key at a time. It is a
/// whole table, so that bulk calls work on it, too. Blocks. Waits only for work on exec: fence
/// other instances that change the table before.
/// Throws what deep_copy throws: allocation_error, and std::invalid_argument for a multimap or
///   multiset with pending pairs (multi_table.hpp).
template <class Map>
typename Map::host_mirror_type create_host_mirror(typename Map::execution_space const& exec,
                                                  Map const& map) {
  detail::user_call const call("create_host_mirror");
  typename Map::host_mirror_type mirror;
  exec.fence("karpos::create_host_mirror: what changes the table has run");
  deep_copy(Kokkos::DefaultHostExecutionSpace{}, mirror, map);
  return mirror;
}

}  // namespace karpos
