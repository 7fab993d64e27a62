// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"

namespace karpos {

/// The greatest number of lists that can be ranked together.
inline constexpr int max_lists = 32;

/// One list as kernels see it: entry p in [0, length) is (ids[p], scores[p]); the highest score
/// comes first.
template <class Id, class Score>
struct sorted_list {
  Id const* ids;
  Score const* scores;
  std::uint64_t length;
};

/// All lists as kernels see them.
template <class Id, class Score>
struct sorted_lists_ref {
  using id_type = Id;
  using score_type = Score;

  sorted_list<Id, Score> list[max_lists];
  int lists;
  std::uint64_t longest;
  std::uint64_t dense_objects;  // dense ids: the number of objects; sparse ids: 0

  /// Returns whether list i is known to hold every object.
  KOKKOS_FUNCTION bool has_all(int i) const {
    return lists == 1 || (dense_objects > 0 && list[i].length == dense_objects);
  }
  KOKKOS_FUNCTION sorted_list<Id, Score> const& operator[](int i) const { return list[i]; }
};

/// Lists of (id, score) pairs, each sorted by descending score, for ranked queries. Queries read
/// the lists forward, without random access. The lists share the views that they are made of:
/// copies are cheap. Unmanaged views are allowed; their memory must outlive the lists.
///
/// An object is an id that occurs in a list. It occurs at most once in each list, and may be
/// missing from some. Scores are not NaN.
///
/// Ids are sparse by default: arbitrary numbers, found through a hash table. `dense(objects)`
/// states that all ids are below `objects`, so that they index memory directly. Queries over
/// sparse ids take two to three times as long as over dense ones (docs/topk.md).
template <class Id = std::uint32_t, class Score = float,
          class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
class sorted_lists {
 public:
  static_assert(std::is_integral_v<Id> && !std::is_same_v<Id, bool> &&
                    (sizeof(Id) == 4 || sizeof(Id) == 8),
                "karpos: ids of sorted lists are integers of 32 or 64 bits");
  static_assert(std::is_same_v<Score, float> || std::is_same_v<Score, double>,
                "karpos: scores of sorted lists are float or double: copy integers to a view of "
                "double, which holds those up to 2^53");
  using id_type = Id;
  using score_type = Score;
  using memory_space = MemorySpace;
  using ref_type = sorted_lists_ref<Id, Score>;

  /// Holds no lists.
  sorted_lists() = default;

  /// Wraps views of extents [n][m]: n lists of m entries; row i of both views is list i. Each row
  /// is contiguous (LayoutRight).
  /// Throws: std::invalid_argument for more than 32 lists, for views of different extents, and for
  /// rows that are not contiguous.
  template <class Ids, class Scores>
    requires(Ids::rank() == 2 && Scores::rank() == 2)
  sorted_lists(Ids const& ids, Scores const& scores) : m_ids(ids),
                                                       m_scores(scores) {
    detail::user_call const call("sorted_lists");
    detail::require_same_extent("ids of sorted lists (lists)", ids.extent(0), "their scores",
                                scores.extent(0));
    detail::require_same_extent("ids of sorted lists (entries)", ids.extent(1), "their scores",
                                scores.extent(1));
    begin(ids.extent(0));
    if (ids.extent(1) > 1 && (ids.stride(1) != 1 || scores.stride(1) != 1))
      detail::reject("the entries of a sorted list do not lie side by side",
                     "a view of another layout", "pass views [lists][entries] of LayoutRight");
    for (std::size_t i = 0; i < ids.extent(0); ++i)
      append(ids.data() + i * ids.stride(0), scores.data() + i * scores.stride(0), ids.extent(1));
    m_objects = m_entries;
  }

