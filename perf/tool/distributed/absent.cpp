// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/command.hpp"
#include "perf/tool/distributed/over_ranks.hpp"

namespace karpos::perf {
namespace {

[[noreturn]] int refuse() {
  throw bad_input(
      "--distributed does not apply (this build has no MPI): install one (Debian: libopenmpi-dev "
      "openmpi-bin) and configure again");
}

}  // namespace

int bfs_over_ranks(bfs_parameters const&, bool) { refuse(); }
std::vector<rank_search_result> search_over_ranks(rank_search_plan const&, bfs_parameters const&) {
  refuse();
}
int count_over_ranks(count_options const&) { refuse(); }
int hash_over_ranks(hash_parameters const&, bool) { refuse(); }
void print_once(std::function<void()> const& print) { print(); }

}  // namespace karpos::perf
