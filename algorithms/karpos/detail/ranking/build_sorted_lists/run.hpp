// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/ranking/ranked.hpp"
#include "karpos/device/space.hpp"
#include "karpos/sorted_lists.hpp"

// Checks a table of scores, and sorts its columns into lists: all threads of a GPU sort one list
// after another; each CPU thread sorts a list alone.
//
//   column    | 0.2 | 0.9 | 0.5 |           scores of objects 0, 1, 2
//   entries   | 0.2 0 | 0.9 1 | 0.5 2 |     pack_column: radix keys (ranked.hpp) and ids
//   list      | 1 0.9 | 2 0.5 | 0 0.2 |     sorted, then write_list
// Tests: build_sorted_lists, sorted_lists.

namespace karpos::detail::build_sorted_lists {

/// Finds the first score that is NaN, object by object.
template <class Table>
struct find_nan {
  Table table;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& first) const {
    auto const score = table(i / table.extent(1), i % table.extent(1));
    if (score != score && i < first) first = i;
  }
};

template <class ExecSpace, class Table>
void require_no_nan(ExecSpace const& exec, Table const& table) {
  std::uint64_t const lists = table.extent(1), none = ~std::uint64_t(0);
  std::uint64_t first = none;
  Kokkos::parallel_reduce("karpos::build_sorted_lists: check",
                          index_range(exec, table.extent(0) * lists), find_nan<Table>{table},
                          Kokkos::Min<std::uint64_t>(first));
  if (first == none || table.extent(0) * lists == 0) return;
  reject("a score is not a number",
         "NaN of object " + std::to_string(first / lists) + " in list " +
             std::to_string(first % lists),
         "replace it, or make lists without the object and use missing_score");
}

template <class Table>
void require_size(Table const& table) {
  std::uint64_t const max_objects = (std::uint64_t(1) << 32) - 64;
  if (table.extent(1) > max_lists)
    reject("too many sorted lists", std::to_string(table.extent(1)) + " columns",
           "rank at most " + std::to_string(max_lists) + " together");
  if (table.extent(0) > max_objects)
    reject("sorted lists have too many objects for dense ids", std::to_string(table.extent(0)),
           "at most 2^32 - 64");
}

/// An entry that sorts by descending score, then by ascending id. The key of a float and an id
/// share a word, which GPUs sort by radix sort.
template <class Score>
using entry = std::conditional_t<sizeof(Score) == 4, std::uint64_t, ranked<std::uint64_t>>;

KOKKOS_INLINE_FUNCTION std::uint64_t make_entry(std::uint32_t key, std::uint64_t id) {
  return static_cast<std::uint64_t>(key) << 32 | id;
}
KOKKOS_INLINE_FUNCTION ranked<std::uint64_t> make_entry(std::uint64_t key, std::uint64_t id) {
  return {key, id};
}
KOKKOS_INLINE_FUNCTION std::uint32_t key_of(std::uint64_t e) {
  return static_cast<std::uint32_t>(e >> 32);
}
KOKKOS_INLINE_FUNCTION std::uint64_t key_of(ranked<std::uint64_t> const& e) { return e.key; }
KOKKOS_INLINE_FUNCTION std::uint32_t id_of(std::uint64_t e) {
  return static_cast<std::uint32_t>(e);
}
KOKKOS_INLINE_FUNCTION std::uint32_t id_of(ranked<std::uint64_t> const& e) {
  return static_cast<std::uint32_t>(e.index);
}

template <class Table, class Entry>
struct pack_column {
  Table table;
  std::uint64_t list;
  Entry* entries;

  KOKKOS_FUNCTION void operator()(std::uint64_t id) const {
    entries[id] = make_entry(descending_key(table(id, list)), id);
  }
};

template <class Entry, class Ids, class Scores>
struct write_list {
  Entry const* entries;
  std::uint64_t list;
  Ids ids;
  Scores scores;

  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    ids(list, p) = id_of(entries[p]);
    scores(list, p) = score_from_key<typename Scores::value_type>(key_of(entries[p]));
  }
};

