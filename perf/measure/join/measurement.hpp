// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/join.hpp"
#include "karpos/partitioned_join.hpp"
#include "perf/measure/join/expected_join.hpp"
#include "perf/measure/join/generate_tables.hpp"
#include "perf/measure/join/measure.hpp"
#include "perf/measure/subjects/sort_join.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {

/// A table of the measurement: its rows, of one column of keys.
template <class Key>
struct table_of_keys {
  using key_type = Key;
  array<Key> keys;

  table_of_keys(space const&, array<Key> const& of_rows) : keys(of_rows) {}
  auto rows() const { return karpos::rows(keys); }
  std::uint64_t bytes() const { return keys.extent(0) * sizeof(Key); }
};

/// Measures joins of two tables of type Table, which is made of generated keys and has
///
///   key_type, rows(), bytes()   the type of the keys, the rows, and the bytes of their columns
///
/// Rows are equal exactly if the keys are.
template <class Table>
class join_measurement {
 public:
  join_measurement(join_measure_parameters const& p, reporter const& report)
      : m_report(report),
        m_timer(m_exec),
        m_kind(join_kind_of(p.how)) {
    m_run.parameters = p;
  }

  join_run operator()() {
    measure_ceiling();
    m_report(0.1, "tables");
    auto const left = make_array<Key>("left keys", tables().left);
    auto const right = make_array<Key>("right keys", tables().right);
    generate_tables(m_exec, tables(), left, right);
    m_left.emplace(m_exec, left);
    m_right.emplace(m_exec, right);
    m_report(0.2, "a join by sorting on the host");
    m_expected = std::make_unique<expected_join<Key>>(m_exec, left, right, m_kind);
    m_run.size = m_expected->size();
    m_out_left =
        make_array<std::uint32_t>("left rows of the join", has_rows_of(true) ? m_run.size : 0);
    m_out_right =
        make_array<std::uint32_t>("right rows of the join", has_rows_of(false) ? m_run.size : 0);
    m_report(0.5, "karpos");
    measure_ours();
    m_report(0.7, "karpos, without an index");
    measure_once();
    m_report(0.75, "sort");
    if constexpr (is_of_keys)
      if (m_run.parameters.with_sort) measure_sort();
    return std::move(m_run);
  }

 private:
  using Key = typename Table::key_type;
  static constexpr bool is_of_keys = std::is_same_v<Table, table_of_keys<Key>>;
  using rows_type = decltype(std::declval<Table const&>().rows());
  using index_type = row_index<rows_type, space>;
  using join_type = join<rows_type, index_type>;

  join_spec const& tables() const { return m_run.parameters.tables; }
  /// Returns the bytes of the columns of both tables.
  std::uint64_t bytes() const { return m_left->bytes() + m_right->bytes(); }
  bool pairs() const { return has_pairs(m_kind); }
  /// Returns whether the join has row numbers of that side.
  bool has_rows_of(bool left) const { return pairs() || left == (m_kind <= join_kind::left_anti); }

  void measure_ceiling() {
    constexpr std::uint64_t least = 1 << 20;
    m_report(0, "ceiling");
    std::uint64_t const keys = tables().left + tables().right;
    ceilings<space> c(m_exec, std::max(least, keys * sizeof(Key)), keys,
                      m_run.parameters.repetitions);
    m_run.copy = c.copy();
  }

