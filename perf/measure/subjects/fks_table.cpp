// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "karpos/hash.hpp"
#include "perf/measure/subjects/pair_slots.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/subjects/table_kernels.hpp"

// Sparse perfect hashing, the first step of Alcantara et al.: one level of hashing into buckets,
// and for a bucket of k keys a table of k^2 slots of its own, under a hash without collisions.
// Sources: Fredman, Komlos, Szemeredi, "Storing a sparse table with O(1) worst case access time",
// 1984; the two phases of Alcantara et al., "Real-time parallel hashing on the GPU", 2009.

namespace karpos::perf {

/// The head of a bucket, read by one access: where its slots begin, its keys, and the seed of its
/// hash.
struct fks_head {
  std::uint64_t first : 40, keys : 8, seed : 16;
  static constexpr std::uint64_t max_first = (std::uint64_t(1) << 40) - 1, max_keys = 255,
                                 max_seed = 65535;

  KOKKOS_FUNCTION std::uint64_t slot_of(std::uint64_t key) const {
    return first + multiply_high(mix(key + (seed + 1) * 0x9e3779b97f4a7c15ULL), keys * keys);
  }
};
static_assert(sizeof(fks_head) == 8);

/// Numbers of keys and of slots: a prefix sum of both at once.
struct fks_sizes {
  std::uint64_t keys = 0, slots = 0;
  KOKKOS_FUNCTION fks_sizes& operator+=(fks_sizes const& other) {
    keys += other.keys;
    slots += other.slots;
    return *this;
  }
};

template <class Key>
struct fks_memory {
  array<fks_head> heads;
  array<std::uint32_t> counts, offsets;  ///< of a bucket; of a key in its bucket
  array<std::uint64_t> starts;           ///< of a bucket, among the keys
  array<Key> keys, values;               ///< in the order of buckets
  pair_slots<Key> slots;
  std::uint64_t salt = 0;  ///< of the hash that selects the bucket

  KOKKOS_FUNCTION std::uint64_t bucket_of(Key key) const {
    return multiply_high(mix(mix(key ^ salt)), counts.extent(0));
  }
  KOKKOS_FUNCTION bool find(Key key, Key& value) const {
    fks_head const head = heads(bucket_of(key));
    return head.keys > 0 && slots.find(head.slot_of(key), key, value);
  }
};

template <class Key>
struct fks_count {
  fks_memory<Key> m;
  array<Key> keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    m.offsets(i) = Kokkos::atomic_fetch_add(&m.counts(m.bucket_of(keys(i))), 1u);
  }
};
template <class Key>
struct fks_scan {
  fks_memory<Key> m;
  KOKKOS_FUNCTION void operator()(std::uint64_t b, fks_sizes& sum, bool last) const {
    std::uint64_t const k = m.counts(b);
    if (last) {
      m.starts(b) = sum.keys;
      // Too large a sum or k is cut off: this salt is refused below.
      m.heads(b) = {sum.slots & fks_head::max_first, k & fks_head::max_keys, 0};
    }
    // A bucket of too many keys asks for more slots than there are: then another salt is tried.
    sum += {k, k <= fks_head::max_keys ? k * k : m.slots.count() + 1};
  }
};
template <class Key>
struct fks_distribute {
  fks_memory<Key> m;
  array<Key> keys, values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const at = m.starts(m.bucket_of(keys(i))) + m.offsets(i);
    m.keys(at) = keys(i);
    m.values(at) = values(i);
  }
};
/// Tries one hash after the other until all keys of a bucket have a slot.
template <class Key>
struct fks_place {
  fks_memory<Key> m;
  KOKKOS_FUNCTION void operator()(std::uint64_t b, std::uint64_t& hashes) const {
    fks_head head = m.heads(b);
    if (head.keys == 0) return;
    Key const* const keys = &m.keys(m.starts(b));
    Key const* const values = &m.values(m.starts(b));
    for (std::uint64_t seed = 0; seed <= fks_head::max_seed; ++seed) {
      head.seed = seed & fks_head::max_seed;
      ++hashes;
      std::uint64_t placed = 0;
      while (placed < head.keys && m.slots.insert(head.slot_of(keys[placed]), keys[placed],
                                                  values[placed]) == outcome::inserted)
        ++placed;
      if (placed == head.keys) break;
      while (placed > 0) m.slots.erase(head.slot_of(keys[--placed]));
    }
    m.heads(b) = head;
  }
};
namespace {

/// A table that is built as a whole: insert() replaces all pairs. n keys in b buckets take about
/// n + n^2 / b slots: the load decides the number of buckets.
template <class Key>
class fks_table : public subject<Key> {
 public:
  fks_table(space const&, std::uint64_t max_keys, double load) {
    double const n = static_cast<double>(max_keys), keys_of_bucket = 1 / load - 1;
    auto const buckets = static_cast<std::uint64_t>(std::ceil(n / keys_of_bucket));
    m.heads = make_array<fks_head>("heads", buckets);
    m.counts = make_array<std::uint32_t>("counts", buckets);
    m.starts = make_array<std::uint64_t>("starts", buckets);
    m.offsets = make_array<std::uint32_t>("offsets", max_keys);
    m.keys = make_array<Key>("keys by bucket", max_keys);
    m.values = make_array<Key>("values by bucket", max_keys);
    // A salt that asks for more than 1.05 times the expected slots is refused.
    m.slots = pair_slots<Key>(static_cast<std::uint64_t>(1.05 * n / load) + 16);
  }

