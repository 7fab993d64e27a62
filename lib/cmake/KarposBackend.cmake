# SPDX-License-Identifier: Apache-2.0
#
# KARPOS_BACKEND, checked against the Kokkos that was found. It picks what is built and tested; it never changes a type.
#
#   KARPOS_TEST_SPACES    the execution spaces to test (of serial openmp threads cuda)
#   KARPOS_DRIVER_SPACE   the C++ name of the driver's execution space

set(karpos_space_serial Kokkos::Serial)
set(karpos_space_openmp Kokkos::OpenMP)
set(karpos_space_threads Kokkos::Threads)
set(karpos_space_cuda Kokkos::Cuda)

if(KARPOS_BACKEND STREQUAL "auto")
  set(KARPOS_TEST_SPACES ${KARPOS_KOKKOS_SPACES})
  set(KARPOS_DRIVER_SPACE Kokkos::DefaultExecutionSpace)
elseif(NOT DEFINED karpos_space_${KARPOS_BACKEND})
  message(FATAL_ERROR "KARPOS_BACKEND is '${KARPOS_BACKEND}', but it must be one of auto, serial, openmp, threads and cuda.")
elseif(NOT KARPOS_BACKEND IN_LIST KARPOS_KOKKOS_SPACES)
  list(JOIN KARPOS_KOKKOS_SPACES ", " spaces)
  message(FATAL_ERROR
    "KARPOS_BACKEND is '${KARPOS_BACKEND}', but this Kokkos ${KARPOS_KOKKOS_VERSION} has only ${spaces}. Choose one of these, "
    "or set Kokkos_ROOT to a Kokkos with that backend.")
else()
  set(KARPOS_TEST_SPACES ${KARPOS_BACKEND})
  set(KARPOS_DRIVER_SPACE ${karpos_space_${KARPOS_BACKEND}})
endif()
