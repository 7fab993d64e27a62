// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/program/help_text.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

namespace karpos::perf {
namespace {

constexpr std::size_t columns = 80, description_column = 24;
char const no_group[] = "Options";  // CLI11's group of options that name none

/// Returns the words in lines, the first of which begins in column `at`, the others in `column`.
std::string wrapped(std::string const& text, std::size_t at, std::size_t column) {
  std::istringstream words(text);
  std::string lines, word;
  bool first = true;
  while (words >> word) {
    if (!first && at + 1 + word.size() > columns) {
      lines += '\n' + std::string(column, ' ');
      at = column;
    } else if (!first) {
      lines += ' ';
      ++at;
    }
    lines += word;
    at += word.size();
    first = false;
  }
  return lines;
}

std::string entry(std::string const& name, std::string const& description) {
  std::string left = "  " + name + "  ";
  if (left.size() > description_column)
    left = "  " + name + '\n' + std::string(description_column, ' ');
  else
    left.resize(description_column, ' ');
  return left + wrapped(description, description_column, description_column) + '\n';
}

/// Returns the placeholder of an option's value: its choices in braces, or its type. Empty for a
/// flag.
std::string value_of(CLI::Option const& o) {
  if (o.get_items_expected_max() == 0) return "";
  std::string const type = o.get_type_name();
  auto const begin = type.find('{'), end = type.find('}');
  std::string value = type.substr(0, type.find(':'));
  if (end != std::string::npos) {
    value = type.substr(begin, end - begin);
    if (value.back() == ',') value.pop_back();  // --peers may have no value
    value += '}';
  } else if (value == "INT" || value == "UINT" || type.find(":N") != std::string::npos) {
    value = "N";
  } else if (value == "FLOAT") {
    value = "X";
  }
  return value + (o.get_items_expected_max() == 1 ? "" : o.get_delimiter() ? ",..." : " ...");
}

std::string upper(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return word;
}

std::string entry(CLI::Option const& o) {
  if (o.get_positional()) return entry(upper(o.get_name(true)), o.get_description());
  std::string const value = value_of(o), fallback = value.empty() ? "" : o.get_default_str();
  return entry(o.get_name(false, true) + (value.empty() ? "" : " ") + value,
               o.get_description() + (fallback.empty() ? "" : " (default: " + fallback + ")"));
}

std::string usage(CLI::App const& app, std::string const& name) {
  std::string words = name + " [OPTIONS]";
  for (CLI::Option const* o : app.get_options())
    if (o->get_positional())
      words += o->get_required() ? ' ' + upper(o->get_name(true))
                                 : " [" + upper(o->get_name(true)) + ']';
  if (app.get_require_subcommand_min() > 0) words += " COMMAND";
  return "Usage: " + words + "\n\n";
}

}  // namespace

void put_in_group(CLI::App& app, std::string const& group) {
  for (CLI::Option* o : app.get_options())
    if (!o->get_positional() && o != app.get_help_ptr() && o->get_group() == no_group)
      o->group(group);
}

std::string help_text::make_help(CLI::App const* app, std::string name, CLI::AppFormatMode) const {
  std::string footer = app->get_footer(), text;
  if (auto const example = footer.rfind("Example: "); example != std::string::npos) {
    text = footer.substr(example) + '\n';
    footer.resize(example);
  }
  if (app->get_parent() != nullptr) name = app->get_parent()->get_name() + ' ' + app->get_name();
  text += usage(*app, name) + wrapped(app->get_description(), 0, 0) + '\n';

  std::vector<std::string> groups;
  auto const options = app->get_options();
  for (CLI::Option const* o : options)
    if (!o->get_positional() &&
        std::find(groups.begin(), groups.end(), o->get_group()) == groups.end())
      groups.push_back(o->get_group());
  std::rotate(groups.begin(), groups.begin() + 1, groups.end());  // --help comes last
  std::string arguments;
  for (CLI::Option const* o : options)
    if (o->get_positional()) arguments += entry(*o);
  if (!arguments.empty()) text += '\n' + arguments;
  for (std::string const& group : groups) {
    text += '\n' + (group == no_group && groups.size() > 1 ? "Other" : group) + ":\n";
    for (CLI::Option const* o : options)
      if (!o->get_positional() && o->get_group() == group) text += entry(*o);
  }
  auto const commands = app->get_subcommands(nullptr);
  if (!commands.empty()) text += "\nCommands:\n";
  for (CLI::App const* c : commands) text += entry(c->get_name(), c->get_description());
  footer = wrapped(footer, 0, 0);
  return text + (footer.empty() ? "" : '\n' + footer + '\n');
}

}  // namespace karpos::perf
