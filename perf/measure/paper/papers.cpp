// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/papers.hpp"

#include <algorithm>
#include <cctype>

#include "perf/measure/support/bad_input.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf::paper {
namespace {

std::string list_of(std::vector<std::string> const& words) {
  std::string list;
  for (std::string const& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace

std::string figure_entry::name() const {
  auto const is_number = [](std::string const& s) {
    return !s.empty() && std::isdigit(static_cast<unsigned char>(s.front()));
  };
  if (is_number(number)) return "Figure " + number;
  if (number.front() == 'T' && is_number(number.substr(1))) return "Table " + number.substr(1);
  std::string word = number;
  word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return word;
}

std::vector<publication> const& all_papers() {
  static std::vector<publication> const papers = [] {
    std::vector<publication> all = {cucollections_paper(), glht_paper(), cuckoo_paper(),
                                    enterprise_paper(),    topk_paper(), warpspeed_paper(),
                                    hashcsr_paper()};
    std::erase_if(all, [](publication const& p) { return p.figures.empty(); });
    return all;
  }();
  return papers;
}

publication const& find_paper(std::string const& id) {
  std::vector<std::string> ids;
  for (publication const& p : all_papers()) {
    if (p.id == id) return p;
    ids.push_back(p.id);
  }
  throw bad_input("there is no paper '" + printable(id) + "': choose one of " + list_of(ids));
}

std::vector<figure_entry> chosen_figures(publication const& paper,
                                         std::vector<std::string> const& numbers) {
  std::vector<std::string> known;
  for (figure_entry const& f : paper.figures) known.push_back(f.number);
  for (std::string const& n : numbers)
    if (std::find(known.begin(), known.end(), n) == known.end())
      throw bad_input("the paper " + paper.id + " has no figure '" + printable(n) +
                      "' here: choose of " + list_of(known));
  std::vector<figure_entry> chosen;
  for (figure_entry const& f : paper.figures)
    if (numbers.empty() || std::find(numbers.begin(), numbers.end(), f.number) != numbers.end())
      chosen.push_back(f);
  return chosen;
}

}  // namespace karpos::perf::paper
