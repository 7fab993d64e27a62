// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiled/bits.hpp"
#include "karpos/compiled/reduce_by_key.hpp"
#include "karpos/reduce_by_key.hpp"

namespace karpos::compiled {

/// Keeps the smaller or the larger of two numbers of type T, which come as their bits.
template <class T>
KOKKOS_INLINE_FUNCTION bits<T> extremum_of(bits<T> const& stored, bits<T> const& value,
                                           bool larger) {
  T const a = Kokkos::bit_cast<T>(stored), b = Kokkos::bit_cast<T>(value);
  return (larger ? a < b : b < a) ? value : stored;
}

/// The minimum or the maximum of numbers of the size of Word. The type of the numbers is chosen at
/// run time, so that all types of a size are compiled once. All threads take the same branch.
template <class Word>
struct extremum {
  enum class kind { is_unsigned, is_signed, is_floating };
  kind numbers;
  bool larger;

  KOKKOS_FUNCTION Word operator()(Word const& stored, Word const& value) const {
    using floating = std::conditional_t<sizeof(Word) == 4, float, double>;
    if (numbers == kind::is_unsigned) return extremum_of<Word>(stored, value, larger);
    if (numbers == kind::is_signed)
      return extremum_of<std::make_signed_t<Word>>(stored, value, larger);
    return extremum_of<floating>(stored, value, larger);
  }
};

namespace detail {
template <class Key, class T, class Op>
std::uint64_t reduce_by_key(execution_space const& exec, input<Key> const& keys,
                            input<T> const& values, output<Key> const& out_keys,
                            output<T> const& out_values, Op const&) {
  auto const k = bits_of_view(keys);
  auto const to = bits_of_view(out_keys);
  if constexpr (!std::is_same_v<Op, plus>) {
    using any = extremum<bits<T>>;
    any const op{std::is_floating_point_v<T> ? any::kind::is_floating
                 : std::is_signed_v<T>       ? any::kind::is_signed
                                             : any::kind::is_unsigned,
                 std::is_same_v<Op, maximum>};
    return karpos::reduce_by_key(exec, k, bits_of_view(values), to, bits_of_view(out_values), op);
  } else if constexpr (std::is_floating_point_v<T>) {
    return karpos::reduce_by_key(exec, k, values, to, out_values);
  } else {
    return karpos::reduce_by_key(exec, k, bits_of_view(values), to, bits_of_view(out_values));
  }
}

template <class Key, class Count>
std::uint64_t count_by_key(execution_space const& exec, input<Key> const& keys,
                           output<Key> const& out_keys, output<Count> const& out_counts) {
  return karpos::count_by_key(exec, bits_of_view(keys), bits_of_view(out_keys),
                              bits_of_view(out_counts));
}
}  // namespace detail
}  // namespace karpos::compiled

/// Compiles the reductions of keys of KEY bits and values of VALUE bits.
#define KARPOS_INSTANTIATE_OPERATION(Key, T, Op)                                      \
  template std::uint64_t karpos::compiled::detail::reduce_by_key(                     \
      execution_space const&, input<Key> const&, input<T> const&, output<Key> const&, \
      output<T> const&, Op const&);
#define KARPOS_INSTANTIATE_VALUES(Key, T)       \
  KARPOS_INSTANTIATE_OPERATION(Key, T, plus)    \
  KARPOS_INSTANTIATE_OPERATION(Key, T, minimum) \
  KARPOS_INSTANTIATE_OPERATION(Key, T, maximum)
#define KARPOS_INSTANTIATE_COUNT(Key, Count)                     \
  template std::uint64_t karpos::compiled::detail::count_by_key( \
      execution_space const&, input<Key> const&, output<Key> const&, output<Count> const&);
#define KARPOS_INSTANTIATE_KEYS(Key, VALUE)            \
  KARPOS_INSTANTIATE_VALUES(Key, std::uint##VALUE##_t) \
  KARPOS_INSTANTIATE_VALUES(Key, std::int##VALUE##_t)  \
  KARPOS_INSTANTIATE_VALUES(Key, floating<VALUE>)      \
  KARPOS_INSTANTIATE_COUNT(Key, std::uint##VALUE##_t)  \
  KARPOS_INSTANTIATE_COUNT(Key, std::int##VALUE##_t)
#define KARPOS_INSTANTIATE_REDUCE_BY_KEY(KEY, VALUE) \
  namespace karpos::compiled {                       \
  KARPOS_INSTANTIATE_KEYS(std::uint##KEY##_t, VALUE) \
  KARPOS_INSTANTIATE_KEYS(std::int##KEY##_t, VALUE)  \
  }
