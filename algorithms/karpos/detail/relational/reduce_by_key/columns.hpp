// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "karpos/aggregates.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/group_table.hpp"
#include "karpos/detail/relational/reduce_by_key/plan.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/run.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/rows.hpp"
#include "karpos/table_options.hpp"

// Several columns reduced at once. The caller's rows are split in the form in which they are
// loaded: a key with a value of each column. When rows are aggregated, they become rows of a key
// with a state per output, and keep that form:
//
//   split     | key | price | weight |
//   row       | key | orders: 1 | revenue: price | cheapest: price | heaviest: weight |

namespace karpos::detail::reduce_by_key {

/// A value of a column with nulls, as it is loaded.
template <class T>
struct optional_value {
  T value;
  std::uint32_t is_valid;
};
template <class X>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<optional_value<T>> = true;

template <class Column>
using number_of = typename column_traits<std::remove_cvref_t<Column>>::value_type;
/// The type in which a column's values are loaded.
template <class Column>
using loaded_of = std::conditional_t<is_nullable<std::remove_cvref_t<Column>>,
                                     optional_value<number_of<Column>>, number_of<Column>>;

template <class Column>
KOKKOS_FORCEINLINE_FUNCTION loaded_of<Column> load_value(Column const& c, std::uint64_t i) {
  if constexpr (is_nullable<Column>) {
    bool const is_valid = c.is_valid(i);
    return {is_valid ? c.values()(i) : number_of<Column>(0), is_valid};
  } else {
    return c(i);
  }
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool has_number(T const& loaded) {
  if constexpr (is_optional<T>)
    return loaded.is_valid != 0;
  else
    return true;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION auto number_in(T const& loaded) {
  if constexpr (is_optional<T>)
    return loaded.value;
  else
    return loaded;
}
/// Returns the view of a column's values.
template <class Column>
auto const& values_of(Column const& c) {
  if constexpr (is_nullable<Column>)
    return c.values();
  else
    return c;
}
template <class Column>
std::uint64_t extent_of(Column const& c) {
  return values_of(c).extent(0);
}
/// Returns the memory of a column's mask; an empty range if it has none.
template <class Column>
memory_range mask_range(Column const& c) {
  if constexpr (is_nullable<Column>)
    return range_of(c.mask());
  else
    return {};
}

/// Whether an operation has a value that stands for nulls.
template <class Op>
inline constexpr bool takes_nulls =
    std::is_same_v<Op, plus> || std::is_same_v<Op, minimum> || std::is_same_v<Op, maximum>;
/// Returns the value that stands for nulls: it changes no sum, and no other value is beyond it.
template <class Op, class T>
KOKKOS_FORCEINLINE_FUNCTION T stand_in_for_null() {
  if constexpr (std::is_same_v<Op, plus>) {
    return T(0);
  } else if constexpr (std::is_floating_point_v<T>) {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    return std::is_same_v<Op, minimum> ? infinity : -infinity;
  } else {
    return identity_of<Op, T>::get();
  }
}

/// Takes space in rows, but not in tables: rows are at least as large as they are before they are
/// aggregated, so that one memory serves both.
template <std::size_t Bytes>
struct row_padding {
  unsigned char unused[Bytes];
};
struct keep_padding {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& a, T const&) const {
    return a;
  }
};
template <std::size_t Bytes>
class slot_values<row_padding<Bytes>> {
 public:
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t) { return 0; }
  KOKKOS_FUNCTION slot_values(std::byte*, std::uint32_t) {}
  KOKKOS_FORCEINLINE_FUNCTION row_padding<Bytes> get(std::uint32_t) const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::uint32_t, row_padding<Bytes> const&) const {}
  template <class Op>
  KOKKOS_FORCEINLINE_FUNCTION void merge(std::uint32_t, row_padding<Bytes> const&,
                                         Op const&) const {}
};
template <std::size_t Bytes>
struct identity_of<keep_padding, row_padding<Bytes>> {
  static constexpr bool exists = true;
  KOKKOS_FORCEINLINE_FUNCTION static row_padding<Bytes> get() { return {}; }
};

