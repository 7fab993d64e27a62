// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace karpos {

/// How an iterative algorithm (levels of a search, strides of a query) is run on a device. Results do not depend on it.
enum class launch_mode {
  automatic,         ///< the faster one that the device can do
  kernel_per_step,   ///< a kernel for every step, launched from the host: on every backend
  persistent_kernel  ///< one cooperative kernel with a grid barrier after every step: CUDA
};

}  // namespace karpos
