// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "karpos/bfs_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/join_options.hpp"
#include "karpos/operations.hpp"
#include "karpos/outcome.hpp"
#include "karpos/sorted_lists.hpp"
#include "karpos/sssp_options.hpp"
#include "karpos/table_options.hpp"
#include "karpos/top_k_options.hpp"

// Calls that are compiled once, in the library karpos::compiled (CMake: KARPOS_ENABLE_COMPILED=ON),
// not in every source that uses them. This header includes no implementation. docs/compiled.md.
//
// - Calls: the bulk operations of hash_map; reduce_by_key and count_by_key; join by one column; bfs
//   and sssp from one source; top_k by weighted sums.
// - Names and contracts are those of karpos::; the headers of the same names have them in full. A
//   call of this namespace takes views, or what converts to them, in the memory of its execution
//   space, Kokkos::DefaultExecutionSpace. Views on the host: karpos.h copies them.
// - Keys are std::int32_t, std::uint32_t, std::int64_t or std::uint64_t; values also float or
//   double. docs/compiled.md has the types of graphs and lists. Other types do not compile:
//   include the header of the implementation instead.
// - Types of one size share code: keys are compared, and values stored, by their bits.
// - karpos.h is a C interface to these calls.

namespace karpos::compiled {

using execution_space = Kokkos::DefaultExecutionSpace;
using memory_space = execution_space::memory_space;
/// Views that calls read and write.
template <class T>
using input = Kokkos::View<T const*, memory_space>;
template <class T>
using output = Kokkos::View<T*, memory_space>;

namespace detail {
template <class T, class... Types>
concept one_of = (std::is_same_v<T, Types> || ...);
}  // namespace detail
/// The types of keys and of values that the library was compiled for.
template <class T>
concept key = detail::one_of<T, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
template <class T>
concept value = key<T> || detail::one_of<T, float, double>;

namespace detail {
template <class Key, class Value>
constexpr void require_types() {
  static_assert(key<Key> && value<Value>,
                "karpos: compiled calls take keys of std::(u)int32_t or std::(u)int64_t, and such "
                "values, float or double: for others include the header of the implementation, "
                "such as karpos/hash_map.hpp, and call it in namespace karpos");
}
}  // namespace detail

/// The bulk operations of karpos::hash_map (hash_map.hpp, hash_table.hpp). Kernels cannot use it:
/// karpos::hash_map has ref().
///
/// Sentinels are those of karpos::hash_map<Key, T>, with one exception: if Key is std::int64_t, the
/// third sentinel is -3, not the third largest number.
template <class Key, class T>
class hash_map {
 public:
  using key_type = Key;
  using mapped_type = T;
  using options = hash_table_options<Key>;

  hash_map(execution_space const& exec, std::uint64_t max_keys, options const& o = {});
  hash_map(hash_map&&) noexcept;
  hash_map& operator=(hash_map&&) noexcept;
  ~hash_map();

  insert_report insert(execution_space const& exec, input<Key> const& keys, input<T> const& values);
  insert_report insert_or_assign(execution_space const& exec, input<Key> const& keys,
                                 input<T> const& values);
  void find(execution_space const& exec, input<Key> const& queries, output<T> const& out,
            T const& missing = {}) const;
  void contains(execution_space const& exec, input<Key> const& queries,
                output<bool> const& out) const;
  std::uint64_t erase(execution_space const& exec, input<Key> const& keys);
  std::uint64_t retrieve_all(execution_space const& exec, output<Key> const& keys,
                             output<T> const& values) const;
  void clear(execution_space const& exec);
  std::uint64_t size(execution_space const& exec) const;
  std::uint64_t max_keys() const;

