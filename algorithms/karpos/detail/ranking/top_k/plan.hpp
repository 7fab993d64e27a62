// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/ranking/top_k/state.hpp"
#include "karpos/device/program.hpp"
#include "karpos/top_k_options.hpp"

// Sizes, memory, checks and choices of ranked queries. There is one allocation for the arrays of
// queries over accumulators, and one for those of NRA over score vectors. Each layout is listed
// once, in lay_out, for its size in bytes and for the pointers into it.

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
      reject("sorted lists have too many sparse ids", std::to_string(objects),
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
                                                           lay_out(nullptr, n));
    lay_out(m_bytes.data(), n);
    fill_words("karpos::top_k::accumulators", exec, small, n.small_accumulators() ? n.slots : 0, 0);
    fill_words("karpos::top_k::accumulators", exec, large, n.small_accumulators() ? 0 : n.slots, 0);
    fill_words("karpos::top_k::candidate_bitmap", exec, candidate_bitmap, bitmap_words(n), 0);
    fill_words("karpos::top_k::histogram", exec, histogram, histogram_words, 0);
    fill_words("karpos::top_k::words", exec, words, 1, 0);
    fill_words("karpos::top_k::keys", exec, keys, n.dense ? 0 : n.slots, ~0u);
    grid = device::grid_memory<ExecSpace>(exec, shape_of(exec));
  }
  static std::size_t bytes_for(ExecSpace const& exec, sizes const& n) {
    return accumulator_memory().lay_out(nullptr, n) +
           device::grid_memory<ExecSpace>::bytes_for(shape_of(exec));
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

  std::size_t lay_out(std::byte* base, sizes const& n) {
    arena a(base);
    a.allocate(small, n.small_accumulators() ? n.slots : 0);
    a.allocate(large, n.small_accumulators() ? 0 : n.slots);
    a.allocate(candidate_bitmap, bitmap_words(n));
    for (auto& c : candidates) a.allocate(c, n.candidates);
    a.allocate(histogram, histogram_words);
    a.allocate(words, 1);
    a.allocate(final_scores, n.finalists * static_cast<std::uint64_t>(n.lists));
    a.allocate(finalists, n.finalists);
    a.allocate(keys, n.dense ? 0 : n.slots);
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
                                                           lay_out(nullptr, n));
    lay_out(m_bytes.data(), n);
  }
  static std::size_t bytes_for(sizes const& n) { return nra_memory().lay_out(nullptr, n); }
  bool is_allocated() const { return m_bytes.extent(0) > 0; }

  nra_arrays<id, score> arrays{};

 private:
  std::size_t lay_out(std::byte* base, sizes const& n) {
    arena a(base);
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
    return a.bytes();
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

template <class ExecSpace, class Lists, class Ids, class Scores>
constexpr void require_result_types() {
  using score = typename Scores::value_type;
  static_assert(std::is_same_v<typename Ids::value_type, typename Lists::id_type>,
                "karpos: ids come in a view of the lists' id type");
  static_assert(std::is_same_v<score, float> || std::is_same_v<score, double>,
                "karpos: scores come in a view of float or double");
  require_reachable<ExecSpace, Ids, Scores>();
}
/// Throws std::invalid_argument if a view of results of n queries is too small, or if its rows are
/// strided.
template <class View>
void require_rows(std::string const& what, View const& view, std::uint64_t n, std::uint64_t k) {
  require_length("the view of " + what, view.extent(0), n, "queries");
  if (n == 0) return;
  require_length("a row of " + what, view.extent(1), k, "objects");
  require_contiguous("the " + what + " of a query", Kokkos::subview(view, 0, Kokkos::ALL));
}

template <class Ids, class Scores>
results<typename Ids::non_const_value_type> make_results(Ids const& ids, Scores const& scores,
                                                         bool with_scores) {
  results<typename Ids::non_const_value_type> to{ids.data(), nullptr, nullptr};
  if (!with_scores) return to;
  if constexpr (std::is_same_v<typename Scores::value_type, float>)
    to.floats = scores.data();
  else
    to.doubles = scores.data();
  return to;
}

template <class Lists, class Aggregate>
void require_valid_query(query_sizes<Lists> const& capacity, Lists const& lists, std::uint64_t k,
                         top_k_options<Aggregate> const& options) {
  require_enumerators(options.result, options.ties, options.bail_out, options.driver);
  if (lists.lists() > capacity.lists || lists.objects() > capacity.objects ||
      lists.is_dense() != capacity.dense)
    reject("sorted lists do not fit the workspace",
           std::to_string(lists.lists()) + " lists of " + std::to_string(lists.objects()) +
               " objects for " + std::to_string(capacity.lists) + " of " +
               std::to_string(capacity.objects),
           "make it for such lists");
  if (k > capacity.k && capacity.k < capacity.objects)
    reject("k is too large for the workspace",
           std::to_string(k) + " for " + std::to_string(capacity.k), "make it for such a k");
  if (!(options.missing_score < HUGE_VAL))
    reject("the missing score is wrong", std::to_string(options.missing_score),
           "it is a number below infinity");
  if constexpr (std::is_same_v<Aggregate, weighted_sum>) {
    int const weights = options.aggregate.count();
    if (weights != 0 && weights != lists.lists())
      reject("there is another number of weights than lists",
             std::to_string(weights) + " for " + std::to_string(lists.lists()),
             "give one for each list");
  }
}

template <class Lists>
void require_in_range(bool in_range, Lists const& lists) {
  if (in_range) return;
  std::string const objects = std::to_string(lists.objects());
  if (lists.is_dense())
    reject("an id of sorted lists is wrong", "not below " + objects,
           "dense ids are below the number of objects");
  reject("an id of sorted lists is wrong", "more than " + objects + " different ones",
         "say how many there are at most");
}

/// The options of a query that its loop needs.
struct query_plan {
  double growth, growth_shrinking;
  std::uint64_t first_stride;
  std::uint64_t max_growing_depth, max_candidates;  // above either limit the query bails out
  std::uint64_t objects;                            // dense ids: all; sparse ids: a lower bound
  // Fraction of what independent lists share; below it the growing phase would go too deep.
  double min_agreement;
  top_k_bail_out bail_out;
  bool set;
};

template <class ExecSpace, class Lists>
query_plan plan_of(Lists const& lists, std::uint64_t k, top_k_options<> const& options) {
  using tuned = tuning<ExecSpace>;
  auto const& strides = options.stride.strides();
  auto const longest = static_cast<double>(lists.longest());
  auto const objects = lists.is_dense() ? static_cast<double>(lists.objects()) : longest;
  std::uint64_t first = strides.first;
  if (first == 0) {
    std::uint64_t const fraction =
        tuned::first_stride_divisor == 0 ? 0 : lists.longest() / tuned::first_stride_divisor;
    first = Kokkos::max(fraction, Kokkos::max(2 * k, std::uint64_t(tuned::first_stride)));
  }
  // Independent lists end the growing phase at (k / m)^(1/n) of their depth, for m objects in n
  // lists. If it goes twice as deep, the lists are not independent.
  double const expected = std::pow(static_cast<double>(k) / objects, 1.0 / lists.lists());
  double const max_depth = Kokkos::min(2 * expected, tuned::max_growing_depth);
  // If two lists share a fraction f of what independent lists do, the growing phase goes f^-((n -
  // 1) / 2) times as deep.
  double const min_agreement = 0.75 * std::pow(0.25, 1.0 / Kokkos::max(lists.lists() - 1, 1));
  return {strides.growth > 0 ? strides.growth : tuned::growth,
          strides.growth_shrinking > 0 ? strides.growth_shrinking : tuned::growth_shrinking,
          first,
          static_cast<std::uint64_t>(max_depth * longest),
          static_cast<std::uint64_t>(tuned::max_candidates * objects),
          static_cast<std::uint64_t>(objects),
          min_agreement,
          options.bail_out,
          options.result == top_k_result::set};
}

}  // namespace karpos::detail::top_k
