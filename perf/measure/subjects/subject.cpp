// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/subjects/subject.hpp"

#include <algorithm>
#include <stdexcept>

namespace karpos::perf {

std::vector<subject_entry>& subjects() {
  static std::vector<subject_entry> all;
  return all;
}

bool has_subject(std::string const& id) {
  return std::any_of(subjects().begin(), subjects().end(),
                     [&](subject_entry const& s) { return s.id == id; });
}

subject_entry const& find_subject(std::string const& id) {
  std::string known;
  for (subject_entry const& s : subjects()) {
    if (s.id == id) return s;
    known.append(" ").append(s.id);
  }
  throw std::invalid_argument("there is no map '" + id + "' in this build: choose one of" + known);
}

subject_entry const& subject_with_layout(std::string const& map, std::string const& layout) {
  std::string known;
  for (subject_entry const& s : subjects()) {
    if (s.layout.map.empty()) continue;
    if (s.layout.map == map && s.layout.name == layout) return s;
    known.append(known.empty() ? " " : ", ").append(s.layout.map + " " + s.layout.name);
  }
  throw std::invalid_argument("the map '" + map + "' has no layout '" + layout +
                              "': leave --layout out, or choose one of" + known);
}

std::vector<std::string> our_subjects() {
  std::vector<std::string> ids;
  for (subject_entry const& s : subjects())
    if (!s.peer && (s.layout.map.empty() || s.layout.map == s.id)) ids.push_back(s.id);
  return ids;
}

bool supports_load(subject_entry const& entry) {
  return make<std::uint32_t>(entry, space(), 1, 0.5)->supports_load();
}

bool can_apply(subject_entry const& entry) {
  return make<std::uint32_t>(entry, space(), 1, 0.5)->applies();
}

}  // namespace karpos::perf
