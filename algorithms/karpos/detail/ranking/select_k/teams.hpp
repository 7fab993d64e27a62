// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/ranking/ranked.hpp"
#include "karpos/detail/ranking/select_k/radix.hpp"
#include "karpos/detail/ranking/select_k/rows.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/streaming.hpp"

// Selects few elements of each of many rows on GPUs (drawn in run.hpp): a team reads a row once.
//
//   row      | tile | tile | tile | …     elements above the bound are appended to the buffer;
//   buffer   | k largest | others |       if a tile may not fit, radix selection in scratch keeps
//   bound      the k-th of the buffer     the k largest, whose last one is the new bound
//
// Few long rows are cut, so that all teams have work: at multiples of `length` in the sequence of
// positions. A team selects from each piece; then a team for each row that was cut selects from
// these candidates.
//
//   windows      |       0       |       1       |       2       |
//   rows          …|---- row ---------------------------|…
//   candidates         slot 1    |    slot 2     | slot 4|   2 slots for each window: of the row
//                                                    that goes on, and of the one that begins

namespace karpos::detail::select_k {

/// Scratch of a team: candidates for the k largest, and a histogram.
template <class Bits>
struct team_candidates {
  static constexpr std::uint32_t capacity = 4096;
  static constexpr int digit_bits = 8, digit_values = 1 << digit_bits;

  Bits keys[capacity];
  std::uint32_t indices[capacity];
  std::uint32_t counts[digit_values];  // zero between uses
  kth_prefix<Bits> kth_key;
  kth_prefix<std::uint32_t> kth_index;
  std::uint32_t size, kept;
};

/// Constants of the teams that select from rows.
struct team_shape {
  static constexpr int threads = 256;
  static constexpr int quads = 2;  // of a thread, in a tile: four adjacent elements each
  static constexpr int elements_per_thread = 4 * quads;
  static constexpr std::uint64_t tile = threads * elements_per_thread;
  static constexpr int at_once = 5;  // on a multiprocessor; 4 for scores of 8 bytes
};

/// Selects the k largest elements of a piece in the scratch of a team. All threads of the team make
/// the same calls.
template <class Bits, class Team>
class team_selection {
  using candidates = team_candidates<Bits>;

 public:
  /// Requires: k > 0, and k + tile <= capacity, or a piece of at most `capacity` elements.
  KOKKOS_FUNCTION team_selection(Team const& team, std::uint32_t k)
      : m_team(team),
        m_c(*reinterpret_cast<candidates*>(team.scratch())),
        m_k(k) {
    for (int v = team.rank(); v < candidates::digit_values; v += team.size()) m_c.counts[v] = 0;
    if (team.rank() == 0) m_c.size = 0;
    team.barrier();
  }

  /// Reads a piece once; then the buffer has its k largest elements. An element that is below the
  /// bound costs a load and a comparison.
  template <class Piece>
  KOKKOS_FUNCTION void read(Piece const& piece) {
    std::uint32_t const threads = device::size(m_team);
    std::uint64_t const tile = std::uint64_t(threads) * team_shape::elements_per_thread;
    std::uint64_t const shift = piece.elements_past_alignment();
    std::uint64_t const tiles = (piece.size + shift + tile - 1) / tile;
    strided_order order(tiles);
    for (std::uint64_t t = 0; t < tiles; ++t, order.next()) {
      // Elements before the first one have numbers near 2^64.
      std::uint64_t const first = order.chunk() * tile - shift + 4 * device::rank(m_team);
      auto const bound = piece.element_of(bound_behind(order.chunk() * tile, shift));
      typename Piece::element x[team_shape::quads][4];
      KARPOS_UNROLL
      for (int q = 0; q < team_shape::quads; ++q)
        piece.load(first + 4 * static_cast<std::uint32_t>(q) * threads, x[q]);
      bool any = false;
      KARPOS_UNROLL
      for (int q = 0; q < team_shape::quads; ++q) KARPOS_UNROLL
      for (int v = 0; v < 4; ++v) any |= Piece::may_reach(x[q][v], bound);
      if (any) append(piece, x, first, bound);
      // The thread that appended last sees the sum.
      if (t + 1 < tiles && m_team.any(device::load_relaxed(device::scratch(&m_c.size)) + tile >
                                      candidates::capacity))
        keep_largest();
    }
    m_team.barrier();
    keep_largest();
  }

