// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>

#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/detail/distributed/window_split.hpp"
#include "karpos/detail/relational/join/plan.hpp"
#include "karpos/detail/relational/join/run.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/exchange_plan.hpp"
#include "karpos/hash.hpp"
#include "karpos/join.hpp"
#include "karpos/join_options.hpp"
#include "karpos/key_value.hpp"
#include "karpos/rows.hpp"
#include "karpos/table_options.hpp"

namespace karpos::detail::distributed {

/// Hashes and compares rows that are stored as the elements of one column, by the functions of
/// `Rows`.
template <class Rows>
struct row_functions {
  Rows functions;
  KOKKOS_FUNCTION std::uint64_t operator()(typename Rows::row_type const& r) const {
    return functions.hash(r);
  }
  KOKKOS_FUNCTION bool operator()(typename Rows::row_type const& a,
                                  typename Rows::row_type const& b) const {
    return functions.equal(a, b);
  }
};
template <class Rows, class View>
auto as_rows(Rows const& functions, View const& received) {
  row_functions<Rows> const of_row{functions};
  return karpos::rows(received).with_functions(of_row, of_row);
}

template <class Rows, class Row>
struct copy_rows {
  Rows from;
  Row* to;
  std::uint64_t* hash;
  std::uint64_t first;
  std::uint64_t* number;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    Row const r = from[i];
    to[i] = r;
    hash[i] = from.hash(r);
    number[i] = first + i;
  }
};

/// Rows that this rank owns, and their numbers in the whole table.
template <class Row, class MemorySpace>
struct owned_rows {
  Kokkos::View<Row*, MemorySpace> rows;
  Kokkos::View<std::uint64_t*, MemorySpace> numbers;
};
/// Sends rows to the owners of their hashes. Collective.
template <class ExecSpace, class Rows>
auto send_rows(karpos::distributed::communicator<ExecSpace> const& ranks, Rows const& from) {
  using row = typename Rows::row_type;
  using memory_space = typename ExecSpace::memory_space;
  auto const counts = ranks.all_gather(from.size());
  std::uint64_t const first =
      std::accumulate(counts.begin(), counts.begin() + ranks.rank(), std::uint64_t(0));
  owned_rows<row, memory_space> sent;
  Kokkos::View<std::uint64_t*, memory_space> hashes;
  run_collectively(ranks, [&] {
    auto const& exec = ranks.exec();
    sent.rows = distributed::allocate<row>(exec, "karpos::join: rows", from.size());
    sent.numbers = distributed::allocate<std::uint64_t>(exec, "karpos::join: numbers", from.size());
    hashes = distributed::allocate<std::uint64_t>(exec, "karpos::join: hashes", from.size());
    device::loop_over("karpos::join: rows to be sent", exec, from.size(),
                      copy_rows<device::held_by_loop<ExecSpace, Rows>, row>{
                          device::for_loop<ExecSpace>(from), sent.rows.data(), hashes.data(), first,
                          sent.numbers.data()});
  });
  karpos::distributed::exchange_plan<ExecSpace> const plan(
      ranks, hashes, owner_of_hash{static_cast<std::uint32_t>(ranks.size())});
  owned_rows<row, memory_space> const owned{plan.exchange(sent.rows), plan.exchange(sent.numbers)};
  ranks.exec().fence("karpos::join: before what was sent is freed");
  return owned;
}

/// Memory of a join over ranks: received rows, workspace, the rows of the join. `keeps`: for the
/// next join.
template <class Ranks>
struct join_buffers {
  using space = std::remove_cvref_t<decltype(std::declval<Ranks const&>().exec())>;
  using memory = reusable_memory<space>;
  bool keeps = false;
  memory left, right, workspace, left_out, right_out;
  using window_type = window_memory<space, Ranks>;
  windows_by_ranks<window_type> windows;

  /// Returns memory for a workspace; nothing if it is not kept, and comes from a pool.
  wrapped_memory kept_workspace(space const& exec, std::size_t bytes) {
    if (!keeps) return {};
    auto const w = workspace.template reserve<std::byte>(exec, "karpos::join: workspace", bytes);
    return {w.data(), w.extent(0)};
  }
};

/// Writes the numbers of the rows of a join, for the sides that it has.
struct write_numbers {
  std::uint64_t *left, *right;  // or null
  KOKKOS_FUNCTION void operator()(std::uint64_t to, std::uint64_t l, std::uint64_t r) const {
    if (left != nullptr) left[to] = l;
    if (right != nullptr) right[to] = r;
  }
};
/// The numbers of the rows of a join, in memory that is kept, or in new views.
template <class Ranks>
class join_output {
  using space = typename join_buffers<Ranks>::space;
  using view = Kokkos::View<std::uint64_t*, typename space::memory_space>;

 public:
  join_output(Ranks const& ranks, join_kind kind, join_buffers<Ranks>& memory)
      : m_exec(ranks.exec()),
        m_of_left(join::has_pairs(kind) || join::is_of_left(kind)),
        m_of_right(join::has_pairs(kind) || !m_of_left),
        m_memory(memory) {}

