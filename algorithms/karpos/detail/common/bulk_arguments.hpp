// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/hash.hpp"
#include "karpos/map_operation.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// The arguments of bulk operations on tables: checks, and the form that kernels take.

namespace karpos::detail {

/// Stencil that selects every key.
struct everything {
  KOKKOS_FUNCTION constexpr bool operator()(std::uint64_t) const { return true; }
};
/// Stencil that selects the keys with predicate(stencil(i)).
template <class View, class Predicate>
struct where {
  View stencil;
  Predicate predicate;
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const { return predicate(stencil(i)); }
  template <class F>
  auto transformed(F const& f) const {
    return where<decltype(f(stencil)), decltype(f(predicate))>{f(stencil), f(predicate)};
  }
};
template <class View, class Predicate>
where(View const&, Predicate const&) -> where<View, Predicate>;
struct as_bool {
  template <class X>
  KOKKOS_FUNCTION constexpr bool operator()(X const& x) const {
    return static_cast<bool>(x);
  }
};
template <class Keys, class Chosen>
void require_stencil(char const* what, Keys const& keys, Chosen const& chosen) {
  if constexpr (requires { chosen.stencil; })
    require_same_extent(what, keys.extent(0), "stencil", chosen.stencil.extent(0));
}

/// Requires that Out is a view of T that is not const, or of a type that holds each value of T.
template <class T, class Out>
void require_result_type() {
  using result = typename Out::value_type;
  static_assert(std::is_same_v<result, typename Out::non_const_value_type>,
                "karpos: what is found is written to a view that is not const");
  static_assert(
      std::is_same_v<result, T> || requires(T value) { result{value}; },
      "karpos: values that are found need a view of the table's values, or of a type that "
      "holds each of them");
}

/// Returns the values for keys: a view of the same length, or one value for all keys.
template <class T, class Keys, class Values>
auto values_for(Keys const& keys, Values const& values) {
  if constexpr (Kokkos::is_view_v<Values>) {
    require_value_type<T, Values>();
    require_same_extent("keys", keys.extent(0), "values", values.extent(0));
    return values;
  } else if constexpr (std::is_same_v<Values, constant<T>>) {
    return values;
  } else {
    static_assert(!(std::is_floating_point_v<Values> && std::is_integral_v<T>),
                  "karpos: a fraction cannot be the value of a table of integers");
    return constant<T>{static_cast<T>(values)};
  }
}

/// Returns a view or stencil whose extent is not part of its type: a subview of a View<T[100]> is
/// no View<T[100]>. Returns other arguments as they are.
template <class X>
auto with_dynamic_extent(X const& x) {
  if constexpr (requires { x.stencil; }) {
    auto const stencil = with_dynamic_extent(x.stencil);
    return where<std::remove_const_t<decltype(stencil)>, decltype(x.predicate)>{stencil,
                                                                                x.predicate};
  } else if constexpr (!Kokkos::is_view_v<X>) {
    return x;
  } else if constexpr (X::rank_dynamic() == 1) {
    return x;
  } else {
    return Kokkos::View<typename X::value_type*, typename X::array_layout, typename X::device_type,
                        typename X::memory_traits>(x);
  }
}
/// Returns elements [first, last) of a view or stencil. Returns other arguments as they are.
template <class X>
auto slice_of(X const& x, std::uint64_t first, std::uint64_t last) {
  if constexpr (Kokkos::is_view_v<X>)
    return decltype(with_dynamic_extent(x))(
        Kokkos::subview(with_dynamic_extent(x), std::pair(first, last)));
  else if constexpr (requires { x.stencil; })
    return decltype(with_dynamic_extent(x)){slice_of(x.stencil, first, last), x.predicate};
  else
    return x;
}

/// Returns the view that an argument reads; if it is no view or stencil, an empty view.
template <class X>
auto view_of(X const& x) {
  if constexpr (Kokkos::is_view_v<X>)
    return x;
  else if constexpr (requires { x.stencil; })
    return view_of(x.stencil);
  else
    return Kokkos::View<char*, Kokkos::AnonymousSpace>();
}
template <class X>
using view_type_of = decltype(view_of(std::declval<X const&>()));

/// Function of a lookup's result: the value, or `missing`.
template <class T>
struct value_or {
  T missing;
  KOKKOS_FUNCTION T operator()(found<T> const& answer) const {
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {  // CPUs: no branch
      using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      return from_bits<T>(
          device::select(answer.present, to_bits<bits>(answer.value), to_bits<bits>(missing)));
    } else {
      return answer.value_or(missing);
    }
  }
};
/// Function of a lookup's result: whether the key is stored.
struct presence {
  template <class T>
  KOKKOS_FUNCTION constexpr bool operator()(found<T> const& answer) const {
    return answer.present;
  }
};

template <class Key, class T, class Operations, class Results>
void require_operations(Operations const& operations, Results const& results) {
  static_assert(std::is_same_v<typename Operations::non_const_value_type, map_operation<Key, T>>,
                "karpos: operations come in a view of map_operation<Key, T>, of the map's types");
  static_assert(std::is_same_v<typename Results::value_type, map_result<T>>,
                "karpos: results go to a view of map_result<T>, of the map's value type");
  require_same_extent("operations", operations.extent(0), "results", results.extent(0));
}

struct operation_counts {
  std::uint64_t insertions, erasures;
};
template <class Operations>
struct count_operations_body {
  Operations operations;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& insertions,
                                  std::uint64_t& erasures) const {
    map_op const op = operations(first + i).op;
    insertions += op == map_op::insert;
    erasures += op == map_op::erase;
  }
};

/// Throws std::invalid_argument if some of the n keys of an insertion were equal to a sentinel.
inline void reject_invalid(insert_report const& report, std::uint64_t n) {
  if (report.invalid == 0) return;
  reject("keys equal to a sentinel",
         std::to_string(report.invalid) + " of " + std::to_string(n) +
             " keys; the others were handled: " + std::to_string(report.inserted) + " inserted, " +
             std::to_string(report.existing) + " existing, " + std::to_string(report.rejected) +
             " rejected",
         "choose other sentinels in the options");
}

}  // namespace karpos::detail
