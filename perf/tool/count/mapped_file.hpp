// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "perf/tool/graph/input_file.hpp"

namespace karpos::perf {

/// A whole text, read-only in memory, decompressed if it is a gzip file; "-" is standard input.
/// Throws: graph_file_error that names the file; std::bad_alloc.
class mapped_file {
 public:
  explicit mapped_file(std::string const& path);
  /// Refers to a text that is in memory and outlives this object.
  mapped_file(std::string name, std::string_view bytes);

  std::string const& path() const { return m_name; }
  std::string_view text() const { return m_text; }
  /// Drops everything after the first `size` bytes.
  void cut(std::size_t size) { m_text = m_text.substr(0, size); }
  /// Returns "path:line" of a position in the text.
  std::string place(std::size_t offset) const;

 private:
  void open();

  std::unique_ptr<graph_input::input_file> m_file;
  std::string m_name, m_unpacked;
  std::string_view m_text;
};

}  // namespace karpos::perf
