// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace karpos::perf {

/// Called with the fraction of the work that is done, in [0, 1], and the name of what comes next.
using reporter = std::function<void(double, std::string const&)>;

/// A line on stderr that shows the progress of the work; silent unless stderr is a terminal.
class progress {
 public:
  explicit progress(std::string what);
  ~progress();
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  /// Shows the fraction that is done, in [0, 1], and a note. Updates the line at most ten times a
  /// second.
  void show(double part, std::string const& note = {});

 private:
  std::string m_what;
  bool m_terminal;
  double m_next = 0;
};

/// Returns work(report), whose reports are shown as the progress of `what`.
template <class Work>
auto with_progress(std::string const& what, Work const& work) {
  progress bar(what);
  return work([&bar](double part, std::string const& note) { bar.show(part, note); });
}

}  // namespace karpos::perf
