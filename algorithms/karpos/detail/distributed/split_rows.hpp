// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/partition.hpp"

// Puts rows in the order in which they are sent: by the rank that will own them.

namespace karpos::detail::distributed {

/// Advice in messages if a rank has too little memory.
inline constexpr char fewer_rows[] = "give this rank fewer rows, or use more ranks";

/// Allocates an array on this rank; an allocation_error names its purpose.
template <class T, class ExecSpace>
auto allocate(ExecSpace const& exec, char const* label, std::uint64_t n) {
  using array = Kokkos::View<T*, typename ExecSpace::memory_space>;
  return allocate_or_explain<typename ExecSpace::memory_space>(
      n * sizeof(T), label, fewer_rows, [&] { return uninitialized_array<array>(exec, label, n); });
}

/// Memory of a rank that is kept from one operation to the next, for data that is needed during one
/// operation only: a GPU takes as long to allocate and free a gigabyte as to move it. It grows.
template <class ExecSpace>
class reusable_memory {
  using memory_space = typename ExecSpace::memory_space;

 public:
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

 private:
  Kokkos::View<std::byte*, memory_space> m_bytes;
};

/// Rows ordered by owner, and the number of rows of each owner.
template <class ExecSpace, class Row>
struct split_rows {
  Kokkos::View<Row*, typename ExecSpace::memory_space> rows;
  std::vector<std::uint64_t> counts;
};

/// Returns the number of rows of each owner. offsets: where the rows of each owner begin, on the
/// device. Blocks.
template <class ExecSpace, class Offsets>
std::vector<std::uint64_t> counts_of(ExecSpace const& exec, Offsets const& offsets) {
  Kokkos::View<std::uint64_t*, Kokkos::HostSpace> const begins("karpos::distributed: begins",
                                                               offsets.extent(0));
  Kokkos::deep_copy(exec, begins, offsets);
  exec.fence("karpos::distributed: how many rows each rank gets");
  std::vector<std::uint64_t> counts(begins.extent(0) - 1);
  for (std::size_t r = 0; r < counts.size(); ++r) counts[r] = begins(r + 1) - begins(r);
  return counts;
}

/// Splits keys, and values (a view, or row_numbers) if any are passed, by owner_of(key), which is
/// below `owners`. Writes the rows to a view as long as the keys. Blocks.
template <class Row, class ExecSpace, class Rows, class Keys, class OwnerOf, class... Values>
split_rows<ExecSpace, Row> split_to(Rows const& rows, ExecSpace const& exec, int owners,
                                    bool stable, OwnerOf const& owner_of, Keys const& keys,
                                    Values const&... values) {
  auto const offsets = distributed::allocate<std::uint64_t>(
      exec, "karpos::distributed: begins of owners", static_cast<std::uint64_t>(owners) + 1);
  explain_as("rows by owner", fewer_rows, [&] {
    karpos::partition(exec, keys, values..., rows, offsets, owner_of,
                      {.stable = stable, .workspace = {}});
  });
  return {rows, distributed::counts_of(exec, offsets)};
}
/// Splits keys and values as split_to does, and allocates the view of rows.
template <class Row, class ExecSpace, class Keys, class OwnerOf, class... Values>
split_rows<ExecSpace, Row> split(ExecSpace const& exec, int owners, bool stable,
                                 OwnerOf const& owner_of, Keys const& keys,
                                 Values const&... values) {
  auto const rows =
      distributed::allocate<Row>(exec, "karpos::distributed: rows by owner", keys.extent(0));
  return split_to<Row>(rows, exec, owners, stable, owner_of, keys, values...);
}

/// Sends rows to their owners. allocate_rows(n): returns a view for n rows. Returns: the rows that
/// this rank receives, by sender. Collective.
template <class ExecSpace, class Row, class AllocateRows>
auto send_to_owners(karpos::distributed::communicator<ExecSpace> const& ranks,
                    split_rows<ExecSpace, Row> const& split, AllocateRows const& allocate_rows) {
  auto const counts = ranks.exchange_counts(split.counts);
  blocks const in(counts);
  auto const received = run_collectively(ranks, [&] { return allocate_rows(in.total); });
  ranks.all_to_all(split.rows, split.counts, received, counts);
  return received;
}
template <class ExecSpace, class Row>
auto send_to_owners(karpos::distributed::communicator<ExecSpace> const& ranks,
                    split_rows<ExecSpace, Row> const& split) {
  return send_to_owners(ranks, split, [&](std::uint64_t n) {
    return distributed::allocate<Row>(ranks.exec(), "karpos::distributed: received rows", n);
  });
}

}  // namespace karpos::detail::distributed
