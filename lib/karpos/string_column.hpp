// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/hash.hpp"

// Columns of strings, for rows (rows.hpp): the bytes of all strings one after another, and where
// each string begins, as Arrow and cuDF store them.
//
//   bytes     V o l t a A m p è r e A r a g o      string 0 is Volta, string 2 is empty
//   offsets   0         5           12 12          n strings have n + 1 offsets, in bytes
//
// Strings are equal if they have the same bytes; zeros are bytes as any others.

namespace karpos {

/// A string in memory that somebody else owns: size() bytes from data() on. It is what a
/// string_column returns, and what a row to look up has: karpos::row(string_ref{"Volta", 5}, ...).
/// Kernels read its bytes, so they must be in memory that kernels reach.
class string_ref {
 public:
  string_ref() = default;
  KOKKOS_FORCEINLINE_FUNCTION constexpr string_ref(char const* data, std::uint64_t size)
      : m_data(data),
        m_size(size) {}
  /// Refers to the bytes of a std::string or std::string_view, or of a literal up to a zero.
  template <class Text>
    requires std::is_convertible_v<Text const&, std::string_view>
  constexpr string_ref(Text const& text) : string_ref(std::string_view(text)) {}
  constexpr string_ref(std::string_view s) : string_ref(s.data(), s.size()) {}
  /// Returns the same bytes as a standard view, on the host.
  explicit constexpr operator std::string_view() const { return {m_data, m_size}; }

  KOKKOS_FORCEINLINE_FUNCTION constexpr char const* data() const { return m_data; }
  KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t size() const { return m_size; }
  KOKKOS_FORCEINLINE_FUNCTION constexpr bool empty() const { return m_size == 0; }
  KOKKOS_FORCEINLINE_FUNCTION constexpr char operator[](std::uint64_t i) const { return m_data[i]; }

  KOKKOS_FUNCTION friend bool operator==(string_ref a, string_ref b) {
    if (a.m_size != b.m_size) return false;
    for (std::uint64_t i = 0; i < a.words(); ++i)
      if (a.word(i) != b.word(i)) return false;
    return true;
  }

  /// Returns a hash of the bytes, continued from h. The size is hashed, too: even an empty string
  /// changes h.
  KOKKOS_FUNCTION std::uint64_t hash(std::uint64_t h) const {
    h += m_size * 0xd6e8feb86659fd93u;
    // mix(h ^ word(0)) is hash_words of one word, without a call.
    KOKKOS_IF_ON_DEVICE((return m_size <= 8 ? mix(h ^ word(0)) : called_hash_words(h);))
    KOKKOS_IF_ON_HOST((return hash_words(h);))
  }

 private:
  // Kernels call this function for strings of more than eight bytes. Inlined wherever a kernel
  // hashes, its loop makes a join of strings compile three times as long for a GPU.
  [[gnu::noinline]] KOKKOS_FUNCTION std::uint64_t called_hash_words(std::uint64_t h) const {
    return hash_words(h);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t hash_words(std::uint64_t h) const {
    std::uint64_t i = 0;
    do h = mix(h ^ word(i));
    while (++i < words());
    return h;
  }

  /// The string as words of eight bytes. The last word of a longer string has its last eight bytes,
  /// some of which are also in the word before. The word of a shorter string has all its bytes,
  /// some of them twice. Strings of one size are equal if their words are. No byte beyond the
  /// string is read.
  KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t words() const { return (m_size + 7) / 8; }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t word(std::uint64_t i) const {
    if (m_size >= 8) return load<std::uint64_t>(8 * i + 8 <= m_size ? 8 * i : m_size - 8);
    if (m_size >= 4)
      return std::uint64_t(load<std::uint32_t>(0)) << 32 | load<std::uint32_t>(m_size - 4);
    if (m_size == 0) return 0;
    return std::uint64_t(load<std::uint8_t>(0)) << 16 |
           std::uint64_t(load<std::uint8_t>(m_size / 2)) << 8 | load<std::uint8_t>(m_size - 1);
  }
  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION Word load(std::uint64_t at) const {
    Word w;
    std::memcpy(&w, m_data + at, sizeof w);  // at any address
    return w;
  }

  char const* m_data;
  std::uint64_t m_size;
};

namespace detail {

/// Finds the first offset that is below the one before it, or above the number of bytes. Negative
/// numbers of signed types become huge ones.
template <class Offsets>
struct find_wrong_offset {
  Offsets offsets;
  std::uint64_t bytes;
  static constexpr std::uint64_t none = ~std::uint64_t(0);

