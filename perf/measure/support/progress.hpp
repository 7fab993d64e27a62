// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace karpos::perf {

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

}  // namespace karpos::perf