  /// Wraps lists of different lengths, stored one after the other: list i has the entries
  /// [offsets(i), offsets(i + 1)).
  /// Complexity: copies the offsets to the host, and blocks.
  /// Throws: std::invalid_argument for more than 32 lists, for different extents or strided views
  /// of ids and scores, and for wrong offsets: none at all, the first one not 0, one that
  /// decreases, or the last one not the number of entries.
  template <class Ids, class Scores, view_1d Offsets>
    requires(is_view_1d<Ids> && is_view_1d<Scores>)
  sorted_lists(Ids const& ids, Scores const& scores, Offsets const& offsets) {
    detail::user_call const call("sorted_lists");
    detail::require_same_extent("ids of sorted lists", ids.extent(0), "their scores",
                                scores.extent(0));
    detail::require_contiguous("ids of sorted lists", ids);
    detail::require_contiguous("scores of sorted lists", scores);
    m_flat_ids = ids;  // after the checks: Kokkos aborts if a strided view is assigned
    m_flat_scores = scores;
    auto const at = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, offsets);
    if (at.extent(0) == 0)
      detail::reject("sorted lists have no offsets", "extent 0",
                     "n lists have n + 1 offsets, the first of them 0");
    std::size_t const n = at.extent(0) - 1;
    begin(n);
    for (std::size_t i = 0; i <= n; ++i) {
      auto const offset = static_cast<std::uint64_t>(at(i));
      auto const previous = i == 0 ? 0 : static_cast<std::uint64_t>(at(i - 1));
      bool const right = i == 0 ? offset == 0 : offset >= previous && offset <= ids.extent(0);
      if (!right || (i == n && offset != ids.extent(0)))
        detail::reject(
            "offset " + std::to_string(i) + " of sorted lists is wrong",
            std::to_string(offset) + " with " + std::to_string(ids.extent(0)) + " entries",
            "offsets grow from 0 to the number of entries");
      if (i > 0) append(ids.data() + previous, scores.data() + previous, offset - previous);
    }
    m_objects = m_entries;
  }

  /// Returns these lists, stated to hold only ids below `objects`.
  /// Throws: std::invalid_argument for more than 2^32 - 64 objects.
  sorted_lists dense(std::uint64_t objects) const {
    detail::user_call const call("sorted_lists", "dense");
    if (objects > max_objects)
      detail::reject("sorted lists have too many objects for dense ids", std::to_string(objects),
                     "at most 2^32 - 64; use sparse ids");
    sorted_lists l = *this;
    l.m_objects = l.m_ref.dense_objects = objects;
    l.m_dense = true;
    return l;
  }
  /// Returns these lists with arbitrary ids, stated to hold at most at_most different ones (more
  /// than entries() counts as entries()). Their hash table is smaller than one with space for every
  /// entry. Requires: the statement is true; otherwise a query may throw std::invalid_argument, or
  /// answer wrongly.
  sorted_lists sparse(std::uint64_t at_most) const {
    sorted_lists l = *this;
    l.m_objects = Kokkos::min(at_most, m_entries);
    l.m_ref.dense_objects = 0;
    l.m_dense = false;
    return l;
  }

  int lists() const { return m_ref.lists; }
  std::uint64_t length(int list) const { return m_ref.list[list].length; }
  std::uint64_t longest() const { return m_ref.longest; }
  /// Returns the number of entries of all lists together.
  std::uint64_t entries() const { return m_entries; }
  bool is_dense() const { return m_dense; }
  /// Returns a number above all ids if they are dense, else an upper bound of the number of
  /// different ids.
  std::uint64_t objects() const { return m_objects; }

  ref_type const& ref() const { return m_ref; }

  /// Returns the bytes of `entries` entries.
  static std::size_t bytes_for(std::uint64_t entries) {
    return entries * (sizeof(Id) + sizeof(Score));
  }

 private:
  static constexpr std::uint64_t max_objects = (std::uint64_t(1) << 32) - 64;
  template <class T>
  using owned = Kokkos::View<T const**, Kokkos::LayoutStride, MemorySpace>;

  void begin(std::size_t lists) {
    if (lists > max_lists)
      detail::reject("too many sorted lists", std::to_string(lists),
                     "rank at most " + std::to_string(max_lists) + " together");
  }
  void append(Id const* ids, Score const* scores, std::uint64_t length) {
    m_ref.list[m_ref.lists++] = {ids, scores, length};
    if (length > m_ref.longest) m_ref.longest = length;
    m_entries += length;
  }
  ref_type m_ref{};
  owned<Id> m_ids;  // share ownership of the memory
  owned<Score> m_scores;
  Kokkos::View<Id const*, MemorySpace> m_flat_ids;
  Kokkos::View<Score const*, MemorySpace> m_flat_scores;
  std::uint64_t m_entries = 0, m_objects = 0;
  bool m_dense = false;
};

// Deduction guides with the constraints of the constructors: otherwise nvcc would prefer the
// constructors, and with them the default types.
template <class Ids, class Scores>
  requires(Ids::rank() == 2 && Scores::rank() == 2)
sorted_lists(Ids, Scores)
    -> sorted_lists<typename Ids::non_const_value_type, typename Scores::non_const_value_type,
                    typename Ids::memory_space>;
template <class Ids, class Scores, view_1d Offsets>
  requires(is_view_1d<Ids> && is_view_1d<Scores>)
sorted_lists(Ids, Scores, Offsets)
    -> sorted_lists<typename Ids::non_const_value_type, typename Scores::non_const_value_type,
                    typename Ids::memory_space>;

}  // namespace karpos
