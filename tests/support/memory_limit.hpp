// SPDX-License-Identifier: Apache-2.0
/// \file
/// What happens without memory.
#pragma once

#include <sys/resource.h>

namespace karpos_test {

/// Bounds the memory of this process while it lives, where that means something.
class memory_limit {
 public:
  explicit memory_limit(rlim_t bytes) {
    getrlimit(RLIMIT_DATA, &m_before);
    rlimit const limit{bytes, m_before.rlim_max};
    setrlimit(RLIMIT_DATA, &limit);
  }
  memory_limit(memory_limit const&) = delete;
  ~memory_limit() { setrlimit(RLIMIT_DATA, &m_before); }

 private:
  rlimit m_before{};
};

}  // namespace karpos_test
