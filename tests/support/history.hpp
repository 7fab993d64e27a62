// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks of linearizability: whether some sequential order that respects real time explains what
/// concurrent operations on one key answered. A map is linearizable if every key's history is
/// (locality).
///
/// Source: Jeannette Wing and Chun Gong, "Testing and verifying concurrent objects", 1993; the
/// memory of dead ends follows Gavin Lowe, "Testing for linearizability", 2017.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace karpos_test {

enum class action { insert, assign, add, erase, find };

/// One operation on the key of the history.
struct event {
  action what;
  std::uint64_t value;               ///< argument; for find, the value found
  bool answer;                       ///< inserted (else existing), erased, or found
  std::uint64_t invoked, responded;  ///< instants of one clock for all threads

  friend std::string to_string(event const& e) {
    static char const* const names[] = {"insert", "assign", "add", "erase", "find"};
    std::ostringstream text;
    text << '[' << e.invoked << ", " << e.responded << "] " << names[static_cast<int>(e.what)]
         << ' ' << e.value << " -> " << (e.answer ? "yes" : "no");
    return text.str();
  }
};

/// The value that a map stores for one key, if it stores the key.
using stored = std::optional<std::uint64_t>;

/// Returns what is stored after the operation, or nothing if the operation cannot have answered so.
inline std::optional<stored> step(stored const& now, event const& e) {
  switch (e.what) {
    case action::insert:
      if (e.answer == now.has_value()) return {};
      return e.answer ? stored(e.value) : now;
    case action::assign:
      if (e.answer == now.has_value()) return {};
      return stored(e.value);
    case action::add:
      if (e.answer == now.has_value()) return {};
      return stored(e.value + now.value_or(0));
    case action::erase:
      if (e.answer != now.has_value()) return {};
      return stored();
    case action::find:
      if (e.answer != now.has_value() || (e.answer && e.value != *now)) return {};
      return now;
  }
  return {};
}

/// Returns whether the operation, by its answer, has left the map as it was.
inline bool changes_nothing(event const& e) {
  return e.what == action::find ||
         (!e.answer && (e.what == action::insert || e.what == action::erase));
}

/// Returns whether some order explains the history; nothing if that would take more than
/// `most_steps`, one for each operation that an order is tried with. The key is absent at first, by
/// default.
/// Complexity: linear for orderly histories; in the worst case exponential in the number of changes
/// that overlap.
inline std::optional<bool> is_linearizable_within(std::uint64_t most_steps,
                                                  std::vector<event> history,
                                                  stored const& initially = {}) {
  std::sort(history.begin(), history.end(),
            [](event const& a, event const& b) { return a.invoked < b.invoked; });
  // Operations that do not overlap form a line, as those of one thread do. A line has one order, so
  // a position in each line determines which operations have taken effect.
  std::vector<std::vector<event>> lines;
  for (event const& e : history) {
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&](auto const& l) { return l.back().responded <= e.invoked; });
    if (line == lines.end()) line = lines.insert(lines.end(), std::vector<event>());
    line->push_back(e);
  }
  using configuration = std::pair<std::vector<std::size_t>, stored>;
  std::vector<configuration> open{{std::vector<std::size_t>(lines.size(), 0), initially}};
  std::set<configuration> seen{open.front()};
  struct candidate {
    std::size_t line;
    stored then;
    std::uint64_t responded;
  };
  std::vector<candidate> candidates;
  while (!open.empty()) {
    configuration const c = std::move(open.back());
    open.pop_back();
    // An operation invoked after the earliest response among the pending operations cannot be the
    // next one.
    std::uint64_t deadline = std::numeric_limits<std::uint64_t>::max();
    bool done = true;
    for (std::size_t l = 0; l < lines.size(); ++l)
      if (c.first[l] < lines[l].size()) {
        deadline = std::min(deadline, lines[l][c.first[l]].responded);
        done = false;
      }
    if (done) return true;
    candidates.clear();
    for (std::size_t l = 0; l < lines.size(); ++l) {
      if (c.first[l] == lines[l].size()) continue;
      event const& e = lines[l][c.first[l]];
      if (e.invoked >= deadline) continue;
      auto const then = step(c.second, e);
      if (!then) continue;
      if (changes_nothing(e)) candidates.clear();
      candidates.push_back({l, *then, e.responded});
      // If any order explains the rest, one does that begins with an operation without effect.
      if (changes_nothing(e)) break;
    }
    // The operation that responded first is tried first: it is taken from the end.
    std::sort(candidates.begin(), candidates.end(),
              [](candidate const& a, candidate const& b) { return a.responded > b.responded; });
    for (candidate const& next : candidates) {
      configuration d{c.first, next.then};
      ++d.first[next.line];
      if (seen.size() > most_steps) return {};
      if (seen.insert(d).second) open.push_back(std::move(d));
    }
  }
  return false;
}
inline bool is_linearizable(std::vector<event> history, stored const& initially = {}) {
  return *is_linearizable_within(~std::uint64_t(0), std::move(history), initially);
}

/// Returns the history as text, in order of invocation, for messages.
inline std::string print(std::vector<event> history) {
  std::sort(history.begin(), history.end(),
            [](event const& a, event const& b) { return a.invoked < b.invoked; });
  std::string text;
  for (event const& e : history) text += "\n  " + to_string(e);
  return text;
}

}  // namespace karpos_test
