// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/markup.hpp"
#include "perf/measure/paper/report.hpp"
#include "perf/measure/support/context.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf::paper {
namespace {

constexpr char const* page_style = R"(
body{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;line-height:1.5;color:#1f2328;background:#fff;
max-width:50rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.2rem;margin-top:2.5rem;border-top:1px solid #d0d7de;padding-top:1rem}
svg{max-width:100%;height:auto}.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem}th,td{border-bottom:1px solid #d0d7de;padding:.2rem .6rem;text-align:right}
th:first-child,td:first-child{text-align:left}.claims td{text-align:left;vertical-align:top}
code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;background:#f6f8fa;padding:.1rem .3rem}
.faint{color:#57606a;font-size:.85rem}.holds{color:#1a7f37}.no{color:#bc4c00}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}h2,th,td{border-color:#30363d}
code{background:#161b22}.faint{color:#9da7b3}.holds{color:#3fb950}.no{color:#f0883e}}
)";

std::string tag(std::string const& name, std::string const& text, std::string const& kind = {}) {
  return "<" + name + (kind.empty() ? "" : " class=\"" + kind + "\"") + ">" + text + "</" + name +
         ">";
}

std::string table_of(std::vector<std::vector<std::string>> const& cells) {
  std::string rows;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::string row;
    for (std::string const& cell : cells[r]) row += tag(r == 0 ? "th" : "td", escaped(cell));
    rows += tag("tr", row) + "\n";
  }
  return tag("div", tag("table", rows), "wide") + "\n";
}

std::string claims_of(figure const& f) {
  if (f.claims.empty()) return {};
  std::string rows = "<tr><td>the paper says</td><td>here</td><td>why</td></tr>\n";
  for (claim const& c : f.claims)
    rows += tag("tr", tag("td", escaped(c.text)) +
                          tag("td", verdict(c),
                              !c.holds   ? "faint"
                              : *c.holds ? "holds"
                                         : "no") +
                          tag("td", escaped(c.because))) +
            "\n";
  return tag("div", tag("table", rows, "claims"), "wide") + "\n";
}

std::string section_of(paper_run const& run, measured_figure const& f) {
  std::string text = "<section id=\"" + escaped(f.entry.number) + "\">\n" +
                     tag("h2", escaped(f.entry.name() + ": " + f.content.title)) + "\n" +
                     svg_of(f, false);
  if (auto const cells = cells_of(f.content); !cells.empty())
    text += tag("p", escaped(f.content.y.label)) + "\n" + table_of(cells);
  if (!f.content.table.empty()) text += table_of(f.content.table);
  text += claims_of(f.content);
  for (std::string const& remark : remarks_of(run, f))
    text += tag("p", escaped(remark), "faint") + "\n";
  return text +
         tag("p", "Again: " + tag("code", escaped(run.command(f.entry))) + " (took " +
                      human_seconds(f.seconds) +
                      "); one value alone: " + tag("code", escaped(f.entry.command))) +
         "\n</section>\n";
}

}  // namespace

std::string page_of(paper_run const& run) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n";
  text += tag("title", "Reproduced: " + escaped(run.paper.title)) + "\n" +
          tag("style", page_style + svg_style()) + "\n</head>\n<body>\n" +
          tag("h1", escaped(run.paper.title)) + "\n" + tag("p", escaped(run.paper.reference)) +
          "\n" +
          tag("p", "Measured by Karpos on " + escaped(run_description(run.how_much.repetitions())) +
                       (run.how_much.quick ? ", at small sizes (--quick)" : "") +
                       ". Published values, in dashed grey, are of " + escaped(run.paper.hardware) +
                       ".") +
          "\n";
  for (measured_figure const& f : run.figures) text += section_of(run, f);
  return text + "</body>\n</html>\n";
}

}  // namespace karpos::perf::paper
