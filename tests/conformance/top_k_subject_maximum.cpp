// SPDX-License-Identifier: Apache-2.0
#include "support/top_k_subject.hpp"

template class karpos_test::top_k_subject<std::uint32_t, float, karpos::max_score>;
