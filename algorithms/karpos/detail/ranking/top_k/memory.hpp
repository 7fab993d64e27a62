// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/ranking/top_k/nra_kernels.hpp"
#include "karpos/detail/ranking/top_k/state.hpp"
#include "karpos/device/program.hpp"
#include "karpos/sorted_lists.hpp"

// The memory of ranked queries: one allocation for the arrays of queries over accumulators, one for
// those of NRA over score vectors. Each layout is listed once, in lay_out, for its size in bytes
// and for the pointers into it.

namespace karpos::detail::top_k {

/// Allocates memory to be divided by an arena; explains a failure.
template <class MemorySpace, class ExecSpace>
auto allocate_bytes(ExecSpace const& exec, char const* label, std::size_t bytes) {
  return allocate_byte_array<MemorySpace>(
      exec, label, bytes, "a ranked query",
      "rank fewer objects, or say with sparse(at_most) how many differ");
}

/// Sizes from which the extents of the arrays follow.
template <class Lists>
struct query_sizes {
  using table = id_table<typename Lists::id_type>;

  query_sizes(Lists const& l, std::uint64_t max_k)
      : lists(l.lists()),
        dense(l.is_dense()),
        objects(l.objects()),
        slots(dense ? objects : table::slots_for(objects)),
        k(Kokkos::min(max_k, objects)),
        candidates(Kokkos::min(objects / 8 + 65536, objects)),
        finalists(Kokkos::min(2 * k + 2048, candidates)) {
    constexpr std::uint64_t max_slots = std::uint64_t(1) << 32;
    if (slots > max_slots)
      reject("sorted lists have too many sparse ids for a ranked query", std::to_string(objects),
             "say with sparse(at_most) how many differ");
  }
  /// Returns whether accumulators of 32 bits leave enough bits for a sum: at least 24.
  bool small_accumulators() const { return dense && lists <= 8; }

  int lists;
  bool dense;
  std::uint64_t objects, slots, k, candidates, finalists;
};

/// Arrays of queries over accumulators.
template <class ExecSpace, class Lists>
struct accumulator_memory {
  using id = typename Lists::id_type;
  using sizes = query_sizes<Lists>;
  using table = id_table<id>;
  using tuned = tuning<ExecSpace>;

  accumulator_memory() = default;
  /// Allocates, and sets the arrays to the values that they have between queries.
  accumulator_memory(ExecSpace const& exec, sizes const& n) {
    m_bytes = allocate_bytes<typename Lists::memory_space>(exec, "karpos::top_k::accumulators",
                                                           bytes_of_arrays(n));
    arena a(m_bytes.data());
    lay_out(a, n);
    fill_words("karpos::top_k::accumulators", exec, small, n.small_accumulators() ? n.slots : 0, 0);
    fill_words("karpos::top_k::accumulators", exec, large, n.small_accumulators() ? 0 : n.slots, 0);
    fill_words("karpos::top_k::candidate_bitmap", exec, candidate_bitmap, bitmap_words(n), 0);
    fill_words("karpos::top_k::histogram", exec, histogram, histogram_words, 0);
    fill_words("karpos::top_k::words", exec, words, 1, 0);
    fill_words("karpos::top_k::keys", exec, keys, n.dense ? 0 : n.slots, ~0u);
    grid = device::grid_memory<ExecSpace>(exec, shape_of(exec));
  }
  static std::size_t bytes_for(ExecSpace const& exec, sizes const& n) {
    return bytes_of_arrays(n) + device::grid_memory<ExecSpace>::bytes_for(shape_of(exec));
  }

  std::uint32_t* small = nullptr;  // accumulators of 32 bits; null: `large` is used
  std::uint64_t* large = nullptr;  // accumulators of 64 bits
  std::uint32_t* candidate_bitmap = nullptr;
  std::uint32_t* candidates[2] = {};
  std::uint32_t* histogram = nullptr;
  query_words* words = nullptr;
  double* final_scores = nullptr;
  ranked_object<id>* finalists = nullptr;
  typename table::word* keys = nullptr;  // of sparse ids
  device::grid_memory<ExecSpace> grid;

 private:
  static constexpr std::uint64_t histogram_words = 2 * histogram_bytes / sizeof(std::uint32_t);
  static std::uint64_t bitmap_words(sizes const& n) { return (n.slots + 31) / 32; }

  void lay_out(arena& a, sizes const& n) {
    a.allocate(small, n.small_accumulators() ? n.slots : 0);
    a.allocate(large, n.small_accumulators() ? 0 : n.slots);
    a.allocate(candidate_bitmap, bitmap_words(n));
    for (auto& c : candidates) a.allocate(c, n.candidates);
    a.allocate(histogram, histogram_words);
    a.allocate(words, 1);
    a.allocate(final_scores, n.finalists * static_cast<std::uint64_t>(n.lists));
    a.allocate(finalists, n.finalists);
    a.allocate(keys, n.dense ? 0 : n.slots);
  }
  static std::size_t bytes_of_arrays(sizes const& n) {
    arena a;
    accumulator_memory().lay_out(a, n);
    return a.bytes();
  }
  static device::grid_shape shape_of(ExecSpace const& exec) {
    return device::shape_for<tuned::team_threads, tuned::teams_per_processor, tuned::tile_width>(
        exec, team_bytes, 0);
  }

  Kokkos::View<std::byte*, typename Lists::memory_space> m_bytes;
};

/// Arrays of NRA over score vectors.
template <class ExecSpace, class Lists>
struct nra_memory {
  using id = typename Lists::id_type;
  using score = typename Lists::score_type;
  using sizes = query_sizes<Lists>;

  nra_memory() = default;
  nra_memory(ExecSpace const& exec, sizes const& n) {
    m_bytes = allocate_bytes<typename Lists::memory_space>(exec, "karpos::top_k::score_vectors",
                                                           bytes_for(n));
    arena a(m_bytes.data());
    lay_out(a, n);
  }
  static std::size_t bytes_for(sizes const& n) {
    arena a;
    nra_memory().lay_out(a, n);
    return a.bytes();
  }
  bool is_allocated() const { return m_bytes.extent(0) > 0; }

  nra_arrays<id, score> arrays{};

 private:
  void lay_out(arena& a, sizes const& n) {
    a.allocate(arrays.score_vectors, n.slots * static_cast<std::uint64_t>(n.lists));
    a.allocate(arrays.visited, (n.slots + 31) / 32);
    for (auto& c : arrays.candidates) a.allocate(c, n.objects);
    a.allocate(arrays.lower, n.objects);
    a.allocate(arrays.upper, n.objects);
    a.allocate(arrays.sorted, n.objects);
    a.allocate(arrays.words, 1);
    a.allocate(arrays.ranked, n.objects);
    a.allocate(arrays.keys, n.dense ? 0 : n.slots);
    arrays.max_candidates = n.objects;
    arrays.bitmap_words = (n.slots + 31) / 32;
    arrays.slots = n.slots;
  }

  Kokkos::View<std::byte*, typename Lists::memory_space> m_bytes;
};

/// The memory of a top_k_workspace. Accumulators are allocated at once if the aggregate is a
/// weighted sum; score vectors when a query first needs them.
template <class ExecSpace, class Lists>
struct query_memory {
  query_sizes<Lists> sizes;
  accumulator_memory<ExecSpace, Lists> accumulators{};
  nra_memory<ExecSpace, Lists> vectors{};
};

}  // namespace karpos::detail::top_k
