// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/topk/measure.hpp"
#include "perf/measure/topk/summary.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/option_values.hpp"
#include "perf/tool/program/help_text.hpp"
#include "perf/tool/topk/read_scores.hpp"

namespace karpos::perf {
namespace {

struct topk_arguments {
  topk_parameters parameters;
  std::string k = "100", result = "exact", ties = "any", stride = "adaptive", bail_out = "auto",
              scheme = "library";
  bool as_json = false;
  CLI::Option *with_weights = nullptr, *with_peers = nullptr, *with_seed = nullptr;
};

stride_policy stride_of(std::string const& words) {
  std::string const fixed = "fixed:";
  if (words == "adaptive") return {};
  if (words == "fixed") return stride_policy::fixed{};
  if (words.rfind(fixed, 0) == 0) try {
      stride_policy::fixed const stride{parse_count(words.substr(fixed.size()))};
      if (stride.levels == 0)
        throw std::invalid_argument("a stride has no levels: read at least one");
      return stride;
    } catch (std::invalid_argument const& e) {
      throw bad_input("--stride " + words + ": " + e.what());
    }
  throw bad_input("there is no --stride '" + words + "': choose adaptive, or fixed:100");
}

/// Returns the levels of a stride of the published scheme; 0: it is not wanted.
std::uint64_t published_stride_of(std::string const& words) {
  std::string const published = "published";
  if (words == "library") return 0;
  if (words == published) return 100;
  if (words.rfind(published + ":", 0) == 0) try {
      if (auto const levels = parse_count(words.substr(published.size() + 1))) return levels;
      throw std::invalid_argument("a stride has no levels: read at least one");
    } catch (std::invalid_argument const& e) {
      throw bad_input("--scheme " + words + ": " + e.what());
    }
  throw bad_input("there is no --scheme '" + words + "': choose library, or published:100");
}

/// Refuses options that have no effect.
void require_applicable(topk_arguments const& o) {
  if (o.with_weights->count() > 0 && o.parameters.aggregate != "sum")
    throw bad_input("--weights does not apply (--aggregate " + o.parameters.aggregate +
                    "): leave it out, or choose --aggregate sum");
  if (o.with_seed->count() > 0 && !is_generator(o.parameters.scores))
    throw bad_input("--seed does not apply (" + o.parameters.scores +
                    " is a file): leave it out, or choose a generator");
}

void require_weights(topk_parameters const& p) {
  for (double const w : p.weights) {
    if (!std::isfinite(w))
      throw bad_input("--weights has a weight that is not finite (" + std::to_string(w) +
                      "): write numbers");
    if (w < 0 && p.missing != 0 && std::isfinite(p.missing))
      throw bad_input("--missing " + std::to_string(p.missing) +
                      " does not go with a negative weight (" + std::to_string(w) +
                      "): leave it out, or choose -inf, which leaves out such objects");
  }
}

topk_parameters parameters_of(topk_arguments const& o) {
  require_applicable(o);
  topk_parameters p = o.parameters;
  p.k = parse_count(o.k);
  if (p.k == 0) throw bad_input("--k 0 asks for nothing: choose at least 1");
  require_weights(p);
  p.result = o.result == "set" ? top_k_result::set : top_k_result::exact;
  p.ties = o.ties == "any" ? top_k_ties::any : top_k_ties::smallest_id;
  p.stride = stride_of(o.stride);
  p.published_stride = published_stride_of(o.scheme);
  p.bail_out = o.bail_out == "auto"    ? top_k_bail_out::automatic
               : o.bail_out == "never" ? top_k_bail_out::never
                                       : top_k_bail_out::at_once;
  std::erase(p.peers, "");
  if (o.with_peers->count() > 0 && p.peers.empty()) p.peers = topk_peer_names();
  return p;
}

int report_wrong(topk_run const& run) {
  if (run.answer_wrong > 0)
    std::fprintf(stderr, "karpos: %s ids or scores of the query were wrong: please report this\n",
                 grouped(run.answer_wrong).c_str());
  for (topk_peer const& p : run.peers)
    if (p.wrong > 0)
      std::fprintf(stderr, "karpos: %s ids of the peer %s were wrong\n", grouped(p.wrong).c_str(),
                   p.name.c_str());
  return run.wrong() > 0 ? 1 : 0;
}

score_source open_scores(topk_parameters const& p, reporter const& report) {
  if (is_generator(p.scores)) return generated_scores(p);
  score_source source;
  source.content =
      read_scores(p.scores, [&](double part, std::string const& w) { report(0.4 * part, w); });
  return source;
}

int topk(topk_arguments const& o) {
  topk_parameters const p = parameters_of(o);
  topk_run const run = with_progress("karpos topk", [&](reporter const& report) {
    return run_topk(p, open_scores(p, report), report);
  });
  print_report(o.as_json, run);
  return report_wrong(run);
}

void add_query_options(CLI::App& app, topk_arguments& o) {
  topk_parameters& p = o.parameters;
  app.add_option("--k", o.k, "how many objects to find")
      ->capture_default_str()
      ->transform(count_validator());
  o.with_weights = app.add_option("--weights", p.weights,
                                  "of the lists in a sum: w1,w2,...; negative where\n"
                                  "a smaller score is better")
                       ->delimiter(',')
                       ->expected(1, max_lists);
  app.add_option("--aggregate", p.aggregate, "what makes one number of an object's scores")
      ->capture_default_str()
      ->check(CLI::IsMember({"sum", "min", "max"}));
  app.add_option("--result", o.result, "ranks and scores, or only the right ids, which is faster")
      ->capture_default_str()
      ->check(CLI::IsMember({"exact", "set"}));
  app.add_option("--ties", o.ties, "which of several equal objects are found")
      ->capture_default_str()
      ->check(CLI::IsMember({"any", "smallest-id"}));
  app.add_option("--missing", p.missing, "score in a list that an object is missing from")
      ->capture_default_str();
  app.add_flag("--validate", p.validate, "check every entry of the lists before each query");
  put_in_group(app, "Query");
  app.add_option("--stride", o.stride,
                 "levels read before bounds are computed: or fixed:100, a sort after each")
      ->capture_default_str();
  app.add_option("--scheme", o.scheme,
                 "published:100: also the published GPU scheme, with its stopping rule and its\n"
                 "strides of 100 levels, as a peer")
      ->capture_default_str();
  app.add_option("--bail-out", o.bail_out, "when to read everything instead")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "never", "at-once"}));
  put_in_group(app, "How to read");
}

