# SPDX-License-Identifier: Apache-2.0
#
# karpos_add_nccl(target): where NCCL's header and library are found, beside CUDA or below NCCL_ROOT, lets an interface target
# use them. Sets KARPOS_NCCL to a sentence that says what was found. In a build of Karpos and in its package alike.

function(karpos_add_nccl target)
  find_package(CUDAToolkit QUIET)
  find_path(KARPOS_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(KARPOS_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_TARGET_DIR} PATH_SUFFIXES lib lib64)
  mark_as_advanced(KARPOS_NCCL_INCLUDE_DIR KARPOS_NCCL_LIBRARY)
  if(KARPOS_NCCL_INCLUDE_DIR AND KARPOS_NCCL_LIBRARY)
    target_include_directories(${target} SYSTEM INTERFACE ${KARPOS_NCCL_INCLUDE_DIR})
    target_link_libraries(${target} INTERFACE ${KARPOS_NCCL_LIBRARY})
    target_compile_definitions(${target} INTERFACE KARPOS_HAS_NCCL=1)
    set(KARPOS_NCCL "with NCCL (${KARPOS_NCCL_LIBRARY})" PARENT_SCOPE)
  else()
    set(KARPOS_NCCL "without NCCL, whose header and library were not both found (NCCL_ROOT): data of GPUs travels through MPI"
      PARENT_SCOPE)
  endif()
endfunction()
