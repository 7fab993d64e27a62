// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/papers.hpp"

namespace karpos::perf::paper {

publication enterprise_paper() {
  publication paper;
  paper.id = "enterprise";
  paper.title = "Enterprise: breadth-first graph traversal on GPUs";
  paper.reference = "Liu, Huang, SC 2015";
  return paper;
}

}  // namespace karpos::perf::paper
