// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace karpos::perf {

/// A whole file, read-only in memory, unpacked if it is gzip'ed; "-" is standard input.
/// Throws: bad_input, graph_file_error that name the file.
class mapped_file {
 public:
  explicit mapped_file(std::string const& path);
  ~mapped_file();
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;

  std::string const& path() const { return m_path; }
  std::string_view text() const { return m_text; }
  /// "path:line" of a position in the text.
  std::string place(std::size_t offset) const;

 private:
  void map(std::string const& path);

  std::string m_path;
  std::string_view m_mapped, m_text;
  std::string m_content;  // where it could not stay in the file
};

}  // namespace karpos::perf
