// SPDX-License-Identifier: Apache-2.0
#include "perf/subjects/subject.hpp"

#include <stdexcept>

namespace karpos::perf {

std::vector<subject_entry>& subjects() {
  static std::vector<subject_entry> all;
  return all;
}

subject_entry const& subject_named(std::string const& id) {
  std::string known;
  for (subject_entry const& s : subjects()) {
    if (s.id == id) return s;
    known.append(" ").append(s.id);
  }
  throw std::invalid_argument("there is no map '" + id + "' in this build: choose one of" + known);
}

}  // namespace karpos::perf