  void measure_ours() {
    m_run.index_bytes = index_type::bytes_for(tables().right);
    m_run.build_bytes = index_type::workspace_bytes(m_exec, tables().right);
    m_run.match_bytes = join_type::bytes_for(tables().left, tables().right, m_kind);
    auto const index_memory = make_array<char>("index", m_run.index_bytes);
    auto const workspace = make_array<char>("workspace", m_run.build_bytes);
    auto const match_memory = make_array<char>("join", m_run.match_bytes);
    row_index_options const options{.memory = {index_memory.data(), m_run.index_bytes},
                                    .workspace = {workspace.data(), m_run.build_bytes}};
    std::optional<index_type> index;
    std::optional<join_type> joined;
    measure(
        "karpos", m_right->bytes(), [&] { index.emplace(m_exec, m_right->rows(), options); },
        [&] {
          joined.emplace(m_exec, m_left->rows(), *index, m_kind,
                         join_options{{match_memory.data(), m_run.match_bytes}});
          return joined->size();
        },
        [&] {
          if (pairs())
            joined->write(m_exec, m_out_left, m_out_right);
          else
            joined->write(m_exec, has_rows_of(true) ? m_out_left : m_out_right);
        });
  }
  /// Measures the join of tables that are joined once: nothing is kept, and memory is allocated in
  /// the call.
  void measure_once() {
    join_result once{"karpos", "once", bytes() + m_run.size * (pairs() ? 8 : 4), {}};
    auto const left = m_left->rows(), right = m_right->rows();
    for (int r = -1; r < m_run.parameters.repetitions; ++r) {
      std::uint64_t size = 0;
      poison_output();
      double const time = m_timer.once(
          [] {},
          [&] {
            size = pairs() ? partitioned_join(m_exec, left, right, m_kind, m_out_left, m_out_right)
                           : partitioned_join(m_exec, left, right, m_kind,
                                              has_rows_of(true) ? m_out_left : m_out_right);
          });
      check(row_order::any, size);
      if (r >= 0) once.time.seconds.push_back(time);
    }
    m_run.results.push_back(std::move(once));
  }
  void measure_sort() {
    auto const peer = make_sort_join<Key>(m_exec, tables().left, tables().right);
    measure(
        "sort", bytes(), [&] { peer->sort(m_left->keys, m_right->keys); },
        [&] { return peer->match(m_kind); }, [&] { peer->write(m_out_left, m_out_right); });
  }

  /// Runs a join once as a warm-up, then takes the readings. Checks the result of every run.
  /// `indexed` is the bytes of the columns that index() reads.
  template <class Index, class Match, class Write>
  void measure(std::string const& name, std::uint64_t indexed, Index const& index,
               Match const& match, Write const& write) {
    join_result i{name, "index", indexed, {}}, m{name, "match", m_left->bytes(), {}},
        w{name, "write", m_run.size * (pairs() ? 8 : 4), {}};
    join_result all{name, "all", bytes() + w.bytes, {}};
    for (int r = -1; r < m_run.parameters.repetitions; ++r) {
      std::uint64_t size = 0;
      double const index_time = m_timer.once([] {}, index);
      double const match_time = m_timer.once([] {}, [&] { size = match(); });
      poison_output();
      double const write_time = size == m_run.size ? m_timer.once([] {}, write) : 0;
      check(name == "sort" ? row_order::any : row_order::of_karpos, size);
      if (r < 0) continue;
      i.time.seconds.push_back(index_time);
      m.time.seconds.push_back(match_time);
      w.time.seconds.push_back(write_time);
      all.time.seconds.push_back(index_time + match_time + write_time);
    }
    for (join_result* result : {&i, &m, &w, &all}) m_run.results.push_back(std::move(*result));
  }
  /// Overwrites the rows of the previous join, so that missing ones are noticed.
  void poison_output() const {
    Kokkos::deep_copy(m_exec, m_out_left, no_row<std::uint32_t> - 1);
    Kokkos::deep_copy(m_exec, m_out_right, no_row<std::uint32_t> - 1);
  }
  void check(row_order order, std::uint64_t size) {
    m_run.wrong += m_expected->wrong(order, size, m_out_left, m_out_right);
  }

  join_run m_run;
  reporter const& m_report;
  space m_exec;
  timer<space> m_timer;
  join_kind m_kind;
  std::optional<Table> m_left, m_right;
  array<std::uint32_t> m_out_left, m_out_right;
  std::unique_ptr<expected_join<Key>> m_expected;
};

template <class Table>
join_run measure_join(join_measure_parameters const& p, reporter const& report) {
  return join_measurement<Table>(p, report)();
}

}  // namespace karpos::perf