  view const& left() const { return m_left; }
  view const& right() const { return m_right; }
  std::uint64_t size() const { return (m_of_left ? m_left : m_right).extent(0); }
  void allocate(std::uint64_t rows) {
    auto const array = [&](bool wanted, auto const& kept) {
      std::uint64_t const n = wanted ? rows : 0;
      return m_memory.keeps ? (m_memory.*kept).template reserve<std::uint64_t>(m_exec, label, n)
                            : distributed::allocate<std::uint64_t>(m_exec, label, n);
    };
    m_left = m_right = {};
    m_left = array(m_of_left, &join_buffers<Ranks>::left_out);
    m_right = array(m_of_right, &join_buffers<Ranks>::right_out);
  }
  /// Writes the rows of a join, of which `expected` are expected: try_run(emit) calls emit for its
  /// rows, and returns their number; or nothing if it cannot join them. Returns whether it could.
  template <class TryRun>
  bool try_fill(std::uint64_t expected, bool swapped, TryRun const& try_run) {
    for (std::uint64_t n = expected;;) {
      allocate(n);
      using writer = join::write_within<write_numbers>;
      auto const rows = try_run(
          writer{{m_of_left ? m_left.data() : nullptr, m_of_right ? m_right.data() : nullptr},
                 n,
                 swapped});
      if (!rows) return false;
      if (*rows <= n) {
        shrink(*rows);
        return true;
      }
      n = *rows;
    }
  }

 private:
  static constexpr char label[] = "karpos::join: joined rows";

  void shrink(std::uint64_t rows) {
    for (view* const v : {&m_left, &m_right}) {
      std::uint64_t const allocated = v->extent(0);
      if (allocated == 0) continue;
      *v = Kokkos::subview(*v, Kokkos::make_pair(std::uint64_t(0), rows));
      if (!m_memory.keeps) *v = distributed::unless_mostly_free(m_exec, *v, allocated);
    }
  }

  space m_exec;
  bool m_of_left, m_of_right;
  join_buffers<Ranks>& m_memory;
  view m_left, m_right;
};

/// The class karpos::join, which the function distributed::join hides. (nvcc loses the namespace if
/// it deduces the arguments.)
template <class Left, class Index>
using local_join = karpos::join<std::remove_const_t<Left>, std::remove_const_t<Index>>;

/// Replaces the numbers of received rows by their numbers in the whole table.
template <class Numbers>
struct map_to_global_rows {
  Numbers numbers;
  std::uint64_t* rows;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (rows[i] != no_row<std::uint64_t>) rows[i] = numbers(rows[i]);
  }
};
/// Joins rows of this rank by an index. numbers: of the rows in the whole tables; or row_numbers,
/// if they are those of this rank.
template <class ExecSpace, class Left, class Right, class LeftNumbers, class RightNumbers,
          class Output>
void join_by_index(ExecSpace const& exec, Left const& left, Right const& right, join_kind kind,
                   LeftNumbers const& left_numbers, RightNumbers const& right_numbers,
                   Output& out) {
  karpos::row_index<Right, ExecSpace> const index(exec, right);
  auto const joined =
      local_join<Left, karpos::row_index<Right, ExecSpace>>(exec, left, index, kind);
  out.allocate(joined.size());
  if (joined.has_pairs())
    joined.write(exec, out.left(), out.right());
  else
    joined.write(exec, join::is_of_left(kind) ? out.left() : out.right());
  auto const number = [&](auto const& rows, auto const& numbers) {
    using type = std::remove_cvref_t<decltype(numbers)>;
    if constexpr (!std::is_same_v<type, row_numbers>)
      device::loop_over("karpos::join: numbers of rows", exec, rows.extent(0),
                        map_to_global_rows<device::held_by_loop<ExecSpace, type>>{
                            device::for_loop<ExecSpace>(numbers), rows.data()});
  };
  number(out.left(), left_numbers);
  number(out.right(), right_numbers);
  exec.fence("karpos::join: joined");
}

template <class ExecSpace, class Left, class Right, class Ranks>
void join_alone(ExecSpace const& exec, Left const& left, Right const& right, join_kind kind,
                join_buffers<Ranks>& memory, join_output<Ranks>& out) {
  std::uint64_t const most = std::max(left.size(), right.size());
  if (most <= row_index::max_rows<std::uint32_t>) {
    join::pair_of_tables<ExecSpace, Left, Right> const both(exec, left, right);
    if (both.splits(kind)) {
      bool const joined = out.try_fill(most, false, [&](auto const& emit) {
        return both.join_by_partitions(kind, emit.write, emit.capacity,
                                       {memory.kept_workspace(exec, both.bytes())});
      });
      if (joined) return;
    }
  }
  distributed::join_by_index(exec, left, right, kind, row_numbers{}, row_numbers{}, out);
}

}  // namespace karpos::detail::distributed