  /// Sorts the buffer: the largest element first, equal ones by index. Bitonic.
  KOKKOS_FUNCTION void sort() {
    std::uint32_t const step = device::size(m_team), n = m_c.size;
    std::uint32_t all = 1;
    while (all < n) all *= 2;
    for (std::uint32_t i = n + device::rank(m_team); i < all; i += step) {
      m_c.keys[i] = ~Bits(0);
      m_c.indices[i] = ~0u;
    }
    m_team.barrier();
    for (std::uint32_t width = 2; width <= all; width *= 2)
      for (std::uint32_t distance = width / 2; distance > 0; distance /= 2) {
        for (std::uint32_t p = device::rank(m_team); p < all / 2; p += step) {
          std::uint32_t const a = 2 * p - (p & (distance - 1));
          exchange(a, a + distance, (a & width) == 0);
        }
        m_team.barrier();
      }
  }

  /// Calls write(rank, key, index) for each element of the buffer, on one thread each.
  template <class Write>
  KOKKOS_FUNCTION void for_each(Write const& write) const {
    for (std::uint32_t i = device::rank(m_team); i < m_k; i += device::size(m_team))
      write(i, m_c.keys[i], m_c.indices[i]);
    m_team.barrier();
  }

 private:
  /// Returns the key that elements of a tile must reach; all threads have the same. `tile_begin` -
  /// `shift` is the index of the tile's first element: if it is above the index of the bound,
  /// elements that equal the bound rank behind it. No key precedes 0: elements that equal such a
  /// bound reach it, and append compares their indices.
  KOKKOS_FUNCTION Bits bound_behind(std::uint64_t tile_begin, std::uint64_t shift) const {
    return tile_begin > m_index + shift && m_bound > 0 ? m_bound - 1 : m_bound;
  }
  /// Appends those of a thread's elements that do not rank behind the bound. Few threads have any,
  /// most of them one, so that each adds by itself.
  template <class Piece>
  KOKKOS_FUNCTION void append(Piece const& piece,
                              typename Piece::element const (&x)[team_shape::quads][4],
                              std::uint64_t first, typename Piece::element bound) {
    std::uint32_t reaching = 0, found = 0;  // bit 4 q + v: x[q][v]
    KARPOS_UNROLL
    for (int q = 0; q < team_shape::quads; ++q) KARPOS_UNROLL
    for (int v = 0; v < 4; ++v)
      reaching |= std::uint32_t(Piece::may_reach(x[q][v], bound)) << (4 * q + v);
    for_each_bit(reaching, [&](std::uint32_t e, std::uint32_t bit) {
      Bits const key = Piece::key(element(x, e));
      std::uint64_t const at = first + offset_of(e);
      auto const i = static_cast<std::uint32_t>(at);
      if (at < piece.size && (key < m_bound || (key == m_bound && i <= m_index))) found |= bit;
    });
    if (found == 0) return;
    std::uint32_t to = device::fetch_add(
        device::scratch(&m_c.size),
        static_cast<std::uint32_t>(Kokkos::Experimental::popcount_builtin(found)));
    for_each_bit(found, [&](std::uint32_t e, std::uint32_t) {
      m_c.keys[to] = Piece::key(element(x, e));
      m_c.indices[to++] = static_cast<std::uint32_t>(first + offset_of(e));
    });
  }
  /// Calls f(e, 1 << e) for each bit e of a word.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_bit(std::uint32_t word, F const& f) {
    for (; word != 0; word &= word - 1) {
      auto const e = static_cast<std::uint32_t>(Kokkos::Experimental::countr_zero_builtin(word));
      f(e, 1u << e);
    }
  }
  /// Returns x[e / 4][e % 4]. Compares numbers, for an index that is known only at run time would
  /// move the array out of the registers.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T element(T const (&x)[team_shape::quads][4],
                                               std::uint32_t e) {
    T y = x[0][0];
    KARPOS_UNROLL
    for (std::uint32_t q = 0; q < team_shape::quads; ++q) KARPOS_UNROLL
    for (std::uint32_t v = 0; v < 4; ++v) y = e == 4 * q + v ? x[q][v] : y;
    return y;
  }
  /// Returns the offset of element e of a thread from its first.
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t offset_of(std::uint32_t e) const {
    return 4 * std::uint64_t(device::size(m_team)) * (e / 4) + e % 4;
  }
  KOKKOS_FUNCTION void exchange(std::uint32_t a, std::uint32_t b, bool ascending) {
    ranked<Bits> const x{m_c.keys[a], m_c.indices[a]}, y{m_c.keys[b], m_c.indices[b]};
    if ((y < x) != ascending) return;
    m_c.keys[a] = y.key, m_c.keys[b] = x.key;
    m_c.indices[a] = static_cast<std::uint32_t>(y.index);
    m_c.indices[b] = static_cast<std::uint32_t>(x.index);
  }

  /// Removes all but the k largest from the buffer. Begins and ends after a barrier.
  KOKKOS_FUNCTION void keep_largest() {
    std::uint32_t const n = m_c.size;
    if (n <= m_k) return;
    auto const key = find_kth<Bits>(n, m_k, &m_c.kth_key,
                                    [&](std::uint64_t i, auto const& use) { use(m_c.keys[i]); });
    kth_prefix<std::uint32_t> index{0, 32, true, 0};
    if (!key.complete)  // some elements that equal the k-th are not selected
      index = find_kth<std::uint32_t>(n, key.remaining, &m_c.kth_index,
                                      [&](std::uint64_t i, auto const& use) {
                                        if (m_c.keys[i] == key.prefix) use(m_c.indices[i]);
                                      });
    m_bound = last_with(key);
    m_index = key.complete ? ~0u : last_with(index);
    if (m_team.rank() == 0) m_c.kept = 0;
    std::uint32_t const step = device::size(m_team);
    for (std::uint32_t first = 0; first < n; first += step) {
      std::uint32_t const i = first + device::rank(m_team);
      Bits const k = i < n ? m_c.keys[i] : Bits(0);
      std::uint32_t const at_k = i < n ? m_c.indices[i] : 0;
      m_team.barrier();  // what is kept goes to places that all threads have read
      bool const is_kept = i < n && (k < m_bound || (k == m_bound && at_k <= m_index));
      std::uint32_t const to = m_team.append(&m_c.kept, is_kept);
      if (!is_kept) continue;
      m_c.keys[to] = k;
      m_c.indices[to] = at_k;
    }
    m_team.barrier();
    if (m_team.rank() == 0) m_c.size = m_c.kept;
    m_team.barrier();
  }
  /// Returns the largest word with a prefix.
  template <class Word>
  KOKKOS_FUNCTION static Word last_with(kth_prefix<Word> const& c) {
    return static_cast<Word>(c.prefix << c.shift | ((Word(1) << c.shift) - 1));
  }
  /// Returns the prefix of the k-th smallest of the words that visit(i, use) hands to use, for i in
  /// [0, n).
  template <class Word, class Visit>
  KOKKOS_FUNCTION kth_prefix<Word> find_kth(std::uint32_t n, std::uint64_t k,
                                            kth_prefix<Word>* shared, Visit const& visit) {
    constexpr int all = 8 * sizeof(Word), width = candidates::digit_bits;
    kth_prefix<Word> c{0, all, false, k};
    for (int shift = all - width; shift >= 0 && !c.complete; shift -= width) {
      radix_digit const digit{shift, width, c.shift == all};
      count_digit(m_team, 0, n, c, digit, m_c.counts, visit);
      m_team.barrier();
      find_digit(m_team, candidates::digit_values, c, digit, m_c.counts, shared);
      m_team.barrier();
      c = *shared;
    }
    return c;
  }

  Team const& m_team;
  candidates& m_c;
  std::uint32_t m_k;
  Bits m_bound = ~Bits(0);  // elements that rank behind (bound, index) are not selected
  std::uint32_t m_index = ~0u;
};

