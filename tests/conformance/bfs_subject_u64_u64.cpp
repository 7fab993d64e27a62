// SPDX-License-Identifier: Apache-2.0
#include "support/bfs_subject.hpp"

template class karpos_test::bfs_subject<std::uint64_t, std::uint64_t>;
