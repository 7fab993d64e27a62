// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/join/plan.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/detail/tables/multi_table/batch.hpp"
#include "karpos/detail/tables/multi_table/blocks.hpp"
#include "karpos/detail/tables/multi_table/index.hpp"
#include "karpos/detail/tables/multi_table/matches.hpp"
#include "karpos/detail/tables/multi_table/pending.hpp"
#include "karpos/detail/tables/multi_table/plan.hpp"
#include "karpos/detail/tables/scans.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash_map.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// The host driver of hash_multimap and hash_multiset. Contracts: karpos/multi_table.hpp.

namespace karpos::detail::multi_table {

/// The types that a hash_multimap or hash_multiset consists of. T: no_value of a set.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing, int B,
          class Number>
struct traits {
  static_assert(std::is_trivially_copyable_v<T>, "karpos: values must be trivially copyable");
  static_assert(sizeof(Key) <= 8,
                "karpos: keys of a hash_multimap or hash_multiset have at most eight bytes: use an "
                "index of the large key, or karpos::row_index");
  static_assert(sizeof(Number) == 4 || sizeof(Number) == 8,
                "karpos: pair numbers are std::uint32_t or std::uint64_t");
  using key_type = Key;
  using mapped_type = T;
  using execution_space = ExecSpace;
  using index_type = index<hash_map<Key, Number, ExecSpace, Hash, KeyEqual, Probing, B>>;
  using storage_type = std::conditional_t<is_no_value<T>, count_storage<Number, ExecSpace>,
                                          value_storage<T, Number, ExecSpace>>;
};

/// The table of a hash_multimap or hash_multiset: the table of keys, the values, and pending pairs.
template <class Traits>
class table {
 public:
  using key_type = typename Traits::key_type;
  using mapped_type = typename Traits::mapped_type;
  using execution_space = typename Traits::execution_space;
  using memory_space = typename execution_space::memory_space;
  using index_type = typename Traits::index_type;
  using storage_type = typename Traits::storage_type;
  using blocks_type = typename storage_type::blocks_type;
  using number = typename blocks_type::mapped;
  using index_ref_type = decltype(std::declval<index_type const&>().table());
  using slots_type = keys_of_slots<index_ref_type, blocks_type>;
  using no_values = constant<no_value>;
  static constexpr bool has_values = blocks_type::has_values;
  static constexpr char const* name = has_values ? "hash_multimap" : "hash_multiset";

  table() = default;
  table(execution_space const& exec, std::uint64_t max_pairs, std::uint64_t max_keys,
        hash_table_options<key_type> const& o, typename index_type::hasher const& hash,
        typename index_type::key_equal const& equal, user_call const& = user_call(name))
      : m_index(exec, (require_pairs(max_pairs), max_keys), o, hash, equal),
        m_storage(exec, max_pairs) {}
  table(table&& other) : table() { swap(other); }
  table& operator=(table&& other) {
    table taken(std::move(other));
    swap(taken);
    return *this;
  }

  index_type const& index() const { return m_index; }
  blocks_type blocks() const { return m_storage.blocks(); }
  slots_type slots() const { return slots_type(m_index.table()); }
  std::uint64_t size() const { return m_size; }
  std::uint64_t batches() const { return m_batches; }
  std::uint64_t max_pairs() const { return m_storage.pair_capacity(); }
  static std::size_t insert_bytes(execution_space const& exec, std::uint64_t pairs) {
    return bytes_of_batch<blocks_type, typename index_type::key_equal, key_type>(exec, pairs);
  }

  template <class Keys, class Values>
  insert_report insert(execution_space const& exec, Keys const& keys, Values const& values,
                       wrapped_memory const& workspace) {
    user_call const call(name, "insert");
    auto const each = values_for<mapped_type>(keys, values);
    require_key_type<key_type, Keys>();
    require_reachable<execution_space, Keys, view_type_of<decltype(each)>>();
    m_index.require_memory();
    require_workspace("insert_bytes(exec, pairs)", workspace, insert_bytes(exec, keys.extent(0)));
    insert_pending(exec);
    insert_report const report = insert_all(exec, keys, each, workspace);
    reject_invalid(report, keys.extent(0));
    return report;
  }

  template <class Keys, class Values>
  void append(execution_space const& exec, Keys const& keys, Values const& values) {
    user_call const call(name, "insert_async");
    auto const each = values_for<mapped_type>(keys, values);
    require_key_type<key_type, Keys>();
    require_reachable<execution_space, Keys, view_type_of<decltype(each)>>();
    m_index.require_memory();
    if (keys.extent(0) == 0) return;
    auto const pending = ref(exec, keys.extent(0));
    device::loop_over("karpos::multi_table: append", exec, keys.extent(0),
                      device::make_body<execution_space, append_pairs>(pending, keys, each));
  }

