// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/bfs/relabel.hpp"

#include <algorithm>
#include <karpos/hash_map.hpp>
#include <stdexcept>

namespace karpos::perf {
namespace {

/// Numbers of ids, in a map where the driver runs. Keys are wider than ids, which thus are no sentinels.
class id_numbers {
 public:
  explicit id_numbers(space const& exec)
      : m_exec(exec),
        m_map(exec, stretch),
        m_keys(make_array<std::uint64_t>("ids of edges", stretch)),
        m_numbers(make_array<std::uint64_t>("numbers of ids", stretch)),
        m_host_keys(Kokkos::create_mirror_view(m_keys)),
        m_host_numbers(Kokkos::create_mirror_view(m_numbers)) {}

  /// Takes in all that are new, as yet without numbers.
  void take(std::vector<std::uint32_t> const& ids) {
    for_each_stretch(ids, [&](auto const& keys, std::uint32_t const*) {
      std::uint64_t const most = m_distinct + keys.extent(0);
      if (most > m_map.max_keys()) m_map.rehash(m_exec, std::max(2 * m_map.max_keys(), most));
      insert_report const r = m_map.insert(m_exec, keys, keys);
      if (r.rejected != 0) throw std::logic_error("ids were lost although there was room for them");
      m_distinct += r.inserted;
    });
  }

  /// Numbers them in ascending order. Returns: the ids.
  std::vector<std::uint32_t> number() {
    auto const keys = make_array<std::uint64_t>("ids", m_distinct);
    m_map.retrieve_all(m_exec, keys, make_array<std::uint64_t>("no numbers yet", m_distinct));
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), keys);
    std::vector<std::uint32_t> ids(m_distinct);
    for (std::uint64_t i = 0; i < m_distinct; ++i) ids[i] = static_cast<std::uint32_t>(host(i));
    std::sort(ids.begin(), ids.end());
    std::uint64_t next = 0;
    for_each_stretch(ids, [&](auto const& keys_of_part, std::uint32_t const*) {
      auto const numbers = Kokkos::subview(m_numbers, part(keys_of_part.extent(0)));
      for (std::uint64_t i = 0; i < numbers.extent(0); ++i) m_host_numbers(i) = next++;
      Kokkos::deep_copy(m_exec, m_numbers, m_host_numbers);
      m_map.insert_or_assign(m_exec, keys_of_part, numbers);
    });
    return ids;
  }

  /// Puts the numbers in the place of ids, all of which were taken in.
  void replace(std::vector<std::uint32_t>& ids) {
    for_each_stretch(ids, [&](auto const& keys, std::uint32_t const* first) {
      m_map.find(m_exec, keys, Kokkos::subview(m_numbers, part(keys.extent(0))), std::uint64_t(0));
      Kokkos::deep_copy(m_exec, m_host_numbers, m_numbers);
      m_exec.fence("karpos::perf: numbers of ids");
      auto const begin = static_cast<std::size_t>(first - ids.data());
      for (std::size_t i = 0; i < keys.extent(0); ++i)
        ids[begin + i] = static_cast<std::uint32_t>(m_host_numbers(i));
    });
  }

 private:
  static constexpr std::uint64_t stretch = std::uint64_t(1) << 20;

  static std::pair<std::uint64_t, std::uint64_t> part(std::uint64_t n) { return {0, n}; }

  /// Calls use(keys where the driver runs, first id) for one stretch of the ids after the other.
  template <class Use>
  void for_each_stretch(std::vector<std::uint32_t> const& ids, Use const& use) {
    for (std::size_t begin = 0; begin < ids.size(); begin += stretch) {
      std::uint64_t const n = std::min<std::uint64_t>(stretch, ids.size() - begin);
      m_exec.fence("karpos::perf: before the stretch is written anew");
      for (std::uint64_t i = 0; i < n; ++i) m_host_keys(i) = ids[begin + i];
      Kokkos::deep_copy(m_exec, m_keys, m_host_keys);
      use(Kokkos::subview(m_keys, part(n)), ids.data() + begin);
    }
  }

  space m_exec;
  hash_map<std::uint64_t, std::uint64_t, space> m_map;
  array<std::uint64_t> m_keys, m_numbers;
  array<std::uint64_t>::host_mirror_type m_host_keys, m_host_numbers;
  std::uint64_t m_distinct = 0;
};

}  // namespace

std::vector<std::uint32_t> relabel(space const& exec, edge_list& list) {
  id_numbers numbers(exec);
  numbers.take(list.sources);
  numbers.take(list.targets);
  std::vector<std::uint32_t> ids = numbers.number();
  numbers.replace(list.sources);
  numbers.replace(list.targets);
  list.vertices = ids.size();
  return ids;
}

}  // namespace karpos::perf
