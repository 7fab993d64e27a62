// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/program/kokkos_settings.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "perf/measure/support/nearest_word.hpp"
#include "perf/tool/command.hpp"

#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

namespace karpos::perf {
namespace {

/// The length of the array in which Kokkos keeps the data of its OpenMP threads, without checking
/// the bound.
constexpr int max_openmp_threads = 512;

constexpr std::string_view argument_begin = "--kokkos-";

struct kokkos_setting {
  char const* name;
  int least;                         ///< of an integer
  std::vector<std::string> choices;  ///< empty: the value is an integer
  bool value_optional;
};

std::vector<kokkos_setting> const& kokkos_settings() {
  std::vector<std::string> const truth = {"true", "false", "yes", "no", "1", "0"};
  static std::vector<kokkos_setting> const all = {
      {"num-threads", 1, {}, false},
      {"device-id", 0, {}, false},
      {"map-device-id-by", 0, {"mpi_rank", "random"}, false},
      {"disable-warnings", 0, truth, true},
      {"print-configuration", 0, truth, true},
      {"tune-internals", 0, truth, true}};
  return all;
}

std::string argument_name(kokkos_setting const& s) { return std::string(argument_begin) + s.name; }

std::string variable_name(kokkos_setting const& s) {
  std::string name = std::string("KOKKOS_") + s.name;
  for (char& c : name) c = c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return name;
}

bool read_int(std::string const& text, int& value) {
  char const* const end = text.data() + text.size();
  auto const [after, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && after == end;
}

void check_setting(kokkos_setting const& s, std::string const& called, std::string const& value) {
  if (!s.choices.empty()) {
    if (std::find(s.choices.begin(), s.choices.end(), value) != s.choices.end()) return;
    std::string list;
    for (std::string const& c : s.choices) list += (list.empty() ? "" : ", ") + c;
    throw bad_input(called + " cannot be '" + value + "': choose one of " + list);
  }
  int number = 0;
  if (read_int(value, number) && number >= s.least) return;
  throw bad_input(called + " cannot be '" + value + "': write an integer, " +
                  std::to_string(s.least) + " or more");
}

/// Returns the last value of a setting on the command line, or an empty string.
std::string value_of(kokkos_setting const& s, std::vector<std::string> const& arguments) {
  std::string value;
  std::string const begin = argument_name(s) + "=";
  for (std::string const& a : arguments)
    if (a.rfind(begin, 0) == 0) value = a.substr(begin.size());
  return value;
}

/// Refuses a setting that is nearly a known one, as it is a typing mistake. Other unknown settings,
/// perhaps of a newer Kokkos, pass.
void require_known_settings(std::vector<std::string> const& arguments) {
  std::vector<std::string> known = {"help", "tools-args", "tools-help", "tools-libs"};
  for (kokkos_setting const& s : kokkos_settings()) known.emplace_back(s.name);
  for (std::string const& a : arguments) {
    std::string const name = a.substr(0, a.find('=')).substr(argument_begin.size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string const nearest = nearest_word(name, known), begin(argument_begin);
    if (!nearest.empty())
      throw bad_input("Kokkos has no option '" + begin + name + "': did you mean " + begin +
                      nearest + "?");
  }
}

#if defined(KOKKOS_ENABLE_OPENMP)

struct thread_request {
  int threads;
  std::string by;  ///< empty: nothing asked for it
};

thread_request requested_threads(std::vector<std::string> const& arguments) {
  kokkos_setting const& setting = kokkos_settings().front();
  int threads = 0;
  if (read_int(value_of(setting, arguments), threads)) return {threads, argument_name(setting)};
  std::string const variable = variable_name(setting);
  if (char const* const value = std::getenv(variable.c_str()); value && read_int(value, threads))
    return {threads, variable};
  return {omp_get_max_threads(), std::getenv("OMP_NUM_THREADS") ? "OMP_NUM_THREADS" : ""};
}

/// Checks OMP_NUM_THREADS; OpenMP itself replaces invalid numbers with a warning. After the first
/// comma, a list has the numbers of threads of nested teams.
void check_openmp_variable() {
  char const* const value = std::getenv("OMP_NUM_THREADS");
  if (value == nullptr) return;
  std::istringstream list(value);
  for (std::string number; std::getline(list, number, ',');) {
    std::size_t const begin = number.find_first_not_of(" \t"), end = number.find_last_not_of(" \t");
    check_setting(kokkos_settings().front(), "OMP_NUM_THREADS",
                  begin == std::string::npos ? "" : number.substr(begin, end + 1 - begin));
  }
}

void check_thread_count(std::vector<std::string> const& arguments) {
  auto const [threads, by] = requested_threads(arguments);
  if (threads <= max_openmp_threads) return;
  if (by.empty()) {  // the machine has more processors than Kokkos can use
    omp_set_num_threads(max_openmp_threads);
    return;
  }
  throw bad_input(by + " asks for " + std::to_string(threads) +
                  " threads: Kokkos runs OpenMP with at most " +
                  std::to_string(max_openmp_threads));
}

/// Runs this program again with the current environment. Returns if that is impossible.
void restart_program(char** argv) {
  // Without an interpreter's base address, the running file is the dynamic loader itself.
  if (getauxval(AT_BASE) != 0) execv("/proc/self/exe", argv);
}

#endif

}  // namespace

bool is_kokkos_argument(std::string const& argument) {
  return argument.rfind(argument_begin, 0) == 0;
}

bool asks_kokkos_for_help(std::vector<std::string> const& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](std::string const& a) {
    return a == "--kokkos-help" || a == "--kokkos-tools-help";
  });
}

void check_kokkos_arguments(std::vector<std::string> const& arguments) {
  require_known_settings(arguments);
  for (kokkos_setting const& s : kokkos_settings()) {
    std::string const name = argument_name(s);
    for (std::string const& a : arguments) {
      if (a == name && !s.value_optional)
        throw bad_input(name + " lacks its value: write " + name + "=" +
                        (s.choices.empty() ? "2" : s.choices.front()));
      if (a.rfind(name + "=", 0) == 0) check_setting(s, name, a.substr(name.size() + 1));
    }
  }
}

void check_kokkos_environment([[maybe_unused]] std::vector<std::string> const& arguments) {
  for (kokkos_setting const& s : kokkos_settings()) {
    std::string const variable = variable_name(s);
    if (char const* const value = std::getenv(variable.c_str())) check_setting(s, variable, value);
  }
#if defined(KOKKOS_ENABLE_OPENMP)
  check_openmp_variable();
  check_thread_count(arguments);
#endif
}

void choose_thread_binding([[maybe_unused]] std::vector<std::string> const& arguments,
                           [[maybe_unused]] char** argv) {
#if defined(KOKKOS_ENABLE_OPENMP)
  if (std::getenv("OMP_PROC_BIND") != nullptr) return;
  for (char const* chosen : {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (std::getenv(chosen) != nullptr) {
      setenv("OMP_PROC_BIND", "true", 1);  // OMP_PLACES implies this; Kokkos asks for it explicitly
      return;
    }
  bool const whole_machine = requested_threads(arguments).threads == omp_get_num_procs();
  setenv("OMP_PROC_BIND", whole_machine ? "spread" : "false", 1);
  if (!whole_machine) return;  // as without these variables
  // Without this file, as in containers that do not mount /sys, libgomp complains about OMP_PLACES,
  // and binds threads to processors anyway.
  if (std::filesystem::exists("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"))
    setenv("OMP_PLACES", "threads", 1);
  restart_program(argv);
#endif
}

}  // namespace karpos::perf
