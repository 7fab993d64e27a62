// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "perf/measure/support/sequences.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

template <class Key>
struct make_pairs {
  key_sequence<Key> key;
  array<Key> keys, values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    keys(i) = key(i);
    values(i) = static_cast<Key>(i);
  }
};

/// Draws keys with repetition: each of the first `distinct` keys of the sequence is equally likely.
template <class Key>
struct make_repeated {
  key_sequence<Key> key;
  std::uint64_t distinct;
  array<Key> keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    keys(i) = key(scramble(i + 1) % distinct);
  }
};

template <class Key>
struct make_queries {
  key_sequence<Key> key;
  query_sequence query;
  array<Key> queries;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { queries(i) = key(query(i)); }
};

template <class Key>
struct count_wrong_answers {
  query_sequence query;
  array<Key> answers;
  Key missing;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    Key const expected = query.absent(i) ? missing : static_cast<Key>(query(i));
    wrong += answers(i) != expected;
  }
};

/// The input of a hash table measurement: n distinct random keys with their positions as values,
/// and as many queries in another random order.
template <class Key>
class workload {
 public:
  static constexpr Key missing = static_cast<Key>(~Key(0));

  /// Returns n. Throws std::invalid_argument if there are not enough distinct keys.
  static std::uint64_t checked(std::uint64_t n) {
    // The keys of misses are drawn from the same sequence, after the stored ones.
    if (n < 1 || n > key_sequence<Key>::limit / 2)
      throw std::invalid_argument("--keys is out of range (" + std::to_string(n) + " keys of " +
                                  std::to_string(sizeof(Key)) + " bytes): choose 1 to " +
                                  std::to_string(key_sequence<Key>::limit / 2));
    return n;
  }

  /// Returns the bytes of the arrays for n keys.
  static double bytes_for(std::uint64_t n) { return 4.0 * sizeof(Key) * static_cast<double>(n); }

  workload(space const& exec, std::uint64_t n, std::uint64_t seed)
      : m_exec(exec),
        m_key{seed},
        m_n(checked(n)),
        m_query{permutation::of(n, seed + 1), 0.0} {
    keys = make_array<Key>("keys", n);
    values = make_array<Key>("values", n);
    queries = make_array<Key>("queries", n);
    answers = make_array<Key>("answers", n);
    Kokkos::parallel_for("karpos::perf::keys", range(exec, n),
                         make_pairs<Key>{m_key, keys, values});
    draw_queries(0.0);
    Kokkos::deep_copy(exec, answers, missing);
  }

  std::uint64_t size() const { return m_n; }

  /// Makes queries, a random fraction `fraction` of which asks for absent keys.
  void draw_queries(double fraction) {
    m_query.missing = fraction;
    Kokkos::parallel_for("karpos::perf::queries", range(m_exec, m_n),
                         make_queries<Key>{m_key, m_query, queries});
  }
  /// Makes queries that repeat each of about n / times keys about `times` times.
  void repeat_keys(std::uint64_t times) {
    std::uint64_t const distinct = m_n / times + 1;
    Kokkos::parallel_for("karpos::perf::repeated keys", range(m_exec, m_n),
                         make_repeated<Key>{m_key, distinct, queries});
  }
  /// Returns the number of answers that differ from what the queries must find.
  std::uint64_t wrong_answers() const {
    std::uint64_t wrong = 0;
    Kokkos::parallel_reduce("karpos::perf::verify", range(m_exec, m_n),
                            count_wrong_answers<Key>{m_query, answers, missing}, wrong);
    return wrong;
  }

  array<Key> keys, values, queries, answers;

 private:
  space m_exec;
  key_sequence<Key> m_key;
  std::uint64_t m_n;
  query_sequence m_query;
};

}  // namespace karpos::perf
