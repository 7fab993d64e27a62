// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/hash.hpp"
#include "karpos/string_column.hpp"

// Rows of columns: the keys of relational algorithms, such as joins.
//
//   i    | 0 | 0 | 1 | 0 |
//   j    | 5 | 7 | 5 | 5 |      rows(i, j, k) has four rows: the first and the last are equal
//   k    | 2 | 2 | 2 | 2 |

namespace karpos {

/// The rule for nulls, which are the values that a column's mask calls invalid.
enum class null_equality {
  equal,   ///< equal to all nulls of its column, and of the one it is joined with (GROUP BY)
  unequal  ///< equal to nothing, as for SQL's `=` in joins: no row equals a row that has a null
};

namespace detail {
template <>
inline constexpr enumeration<null_equality> enumeration_of<null_equality> = {
    "rule for nulls", "null_equality", null_equality::unequal};

/// A view of rank one, or what loops on CPUs hold in its place: a pointer and a stride
/// (device::strided_elements), or a string_column.
template <class X>
concept column_values = view_1d<X> || requires { typename std::remove_cvref_t<X>::is_elements; };
struct same_extents {};  // tag: values and mask are known to have the same extent
}  // namespace detail

/// A column with a mask: value i is a null unless valid(i) holds. The mask is a view of bool or of
/// an integer type. The value of a null is never used.
/// Throws: std::invalid_argument if the mask is not as long as the values.
template <detail::column_values Values, detail::column_values Valid>
class nullable {
 public:
  using value_type = typename std::remove_cvref_t<Values>::non_const_value_type;
  static_assert(std::is_integral_v<typename std::remove_cvref_t<Valid>::non_const_value_type>,
                "karpos: the mask of a column is a view of bool or of integers");
  static_assert(std::is_default_constructible_v<value_type>,
                "karpos: values that may be null have a default constructor");

