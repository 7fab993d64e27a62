# SPDX-License-Identifier: Apache-2.0
#
# karpos_build_options: warnings, sanitizers and link options of the executables of this build. Link it PRIVATE. It is a
# target of its own, so that nothing of it can reach a user of karpos::karpos.

add_library(karpos_build_options INTERFACE)
# Parsing Kokkos takes two seconds of each translation unit. nvcc knows no precompiled headers.
set(karpos_precompiled ON)
if("cuda" IN_LIST KARPOS_KOKKOS_SPACES)
  set(karpos_precompiled OFF)
endif()
option(KARPOS_PRECOMPILED "Precompile Kokkos for the tests and the driver" ${karpos_precompiled})
# What several sources have in common is compiled once for all of them: half the time of a build from nothing.
set(karpos_unity ON)
if(KARPOS_DEVICE)
  set(karpos_unity OFF)
endif()
option(KARPOS_UNITY "Compile the sources of a test, or of a command of the driver, as one unit" ${karpos_unity})
option(KARPOS_FULL_TESTS "Compile the tests and the checks that only the full suite has, too" ON)

# A build that measures nothing compiles in half the time without the optimisation of the build type.
set(KARPOS_PERF_OPTIMISATION "" CACHE STRING "Optimisation of perf/ and of the examples in a Release build; empty: that of the build type")
add_library(karpos_perf_optimisation INTERFACE)
target_compile_options(karpos_perf_optimisation INTERFACE $<$<CONFIG:Release>:${KARPOS_PERF_OPTIMISATION}>)

# Kokkos, precompiled for sources of one file each that are compiled alike: the examples, and benchmarks without the driver's
# support.
function(karpos_use_precompiled_kokkos target)
  if(NOT KARPOS_PRECOMPILED)
    return()
  endif()
  if(NOT TARGET karpos_precompiled_kokkos)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled_kokkos.cpp CONTENT "")
    add_library(karpos_precompiled_kokkos OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled_kokkos.cpp)
    target_link_libraries(karpos_precompiled_kokkos PRIVATE karpos::karpos karpos_build_options karpos_perf_optimisation)
    target_precompile_headers(karpos_precompiled_kokkos PRIVATE <Kokkos_Core.hpp> <iostream> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM karpos_precompiled_kokkos)
endfunction()

# Through a device compiler Kokkos' headers are ours too, and nvcc's generated code trips over the stricter warnings.
set(karpos_warnings -Wall -Wextra -Wshadow)
if(NOT KARPOS_DEVICE)
  list(APPEND karpos_warnings -Wpedantic -Wconversion)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
  # False alarms: on std::string (GCC bug 105651; with a precompiled header they are not silenced as those of a system
  # header), on functors without members at -O1.
  list(APPEND karpos_warnings -Wno-restrict -Wno-stringop-overflow -Wno-maybe-uninitialized)
endif()
if(KARPOS_WARNINGS_AS_ERRORS)
  list(APPEND karpos_warnings -Werror)
endif()
target_compile_options(karpos_build_options INTERFACE ${karpos_warnings})
# GCC collects its garbage again and again where half a gigabyte would do without: up to 5 % of the time of a unit, for some
# 300 MB of memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT KARPOS_DEVICE)
  target_compile_options(karpos_build_options INTERFACE --param=ggc-min-heapsize=500000)
endif()
# nvcc only warns of a kernel that calls a function of the host, and compiles nonsense. Not for sources without Kokkos, which
# it does not compile, nor for targets with KARPOS_HOST_ONLY: they have no kernels of a device, but pass functions of the host to templates
# that kernels could call.
if(PROJECT_IS_TOP_LEVEL AND "cuda" IN_LIST KARPOS_KOKKOS_SPACES AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(as "$<IF:$<BOOL:$<TARGET_PROPERTY:KARPOS_HOST_ONLY>>,suppress,error>")
  target_compile_options(karpos_library INTERFACE
    "$<BUILD_INTERFACE:SHELL:-Xcudafe --diag_${as}=20011,--diag_${as}=20013,--diag_${as}=20014,--diag_${as}=20015>")
endif()
# Our warnings are for our code: a Kokkos that is built with us, not imported, would be checked as well.
foreach(target IN ITEMS kokkoscore kokkoscontainers kokkosalgorithms kokkossimd)
  if(TARGET Kokkos::${target})
    target_include_directories(karpos_build_options SYSTEM INTERFACE
      $<TARGET_PROPERTY:Kokkos::${target},INTERFACE_INCLUDE_DIRECTORIES>)
  endif()
endforeach()

if(KARPOS_ENABLE_SANITIZER)
  if(NOT KARPOS_ENABLE_SANITIZER MATCHES "^(address|undefined|thread|address,undefined)$")
    message(FATAL_ERROR
      "KARPOS_ENABLE_SANITIZER is '${KARPOS_ENABLE_SANITIZER}', but it must be one of address, undefined, thread, and address,undefined.")
  endif()
  set(karpos_sanitize -fsanitize=${KARPOS_ENABLE_SANITIZER})
  target_compile_options(karpos_build_options INTERFACE
    ${karpos_sanitize} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  # The checks of every single access take a third of the time that compiling under these sanitizers takes; those of every sum
  # of a pointer and an index a fifth of what is left.
  if(KARPOS_ENABLE_SANITIZER MATCHES "undefined" AND NOT KARPOS_FULL_TESTS)
    set(karpos_full_checks null,alignment,object-size,vptr,pointer-overflow)
    target_compile_options(karpos_build_options INTERFACE -fno-sanitize=${karpos_full_checks})
    message(STATUS "Karpos: left to the full suite (KARPOS_FULL_TESTS), of the sanitizers: ${karpos_full_checks}")
  endif()
  # Functions of more than 30 accesses call their checks: they are test cases, which take long to compile and run once (calls
  # everywhere would save a quarter of that time, and double the time of the tests). Frames that could be told from others after
  # their return are no use, for nothing sets detect_stack_use_after_return in ASAN_OPTIONS.
  if(KARPOS_ENABLE_SANITIZER MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT KARPOS_FULL_TESTS)
    target_compile_options(karpos_build_options INTERFACE
      --param=asan-instrumentation-with-call-threshold=30 --param=asan-use-after-return=0)
  endif()
  target_link_options(karpos_build_options INTERFACE ${karpos_sanitize})
endif()

# For an executable that moves to a machine with nothing but a driver: C++ runtime, OpenMP and CUDA runtime inside it.
# nvcc links the static CUDA runtime by itself once nothing names the shared one.
if(KARPOS_STATIC_RUNTIME)
  target_link_options(karpos_build_options INTERFACE -static-libstdc++ -static-libgcc)
  foreach(target IN ITEMS Kokkos::CUDA OpenMP::OpenMP_CXX)
    if(TARGET ${target})
      get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
      list(REMOVE_ITEM libraries CUDA::cudart)
      list(TRANSFORM libraries REPLACE "libgomp\\.so$" "libgomp.a")
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
    endif()
  endforeach()
endif()
