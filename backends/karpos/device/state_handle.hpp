// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

namespace karpos::device {

/// State that the steps of a program share, copied into each step: for steps that are GPU kernels
/// of their own.
template <class State>
struct state_copy {
  using state = State;
  State value;
  KOKKOS_FUNCTION State const& operator*() const { return value; }
  KOKKOS_FUNCTION State const* operator->() const { return &value; }
};
/// State that the steps of a program share, by address: for steps on CPUs, and for steps inside one
/// kernel, where a copy would lie in local memory.
template <class State>
struct state_pointer {
  using state = State;
  State const* where;
  KOKKOS_FUNCTION State const& operator*() const { return *where; }
  KOKKOS_FUNCTION State const* operator->() const { return where; }
};

}  // namespace karpos::device
