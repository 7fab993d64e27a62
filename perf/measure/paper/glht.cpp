// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/papers.hpp"

namespace karpos::perf::paper {

publication glht_paper() {
  publication paper;
  paper.id = "glht";
  paper.title = "GPU lock-free hopscotch hash table";
  paper.reference = "Zhang, Sun, 2019";
  return paper;
}

}  // namespace karpos::perf::paper