  /// Returns the bytes that lookups read: heads and slots, without the workspace.
  std::size_t bytes() const override {
    return m.heads.extent(0) * sizeof(fks_head) + m.slots.bytes();
  }
  bool erases() const override { return false; }
  std::vector<fact> facts(space const&) const override {
    double const slots = static_cast<double>(std::max<std::uint64_t>(m_used, 1)),
                 n = static_cast<double>(std::max<std::uint64_t>(m_size, 1)),
                 heads = static_cast<double>(m.heads.extent(0) * sizeof(fks_head));
    return {{"space_factor", (heads + slots * 2 * sizeof(Key)) / (n * 2 * sizeof(Key))},
            {"slot_load", n / slots},
            {"restarts", m.salt - 1},
            {"hashes", m_hashes}};
  }
  void clear(space const&) override { m_size = 0; }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    std::uint64_t const n = keys.extent(0), buckets = m.counts.extent(0);
    fks_sizes sizes;
    for (m.salt = 0, sizes.slots = ~std::uint64_t(0); sizes.slots > m.slots.count();) {
      ++m.salt;
      Kokkos::deep_copy(exec, m.counts, 0u);
      Kokkos::parallel_for("fks::count", range(exec, n), fks_count<Key>{m, keys});
      Kokkos::parallel_scan("fks::scan", range(exec, buckets), fks_scan<Key>{m}, sizes);
      exec.fence("fks: the sizes are known");
    }
    m.slots.clear(exec);
    Kokkos::parallel_for("fks::distribute", range(exec, n), fks_distribute<Key>{m, keys, values});
    Kokkos::parallel_reduce("fks::place", range(exec, buckets), fks_place<Key>{m}, m_hashes);
    m_size = n;
    m_used = sizes.slots;
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    Kokkos::parallel_for("fks::find", range(exec, queries.extent(0)),
                         table_find<fks_memory<Key>, array<Key>>{m, queries, answers});
  }
  std::uint64_t size(space const& exec) override {
    return m_size == 0 ? 0 : used_slots(exec, m.slots);
  }

 private:
  fks_memory<Key> m;
  std::uint64_t m_size = 0, m_used = 0, m_hashes = 0;
};

register_published<fks_table> const fks("fks", "FKS, quadratic second level");

}  // namespace
}  // namespace karpos::perf
