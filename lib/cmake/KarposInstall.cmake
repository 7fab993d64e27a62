# SPDX-License-Identifier: Apache-2.0
#
# The package: headers, karposConfig.cmake, its version file. Everything is relative to the prefix.

set(karpos_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/karpos)

install(TARGETS karpos_library EXPORT karposTargets COMPONENT karpos_library
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT karpos_library)
install(EXPORT karposTargets NAMESPACE karpos:: DESTINATION ${karpos_package_dir} COMPONENT karpos_library)
if(KARPOS_ENABLE_COMPILED)
  install(TARGETS karpos_compiled EXPORT karposCompiledTargets COMPONENT karpos_compiled
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT karpos_compiled)
  install(EXPORT karposCompiledTargets NAMESPACE karpos:: DESTINATION ${karpos_package_dir} COMPONENT karpos_compiled)
endif()

# The Kokkos that was found, for projects on this machine; not one that lies in a folder of this build.
set(karpos_built_with "${Kokkos_DIR}")
foreach(folder IN ITEMS ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  cmake_path(IS_PREFIX folder "${karpos_built_with}" NORMALIZE is_of_build)
  if(is_of_build)
    set(karpos_built_with "")
  endif()
endforeach()
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/lib/cmake/karposConfig.cmake.in ${PROJECT_BINARY_DIR}/karposConfig.cmake
  INSTALL_DESTINATION ${karpos_package_dir} NO_SET_AND_CHECK_MACRO)
# Any architecture may use headers alone.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/karposConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
  ${PROJECT_BINARY_DIR}/karposConfig.cmake ${PROJECT_BINARY_DIR}/karposConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/lib/cmake/KarposKokkosSpaces.cmake ${PROJECT_SOURCE_DIR}/lib/cmake/KarposKokkosLink.cmake
  ${PROJECT_SOURCE_DIR}/lib/cmake/KarposNccl.cmake
  DESTINATION ${karpos_package_dir} COMPONENT karpos_library)
# Where Debian looks for it, of the package libkarpos-dev.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libkarpos-dev COMPONENT karpos_library)
