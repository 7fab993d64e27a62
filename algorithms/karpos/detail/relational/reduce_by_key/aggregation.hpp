// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "karpos/aggregates.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/reduce_by_key/columns.hpp"
#include "karpos/detail/relational/reduce_by_key/plan.hpp"
#include "karpos/detail/relational/reduce_by_key/reduction.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/table_options.hpp"

// A reduction by key from its arguments on: checks, memory, and the rounds.

namespace karpos::detail::reduce_by_key {

/// Reduces a source by key. Returns the number of groups. Throws std::invalid_argument if the
/// result has no space for all of them. `bytes_call`: the call that says how large a workspace is,
/// for messages.
template <class ExecSpace, class Source, class Result, class Op>
std::uint64_t run(ExecSpace const& exec, Source const& source, Result const& result, Op const& op,
                  wrapped_memory const& given, char const* bytes_call) {
  using row = typename Source::row;
  std::size_t const bytes = memory<ExecSpace, row>(exec, source.size()).bytes();
  workspace<ExecSpace> const w(exec, {"reduce_by_key", bytes_call}, given, bytes);
  reduction<ExecSpace, row, Result, Op> const all(
      exec, memory<ExecSpace, row>(exec, source.size(), w.data()), result, op);
  std::uint64_t const groups = all.run(source);
  w.finish();
  if (groups > result.capacity)
    reject("the views for different keys are too short",
           std::to_string(result.capacity) + " elements for " + std::to_string(groups) + " keys",
           "pass views of " + std::to_string(groups) + " elements");
  return groups;
}
/// A reduction by key of several columns.
template <class ExecSpace, class Key, class Columns, class Outputs>
struct aggregation;
template <class ExecSpace, class Key, class... Columns, class... Outputs>
struct aggregation<ExecSpace, Key, std::tuple<Columns...>, std::tuple<Outputs...>> {
  using list = aggregate_list<std::tuple<Columns...>, std::tuple<Outputs...>>;
  template <class Output>
  using field_traits = field_of<ExecSpace, Key, std::tuple<Columns...>, Output>;
  template <class Output>
  using field_for = typename field_traits<Output>::type;
  using fields = pack<field_for<Outputs>...>;
  using bits = bits_of<Key>;
  using split =
      typename row_type<Key,
                        std::conditional_t<sizeof...(Columns) == 0, no_value,
                                           pack<typename Columns::non_const_value_type...>>>::type;
  using row = key_value<bits, pack<typename field_for<Outputs>::state...>>;
  static_assert(sizeof(split) <= sizeof(row));  // one memory serves both
  static_assert(sizeof(row) <= 128,
                "karpos: a key and the results of a reduction have 128 bytes at most: take some of "
                "the aggregates to a reduction of their own");

  static std::size_t bytes(ExecSpace const& exec, std::uint64_t rows) {
    return memory<ExecSpace, row>(exec, rows).bytes();
  }

  template <class Keys, class OutKeys>
  static std::uint64_t run(ExecSpace const& exec, Keys const& keys, OutKeys const& out_keys,
                           list const& aggregates, wrapped_memory const& given) {
    require_reachable<ExecSpace, Columns..., decltype(Outputs::out)...>();
    return run(exec, keys, out_keys, aggregates, given, std::index_sequence_for<Columns...>{},
               std::index_sequence_for<Outputs...>{});
  }

 private:
  template <class Keys, class OutKeys, std::size_t... C, std::size_t... O>
  static std::uint64_t run(ExecSpace const& exec, Keys const& keys, OutKeys const& out_keys,
                           list const& a, wrapped_memory const& given, std::index_sequence<C...>,
                           std::index_sequence<O...>) {
    (require_same_extent("keys", keys.extent(0), "a column", std::get<C>(a.columns).extent(0)),
     ...);
    require_apart("an output of a reduction",
                  {range_of(out_keys), range_of(std::get<O>(a.outputs).out)...},
                  {range_of(keys), range_of(std::get<C>(a.columns))..., range_of(given)});
    require_apart("the workspace of a reduction", range_of(given), keys, std::get<C>(a.columns)...);
    constexpr char const* bytes_call = "reduce_by_key_bytes<Key>(exec, rows, aggregates)";
    require_workspace({"reduce_by_key", bytes_call}, given, bytes(exec, keys.extent(0)));
    std::uint64_t capacity = out_keys.extent(0);
    ((capacity = Kokkos::min(capacity, std::uint64_t(std::get<O>(a.outputs).out.extent(0)))), ...);
    fields const f{{field_traits<Outputs>::make(exec, keys, a.columns, std::get<O>(a.outputs))}...};
    using device::for_loop, device::held_by_loop;
    pack<held_by_loop<ExecSpace, field_for<Outputs>>...> const held{
        {for_loop<ExecSpace>(detail::get<O>(f))}...};
    using loaded = loaded_columns<true, split, held_by_loop<ExecSpace, Keys>,
                                  held_by_loop<ExecSpace, Columns>...>;
    std::uint64_t const groups = reduce_by_key::run(
        exec,
        keys_and_columns<row, loaded, held_by_loop<ExecSpace, field_for<Outputs>>...>{
            loaded(for_loop<ExecSpace>(keys), {{for_loop<ExecSpace>(std::get<C>(a.columns))}...}),
            held},
        result_fields<held_by_loop<ExecSpace, OutKeys>,
                      held_by_loop<ExecSpace, field_for<Outputs>>...>{for_loop<ExecSpace>(out_keys),
                                                                      held, capacity},
        merge_each<decltype(field_for<Outputs>::op)...>{{{detail::get<O>(f).op}...}}, given,
        bytes_call);
    (finish(exec, detail::get<O>(f), groups), ...);
    return groups;
  }
  template <class Field>
  static void finish(ExecSpace const& exec, Field const& f, std::uint64_t groups) {
    if constexpr (requires { f.finish(exec, groups); }) f.finish(exec, groups);
  }
};

}  // namespace karpos::detail::reduce_by_key
