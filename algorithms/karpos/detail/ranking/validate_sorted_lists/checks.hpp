// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/sorted_lists.hpp"

// Checks one sorted list: its entries, its order, and that no id occurs twice.
//
//   list     | 4 0.9 | 1 0.7 | 4 0.5 |     check_entries: scores are numbers and fall, ids in range
//   bitmap   | . | 1 | . | . | 1 |         check_dense_ids: a bit is set once; here 4 occurs twice
//   sorted   | 1 | 4 | 4 |                 check_sparse_ids: no two neighbours are equal
// Tests: validate_sorted_lists, sorted_lists.

namespace karpos::detail::validate_sorted_lists {

inline constexpr std::uint64_t none = ~std::uint64_t(0);

template <class Id>
KOKKOS_FUNCTION bool is_out_of_range(Id id, std::uint64_t objects) {
  return static_cast<std::uint64_t>(id) >= objects;  // negative ones are huge
}

/// Finds the first entry that is wrong by itself, or whose score is above the one before it.
template <class Id, class Score>
struct find_invalid_entry {
  sorted_list<Id, Score> list;
  bool dense;
  std::uint64_t objects;

  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& first) const {
    Score const s = list.scores[p];
    bool const valid = s == s && !(p > 0 && s > list.scores[p - 1]) &&
                       !(dense && is_out_of_range(list.ids[p], objects));
    if (!valid && p < first) first = p;
  }
};

/// Sets an id's bit in a bitmap of all objects, and finds the lowest id whose bit is set already.
template <class Id>
struct find_duplicate_id {
  Id const* ids;
  std::uint32_t* bitmap;

  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& lowest) const {
    auto const id = static_cast<std::uint64_t>(ids[p]);
    std::uint32_t const bit = std::uint32_t(1) << (id % 32);
    if ((device::fetch_or(bitmap + id / 32, bit) & bit) != 0 && id < lowest) lowest = id;
  }
};

/// Finds the first of two equal neighbours in sorted ids.
template <class Id>
struct find_equal_neighbours {
  Id const* sorted;

  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& first) const {
    if (sorted[p] == sorted[p + 1] && p < first) first = p;
  }
};

/// Finds the first entry of an id at or after position `from`.
template <class Id>
struct find_id {
  Id const* ids;
  Id id;
  std::uint64_t from;

  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& first) const {
    if (ids[p] == id && p >= from && p < first) first = p;
  }
};

template <class ExecSpace, class Finder>
std::uint64_t find_first(char const* label, ExecSpace const& exec, std::uint64_t n,
                         Finder const& find) {
  return n == 0 ? none : device::reduce_over<Kokkos::Min<std::uint64_t>>(label, exec, n, find);
}

/// Checks one list, and throws the errors about it.
template <class ExecSpace, class Lists>
class list_check {
  using id_type = typename Lists::id_type;
  using score_type = typename Lists::score_type;

 public:
  list_check(ExecSpace const& exec, Lists const& lists, int i)
      : m_exec(exec),
        m_list(lists.ref()[i]),
        m_dense(lists.is_dense()),
        m_objects(lists.objects()),
        m_name("list " + std::to_string(i)) {}

  void check_entries() const {
    std::uint64_t const p =
        find_first("karpos::validate_sorted_lists: entries", m_exec, m_list.length,
                   find_invalid_entry<id_type, score_type>{m_list, m_dense, m_objects});
    if (p != none) reject_entry(p);
  }

  /// Checks that no dense id occurs twice. bitmap: a bit for each object.
  void check_dense_ids(std::uint32_t* bitmap) const {
    char const* const label = "karpos::validate_sorted_lists: bitmap";
    fill_words(label, m_exec, bitmap, (m_objects + 31) / 32, 0);
    std::uint64_t const id =
        find_first(label, m_exec, m_list.length, find_duplicate_id<id_type>{m_list.ids, bitmap});
    if (id != none) reject_duplicate(static_cast<id_type>(id));
  }

  /// Checks that no sparse id occurs twice. sorted: capacity for the ids of the longest list.
  void check_sparse_ids(id_type* sorted) const {
    std::uint64_t const n = m_list.length;
    if (n < 2) return;
    if constexpr (device::is_device<ExecSpace>) {
      auto const ids = unmanaged<ExecSpace>(sorted, n);
      Kokkos::deep_copy(m_exec, ids, unmanaged<typename Lists::memory_space>(m_list.ids, n));
      Kokkos::sort(m_exec, ids);
    } else {
      m_exec.fence("karpos::validate_sorted_lists: before sorting");
      std::copy_n(m_list.ids, n, sorted);
      std::sort(sorted, sorted + n);
    }
    std::uint64_t const at = find_first("karpos::validate_sorted_lists: neighbours", m_exec, n - 1,
                                        find_equal_neighbours<id_type>{sorted});
    if (at != none) reject_duplicate(read(sorted + at));
  }

 private:
  template <class T>
  T read(T const* p) const {
    return read_back(m_exec, p, "karpos::validate_sorted_lists: an entry");
  }
  static std::string to_text(id_type id) { return std::to_string(id); }
  static std::string to_text(score_type score) {
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.*g", std::numeric_limits<score_type>::max_digits10,
                  static_cast<double>(score));
    return digits;
  }
  std::uint64_t find_position(id_type id, std::uint64_t from) const {
    return find_first("karpos::validate_sorted_lists: id", m_exec, m_list.length,
                      find_id<id_type>{m_list.ids, id, from});
  }
  [[noreturn]] void reject_entry(std::uint64_t p) const {
    score_type const s = read(m_list.scores + p);
    id_type const id = read(m_list.ids + p);
    std::string const at = " at position " + std::to_string(p);
    if (s != s)
      reject("a score of " + m_name + " is not a number", "NaN" + at + ", of id " + to_text(id),
             "leave such entries out");
    if (m_dense && is_out_of_range(id, m_objects))
      reject("an id of " + m_name + " is not below the number of objects",
             "id " + to_text(id) + at + ", with " + std::to_string(m_objects) + " objects",
             "dense ids are 0 to one less than the number of objects; use sparse ids otherwise");
    reject(m_name + " is not sorted",
           "score " + to_text(s) + at + ", after " + to_text(read(m_list.scores + p - 1)),
           "sort its entries by falling score");
  }
  [[noreturn]] void reject_duplicate(id_type id) const {
    std::uint64_t const p = find_position(id, 0), q = find_position(id, p + 1);
    reject("an id occurs twice in " + m_name,
           "id " + to_text(id) + " at positions " + std::to_string(p) + " and " +
               std::to_string(q) + ", with scores " + to_text(read(m_list.scores + p)) + " and " +
               to_text(read(m_list.scores + q)),
           "an object has one score in a list");
  }

  ExecSpace m_exec;
  sorted_list<id_type, score_type> m_list;
  bool m_dense;
  std::uint64_t m_objects;
  std::string m_name;
};

}  // namespace karpos::detail::validate_sorted_lists