/// A row, or a piece of one.
template <class Score>
struct row_piece {
  using element = Score;
  Score const* scores;
  std::uint64_t stride, row, first, size;  // first: its first element in the row
  std::uint64_t slot;                      // of its candidates
  bool is_whole;

  /// Returns the number of elements since the last multiple of 16 bytes.
  KOKKOS_FUNCTION std::uint64_t elements_past_alignment() const {
    return reinterpret_cast<std::uintptr_t>(scores) % 16 / sizeof(Score);
  }
  /// Loads elements i to i + 3; those that do not exist are 0.
  KOKKOS_FUNCTION void load(std::uint64_t i, Score (&x)[4]) const {
    if (stride == 1 && i < size && size - i >= 4)
      device::load_streamed<4>(scores + i, x);
    else
      for (unsigned v = 0; v < 4; ++v) x[v] = i + v < size ? scores[(i + v) * stride] : Score(0);
  }
  /// Returns whether x may rank as high as a bound; true if either is a NaN.
  KOKKOS_FUNCTION static bool may_reach(Score x, Score bound) { return !(x < bound); }
  KOKKOS_FUNCTION static Score element_of(radix_key<Score> key) {
    return score_from_key<Score>(key);
  }
  KOKKOS_FUNCTION static radix_key<Score> key(Score x) { return descending_key(x); }
  KOKKOS_FUNCTION std::uint64_t index(std::uint32_t i) const { return first + i; }
};

