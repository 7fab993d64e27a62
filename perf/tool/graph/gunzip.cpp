// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "perf/tool/graph/input.hpp"

#ifdef KARPOS_HAS_ZLIB
#include <zlib.h>
#endif

namespace karpos::perf {

#ifdef KARPOS_HAS_ZLIB

bool reads_gzip() { return true; }

namespace graph_input {
namespace {

constexpr std::size_t step_bytes = std::size_t(1) << 20;

/// zlib's state for a file of any size: zlib itself counts bytes in 32 bits.
class inflater {
 public:
  explicit inflater(input const& in) : m_in(in) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&m_z, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~inflater() { inflateEnd(&m_z); }
  inflater(inflater const&) = delete;
  inflater& operator=(inflater const&) = delete;

  std::size_t consumed() const { return m_given - m_z.avail_in; }

  /// Decompresses the next bytes of a member into [to, to + capacity). Returns their number,
  /// which is less than `capacity` only at the member's end.
  std::size_t step(char* to, std::size_t capacity) {
    m_z.next_out = reinterpret_cast<Bytef*>(to);
    m_z.avail_out = static_cast<uInt>(capacity);
    while (m_z.avail_out != 0 && !m_member_done) {
      if (m_z.avail_in == 0) refill();
      int const state = inflate(&m_z, Z_NO_FLUSH);
      m_member_done = state == Z_STREAM_END;
      if (state == Z_MEM_ERROR) throw std::bad_alloc();
      if (state != Z_OK && !m_member_done) corrupt(m_z.msg ? m_z.msg : "a broken stream");
    }
    return capacity - m_z.avail_out;
  }

  /// Returns whether the file is at its end; if not, the next member begins. Zeros may pad the end,
  /// as on tapes.
  bool done() {
    if (!m_member_done) return false;
    std::string_view const rest = m_in.bytes.substr(consumed());
    if (rest.find_first_not_of('\0') == std::string_view::npos) return true;
    if (rest.substr(0, 2) != "\x1f\x8b") corrupt("bytes after the end that are no gzip");
    inflateReset(&m_z);
    m_member_done = false;
    return false;
  }

 private:
  void refill() {
    std::string_view const part = m_in.bytes.substr(m_given, step_bytes);
    if (part.empty()) corrupt("the packed data end too early");
    m_z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    m_z.avail_in = static_cast<uInt>(part.size());
    m_given += part.size();
  }
  [[noreturn]] void corrupt(std::string const& why) const {
    fail(m_in.name + " at byte " + std::to_string(consumed()), "gzip: " + why,
         "check that the file is whole");
  }

  input const& m_in;
  z_stream m_z = {};
  std::size_t m_given = 0;
  bool m_member_done = false;
};

}  // namespace

std::string gunzip(input const& in, std::uint64_t max_bytes) {
  inflater z(in);
  std::string content;
  std::size_t filled = 0, report = 0;
  while (!z.done()) {
    // One byte more than the limit, so that content beyond it is noticed.
    if (filled == content.size())
      content.resize(std::min<std::uint64_t>(max_bytes + 1, 2 * filled + 4 * in.bytes.size()));
    filled += z.step(content.data() + filled, std::min(content.size() - filled, step_bytes));
    if (filled > max_bytes)
      fail(in.name, "gzip: more than " + std::to_string(max_bytes) + " bytes of content",
           "unpack the file on disk");
    if (z.consumed() < report) continue;
    in.show(z.consumed(), "unpacking");
    report = z.consumed() + report_bytes;
  }
  content.resize(filled);
  return content;
}

}  // namespace graph_input

#else

bool reads_gzip() { return false; }

std::string graph_input::gunzip(input const& in, std::uint64_t) {
  fail(in.name, "it is gzip'ed, and this build has no zlib",
       "unpack it with gunzip, or build with zlib (Debian: zlib1g-dev)");
}

#endif

}  // namespace karpos::perf
