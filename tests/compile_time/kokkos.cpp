// SPDX-License-Identifier: Apache-2.0
// What every unit pays, whatever it does.
#include <Kokkos_Core.hpp>
