// SPDX-License-Identifier: Apache-2.0
/// \file
/// Uses of the public headers that two units instantiate alike. Deliberately includes no header: it
/// is included after all of them.
#pragma once

namespace karpos_test {

/// The results of instantiations in one unit.
struct answers {
  unsigned smaller, larger, sum;
  double lowest, highest, weighted;
  bool operator==(answers const&) const = default;
};

/// Calls the merge operations of maps and the aggregates of ranked queries, which had the same
/// names in an earlier version.
template <class Score>
answers use_all() {
  Score const scores[2] = {2, 3};
  return {karpos::minimum{}(2u, 3u),      karpos::maximum{}(2u, 3u),
          karpos::plus{}(2u, 3u),         karpos::min_score{}(scores, 2),
          karpos::max_score{}(scores, 2), karpos::weighted_sum{1, 1}(scores, 2)};
}

/// Types that the units share by name: a map and options of every family.
struct types {
  karpos::hash_map<std::uint32_t, std::uint32_t, KARPOS_TEST_SPACE>::options hash;
  karpos::hopscotch_map<std::uint32_t, std::uint32_t, KARPOS_TEST_SPACE>::options hopscotch;
  karpos::cuckoo_map<std::uint32_t, std::uint32_t, KARPOS_TEST_SPACE>::options cuckoo;
  karpos::unordered_map<std::uint32_t, std::uint32_t, KARPOS_TEST_SPACE>::insert_result inserted;
  karpos::bfs_options bfs;
  karpos::csr_options csr;
  karpos::top_k_options<karpos::max_score> top_k;
};

answers seen_forwards();
answers seen_backwards();
std::size_t size_forwards();
std::size_t size_backwards();

}  // namespace karpos_test
