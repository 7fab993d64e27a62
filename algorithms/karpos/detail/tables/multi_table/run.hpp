// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "karpos/detail/relational/join/plan.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/multi_table.hpp"

// The implementation of multi_table (karpos/multi_table.hpp).

namespace karpos {

namespace detail::multi_table {

template <class ExecSpace, class Table, class Keys>
std::uint64_t count_sentinels(ExecSpace const& exec, Table const& table, Keys const& keys) {
  using body = count_reserved<typename Table::protocol, device::held_by_loop<ExecSpace, Keys>>;
  return device::reduce_over<Kokkos::Sum<std::uint64_t>>(
      "karpos::multi_table: count sentinels", exec, keys.extent(0),
      body{table.slot(), device::for_loop<ExecSpace>(keys)});
}

}  // namespace detail::multi_table

template <class Traits>
void multi_table<Traits>::require_pairs(std::uint64_t n) {
  if (has_values && n > max_pair_count)
    detail::reject(
        "pair numbers of a table have too small a type",
        std::to_string(n) + " pairs of at most " + std::to_string(max_pair_count),
        sizeof(number) == 4 ? "make it with PairNumber = std::uint64_t" : "make several tables");
}

template <class Traits>
void multi_table<Traits>::swap(multi_table& other) {
  std::swap(m_index, other.m_index);
  std::swap(m_storage, other.m_storage);
  std::swap(m_pending, other.m_pending);
  std::swap(m_pending_report, other.m_pending_report);
  std::swap(m_end, other.m_end);
  std::swap(m_size, other.m_size);
  std::swap(m_consolidated, other.m_consolidated);
  std::swap(m_batches, other.m_batches);
}

template <class Traits>
template <class Keys, class Values>
insert_report multi_table<Traits>::insert_and_report(execution_space const& exec, Keys const& keys,
                                                     Values const& values,
                                                     wrapped_memory const& workspace) {
  detail::require_key_type<key_type, Keys>();
  detail::require_reachable<execution_space, Keys, detail::view_type_of<Values>>();
  m_index.require_memory();
  detail::require_workspace(
      {has_values ? "hash_multimap" : "hash_multiset", "insert_bytes(exec, pairs)"}, workspace,
      insert_bytes(exec, keys.extent(0)));
  insert_pending(exec);
  insert_report const report = insert_all(exec, keys, values, workspace);
  detail::reject_invalid(report, keys.extent(0));
  return report;
}

/// Inserts pairs as long as there is capacity for any.
template <class Traits>
template <class Keys, class Values>
insert_report multi_table<Traits>::insert_all(execution_space const& exec, Keys const& keys,
                                              Values const& values,
                                              wrapped_memory const& workspace) {
  std::uint64_t const n = keys.extent(0);
  insert_report all;
  for (std::uint64_t first = 0; first < n;) {
    std::uint64_t const last = first + Kokkos::min(reserve_pairs(exec, n - first), n - first);
    if (first == last) {
      std::uint64_t const invalid = detail::multi_table::count_sentinels(
          exec, m_index.table(), detail::slice_of(keys, first, n));
      all += {0, 0, n - first - invalid, invalid};
      break;
    }
    all += insert_batch(exec, detail::slice_of(keys, first, last),
                        detail::slice_of(values, first, last), workspace);
    first = last;
  }
  shorten_chains(exec);
  return all;
}

template <class Traits>
template <class Keys, class Values>
insert_report multi_table<Traits>::insert_batch(execution_space const& exec, Keys const& keys,
                                                Values const& values,
                                                wrapped_memory const& workspace) {
  namespace mt = detail::multi_table;
  std::uint64_t const n = keys.extent(0);
  batch_type const batch(exec, m_index, blocks(), m_end, keys, values, workspace);
  insert_report report;
  if (batch.has_reserved) report.invalid = mt::count_sentinels(exec, m_index.table(), keys);
  ++m_batches;
  m_end += n;  // before the first block is chained
  bulk_options const in_rest{
      .workspace = batch.workspace(m_index.grows() ? 0 : m_index.insert_bytes(exec, batch.size))};
  insert_report of_keys;
  try {
    of_keys = m_index.insert_or_apply(exec, batch.keys(), batch.values(),
                                      mt::push<blocks_type>{blocks()}, in_rest);
  } catch (...) {
    // Needs no memory, as all_pairs would.
    m_size = device::reduce_over<Kokkos::Sum<mt::element_counts>>(
                 "karpos::multi_table: recount", exec, m_index.capacity(),
                 mt::sum_elements<slots_type, blocks_type>{
                     {slots(), m_index.capacity(), blocks(), 0}, mt::max_row_elements})
                 .elements;
    throw;
  }
  if (of_keys.rejected > 0)
    report.rejected =
        batch.count("karpos::multi_table: count rejected", exec, m_index.table(), blocks(), false);
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

/// Reserves capacity for more pairs: reclaims the memory of dead pairs. If the table may grow, and
/// would be nearly full again, allocates more. Returns the number of pairs that can be inserted.
template <class Traits>
std::uint64_t multi_table<Traits>::reserve_pairs(execution_space const& exec, std::uint64_t more) {
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

/// Consolidates long chains into blocks if that costs no more than what was inserted since. Without
/// memory for it chains stay.
template <class Traits>
void multi_table<Traits>::shorten_chains(execution_space const& exec) {
  if (m_batches <= chain_to_consolidate || m_end - m_consolidated < m_consolidated / 2) return;
  try {
    join_blocks(exec, max_pairs());
  } catch (allocation_error const&) {
  }
}

/// Moves all pairs to memory for `pair_capacity` pairs, the values of a key side by side.
template <class Traits>
void multi_table<Traits>::join_blocks(execution_space const& exec, std::uint64_t pair_capacity) {
  if constexpr (has_values) {
    namespace mt = detail::multi_table;
    auto pairs = all_pairs(exec);
    storage_type const fresh(exec, pair_capacity);
    pairs.emit(exec, m_batches, mt::move_value<mapped_type>{fresh.values.data()});
    device::loop_over(
        "karpos::multi_table: join blocks", exec, m_index.capacity(),
        mt::join_blocks<slots_type, blocks_type>{slots(), fresh.blocks(), pairs.offsets(exec)});
    exec.fence("karpos::multi_table: before the old pairs are freed");
    m_storage = fresh;
    m_end = m_size = pairs.size();
  }
  m_consolidated = m_end;
  m_batches = 1;
}

template <class Traits>
auto multi_table<Traits>::ref(execution_space const& exec, std::uint64_t pair_capacity)
    -> ref_type {
  m_index.require_memory();
  // At least 1: offered pairs are counted only if some are reserved.
  pair_capacity = Kokkos::max(pair_capacity, std::uint64_t(1));
  if (pair_capacity > m_pending.pair_capacity() - m_pending.reserved_pairs) {
    insert_pending(exec);
    if (pair_capacity > m_pending.pair_capacity()) m_pending = {exec, pair_capacity};
  }
  m_pending.reserved_pairs += pair_capacity;
  return ref_type(m_pending.ref(m_index.table()));
}

template <class Traits>
template <class Keys, class Values>
void multi_table<Traits>::append(execution_space const& exec, Keys const& keys,
                                 Values const& values) {
  detail::require_key_type<key_type, Keys>();
  detail::require_reachable<execution_space, Keys, detail::view_type_of<Values>>();
  m_index.require_memory();
  if (keys.extent(0) == 0) return;
  ref(exec, keys.extent(0));
  using device::for_loop, device::held_by_loop;
  auto const pending = m_pending.ref(m_index.table());
  using body = detail::multi_table::append_pairs<held_by_loop<execution_space, decltype(pending)>,
                                                 held_by_loop<execution_space, Keys>,
                                                 held_by_loop<execution_space, Values>>;
  device::loop_over("karpos::multi_table: append", exec, keys.extent(0),
                    body{for_loop<execution_space>(pending), for_loop<execution_space>(keys),
                         for_loop<execution_space>(values)});
}

/// Inserts pending pairs. If that throws before any is inserted, they stay pending. If it throws
/// later, those not inserted count as rejected, so that none is inserted twice.
template <class Traits>
void multi_table<Traits>::insert_pending(execution_space const& exec) {
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

template <class Traits>
insert_report multi_table<Traits>::consolidate(execution_space const& exec) {
  m_index.require_memory();
  insert_pending(exec);
  if (m_batches > 1 || m_end > m_size) join_blocks(exec, max_pairs());
  return std::exchange(m_pending_report, {});
}

template <class Traits>
template <view_1d Keys>
std::uint64_t multi_table<Traits>::erase(execution_space const& exec, Keys const& keys) {
  detail::require_key_type<key_type, Keys>();
  detail::require_reachable<execution_space, Keys>();
  m_index.require_memory();
  if (keys.extent(0) > max_pair_count)
    detail::reject("too many keys to erase at once",
                   std::to_string(keys.extent(0)) + " of at most " + std::to_string(max_pair_count),
                   "erase a part of them after the other");
  insert_pending(exec);
  namespace mt = detail::multi_table;
  batch_type const batch(exec, m_index, mt::key_counts<number>{}, 0, keys, no_values{});
  std::uint64_t const erased =
      batch.count("karpos::multi_table: count erased", exec, m_index.table(), blocks(), true);
  m_index.erase(exec, batch.keys());
  m_size -= erased;
  if (!has_values) m_end = m_size;
  return erased;
}

template <class Traits>
void multi_table<Traits>::clear(execution_space const& exec) {
  m_index.clear(exec);
  m_pending.clear(exec);
  m_end = m_size = m_consolidated = m_batches = 0;
}

template <class Traits>
void multi_table<Traits>::move_to(execution_space const& exec, std::uint64_t pairs,
                                  std::uint64_t keys) {
  require_pairs(pairs);
  m_index.require_memory();
  insert_pending(exec);
  if (pairs < m_size)
    throw capacity_error("rehash would not hold the stored pairs", m_size, pairs, m_size,
                         "max_pairs");
  try {
    m_index.rehash(exec, keys);
  } catch (capacity_error const& e) {
    throw capacity_error("rehash found no slot for some of the stored keys", e.asked(), e.found(),
                         e.would_do());
  }
  join_blocks(exec, pairs);
}

template <class Traits>
template <class Other>
void multi_table<Traits>::copy_from(execution_space const& exec, multi_table<Other> const& src) {
  if (std::uint64_t const n = src.m_pending.count(); n > 0)
    detail::reject("a table with pending pairs cannot be copied",
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

template <class Traits>
template <class Queries>
auto multi_table<Traits>::matches_of(execution_space const& exec, Queries const& queries,
                                     std::uint64_t unmatched_count) const {
  using heads_type = Kokkos::View<number*, memory_space>;
  std::uint64_t const n = queries.extent(0);
  auto const heads = detail::allocate_or_explain<memory_space>(
      n * sizeof(number), "the heads of queries", "ask for fewer keys at once", [&] {
        return detail::uninitialized_array<heads_type>(exec, "karpos::multi_table: heads", n);
      });
  m_index.find(exec, queries, heads, blocks_type::none);
  using rows = detail::multi_table::heads_of_queries<blocks_type>;
  return detail::multi_table::matches<execution_space, rows, blocks_type>(
      exec, {heads.data()}, n, blocks(), unmatched_count, heads);
}

template <class Traits>
template <class Queries, class QueriesOut, class... ValuesOut>
std::uint64_t multi_table<Traits>::write_matches(execution_space const& exec,
                                                 Queries const& queries, mapped_type const& missing,
                                                 std::uint64_t unmatched_count,
                                                 QueriesOut const& out_queries,
                                                 ValuesOut const&... out_values) const {
  detail::require_reachable<execution_space, ValuesOut...>();
  (detail::require_result_type<mapped_type, ValuesOut>(), ...);
  (detail::require_same_extent("query numbers", out_queries.extent(0), "values",
                               out_values.extent(0)),
   ...);
  char const* const what = "the view for numbers of queries";
  detail::join::require_numbers<execution_space>(what, out_queries, queries.extent(0));
  auto matches = matches_of(exec, queries, unmatched_count);
  detail::join::require_length(what, out_queries.extent(0), matches.size());
  emit(exec, matches,
       detail::multi_table::write_element<detail::multi_table::query_numbers, mapped_type,
                                          QueriesOut, ValuesOut...>{
           {}, missing, out_queries, {{out_values}...}});
  return matches.size();
}

template <class Traits>
template <class KeysOut, class... ValuesOut>
std::uint64_t multi_table<Traits>::write_all(execution_space const& exec, KeysOut const& keys,
                                             ValuesOut const&... values) const {
  detail::require_reachable<execution_space, KeysOut, ValuesOut...>();
  auto pairs = all_pairs(exec);
  detail::join::require_length("the view for keys", keys.extent(0), pairs.size());
  emit(exec, pairs,
       detail::multi_table::write_element<slots_type, detail::no_value, KeysOut, ValuesOut...>{
           slots(), {}, keys, {{values}...}});
  return pairs.size();
}

}  // namespace karpos
