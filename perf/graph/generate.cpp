// SPDX-License-Identifier: Apache-2.0
#include "perf/graph/generate.hpp"

#include "perf/graph/generate_on.hpp"

namespace karpos::perf {

template <class Offset>
csr_graph<std::uint32_t, Offset, memory> generate(space const& exec, generator_spec const& spec,
                                                  generator_progress const& report) {
  return generate_on<Offset>(exec, spec, report);
}

template csr_graph<std::uint32_t, std::uint32_t, memory> generate(space const&,
                                                                  generator_spec const&,
                                                                  generator_progress const&);
template csr_graph<std::uint32_t, std::uint64_t, memory> generate(space const&,
                                                                  generator_spec const&,
                                                                  generator_progress const&);

}  // namespace karpos::perf