  nullable(Values const& values, Valid const& valid) : m_values(values), m_valid(valid) {
    detail::user_call const call("nullable");
    detail::require_same_extent("the values of a column", values.extent(0), "its mask",
                                valid.extent(0));
  }
  KOKKOS_FORCEINLINE_FUNCTION Values const& values() const { return m_values; }
  KOKKOS_FORCEINLINE_FUNCTION Valid const& mask() const { return m_valid; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_valid(std::uint64_t i) const {
    return static_cast<bool>(m_valid(i));
  }
  /// Returns the column whose values view is f(values()) and whose mask view is f(mask()),
  /// for the bodies of loops (device/loop_arguments.hpp).
  template <class F>
  auto transformed(F const& f) const {
    using result = nullable<decltype(f(m_values)), decltype(f(m_valid))>;
    return result(detail::same_extents{}, f(m_values), f(m_valid));
  }

 private:
  template <detail::column_values, detail::column_values>
  friend class nullable;
  nullable(detail::same_extents, Values const& values, Valid const& valid)
      : m_values(values),
        m_valid(valid) {}

  Values m_values;
  Valid m_valid;
};

namespace detail {

template <class X>
inline constexpr bool is_nullable = false;
template <class Values, class Valid>
inline constexpr bool is_nullable<nullable<Values, Valid>> = true;

template <class X>
inline constexpr bool is_string_column = false;
template <class Bytes, class Offsets>
inline constexpr bool is_string_column<string_column<Bytes, Offsets>> = true;

template <class X>
concept column = column_values<X> || is_nullable<X>;

/// The type of a column's values, and whether a space reaches its values and its mask.
template <class Column>
struct column_traits {
  using value_type = typename std::remove_cvref_t<Column>::non_const_value_type;
  template <class Space>
  static constexpr bool reached_by = reaches<Space, Column>;
};
template <class Bytes, class Offsets>
struct column_traits<string_column<Bytes, Offsets>> {
  using value_type = string_ref;
  template <class Space>
  static constexpr bool reached_by = reaches<Space, Bytes> && reaches<Space, Offsets>;
};
template <class Values, class Valid>
struct column_traits<nullable<Values, Valid>> {
  using value_type = typename nullable<Values, Valid>::value_type;
  template <class Space>
  static constexpr bool reached_by =
      column_traits<Values>::template reached_by<Space> && reaches<Space, Valid>;
};

/// A tuple of objects of several types that kernels can use.
template <std::size_t I, class X>
struct pack_element {
  X x;
};
template <class Indices, class... X>
struct pack_of;
template <std::size_t... I, class... X>
struct pack_of<std::index_sequence<I...>, X...> : pack_element<I, X>... {};
template <class... X>
using pack = pack_of<std::index_sequence_for<X...>, X...>;
template <std::size_t I, class X>
KOKKOS_FORCEINLINE_FUNCTION constexpr X const& get(pack_element<I, X> const& e) {
  return e.x;
}

/// The bits that stand for a value of any size, as 64-bit words padded with zeros.
template <class T>
struct value_words {
  static constexpr int count = static_cast<int>((sizeof(T) + 7) / 8);
  std::uint64_t word[count];
};
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr value_words<T> words_of(T const& value) {
  constexpr std::size_t bytes = sizeof(value_words<T>);
  if constexpr (sizeof(T) <= 8) {
    return {{key_bits_of<std::uint64_t>(value)}};
  } else if constexpr (sizeof(T) == bytes) {
    return Kokkos::bit_cast<value_words<T>>(value);
  } else {
    struct padded {
      T value;
      unsigned char zeros[bytes - sizeof(T)];
    };
    static_assert(sizeof(padded) == bytes, "karpos: this type cannot be padded to machine words");
    return Kokkos::bit_cast<value_words<T>>(padded{value, {}});
  }
}

/// Whether equal values have equal bits. True also for floating-point numbers, because key_bits_of
/// gives both zeros one pattern, and all NaNs one.
template <class T>
inline constexpr bool has_key_bits =
    std::has_unique_object_representations_v<T> || (std::is_floating_point_v<T> && sizeof(T) <= 8);
// Not strings, whose bits are the address of their bytes.
template <>
inline constexpr bool has_key_bits<string_ref> = false;
template <>
inline constexpr bool has_key_bits<std::string_view> = false;

}  // namespace detail

/// Default hash of rows: mixes the words of all values, one after the other, into 64 bits. As for
/// hash<Key>, 0.0 and -0.0 are equal, and all NaNs are equal. Strings are hashed by their bytes.
///
/// A value may be a string_ref, a floating-point number of up to eight bytes, or an object of any
/// size without padding and without floating-point members. For other values pass functions of your
/// own (row_view::with_functions). Make each string a column of its own: a structure with a
/// string_ref in it compiles, but its address is hashed and compared, not its bytes.
struct row_hash {
  using is_avalanching = std::true_type;
  template <class... T>
  KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t operator()(T const&... values) const {
    static_assert(((detail::has_key_bits<T> || std::is_same_v<T, string_ref>)&&...),
                  "karpos: rows of values with padding or with floating-point members, or of "
                  "std::string_view, "
                  "need a hash and an equality of yours (with_functions), or a string_column");
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    (add_value(h, values), ...);
    return h;
  }

 private:
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr void add_value(std::uint64_t& h, T const& value) {
    if constexpr (std::is_same_v<T, string_ref>)
      h = value.hash(h);
    else
      add(h, detail::words_of(value));
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr void add(std::uint64_t& h,
                                                        detail::value_words<T> const& words) {
    for (int i = 0; i < detail::value_words<T>::count; ++i) h = mix(h ^ words.word[i]);
  }
};

/// Default equality of rows: two values are equal if their bits are, if both are zeros, or if both
/// are NaNs; two strings are if their bytes are. It agrees with row_hash.
struct row_equal {};

/// A row: one value of each column, and which of the values are null.
template <class... T>
class row {
 public:
  KOKKOS_FORCEINLINE_FUNCTION constexpr explicit row(T const&... values) : m_values{{values}...} {}
  KOKKOS_FORCEINLINE_FUNCTION constexpr row(detail::pack<T...> const& values, std::uint64_t nulls)
      : m_values(values),
        m_nulls(nulls) {}

  template <int Column>
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto const& value() const {
    return detail::get<Column>(m_values);
  }
  KOKKOS_FUNCTION constexpr bool is_null(int column) const { return m_nulls >> column & 1; }
  /// Returns a mask whose bit c is set if the value of column c is null.
  KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t nulls() const { return m_nulls; }

 private:
  detail::pack<T...> m_values;
  std::uint64_t m_nulls = 0;
};

/// Columns as rows, made by rows(). A copy is cheap, also into kernels, and shares the memory of
/// the views.
template <class Hash, class Equal, detail::column... Columns>
class row_view {
  static_assert(sizeof...(Columns) > 0 && sizeof...(Columns) <= 64,
                "karpos: rows have 1 to 64 columns");
  template <class Column>
  using value_of = typename detail::column_traits<Column>::value_type;
  static_assert((std::is_trivially_copyable_v<value_of<Columns>> && ...),
                "karpos: values of rows are trivially copyable");
  static constexpr bool default_equal = std::is_same_v<Equal, row_equal>;
  using every_column = std::index_sequence_for<Columns...>;