  auto ref(execution_space const& exec, std::uint64_t pair_capacity) {
    user_call const call(name, "ref");
    m_index.require_memory();
    // At least 1: offered pairs are counted only if some are reserved.
    pair_capacity = Kokkos::max(pair_capacity, std::uint64_t(1));
    if (pair_capacity > m_pending.pair_capacity() - m_pending.reserved_pairs) {
      insert_pending(exec);
      if (pair_capacity > m_pending.pair_capacity()) m_pending = {exec, pair_capacity};
    }
    m_pending.reserved_pairs += pair_capacity;
    return m_pending.ref(m_index.table());
  }

  insert_report consolidate(execution_space const& exec) {
    user_call const call(name, "consolidate");
    m_index.require_memory();
    insert_pending(exec);
    if (m_batches > 1 || m_end > m_size) join_blocks(exec, max_pairs());
    return std::exchange(m_pending_report, {});
  }

  template <class Keys>
  std::uint64_t erase(execution_space const& exec, Keys const& keys) {
    user_call const call(name, "erase");
    require_key_type<key_type, Keys>();
    require_reachable<execution_space, Keys>();
    m_index.require_memory();
    if (keys.extent(0) > max_pair_count)
      reject("too many keys to erase at once",
             std::to_string(keys.extent(0)) + " of at most " + std::to_string(max_pair_count),
             "erase a part of them after the other");
    insert_pending(exec);
    batch_type const groups(exec, m_index, key_counts<number>{}, 0, keys, no_values{});
    std::uint64_t const erased =
        groups.count("karpos::multi_table: count erased", exec, m_index.table(), blocks(), true);
    m_index.erase(exec, groups.keys());
    m_size -= erased;
    if (!has_values) m_end = m_size;
    return erased;
  }

  void clear(execution_space const& exec) {
    m_index.clear(exec);
    m_pending.clear(exec);
    m_end = m_size = m_consolidated = m_batches = 0;
  }

  void rehash(execution_space const& exec, std::uint64_t pairs, std::uint64_t keys) {
    user_call const call(name, "rehash");
    require_pairs(pairs);
    m_index.require_memory();
    insert_pending(exec);
    if (pairs < m_size)
      throw capacity_error("the stored pairs would not fit", m_size, pairs, m_size, "max_pairs");
    m_index.rehash(exec, keys);
    join_blocks(exec, pairs);
  }

  template <class Queries>
  auto matches_of(execution_space const& exec, Queries const& queries,
                  std::uint64_t unmatched_count) const {
    using heads_type = Kokkos::View<number*, memory_space>;
    std::uint64_t const n = queries.extent(0);
    auto const heads = allocate_or_explain<memory_space>(
        n * sizeof(number), "the heads of queries", "ask for fewer keys at once",
        [&] { return uninitialized_array<heads_type>(exec, "karpos::multi_table: heads", n); });
    m_index.find(exec, queries, heads, blocks_type::none);
    return matches<execution_space, heads_of_queries<blocks_type>, blocks_type>(
        exec, {heads.data()}, n, blocks(), unmatched_count, heads);
  }

  template <class Queries, class QueriesOut, class... ValuesOut>
  std::uint64_t write_matches(execution_space const& exec, Queries const& queries,
                              mapped_type const& missing, std::uint64_t unmatched_count,
                              QueriesOut const& out_queries, ValuesOut const&... out_values) const {
    user_call const call(name, unmatched_count == 0 ? "retrieve" : "retrieve_outer");
    require_reachable<execution_space, ValuesOut...>();
    (require_result_type<mapped_type, ValuesOut>(), ...);
    (require_same_extent("query numbers", out_queries.extent(0), "values", out_values.extent(0)),
     ...);
    char const* const what = "the view for numbers of queries";
    join::require_numbers<execution_space>(what, out_queries, queries.extent(0));
    auto found = matches_of(exec, queries, unmatched_count);
    require_length(what, out_queries.extent(0), found.size());
    emit(exec, found,
         write_element<query_numbers, mapped_type, QueriesOut, ValuesOut...>{
             {}, missing, out_queries, {{out_values}...}});
    return found.size();
  }

  template <class KeysOut, class... ValuesOut>
  std::uint64_t write_all(execution_space const& exec, KeysOut const& keys,
                          ValuesOut const&... values) const {
    user_call const call(name, "retrieve_all");
    require_reachable<execution_space, KeysOut, ValuesOut...>();
    (require_same_extent("keys", keys.extent(0), "values", values.extent(0)), ...);
    auto pairs = all_pairs(exec);
    require_length("the view for keys", keys.extent(0), pairs.size());
    emit(exec, pairs,
         write_element<slots_type, no_value, KeysOut, ValuesOut...>{
             slots(), {}, keys, {{values}...}});
    return pairs.size();
  }

