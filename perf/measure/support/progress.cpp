// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/progress.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace karpos::perf {
namespace {

double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

progress::progress(std::string what)
    : m_what(std::move(what)),
      m_terminal(isatty(STDERR_FILENO) == 1) {}

progress::~progress() {
  if (m_terminal) std::fputs("\r\033[K", stderr);  // leaves no trace between the lines of stdout
}

void progress::show(double part, std::string const& note) {
  if (!m_terminal || seconds() < m_next) return;
  m_next = seconds() + 0.1;
  constexpr int width = 30;
  int const filled = static_cast<int>(part * width);
  std::string const bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(width - filled), '.');
  std::fprintf(stderr, "\r\033[K%s [%s] %3d %% %s", m_what.c_str(), bar.c_str(),
               static_cast<int>(part * 100), note.c_str());
  std::fflush(stderr);
}

}  // namespace karpos::perf