/// Sorts n entries, whose ids ascend, by an LSD radix sort with digits of 11 bits, between two
/// buffers. Skips a digit that is the same in all entries. Returns: the buffer that holds the
/// result.
template <class Entry>
Entry* radix_sort(Entry* from, Entry* to, std::uint64_t n) {
  using bits = decltype(key_of(*from));
  constexpr int width = 11, values = 1 << width;
  constexpr int digits = (8 * static_cast<int>(sizeof(bits)) + width - 1) / width;
  std::uint64_t offset[digits][values] = {};
  auto const digit = [](Entry const& e, int d) {
    return static_cast<std::size_t>(key_of(e) >> (d * width) & (values - 1));
  };
  for (std::uint64_t i = 0; i < n; ++i)
    for (int d = 0; d < digits; ++d) ++offset[d][digit(from[i], d)];
  for (int d = 0; d < digits; ++d) {
    if (n == 0 || offset[d][digit(from[0], d)] == n) continue;
    std::uint64_t sum = 0;
    for (std::uint64_t& p : offset[d]) sum += std::exchange(p, sum);
    for (std::uint64_t i = 0; i < n; ++i) to[offset[d][digit(from[i], d)]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

/// Sorts, on thread w of `workers`, the lists w, w + workers, …, in two buffers of its own.
template <class Table, class Ids, class Scores>
struct sort_columns {
  using entry_type = entry<typename Scores::value_type>;
  Table table;
  Ids ids;
  Scores scores;
  entry_type* buffers;
  std::uint64_t workers;

  void operator()(std::uint64_t w) const {
    std::uint64_t const n = table.extent(0);
    entry_type* const mine = buffers + w * 2 * n;
    for (std::uint64_t list = w; list < table.extent(1); list += workers) {
      pack_column<Table, entry_type> const pack{table, list, mine};
      for (std::uint64_t id = 0; id < n; ++id) pack(id);
      write_list<entry_type, Ids, Scores> const write{radix_sort(mine, mine + n, n), list, ids,
                                                      scores};
      for (std::uint64_t p = 0; p < n; ++p) write(p);
    }
  }
};

template <class ExecSpace, class Table, class Ids, class Scores>
void sort_lists(ExecSpace const& exec, Table const& table, Ids const& ids, Scores const& scores) {
  using entry_type = entry<typename Scores::value_type>;
  using buffers_view = Kokkos::View<entry_type*, typename ExecSpace::memory_space>;
  constexpr bool on_device = device::is_device<ExecSpace>;
  std::uint64_t const n = table.extent(0), lists = table.extent(1);
  std::uint64_t const workers =
      Kokkos::min(on_device ? 1 : static_cast<std::uint64_t>(exec.concurrency()), lists);
  auto const buffers = allocated_array<buffers_view>(exec, "karpos::build_sorted_lists: entries",
                                                     on_device ? n : workers * 2 * n);
  if constexpr (!on_device) {
    Kokkos::parallel_for(
        "karpos::build_sorted_lists: sort",
        Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>>(exec, 0, workers,
                                                                         Kokkos::ChunkSize(1)),
        sort_columns<Table, Ids, Scores>{table, ids, scores, buffers.data(), workers});
  } else {
    for (std::uint64_t list = 0; list < lists; ++list) {
      Kokkos::parallel_for("karpos::build_sorted_lists: pack", index_range(exec, n),
                           pack_column<Table, entry_type>{table, list, buffers.data()});
      if constexpr (std::is_integral_v<entry_type>)
        Kokkos::sort(exec, buffers);
      else
        Kokkos::sort(exec, buffers, ranks_higher{});
      Kokkos::parallel_for("karpos::build_sorted_lists: write", index_range(exec, n),
                           write_list<entry_type, Ids, Scores>{buffers.data(), list, ids, scores});
    }
  }
  exec.fence("karpos::build_sorted_lists: before the entries are freed");
}

}  // namespace karpos::detail::build_sorted_lists
