// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/partition.hpp"

// Puts rows in the order in which they are sent, by the rank that will own them, and sends them.

namespace karpos::detail::distributed {

/// Advice in messages if a rank has too little memory.
inline constexpr char fewer_rows[] = "give this rank fewer rows, or use more ranks";

/// Allocates an array on this rank; an allocation_error names its purpose.
template <class T, class ExecSpace>
auto allocate(ExecSpace const& exec, char const* label, std::uint64_t n) {
  return allocate_array<Kokkos::View<T*, typename ExecSpace::memory_space>>(exec, label, label,
                                                                            fewer_rows, n);
}

/// Returns the part of an array of `allocated` elements that is used; if that is less than half, a
/// copy of it, so that the array is freed. Waits then.
template <class ExecSpace, class View>
View unless_mostly_free(ExecSpace const& exec, View const& used, std::uint64_t allocated) {
  if (2 * used.extent(0) >= allocated) return used;
  View const copy = distributed::allocate<typename View::value_type>(
      exec, "karpos::distributed: result", used.extent(0));
  Kokkos::deep_copy(exec, copy, used);
  exec.fence("karpos::distributed: before an array that was too long is freed");
  return copy;
}

/// Memory of a rank that is kept from one operation to the next, for data that is needed during one
/// operation only: a GPU takes as long to allocate and free a gigabyte as to move it. It grows.
/// Moving from it leaves it as new, which moving from a view does not.
template <class ExecSpace>
class reusable_memory {
  using memory_space = typename ExecSpace::memory_space;

 public:
  reusable_memory() = default;
  reusable_memory(reusable_memory&& other) noexcept : m_bytes(std::exchange(other.m_bytes, {})) {}
  reusable_memory& operator=(reusable_memory&& other) noexcept {
    m_bytes = std::exchange(other.m_bytes, {});
    return *this;
  }

  /// Returns: an array of n elements, valid until the next call. Throws: allocation_error.
  template <class T>
  Kokkos::View<T*, memory_space> reserve(ExecSpace const& exec, char const* label,
                                         std::uint64_t n) {
    if (m_bytes.extent(0) < n * sizeof(T)) {
      m_bytes = {};
      m_bytes = distributed::allocate<std::byte>(exec, label, n * sizeof(T));
    }
    return Kokkos::View<T*, memory_space>(reinterpret_cast<T*>(m_bytes.data()), n);
  }

  void release() { m_bytes = {}; }
  /// Returns whether a view, perhaps with a stride, begins in this memory.
  template <class View>
  bool holds(View const& view) const {
    auto const memory = range_of(m_bytes);
    auto const* const first = reinterpret_cast<char const*>(view.data());
    return memory.begin <= first && first < memory.end;
  }

 private:
  Kokkos::View<std::byte*, memory_space> m_bytes;
};

/// Access to the buffers of a join_memory or a reduction_memory.
struct memory_access {
  template <class Memory>
  static auto& buffers(Memory& m) {
    return m.m_buffers;
  }
};

/// Rows ordered by owner, and the number of rows of each owner.
template <class ExecSpace, class Row>
struct split_rows {
  Kokkos::View<Row*, typename ExecSpace::memory_space> rows;
  std::vector<std::uint64_t> counts;
};

/// Splits keys, and values (a view, or row_numbers) if any are passed, by owner_of(key), which is
/// below `owners`. Writes the rows to `memory`. Blocks.
template <class Row, class ExecSpace, class Keys, class OwnerOf, class... Values>
split_rows<ExecSpace, Row> split(ExecSpace const& exec, reusable_memory<ExecSpace>& memory,
                                 int owners, bool stable, OwnerOf const& owner_of, Keys const& keys,
                                 Values const&... values) {
  auto const n = static_cast<std::size_t>(owners);
  split_rows<ExecSpace, Row> split{
      memory.template reserve<Row>(exec, "karpos::distributed: rows by owner", keys.extent(0)),
      std::vector<std::uint64_t>(n)};
  auto const offsets =
      distributed::allocate<std::uint64_t>(exec, "karpos::distributed: begins of owners", n + 1);
  karpos::partition(exec, keys, values..., split.rows, offsets, owner_of,
                    {.stable = stable, .workspace = {}});
  Kokkos::View<std::uint64_t*, Kokkos::HostSpace> const begins("karpos::distributed: begins",
                                                               n + 1);
  Kokkos::deep_copy(exec, begins, offsets);
  exec.fence("karpos::distributed: how many rows each rank gets");
  for (std::size_t r = 0; r < n; ++r) split.counts[r] = begins(r + 1) - begins(r);
  return split;
}

/// Sends rows to their owners. Returns: received rows, by sender, in `memory`. Collective.
template <class ExecSpace, class Row>
auto send_to_owners(karpos::distributed::communicator<ExecSpace> const& ranks,
                    split_rows<ExecSpace, Row> const& split, reusable_memory<ExecSpace>& memory) {
  auto const counts = ranks.exchange_counts(split.counts);
  auto const received = run_collectively(ranks, [&] {
    return memory.template reserve<Row>(ranks.exec(), "karpos::distributed: received rows",
                                        blocks(counts).total);
  });
  ranks.all_to_all(split.rows, split.counts, received, counts);
  return received;
}

/// Memory of an exchange_plan: the rows in order, later a column; the rows' numbers.
template <class ExecSpace>
struct plan_memory {
  reusable_memory<ExecSpace> rows, order;
};

/// Copies a column in the order in which it is sent.
template <class In, class T>
struct pack_column {
  In in;
  std::uint32_t const* order;
  T* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to[i] = in(order[i]); }
};

/// Copies answers back in the order of the rows.
template <class T, class Out>
struct unpack_column {
  T const* from;
  std::uint32_t const* order;
  Out out;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { out(order[i]) = from[i]; }
};

template <class Owners>
struct find_wrong_owner {
  Owners owners;
  std::uint64_t ranks;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& first) const {
    if (static_cast<std::uint64_t>(owners(i)) >= ranks && i < first) first = i;
  }
};

}  // namespace karpos::detail::distributed
