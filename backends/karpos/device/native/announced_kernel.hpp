// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

namespace karpos::device {

/// Announces a kernel that Kokkos does not launch to Kokkos Tools, as a parallel_for: its begin
/// when this object is made, its end when it is destroyed. The launch lies between. A tool that
/// wants fences around kernels gets them from Kokkos. A launch that is refused is announced, too.
class announced_kernel {
 public:
  template <class ExecSpace>
  announced_kernel(std::string const& label, ExecSpace const& exec) {
    Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &m_id);
  }
  announced_kernel(announced_kernel const&) = delete;
  ~announced_kernel() {
    try {
      Kokkos::Tools::endParallelFor(m_id);
    } catch (...) {  // a fence has found that a kernel failed: the next call finds it, too
    }
  }

 private:
  std::uint64_t m_id = 0;
};

}  // namespace karpos::device
