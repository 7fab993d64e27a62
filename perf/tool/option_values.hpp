// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <stdexcept>
#include <string>

#include "perf/measure/support/text.hpp"

// Validators of option values. They are needed because CLI11's own ranges accept NaN, and its
// integers do not parse 1e6.

namespace karpos::perf {

/// Accepts 100000, 1e6 and 2^20 for an option of any integer type. Checks of ranges come after it.
inline CLI::Validator count_validator() {
  return {[](std::string& word) {
            try {
              word = std::to_string(parse_count(word));
            } catch (std::invalid_argument const& e) {
              return std::string(e.what());
            }
            return std::string();
          },
          "N", "count"};
}

/// Adds the option for how often something is timed.
template <class T>
CLI::Option* add_repetitions(CLI::App& app, T& repetitions,
                             std::string const& what = "readings of the clock") {
  return app.add_option("--reps", repetitions, what + "; their median counts")
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(1, 1000));
}

/// Accepts a finite number from `least` to `most`.
inline CLI::Validator number_between(double least, double most) {
  auto const shown = [](double x) { return CLI::detail::to_string(x); };
  std::string const range = std::isinf(most) ? "at least " + shown(least)
                                             : "in [" + shown(least) + " - " + shown(most) + "]";
  return {[=](std::string& word) {
            double value = 0;
            bool const good = CLI::detail::lexical_cast(word, value) && std::isfinite(value) &&
                              value >= least && value <= most;
            return good ? std::string() : "'" + word + "' is no number " + range;
          },
          range, "number"};
}
inline CLI::Validator number_from(double least) { return number_between(least, INFINITY); }

}  // namespace karpos::perf
