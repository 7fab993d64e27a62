// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace karpos::detail {

/// A Kokkos view of a rank. Unlike view_1d it does not explain, so that calls may be overloaded.
template <class T, int Rank>
concept view_of_rank =
    Kokkos::is_view_v<std::remove_cvref_t<T>> && std::remove_cvref_t<T>::rank() == Rank;

}  // namespace karpos::detail
