// SPDX-License-Identifier: Apache-2.0
// The compile time that every unit pays, whatever it uses.
#include <Kokkos_Core.hpp>
