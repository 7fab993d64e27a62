// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "perf/measure/paper/markup.hpp"
#include "perf/measure/paper/report.hpp"
#include "perf/measure/support/cells.hpp"

// Pictures in the style and the colours of docs/site/svg.py.

namespace karpos::perf::paper {
namespace {

constexpr double picture_width = 760, small_letter = 6.3;  // pixels

/// Returns a length in pixels, with one decimal.
std::string px(double x) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.1f", x);
  return text;
}

/// Returns a number without zeros at its end: "0.1".
std::string tick_text(double x) {
  std::string text = number_text(x);
  if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// The range of an axis, and where its values are drawn.
class scale_of_axis {
 public:
  scale_of_axis(double from, double to, double begin, double end, bool logarithmic)
      : m_from(from),
        m_to(to),
        m_begin(begin),
        m_end(end),
        m_logarithmic(logarithmic && from > 0) {
    if (m_from == m_to) m_to = m_from + 1;
  }
  double operator()(double value) const {
    double const part = (on_scale(value) - on_scale(m_from)) / (on_scale(m_to) - on_scale(m_from));
    return m_begin + part * (m_end - m_begin);
  }
  double from() const { return m_from; }
  double to() const { return m_to; }
  bool is_logarithmic() const { return m_logarithmic; }

 private:
  double on_scale(double value) const {
    return m_logarithmic ? std::log10(std::max(value, m_from)) : value;
  }
  double m_from, m_to, m_begin, m_end;
  bool m_logarithmic;
};

/// Returns the smallest of 1, 2, 2.5, 5, 10 times a power of ten that is at least x.
double nice_step(double x) {
  double const power = std::pow(10, std::floor(std::log10(x)));
  for (double const m : {1.0, 2.0, 2.5, 5.0})
    if (power * m >= x) return power * m;
  return 10 * power;
}

/// Returns the largest (or, upwards, the smallest) of 1, 2, 5 times a power of ten beside x.
double nice_bound(double x, bool upwards) {
  double const power = std::pow(10, std::floor(std::log10(x)));
  double below = power;
  for (double const m : {1.0, 2.0, 5.0, 10.0}) {
    if (power * m >= x * (1 - 1e-9)) return upwards || power * m <= x ? power * m : below;
    below = power * m;
  }
  return 10 * power;
}

std::vector<double> ticks_of(scale_of_axis const& s) {
  std::vector<double> ticks;
  if (!s.is_logarithmic()) {
    double const step = nice_step((s.to() - s.from()) / 6);
    for (double t = s.from(); t <= s.to() + step * 1e-6; t += step) ticks.push_back(t);
    return ticks;
  }
  bool const few = s.to() / s.from() < 200;
  for (double power = std::pow(10, std::floor(std::log10(s.from()))); power <= s.to(); power *= 10)
    for (double const m : {1.0, 2.0, 5.0})
      if ((m == 1 || few) && power * m >= s.from() * 0.999 && power * m <= s.to() * 1.001)
        ticks.push_back(power * m);
  return ticks;
}

/// How a series is drawn.
struct line_style {
  std::string kind, dashes;
  int marker;
};

class chart {
 public:
  explicit chart(measured_figure const& f) : m_figure(f.content) {
    int coloured = 0, other = 0;
    for (series const& s : m_figure.lines) {
      bool const grey = s.from == origin::published || s.from == origin::ceiling;
      int const i = grey ? other++ : coloured++;
      m_styles.push_back({grey ? std::string("published") + (i % 2 == 0 ? "" : " second")
                               : "c" + std::to_string(i % 5),
                          s.from == origin::published ? "5 4"
                          : s.from == origin::ceiling ? "1 3"
                                                      : "",
                          grey ? i % 4 : (i + i / 5) % 4});
    }
    double const legend = 30 + draw_title(f.entry.name() + ": " + m_figure.title, 28);
    m_top = legend + draw_legend(legend) + 38;
  }

  std::string draw(bool with_style) {
    return m_figure.x.categories.empty() ? draw_lines(with_style) : draw_bars(with_style);
  }

 private:
  static constexpr double left = 76, right = picture_width - 34, plot_height = 260;

  void words(double x, double y, std::string const& text, std::string const& kind,
             std::string const& anchor, double turn = 0) {
    m_parts += "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" class=\"" + kind +
               "\" text-anchor=\"" + anchor + "\"";
    if (turn != 0) m_parts += " transform=\"rotate(" + px(turn) + " " + px(x) + " " + px(y) + ")\"";
    m_parts += ">" + escaped(text) + "</text>\n";
  }
  void path(std::vector<point> const& places, std::string const& kind, std::string const& dashes) {
    m_parts += "<path class=\"" + kind + "\" fill=\"none\" stroke-width=\"2\"";
    if (!dashes.empty()) m_parts += " stroke-dasharray=\"" + dashes + "\"";
    m_parts += " d=\"";
    for (std::size_t i = 0; i < places.size(); ++i) {
      m_parts += i == 0 ? 'M' : 'L';
      m_parts += px(places[i].x) + " " + px(places[i].y);
    }
    m_parts += "\"/>\n";
  }
  /// Draws a circle, a square, a triangle, or a diamond.
  void marker(point const& p, line_style const& as) {
    double const r = 4;
    std::vector<point> corners;
    if (as.marker == 1) corners = {{-r, -r}, {r, -r}, {r, r}, {-r, r}};
    if (as.marker == 2) corners = {{0, -r - 1}, {r + 1, r}, {-r - 1, r}};
    if (as.marker == 3) corners = {{0, -r - 1}, {r + 1, 0}, {0, r + 1}, {-r - 1, 0}};
    if (corners.empty()) {
      m_parts += "<circle class=\"" + as.kind + " mark\" cx=\"" + px(p.x) + "\" cy=\"" + px(p.y) +
                 "\" r=\"" + px(r) + "\"/>\n";
      return;
    }
    m_parts += "<polygon class=\"" + as.kind + " mark\" points=\"";
    for (point const& c : corners) m_parts += px(p.x + c.x) + "," + px(p.y + c.y) + " ";
    m_parts += "\"/>\n";
  }
  void bar(double x, double y, double width, double height, line_style const& as) {
    m_parts += "<rect class=\"" + as.kind + " bar\" x=\"" + px(x) + "\" y=\"" + px(y) +
               "\" width=\"" + px(width) + "\" height=\"" + px(std::max(height, 1.0)) + "\"/>\n";
  }

  /// Draws a text in as many lines as it needs. Returns the lower end.
  double draw_title(std::string const& text, double y) {
    constexpr std::size_t most = 76;  // letters of a line
    std::string line = text, rest;
    if (std::size_t const cut = text.rfind(' ', most); text.size() > most && cut != text.npos)
      line = text.substr(0, cut), rest = text.substr(cut + 1);
    words(20, y, line, "bold large", "start");
    return rest.empty() ? y : draw_title(rest, y + 20);
  }
  /// Draws names with their lines and markers. Returns the height.
  double draw_legend(double y) {
    double at = 20, down = 0;
    for (std::size_t i = 0; i < m_styles.size(); ++i) {
      series const& s = m_figure.lines[i];
      if (s.points.empty()) continue;
      std::string const name = s.from == origin::published ? s.name + " (published)" : s.name;
      double const need = 46 + small_letter * static_cast<double>(width_of(name));
      if (at > 20 && at + need > picture_width - 20) at = 20, down += 18;
      path({{at, y + down - 4}, {at + 22, y + down - 4}}, m_styles[i].kind, m_styles[i].dashes);
      marker({at + 11, y + down - 4}, m_styles[i]);
      words(at + 28, y + down, name, "small", "start");
      at += need;
    }
    return down;
  }

  scale_of_axis y_scale() const {
    double low = HUGE_VAL, high = 0;
    for (series const& s : m_figure.lines) {
      low = std::min(low, least(s).value_or(low));
      high = std::max(high, largest(s).value_or(high));
    }
    double const bottom = m_top + plot_height;
    bool const logarithmic = m_figure.y.logarithmic && low > 0;
    if (logarithmic)
      return {nice_bound(low * (m_figure.x.categories.empty() ? 1 : 0.8), false),
              nice_bound(high * 1.05, true), bottom, m_top, true};
    double const step = nice_step(high > 0 ? high * 1.05 / 6 : 1);
    return {0, step * std::ceil(high * 1.05 / step), bottom, m_top, false};
  }

  void draw_y_axis(scale_of_axis const& y) {
    for (double const t : ticks_of(y)) {
      path({{left, y(t)}, {right, y(t)}}, "grid", "");
      words(left - 8, y(t) + 4, tick_text(t), "small faint", "end");
    }
    words(left - 56, m_top - 10, m_figure.y.label, "small", "start");
  }

  std::string draw_lines(bool with_style) {
    std::set<double> xs;
    for (series const& s : m_figure.lines)
      for (point const& p : s.points) xs.insert(p.x);
    if (xs.empty()) return {};
    scale_of_axis const y = y_scale();
    scale_of_axis const x(*xs.begin(), *xs.rbegin(), left + 14, right - 14, m_figure.x.logarithmic);
    draw_y_axis(y);
    double const bottom = m_top + plot_height;
    double last = -1e9;
    for (double const t : xs) {
      double const need = small_letter * static_cast<double>(tick_text(t).size()) + 10;
      if (x(t) - last < need) continue;
      words(x(t), bottom + 18, tick_text(t), "small faint", "middle");
      last = x(t);
    }
    words((left + right) / 2, bottom + 40, m_figure.x.label, "small", "middle");
    for (std::size_t i = 0; i < m_styles.size(); ++i) {
      std::vector<point> places = m_figure.lines[i].points;
      if (places.empty()) continue;
      std::sort(places.begin(), places.end(),
                [](point const& a, point const& b) { return a.x < b.x; });
      for (point& p : places) p = {x(p.x), y(p.y)};
      path(places, m_styles[i].kind, m_styles[i].dashes);
      for (point const& p : places) marker(p, m_styles[i]);
    }
    return finish(bottom + 56, with_style);
  }

  std::string draw_bars(bool with_style) {
    std::vector<std::size_t> drawn;
    for (std::size_t i = 0; i < m_styles.size(); ++i)
      if (!m_figure.lines[i].points.empty()) drawn.push_back(i);
    if (drawn.empty()) return {};
    scale_of_axis const y = y_scale();
    draw_y_axis(y);
    double const bottom = m_top + plot_height;
    auto const groups = static_cast<double>(m_figure.x.categories.size());
    double const slot = (right - left) / groups;
    double const width = std::min(46.0, 0.8 * slot / static_cast<double>(drawn.size()));
    double const used = width * static_cast<double>(drawn.size());
    for (std::size_t d = 0; d < drawn.size(); ++d)
      for (point const& p : m_figure.lines[drawn[d]].points) {
        double const at = left + (p.x + 0.5) * slot - used / 2 + static_cast<double>(d) * width;
        bar(at + 1, y(p.y), width - 2, bottom - y(p.y), m_styles[drawn[d]]);
        if (width >= 28)
          words(at + width / 2, y(p.y) - 5, number_text(p.y), "small faint", "middle");
      }
    return finish(bottom + draw_categories(bottom, slot) + 20, with_style);
  }

  /// Writes the names of the categories, turned if they are long. Returns the height.
  double draw_categories(double bottom, double slot) {
    std::size_t longest = 0;
    for (std::string const& name : m_figure.x.categories)
      longest = std::max(longest, width_of(name));
    double const length = small_letter * static_cast<double>(longest);
    bool const turned = length > slot - 6;
    for (std::size_t i = 0; i < m_figure.x.categories.size(); ++i) {
      double const middle = left + (static_cast<double>(i) + 0.5) * slot;
      words(middle, bottom + 18, m_figure.x.categories[i], "small faint", turned ? "end" : "middle",
            turned ? -35 : 0);
    }
    double const height = 18 + (turned ? 0.6 * length : 0);
    words((left + right) / 2, bottom + height + 22, m_figure.x.label, "small", "middle");
    return height + 22;
  }

  std::string finish(double height, bool with_style) const {
    std::string const w = px(picture_width), h = px(height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h +
           "\" width=\"" + w + "\" height=\"" + h + "\" role=\"img\">\n<title>" +
           escaped(m_figure.title) + "</title>\n" +
           (with_style ? "<style>" + svg_style() + "</style>\n" : "") +
           "<rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"" + px(picture_width - 1) +
           "\" height=\"" + px(height - 1) + "\" rx=\"8\"/>\n" + m_parts + "</svg>\n";
  }

  figure const& m_figure;
  std::vector<line_style> m_styles;
  std::string m_parts;
  double m_top;
};

}  // namespace

std::string svg_style() {
  return R"(
svg text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;font-size:13px;fill:#1f2328}
svg .paper{fill:#ffffff;stroke:#d0d7de}svg .faint{fill:#57606a}svg .bold{font-weight:600}
svg .small{font-size:11px}svg .large{font-size:16px}svg .grid{stroke:#d8dee4;stroke-width:1}
.c0{stroke:#0969da}.c1{stroke:#bc4c00}.c2{stroke:#1a7f37}.c3{stroke:#8250df}.c4{stroke:#9a6700}.published{stroke:#57606a}
.c0.mark,.c0.bar{fill:#0969da}.c1.mark,.c1.bar{fill:#bc4c00}.c2.mark,.c2.bar{fill:#1a7f37}.c3.mark,.c3.bar{fill:#8250df}
.c4.mark,.c4.bar{fill:#9a6700}.published.mark{fill:#ffffff}.published.bar{fill:none;stroke-dasharray:3 3}
.published.second{fill:#8c959f;fill-opacity:.4}
@media(prefers-color-scheme:dark){
svg text{fill:#e6edf3}svg .paper{fill:#161b22;stroke:#30363d}svg .faint{fill:#9da7b3}svg .grid{stroke:#30363d}
.c0{stroke:#58a6ff}.c1{stroke:#f0883e}.c2{stroke:#3fb950}.c3{stroke:#bc8cff}.c4{stroke:#d29922}.published{stroke:#9da7b3}
.c0.mark,.c0.bar{fill:#58a6ff}.c1.mark,.c1.bar{fill:#f0883e}.c2.mark,.c2.bar{fill:#3fb950}.c3.mark,.c3.bar{fill:#bc8cff}
.c4.mark,.c4.bar{fill:#d29922}.published.mark{fill:#161b22}}
)";
}

std::string svg_of(measured_figure const& f, bool with_style) { return chart(f).draw(with_style); }

}  // namespace karpos::perf::paper
