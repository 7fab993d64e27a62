// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "perf/subjects/sorted_array.hpp"

namespace karpos::perf {
namespace {

template <class Key>
struct sorted_pair {
  Key key, value;
  friend bool operator<(sorted_pair const& a, sorted_pair const& b) { return a.key < b.key; }
};

/// Pairs in as many parts as there are threads.
template <class Key>
struct parts_of {
  array<sorted_pair<Key>> pairs;
  std::uint64_t size, parts;

  sorted_pair<Key>* begin(std::uint64_t part) const {
    return pairs.data() + size * std::min(part, parts) / parts;
  }
};

template <class Key>
struct sort_part {
  parts_of<Key> all;
  void operator()(std::uint64_t part) const { std::sort(all.begin(part), all.begin(part + 1)); }
};

/// Makes runs of 2 * width parts of sorted runs of `width` parts. Each thread writes one part of the result: it looks
/// for where the input of its part begins, so that all threads have work until the last run is merged.
template <class Key>
struct merge_part {
  parts_of<Key> from, to;
  std::uint64_t width;

  void operator()(std::uint64_t part) const {
    std::uint64_t const run = part / (2 * width) * 2 * width;
    auto* const a = from.begin(run);
    auto* const b = from.begin(run + width);
    auto* const end = from.begin(run + 2 * width);
    std::uint64_t const low = to.begin(part) - to.begin(run),
                        high = to.begin(part + 1) - to.begin(run);
    std::uint64_t const a_low = of_first(a, b, end, low), a_high = of_first(a, b, end, high);
    std::merge(a + a_low, a + a_high, b + (low - a_low), b + (high - a_high), to.begin(part));
  }
  /// How many of the first n pairs of the merged run come from [a, b).
  static std::uint64_t of_first(sorted_pair<Key> const* a, sorted_pair<Key> const* b,
                                sorted_pair<Key> const* end, std::uint64_t n) {
    std::uint64_t const in_a = b - a, in_b = end - b;
    std::uint64_t low = n > in_b ? n - in_b : 0, high = std::min(n, in_a);
    while (low < high) {
      std::uint64_t const middle = (low + high) / 2;
      if (b[n - middle - 1] < a[middle])
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
};

/// std::sort of one part a thread, then merges by all threads.
template <class Key>
class std_sorted_array : public sorted_array<Key> {
  using base = sorted_array<Key>;
  using base::m_keys, base::m_values, base::m_size;
  using pairs = array<sorted_pair<Key>>;

 public:
  std_sorted_array(space const&, std::uint64_t max_keys, double)
      : base(max_keys),
        m_pairs(make_array<sorted_pair<Key>>("pairs", max_keys)),
        m_merged(make_array<sorted_pair<Key>>("merged pairs", max_keys)) {}

  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    m_size = keys.extent(0);
    Kokkos::parallel_for("sorted::join", range(exec, m_size), [=, into = m_pairs](std::uint64_t i) {
      into(i) = {keys(i), values(i)};
    });
    Kokkos::parallel_for(
        "sorted::split", range(exec, m_size),
        [from = sorted(exec), sorted_keys = m_keys, sorted_values = m_values](std::uint64_t i) {
          sorted_keys(i) = from(i).key;
          sorted_values(i) = from(i).value;
        });
  }

 private:
  pairs sorted(space const& exec) const {
    auto const parts = static_cast<std::uint64_t>(exec.concurrency());
    parts_of<Key> from{m_pairs, m_size, parts}, to{m_merged, m_size, parts};
    Kokkos::parallel_for("sorted::sort", range(exec, parts), sort_part<Key>{from});
    for (std::uint64_t width = 1; width < parts; width *= 2) {
      Kokkos::parallel_for("sorted::merge", range(exec, parts), merge_part<Key>{from, to, width});
      std::swap(from, to);
    }
    return from.pairs;
  }

  pairs m_pairs, m_merged;
};

register_host_peer<std_sorted_array> const here("sorted", "array sorted by std::sort");

}  // namespace
}  // namespace karpos::perf
