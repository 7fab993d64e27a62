// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/papers.hpp"

namespace karpos::perf::paper {

publication cucollections_paper() {
  publication paper;
  paper.id = "cucollections";
  paper.title = "Maximizing performance with massively parallel hash maps on GPUs";
  paper.reference = "NVIDIA technical blog, about cuCollections, 2023";
  return paper;
}

}  // namespace karpos::perf::paper
