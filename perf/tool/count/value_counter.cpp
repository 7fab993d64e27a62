// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/count/value_counter.hpp"

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <stdexcept>

namespace karpos::perf {
namespace {

constexpr std::uint64_t staging_size = std::uint64_t(1) << 22;
constexpr std::uint64_t first_batch = std::uint64_t(1) << 16;
constexpr std::uint64_t first_size = std::uint64_t(1) << 12;
constexpr std::uint64_t first_reserved = ~std::uint64_t(0) - 2;

}  // namespace

value_counter::value_counter(space const& exec)
    : m_exec(exec),
      m_map(exec, first_size),
      m_staged(make_array<std::uint64_t>("staged", staging_size)),
      m_host(Kokkos::create_mirror_view(m_staged)) {}

void value_counter::add(std::vector<std::uint64_t> const& values) {
  for (std::uint64_t const v : values) {
    if (v >= first_reserved) {
      ++m_sentinel_counts[v - first_reserved];
      ++m_total;
      continue;
    }
    if (m_filled == (m_total == 0 ? first_batch : staging_size)) flush();
    m_host(m_filled++) = v;
  }
}

void value_counter::flush() {
  if (m_filled == 0) return;
  Kokkos::Timer clock;
  reserve(m_filled);
  auto const part = std::make_pair(std::uint64_t(0), m_filled);
  auto const keys = Kokkos::subview(m_staged, part);
  Kokkos::deep_copy(m_exec, keys, Kokkos::subview(m_host, part));
  insert_report const r = m_map.insert_or_apply(m_exec, keys, std::uint64_t(1), plus{});
  if (r.rejected != 0) throw std::logic_error("values were lost although the map has enough slots");
  m_distinct += r.inserted;
  m_total += m_filled;
  m_filled = 0;
  m_seconds += clock.seconds();
}

/// Grows the map for `more` keys, all of which may be new; doubling keeps the total work linear.
void value_counter::reserve(std::uint64_t more) {
  if (m_distinct + more > m_map.max_keys())
    m_map.rehash(m_exec, std::max(2 * m_map.max_keys(), m_distinct + more));
}

std::uint64_t value_counter::distinct() const {
  std::uint64_t n = m_distinct;
  for (std::uint64_t const count : m_sentinel_counts) n += count != 0;
  return n;
}

std::vector<value_count> value_counter::all() const {
  auto const values = make_array<std::uint64_t>("values", m_distinct);
  auto const counts = make_array<std::uint64_t>("counts", m_distinct);
  m_map.retrieve_all(m_exec, values, counts);
  auto const host_values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  auto const host_counts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts);
  std::vector<value_count> list;
  list.reserve(distinct());
  for (std::uint64_t i = 0; i < m_distinct; ++i) list.emplace_back(host_values(i), host_counts(i));
  for (std::uint64_t i = 0; i < m_sentinel_counts.size(); ++i)
    if (m_sentinel_counts[i] != 0) list.emplace_back(first_reserved + i, m_sentinel_counts[i]);
  return list;
}

}  // namespace karpos::perf
