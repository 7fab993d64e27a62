// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/topk/csv_rows.hpp"

#include <karpos/contract.hpp>
#include <utility>

#include "perf/graph/input.hpp"

namespace karpos::perf {

csv_rows::csv_rows(std::string_view text, std::string name)
    : m_text(text),
      m_name(std::move(name)) {
  m_at = graph_input::byte_order_mark_size(m_text);
}

bool csv_rows::at_end_of_line() const {
  return at_end() || at('\n') || (at('\r') && m_text.substr(m_at, 2) == "\r\n");
}

void csv_rows::pass_end_of_line() {
  if (at_end()) return;
  m_at += at('\r') ? 2 : 1;
  ++m_line;
}

bool csv_rows::next() {
  while (!at_end() && at_end_of_line()) pass_end_of_line();
  if (at_end()) return false;
  m_row_line = m_line;
  m_size = 0;
  for (bool more = true; more;) {
    if (m_size == m_fields.size()) m_fields.emplace_back();
    std::string& field = m_fields[m_size];
    field.clear();
    if (at('"'))
      take_quoted(field);
    else
      take_plain(field);
    ++m_size;
    more = at(',');
    if (more) ++m_at;
  }
  pass_end_of_line();
  return true;
}

void csv_rows::take_plain(std::string& field) {
  std::size_t const begin = m_at;
  while (!at_end_of_line() && !at(',')) ++m_at;
  field = m_text.substr(begin, m_at - begin);
}

void csv_rows::take_quoted(std::string& field) {
  for (++m_at;; ++m_at) {
    if (at_end())
      fail(m_size, "", "the field begins with a quote that nothing ends", "end it by a quote");
    if (at('"')) {
      ++m_at;
      if (!at('"')) break;  // else a doubled one
    }
    if (at('\n')) ++m_line;
    field += m_text[m_at];
  }
  if (!at_end_of_line() && !at(','))
    fail(m_size, "", "the field goes on behind the quote that ends it",
         "write a quote inside of a field twice");
}

void csv_rows::fail(std::string const& why, std::string const& what_to_do) const {
  detail::reject("cannot read " + m_name + ":" + std::to_string(m_row_line), why, what_to_do);
}

void csv_rows::fail(std::size_t column, std::string const& name, std::string const& why,
                    std::string const& what_to_do) const {
  std::string const named = name.empty() ? "" : " " + quoted_for_message(name);
  detail::reject("cannot read " + m_name + ":" + std::to_string(m_row_line) + ", column " +
                     std::to_string(column + 1) + named,
                 why, what_to_do);
}

std::string quoted_for_message(std::string_view s) {
  constexpr std::size_t longest = 40;
  std::string q = "'";
  for (char const c : s.substr(0, longest)) q += c >= ' ' && c <= '~' ? c : '?';
  return q + (s.size() > longest ? "...'" : "'");
}

}  // namespace karpos::perf
