// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <type_traits>

#include "perf/measure/subjects/hopscotch_slots.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/subjects/table_kernels.hpp"

namespace karpos::perf {

template <class Key, class Memory>
struct hopscotch_size {
  Kokkos::View<std::uint32_t*, Memory> hops;
  KOKKOS_FUNCTION void operator()(std::uint64_t h, std::uint64_t& n) const {
    n += static_cast<std::uint64_t>(lane_mask<32>(hops(h)).count());
  }
};

namespace {

/// Runs on ExecSpace. If that is not the measured space, but its host, operations and results are
/// copied outside of the time of apply.
template <class Key, class ExecSpace>
class locked_hopscotch : public subject<Key> {
  using Memory = typename ExecSpace::memory_space;
  using slots = hopscotch_slots<Key, Memory>;
  template <class T>
  using view = Kokkos::View<T*, Memory>;

 public:
  locked_hopscotch(space const& exec, std::uint64_t max_keys, double load) {
    auto const homes = static_cast<std::uint64_t>(std::ceil(static_cast<double>(max_keys) / load));
    m_slots.hops = view<std::uint32_t>("hops", homes);
    m_slots.locks = view<std::uint32_t>("locks", homes / slots::segment + 1);
    m_slots.stamps = view<std::uint64_t>("stamps", homes / slots::segment + 1);
    m_slots.keys = view<Key>("keys", homes + slots::search);
    m_slots.values = view<Key>("values", homes + slots::search);
    clear(exec);
  }

  int threads(space const&) const override { return ExecSpace().concurrency(); }
  std::size_t bytes() const override {
    return 2 * sizeof(Key) * m_slots.keys.extent(0) + sizeof(std::uint32_t) * m_slots.homes();
  }
  bool applies() const override { return true; }
  void clear(space const&) override {
    Kokkos::deep_copy(m_slots.keys, slots::empty);
    Kokkos::deep_copy(m_slots.hops, 0u);
  }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    run("hopscotch::insert", exec, keys.extent(0),
        table_insert<slots, view<Key>>{m_slots, here(exec, keys), here(exec, values)});
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    auto const found = Kokkos::create_mirror_view(Memory(), answers);
    run("hopscotch::find", exec, queries.extent(0),
        table_find<slots, view<Key>>{m_slots, here(exec, queries), found});
    if constexpr (!same) Kokkos::deep_copy(answers, found);
  }
  void erase(space const& exec, array<Key> const& keys) override {
    run("hopscotch::erase", exec, keys.extent(0),
        table_erase<slots, view<Key>>{m_slots, here(exec, keys)});
  }
  void prepare_apply(space const& exec, array<map_operation<Key, Key>> const& operations) override {
    m_operations = here(exec, operations);
    if constexpr (!same) m_results = view<map_result<Key>>("results", operations.extent(0));
  }
  void apply(space const& exec, array<map_operation<Key, Key>> const& operations,
             array<map_result<Key>> const& results) override {
    if constexpr (same) m_results = results;
    run("hopscotch::apply", exec, operations.extent(0),
        table_apply<slots, view<map_operation<Key, Key>>, view<map_result<Key>>>{
            m_slots, m_operations, m_results});
  }
  void finish_apply(space const&, array<map_result<Key>> const& results) override {
    if constexpr (!same) Kokkos::deep_copy(results, m_results);
  }
  std::uint64_t size(space const& exec) override {
    std::uint64_t n = 0;
    exec.fence("hopscotch: before size");
    Kokkos::parallel_reduce("hopscotch::size", of<ExecSpace>(exec, m_slots.homes()),
                            hopscotch_size<Key, Memory>{m_slots.hops}, n);
    return n;
  }

 private:
  static constexpr bool same = std::is_same_v<ExecSpace, space>;

  /// Returns the array, or a copy that this table's kernels can access.
  template <class T>
  static view<T> here([[maybe_unused]] space const& exec, array<T> const& a) {
    if constexpr (same) {
      return a;
    } else {
      exec.fence("hopscotch: the array is filled");
      return Kokkos::create_mirror_view_and_copy(Memory(), a);
    }
  }
  template <class S>
  static auto of(space const& exec, std::uint64_t n) {
    if constexpr (same)
      return range(exec, n);
    else
      return Kokkos::RangePolicy<S, Kokkos::IndexType<std::uint64_t>>(S(), 0, n);
  }
  template <class Body>
  static void run(char const* label, space const& exec, std::uint64_t n, Body const& body) {
    if constexpr (!same) exec.fence("hopscotch: the device's clock is read before");
    Kokkos::parallel_for(label, of<ExecSpace>(exec, n), body);
    if constexpr (!same) ExecSpace().fence("hopscotch: the host has finished");
  }

  slots m_slots;
  view<map_operation<Key, Key>> m_operations;
  view<map_result<Key>> m_results;
};

template <class Key>
struct hopscotch_here : locked_hopscotch<Key, space> {
  using locked_hopscotch<Key, space>::locked_hopscotch;
};
register_published<hopscotch_here> const here("hopscotch-locked", "hopscotch with locks");

template <class Key>
struct hopscotch_on_host : locked_hopscotch<Key, Kokkos::DefaultHostExecutionSpace> {
  using locked_hopscotch<Key, Kokkos::DefaultHostExecutionSpace>::locked_hopscotch;
};
/// Registers the table of the host beside a device; on hosts it is hopscotch-locked.
template <template <class> class Map>
struct register_on_host {
  register_on_host() {
    if constexpr (!on_host)
      register_published<Map>("hopscotch-cpu", "hopscotch with locks, on the host");
  }
};
register_on_host<hopscotch_on_host> const on_the_host;

}  // namespace
}  // namespace karpos::perf
