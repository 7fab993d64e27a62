// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph/generator_spec.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

using families = generator_spec::families;

struct family_entry {
  char const* name;
  families family;
  double a, b, c;
  bool permute;
  std::vector<std::string> keys;
  char const* example;
};

std::vector<family_entry> const& all_families() {
  std::vector<std::string> const drawn = {"scale", "ef", "seed", "permute"};
  std::vector<std::string> const quadrants = {"scale", "ef", "seed", "permute", "a", "b", "c"};
  static std::vector<family_entry> const entries = {
      {"kron", families::kron, 0.57, 0.19, 0.19, true, drawn, "kron:scale=20,ef=16,seed=1"},
      {"rmat", families::rmat, 0.45, 0.15, 0.15, true, quadrants, "rmat:scale=22,ef=32,seed=1"},
      {"uniform",
       families::uniform,
       0,
       0,
       0,
       false,
       {"scale", "ef", "seed"},
       "uniform:scale=22,ef=16,seed=1"},
      {"grid",
       families::grid,
       0,
       0,
       0,
       false,
       {"drop", "seed", "permute"},
       "grid:4096x4096,drop=0.3,seed=1"}};
  return entries;
}

[[noreturn]] void refuse(std::string const& problem, std::string const& why,
                         std::string const& suggestion) {
  throw std::invalid_argument("karpos: " + problem + " (" + why + "): " + suggestion);
}

family_entry const& find_family(std::string const& name, std::string const& text) {
  std::string examples;
  for (family_entry const& f : all_families()) {
    if (name == f.name) return f;
    examples += (examples.empty() ? "'" : ", '") + std::string(f.example) + "'";
  }
  refuse("there is no generator '" + name + "'", "in '" + text + "'",
         "write one like " + examples + "; for a file of that name, ./" + text);
}

std::uint64_t parse_integer(std::string const& key, std::string const& value, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t number = 0;
  bool fits = true;
  try {
    number = parse_count(value);
  } catch (std::invalid_argument const&) {
    fits = false;
  }
  if (!fits || number < least || number > most)
    refuse(key + " of a generator is out of range", "'" + value + "'",
           "choose an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return number;
}

double parse_probability(std::string const& key, std::string const& value) {
  double chance = -1;
  std::size_t used = 0;
  try {
    chance = std::stod(value, &used);
  } catch (std::exception const&) {
    used = 0;
  }
  if (value.empty() || used != value.size() || !(chance >= 0 && chance <= 1))
    refuse(key + " of a generator is out of range", "'" + value + "'",
           "choose a number from 0 to 1");
  return chance;
}

constexpr std::uint64_t max_vertices = std::numeric_limits<std::uint32_t>::max();

void parse_sides(generator_spec& spec, std::string const& value) {
  std::size_t const x = value.find('x');
  if (x == std::string::npos)
    refuse("a grid without its size", "'" + value + "'",
           "write ROWSxCOLUMNS, as in grid:4096x4096");
  spec.rows = parse_integer("rows", value.substr(0, x), 1, max_vertices);
  spec.columns = parse_integer("columns", value.substr(x + 1), 1, max_vertices);
  if (spec.rows > max_vertices / spec.columns)
    refuse("a grid has too many vertices", "'" + value + "'",
           "choose at most " + std::to_string(max_vertices));
}

void set(generator_spec& spec, std::string const& key, std::string const& value) {
  if (key == "scale") spec.scale = parse_integer(key, value, 1, 31);
  if (key == "ef") spec.edge_factor = parse_integer(key, value, 1, 1u << 20);
  if (key == "seed")
    spec.seed = parse_integer(key, value, 0, std::numeric_limits<std::uint64_t>::max());
  if (key == "permute") spec.permute = parse_integer(key, value, 0, 1) == 1;
  if (key == "drop") spec.drop = parse_probability(key, value);
  if (key == "a") spec.a = parse_probability(key, value);
  if (key == "b") spec.b = parse_probability(key, value);
  if (key == "c") spec.c = parse_probability(key, value);
}

void parse_setting(generator_spec& spec, family_entry const& family, std::string const& item,
                   std::vector<std::string>& given) {
  std::size_t const equals = item.find('=');
  std::string const key = item.substr(0, equals);
  if (std::find(given.begin(), given.end(), key) != given.end())
    refuse(key + " of a generator is given twice", "'" + item + "'", "give it once");
  given.push_back(key);
  if (std::find(family.keys.begin(), family.keys.end(), key) == family.keys.end()) {
    std::string keys;
    for (std::string const& k : family.keys) keys += (keys.empty() ? "" : ", ") + k + "=";
    refuse("generator " + std::string(family.name) + " has no setting '" + key + "'",
           "it has " + keys, std::string("write it like ") + family.example);
  }
  set(spec, key, equals == std::string::npos ? "" : item.substr(equals + 1));
}

/// Returns x in the fewest digits that parse as x again.
std::string shortest(double x) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, x);
    if (std::stod(text) == x) break;
  }
  return text;
}

}  // namespace

std::uint64_t generator_spec::vertices() const {
  return family == families::grid ? rows * columns : std::uint64_t(1) << scale;
}

std::uint64_t generator_spec::candidates() const {
  return family == families::grid ? 2 * rows * columns : edge_factor << scale;
}

bool is_generator(std::string const& graph) {
  std::size_t const colon = graph.find(':');
  return colon != std::string::npos && colon > 0 &&
         std::all_of(graph.begin(), graph.begin() + static_cast<std::ptrdiff_t>(colon),
                     [](char ch) { return std::isalpha(static_cast<unsigned char>(ch)) != 0; });
}

generator_spec parse_generator(std::string const& text) {
  std::size_t const colon = text.find(':');
  std::string const name = text.substr(0, colon);
  family_entry const& family = find_family(name, text);
  generator_spec spec;
  spec.family = family.family;
  spec.a = family.a;
  spec.b = family.b;
  spec.c = family.c;
  spec.permute = family.permute;

  std::istringstream items(colon == std::string::npos ? "" : text.substr(colon + 1));
  std::string item;
  if (spec.family == families::grid) {
    std::getline(items, item, ',');
    parse_sides(spec, item);
  }
  std::vector<std::string> given;
  while (std::getline(items, item, ',')) parse_setting(spec, family, item, given);
  if (spec.a + spec.b + spec.c > 1 + 1e-9)
    refuse("a, b and c of a generator are out of range",
           "their sum is " + shortest(spec.a + spec.b + spec.c),
           "choose chances whose sum is at most 1");
  return spec;
}

std::string to_string(generator_spec const& spec) {
  auto const& entries = all_families();
  family_entry const& family =
      *std::find_if(entries.begin(), entries.end(),
                    [&](family_entry const& f) { return f.family == spec.family; });
  std::string text = std::string(family.name) + ':';
  if (spec.family == families::grid)
    text += std::to_string(spec.rows) + 'x' + std::to_string(spec.columns);
  for (std::string const& key : family.keys) {
    if (text.back() != ':') text += ',';
    text += key + '=';
    if (key == "scale") text += std::to_string(spec.scale);
    if (key == "ef") text += std::to_string(spec.edge_factor);
    if (key == "seed") text += std::to_string(spec.seed);
    if (key == "permute") text += spec.permute ? '1' : '0';
    if (key == "drop") text += shortest(spec.drop);
    if (key == "a") text += shortest(spec.a);
    if (key == "b") text += shortest(spec.b);
    if (key == "c") text += shortest(spec.c);
  }
  return text;
}

}  // namespace karpos::perf
