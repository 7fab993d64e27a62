// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/detail/distributed/window_split.hpp"
#include "karpos/detail/distributed/windows.hpp"
#include "karpos/detail/tables/hash_table_insertion.hpp"
#include "karpos/detail/tables/lookup_access.hpp"
#include "karpos/detail/tables/region_tally.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/exchange_plan.hpp"
#include "karpos/operations.hpp"

// The rows of an operation of a distributed table go to the ranks that own their keys, and answers
// come back: through windows (window_split.hpp) if windows can be opened and some rank has
// window_tuning::min_rows rows; else in messages (exchange_plan.hpp).
//
// Tests: distributed_hash_map, window_split.

namespace karpos::detail::distributed {

/// Memory that a table keeps from one operation to the next. Destruction is collective if there are
/// windows.
template <class ExecSpace>
struct table_memory : plan_memory<ExecSpace> {
  reusable_memory<ExecSpace> received, answers;
  window_memory<ExecSpace, karpos::distributed::communicator<ExecSpace>> windows;
};

/// The rows of an operation that a rank has received. Gather: returns an array of them. Split: a
/// pointer to the split in whose windows they lie; void if they came in messages.
template <class Row, bool HasValues, class Gather, class Split = void const*>
struct received_rows {
  Gather gather;
  Split split = nullptr;

  /// Returns f(keys, values...), of views in memory.
  template <class F>
  auto with_columns(F const& f) const {
    auto const rows = gather();
    if constexpr (HasValues)
      return f(member_of_rows(rows, &Row::key), member_of_rows(rows, &Row::value));
    else
      return f(rows);
  }
  /// Returns f(pieces) if the rows are split by table segments; else false.
  template <class F>
  bool try_with_pieces(F const& f) const {
    if constexpr (std::is_same_v<Split, void const*>)
      return false;
    else
      return split->try_with_pieces([&](auto const& g) { return with_columns(g); }, f);
  }
};

/// Exchanges the rows of operations of a table. Every function is collective.
template <class Local, class Hash>
class table_exchange {
  using key_type = typename Local::key_type;
  using mapped_type = typename Local::mapped_type;
  using execution_space = typename Local::execution_space;
  using memory_space = typename Local::memory_space;
  using communicator_type = karpos::distributed::communicator<execution_space>;
  using kept = table_memory<execution_space>;
  static constexpr bool on_device = device::is_device<execution_space>;

 public:
  table_exchange(communicator_type const& ranks, Local const& local, Hash const& hash,
                 std::shared_ptr<kept> const& memory)
      : m_ranks(ranks),
        m_local(local),
        m_hash(hash),
        m_kept(memory) {}

  key_owner<key_type, Hash> owner_of() const {
    return {static_cast<std::uint32_t>(m_ranks.size()), m_hash};
  }

