// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/cells.hpp"

#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "perf/measure/paper/report.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf::paper {
namespace {

std::string x_text(figure const& f, double x) {
  auto const i = static_cast<std::size_t>(x);
  return i < f.x.categories.size() ? f.x.categories[i] : number_text(x);
}

std::set<double> all_x(figure const& f) {
  std::set<double> xs;
  for (series const& s : f.lines)
    for (point const& p : s.points) xs.insert(p.x);
  return xs;
}

std::string label_of(series const& s) {
  return s.from == origin::ours ? s.name : s.name + " (" + name_of(s.from) + ")";
}

std::string y_text(series const& s, double x) {
  auto const y = value_at(s, x);
  return y ? number_text(*y) : "-";
}

/// Returns rows as columns.
std::vector<std::vector<std::string>> transposed(std::vector<std::vector<std::string>> const& t) {
  std::vector<std::vector<std::string>> result(t.front().size());
  for (auto const& row : t)
    for (std::size_t c = 0; c < row.size(); ++c) result[c].push_back(row[c]);
  return result;
}

void print_claim(claim const& c) {
  std::printf("  %s: %s%s\n", verdict(c).c_str(), c.text.c_str(),
              c.because.empty() ? "" : (" (" + c.because + ")").c_str());
}

}  // namespace

char const* name_of(origin from) {
  constexpr char const* names[] = {"published", "ours", "peer", "ceiling"};
  return names[static_cast<int>(from)];
}

std::string number_text(double x) {
  bool const whole = x == std::floor(x) && std::fabs(x) < 1e15;
  if (whole && x >= 1 << 14 && std::exp2(std::round(std::log2(x))) == x)
    return "2^" + std::to_string(std::lround(std::log2(x)));
  if (x == 0) return "0";
  if (x < 0) return "-" + number_text(-x);
  if (x >= 1000) return grouped(static_cast<std::uint64_t>(std::llround(x)));
  return whole ? std::to_string(std::llround(x)) : three_digits(x);
}

std::vector<std::vector<std::string>> cells_of(figure const& f) {
  std::set<double> const xs = all_x(f);
  if (xs.empty()) return {};
  std::vector<std::vector<std::string>> cells = {{f.x.label}};
  for (double const x : xs) cells[0].push_back(x_text(f, x));
  for (series const& s : f.lines) {
    if (s.points.empty()) continue;
    cells.push_back({label_of(s)});
    for (double const x : xs) cells.back().push_back(y_text(s, x));
  }
  // A row of many values is hard to read.
  constexpr std::size_t most_columns = 9;
  return xs.size() <= most_columns ? cells : transposed(cells);
}

std::vector<std::string> remarks_of(paper_run const& run, measured_figure const& f) {
  std::vector<std::string> remarks;
  std::map<std::string, std::string> names;  // of the series that a remark is about
  auto const add = [&](std::string const& name, std::string const& remark) {
    std::string& all = names[remark];
    if (all.empty()) remarks.push_back(remark);
    all += (all.empty() ? "" : "; ") + name;
  };
  for (series const& s : f.content.lines) {
    if (!s.hardware.empty())
      add(s.name, s.hardware);
    else if (s.from == origin::published)
      add("published values", run.paper.hardware);
    if (!s.missing.empty())
      add(s.name, (s.points.empty() ? "no value, " : "some values are missing, ") + s.missing);
  }
  for (std::string& remark : remarks) {
    std::string const& of = names[remark];
    remark = (of.rfind("published values; ", 0) == 0 ? "published values" : of) + ": " + remark;
  }
  remarks.insert(remarks.end(), f.content.notes.begin(), f.content.notes.end());
  if (f.content.wrong > 0)
    remarks.push_back("WRONG answers: " + grouped(f.content.wrong) + ", please report this");
  if (!f.failure.empty()) remarks.push_back("could not be measured: " + f.failure);
  return remarks;
}

void print_heading(paper_run const& run) {
  std::printf("%s\n%s\n%s%s\n", run.paper.title.c_str(), run.paper.reference.c_str(),
              run_description(run.how_much.repetitions()).c_str(),
              run.how_much.quick ? ", --quick: small sizes" : "");
}

void print(paper_run const& run, measured_figure const& f) {
  std::printf("\n%s: %s\n", f.entry.name().c_str(), f.content.title.c_str());
  if (auto const cells = cells_of(f.content); !cells.empty()) {
    std::printf("  %s\n", f.content.y.label.c_str());
    print_cells(cells, 0);
  }
  if (!f.content.table.empty()) print_cells(f.content.table, 0);
  for (std::string const& remark : remarks_of(run, f)) std::printf("  %s\n", remark.c_str());
  for (claim const& c : f.content.claims) print_claim(c);
  std::printf("  %s; one value: %s\n", human_seconds(f.seconds).c_str(), f.entry.command.c_str());
  std::fflush(stdout);
}

}  // namespace karpos::perf::paper