/// How kernels compute an output. `state` is what is merged, by `op`. first(bits of the key,
/// columns) returns the state of one row. write(i, bits of the key, state) stores the output,
/// perhaps more than once. finish(exec, groups), if there is one, is called when all is written,
/// and may throw. In this class the states are the results. A field without a column counts rows.
template <int Column, class Op, class Out>
struct field {
  using state = typename std::remove_cvref_t<Out>::value_type;
  Op op;
  Out out;
  template <class F>
  auto transformed(F const& f) const {
    return field<Column, decltype(f(op)), decltype(f(out))>{f(op), f(out)};
  }
  template <class Bits, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION state first(Bits, [[maybe_unused]] Columns const& columns) const {
    if constexpr (Column == no_column) {
      return 1;
    } else {
      auto const& loaded = detail::get<Column>(columns);
      if constexpr (is_optional<std::remove_cvref_t<decltype(loaded)>>)
        if (!has_number(loaded)) return stand_in_for_null<Op, state>();
      return static_cast<state>(number_in(loaded));
    }
  }
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, Bits, state const& s) const {
    out(i) = s;
  }
};
/// Whether every value of From is a value of To.
template <class From, class To>
concept widens_to = requires(From x) { To{x}; } ||
                    (std::is_integral_v<From> && std::is_floating_point_v<To> &&
                     std::numeric_limits<From>::digits <= std::numeric_limits<To>::digits);

/// The field of an output of a reduction by keys of type Key: make(exec, keys, columns, output).
template <class ExecSpace, class Key, class Columns, class Output>
struct field_of;
template <class ExecSpace, class Key, class Columns, int Column, class Op, class Out>
struct field_of<ExecSpace, Key, Columns, output<Column, Op, Out>> {
  using column = std::tuple_element_t<Column, Columns>;
  using from = number_of<column>;
  using to = typename Out::value_type;
  static_assert(takes_nulls<Op> || !is_nullable<column>,
                "karpos: a column with nulls takes plus, minimum, maximum, mean, variance and "
                "count_valid");
  static_assert(std::is_arithmetic_v<from> && (sizeof(from) == 4 || sizeof(from) == 8) &&
                    std::is_arithmetic_v<to> && (sizeof(to) == 4 || sizeof(to) == 8),
                "karpos: values of a reduction are numbers of 4 or 8 bytes");
  static_assert(
      std::is_same_v<from, to> || widens_to<from, to>,
      "karpos: the view of an aggregate has the type of its column, or one that holds all "
      "of its values");
  static_assert(
      requires(Op const op, to x) { static_cast<to>(op(x, x)); },
      "karpos: an operation is called as op(a, b), const, with numbers of its view's type");

  using type = field<Column, Op, Out>;
  template <class Keys>
  static type make(ExecSpace const&, Keys const&, Columns const&,
                   output<Column, Op, Out> const& o) {
    return {o.op, o.out};
  }
};
template <class ExecSpace, class Key, class Columns, class Out>
struct field_of<ExecSpace, Key, Columns, output<no_column, count_rows, Out>> {
  static_assert(sizeof(typename Out::value_type) == 4 || sizeof(typename Out::value_type) == 8,
                "karpos: counts have 4 or 8 bytes");

  using type = field<no_column, plus, Out>;
  template <class Keys>
  static type make(ExecSpace const&, Keys const&, Columns const&,
                   output<no_column, count_rows, Out> const& o) {
    return {{}, o.out};
  }
};

/// The caller's rows, in the form in which they are split.
template <bool Mixes, class Split, class Keys, class... Columns>
struct loaded_columns : partition::plain_rows<Split> {
  Keys keys;
  pack<Columns...> columns;
  KOKKOS_FUNCTION loaded_columns(Keys const& k, pack<Columns...> const& c) : keys(k), columns(c) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION Split load(std::uint64_t i) const {
    return load(i, std::index_sequence_for<Columns...>{});
  }
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(Split const& l) {
    return reduce_by_key::key_of(l);
  }
  KOKKOS_FUNCTION loaded_columns<false, Split, Keys, Columns...> unmixed_source() const {
    return {keys, columns};
  }
  KOKKOS_FORCEINLINE_FUNCTION static void mix_key(Split& l) {
    if constexpr (has_value<Split>)
      l.key = mixed(l.key);
    else
      l = mixed(l);
  }

 private:
  template <std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION Split load(std::uint64_t i, std::index_sequence<I...>) const {
    if constexpr (sizeof...(I) == 0)
      return bits_of_key<Mixes, Split>(device::element(keys, i));
    else
      return {bits_of_key<Mixes, decltype(Split::key)>(device::element(keys, i)),
              {{reduce_by_key::load_value(detail::get<I>(columns), i)}...}};
  }
};

/// Rows with the first state of every field, made of the data that another source loads.
template <class Row, class Loaded, class... Fields>
struct keys_and_columns {
  using row = Row;
  using loaded = typename Loaded::row;
  Loaded from;
  pack<Fields...> fields;

