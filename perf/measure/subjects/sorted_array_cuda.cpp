// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/subjects/pair_sorter_cuda.hpp"
#include "perf/measure/subjects/sorted_array.hpp"

namespace karpos::perf {
namespace {

register_subject<sorted_array> const registration("sorted", "array sorted by cub::DeviceRadixSort",
                                                  true);

}  // namespace
}  // namespace karpos::perf
