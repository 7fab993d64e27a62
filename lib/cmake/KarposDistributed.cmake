# SPDX-License-Identifier: Apache-2.0
#
# KARPOS_ENABLE_DISTRIBUTED: the component karpos::distributed, whose headers (karpos/distributed/) need MPI. The headers are
# installed in any case, for what they need is the user's: find_package(karpos COMPONENTS distributed) asks for MPI.
#
#   auto   on where MPI is found; in another project's build where it has the target MPI::MPI_CXX already; off for executables
#          that go to another machine (KARPOS_STATIC_RUNTIME), which may have no MPI
#
# With CUDA, NCCL moves data between GPUs where its header and library are found.
#
# Afterwards: KARPOS_HAS_DISTRIBUTED, and karpos::distributed where it is true.

set(KARPOS_ENABLE_DISTRIBUTED auto CACHE STRING "karpos::distributed, on MPI: auto (where MPI is found), ON or OFF")
set_property(CACHE KARPOS_ENABLE_DISTRIBUTED PROPERTY STRINGS auto ON OFF)
if(NOT KARPOS_ENABLE_DISTRIBUTED MATCHES "^(auto|[Oo][Nn]|[Oo][Ff][Ff])$")
  message(FATAL_ERROR "KARPOS_ENABLE_DISTRIBUTED is '${KARPOS_ENABLE_DISTRIBUTED}', but it must be auto, ON or OFF.")
endif()

set(KARPOS_HAS_DISTRIBUTED OFF)
set(karpos_distributed_is_off "KARPOS_ENABLE_DISTRIBUTED=OFF")
if(KARPOS_ENABLE_DISTRIBUTED STREQUAL "auto" AND KARPOS_STATIC_RUNTIME)
  set(karpos_distributed_is_off "executables with static runtimes (KARPOS_STATIC_RUNTIME) may go where no MPI is")
elseif(NOT KARPOS_ENABLE_DISTRIBUTED MATCHES "^[Oo][Ff][Ff]$")
  if(NOT TARGET MPI::MPI_CXX AND (PROJECT_IS_TOP_LEVEL OR NOT KARPOS_ENABLE_DISTRIBUTED STREQUAL "auto"))
    set(MPI_CXX_SKIP_MPICXX ON)  # the C++ bindings of old, which we do not use
    find_package(MPI QUIET COMPONENTS CXX)
  endif()
  if(TARGET MPI::MPI_CXX)
    set(KARPOS_HAS_DISTRIBUTED ON)
  elseif(KARPOS_ENABLE_DISTRIBUTED STREQUAL "auto")
    set(karpos_distributed_is_off "no MPI was found (Debian: libopenmpi-dev openmpi-bin)")
  else()
    message(FATAL_ERROR
      "KARPOS_ENABLE_DISTRIBUTED is ON, but no MPI was found: install one (Debian: libopenmpi-dev openmpi-bin), or leave the "
      "option at auto.")
  endif()
endif()

if(KARPOS_HAS_DISTRIBUTED)
  add_library(karpos_distributed INTERFACE)
  add_library(karpos::distributed ALIAS karpos_distributed)
  target_link_libraries(karpos_distributed INTERFACE karpos_library MPI::MPI_CXX)
  set(KARPOS_NCCL "")
  if(KARPOS_DEVICE STREQUAL "cuda")
    include(KarposNccl)
    karpos_add_nccl(karpos_distributed)
    string(PREPEND KARPOS_NCCL ", ")
  endif()
  if(PROJECT_IS_TOP_LEVEL)
    message(STATUS "Karpos: karpos::distributed is on, with MPI ${MPI_CXX_VERSION}${KARPOS_NCCL}")
  endif()
elseif(PROJECT_IS_TOP_LEVEL)
  message(STATUS "Karpos: karpos::distributed is off, with its tests and --distributed of the driver: ${karpos_distributed_is_off}")
endif()
