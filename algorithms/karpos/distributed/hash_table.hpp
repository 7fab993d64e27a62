// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/combine.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/detail/distributed/table_exchange.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/exchange_plan.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_table.hpp"
#include "karpos/key_value.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// Operations of distributed::hash_map and distributed::hash_set.
//
//   rank 0   keys | a | b | c |    →  owners   0: a, c, e    each rank has a karpos::hash_map of
//   rank 1   keys | d | e |        →           1: b, d       the keys that it owns
//
// The hash of a key decides which rank owns it. Every rank passes any number of keys, also none.
// They go to their owners, once; answers come back into the order of the caller's keys. All
// ranks call every collective operation, in the same order. Collective operations block.

namespace karpos::distributed {

/// Report of an insertion: what became of the keys of all ranks, the same on every rank.
struct insert_report : karpos::insert_report {
  /// Number of keys that found no free slot, by the rank that owns them; empty if all found one.
  std::vector<std::uint64_t> rejected_by_rank;
};

/// A hash table over ranks, which can be moved, not copied. Local: the karpos::hash_map or
/// karpos::hash_set of the keys that a rank owns.
///
/// Requires: keys of 4 or 8 bytes, values of 1, 2, 4 or 8. The communicator outlives the table.
/// All ranks destroy a table together, like its communicator.
///
/// Concurrency: one operation at a time, lookups included: they share memory and communicator.
/// Memory: the local tables, and what operations keep for the next one until release_memory():
///   - If all ranks can open windows (communicator.hpp), each has one. It holds as many rows as the
///     longest call of any rank has, and in lookups their answers. On GPUs a window is larger than
///     these rows, by 2 % if they are many, by 22 % if they are 2^16. Lookups also take 2 bytes a
///     row. Insertions and erasures also take a copy of the rows that the rank receives, unless
///     GPUs insert them from the window (docs/distributed.md).
///   - On GPUs, rows of very frequent keys may not fit in a window of that size. An insertion or
///     erasure then takes a window of ranks * (rows of the longest call) rows. A lookup takes one
///     of ranks * m rows: m is the largest number of rows of a rank that did not fit.
///   - Without windows, and in calls with few rows: the rows that a rank sends and those that it
///     receives; lookups also take a plan's memory (exchange_plan.hpp) and the answers.
template <class Local>
class hash_table {
 public:
  using local_type = Local;
  using key_type = typename Local::key_type;
  using mapped_type = typename Local::mapped_type;
  using execution_space = typename Local::execution_space;
  using memory_space = typename Local::memory_space;
  using hasher = typename Local::hasher;
  using options = typename Local::options;
  using communicator_type = communicator<execution_space>;
  static constexpr bool has_values = Local::has_values;
  static_assert(sizeof(key_type) == 4 || sizeof(key_type) == 8,
                "karpos: keys of a distributed table have 4 or 8 bytes");

  /// Makes an empty table for max_keys keys on all ranks together. Each rank has capacity for
  /// s + 6 * sqrt(s) keys, s = max_keys / ranks, because hashes spread keys unevenly. A single rank
  /// has capacity for exactly max_keys. Collective.
  ///
  /// Requires: hash and growth are the same on every rank.
  /// Throws: collective_error if max_keys, the load or a sentinel differs between ranks; also with
  ///   the message of what the local table throws on some rank.
  hash_table(communicator_type const& ranks, std::uint64_t max_keys, options const& o = {},
             hasher const& hash = {})
      : m_ranks(&ranks),
        m_hash(hash) {
    detail::user_call const call(name);
    require_same(ranks, "max_keys", max_keys);
    require_same(ranks, "the load", o.load);
    require_same_sentinel("the key for empty slots", o.empty_key);
    require_same_sentinel("the key for erased slots", o.erased_key);
    m_local = detail::distributed::run_collectively(ranks, [&] {
      return Local(ranks.exec(), detail::distributed::keys_of_rank(max_keys, ranks.size()), o,
                   hash);
    });
  }

