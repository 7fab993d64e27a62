// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/subjects/pair_sorter_cuda.hpp"
#include "perf/measure/subjects/sort_join_steps.hpp"

namespace karpos::perf {
namespace {

register_sort_join<sort_join_by_bisection> const registration;

}  // namespace
}  // namespace karpos::perf
