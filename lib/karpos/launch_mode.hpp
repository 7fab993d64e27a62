// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace karpos {

/// The way in which a device runs the steps of an iterative algorithm: levels of a search, or
/// batches of levels of a ranked query. Results do not depend on it.
enum class launch_mode {
  automatic,         ///< the faster mode that the device supports
  kernel_per_step,   ///< the host launches a kernel for every step; on every backend
  persistent_kernel  ///< one cooperative kernel, with a grid barrier after every step; CUDA only
};

}  // namespace karpos
