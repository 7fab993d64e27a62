// SPDX-License-Identifier: Apache-2.0
#pragma once

// The former name of karpos/hash_table.hpp, until 0.2.

#include "karpos/hash_table.hpp"
