// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/subjects/pair_sorter_host.hpp"
#include "perf/measure/subjects/sorted_array.hpp"

namespace karpos::perf {
namespace {

register_host_peer<sorted_array> const registration("sorted", "array sorted by std::sort");

}  // namespace
}  // namespace karpos::perf
