// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "karpos/hash.hpp"
#include "karpos/map_operation.hpp"
#include "perf/measure/support/mixed_run.hpp"
#include "perf/measure/support/sequences.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Returns the value that belongs to a key, so that torn values and values of other keys are
/// noticed. It is never all ones, which stands for "not found".
template <class Key>
KOKKOS_FUNCTION constexpr Key value_of(Key key) {
  Key const value = scramble(static_cast<Key>(key ^ static_cast<Key>(0x9e3779b97f4a7c15ULL)));
  return value == static_cast<Key>(~Key(0)) ? Key(1) : value;
}

/// Draws the key and the kind of the i-th operation. With `copies`, erases a key of the first half
/// of the universe, then inserts one of the other half `copies` times.
struct operation_sequence {
  std::uint64_t universe, salt;
  operation_mix mix;
  std::uint64_t copies;

  KOKKOS_FUNCTION std::uint64_t key(std::uint64_t i) const {
    if (copies == 0) return multiply_high(scramble(i ^ salt), universe);
    return i / (copies + 1) + (i % (copies + 1) == 0 ? 0 : universe / 2);
  }
  KOKKOS_FUNCTION map_op kind(std::uint64_t i) const {
    if (copies > 0) return i % (copies + 1) == 0 ? map_op::erase : map_op::insert;
    std::uint64_t const die = scramble(i ^ ~salt) % 100;
    return die < mix.insert               ? map_op::insert
           : die < mix.insert + mix.erase ? map_op::erase
                                          : map_op::find;
  }
};

template <class Key>
struct make_universe {
  key_sequence<Key> key;
  array<Key> keys, values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    keys(i) = key(i);
    values(i) = value_of(keys(i));
  }
};

template <class Key>
struct make_operations {
  operation_sequence draw;
  array<Key> keys;
  array<map_operation<Key, Key>> operations;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    Key const key = keys(draw.key(i));
    map_op const kind = draw.kind(i);
    operations(i) = {kind, key, kind == map_op::insert ? value_of(key) : Key(0)};
  }
};

/// Fills the results with one that no operation returns, so that a missing result is noticed.
template <class Key>
struct poison_results {
  array<map_result<Key>> results;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    results(i) = {static_cast<outcome>(0xff), static_cast<Key>(~Key(0))};
  }
};

/// A word that counts a key's insertions in its upper half and its erasures in its lower half.
KOKKOS_FUNCTION constexpr std::uint64_t one_insertion() { return std::uint64_t(1) << 32; }
KOKKOS_FUNCTION constexpr std::int64_t balance(std::uint64_t changes) {
  return static_cast<std::int64_t>(changes >> 32) -
         static_cast<std::int64_t>(changes & 0xffffffffu);
}

KOKKOS_FUNCTION constexpr bool is_possible(map_op op, outcome o) {
  switch (op) {
    case map_op::insert:
      return o == outcome::inserted || o == outcome::existing || o == outcome::full;
    case map_op::erase:
      return o == outcome::erased || o == outcome::absent;
    case map_op::find:
      return o == outcome::found || o == outcome::absent;
  }
  return false;
}

struct mixed_tally {
  outcome_counts outcomes;
  std::uint64_t impossible_outcomes = 0, wrong_values = 0;

  KOKKOS_FUNCTION mixed_tally& operator+=(mixed_tally const& other) {
    outcomes += other.outcomes;
    impossible_outcomes += other.impossible_outcomes;
    wrong_values += other.wrong_values;
    return *this;
  }
};

/// Counts the outcomes, and each key's insertions and erasures, and checks every result against its
/// operation.
template <class Key>
struct tally_results {
  operation_sequence draw;
  array<map_operation<Key, Key>> operations;
  array<map_result<Key>> results;
  array<std::uint64_t> changes;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, mixed_tally& tally) const {
    map_operation<Key, Key> const requested = operations(i);
    map_result<Key> const got = results(i);
    if (!is_possible(requested.op, got.outcome)) {
      ++tally.impossible_outcomes;
      return;
    }
    ++tally.outcomes.count[static_cast<int>(got.outcome)];
    tally.wrong_values +=
        got.value != (got.outcome == outcome::found ? value_of(requested.key) : Key(0));
    std::uint64_t* const change = &changes(draw.key(i));
    if (got.outcome == outcome::inserted) Kokkos::atomic_add(change, one_insertion());
    if (got.outcome == outcome::erased) Kokkos::atomic_add(change, std::uint64_t(1));
  }
};

