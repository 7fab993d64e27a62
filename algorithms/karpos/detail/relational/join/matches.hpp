// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/prefix_sums.hpp"
#include "karpos/detail/relational/join/expansion.hpp"
#include "karpos/detail/relational/row_index/lookup.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/join_options.hpp"

// The right rows that match a left row: a run of the index, or what a predicate accepts of it.

// Also finds the right rows with or without a match. A match sets a mark: at the begin of its run
// or, if a predicate decides too, at the right row itself.

namespace karpos::detail::join {

inline constexpr std::uint64_t no_row = karpos::no_row<std::uint64_t>;

/// How many rows a left row becomes, as a function of the number of its matches.
enum class multiplicity { none, matches, matches_or_one, one_if_matched, one_if_not };
KOKKOS_INLINE_FUNCTION std::uint64_t multiply(multiplicity m, std::uint64_t matches) {
  switch (m) {
    case multiplicity::matches:
      return matches;
    case multiplicity::matches_or_one:
      return Kokkos::max(matches, std::uint64_t(1));
    case multiplicity::one_if_matched:
      return matches > 0;
    case multiplicity::one_if_not:
      return matches == 0;
    default:
      return 0;
  }
}

/// Returns what a left row becomes in a join of kind k.
inline multiplicity multiplicity_of(join_kind k) {
  switch (k) {
    case join_kind::inner:
    case join_kind::right:
      return multiplicity::matches;
    case join_kind::left:
    case join_kind::full:
      return multiplicity::matches_or_one;
    case join_kind::left_semi:
      return multiplicity::one_if_matched;
    case join_kind::left_anti:
      return multiplicity::one_if_not;
    case join_kind::right_semi:
    case join_kind::right_anti:
      break;
  }
  return multiplicity::none;
}

/// The run of each left row's candidates among the grouped row numbers of the index; if the index
/// has no runs, the only candidate. `begins` has the largest number for rows without candidates.
/// Without a predicate all candidates are matches.
template <class RowNumber>
struct runs {
  RowNumber const* begins;
  RowNumber const* grouped;  // null if the index has no runs

  KOKKOS_FUNCTION bool has(std::uint64_t left) const {
    return begins[left] != RowNumber(~RowNumber(0));
  }
  /// Returns the k-th match of a left row, or no_row.
  KARPOS_STEP_FUNCTION std::uint64_t right(std::uint64_t left, std::uint64_t k) const {
    RowNumber const begin = begins[left];
    if (begin == RowNumber(~RowNumber(0))) return no_row;
    return grouped == nullptr ? begin : grouped[begin + k];
  }
};

/// Counts the rows that left row i becomes, and replaces its group id in `begins` by where the run
/// begins.
template <class RowNumber>
struct count_matches {
  row_index::row_groups<RowNumber> groups;
  RowNumber* begins;
  std::uint64_t* counts;
  multiplicity of;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    RowNumber const group = begins[i];
    std::uint64_t n = 0;
    if (group != RowNumber(~RowNumber(0))) {
      RowNumber const begin = groups.begins[group];
      n = groups.begins[group + 1] - begin;
      begins[i] = begin;
    }
    counts[i] = join::multiply(of, n);
  }
};
/// The number of rows that left row i becomes, if the index has no runs: none or one.
template <class RowNumber>
struct count_of_one {
  runs<RowNumber> matches;
  multiplicity of;
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t i) const {
    return join::multiply(of, matches.has(i));
  }
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& sum) const { sum += (*this)(i); }
};

/// Candidates, which are pairs of equal rows, and a bit for each: whether the predicate accepts it.
template <class RowNumber>
struct accepted_matches {
  runs<RowNumber> of;
  expansion candidates;
  ranked_bits accepted;

  KOKKOS_FUNCTION std::uint64_t count(std::uint64_t left) const {
    return accepted.rank(candidates.offsets[left + 1]) - accepted.rank(candidates.offsets[left]);
  }
  /// Returns the k-th accepted match of a left row, or no_row.
  KOKKOS_FUNCTION std::uint64_t right(std::uint64_t left, std::uint64_t k) const {
    std::uint64_t const first = candidates.offsets[left], end = candidates.offsets[left + 1];
    std::uint64_t const wanted = accepted.rank(first) + k;
    if (wanted >= accepted.rank(end)) return no_row;
    std::uint64_t const word = last_at_most(accepted.ranks, wanted, first / 64, end / 64 + 1);
    std::uint64_t rest = accepted.bits[word];
    for (std::uint64_t n = wanted - accepted.ranks[word]; n > 0; --n) rest &= rest - 1;
    std::uint64_t const candidate =
        64 * word + static_cast<std::uint64_t>(Kokkos::Experimental::countr_zero_builtin(rest));
    return of.right(left, candidate - first);
  }
};

/// Calls the predicate for the 64 candidates of a word.
template <class RowNumber, class Predicate>
struct accept_candidates {
  runs<RowNumber> of;
  expansion candidates;
  std::uint64_t count;
  Predicate accepts;
  ranked_bits to;

  KOKKOS_FUNCTION void operator()(std::uint64_t word) const {
    std::uint64_t b = 0;
    candidates.for_each(64 * word, Kokkos::min(64 * word + 64, count),
                        [&](std::uint64_t c, std::uint64_t left, std::uint64_t k) {
                          if (accepts(left, of.right(left, k))) b |= std::uint64_t(1) << c % 64;
                        });
    to.set(word, b);
  }
};

