// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace karpos::perf::graph_input {

/// A whole file, mapped or read into memory, read-only; "-" is standard input.
/// Throws: graph_file_error that names the file; std::bad_alloc.
class input_file {
 public:
  explicit input_file(std::string const& path);
  ~input_file();
  input_file(input_file const&) = delete;
  input_file& operator=(input_file const&) = delete;

  std::string const& name() const { return m_name; }
  std::string_view bytes() const { return m_bytes; }

 private:
  void map(std::string const& path);
  void read_standard_input();

  std::string m_name, m_content;
  std::string_view m_bytes;
};

}  // namespace karpos::perf::graph_input
