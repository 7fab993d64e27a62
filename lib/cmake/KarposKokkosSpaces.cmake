# SPDX-License-Identifier: Apache-2.0
#
# Which execution spaces a Kokkos has. Installed beside karposConfig.cmake, which needs the same answer.

# karpos_kokkos_spaces(SPACES VERSION OBSTACLE): sets SPACES to the enabled ones of serial, openmp, threads, cuda, hip and
# sycl, VERSION to Kokkos' version, and OBSTACLE to a sentence that says why Karpos cannot use this Kokkos, or to nothing.
#
# The answer is read from KokkosCore_config.h, the header that decides what our kernels compile to. Kokkos_DEVICES would
# be shorter, but it is a variable of the directory that called find_package: a target that somebody else made, in a
# parent project or by add_subdirectory, comes without it.
function(karpos_kokkos_spaces spaces_variable version_variable obstacle_variable)
  set(directories "${Kokkos_BINARY_DIR}")
  foreach(target Kokkos::kokkos Kokkos::kokkoscore)
    if(TARGET ${target})
      get_target_property(includes ${target} INTERFACE_INCLUDE_DIRECTORIES)
      list(APPEND directories ${includes})
    endif()
  endforeach()

  set(config "")
  foreach(directory IN LISTS directories)
    string(REGEX REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1" directory "${directory}")
    if(EXISTS "${directory}/KokkosCore_config.h")
      file(STRINGS "${directory}/KokkosCore_config.h" config
           REGEX "^#define KOKKOS_(VERSION|ENABLE_(SERIAL|OPENMP|THREADS|CUDA|HIP|SYCL|OPENACC|OPENMPTARGET))( |$)")
      break()
    endif()
  endforeach()

  set(spaces "")
  set(version "")
  set(obstacle "")
  foreach(line IN LISTS config)
    if(line MATCHES "ENABLE_(OPENACC|OPENMPTARGET)")
      set(obstacle "Karpos cannot use a Kokkos with ${CMAKE_MATCH_1} (its teams have no scratch memory, barriers and scans): \
set Kokkos_ROOT to one with CUDA, HIP, SYCL, or CPUs alone.")
    elseif(line MATCHES "ENABLE_([A-Z]+)")
      string(TOLOWER "${CMAKE_MATCH_1}" space)
      list(APPEND spaces ${space})
    elseif(line MATCHES "VERSION ([0-9]+)")
      math(EXPR major "${CMAKE_MATCH_1} / 10000")
      math(EXPR minor "${CMAKE_MATCH_1} / 100 % 100")
      math(EXPR patch "${CMAKE_MATCH_1} % 100")
      set(version ${major}.${minor}.${patch})
    endif()
  endforeach()
  set(${spaces_variable} "${spaces}" PARENT_SCOPE)
  set(${version_variable} "${version}" PARENT_SCOPE)
  set(${obstacle_variable} "${obstacle}" PARENT_SCOPE)
endfunction()
