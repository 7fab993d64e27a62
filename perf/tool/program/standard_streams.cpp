// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/program/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace karpos::perf {

void occupy_standard_streams() {
  // With this, writing to a file that grows too large fails, and the error is reported.
  std::signal(SIGXFSZ, SIG_IGN);
  for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) {
      // The modes are swapped, so that reading closed input and printing to closed output fails.
      int const mode = stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
      [[maybe_unused]] int const lowest_free = open("/dev/null", mode);
    }
}

bool finish_standard_output() {
  errno = 0;
  std::cout.flush();
  bool const flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) return true;
  std::fprintf(stderr,
               "karpos: cannot write to standard output (%s): what is there is not whole, send it "
               "elsewhere\n",
               errno != 0 ? std::strerror(errno) : "an earlier line failed");
  return false;
}

}  // namespace karpos::perf