  KOKKOS_FUNCTION std::uint64_t at(std::uint64_t i) const {
    return static_cast<std::uint64_t>(offsets(i));
  }
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& first) const {
    if (at(i) > bytes || (i > 0 && at(i) < at(i - 1))) first = Kokkos::min(first, i);
  }
};

}  // namespace detail

/// A column of strings for rows(): string i is the bytes [offsets(i), offsets(i + 1)). Bytes are a
/// contiguous view of objects of one byte (char, std::uint8_t, std::byte), offsets a view of
/// integers of 32 or 64 bits. The first offset may be above 0, and the last one below the number of
/// bytes: a column may be a part of another one, with a subview of its offsets.
///
/// The column shares the views: a copy is cheap, also into kernels.
template <class Bytes, class Offsets>
class string_column {
  using offset = typename Offsets::non_const_value_type;
  static_assert(sizeof(typename Bytes::non_const_value_type) == 1,
                "karpos: the bytes of strings are objects of one byte");
  static_assert(std::is_integral_v<offset> && (sizeof(offset) == 4 || sizeof(offset) == 8),
                "karpos: offsets of strings are integers of 32 or 64 bits");

 public:
  using is_elements = std::true_type;  // rows() takes it, though it is no view
  using value_type = string_ref;
  using non_const_value_type = string_ref;

  /// Wraps views, and checks every offset.
  ///
  /// Complexity: one pass over the offsets. Blocks.
  /// Throws: std::invalid_argument if there are no offsets at all, if one is below the one before
  ///   it, or above the number of bytes (the message names the first one that is wrong), and for
  ///   bytes that are strided or without memory.
  template <execution_space ExecSpace>
  string_column(ExecSpace const& exec, Bytes const& bytes, Offsets const& offsets)
      : string_column(bytes, offsets) {
    detail::user_call const call("string_column");
    detail::require_reachable<ExecSpace, Bytes, Offsets>();
    require_offsets(exec);
  }
  /// Wraps views without a look at the offsets, in constant time.
  ///
  /// Requires: offsets do not decrease, and the last one is at most the number of bytes (checked
  ///   with KARPOS_CONTRACTS when a string is read; without, memory beyond the bytes is read).
  /// Throws: std::invalid_argument if there are no offsets at all, and for bytes that are strided
  ///   or without memory.
  string_column(Bytes const& bytes, Offsets const& offsets) : m_bytes(bytes), m_offsets(offsets) {
    if constexpr (is_view_1d<Bytes>) {
      detail::user_call const call("string_column");
      detail::require_contiguous("bytes of strings", bytes);
      detail::require_data("bytes of strings", bytes);
      if (offsets.extent(0) == 0)
        detail::reject("strings have no offsets", "extent 0", "n strings have n + 1 offsets");
    }
  }

  /// Returns the number of strings.
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t extent(int /*0*/) const {
    return m_offsets.extent(0) - 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION string_ref operator()(std::uint64_t i) const {
    auto const begin = static_cast<std::uint64_t>(m_offsets(i));
    auto const end = static_cast<std::uint64_t>(m_offsets(i + 1));
    KARPOS_EXPECTS(begin <= end && end <= m_bytes.extent(0),
                   "offsets of strings do not decrease, and are at most the number of bytes");
    return {reinterpret_cast<char const*>(m_bytes.data()) + begin, end - begin};
  }
  Bytes const& bytes() const { return m_bytes; }
  KOKKOS_FORCEINLINE_FUNCTION Offsets const& offsets() const { return m_offsets; }

  /// Returns the column whose views are f(bytes()) and f(offsets()), for the bodies of loops
  /// (device/loop_arguments.hpp).
  template <class F>
  auto transformed(F const& f) const {
    return string_column<std::remove_cvref_t<decltype(f(m_bytes))>,
                         std::remove_cvref_t<decltype(f(m_offsets))>>(f(m_bytes), f(m_offsets));
  }

 private:
  template <class ExecSpace>
  void require_offsets(ExecSpace const& exec) const {
    using find = detail::find_wrong_offset<Offsets>;
    std::uint64_t const bytes = m_bytes.extent(0);
    std::uint64_t wrong = find::none;
    Kokkos::parallel_reduce("karpos::string_column: check",
                            detail::index_range(exec, m_offsets.extent(0)), find{m_offsets, bytes},
                            Kokkos::Min<std::uint64_t>(wrong));
    if (wrong == find::none) return;
    auto const text = [&](std::uint64_t i) {
      offset value{};
      Kokkos::deep_copy(exec, value, Kokkos::subview(m_offsets, i));
      exec.fence("karpos::string_column: a wrong offset");
      return std::to_string(value);
    };
    detail::reject("offset " + std::to_string(wrong) + " of strings is wrong",
                   text(wrong) + (wrong == 0 ? std::string() : " after " + text(wrong - 1)) +
                       ", with " + std::to_string(bytes) + " bytes",
                   "offsets do not decrease, and the last one is at most the number of bytes");
  }

  Bytes m_bytes;
  Offsets m_offsets;
};

}  // namespace karpos