  template <class Other>
  void copy_from(execution_space const& exec, table<Other> const& src) {
    user_call const call("deep_copy");
    if (std::uint64_t const n = src.m_pending.count(); n > 0)
      reject("a table with pending pairs cannot be copied",
             std::to_string(n) + " pairs are pending", "consolidate it first");
    storage_type const fresh(exec, src.m_storage.pair_capacity());
    fresh.copy_from(exec, src.m_storage, src.m_end);
    deep_copy(exec, m_index, src.m_index);
    exec.fence("karpos::deep_copy: the source may change once this returns");
    m_storage = fresh;
    m_pending.clear(exec);
    m_pending_report = src.m_pending_report;
    m_end = src.m_end;
    m_size = src.m_size;
    m_consolidated = src.m_consolidated;
    m_batches = src.m_batches;
  }

  template <class Queries, class Out, class Write>
  void look_up(char const* label, execution_space const& exec, Queries const& queries,
               Out const& out, Write const& write, bulk_options const& bulk) const {
    require_reachable<execution_space, Queries, Out>();
    m_index.look_up(label, exec, queries, out, write, bulk);
  }
  auto all_pairs(execution_space const& exec) const {
    m_index.require_memory();
    return matches<execution_space, slots_type, blocks_type>(exec, slots(), m_index.capacity(),
                                                             blocks());
  }
  /// Emits all matches, and blocks, because the memory of the matches is freed then.
  template <class Matches, class Emit>
  void emit(execution_space const& exec, Matches&& matches, Emit const& emit) const {
    matches.emit(exec, m_batches, emit);
    exec.fence("karpos::multi_table: before the offsets are freed");
  }

 private:
  template <class>
  friend class table;
  using batch_type = batch<execution_space, key_type, number>;
  static constexpr std::uint64_t max_pair_count = row_index::max_rows<number>;
  /// Chains of up to this length are not consolidated by insertions. Longer ones are, once the
  /// pairs inserted since the last consolidation are half as many as those before.
  static constexpr std::uint64_t chain_to_consolidate = 8;

  static void require_pairs(std::uint64_t n) {
    if (has_values && n > max_pair_count)
      reject(
          "pair numbers of a table have too small a type",
          std::to_string(n) + " pairs of at most " + std::to_string(max_pair_count),
          sizeof(number) == 4 ? "make it with PairNumber = std::uint64_t" : "make several tables");
  }

  template <class Keys>
  std::uint64_t count_sentinels(execution_space const& exec, Keys const& keys) const {
    return count_reserved_keys("karpos::multi_table: count sentinels", exec, m_index.table().slot(),
                               keys);
  }

  void swap(table& other) {
    std::swap(m_index, other.m_index);
    std::swap(m_storage, other.m_storage);
    std::swap(m_pending, other.m_pending);
    std::swap(m_pending_report, other.m_pending_report);
    std::swap(m_end, other.m_end);
    std::swap(m_size, other.m_size);
    std::swap(m_consolidated, other.m_consolidated);
    std::swap(m_batches, other.m_batches);
  }

  /// Inserts pairs as long as there is capacity for any.
  template <class Keys, class Values>
  insert_report insert_all(execution_space const& exec, Keys const& keys, Values const& values,
                           wrapped_memory const& workspace) {
    std::uint64_t const n = keys.extent(0);
    insert_report all;
    for (std::uint64_t first = 0; first < n;) {
      std::uint64_t const last = first + Kokkos::min(reserve_pairs(exec, n - first), n - first);
      if (first == last) {
        std::uint64_t const invalid = count_sentinels(exec, slice_of(keys, first, n));
        all += {0, 0, n - first - invalid, invalid};
        break;
      }
      all +=
          insert_batch(exec, slice_of(keys, first, last), slice_of(values, first, last), workspace);
      first = last;
    }
    shorten_chains(exec);
    return all;
  }