  KOKKOS_FUNCTION std::uint64_t size() const { return from.size(); }
  KOKKOS_FORCEINLINE_FUNCTION loaded load(std::uint64_t i) const { return from.load(i); }
  KOKKOS_FORCEINLINE_FUNCTION row make(loaded const& l, std::uint64_t) const {
    return make(l, std::index_sequence_for<Fields...>{});
  }
  template <class LoadedOrRow>
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(LoadedOrRow const& r) {
    return reduce_by_key::key_of(r);
  }
  Loaded const& split_source() const { return from; }
  auto source_after_split(loaded const* rows, std::uint64_t n) const {
    using split = partial_rows<loaded>;
    return keys_and_columns<Row, split, Fields...>{split(rows, n), fields};
  }

 private:
  /// Makes a row; its padding, if it has any, stays unspecified.
  template <class Bits, class... State>
  KOKKOS_FORCEINLINE_FUNCTION static row row_of(Bits key, State const&... states) {
    if constexpr (std::is_same_v<decltype(row::value), pack<State...>>)
      return {key, {{states}...}};
    else
      return {key, {{states}..., {}}};
  }
  template <std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION row make(loaded const& l, std::index_sequence<I...>) const {
    if constexpr (has_value<loaded>)
      return row_of(l.key, detail::get<I>(fields).first(unmixed(l.key), l.value)...);
    else
      return row_of(l, detail::get<I>(fields).first(unmixed(l), pack<>{})...);
  }
};

/// The views that complete groups are written to.
template <class Keys, class... Fields>
struct result_fields {
  Keys keys;
  pack<Fields...> fields;
  std::uint64_t capacity;
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, Row const& r) const {
    if (i < capacity) write(i, r, std::index_sequence_for<Fields...>{});
  }

 private:
  template <class Row, std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, Row const& r,
                                         std::index_sequence<I...>) const {
    keys(i) = key_of_mixed<typename std::remove_cvref_t<Keys>::non_const_value_type>(r.key);
    (detail::get<I>(fields).write(i, unmixed(r.key), detail::get<I>(r.value)), ...);
  }
};

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
  using split = typename row_type<Key, std::conditional_t<sizeof...(Columns) == 0, no_value,
                                                          pack<loaded_of<Columns>...>>>::type;
  using bare_row = key_value<bits, pack<typename field_for<Outputs>::state...>>;
  static constexpr bool is_padded = sizeof(split) > sizeof(bare_row);
  using padding = row_padding<is_padded ? sizeof(split) - sizeof(bare_row) : 1>;
  using row = std::conditional_t<
      is_padded, key_value<bits, pack<typename field_for<Outputs>::state..., padding>>, bare_row>;
  using merge =
      std::conditional_t<is_padded, merge_each<decltype(field_for<Outputs>::op)..., keep_padding>,
                         merge_each<decltype(field_for<Outputs>::op)...>>;
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
    require_reachable<ExecSpace, decltype(Outputs::out)...>();
    require_reachable_columns<ExecSpace, column_traits<Columns>...>();
    return run(exec, keys, out_keys, aggregates, given, std::index_sequence_for<Columns...>{},
               std::index_sequence_for<Outputs...>{});
  }

 private:
  template <class Keys, class OutKeys, std::size_t... C, std::size_t... O>
  static std::uint64_t run(ExecSpace const& exec, Keys const& keys, OutKeys const& out_keys,
                           list const& a, wrapped_memory const& given, std::index_sequence<C...>,
                           std::index_sequence<O...>) {
    (require_same_extent("keys", keys.extent(0), "a column", extent_of(std::get<C>(a.columns))),
     ...);
    require_apart("an output of a reduction",
                  {range_of(out_keys), range_of(std::get<O>(a.outputs).out)...},
                  {range_of(keys), range_of(values_of(std::get<C>(a.columns)))...,
                   mask_range(std::get<C>(a.columns))..., range_of(given)});
    require_apart("the workspace of a reduction", range_of(given), keys,
                  values_of(std::get<C>(a.columns))..., mask_range(std::get<C>(a.columns))...);
    constexpr char const* bytes_call = "reduce_by_key_bytes<Key>(exec, rows, aggregates)";
    require_workspace(bytes_call, given, bytes(exec, keys.extent(0)));
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
        merge_of(detail::get<O>(f).op...), given, bytes_call);
    (finish(exec, detail::get<O>(f), groups), ...);
    return groups;
  }
  template <class... Op>
  static merge merge_of(Op const&... op) {
    if constexpr (is_padded)
      return {{{op}..., {}}};
    else
      return {{{op}...}};
  }
  template <class Field>
  static void finish(ExecSpace const& exec, Field const& f, std::uint64_t groups) {
    if constexpr (requires { f.finish(exec, groups); }) f.finish(exec, groups);
  }
};

}  // namespace karpos::detail::reduce_by_key
