// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph/generate.hpp"

#include "perf/measure/graph/generate_on.hpp"

namespace karpos::perf {

template <class Offset>
csr_graph<std::uint32_t, Offset, memory> generate(space const& exec, generator_spec const& spec,
                                                  generator_progress const& report,
                                                  csr_options const& options) {
  return generate_on<Offset>(exec, spec, report, options);
}

template csr_graph<std::uint32_t, std::uint32_t, memory> generate(space const&,
                                                                  generator_spec const&,
                                                                  generator_progress const&,
                                                                  csr_options const&);
template csr_graph<std::uint32_t, std::uint64_t, memory> generate(space const&,
                                                                  generator_spec const&,
                                                                  generator_progress const&,
                                                                  csr_options const&);

}  // namespace karpos::perf
