// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/contract.hpp"

namespace karpos {

/// The way in which a device runs the steps of an iterative algorithm: the levels of a search, the
/// rounds of shortest paths, or the batches of levels of top_k (its strides). Results do not depend
/// on it.
enum class launch_mode {
  automatic,         ///< the faster mode that the device supports
  kernel_per_step,   ///< the host launches a kernel for every step; on every backend
  persistent_kernel  ///< one cooperative kernel, with a grid barrier after every step; CUDA only
};

namespace detail {
template <>
inline constexpr enumeration<launch_mode> enumeration_of<launch_mode> = {
    "launch mode", "launch_mode", launch_mode::persistent_kernel};
}  // namespace detail

}  // namespace karpos
