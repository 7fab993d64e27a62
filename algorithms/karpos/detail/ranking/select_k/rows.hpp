// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

// Rows of scores, and where their results go. Rows follow each other in a sequence of positions:
// row r has those from begin(r) to begin(r + 1).

namespace karpos::detail::select_k {

/// Rows of one length.
template <class Score>
struct uniform_rows {
  using score = Score;
  static constexpr bool is_uniform = true;

  Score const* scores;
  std::uint64_t rows, length;
  std::uint64_t row_stride, stride;  // between rows, and between elements of a row

  KOKKOS_FUNCTION std::uint64_t begin(std::uint64_t r) const { return r * length; }
  KOKKOS_FUNCTION std::uint64_t size(std::uint64_t) const { return length; }
  KOKKOS_FUNCTION Score const* row(std::uint64_t r) const { return scores + r * row_stride; }
  /// Returns the last row that begins before a position. Requires: position > 0, and a row.
  KOKKOS_FUNCTION std::uint64_t row_before(std::uint64_t position) const {
    return length == 0 ? rows : Kokkos::min((position - 1) / length, rows - 1);
  }
  std::uint64_t elements() const { return rows * length; }
  std::uint64_t longest() const { return length; }
};

/// Rows of any lengths, given by their offsets in an array.
template <class Score, class Offset>
struct segment_rows {
  using score = Score;
  static constexpr bool is_uniform = false;

  Score const* scores;
  Offset const* offsets;
  std::uint64_t rows, size_of_array, stride;

  KOKKOS_FUNCTION std::uint64_t begin(std::uint64_t r) const {
    return static_cast<std::uint64_t>(offsets[r]);
  }
  KOKKOS_FUNCTION std::uint64_t size(std::uint64_t r) const { return begin(r + 1) - begin(r); }
  KOKKOS_FUNCTION Score const* row(std::uint64_t r) const { return scores + begin(r) * stride; }
  /// Returns the last row that begins before a position; a number of no row if none does.
  KOKKOS_FUNCTION std::uint64_t row_before(std::uint64_t position) const {
    std::uint64_t first = 0, n = rows;
    while (n > 0) {
      std::uint64_t const half = n / 2;
      bool const is_before = begin(first + half) < position;
      first = is_before ? first + half + 1 : first;
      n = is_before ? n - half - 1 : half;
    }
    return first - 1;
  }
  std::uint64_t elements() const { return size_of_array; }
  std::uint64_t longest() const { return size_of_array; }  // at most
};

/// The arrays for results of rows: indices, values, or both. One that is not wanted is null.
template <class Index, class Score>
struct row_results {
  Index* indices;
  std::uint64_t index_row_stride, index_stride;
  Score* values;
  std::uint64_t value_row_stride, value_stride;

  KOKKOS_FUNCTION void write(std::uint64_t row, std::uint64_t rank, std::uint64_t index,
                             Score value) const {
    if (indices != nullptr)
      indices[row * index_row_stride + rank * index_stride] = static_cast<Index>(index);
    if (values != nullptr) values[row * value_row_stride + rank * value_stride] = value;
  }
};

/// An order of chunks in long strides. Read in order, each of ascending scores would be the largest
/// so far, and cost more. Requires: 0 < chunks < 2^31.
class strided_order {
 public:
  KOKKOS_FUNCTION explicit strided_order(std::uint64_t chunks)
      : m_chunks(static_cast<std::uint32_t>(chunks)),
        m_step(m_chunks / 8 * 5 + 1) {
    while (common_divisor(m_step, m_chunks) > 1) ++m_step;
    m_step %= m_chunks;
  }
  KOKKOS_FUNCTION std::uint64_t chunk() const { return m_chunk; }
  KOKKOS_FUNCTION void next() {
    m_chunk += m_step;
    if (m_chunk >= m_chunks) m_chunk -= m_chunks;
  }

 private:
  KOKKOS_FUNCTION static std::uint32_t common_divisor(std::uint32_t a, std::uint32_t b) {
    while (b != 0) {
      std::uint32_t const rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
  std::uint32_t m_chunks, m_step, m_chunk = 0;  // chunks < 2^31
};

}  // namespace karpos::detail::select_k