 public:
  using row_type = row<value_of<Columns>...>;
  using hasher = Hash;
  using row_equality = Equal;
  /// Whether a column has strings, whose values are addresses of their bytes.
  static constexpr bool has_strings = (std::is_same_v<value_of<Columns>, string_ref> || ...);
  /// Whether a row may have nulls.
  static constexpr bool may_have_nulls = (detail::is_nullable<Columns> || ...);
  /// Whether kernels of ExecSpace reach all columns and masks.
  template <class ExecSpace>
  static constexpr bool reached_by =
      (detail::column_traits<Columns>::template reached_by<ExecSpace> && ...);

  row_view(Hash const& hash, Equal const& equal, null_equality nulls, Columns const&... columns)
      : m_columns{{columns}...},
        m_hash(hash),
        m_equal(equal),
        m_nulls(nulls),
        m_size(extent(detail::get<0>(m_columns))) {
    detail::user_call const call("rows");
    detail::require_enumerators(nulls);
    (detail::require_same_extent("the first column of rows", m_size, "another one",
                                 extent(columns)),
     ...);
  }

  /// Returns these rows with this rule for nulls. rows() makes rows whose nulls are equal. Throws
  /// std::invalid_argument for an unknown rule.
  row_view with_nulls(null_equality nulls) const {
    detail::user_call const call("row_view", "with_nulls");
    detail::require_enumerators(nulls);
    row_view r = *this;
    r.m_nulls = nulls;
    return r;
  }
  /// Returns these rows with functions of the caller's, which kernels call. hash(values...) takes
  /// the values of one row and returns an integer. The integer is mixed, unless it has 64 bits and
  /// the function has a member type `is_avalanching` (hash.hpp). equal(values..., other_values...)
  /// takes the values of one row and then those of another. Rows that are equal must have equal
  /// hashes.
  ///
  /// Both functions get T{} for a null. The library also hashes and compares which values are null.
  /// The functions may not throw (operations.hpp has the rules for functors).
  template <class UserHash, class UserEqual>
  row_view<UserHash, UserEqual, Columns...> with_functions(UserHash const& hash,
                                                           UserEqual const& equal) const {
    return with_functions(hash, equal, every_column{});
  }

  /// Returns rows with f(column) in place of each column, for the bodies of loops
  /// (device/loop_arguments.hpp). Exists only if hash and equality are trivially copyable; if not,
  /// loops on CPUs hold a reference to these rows.
  template <class F>
    requires(std::is_trivially_copyable_v<Hash> && std::is_trivially_copyable_v<Equal>)
  auto transformed(F const& f) const {
    return transformed(f, every_column{});
  }

  /// Calls f(column) for each column, as it was passed. On the host.
  template <class F>
  void for_each_column(F const& f) const {
    for_each_column(f, every_column{});
  }

  KOKKOS_FUNCTION std::uint64_t size() const { return m_size; }
  KOKKOS_FUNCTION null_equality nulls() const { return m_nulls; }
  /// Returns the first column, as it was passed.
  KOKKOS_FUNCTION auto const& first_column() const { return detail::get<0>(m_columns); }

