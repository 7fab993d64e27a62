// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <karpos/distributed/hash_map.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "perf/measure/support/sequences.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/workload.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/distributed/on_ranks.hpp"
#include "perf/tool/distributed/over_ranks.hpp"

namespace karpos::perf {
namespace {

using rank_map = distributed::hash_map<std::uint32_t, std::uint32_t, space>;
constexpr std::uint32_t missing = ~0u;

/// Makes a rank's part of the keys, with their numbers as values.
struct make_own_pairs {
  key_sequence<std::uint32_t> key;
  std::uint64_t first;
  array<std::uint32_t> keys, values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    keys(i) = key(first + i);
    values(i) = static_cast<std::uint32_t>(first + i);
  }
};
struct make_own_queries {
  key_sequence<std::uint32_t> key;
  query_sequence query;
  std::uint64_t first;
  array<std::uint32_t> queries;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { queries(i) = key(query(first + i)); }
};
struct count_own_wrong {
  query_sequence query;
  std::uint64_t first;
  array<std::uint32_t> answers;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    std::uint64_t const q = first + i;
    wrong += answers(i) != (query.absent(q) ? missing : static_cast<std::uint32_t>(query(q)));
  }
};

/// The times of an operation on each rank, for all repetitions.
struct timed_operation {
  std::string name;
  std::vector<std::vector<double>> seconds;  // per repetition, per rank
  std::vector<std::uint64_t> bytes_sent;     // by each rank, in the last repetition
  std::uint64_t wrong = 0;

  samples slowest() const {
    samples s;
    for (auto const& all : seconds) s.seconds.push_back(*std::max_element(all.begin(), all.end()));
    return s;
  }
};

class hash_measurement {
 public:
  hash_measurement(rank_communicator const& ranks, hash_parameters const& p)
      : m_ranks(ranks),
        m_parameters(p),
        m_part(ranks, workload<std::uint32_t>::checked(p.keys)),
        m_query{permutation::of(p.keys, p.seed + 1), 0.0} {
    detail::distributed::run_collectively(ranks, [&] {
      for (auto* const a : {&m_keys, &m_values, &m_queries, &m_answers})
        *a = make_array<std::uint32_t>("a rank's part", m_part.size());
    });
    Kokkos::parallel_for("karpos::perf::keys", range(ranks.exec(), m_part.size()),
                         make_own_pairs{{p.seed}, m_part.first, m_keys, m_values});
  }

  std::vector<timed_operation> operator()() {
    rank_map map(m_ranks, m_parameters.keys, {.load = m_parameters.load});
    table_bytes = m_ranks.all_reduce(
        std::uint64_t(rank_map::local_type::bytes_for(map.local().max_keys(), m_parameters.load)));
    std::vector<timed_operation> all;
    all.push_back(repeat(
        "insert", [&] { map.clear(); }, [&] { map.insert(m_keys, m_values); }));
    all.back().wrong = m_parameters.keys - map.size();
    for (auto const& [name, absent] : {std::pair("find hits", 0.0), std::pair("find misses", 1.0),
                                       std::pair("find mixed", m_parameters.miss)}) {
      m_query.missing = absent;
      Kokkos::parallel_for("karpos::perf::queries", range(m_ranks.exec(), m_part.size()),
                           make_own_queries{{m_parameters.seed}, m_query, m_part.first, m_queries});
      all.push_back(repeat(
          name, [] {}, [&] { map.find(m_queries, m_answers, missing); }));
      std::uint64_t wrong = 0;
      Kokkos::parallel_reduce("karpos::perf::verify", range(m_ranks.exec(), m_part.size()),
                              count_own_wrong{m_query, m_part.first, m_answers}, wrong);
      all.back().wrong = m_ranks.all_reduce(wrong);
    }
    return all;
  }
  std::uint64_t table_bytes = 0;

 private:
  template <class Prepare, class Work>
  timed_operation repeat(char const* name, Prepare const& prepare, Work const& work) const {
    timed_operation o{name, {}, {}, 0};
    std::uint64_t sent = 0;
    for (int i = 0; i <= m_parameters.repetitions; ++i) {  // the first is a warm-up
      prepare();
      sent = m_ranks.bytes_sent();
      auto const seconds = seconds_of_ranks(m_ranks, work);
      if (i > 0) o.seconds.push_back(seconds);
    }
    o.bytes_sent = m_ranks.all_gather(m_ranks.bytes_sent() - sent);
    return o;
  }

  rank_communicator const& m_ranks;
  hash_parameters m_parameters;
  rank_range m_part;
  query_sequence m_query;
  array<std::uint32_t> m_keys, m_values, m_queries, m_answers;
};

void print_table(rank_communicator const& ranks, hash_parameters const& p,
                 std::uint64_t table_bytes, std::vector<timed_operation> const& all) {
  std::printf("%s of 4 + 4 bytes, load %.2f, %s of table on %s (%s)\n%s of each rank\n\n",
              counted(p.keys, "key", "keys").c_str(), p.load,
              human_bytes(static_cast<double>(table_bytes)).c_str(),
              counted(static_cast<std::uint64_t>(ranks.size()), "rank", "ranks").c_str(),
              ranks.engine(), run_description(p.repetitions).c_str());
  std::printf("  operation          median        rate   sent by a rank\n");
  for (timed_operation const& o : all)
    std::printf(
        "  %s %s %s M/s   %s\n", left(o.name, 14).c_str(),
        right(human_seconds(o.slowest().median()), 10).c_str(),
        right(three_digits(static_cast<double>(p.keys) / o.slowest().median() * 1e-6), 7).c_str(),
        human_bytes(
            static_cast<double>(*std::max_element(o.bytes_sent.begin(), o.bytes_sent.end())))
            .c_str());
}

json json_of(rank_communicator const& ranks, hash_parameters const& p, std::uint64_t table_bytes,
             std::vector<timed_operation> const& all) {
  json results = json::array();
  for (timed_operation const& o : all)
    results.push_back({{"operation", o.name},
                       {"rate", static_cast<double>(p.keys) / o.slowest().median()},
                       {"seconds", o.seconds},
                       {"bytes_sent", o.bytes_sent},
                       {"wrong", o.wrong}});
  return {{"format", "karpos-hash-ranks-1"},
          {"context", context()},
          {"parameters", {{"keys", p.keys}, {"load", p.load}, {"seed", p.seed}}},
          {"ranks", {{"count", ranks.size()}, {"engine", ranks.engine()}}},
          {"table_bytes", table_bytes},
          {"results", results}};
}

}  // namespace

int hash_over_ranks(hash_parameters const& p, bool as_json) {
  if (p.key_bytes != 4 || p.multiplicity != 0 || p.input != "device" || p.maps.size() > 1 ||
      p.maps.front() != "hash")
    throw bad_input(
        "--distributed measures the map 'hash' with keys of 4 bytes on the device: leave "
        "--map, --versus, --key-bytes, --input and --multiplicity out");
  return on_ranks([&](rank_communicator const& ranks) {
    hash_measurement measurement(ranks, p);
    auto const all = measurement();
    std::uint64_t wrong = 0;
    for (timed_operation const& o : all) wrong += o.wrong;
    if (ranks.rank() == 0) {
      if (as_json)
        print_json(json_of(ranks, p, measurement.table_bytes, all));
      else
        print_table(ranks, p, measurement.table_bytes, all);
      if (wrong > 0)
        std::fprintf(stderr, "karpos: %s answers were wrong: please report this\n",
                     grouped(wrong).c_str());
    }
    return wrong > 0 ? 1 : 0;
  });
}

}  // namespace karpos::perf
