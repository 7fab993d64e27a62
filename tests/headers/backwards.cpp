// SPDX-License-Identifier: Apache-2.0
#include "backwards.hpp"  // made by CMake: every public header
//
#include "headers/use_all.hpp"

karpos_test::answers karpos_test::seen_backwards() { return use_all<double>(); }
std::size_t karpos_test::size_backwards() { return sizeof(types); }