/// The candidates of a row that was cut: `leading` of its first piece, then k of each other piece.
/// The order of equal elements is that of their indices.
template <class Score>
struct merged_piece {
  using element = radix_key<Score>;
  using entry = ranked<element>;
  entry const* candidates;
  std::uint64_t row, size, slot;  // of the first piece
  std::uint32_t k, leading;
  static constexpr bool is_whole = true;

  KOKKOS_FUNCTION static std::uint64_t elements_past_alignment() { return 0; }
  KOKKOS_FUNCTION void load(std::uint64_t i, element (&x)[4]) const {
    for (unsigned v = 0; v < 4; ++v)
      x[v] = i + v < size ? candidate(static_cast<std::uint32_t>(i + v)).key : element(0);
  }
  KOKKOS_FUNCTION static bool may_reach(element x, element bound) { return x <= bound; }
  KOKKOS_FUNCTION static element element_of(element key) { return key; }
  KOKKOS_FUNCTION static element key(element x) { return x; }
  KOKKOS_FUNCTION std::uint64_t index(std::uint32_t i) const { return candidate(i).index; }

 private:
  KOKKOS_FUNCTION entry const& candidate(std::uint32_t i) const {
    if (i < leading) return candidates[slot * k + i];
    std::uint32_t const behind = i - leading;
    return candidates[(slot + 1 + 2 * (behind / k)) * k + behind % k];
  }
};

/// Windows of the sequence of positions.
struct row_windows {
  std::uint64_t length, count;  // both 0 if rows are not cut
};

/// Rows, cut where windows begin.
template <class Rows>
struct cut_rows {
  using score = typename Rows::score;
  using piece = row_piece<score>;
  Rows rows;
  row_windows windows;
  std::uint64_t k;

  std::uint64_t pieces() const { return rows.rows + windows.count; }

  /// Finds a piece: the one that begins with row u, or the one that begins with a window. Returns
  /// whether there is one.
  KOKKOS_FUNCTION bool find(std::uint64_t u, piece& p) const {
    std::uint64_t const length = windows.length;
    std::uint64_t const at = u < rows.rows ? 0 : (u - rows.rows) * length;
    std::uint64_t const r = u < rows.rows ? u : at == 0 ? rows.rows : rows.row_before(at);
    if (r >= rows.rows) return false;
    std::uint64_t const begin = rows.begin(r), end = begin + rows.size(r);
    std::uint64_t const from = Kokkos::max(begin, at);
    if (from >= end) return false;
    std::uint64_t const window = length == 0 ? 0 : from / length;
    std::uint64_t const cut = length == 0 ? end : Kokkos::min(end, (window + 1) * length);
    std::uint64_t const first = from - begin;
    p = {rows.row(r) + first * rows.stride,
         rows.stride,
         r,
         first,
         cut - from,
         2 * window + (from == begin),
         first == 0 && cut == end};
    return true;
  }
};

/// Rows that were cut, one for each window in which such a row begins.
template <class Rows>
struct merged_rows {
  using score = typename Rows::score;
  using piece = merged_piece<score>;
  cut_rows<Rows> cut;
  typename piece::entry const* candidates;

  std::uint64_t pieces() const { return cut.windows.count; }

  KOKKOS_FUNCTION bool find(std::uint64_t window, piece& p) const {
    std::uint64_t const length = cut.windows.length, next = (window + 1) * length;
    std::uint64_t const r = cut.rows.row_before(next);
    if (r >= cut.rows.rows) return false;
    std::uint64_t const begin = cut.rows.begin(r), end = begin + cut.rows.size(r);
    if (begin < window * length || end <= next) return false;
    std::uint64_t const leading = Kokkos::min(next - begin, cut.k);
    std::uint64_t const behind =
        (end - next) / length * cut.k + Kokkos::min((end - next) % length, cut.k);
    p = {candidates,
         r,
         leading + behind,
         2 * window + 1,
         static_cast<std::uint32_t>(cut.k),
         static_cast<std::uint32_t>(leading)};
    return true;
  }
};

/// Selects from pieces, a team for each. Writes results of whole rows, and candidates of others.
template <class Pieces, class Rows, class Results>
struct select_from_pieces {
  using score = typename Rows::score;
  using entry = ranked<radix_key<score>>;
  static constexpr int threads = team_shape::threads;
  static constexpr int teams_at_once = sizeof(score) == 4 ? team_shape::at_once : 4;
  static constexpr std::size_t scratch_bytes = sizeof(team_candidates<radix_key<score>>);

