// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "karpos/version.hpp"
#include "perf/measure/support/context.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/distributed/over_ranks.hpp"
#include "perf/tool/graph/read_graph.hpp"
#include "perf/tool/program/help_text.hpp"
#include "perf/tool/program/kokkos_settings.hpp"
#include "perf/tool/program/parse_words.hpp"
#include "perf/tool/program/standard_streams.hpp"

namespace karpos::perf {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_bad_input = 2;

/// Whether bad input is an error of all ranks: in the words of the command line, and in options of
/// a command that runs over ranks.
bool is_bad_on_all_ranks = true;

bool is_of_library(char const* what) { return std::strncmp(what, "karpos:", 7) == 0; }
/// Prints "karpos: what". The library's own messages begin so already, or with the name of a call,
/// as "karpos::bfs: ", which is left out.
void print_error(std::exception const& e) {
  char const* what = e.what();
  if (char const* const end = std::strstr(what, ": "); is_of_library(what) && end != nullptr)
    what = end + 2;
  std::fprintf(stderr, "karpos: %s\n", what);
}

/// Prints a message about a lack of memory, without allocating any.
void print_memory_error(std::exception const& e) {
  char const* const what = e.what();
  if (is_of_library(what))
    print_error(e);
  else
    std::fprintf(stderr,
                 "karpos: out of memory (%s): ask for less, or let the program have more memory\n",
                 std::strncmp(what, "std::", 5) == 0 ? "the system gave no more" : what);
}

int run_with_kokkos(std::vector<std::string> const& arguments, char** argv, action const& run) {
  check_kokkos_environment(arguments);
  choose_thread_binding(arguments, argv);
  std::vector<char*> words = {argv[0]};
  for (std::string const& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
  int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  Kokkos::ScopeGuard const kokkos(count, words.data());
  return run();
}

/// Runs the function and prints its error, if there is one. Returns the exit code.
int run_guarded(std::function<int()> const& run) {
  try {
    return run();
  } catch (bad_input const& e) {
    if (is_bad_on_all_ranks)
      print_once([&] { print_error(e); });
    else
      print_error(e);
  } catch (graph_file_error const& e) {
    print_error(e);
  } catch (std::invalid_argument const& e) {
    print_error(e);
  } catch (std::length_error const& e) {
    print_error(e);
  } catch (std::exception const& e) {
    if (is_lack_of_memory(e)) {
      print_memory_error(e);
      return exit_bad_input;
    }
    print_error(e);
    return exit_failed;
  }
  return exit_bad_input;
}

int run_driver(int argc, char** argv) {
  CLI::App app("Karpos: irregular parallel algorithms on Kokkos", "karpos");
  app.set_version_flag("--version", std::string("karpos ") + version_string);
  app.require_subcommand(1);
  app.formatter(std::make_shared<help_text>());  // the commands inherit it
  app.footer(
      "karpos COMMAND --help explains a command. Arguments that begin with --kokkos- go to Kokkos, "
      "as --kokkos-num-threads=2 does.\n"
      "Example: karpos bfs docs/examples/data/karate.mtx --validate");

  std::map<std::string, action> actions;
  auto& commands = command::all();
  std::sort(commands.begin(), commands.end(),
            [](command const& a, command const& b) { return a.name < b.name; });
  for (command const& c : commands)
    actions[c.name] = c.define(*app.add_subcommand(c.name, c.summary));

  std::vector<std::string> words(argv + 1, argv + argc), for_kokkos;
  std::copy_if(words.begin(), words.end(), std::back_inserter(for_kokkos), is_kokkos_argument);
  std::erase_if(words, is_kokkos_argument);
  check_kokkos_arguments(for_kokkos);
  if (asks_kokkos_for_help(for_kokkos)) return run_with_kokkos(for_kokkos, argv, [] { return 0; });
  try {
    parse_words(app, words);
  } catch (CLI::Success const& help) {
    return app.exit(help);
  }
  is_bad_on_all_ranks = std::find(words.begin(), words.end(), "--distributed") != words.end();
  remember_command_line(argc, argv);
  return run_with_kokkos(for_kokkos, argv, actions.at(app.get_subcommands().front()->get_name()));
}

}  // namespace
}  // namespace karpos::perf

int main(int argc, char** argv) {
  using namespace karpos::perf;
  occupy_standard_streams();
  int const code = run_guarded([&] { return run_driver(argc, argv); });
  return finish_standard_output() || code != 0 ? code : exit_failed;
}