CLI::Validator const known_peer(
    [](std::string const& name) {
      auto const& names = topk_peer_names();
      bool const known = name.empty() || std::find(names.begin(), names.end(), name) != names.end();
      return known ? std::string() : "there is no peer '" + name + "'";
    },
    "", "");

action define_topk(CLI::App& app) {
  auto const o = std::make_shared<topk_arguments>();
  topk_parameters& p = o->parameters;
  app.add_option(
         "scores", p.scores,
         "a CSV file with a header id,attribute,...; an empty cell is a missing score\n"
         "(commas, semicolons, tabs or bars between; gzip'ed or not; - is standard input);\n"
         "or a generator: uniform:m=1e7,n=4  correlated:...  anticorrelated:...  "
         "zipf:m=1e7,n=4,s=1")
      ->required();
  add_query_options(app, *o);
  app.add_option("--reps,--repeat", p.repetitions, "readings of the clock; their median counts")
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(1, 1000));
  o->with_seed = app.add_option("--seed", p.seed, "of a generator")
                     ->transform(count_validator())
                     ->capture_default_str();
  o->with_peers =
      app.add_option("--peers", p.peers,
                     "other ways over the same lists: full, nra, sc, lara; no names: all")
          ->expected(0, -1)
          ->delimiter(',')
          ->check(known_peer);
  app.add_flag(
      "--energy", p.energy,
      "repeat queries for two seconds, too, and report the joules of each, and of each peer, if\n"
      "the GPU (NVML) or the processors (RAPL) count them");
  put_in_group(app, "Measurements");
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "Peers: full, adding up everything and selecting, where the driver runs; nra, sc\n"
      "(Stream-Combine) and lara, one thread of the host. Every answer is checked against brute "
      "force on the host.\n"
      "A file that is called like a generator is reached as ./NAME.\n"
      "Example: karpos topk docs/examples/data/states.csv --k 5 --weights 1e-6,1e-4,0.1");
  return [o] { return topk(*o); };
}

command const topk_command("topk",
                           "Rank objects by several sorted lists at once, reading little of them.",
                           define_topk);

}  // namespace
}  // namespace karpos::perf