  /// Returns the values of row i.
  KOKKOS_FORCEINLINE_FUNCTION row_type operator[](std::uint64_t i) const {
    return load(i, every_column{});
  }
  /// Returns whether any row can be equal to this one: none can if this row has a null and nulls
  /// are unequal.
  KOKKOS_FORCEINLINE_FUNCTION bool can_equal(row_type const& r) const {
    return r.nulls() == 0 || m_nulls == null_equality::equal;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t hash(row_type const& r) const {
    return hash(r, every_column{});
  }
  KOKKOS_FORCEINLINE_FUNCTION bool equal(row_type const& a, row_type const& b) const {
    return a.nulls() == b.nulls() && can_equal(a) && equal(a, b, every_column{});
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t hash(std::uint64_t i) const { return hash((*this)[i]); }
  KOKKOS_FORCEINLINE_FUNCTION bool equal(std::uint64_t i, std::uint64_t j) const {
    return equal((*this)[i], (*this)[j]);
  }
  /// Returns whether row i is equal to row j of other rows, by the functions of these rows. Both
  /// must have columns of the same types.
  template <class OtherRows>
  KOKKOS_FORCEINLINE_FUNCTION bool equal(std::uint64_t i, OtherRows const& other,
                                         std::uint64_t j) const {
    static_assert(std::is_same_v<typename OtherRows::row_type, row_type>,
                  "karpos: rows that are compared have columns of the same types");
    return equal((*this)[i], other[j]);
  }

  /// Calls f(address) for each value and mask of row i, so that f can prefetch it; for a string,
  /// for its offset and its first byte. Leaves out columns whose elements are proxies.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_address(std::uint64_t i, F const& f) const {
    for_each_address(i, f, every_column{});
  }

 private:
  template <class Column>
  static std::uint64_t extent(Column const& c) {
    if constexpr (detail::is_nullable<Column>)
      return c.values().extent(0);
    else
      return c.extent(0);
  }
  template <class UserHash, class UserEqual, std::size_t... I>
  auto with_functions(UserHash const& hash, UserEqual const& equal,
                      std::index_sequence<I...>) const {
    using result = row_view<UserHash, UserEqual, Columns...>;
    return result(hash, equal, m_nulls, detail::get<I>(m_columns)...);
  }
  template <class, class, detail::column...>
  friend class row_view;
  row_view(detail::pack<Columns...> const& columns, Hash const& hash, Equal const& equal,
           null_equality nulls, std::uint64_t size)
      : m_columns(columns),
        m_hash(hash),
        m_equal(equal),
        m_nulls(nulls),
        m_size(size) {}
  template <class F, std::size_t... I>
  auto transformed(F const& f, std::index_sequence<I...>) const {
    using result = row_view<Hash, Equal, decltype(f(detail::get<I>(m_columns)))...>;
    return result({{f(detail::get<I>(m_columns))}...}, m_hash, m_equal, m_nulls, m_size);
  }

  template <class F, std::size_t... I>
  void for_each_column(F const& f, std::index_sequence<I...>) const {
    (f(detail::get<I>(m_columns)), ...);
  }

  template <std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION row_type load(std::uint64_t i, std::index_sequence<I...>) const {
    std::uint64_t nulls = 0;
    detail::pack<value_of<Columns>...> const values{
        {load_value<I>(detail::get<I>(m_columns), i, nulls)}...};
    return row_type(values, nulls);
  }
  template <std::size_t I, class Column>
  KOKKOS_FORCEINLINE_FUNCTION static value_of<Column> load_value(
      Column const& c, std::uint64_t i, [[maybe_unused]] std::uint64_t& nulls) {
    if constexpr (!detail::is_nullable<Column>) {
      return c(i);
    } else {
      if (c.is_valid(i)) return c.values()(i);
      nulls |= std::uint64_t(1) << I;
      return value_of<Column>{};
    }
  }

  template <std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t hash(row_type const& r,
                                                 std::index_sequence<I...>) const {
    static_assert(
        requires(Hash const h) { static_cast<std::uint64_t>(h(r.template value<I>()...)); },
        "karpos: a hash of rows is called as hash(values...), const, and returns an integer");
    auto const of_values = m_hash(r.template value<I>()...);
    auto h = static_cast<std::uint64_t>(of_values);
    if constexpr (!detail::avalanching<Hash> || sizeof(of_values) != sizeof(h)) h = mix(h);
    if constexpr (may_have_nulls) h = mix(h + r.nulls());
    return h;
  }
  template <std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION bool equal(row_type const& a, row_type const& b,
                                         std::index_sequence<I...>) const {
    if constexpr (default_equal) {
      return (row_view::same_bits(a.template value<I>(), b.template value<I>()) & ...);
    } else {
      static_assert(
          requires(Equal const e) {
            static_cast<bool>(e(a.template value<I>()..., b.template value<I>()...));
          }, "karpos: an equality of rows is called as equal(values..., other_values...), const");
      return static_cast<bool>(m_equal(a.template value<I>()..., b.template value<I>()...));
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static bool same_bits(string_ref a, string_ref b) { return a == b; }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static bool same_bits(T const& a, T const& b) {
    static_assert(detail::has_key_bits<T>,
                  "karpos: rows of values with padding or with floating-point members, or of "
                  "std::string_view, "
                  "need a hash and an equality of yours (with_functions), or a string_column");
    auto const x = detail::words_of(a), y = detail::words_of(b);
    bool same = true;
    for (int i = 0; i < detail::value_words<T>::count; ++i) same &= x.word[i] == y.word[i];
    return same;
  }

  template <class F, std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_address(std::uint64_t i, F const& f,
                                                    std::index_sequence<I...>) const {
    (row_view::address(detail::get<I>(m_columns), i, f), ...);
  }
  template <class Column, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void address(Column const& c, std::uint64_t i, F const& f) {
    if constexpr (detail::is_nullable<Column>) {
      address(c.values(), i, f);
      address(c.mask(), i, f);
    } else if constexpr (detail::is_string_column<Column>) {
      // Reads the offset at once, which may miss the cache: it has the address of the string.
      address(c.offsets(), i, f);
      f(c(i).data());
    } else if constexpr (std::is_lvalue_reference_v<decltype(c(i))>) {
      f(&c(i));
    }
  }

  detail::pack<Columns...> m_columns;
  Hash m_hash;
  Equal m_equal;
  null_equality m_nulls;
  std::uint64_t m_size;
};

namespace detail {
template <class X>
inline constexpr bool is_row_view = false;
template <class Hash, class Equal, class... Columns>
inline constexpr bool is_row_view<row_view<Hash, Equal, Columns...>> = true;
template <class X>
inline constexpr bool is_row_view<X const> = is_row_view<X>;

/// Throws std::invalid_argument if the left rows of a join (the queries of an index) have nullable
/// columns and take nulls for unequal, but the right rows (those of the index), whose rule counts,
/// have nullable columns and take them for equal: nulls would match, silently.
template <class Queries, class Rows>
void require_rule_for_nulls(Queries const& queries, Rows const& rows) {
  if constexpr (Queries::may_have_nulls && Rows::may_have_nulls)
    if (queries.nulls() == null_equality::unequal && rows.nulls() == null_equality::equal)
      reject("nulls are unequal in the left rows (queries), but equal in the right rows (index)",
             "the rule of the right rows counts",
             "call with_nulls(null_equality::unequal) on the right rows, too");
}

/// Asserts that kernels of ExecSpace reach all columns of some rows, or of column_traits.
template <class ExecSpace, class... Rows>
constexpr void require_reachable_columns() {
  static_assert(
      (Rows::template reached_by<ExecSpace> && ...),
      "karpos: a column lies in a memory space that the execution space cannot reach; copy it "
      "with Kokkos::create_mirror_view_and_copy first");
}

/// Whether rows have one column without a mask, compared by the library: bits identify them.
template <class Rows>
struct single_value {
  static constexpr bool is_key = false;
};
template <class Hash, class Equal, column_values Column>
struct single_value<row_view<Hash, Equal, Column>> {
  using type = typename column_traits<Column>::value_type;
  static constexpr bool is_key = std::is_same_v<Hash, row_hash> &&
                                 std::is_same_v<Equal, row_equal> && has_key_bits<type> &&
                                 sizeof(type) <= 8;
  using bits = std::conditional_t<sizeof(type) <= 4, std::uint32_t, std::uint64_t>;
};
}  // namespace detail

/// Makes rows of columns. A column is a view of rank one, strided views included, of trivially
/// copyable values of any size; string_column(exec, bytes, offsets), whose strings are values of
/// type string_ref (string_column.hpp); a view of string_refs; or nullable(values, mask) of one of
/// them.
///
/// Rows are hashed by row_hash and compared by row_equal: 0.0 equals -0.0, NaN equals NaN, and
/// strings are equal if they have the same bytes. Nulls are equal. row_view::with_functions and
/// row_view::with_nulls change these rules.
///
/// Returns: a row_view, which kernels take by value.
/// Complexity: O(columns and bytes of strings) for each row that is hashed or compared. A thread
///   reads a string by itself, eight bytes at a time.
/// Concurrency: reads only; no thread may change the columns while they are used as keys.
/// Memory: none; shares that of the columns.
/// Throws: std::invalid_argument for columns of different length.
/// Source: "Maximizing performance with massively parallel hash maps on GPUs", NVIDIA developer
///   blog, 2023, for joins by a hash of the row and then by row_equal, as RAPIDS cuDF does them.
template <detail::column... Columns>
row_view<row_hash, row_equal, Columns...> rows(Columns const&... columns) {
  detail::user_call const call("rows");
  return {row_hash{}, row_equal{}, null_equality::equal, columns...};
}

}  // namespace karpos
