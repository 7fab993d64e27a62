# SPDX-License-Identifier: Apache-2.0
#
# How the tests compile: most of their time would go into parsing Kokkos again for each unit, and into optimising code
# that runs for milliseconds.

set(karpos_test_optimisation "")
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT "cuda" IN_LIST KARPOS_KOKKOS_SPACES)
  set(karpos_test_optimisation -Og)
endif()
set(KARPOS_TEST_OPTIMISATION "${karpos_test_optimisation}" CACHE STRING
  "Optimisation of the tests in a Release build; empty: that of the build type")

add_library(karpos_test_options INTERFACE)
if(KARPOS_TEST_OPTIMISATION)
  target_compile_options(karpos_test_options INTERFACE $<$<CONFIG:Release>:${KARPOS_TEST_OPTIMISATION}>)
  target_compile_definitions(karpos_test_options INTERFACE KARPOS_FLATTEN=)  # step_function.hpp
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Below -O2, GCC takes the address of an empty functor for a use of its value.
    target_compile_options(karpos_test_options INTERFACE $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
  endif()
endif()

# What every test includes, parsed once.
if(KARPOS_PRECOMPILED)
  file(CONFIGURE OUTPUT precompiled.cpp CONTENT "")
  add_library(karpos_test_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(karpos_test_precompiled
    PRIVATE karpos::karpos doctest::doctest karpos_build_options karpos_test_options)
  target_precompile_headers(karpos_test_precompiled PRIVATE
    <Kokkos_Core.hpp> <doctest/doctest.h> <algorithm> <functional> <map> <random> <set> <string> <unordered_map> <vector>)
endif()

# Gives a target the optimisation of the tests and the precompiled header.
function(karpos_use_test_options target)
  target_link_libraries(${target} PRIVATE karpos_test_options)
  if(TARGET karpos_test_precompiled)
    target_precompile_headers(${target} REUSE_FROM karpos_test_precompiled)
  endif()
endfunction()
