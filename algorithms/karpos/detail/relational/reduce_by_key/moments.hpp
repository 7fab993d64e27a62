// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/detail/relational/reduce_by_key/columns.hpp"
#include "karpos/detail/relational/reduce_by_key/group_table.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/operations.hpp"

// Means and variances of groups. Threads merge the numbers of a slot one by one, so that states are
// numbers which are added. A plain sum of squares would lose all digits if the mean is large.
// Numbers are therefore shifted by one of the group's own:
//
//   count    n
//   shift    c, the first number of the group; does not change once the slot has one
//   sum      of x - c
//   squares  sum of (x - c)^2       variance = (squares - sum^2 / n) / (n - ddof)
//
// The deviation of one number is at most the sum of all, (c - mean)^2 <= n variance; so rounding
// errors are enlarged n + 1 times at most, and about twice if c is near the mean.

namespace karpos::detail::reduce_by_key {

struct moments {
  std::uint64_t count;
  double shift, sum, squares;

  /// Returns the sums of the differences from another shift.
  KOKKOS_FORCEINLINE_FUNCTION moments shifted_to(double c) const {
    double const d = shift - c, moved = static_cast<double>(count) * d;
    return {count, c, sum + moved, squares + d * (2 * sum + moved)};
  }
  KOKKOS_FORCEINLINE_FUNCTION double variance(std::uint64_t ddof) const {
    if (count <= ddof) return Kokkos::Experimental::quiet_NaN_v<double>;
    double const v = squares - sum / static_cast<double>(count) * sum;
    return (v < 0 ? 0 : v) / static_cast<double>(count - ddof);  // NaN stays
  }
};
/// Returns the moments of one number. Infinities and NaNs make a variance NaN, and are no shift.
KOKKOS_FORCEINLINE_FUNCTION moments moments_of(double x) {
  if (x - x == 0) return {1, x, 0, 0};
  return {1, 0, x, x * x};
}

struct merge_moments {
  KOKKOS_FORCEINLINE_FUNCTION moments operator()(moments const& a, moments const& b) const {
    if (a.count == 0 || b.count == 0) return a.count == 0 ? b : a;
    moments const m = b.shifted_to(a.shift);
    return {a.count + m.count, a.shift, a.sum + m.sum, a.squares + m.squares};
  }
};
template <>
struct identity_of<merge_moments, moments> {
  static constexpr bool exists = true;
  KOKKOS_FORCEINLINE_FUNCTION static moments get() { return {0, 0, 0, 0}; }
};

/// The arrays of moments. The first number that is merged into a slot claims the shift.
template <>
class slot_values<moments> {
  using counts = slot_values<std::uint64_t>;
  using sums = slot_values<double>;
  static constexpr std::uint64_t unset = 0x7ff8'4b61'7270'6f73;  // a NaN, which is no shift

 public:
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t slots) {
    return 2 * counts::bytes(slots) + 2 * sums::bytes(slots);
  }
  KOKKOS_FUNCTION slot_values(std::byte* memory, std::uint32_t slots)
      : m_counts(memory, slots),
        m_shifts(reinterpret_cast<std::uint64_t*>(memory + counts::bytes(slots))),
        m_sums(memory + 2 * counts::bytes(slots), slots),
        m_squares(memory + 2 * counts::bytes(slots) + sums::bytes(slots), slots) {}

  KOKKOS_FORCEINLINE_FUNCTION moments get(std::uint32_t i) const {
    std::uint64_t const n = m_counts.get(i);
    return {n, n == 0 ? 0 : from_bits<double>(m_shifts[i]), m_sums.get(i), m_squares.get(i)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::uint32_t i, moments const& m) const {
    m_counts.store(i, m.count);
    m_shifts[i] = m.count == 0 ? unset : to_bits<std::uint64_t>(m.shift);
    m_sums.store(i, m.sum);
    m_squares.store(i, m.squares);
  }
  template <class Op>
  KOKKOS_FORCEINLINE_FUNCTION void merge(std::uint32_t i, moments const& m, Op const&) const {
    if (m.count == 0) return;
    moments const shifted = m.shifted_to(shift_of(i, m.shift));
    m_counts.merge(i, shifted.count, plus{});
    m_sums.merge(i, shifted.sum, plus{});
    m_squares.merge(i, shifted.squares, plus{});
  }

 private:
  /// Returns the shift of a slot: `mine` if it has none yet.
  KOKKOS_FORCEINLINE_FUNCTION double shift_of(std::uint32_t i, double mine) const {
    std::uint64_t const bits = to_bits<std::uint64_t>(mine);
    std::uint64_t shift = device::load_relaxed(device::scratch(m_shifts + i));
    if (shift == unset) {
      shift = device::compare_and_swap(device::scratch(m_shifts + i), unset, bits);
      if (shift == unset) shift = bits;
    }
    return from_bits<double>(shift);
  }

  counts m_counts;
  std::uint64_t* m_shifts;
  sums m_sums, m_squares;
};

/// A field of means: sums and counts. Sums of 32-bit integers are exact.
template <int Column, class From, class Out>
struct mean_field {
  using number =
      std::conditional_t<std::is_integral_v<From> && sizeof(From) == 4, std::int64_t, double>;
  using state = pack<number, std::uint64_t>;
  merge_each<plus, plus> op;
  Out out;