  /// Inserts pairs whose key is new. Of equal keys in one call, on any ranks, exactly one is
  /// inserted, unspecified which. `values` is a view as long as the keys; sets take none.
  /// Collective.
  ///
  /// Returns: the sums over all ranks, and which ranks rejected keys.
  /// Throws: collective_error if a key equals a sentinel (after every other key was processed), if
  ///   views differ in length, or if there is not enough memory. Keys that some rank has inserted
  ///   by then stay.
  template <view_1d Keys, view_1d... Values>
    requires(sizeof...(Values) == (has_values ? 1 : 0))
  insert_report insert(Keys const& keys, Values const&... values) {
    detail::user_call const call(name, "insert");
    auto const insert_columns = [&](auto const&... columns) {
      return m_local.insert(m_ranks->exec(), columns...);
    };
    return insert_rows("insert", insert_columns, detail::keep_stored{}, keys, values...);
  }
  /// Inserts as insert does, and throws collective_error, which names the ranks, if keys did not
  /// fit; those that did are stored.
  template <view_1d Keys, view_1d... Values>
  insert_report insert_or_throw(Keys const& keys, Values const&... values) {
    detail::user_call const call(name, "insert_or_throw");
    insert_report const r = insert(keys, values...);
    if (r.rejected > 0) throw_full(r);
    return r;
  }
  /// Inserts pairs or overwrites stored values; of equal keys, an unspecified one wins. Collective.
  /// Throws: as insert.
  template <view_1d Keys, view_1d Values>
    requires has_values
  insert_report insert_or_assign(Keys const& keys, Values const& values) {
    detail::user_call const call(name, "insert_or_assign");
    auto const assign = [&](auto const&... columns) {
      return m_local.insert_or_assign(m_ranks->exec(), columns...);
    };
    return insert_rows("insert_or_assign", assign, detail::replace_stored{}, keys, values);
  }
  /// Inserts pairs or replaces stored values by op(stored, value). op is associative and
  /// commutative, and the same on every rank. `strategy` may differ between ranks: each decides for
  /// its own rows. Collective.
  ///
  /// If keys are numbers or enumerators, and values numbers, of 4 or 8 bytes, equal keys of a rank
  /// may be combined before they travel: with bulk_strategy::automatic if a sample of the keys says
  /// that this pays, with `reduced` always, with `direct` and `partitioned` never. Pairs that were
  /// combined into another one count as existing.
  ///
  /// Throws: as insert; also collective_error if `strategy` is no bulk_strategy.
  template <view_1d Keys, view_1d Values, class Op>
    requires has_values
  insert_report insert_or_apply(Keys const& keys, Values const& values, Op const& op,
                                bulk_strategy strategy = bulk_strategy::automatic) {
    char const* const what = "insert_or_apply";
    detail::user_call const call(name, what);
    auto const apply = [&](auto const&... columns) {
      return m_local.insert_or_apply(m_ranks->exec(), columns..., op);
    };
    namespace d = detail::distributed;
    detail::require_key_type<key_type, Keys>();
    detail::require_value_type<mapped_type, Values>();
    d::groups<execution_space, key_type, mapped_type> groups;
    bool const is_reduced = d::run_collectively(*m_ranks, [&] {
      detail::require_enumerators(strategy);
      if constexpr (d::can_combine<key_type, mapped_type>) {
        auto const& exec = m_ranks->exec();
        if (strategy != bulk_strategy::reduced &&
            (strategy != bulk_strategy::automatic ||
             !d::pays_to_combine<execution_space, mapped_type, Op>(exec, keys)))
          return false;
        groups = d::new_groups<execution_space, key_type, mapped_type>(exec, keys.extent(0));
        groups = d::reduce_rows(exec, keys, values, op, groups);
        return true;
      }
      return false;
    });
    std::uint64_t const combined = is_reduced ? keys.extent(0) - groups.keys.extent(0) : 0;
    using key_view = Kokkos::View<key_type const*, Kokkos::LayoutStride, memory_space>;
    using value_view = Kokkos::View<mapped_type const*, Kokkos::LayoutStride, memory_space>;
    insert_report report =
        is_reduced ? insert_rows(what, apply, op, key_view(groups.keys), value_view(groups.values))
                   : insert_rows(what, apply, op, key_view(keys), value_view(values));
    report.existing += m_ranks->all_reduce(combined);
    return report;
  }

