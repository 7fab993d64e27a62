// SPDX-License-Identifier: Apache-2.0
#include <karpos/unordered_map.hpp>
