// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/papers.hpp"

namespace karpos::perf::paper {

publication cuckoo_paper() {
  publication paper;
  paper.id = "cuckoo";
  paper.title = "Real-time parallel hashing on the GPU";
  paper.reference =
      "Alcantara, Sharf, Abbasinejad, Sengupta, Mitzenmacher, Owens, Amenta, ACM TOG 28(5), 2009";
  return paper;
}

}  // namespace karpos::perf::paper