/// Sets counts[i] to the number of rows that left row i becomes.
template <class RowNumber>
struct count_accepted {
  accepted_matches<RowNumber> matches;
  std::uint64_t* counts;
  multiplicity of;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    counts[i] = join::multiply(of, matches.count(i));
  }
};

/// Calls emit(row of the output, left row, right row or no_row) for a slice of the output.
template <std::uint64_t SliceRows, class Matches, class Emit>
struct emit_slice {
  expansion output;
  std::uint64_t size;
  Matches matches;
  Emit emit;
  KOKKOS_FUNCTION void operator()(std::uint64_t slice) const {
    output.for_each(slice * SliceRows, Kokkos::min((slice + 1) * SliceRows, size),
                    [&](std::uint64_t to, std::uint64_t left, std::uint64_t k) {
                      emit(to, left, matches.right(left, k));
                    });
  }
};

// Functors that write or visit a row of the output.
template <class Left, class Right>
struct write_pair {
  Left left;
  Right right;
  KOKKOS_FUNCTION void operator()(std::uint64_t to, std::uint64_t l, std::uint64_t r) const {
    left(to) = static_cast<typename std::remove_cvref_t<Left>::value_type>(l);
    right(to) = static_cast<typename std::remove_cvref_t<Right>::value_type>(r);
  }
  template <class Change>
  auto transformed(Change const& change) const {
    return write_pair<decltype(change(left)), decltype(change(right))>{change(left), change(right)};
  }
};
/// Writes one of the two rows, the left one or the right one.
template <class Out, bool IsLeft>
struct write_side {
  Out out;
  KOKKOS_FUNCTION void operator()(std::uint64_t to, std::uint64_t l, std::uint64_t r) const {
    out(to) = static_cast<typename std::remove_cvref_t<Out>::value_type>(IsLeft ? l : r);
  }
  template <class Change>
  auto transformed(Change const& change) const {
    return write_side<decltype(change(out)), IsLeft>{change(out)};
  }
};
template <class F>
struct visit_pair {
  F f;
  KOKKOS_FUNCTION void operator()(std::uint64_t, std::uint64_t l, std::uint64_t r) const {
    f(l, r);
  }
  template <class Change>
  auto transformed(Change const& change) const {
    return visit_pair<decltype(change(f))>{change(f)};
  }
};

/// Sets a mark. Many threads mark frequent rows: a thread that reads a mark stores nothing.
KOKKOS_INLINE_FUNCTION void mark(std::uint32_t* at) {
  if (device::load_relaxed(at) == 0) device::store_relaxed(at, std::uint32_t(1));
}

template <class RowNumber>
struct mark_runs {
  runs<RowNumber> of;
  std::uint32_t* marks;
  KOKKOS_FUNCTION void operator()(std::uint64_t left) const {
    if (of.has(left)) join::mark(marks + of.begins[left]);
  }
};
template <class RowNumber>
struct mark_accepted {
  accepted_matches<RowNumber> matches;
  std::uint64_t count;
  std::uint32_t* marks;
  KOKKOS_FUNCTION void operator()(std::uint64_t word) const {
    std::uint64_t const accepted = matches.accepted.bits[word];
    if (accepted == 0) return;
    matches.candidates.for_each(64 * word, Kokkos::min(64 * word + 64, count),
                                [&](std::uint64_t c, std::uint64_t left, std::uint64_t k) {
                                  if (accepted >> c % 64 & 1)
                                    join::mark(marks + matches.of.right(left, k));
                                });
  }
};

/// Chooses right rows that are matched, or that are not. A right row without a group counts as
/// unmatched if it holds a null that equals nothing; if the mask excluded it, it does not count.
template <class Rows, class RowNumber>
struct right_row_filter {
  Rows rows;
  row_index::row_groups<RowNumber> groups;
  std::uint32_t const* marks;
  bool marks_runs, matched;

  KOKKOS_FUNCTION bool operator()(std::uint64_t right) const {
    RowNumber const group = groups.id(static_cast<RowNumber>(right));
    if (group == RowNumber(~RowNumber(0))) return !matched && !rows.can_equal(rows[right]);
    if (!marks_runs) return (marks[right] != 0) == matched;
    return (marks[groups.has_runs ? groups.begins[group] : right] != 0) == matched;
  }
  template <class Change>
  auto transformed(Change const& change) const {
    return right_row_filter<decltype(change(rows)), RowNumber>{change(rows), groups, marks,
                                                               marks_runs, matched};
  }
};

template <class Chosen>
struct count_chosen {
  Chosen is_chosen;
  KOKKOS_FUNCTION void operator()(std::uint64_t right, std::uint64_t& n) const {
    n += is_chosen(right);
  }
};
/// Calls emit(row of the output from `begin` on, no_row, right row) for the chosen rows, in order.
template <class Chosen, class Emit>
struct emit_chosen {
  Chosen is_chosen;
  std::uint64_t begin;
  Emit emit;
  KOKKOS_FUNCTION void operator()(std::uint64_t right, std::uint64_t& place, bool final) const {
    if (!is_chosen(right)) return;
    if (final) emit(begin + place, no_row, right);
    ++place;
  }
};

}  // namespace karpos::detail::join