  template <class F>
  auto transformed(F const& f) const {
    return mean_field<Column, From, decltype(f(out))>{op, f(out)};
  }
  template <class Bits, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION state first(Bits, Columns const& columns) const {
    auto const& x = detail::get<Column>(columns);
    bool const has = has_number(x);
    return {{has ? static_cast<number>(number_in(x)) : number(0)}, {std::uint64_t(has)}};
  }
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, Bits, state const& s) const {
    using to = typename std::remove_cvref_t<Out>::value_type;
    out(i) = static_cast<to>(static_cast<double>(detail::get<0>(s)) /
                             static_cast<double>(detail::get<1>(s)));
  }
};

/// A field of variances.
template <int Column, class Out>
struct variance_field {
  using state = moments;
  merge_moments op;
  Out out;
  std::uint64_t ddof;

  template <class F>
  auto transformed(F const& f) const {
    return variance_field<Column, decltype(f(out))>{op, f(out), ddof};
  }
  template <class Bits, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION state first(Bits, Columns const& columns) const {
    auto const& x = detail::get<Column>(columns);
    return has_number(x) ? moments_of(static_cast<double>(number_in(x)))
                         : identity_of<merge_moments, moments>::get();
  }
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, Bits, state const& s) const {
    out(i) = static_cast<typename std::remove_cvref_t<Out>::value_type>(s.variance(ddof));
  }
};

/// A field that counts the values that are no nulls.
template <int Column, class Out>
struct valid_field {
  using state = typename std::remove_cvref_t<Out>::value_type;
  plus op;
  Out out;

  template <class F>
  auto transformed(F const& f) const {
    return valid_field<Column, decltype(f(out))>{op, f(out)};
  }
  template <class Bits, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION state first(Bits, Columns const& columns) const {
    return has_number(detail::get<Column>(columns));
  }
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, Bits, state const& s) const {
    out(i) = s;
  }
};

template <class Columns, int Column, class Out>
struct statistic_of {
  using from = number_of<std::tuple_element_t<Column, Columns>>;
  static_assert(std::is_arithmetic_v<from> && (sizeof(from) == 4 || sizeof(from) == 8),
                "karpos: values of a reduction are numbers of 4 or 8 bytes");
};
template <class Columns, int Column, class Out>
struct real_statistic_of : statistic_of<Columns, Column, Out> {
  static_assert(std::is_floating_point_v<typename Out::value_type>,
                "karpos: means and variances are written to a view of float or double");
};
template <class Columns, int Column, class Out>
struct mean_field_of : real_statistic_of<Columns, Column, Out> {
  using type = mean_field<Column, number_of<std::tuple_element_t<Column, Columns>>, Out>;
  template <class ExecSpace, class Keys, class Output>
  static type make(ExecSpace const&, Keys const&, Columns const&, Output const& o) {
    return {{}, o.out};
  }
};
template <class Columns, int Column, class Out>
struct variance_field_of : real_statistic_of<Columns, Column, Out> {
  using type = variance_field<Column, Out>;
  template <class ExecSpace, class Keys, class Output>
  static type make(ExecSpace const&, Keys const&, Columns const&, Output const& o) {
    return {{}, o.out, o.op.ddof};
  }
};
template <class Columns, int Column, class Out>
struct valid_field_of : statistic_of<Columns, Column, Out> {
  using to = typename Out::value_type;
  static_assert(std::is_integral_v<to> && (sizeof(to) == 4 || sizeof(to) == 8),
                "karpos: counts are integers of 4 or 8 bytes");
  using type = valid_field<Column, Out>;
  template <class ExecSpace, class Keys, class Output>
  static type make(ExecSpace const&, Keys const&, Columns const&, Output const& o) {
    return {{}, o.out};
  }
};

}  // namespace karpos::detail::reduce_by_key
