// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

namespace karpos::perf {

/// A text that is written to a file. Errors are reported by close().
/// Throws: std::invalid_argument if the file could not be opened; std::runtime_error if not all of
/// it could be written, after removing what was written.
class output_file {
 public:
  explicit output_file(std::string path);

  void write(std::string const& line);
  void close();

 private:
  void flush();

  std::string m_path, m_part;
  bool m_opened = false;
  std::ofstream m_file;
};

}  // namespace karpos::perf