 private:
  static_assert((detail::require_types<Key, T>(), true));
  struct table;
  std::unique_ptr<table> m_table;
};

namespace detail {
template <class Key, class T, class Op>
std::uint64_t reduce_by_key(execution_space const& exec, input<Key> const& keys,
                            input<T> const& values, output<Key> const& out_keys,
                            output<T> const& out_values, Op const& op);
template <class Key, class Count>
std::uint64_t count_by_key(execution_space const& exec, input<Key> const& keys,
                           output<Key> const& out_keys, output<Count> const& out_counts);
}  // namespace detail

/// Reduces the values of equal keys (reduce_by_key.hpp), by plus, minimum or maximum. Allocates its
/// workspace.
template <view_1d Keys, view_1d Values, view_1d OutKeys, view_1d OutValues, class Op = plus>
std::uint64_t reduce_by_key(execution_space const& exec, Keys const& keys, Values const& values,
                            OutKeys const& out_keys, OutValues const& out_values,
                            Op const& op = {}) {
  using key_type = typename Keys::non_const_value_type;
  using mapped_type = typename Values::non_const_value_type;
  detail::require_types<key_type, mapped_type>();
  static_assert(detail::one_of<Op, plus, minimum, maximum>,
                "karpos: compiled reductions are by plus, minimum or maximum: for other operations "
                "include karpos/reduce_by_key.hpp");
  return detail::reduce_by_key<key_type, mapped_type, Op>(exec, keys, values, out_keys, out_values,
                                                          op);
}

/// Counts how often each key occurs (reduce_by_key.hpp), in integers. Allocates its workspace.
template <view_1d Keys, view_1d OutKeys, view_1d OutCounts>
std::uint64_t count_by_key(execution_space const& exec, Keys const& keys, OutKeys const& out_keys,
                           OutCounts const& out_counts) {
  using key_type = typename Keys::non_const_value_type;
  using count = typename OutCounts::value_type;
  detail::require_types<key_type, count>();
  static_assert(key<count>, "karpos: counts are written to a view of integers, not const");
  return detail::count_by_key<key_type, count>(exec, keys, out_keys, out_counts);
}

/// A join of two tables by one column of keys (join.hpp): join(exec, rows(left), rows(right), kind)
/// with an index of its own, without nulls. Copies share its memory.
template <class Key>
class join {
 public:
  join(execution_space const& exec, input<Key> const& left, input<Key> const& right,
       join_kind kind);

  std::uint64_t size() const;
  join_kind kind() const;
  /// Writes pairs. Asynchronous.
  void write(execution_space const& exec, output<std::uint32_t> const& left,
             output<std::uint32_t> const& right) const;
  void write(execution_space const& exec, output<std::uint64_t> const& left,
             output<std::uint64_t> const& right) const;
  /// Writes the rows of a semi or anti join. Asynchronous.
  void write(execution_space const& exec, output<std::uint32_t> const& out) const;
  void write(execution_space const& exec, output<std::uint64_t> const& out) const;

 private:
  static_assert((detail::require_types<Key, Key>(), true));
  struct matches;
  std::shared_ptr<matches const> m_matches;
};
template <view_1d Left, view_1d Right>
join(execution_space const&, Left const&, Right const&, join_kind)
    -> join<typename Left::non_const_value_type>;

namespace detail {
template <class VertexId, class EdgeOffset>
constexpr void require_graph() {
  static_assert(key<VertexId> && key<EdgeOffset> && sizeof(EdgeOffset) >= sizeof(VertexId) &&
                    std::is_signed_v<EdgeOffset> == std::is_signed_v<VertexId>,
                "karpos: compiled searches take graphs with ids and offsets of std::uint32_t or "
                "std::uint64_t, or both signed, and ids not longer than offsets: for others "
                "include karpos/bfs.hpp or karpos/sssp.hpp, and call it in namespace karpos");
}
}  // namespace detail

/// Memory of breadth-first searches (bfs_workspace.hpp). Copies share it.
template <class VertexId, class EdgeOffset>
class bfs_workspace {
 public:
  using graph_type = csr_graph<VertexId, EdgeOffset, memory_space>;
  bfs_workspace(execution_space const& exec, graph_type const& graph);
  /// Does what compiled::bfs does.
  bfs_report run(execution_space const& exec, VertexId source,
                 output<std::int32_t> const& distances, output<VertexId> const& parents,
                 bfs_options const& options) const;