  /// Writes the value of each query of this rank to out, or `missing`, by default mapped_type{}, if
  /// the key is not stored (a sentinel never is). `missing` is the same on every rank. Collective.
  ///
  /// Throws: collective_error if views differ in length or overlap (of strided views the first
  ///   elements are compared); if `missing` differs between ranks (checked if it is a number or an
  ///   enumeration); if there are several ranks and one passes more than 2^32 queries; if there is
  ///   not enough memory; or with what the local table throws.
  template <view_1d Queries, view_1d Out>
    requires has_values
  void find(Queries const& queries, Out const& out, mapped_type const& missing = {}) const {
    detail::user_call const call(name, "find");
    if constexpr (std::is_arithmetic_v<mapped_type> || std::is_enum_v<mapped_type>)
      require_same(*m_ranks, "the value for missing keys", missing);
    exchange().template look_up<mapped_type>(queries, out, detail::value_or<mapped_type>{missing},
                                             [&](auto const& q, auto const& answers) {
                                               m_local.find(m_ranks->exec(), q, answers, missing);
                                             });
  }
  /// Writes whether each query of this rank is stored to out. Collective. Throws: as find.
  template <view_1d Queries, view_1d Out>
  void contains(Queries const& queries, Out const& out) const {
    detail::user_call const call(name, "contains");
    exchange().template look_up<typename Out::value_type>(
        queries, out, detail::presence{},
        [&](auto const& q, auto const& answers) { m_local.contains(m_ranks->exec(), q, answers); });
  }

  /// Removes keys; ignores those that are not stored, such as a sentinel. Collective. Returns: how
  /// many were stored, on all ranks. Throws: collective_error, before it removes any, for lack of
  /// memory.
  template <view_1d Keys>
  std::uint64_t erase(Keys const& keys) {
    detail::user_call const call(name, "erase");
    auto const mine = exchange().template send<key_type, void>(
        [](auto const& received) {
          return received.with_columns([](auto const& all) { return all; });
        },
        keys);
    return m_ranks->all_reduce(detail::distributed::run_collectively(
        *m_ranks, [&] { return m_local.erase(m_ranks->exec(), mine); }));
  }
  /// Removes every key. Collective. Throws: collective_error with what the local table throws.
  void clear() {
    detail::user_call const call(name, "clear");
    detail::distributed::run_collectively(*m_ranks, [&] { m_local.clear(m_ranks->exec()); });
    m_ranks->barrier();
  }
  /// Changes the capacity to new_max_keys keys on all ranks together. Collective.
  ///
  /// Throws: collective_error if the stored keys of some rank would not fit, or for lack of memory.
  ///   That rank keeps its table; the others may have the new capacity; no key is lost.
  void rehash(std::uint64_t new_max_keys) {
    detail::user_call const call(name, "rehash");
    require_same(*m_ranks, "new_max_keys", new_max_keys);
    detail::distributed::run_collectively(*m_ranks, [&] {
      m_local.rehash(m_ranks->exec(),
                     detail::distributed::keys_of_rank(new_max_keys, m_ranks->size()));
    });
  }

  /// Frees the memory that operations keep for the next one. Collective.
  void release_memory() {
    m_ranks->exec().fence("karpos::distributed: before memory is freed");
    m_kept = std::make_shared<kept>();
  }

  /// Returns the number of keys on all ranks. Collective.
  std::uint64_t size() const { return m_ranks->all_reduce(m_local.size(m_ranks->exec())); }

  // Access to the keys of this rank, not collective. Every key is on one rank.