  template <class Keys, class Values>
  insert_report insert_batch(execution_space const& exec, Keys const& keys, Values const& values,
                             wrapped_memory const& workspace) {
    std::uint64_t const n = keys.extent(0);
    batch_type const groups(exec, m_index, blocks(), m_end, keys, values, workspace);
    insert_report report;
    if (groups.has_reserved) report.invalid = count_sentinels(exec, keys);
    ++m_batches;
    m_end += n;  // before the first block is chained
    bulk_options const in_rest{.workspace = groups.workspace(
                                   m_index.grows() ? 0 : m_index.insert_bytes(exec, groups.size))};
    insert_report of_keys;
    try {
      of_keys = m_index.insert_or_apply(exec, groups.keys(), groups.values(),
                                        push<blocks_type>{blocks()}, in_rest);
    } catch (...) {
      // Needs no memory, as all_pairs would.
      m_size = device::reduce_over<Kokkos::Sum<element_counts>>(
                   "karpos::multi_table: recount", exec, m_index.capacity(),
                   sum_elements<slots_type, blocks_type>{{slots(), m_index.capacity(), blocks(), 0},
                                                         max_row_elements})
                   .elements;
      throw;
    }
    if (of_keys.rejected > 0)
      report.rejected = groups.count("karpos::multi_table: count rejected", exec, m_index.table(),
                                     blocks(), false);
    report.inserted = n - report.invalid - report.rejected;
    if (report.inserted == 0) {  // no key has a block of this batch
      m_end -= n;
      --m_batches;
      return report;
    }
    m_size += report.inserted;
    if (!has_values) m_end = m_size;
    if (m_batches == 1) m_consolidated = m_end;
    return report;
  }

  /// Inserts pending pairs. If that throws before any is inserted, they stay pending. If it throws
  /// later, those not inserted count as rejected, so that none is inserted twice.
  void insert_pending(execution_space const& exec) {
    std::uint64_t const offered = m_pending.count(exec);
    std::uint64_t const n = Kokkos::min(offered, m_pending.pair_capacity());
    auto const part = std::pair(std::uint64_t(0), n);
    auto const keys = Kokkos::subview(m_pending.keys, part);
    std::uint64_t const before = m_size;
    try {
      if constexpr (has_values)
        m_pending_report +=
            insert_all(exec, keys, Kokkos::subview(m_pending.values, part), {nullptr, 0});
      else
        m_pending_report += insert_all(exec, keys, no_values{}, {nullptr, 0});
      m_pending_report.rejected += offered - n;
    } catch (...) {
      if (m_size == before) throw;
      m_pending_report.inserted += m_size - before;
      m_pending_report.rejected += offered - (m_size - before);
      m_pending.clear(exec);
      throw;
    }
    m_pending.clear(exec);
  }

  /// Reserves capacity for more pairs: reclaims the memory of dead pairs, and allocates more if the
  /// table may grow and would be nearly full again. Returns how many pairs can be inserted.
  std::uint64_t reserve_pairs(execution_space const& exec, std::uint64_t more) {
    if constexpr (has_values) {
      if (max_pairs() - m_end >= more) return more;
      std::uint64_t pair_capacity = max_pairs();
      if (m_index.grows() && m_size + more > pair_capacity - pair_capacity / 4)
        pair_capacity = Kokkos::min(Kokkos::max(2 * pair_capacity, m_size + more), max_pair_count);
      bool const helps = pair_capacity > max_pairs() || m_end > m_size;
      if (helps) join_blocks(exec, pair_capacity);
      return max_pairs() - m_end;
    }
    return max_pairs() - m_size;
  }

  /// Consolidates long chains into blocks if that costs no more than what was inserted since.
  /// Without memory for it chains stay.
  void shorten_chains(execution_space const& exec) {
    if (m_batches <= chain_to_consolidate || m_end - m_consolidated < m_consolidated / 2) return;
    try {
      join_blocks(exec, max_pairs());
    } catch (allocation_error const&) {
    }
  }

  /// Moves all pairs to memory for `pair_capacity` pairs, the values of a key side by side.
  void join_blocks(execution_space const& exec, std::uint64_t pair_capacity) {
    if constexpr (has_values) {
      auto pairs = all_pairs(exec);
      storage_type const fresh(exec, pair_capacity);
      pairs.emit(exec, m_batches, move_value<mapped_type>{fresh.values.data()});
      device::loop_over("karpos::multi_table: join blocks", exec, m_index.capacity(),
                        multi_table::join_blocks<slots_type, blocks_type>{slots(), fresh.blocks(),
                                                                          pairs.offsets(exec)});
      exec.fence("karpos::multi_table: before the old pairs are freed");
      m_storage = fresh;
      m_end = m_size = pairs.size();
    }
    m_consolidated = m_end;
    m_batches = 1;
  }

  index_type m_index;
  storage_type m_storage;
  pending_pairs<key_type, mapped_type, execution_space> m_pending;
  insert_report m_pending_report;    // outcomes of pending pairs since the last consolidate
  std::uint64_t m_end = 0;           // begin of the next block: stored pairs, and dead ones
  std::uint64_t m_size = 0;          // stored pairs
  std::uint64_t m_consolidated = 0;  // m_end after the last consolidation
  std::uint64_t m_batches = 0;       // insertions since, that one included: no chain is longer
};

}  // namespace karpos::detail::multi_table