/// Counts wrong results for keys that were neither inserted nor erased: their operations must see
/// the state from before.
template <class Key>
struct count_unexplained {
  operation_sequence draw;
  array<map_result<Key>> results;
  array<std::uint64_t> changes;
  std::uint64_t filled;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    std::uint64_t const key = draw.key(i);
    if (changes(key) != 0) return;
    outcome const o = results(i).outcome;
    wrong += key < filled ? o == outcome::absent || o == outcome::full
                          : o == outcome::existing || o == outcome::found;
  }
};

/// Counts keys with a wrong final state. A key's state before, plus its insertions, minus its
/// erasures, must be 0 or 1, and a lookup must agree and return the right value.
template <class Key>
struct count_unbalanced {
  array<Key> values, answers;
  array<std::uint64_t> changes;
  std::uint64_t filled;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    std::int64_t const present = (i < filled) + balance(changes(i));
    Key const expected = present == 1 ? values(i) : static_cast<Key>(~Key(0));
    wrong += present < 0 || present > 1 || answers(i) != expected;
  }
};

template <class Key>
struct count_found {
  array<Key> answers;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& found) const {
    found += answers(i) != static_cast<Key>(~Key(0));
  }
};

/// The input of a measurement of mixed operations, and its verification. The first `filled` keys of
/// the universe are stored beforehand: a random subset, since the keys are random.
template <class Key>
class mixed_workload {
 public:
  /// Returns the bytes of the arrays for p.keys keys and p.operations operations.
  static double bytes_for(mixed_parameters const& p) {
    return static_cast<double>(p.keys) * (3 * sizeof(Key) + sizeof(std::uint64_t)) +
           static_cast<double>(p.operations) *
               (sizeof(map_operation<Key, Key>) + sizeof(map_result<Key>));
  }

  mixed_workload(space const& exec, mixed_parameters const& p, std::uint64_t filled)
      : m_exec(exec),
        m_draw{p.keys, scramble(p.seed + 1), p.mix, p.copies},
        m_filled(filled) {
    keys = make_array<Key>("keys", p.keys);
    values = make_array<Key>("values", p.keys);
    answers = make_array<Key>("answers", p.keys);
    m_changes = make_array<std::uint64_t>("changes", p.keys);
    operations = make_array<map_operation<Key, Key>>("operations", p.operations);
    results = make_array<map_result<Key>>("results", p.operations);
    Kokkos::parallel_for("karpos::perf::universe", range(exec, p.keys),
                         make_universe<Key>{{p.seed}, keys, values});
    Kokkos::parallel_for("karpos::perf::operations", range(exec, p.operations),
                         make_operations<Key>{m_draw, keys, operations});
  }

  array<Key> filled_keys() const { return array<Key>(keys.data(), m_filled); }
  array<Key> filled_values() const { return array<Key>(values.data(), m_filled); }

  /// Prepares the next repetition: clears the counts and the results.
  void reset() {
    Kokkos::deep_copy(m_exec, m_changes, std::uint64_t(0));
    Kokkos::parallel_for("karpos::perf::poison_results", range(m_exec, results.extent(0)),
                         poison_results<Key>{results});
  }
  /// Checks the results and counts their outcomes. To be called once after all operations, as it
  /// adds to the counts of each key.
  mixed_tally tally() {
    mixed_tally all;
    Kokkos::parallel_reduce("karpos::perf::tally", range(m_exec, results.extent(0)),
                            tally_results<Key>{m_draw, operations, results, m_changes}, all);
    std::uint64_t unexplained = 0;
    Kokkos::parallel_reduce("karpos::perf::unexplained", range(m_exec, results.extent(0)),
                            count_unexplained<Key>{m_draw, results, m_changes, m_filled},
                            unexplained);
    all.impossible_outcomes += unexplained;
    return all;
  }
  /// Returns the number of keys whose entry in `answers`, filled by a find of `keys`, contradicts
  /// the counts of tally().
  std::uint64_t unbalanced() const {
    std::uint64_t wrong = 0;
    Kokkos::parallel_reduce("karpos::perf::unbalanced", range(m_exec, keys.extent(0)),
                            count_unbalanced<Key>{values, answers, m_changes, m_filled}, wrong);
    return wrong;
  }

  /// Returns the number of keys that a find of `keys` has found.
  std::uint64_t found() const {
    std::uint64_t n = 0;
    Kokkos::parallel_reduce("karpos::perf::found", range(m_exec, keys.extent(0)),
                            count_found<Key>{answers}, n);
    return n;
  }

  array<Key> keys, values, answers;  ///< one for each key of the universe
  array<map_operation<Key, Key>> operations;
  array<map_result<Key>> results;

 private:
  space m_exec;
  operation_sequence m_draw;
  std::uint64_t m_filled;
  array<std::uint64_t> m_changes;
};

}  // namespace karpos::perf