  /// Sends keys, and values if any are passed, to the owners of the keys. Returns use(received) of
  /// each rank: received.with_columns(f) calls f with the keys that this rank owns, and with their
  /// values; received.try_with_pieces(f) calls f with the window_pieces where these rows lie, and
  /// returns false if there are none. Combine: the type of what the insertion that follows does
  /// with equal keys; void if no insertion follows.
  template <class Row, class Combine, class Use, class Keys, class... Values>
  auto send(Use const& use, Keys const& keys, Values const&... values) const {
    constexpr bool has_values = sizeof...(Values) > 0;
    detail::require_key_type<key_type, Keys>();
    (detail::require_value_type<mapped_type, Values>(), ...);
    run_collectively(m_ranks, [&] {
      (detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0)), ...);
    });
    if (auto const split = try_split_into_windows<Row, Combine>(keys, values...))
      return run_collectively(m_ranks, [&] {
        auto const gather = [&] {
          return split->gather([&](std::uint64_t n) {
            return m_kept->received.template reserve<Row>(m_ranks.exec(),
                                                          "karpos::distributed: received rows", n);
          });
        };
        return use(received_rows<Row, has_values, decltype(gather), decltype(split.get())>{
            gather, split.get()});
      });
    auto const split = run_collectively(m_ranks, [&] {
      return distributed::split<Row>(m_ranks.exec(), m_kept->rows, m_ranks.size(), false,
                                     owner_of(), keys, values...);
    });
    auto const received = send_to_owners(m_ranks, split, m_kept->received);
    return run_collectively(m_ranks, [&] {
      auto const get = [&] { return received; };
      return use(received_rows<Row, has_values, decltype(get)>{get});
    });
  }
  /// Looks queries up. `write` returns the answer for what was found; look_up(queries, answers)
  /// looks queries up in the local table.
  template <class Answer, class Queries, class Out, class Write, class LookUp>
  void look_up(Queries const& queries, Out const& out, Write const& write,
               LookUp const& look_up) const {
    detail::require_key_type<key_type, Queries>();
    static_assert(std::is_same_v<typename Out::value_type, Answer>,
                  "karpos: what a distributed table finds goes to a view of its values");
    run_collectively(m_ranks, [&] {
      detail::require_same_extent("queries", queries.extent(0), "the output", out.extent(0));
      detail::require_apart_if_strided_too("the output", out, queries);
    });
    if (m_ranks.size() == 1)
      run_collectively(m_ranks, [&] { look_up(queries, out); });
    else if (!try_look_up_in_windows<Answer>(queries, out, write, look_up))
      look_up_by_messages<Answer>(queries, out, look_up);
    m_ranks.exec().fence("karpos::distributed: answers");
  }

 private:
  /// Splits rows into windows that no row overflows. Returns the split; nothing if there are no
  /// windows. Collective.
  template <class Row, class Combine, class Keys, class... Values>
  auto try_split_into_windows(Keys const& keys, Values const&... values) const {
    return distributed::try_split_into_windows<execution_space>(
        m_ranks, m_kept->windows, partition::source_of_rows<Row, execution_space>(keys, values...),
        plan_split<Combine>(keys.extent(0)), [&](window_plan const& plan) {
          return owner_and_place<execution_space, Hash, void>(m_hash, plan);
        });
  }
  /// Returns the plan of a split of n rows of this rank into windows. Combine: see send.
  /// Collective.
  template <class Combine = void>
  window_plan plan_split(std::uint64_t n) const {
    window_plan plan;
    if constexpr (device::has_peer_windows<execution_space>) {
      if (m_ranks.size() == 1 || !m_kept->windows.may_open(m_ranks)) return plan;
      split_offer mine{
          n, detail::lookup_access::table_bytes(m_local), device::cache_bytes(m_ranks.exec()), {}};
      std::uint64_t max_coarse = 0;
      if constexpr (on_device && !std::is_void_v<Combine>) {
        // Each rank gets about the same number of rows.
        std::uint64_t const rows =
            m_ranks.all_reduce(n) / static_cast<std::uint64_t>(m_ranks.size());
        max_coarse = detail::insertion_access::plan_pieces<Combine>(
                         m_local, m_ranks.exec(), rows,
                         max_coarse_partitions<execution_space>(m_ranks.size()))
                         .max_coarse;
      }
      detail::lookup_access::with_table(m_local, [&](auto const& t) {
        mine.home = t.home();
        mine.segments = segments_of<execution_space>(t, max_coarse);
      });
      plan = distributed::plan_windows<execution_space>(m_ranks.all_gather(mine));
    }
    return plan;
  }
  /// Makes a split of the rows of a source into windows, and memory for it. Returns nothing if
  /// there is too little memory for windows. Collective.
  template <class Result, class Source>
  auto make_split(Source const& source, window_plan const& plan) const {
    using partitioner = owner_and_place<execution_space, Hash, Result>;
    using split_type =
        window_split<execution_space, communicator_type, Source, partitioner, Result>;
    auto split = run_collectively(m_ranks, [&] {
      return std::make_unique<split_type>(m_ranks, m_ranks.exec(), source,
                                          partitioner(m_hash, plan), plan);
    });
    if (!m_kept->windows.try_allocate(m_ranks, *split)) split.reset();
    return split;
  }
  /// Looks queries up in windows, if there are any and it pays; and in messages those for which
  /// there is no memory. Returns whether it did. Collective.
  template <class Answer, class Queries, class Out, class Write, class LookUp>
  bool try_look_up_in_windows(Queries const& queries, Out const& out, Write const& write,
                              LookUp const& look_up) const {
    std::uint64_t const n = queries.extent(0);
    auto plan = plan_split(n);
    if (!plan.is_possible()) return false;
    for (std::uint64_t first = 0; first < plan.rows;) {
      std::uint64_t const begin = Kokkos::min(first, n), end = Kokkos::min(first + plan.batch, n);
      auto const some = detail::slice_of(queries, begin, end);
      auto const answers = detail::slice_of(out, begin, end);
      if (!try_look_up_batch<Answer>(plan, some, answers, write, look_up)) {
        if (plan.batch > window_tuning<execution_space>::min_rows) {
          plan.batch = (plan.batch + 1) / 2;
          continue;
        }
        look_up_by_messages<Answer>(detail::slice_of(queries, begin, n),
                                    detail::slice_of(out, begin, n), look_up);
        return true;
      }
      first += plan.batch;
    }
    return true;
  }
  /// Looks a batch of queries up in windows. Returns false if there is no memory for windows.
  /// Collective.
  template <class Answer, class Queries, class Out, class Write, class LookUp>
  bool try_look_up_batch(window_plan const& plan, Queries const& queries, Out const& out,
                         Write const& write, LookUp const& look_up) const {
    using result = std::conditional_t<std::is_same_v<Answer, bool>, std::uint8_t, Answer>;
    auto const& exec = m_ranks.exec();
    auto const split = make_split<result>(
        detail::source_of_keys<execution_space>(queries, 0, queries.extent(0)), plan);
    if (!split) return false;
    std::uint64_t const overflowed = split->run();
    run_collectively(m_ranks, [&] {
      if constexpr (on_device)
        detail::lookup_access::with_table(m_local, [&](auto const& table) {
          split->look_up("karpos::distributed: look up", table, write);
        });
      else
        for (auto const& p : split->pieces())
          look_up(unmanaged<memory_space>(p.rows, p.count),
                  unmanaged<memory_space>(p.results, p.count));
      exec.fence("karpos::distributed: answers in windows");
    });
    split->restore(device::for_loop<execution_space>(out));
    if constexpr (on_device)
      if (overflowed > 0) look_up_overflowed<Answer>(*split, plan, queries, out, write, look_up);
    return true;
  }
  /// Looks up the queries that overflowed in a split: in partitions that hold all of them.
  /// Collective.
  template <class Answer, class Split, class Queries, class Out, class Write, class LookUp>
  void look_up_overflowed(Split const& split, window_plan plan, Queries const& queries,
                          Out const& out, Write const& write, LookUp const& look_up) const {
    auto const& exec = m_ranks.exec();
    std::uint32_t const n = split.overflowed();
    Kokkos::View<std::uint32_t*, memory_space> rows;
    Kokkos::View<key_type*, memory_space> keys;
    Kokkos::View<Answer*, memory_space> answers;
    run_collectively(m_ranks, [&] {
      rows = allocate<std::uint32_t>(exec, "karpos::distributed: overflowed rows", n + 1);
      keys = allocate<key_type>(exec, "karpos::distributed: overflowed keys", n);
      answers = allocate<Answer>(exec, "karpos::distributed: answers", n);
    });
    split.list_overflowed(rows.data(), n);
    using device::for_loop, device::held_by_loop;
    device::loop_over("karpos::distributed: overflowed keys", exec, n,
                      pack_column<held_by_loop<execution_space, Queries>, key_type>{
                          for_loop<execution_space>(queries), rows.data(), keys.data()});
    exec.fence("karpos::distributed: overflowed keys");  // memory of the split is used again
    plan.hold_all(m_ranks.all_reduce(std::uint64_t(n), karpos::maximum{}));
    if (!try_look_up_batch<Answer>(plan, keys, answers, write, look_up))
      look_up_by_messages<Answer>(keys, answers, look_up);
    device::loop_over("karpos::distributed: answers of overflowed keys", exec, n,
                      unpack_column<Answer, held_by_loop<execution_space, Out>>{
                          answers.data(), rows.data(), for_loop<execution_space>(out)});
    exec.fence("karpos::distributed: answers of overflowed keys");
  }
  /// Sends queries to their owners, and answers back. Collective.
  template <class Answer, class Queries, class Out, class LookUp>
  void look_up_by_messages(Queries const& queries, Out const& out, LookUp const& look_up) const {
    karpos::distributed::exchange_plan<execution_space> const plan(m_ranks, queries, owner_of(),
                                                                   m_kept);
    auto const q = run_collectively(m_ranks, [&] {
      return m_kept->received.template reserve<key_type>(
          m_ranks.exec(), "karpos::distributed: received rows", plan.receives());
    });
    plan.exchange(queries, q);
    auto const answers = run_collectively(m_ranks, [&] {
      auto const a = m_kept->answers.template reserve<Answer>(
          m_ranks.exec(), "karpos::distributed: answers", plan.receives());
      look_up(q, a);
      m_ranks.exec().fence("karpos::distributed: answers");
      return a;
    });
    plan.exchange_back(answers, out);
  }

  communicator_type const& m_ranks;
  Local const& m_local;
  Hash m_hash;
  std::shared_ptr<kept> m_kept;
};

}  // namespace karpos::detail::distributed