 private:
  static_assert((detail::require_graph<VertexId, EdgeOffset>(), true));
  struct searches;
  std::shared_ptr<searches> m_searches;
};

/// Searches a graph breadth-first from one vertex (bfs.hpp).
template <class VertexId, class EdgeOffset>
bfs_report bfs(execution_space const& exec, bfs_workspace<VertexId, EdgeOffset> const& workspace,
               std::type_identity_t<VertexId> source, output<std::int32_t> const& distances,
               std::type_identity_t<output<VertexId>> const& parents = {},
               bfs_options const& options = {}) {
  return workspace.run(exec, source, distances, parents, options);
}
template <class VertexId, class EdgeOffset>
bfs_report bfs(execution_space const& exec,
               csr_graph<VertexId, EdgeOffset, memory_space> const& graph,
               std::type_identity_t<VertexId> source, output<std::int32_t> const& distances,
               std::type_identity_t<output<VertexId>> const& parents = {},
               bfs_options const& options = {}) {
  return bfs_workspace<VertexId, EdgeOffset>(exec, graph)
      .run(exec, source, distances, parents, options);
}

/// Memory of shortest paths (sssp_workspace.hpp), by weights of float or double. Copies share it.
template <class VertexId, class EdgeOffset, class Weight>
class sssp_workspace {
 public:
  using graph_type = csr_graph<VertexId, EdgeOffset, memory_space>;
  sssp_workspace(execution_space const& exec, graph_type const& graph,
                 input<Weight> const& weights);
  /// Does what compiled::sssp does.
  sssp_report run(execution_space const& exec, VertexId source, output<Weight> const& distances,
                  output<VertexId> const& parents, sssp_options const& options) const;

 private:
  static_assert((detail::require_graph<VertexId, EdgeOffset>(), true));
  static_assert(std::is_floating_point_v<Weight>,
                "karpos: compiled shortest paths take weights of float or double: for others "
                "include karpos/sssp.hpp");
  struct searches;
  std::shared_ptr<searches> m_searches;
};

/// Finds shortest paths from one vertex (sssp.hpp).
template <class VertexId, class EdgeOffset, class Weight>
sssp_report sssp(execution_space const& exec,
                 sssp_workspace<VertexId, EdgeOffset, Weight> const& workspace,
                 std::type_identity_t<VertexId> source,
                 std::type_identity_t<output<Weight>> const& distances,
                 std::type_identity_t<output<VertexId>> const& parents = {},
                 sssp_options const& options = {}) {
  return workspace.run(exec, source, distances, parents, options);
}
template <class VertexId, class EdgeOffset, view_1d Weights, view_1d Distances>
sssp_report sssp(execution_space const& exec,
                 csr_graph<VertexId, EdgeOffset, memory_space> const& graph, Weights const& weights,
                 std::type_identity_t<VertexId> source, Distances const& distances,
                 std::type_identity_t<output<VertexId>> const& parents = {},
                 sssp_options const& options = {}) {
  using weight = typename Weights::non_const_value_type;
  return sssp_workspace<VertexId, EdgeOffset, weight>(exec, graph, weights)
      .run(exec, source, distances, parents, options);
}

/// Memory of ranked queries by weighted sums (top_k_workspace.hpp). Copies share it.
template <class Id, class Score>
class top_k_workspace {
 public:
  using lists_type = sorted_lists<Id, Score, memory_space>;
  top_k_workspace(execution_space const& exec, lists_type const& lists, std::uint64_t max_k);
  /// Does what compiled::top_k does.
  top_k_report run(execution_space const& exec, lists_type const& lists, std::uint64_t k,
                   output<Id> const& ids, output<double> const& scores,
                   top_k_options<> const& options) const;

 private:
  static_assert(std::is_same_v<Id, std::uint32_t>,
                "karpos: compiled queries take ids of std::uint32_t: for others include "
                "karpos/top_k.hpp");
  struct queries;
  std::shared_ptr<queries> m_queries;
};

/// Finds the k objects with the highest weighted sum of their scores (top_k.hpp).
template <class Id, class Score>
top_k_report top_k(execution_space const& exec, top_k_workspace<Id, Score> const& workspace,
                   sorted_lists<Id, Score, memory_space> const& lists, std::uint64_t k,
                   std::type_identity_t<output<Id>> const& ids, output<double> const& scores = {},
                   top_k_options<> const& options = {}) {
  return workspace.run(exec, lists, k, ids, scores, options);
}
template <class Id, class Score>
top_k_report top_k(execution_space const& exec, sorted_lists<Id, Score, memory_space> const& lists,
                   std::uint64_t k, std::type_identity_t<output<Id>> const& ids,
                   output<double> const& scores = {}, top_k_options<> const& options = {}) {
  return top_k_workspace<Id, Score>(exec, lists, k).run(exec, lists, k, ids, scores, options);
}

}  // namespace karpos::compiled