  /// Returns the table of the keys that this rank owns, for lookups.
  Local const& local() const { return m_local; }
  /// Calls visit(key, value), or visit(key) for a set, for every key of this rank, in a kernel. If
  /// the map is not const, visit may take the value by reference and change it. Asynchronous.
  template <class Visit>
  void for_each(Visit const& visit) const {
    m_local.for_each(m_ranks->exec(), visit);
  }
  template <class Visit>
    requires has_values
  void for_each(Visit const& visit) {
    m_local.for_each(m_ranks->exec(), visit);
  }
  /// Writes the keys of this rank, with their values, to views. Returns: their number. Blocks.
  /// Throws: as retrieve_all of the local table, for instance if views are too short.
  template <view_1d... Out>
  std::uint64_t retrieve_all(Out const&... out) const {
    return m_local.retrieve_all(m_ranks->exec(), out...);
  }
  /// Returns the rank that owns a key.
  int owner(key_type const& key) const { return static_cast<int>(exchange().owner_of()(key)); }
  communicator_type const& ranks() const { return *m_ranks; }

 private:
  static constexpr char const* name =
      has_values ? "distributed::hash_map" : "distributed::hash_set";
  using kept = detail::distributed::table_memory<execution_space>;

  void require_same_sentinel(char const* what, std::optional<key_type> const& key) const {
    require_same(*m_ranks, std::string("whether there is ") + what, key.has_value());
    if (key) require_same(*m_ranks, what, to_bits<std::uint64_t>(*key));
  }

  /// Returns what sends rows to their owners, and answers back.
  auto exchange() const {
    return detail::distributed::table_exchange<Local, hasher>(*m_ranks, m_local, m_hash, m_kept);
  }
  /// Runs insert(keys, values...) on every rank, with the rows that it owns; or inserts these rows
  /// where they were split to, merging by `combine`. `what` is for labels.
  template <class Insert, class Combine, class Keys, class... Values>
  insert_report insert_rows(char const* what, Insert const& insert, Combine const& combine,
                            Keys const& keys, Values const&... values) {
    namespace d = detail::distributed;
    if (m_ranks->size() == 1)
      return sum_of(d::run_collectively(*m_ranks, [&] { return insert(keys, values...); }));
    constexpr bool has_rows = sizeof...(Values) > 0;
    using row = std::conditional_t<has_rows, key_value<key_type, mapped_type>, key_type>;
    return sum_of(exchange().template send<row, Combine>(
        [&](auto const& received) {
          karpos::insert_report report;
          if (received.try_with_pieces([&](auto const& pieces) {
                return detail::insertion_access::try_insert_pieces(m_local, m_ranks->exec(), what,
                                                                   pieces, combine, report);
              }))
            return report;
          return received.with_columns(insert);
        },
        keys, values...));
  }
  insert_report sum_of(karpos::insert_report const& mine) const {
    insert_report sum;
    auto const all = m_ranks->all_gather(mine);
    for (auto const& r : all) static_cast<karpos::insert_report&>(sum) += r;
    if (sum.rejected > 0)
      for (auto const& r : all) sum.rejected_by_rank.push_back(r.rejected);
    return sum;
  }
  [[noreturn]] void throw_full(insert_report const& report) const {
    std::string rejecting_ranks;
    int first = -1;
    for (int r = 0; r < m_ranks->size(); ++r) {
      std::uint64_t const n = report.rejected_by_rank[static_cast<std::size_t>(r)];
      if (n == 0) continue;
      if (first < 0) first = r;
      rejecting_ranks += (rejecting_ranks.empty() ? "" : ", ") + std::to_string(n) + " on rank " +
                         std::to_string(r);
    }
    std::uint64_t const held = size();
    throw collective_error(
        detail::message_of(
            "the table is full",
            "it holds " + std::to_string(held) + " keys; rejected: " + rejecting_ranks,
            "construct or rehash with max_keys >= " + std::to_string(held + report.rejected)),
        first, *m_ranks);
  }
  communicator_type const* m_ranks;
  hasher m_hash;
  Local m_local;
  std::shared_ptr<kept> m_kept = std::make_shared<kept>();
};

}  // namespace karpos::distributed
