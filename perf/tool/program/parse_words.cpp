// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/program/parse_words.hpp"

#include <algorithm>

#include "perf/measure/support/nearest_word.hpp"
#include "perf/tool/command.hpp"

namespace karpos::perf {
namespace {

bool is_option(std::string const& word) { return word.size() > 1 && word.front() == '-'; }

std::string did_you_mean(std::string const& nearest) {
  return nearest.empty() ? ": " : ": did you mean " + nearest + "? ";
}

void require_command(CLI::App const& app, std::vector<std::string> const& words) {
  std::vector<std::string> names;
  std::string list;
  for (CLI::App const* c : app.get_subcommands(nullptr)) {
    names.push_back(c->get_name());
    list += (list.empty() ? "" : ", ") + c->get_name();
  }
  auto const first = std::find_if_not(words.begin(), words.end(), is_option);
  if (first == words.end())
    throw bad_input("there is no command: choose one of " + list + "; karpos --help says more");
  if (std::find(names.begin(), names.end(), *first) == names.end())
    throw bad_input("there is no command '" + *first + "'" +
                    did_you_mean(nearest_word(*first, names)) + "choose one of " + list);
}

/// Refuses empty words, and options that lack a value after '='. --peers may be given without '='
/// and a value.
void require_values(std::vector<std::string> const& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string const& word = words[i];
    if (word.empty())
      throw bad_input("there is an empty word" + (i == 0 ? "" : " behind '" + words[i - 1] + "'") +
                      ": write a value, or leave it out");
    if (word.rfind("--", 0) == 0 && word.back() == '=')
      throw bad_input("'" + word + "' lacks its value: write one, or leave the option out");
  }
}

/// Refuses an option that needs a value in front of another option, which the parser would take for
/// the value: --output --json would name a file.
void require_no_option_as_value(CLI::App const& command, std::vector<std::string> const& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!is_option(words[i]) || !is_option(words[i + 1])) continue;
    CLI::Option const* const option = command.get_option_no_throw(words[i]);
    if (option != nullptr && option->get_items_expected_min() > 0 &&
        command.get_option_no_throw(words[i + 1]) != nullptr)
      throw bad_input("'" + words[i] + "' lacks its value in front of '" + words[i + 1] +
                      "': write one, or leave the option out");
  }
}

bool lacks_item(std::string const& list, char mark) {
  return list.front() == mark || list.back() == mark ||
         list.find(std::string(2, mark)) != std::string::npos;
}

/// Refuses lists with missing elements. The parser would accept them: "1,,2" would be two values,
/// and "," all peers.
void require_items(CLI::App const& command, std::vector<std::string> const& words) {
  CLI::Option const* list = nullptr;
  for (std::string const& word : words) {
    std::string value = word;
    if (word.rfind("--", 0) == 0) {
      std::size_t const mark = word.find('=');
      CLI::Option const* const option = command.get_option_no_throw(word.substr(0, mark));
      list = option != nullptr && option->get_delimiter() != '\0' ? option : nullptr;
      if (mark == std::string::npos) continue;
      value = word.substr(mark + 1);
    }
    if (list == nullptr) continue;
    if (lacks_item(value, list->get_delimiter())) {
      std::string what = list->get_description();
      std::replace(what.begin(), what.end(), '\n', ' ');
      throw bad_input(list->get_name() + " '" + value + "' lacks a value beside a comma (" + what +
                      "): write it, or leave the comma out");
    }
    if (!list->get_allow_extra_args()) list = nullptr;
  }
}

/// Returns the command that the words are for, or null.
CLI::App const* command_of(CLI::App const& app, std::vector<std::string> const& words) {
  auto const first = std::find_if_not(words.begin(), words.end(), is_option);
  for (CLI::App const* c : app.get_subcommands(nullptr))
    if (first != words.end() && c->get_name() == *first) return c;
  return nullptr;
}

std::vector<std::string> options_of(CLI::App const& app) {
  std::vector<std::string> names;
  for (CLI::Option const* o : app.get_options()) {
    for (std::string const& name : o->get_lnames()) names.push_back("--" + name);
    for (std::string const& name : o->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// Refuses an option that `app` does not have. `command` is the command's name; empty for the
/// driver itself. Throws: bad_input.
void require_known_option(CLI::App const& app, std::string const& command) {
  auto const unknown = app.remaining();
  auto const option = std::find_if(unknown.begin(), unknown.end(), is_option);
  if (option == unknown.end()) return;
  std::string const name = option->substr(0, option->find('='));
  throw bad_input((command.empty() ? "there is" : command + " has") + " no option '" + name + "'" +
                  did_you_mean(nearest_word(name, options_of(app))) + "karpos " + command +
                  (command.empty() ? "" : " ") + "--help lists all");
}

}  // namespace

void parse_words(CLI::App& app, std::vector<std::string> const& words) {
  require_values(words);
  if (CLI::App const* const command = command_of(app, words)) {
    require_no_option_as_value(*command, words);
    require_items(*command, words);
  }
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (CLI::Success const&) {
    throw;
  } catch (CLI::ParseError const& e) {
    if (!words.empty() && !is_option(words.front())) require_command(app, words);
    require_known_option(app, "");
    require_command(app, words);
    CLI::App const& command = *app.get_subcommands().front();
    std::string const called = "karpos " + command.get_name();
    require_known_option(command, command.get_name());
    auto const surplus = command.remaining();
    if (!surplus.empty())
      throw bad_input("'" + surplus.front() + "' is one word too many: " + called +
                      " --help says what it takes");
    throw bad_input(std::string(e.what()) + ": " + called + " --help says more");
  }
}

}  // namespace karpos::perf
