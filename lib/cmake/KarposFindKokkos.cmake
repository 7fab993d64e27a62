# SPDX-License-Identifier: Apache-2.0
#
# Finds Kokkos, in the order below, and prints which one was taken.
#
#   1. a target Kokkos::kokkos that already exists           (a parent project brought it)
#   2. find_package(Kokkos 4.6...<6)                         (Kokkos_ROOT, CMAKE_PREFIX_PATH, system)
#   3. the release below, downloaded and built here          (KARPOS_FETCH_KOKKOS, on at top level)
#   4. Debian's packages, unpacked into KARPOS_KOKKOS_CACHE  (KARPOS_DEBIAN_KOKKOS, never on by itself)
#
# Afterwards: KARPOS_KOKKOS_SPACES (of serial openmp threads cuda hip sycl), KARPOS_KOKKOS_VERSION, and KARPOS_KOKKOS_LINK_OPTIONS:
# what executables of this build, or of a parent project's, need in addition, nearly always nothing. An installed package
# finds out for itself.

include(${CMAKE_CURRENT_LIST_DIR}/KarposKokkosSpaces.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/KarposKokkosLink.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/KarposFetch.cmake)

set(karpos_kokkos_release 5.0.2)
set(karpos_kokkos_sha256 188817bb452ca805ee8701f1c5adbbb4fb83dc8d1c50624566a18a719ba0fa5e)

# 3. Builds the pinned release as a part of this build, with the backend that was asked for.
macro(karpos_fetch_kokkos)
  set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "Kokkos' serial execution space")
  if(KARPOS_BACKEND STREQUAL "threads")
    set(Kokkos_ENABLE_THREADS ON CACHE BOOL "Kokkos' execution space on C++ threads")
  elseif(KARPOS_BACKEND STREQUAL "cuda")
    set(Kokkos_ENABLE_CUDA ON CACHE BOOL "Kokkos' execution space on CUDA")
  elseif(NOT KARPOS_BACKEND STREQUAL "serial")
    find_package(OpenMP QUIET COMPONENTS CXX)
    set(Kokkos_ENABLE_OPENMP ${OpenMP_CXX_FOUND} CACHE BOOL "Kokkos' execution space on OpenMP")
  endif()
  karpos_fetch(Kokkos
    https://github.com/kokkos/kokkos/releases/download/${karpos_kokkos_release}/kokkos-${karpos_kokkos_release}.tar.gz
    SHA256 ${karpos_kokkos_sha256})
endmacro()

# 4. Unpacks Debian's packages (see the script for the why) and finds the Kokkos in them.
macro(karpos_debian_kokkos)
  message(STATUS "Karpos: taking Kokkos from Debian's packages instead, unpacked in ${KARPOS_KOKKOS_CACHE}; nothing is installed")
  execute_process(
    COMMAND ${PROJECT_SOURCE_DIR}/lib/cmake/fetch_debian_kokkos.sh ${KARPOS_KOKKOS_CACHE}
    OUTPUT_VARIABLE karpos_debian_prefix OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_package(Kokkos 4.6...<6 CONFIG QUIET REQUIRED PATHS ${karpos_debian_prefix} NO_DEFAULT_PATH)
endmacro()

if(TARGET Kokkos::kokkos)
  set(karpos_kokkos_origin "the target of the parent project")
else()
  find_package(Kokkos 4.6...<6 CONFIG QUIET)
  if(NOT Kokkos_FOUND AND KARPOS_FETCH_KOKKOS)
    karpos_fetch_kokkos()
    set(karpos_kokkos_origin "release ${karpos_kokkos_release}, downloaded and built here")
  endif()
  if(NOT TARGET Kokkos::kokkos AND KARPOS_DEBIAN_KOKKOS)
    karpos_debian_kokkos()
  endif()
  if(Kokkos_FOUND)
    set(karpos_kokkos_origin "${Kokkos_DIR}")
  endif()
endif()
if(NOT TARGET Kokkos::kokkos)
  message(FATAL_ERROR
    "Karpos needs Kokkos 4.6 or newer, before 6, and found none. Set Kokkos_ROOT to an installed Kokkos, or let Karpos "
    "download it (KARPOS_FETCH_KOKKOS=ON), or unpack Debian's (KARPOS_DEBIAN_KOKKOS=ON).")
endif()

karpos_kokkos_spaces(KARPOS_KOKKOS_SPACES KARPOS_KOKKOS_VERSION karpos_obstacle)
if(karpos_obstacle)
  message(FATAL_ERROR "${karpos_obstacle}")
endif()
if(NOT KARPOS_KOKKOS_SPACES)
  message(FATAL_ERROR "Kokkos (${karpos_kokkos_origin}) has none of the backends that Karpos knows: serial openmp threads cuda hip sycl")
endif()
list(JOIN KARPOS_KOKKOS_SPACES " " spaces)
message(STATUS "Karpos: Kokkos ${KARPOS_KOKKOS_VERSION} with ${spaces} (${karpos_kokkos_origin})")

karpos_kokkos_link_options(KARPOS_KOKKOS_LINK_OPTIONS)
if(KARPOS_KOKKOS_LINK_OPTIONS)
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)  # nobody else would tell an installed program where this Kokkos is
  message(STATUS "Karpos: this Kokkos needs a newer C library than the system's; executables of this build use the one beside it")
endif()

# Kokkos with CUDA puts a launcher before the compiler, and this looks for the compiler as its first argument.
get_property(karpos_kokkos_launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
if(karpos_kokkos_launcher AND CMAKE_CXX_COMPILER_LAUNCHER)
  message(STATUS "Karpos: ${CMAKE_CXX_COMPILER_LAUNCHER} is left out, it does not go with Kokkos' compiler launcher")
  set(CMAKE_CXX_COMPILER_LAUNCHER "")
endif()
