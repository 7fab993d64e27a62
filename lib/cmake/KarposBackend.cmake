# SPDX-License-Identifier: Apache-2.0
#
# KARPOS_BACKEND and KARPOS_NATIVE, checked against the Kokkos that was found. The first picks what is built and tested and
# never changes a type; the second picks how device spaces are used, for those who link karpos::karpos as well.
#
#   KARPOS_TEST_SPACES    the execution spaces to test (of serial openmp threads cuda hip sycl)
#   KARPOS_DRIVER_SPACE   the C++ name of the driver's execution space
#   KARPOS_DEVICE         Kokkos' device space (cuda, hip or sycl), or nothing

set(karpos_space_serial Kokkos::Serial)
set(karpos_space_openmp Kokkos::OpenMP)
set(karpos_space_threads Kokkos::Threads)
set(karpos_space_cuda Kokkos::Cuda)
set(karpos_space_hip Kokkos::HIP)
set(karpos_space_sycl Kokkos::SYCL)

if(KARPOS_BACKEND STREQUAL "auto")
  set(KARPOS_TEST_SPACES ${KARPOS_KOKKOS_SPACES})
  set(KARPOS_DRIVER_SPACE Kokkos::DefaultExecutionSpace)
elseif(NOT DEFINED karpos_space_${KARPOS_BACKEND})
  message(FATAL_ERROR "KARPOS_BACKEND is '${KARPOS_BACKEND}', but it must be one of auto, serial, openmp, threads, cuda, hip and sycl.")
elseif(NOT KARPOS_BACKEND IN_LIST KARPOS_KOKKOS_SPACES)
  list(JOIN KARPOS_KOKKOS_SPACES ", " spaces)
  message(FATAL_ERROR
    "KARPOS_BACKEND is '${KARPOS_BACKEND}', but this Kokkos ${KARPOS_KOKKOS_VERSION} has only ${spaces}. Choose one of these, "
    "or set Kokkos_ROOT to a Kokkos with that backend.")
else()
  set(KARPOS_TEST_SPACES ${KARPOS_BACKEND})
  set(KARPOS_DRIVER_SPACE ${karpos_space_${KARPOS_BACKEND}})
endif()

set(KARPOS_DEVICE ${KARPOS_KOKKOS_SPACES})
list(FILTER KARPOS_DEVICE INCLUDE REGEX "^(cuda|hip|sycl)$")

if(NOT KARPOS_NATIVE MATCHES "^(auto|tuned|generic)$")
  message(FATAL_ERROR "KARPOS_NATIVE is '${KARPOS_NATIVE}', but it must be one of auto, tuned and generic.")
elseif(KARPOS_NATIVE STREQUAL "tuned" AND KARPOS_DEVICE MATCHES "hip|sycl")
  message(FATAL_ERROR
    "KARPOS_NATIVE is 'tuned', but Karpos has no tuned part for ${KARPOS_DEVICE} (only for cuda and CPUs): choose auto or generic.")
endif()
if(KARPOS_DEVICE)
  set(karpos_native_part generic)
  if(KARPOS_DEVICE STREQUAL "cuda" AND NOT KARPOS_NATIVE STREQUAL "generic")
    set(karpos_native_part tuned)
  endif()
  message(STATUS "Karpos: the native part for ${KARPOS_DEVICE} is the ${karpos_native_part} one")
endif()
