// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/profiler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace karpos::perf {
namespace {

std::string shell_word(std::string const& word) {
  std::string text = "'";
  for (char const c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Returns the path of the profiler, or nothing.
std::string find_profiler() {
  char const* const path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/ncu").c_str(), X_OK) == 0) return folder + "/ncu";
  return "";
}

/// Returns the cells of a line of CSV.
std::vector<std::string> csv_cells(std::string const& line) {
  std::vector<std::string> cells(1);
  bool in_quotes = false;
  for (char const c : line) {
    if (c == '"')
      in_quotes = !in_quotes;
    else if (c == ',' && !in_quotes)
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  return cells;
}

std::size_t place_of_cell(std::vector<std::string> const& heading, char const* name) {
  return static_cast<std::size_t>(std::find(heading.begin(), heading.end(), name) -
                                  heading.begin());
}

/// Returns a number with commas between thousands, or nothing.
bool parse_grouped(std::string text, double& value) {
  std::erase(text, ',');
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0';
}

/// Returns the last line of a text that is not empty.
std::string last_line(std::string const& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  return last;
}

}  // namespace

std::string duration_metric() { return "gpu__time_duration.sum"; }

kernel_counters read_counters(std::string const& text) {
  kernel_counters result;
  std::vector<std::string> heading;
  std::map<std::string, std::map<std::string, double>> by_kernel;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto const cells = csv_cells(line);
    if (cells.front() == "ID") heading = cells;
    std::size_t const metric = place_of_cell(heading, "Metric Name"),
                      value = place_of_cell(heading, "Metric Value");
    double x = 0;
    if (std::max(metric, value) < std::min(cells.size(), heading.size()) &&
        parse_grouped(cells[value], x))
      by_kernel[cells.front()][cells[metric]] = x;
  }
  double sum = 0;
  for (auto const& [id, values] : by_kernel) {
    auto const duration = values.find(duration_metric());
    if (duration == values.end()) continue;
    ++result.kernels;
    sum += duration->second;
    for (auto const& [name, x] : values)
      if (name != duration_metric()) result.of_metric[name] += x * duration->second;
  }
  for (auto& [name, x] : result.of_metric) x /= sum;
  if (result.kernels == 0) result.obstacle = "the profiler counted no kernel: " + last_line(text);
  return result;
}

kernel_counters profile_driver(std::vector<std::string> const& arguments,
                               std::vector<std::string> const& metrics,
                               std::string const& kernels) {
  kernel_counters none;
  std::string const profiler = find_profiler();
  if (profiler.empty()) {
    none.obstacle = "there is no profiler (ncu) on this machine";
    return none;
  }
  std::string list = duration_metric();
  for (std::string const& m : metrics) list += "," + m;
  std::string command = shell_word(profiler) +
                        " --csv --print-units base --kernel-name-base demangled --kernel-name " +
                        shell_word("regex:" + kernels) + " --metrics " + shell_word(list) + " " +
                        shell_word(std::filesystem::read_symlink("/proc/self/exe").string());
  for (std::string const& a : arguments) command += " " + shell_word(a);
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    none.obstacle = "the profiler could not be started";
    return none;
  }
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    text.append(buffer, n);
  pclose(pipe);
  return read_counters(text);
}

}  // namespace karpos::perf