  Pieces pieces;
  std::uint64_t count;
  Rows rows;
  Results results;
  entry* candidates;
  std::uint64_t k;
  bool sorted;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    auto const step = static_cast<std::uint64_t>(team.league_size());
    for (auto u = static_cast<std::uint64_t>(team.league_rank()); u < count; u += step) {
      typename Pieces::piece p;
      if (!pieces.find(u, p)) continue;
      team_selection<radix_key<score>, Team> selection(
          team, static_cast<std::uint32_t>(Kokkos::min(k, p.size)));
      selection.read(p);
      if (sorted || !p.is_whole) selection.sort();
      selection.for_each([&](std::uint32_t rank, radix_key<score> key, std::uint32_t i) {
        std::uint64_t const index = p.index(i);
        if (p.is_whole)
          results.write(p.row, rank, index, rows.row(p.row)[index * rows.stride]);
        else
          write_candidate(p, rank, {key, index});
      });
    }
  }

 private:
  KOKKOS_FUNCTION void write_candidate([[maybe_unused]] typename Pieces::piece const& p,
                                       [[maybe_unused]] std::uint32_t rank,
                                       [[maybe_unused]] entry const& e) const {
    if constexpr (std::is_same_v<typename Pieces::piece, row_piece<score>>)
      candidates[p.slot * k + rank] = e;
  }
};

/// Returns whether teams can select k elements of each row in their scratch.
template <class Bits>
bool can_use_teams(std::uint64_t longest, std::uint64_t k) {
  constexpr std::uint64_t capacity = team_candidates<Bits>::capacity;
  return k + team_shape::tile <= capacity || longest <= capacity;
}

/// Returns windows such that every team of the machine has work, and merging the candidates of a
/// row takes no longer than finding them. Whole rows, if they are as many as teams and of one
/// length, are not cut.
template <class ExecSpace>
row_windows windows_for(ExecSpace const& exec, std::uint64_t elements, std::uint64_t longest,
                        std::uint64_t k, bool is_uniform) {
  constexpr std::uint64_t shortest = 1u << 14, most = std::uint64_t(1) << 31;
  auto const teams = static_cast<std::uint64_t>(device::processors(exec) * team_shape::at_once);
  bool const is_busy = is_uniform && elements / longest >= teams / 2;
  if ((is_busy || elements <= shortest) && longest <= most) return {0, 0};
  auto const balanced =
      static_cast<std::uint64_t>(std::sqrt(static_cast<double>(longest) * static_cast<double>(k)));
  std::uint64_t const length = Kokkos::min(
      Kokkos::max(Kokkos::max(shortest, k), Kokkos::max(balanced, (elements + teams - 1) / teams)),
      most);
  return {length, (elements + length - 1) / length};
}
template <class Bits>
std::size_t team_bytes(row_windows const& windows, std::uint64_t k) {
  return 2 * windows.count * k * sizeof(ranked<Bits>);
}

/// Selects k elements of each of these rows. Asynchronous to the host.
template <class ExecSpace, class Rows, class Results>
void select_by_teams(ExecSpace const& exec, Rows const& rows, row_windows const& windows,
                     std::uint64_t k, Results const& results, bool sorted) {
  using entry = ranked<radix_key<typename Rows::score>>;
  auto const run = [&](char const* label, auto const& pieces, entry* candidates) {
    std::uint64_t const n = pieces.pieces();
    using step = select_from_pieces<std::remove_cvref_t<decltype(pieces)>, Rows, Results>;
    device::for_each_in_league(label, exec,
                               static_cast<int>(Kokkos::min(n, std::uint64_t(1) << 30)),
                               step{pieces, n, rows, results, candidates, k, sorted});
  };
  cut_rows<Rows> const pieces{rows, windows, k};
  if (windows.count == 0) return run("karpos::select_k: select from rows", pieces, nullptr);
  workspace<ExecSpace> const memory(exec, "select_k_bytes", {},
                                    team_bytes<radix_key<typename Rows::score>>(windows, k));
  auto* const candidates = reinterpret_cast<entry*>(memory.data());
  run("karpos::select_k: select from pieces", pieces, candidates);
  run("karpos::select_k: merge", merged_rows<Rows>{pieces, candidates}, candidates);
  memory.release();
}

}  // namespace karpos::detail::select_k
