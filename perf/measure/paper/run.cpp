// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/run.hpp"

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <cmath>
#include <exception>

#include "perf/measure/bfs/rank_searches.hpp"
#include "perf/measure/support/host_memory.hpp"

namespace karpos::perf::paper {
namespace {

/// Reports the progress of one figure as that of the whole run, with the time that is left.
class figure_progress {
 public:
  figure_progress(std::string const& what, Kokkos::Timer const& clock)
      : m_bar(what),
        m_clock(clock) {}

  void show(double done, std::string const& note) {
    constexpr double least = 0.02;  // before that nothing can be said about the time left
    auto const left = static_cast<std::uint64_t>(
        done < least ? 0 : std::ceil(m_clock.seconds() * (1 - done) / done));
    m_bar.show(done, left < 2 ? note
                              : note + ", " +
                                    (left < 120 ? std::to_string(left) + " s left"
                                                : std::to_string(left / 60) + " min left"));
  }

 private:
  progress m_bar;
  Kokkos::Timer const& m_clock;
};

measured_figure measure_figure(figure_entry const& entry, scale const& how_much,
                               reporter const& report) {
  measured_figure m;
  m.entry = entry;
  Kokkos::Timer const clock;
  try {
    m.content = entry.measure(how_much, report);
    for (claim& c : m.content.claims) withhold_verdict(c, how_much.quick, !on_host);
  } catch (std::exception const& e) {
    m.failure = e.what();
    m.failed = !is_lack_of_memory(e);
  }
  if (m.content.title.empty()) m.content.title = entry.title;
  m.seconds = clock.seconds();
  return m;
}

}  // namespace

std::string paper_run::command(figure_entry const& f) const {
  std::string graphs;
  for (std::string const& g : how_much.graphs) graphs += " --graph " + g;
  return (f.over_ranks ? "mpirun -n " + std::to_string(std::max(2, started_ranks())) + " " : "") +
         "karpos paper " + paper.id + " --figure " + f.number + (how_much.quick ? " --quick" : "") +
         graphs;
}

paper_run run_paper(publication const& paper, std::vector<figure_entry> const& figures,
                    scale const& how_much,
                    std::function<void(paper_run const&, measured_figure const&)> const& use) {
  paper_run run{paper, how_much, {}};
  double all = 0, before = 0;
  for (figure_entry const& f : figures) all += f.share;
  Kokkos::Timer const clock;
  for (figure_entry const& f : figures) {
    {
      figure_progress bar("karpos paper " + paper.id, clock);
      run.figures.push_back(measure_figure(f, how_much, [&](double part, std::string const& what) {
        bar.show((before + f.share * part) / all, f.name() + ": " + what);
      }));
    }
    before += f.share;
    use(run, run.figures.back());
  }
  return run;
}

}  // namespace karpos::perf::paper
