// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "perf/measure/subjects/chained_lists.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/subjects/table_kernels.hpp"

namespace karpos::perf {

/// Numbers the insertions among the operations.
template <class Key>
struct chained_rank {
  array<map_operation<Key, Key>> operations;
  array<std::uint64_t> ranks;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& sum, bool last) const {
    if (last) ranks(i) = sum;
    sum += operations(i).op == map_op::insert;
  }
};
template <class Key>
struct chained_point {
  array<chained_node<Key>> block;
  array<std::uint64_t> nodes;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    nodes(first + i) = reinterpret_cast<std::uint64_t>(&block(i));
  }
};
template <class Key>
struct chained_count {
  chained_lists<Key> lists;
  KOKKOS_FUNCTION void operator()(std::uint64_t b, std::uint64_t& n) const {
    for (auto const* x = lists.at(lists.heads(b)); x != nullptr; x = lists.at(x->next))
      n += (x->next & 1) == 0;
  }
};

namespace {

/// Timed: whether apply allocates the nodes of its insertions itself, each node for itself, as a
/// program does that cannot tell how many there will be. GLHT only says that this time counts; that
/// the nodes are allocated one by one is our guess.
template <class Key, bool Timed>
class chained_table : public subject<Key> {
  using node = chained_node<Key>;
  using operations_view = array<map_operation<Key, Key>>;

 public:
  chained_table(space const& exec, std::uint64_t max_keys, double load) {
    m_lists.heads = make_array<std::uint64_t>(
        "heads", static_cast<std::uint64_t>(std::ceil(static_cast<double>(max_keys) / load)));
    clear(exec);
  }
  ~chained_table() override { release_single_nodes(); }

  std::size_t bytes() const override {
    return m_lists.heads.extent(0) * sizeof(std::uint64_t) + m_lists.nodes.extent(0) * sizeof(node);
  }
  bool applies() const override { return true; }
  void clear(space const& exec) override {
    release_single_nodes();
    m_lists.used = 0;
    Kokkos::deep_copy(exec, m_lists.heads, std::uint64_t(0));
  }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    m_lists.ranks = {};
    reserve(exec, m_lists.used + keys.extent(0));
    Kokkos::parallel_for("chained::insert", range(exec, keys.extent(0)),
                         table_insert<chained_lists<Key>, array<Key>>{m_lists, keys, values});
    m_lists.used += keys.extent(0);
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    Kokkos::parallel_for("chained::find", range(exec, queries.extent(0)),
                         table_find<chained_lists<Key>, array<Key>>{m_lists, queries, answers});
  }
  void erase(space const& exec, array<Key> const& keys) override {
    Kokkos::parallel_for("chained::erase", range(exec, keys.extent(0)),
                         table_erase<chained_lists<Key>, array<Key>>{m_lists, keys});
  }
  void prepare_apply(space const& exec, operations_view const& operations) override {
    m_lists.ranks = make_array<std::uint64_t>("ranks", operations.extent(0));
    Kokkos::parallel_scan("chained::rank", range(exec, operations.extent(0)),
                          chained_rank<Key>{operations, m_lists.ranks}, m_wanted);
    exec.fence("chained: the number of nodes is known");
    if constexpr (!Timed) reserve(exec, m_lists.used + m_wanted);
  }
  void apply(space const& exec, operations_view const& operations,
             array<map_result<Key>> const& results) override {
    if constexpr (Timed) reserve(exec, m_lists.used + m_wanted);
    Kokkos::parallel_for("chained::apply", range(exec, operations.extent(0)),
                         table_apply<chained_lists<Key>, operations_view, array<map_result<Key>>>{
                             m_lists, operations, results});
    m_lists.used += m_wanted;
  }
  std::uint64_t size(space const& exec) override {
    std::uint64_t n = 0;
    Kokkos::parallel_reduce("chained::size", range(exec, m_lists.heads.extent(0)),
                            chained_count<Key>{m_lists}, n);
    return n;
  }

 private:
  /// Makes n nodes in all. Those that are in use stay where they are.
  void reserve(space const& exec, std::uint64_t n) {
    std::uint64_t const before = m_lists.nodes.extent(0);
    if (n <= before) return;
    Kokkos::resize(m_lists.nodes, n);
    if constexpr (Timed) {
      for (std::uint64_t i = before; i < n; ++i)
        m_single.push_back(reinterpret_cast<std::uint64_t>(memory().allocate(sizeof(node))));
      Kokkos::deep_copy(exec, m_lists.nodes,
                        Kokkos::View<std::uint64_t const*, Kokkos::HostSpace>(m_single.data(), n));
    } else {
      m_blocks.push_back(make_array<node>("nodes", n - before));
      Kokkos::parallel_for("chained::point", range(exec, n - before),
                           chained_point<Key>{m_blocks.back(), m_lists.nodes, before});
    }
    exec.fence("chained: the nodes are made");
  }
  void release_single_nodes() {
    if (m_single.empty()) return;
    Kokkos::fence("chained: no kernel uses the nodes");
    for (std::uint64_t const address : m_single)
      memory().deallocate(reinterpret_cast<void*>(address), sizeof(node));
    m_single.clear();
    m_lists.nodes = {};
  }

  chained_lists<Key> m_lists;
  std::vector<array<node>> m_blocks;
  std::vector<std::uint64_t> m_single;
  std::uint64_t m_wanted = 0;  ///< nodes for the operations of prepare_apply
};

template <class Key>
struct chained_preallocated : chained_table<Key, false> {
  using chained_table<Key, false>::chained_table;
};
template <class Key>
struct chained_allocating : chained_table<Key, true> {
  using chained_table<Key, true>::chained_table;
};

register_published<chained_preallocated> const preallocated(
    "chained", "lock-free chains, nodes allocated before");
register_published<chained_allocating> const allocating("chained-alloc",
                                                        "lock-free chains, nodes allocated within");

}  // namespace
}  // namespace karpos::perf
