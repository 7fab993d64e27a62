// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <karpos/top_k_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "perf/measure/support/energy.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/statistics.hpp"

namespace karpos::perf {

/// Parameters of `karpos topk`.
struct topk_parameters {
  std::string scores;          ///< a file, or a generator
  std::uint64_t seed = 12345;  ///< of the generator
  std::uint64_t k = 100;
  std::vector<double> weights;  ///< empty: all are 1
  std::string aggregate = "sum";
  top_k_result result = top_k_result::exact;
  top_k_ties ties = top_k_ties::any;
  stride_policy stride;
  top_k_bail_out bail_out = top_k_bail_out::automatic;
  double missing = 0;
  bool validate = false;
  bool energy = false;        ///< measure the energy of a query, and of one of each peer
  double energy_seconds = 2;  ///< how long each of them is repeated for that, at least
  int repetitions = 5;
  std::vector<std::string> peers;
  std::uint64_t published_stride = 0;  ///< levels a stride of the published scheme; 0: not measured
};

/// The contents of a score file.
struct score_file {
  std::vector<std::string> ids;         ///< in the form in which they are written
  std::vector<std::string> attributes;  ///< the names of the lists
  std::vector<double> cells;            ///< row by row; NaN: missing
  std::uint64_t without_scores = 0;     ///< rows that were skipped, since they have no score

  double operator()(std::size_t object, std::size_t list) const {
    return cells[object * attributes.size() + list];
  }
};

/// An object of the answer.
struct topk_row {
  std::string id;
  double score = 0;            ///< if exact
  std::vector<double> scores;  ///< in the lists; NaN: missing
};

/// Another algorithm for the same query.
struct topk_peer {
  std::string name;
  std::string skipped;  ///< reason why it was not measured, or empty
  int threads = 0;
  samples time;
  std::uint64_t depth_growing = 0, depth = 0, candidates = 0;
  std::uint64_t wrong = 0;
  std::optional<energy_use> energy;  ///< one round is a query
};

struct topk_run {
  topk_parameters parameters;
  std::string scores;  ///< the file, or the generator with all its settings
  bool generated = false;
  std::uint64_t objects = 0, entries = 0, without_scores = 0;
  std::vector<std::string> attributes;
  int score_bytes = 0;
  double load_seconds = 0, sort_seconds = 0, prepare_seconds = 0;
  std::size_t workspace_bytes = 0;
  samples time;
  top_k_report report;
  std::vector<topk_row> rows;
  std::optional<energy_use> energy;  ///< one round is a query
  std::uint64_t answer_wrong = 0;    ///< wrong ids and scores of karpos's answer
  std::vector<topk_peer> peers;

  std::uint64_t wrong() const {
    std::uint64_t sum = answer_wrong;
    for (topk_peer const& p : peers) sum += p.wrong;
    return sum;
  }
};

/// Returns the names of the peers of a ranked query.
inline std::vector<std::string> const& topk_peer_names() {
  static std::vector<std::string> const names = {"full", "nra", "sc", "lara"};
  return names;
}

}  // namespace karpos::perf
