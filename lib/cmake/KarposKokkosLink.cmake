# SPDX-License-Identifier: Apache-2.0
#
# How executables link with a Kokkos unpacked from Debian's packages. Installed beside karposConfig.cmake, which needs the
# same answer for the Kokkos that it finds.

# karpos_kokkos_link_options(VARIABLE): sets VARIABLE to the link options that executables need, nearly always none.
#
# A Kokkos unpacked from Debian was linked with a C library that lies in a folder below it, newer than a stable release has.
# Executables start with that loader and those libraries; where the system's C library is new enough, plainly.
function(karpos_kokkos_link_options variable)
  set(${variable} "" PARENT_SCOPE)
  set(imported FALSE)
  if(TARGET Kokkos::kokkoscore)
    get_target_property(imported Kokkos::kokkoscore IMPORTED)
  endif()
  if(NOT imported)
    return()
  endif()
  get_target_property(library Kokkos::kokkoscore LOCATION)
  cmake_path(GET library PARENT_PATH folder)
  file(GLOB loader ${folder}/runtime/ld-linux*.so.*)
  if(NOT loader)
    return()
  endif()
  execute_process(COMMAND ${loader} --version OUTPUT_VARIABLE loader_glibc ERROR_QUIET)
  execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE system_glibc ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" loader_glibc "${loader_glibc}")
  string(REGEX MATCH "[0-9]+\\.[0-9]+" system_glibc "${system_glibc}")
  if(system_glibc VERSION_LESS loader_glibc)
    # RPATH, not RUNPATH: it holds for the libraries' own dependencies too.
    set(${variable}
      -Wl,--dynamic-linker=${loader} -Wl,--disable-new-dtags -Wl,-rpath,${folder}/runtime -Wl,--allow-shlib-undefined
      PARENT_SCOPE)
  endif()
endfunction()

