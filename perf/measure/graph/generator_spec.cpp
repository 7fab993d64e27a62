// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph/generator_spec.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <vector>

#include "perf/measure/support/generator_settings.hpp"

namespace karpos::perf {
namespace {

using families = generator_spec::families;

struct family_entry : generator_family {
  families family;
  double a, b, c;
  bool permute;
};

std::vector<family_entry> const& all_families() {
  static std::vector<family_entry> const entries = {
      {{"kron", {"scale", "ef", "seed", "permute"}, "kron:scale=20,ef=16,seed=1"},
       families::kron,
       0.57,
       0.19,
       0.19,
       true},
      {{"rmat", {"scale", "ef", "seed", "permute", "a", "b", "c"}, "rmat:scale=22,ef=32,seed=1"},
       families::rmat,
       0.45,
       0.15,
       0.15,
       true},
      {{"uniform", {"scale", "ef", "seed"}, "uniform:scale=22,ef=16,seed=1"},
       families::uniform,
       0,
       0,
       0,
       false},
      {{"grid", {"drop", "seed", "permute"}, "grid:4096x4096,drop=0.3,seed=1"},
       families::grid,
       0,
       0,
       0,
       false},
      {{"powerlaw",
        {"vertices", "edges", "skew", "top", "seed", "permute"},
        "powerlaw:vertices=1e6,edges=1e7,skew=0.7"},
       families::powerlaw,
       0,
       0,
       0,
       true}};
  return entries;
}

constexpr std::uint64_t max_vertices = std::numeric_limits<std::uint32_t>::max();

void parse_sides(generator_spec& spec, std::string const& value) {
  std::size_t const x = value.find('x');
  if (x == std::string::npos)
    detail::reject("a grid without its size", "'" + value + "'",
                   "write ROWSxCOLUMNS, as in grid:4096x4096");
  spec.rows = count_setting("rows", value.substr(0, x), 1, max_vertices);
  spec.columns = count_setting("columns", value.substr(x + 1), 1, max_vertices);
  if (spec.rows > max_vertices / spec.columns)
    detail::reject("a grid has too many vertices", "'" + value + "'",
                   "choose at most " + std::to_string(max_vertices));
}

void set(generator_spec& spec, std::string const& key, std::string const& value) {
  if (key == "scale") spec.scale = count_setting(key, value, 1, 31);
  if (key == "ef") spec.edge_factor = count_setting(key, value, 1, 1u << 20);
  if (key == "seed")
    spec.seed = count_setting(key, value, 0, std::numeric_limits<std::uint64_t>::max());
  if (key == "permute") spec.permute = count_setting(key, value, 0, 1) == 1;
  if (key == "vertices") spec.listed_vertices = count_setting(key, value, 1, max_vertices);
  if (key == "edges") spec.listed_edges = count_setting(key, value, 1, std::uint64_t(1) << 40);
  if (key == "skew") spec.skew = number_setting(key, value, 0, 2, true);
  if (key == "top") spec.top = count_setting(key, value, 0, max_vertices);
  if (key == "drop") spec.drop = chance_setting(key, value);
  if (key == "a") spec.a = chance_setting(key, value);
  if (key == "b") spec.b = chance_setting(key, value);
  if (key == "c") spec.c = chance_setting(key, value);
}

/// Returns x in the fewest digits that parse as x again.
std::string shortest(double x) {
  char text[40];
  auto const end = std::to_chars(text, text + sizeof(text), x, std::chars_format::general).ptr;
  return {text, end};
}

}  // namespace

std::uint64_t generator_spec::vertices() const {
  if (family == families::powerlaw) return listed_vertices;
  return family == families::grid ? rows * columns : std::uint64_t(1) << scale;
}

std::uint64_t generator_spec::candidates() const {
  if (family == families::powerlaw) return listed_edges;
  return family == families::grid ? 2 * rows * columns : edge_factor << scale;
}

bool is_generator(std::string const& graph) {
  std::size_t const colon = graph.find(':');
  return colon != std::string::npos && colon > 0 &&
         std::all_of(graph.begin(), graph.begin() + static_cast<std::ptrdiff_t>(colon),
                     [](char ch) { return std::isalpha(static_cast<unsigned char>(ch)) != 0; });
}

generator_spec parse_generator(std::string const& text) {
  family_entry const& family = find_family(all_families(), "generator", text);
  generator_spec spec;
  spec.family = family.family;
  spec.a = family.a;
  spec.b = family.b;
  spec.c = family.c;
  spec.permute = family.permute;
  std::string settings = text;
  if (spec.family == families::grid) {
    std::size_t const begin = std::min(text.find(':'), text.size() - 1) + 1;
    std::size_t const end = std::min(text.find(',', begin), text.size());
    parse_sides(spec, text.substr(begin, end - begin));
    settings.erase(begin, end + 1 - begin);
  }
  for_each_setting(settings, family, [&](std::string const& key, std::string const& value) {
    set(spec, key, value);
  });
  if (spec.a + spec.b + spec.c > 1 + 1e-9)
    detail::reject("a, b and c of a generator are out of range",
                   "their sum is " + shortest(spec.a + spec.b + spec.c),
                   "choose chances whose sum is at most 1");
  return spec;
}

std::string to_string(generator_spec const& spec) {
  auto const& entries = all_families();
  family_entry const& family =
      *std::find_if(entries.begin(), entries.end(),
                    [&](family_entry const& f) { return f.family == spec.family; });
  std::string text = family.name + ':';
  if (spec.family == families::grid)
    text += std::to_string(spec.rows) + 'x' + std::to_string(spec.columns);
  for (std::string const& key : family.keys) {
    if (text.back() != ':') text += ',';
    text += key + '=';
    if (key == "scale") text += std::to_string(spec.scale);
    if (key == "ef") text += std::to_string(spec.edge_factor);
    if (key == "seed") text += std::to_string(spec.seed);
    if (key == "permute") text += spec.permute ? '1' : '0';
    if (key == "vertices") text += std::to_string(spec.listed_vertices);
    if (key == "edges") text += std::to_string(spec.listed_edges);
    if (key == "skew") text += shortest(spec.skew);
    if (key == "top") text += std::to_string(spec.top);
    if (key == "drop") text += shortest(spec.drop);
    if (key == "a") text += shortest(spec.a);
    if (key == "b") text += shortest(spec.b);
    if (key == "c") text += shortest(spec.c);
  }
  return text;
}

}  // namespace karpos::perf
