# SPDX-License-Identifier: Apache-2.0
#
#   cpack -G DEB          (in a build folder)  libkarpos-dev: what `cmake --install` of the library installs, for any architecture;
#                         libkarpos-compiled-dev: karpos::compiled, if the build has it, for the Kokkos of the build
#   cpack -G TGZ --config CPackSourceConfig.cmake   the sources; they build without a network where Kokkos is installed
#
# Whoever publishes packages names himself: -D CPACK_PACKAGE_CONTACT="Name <address>".

set(CPACK_PACKAGE_NAME karpos)
set(CPACK_PACKAGE_CONTACT "The Karpos developers <nobody@karpos.invalid>" CACHE STRING "Who packages are from")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL karpos_library)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_KARPOS_LIBRARY_PACKAGE_NAME libkarpos-dev)
set(CPACK_DEBIAN_KARPOS_LIBRARY_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_KARPOS_LIBRARY_PACKAGE_SECTION libdevel)
# Recommended, not a dependency: Debian 12 and 13 have no Kokkos of these versions, and headers install without one.
set(CPACK_DEBIAN_KARPOS_LIBRARY_PACKAGE_RECOMMENDS "libkokkos-dev (>= 4.6), libkokkos-dev (<< 6)")
set(CPACK_DEBIAN_KARPOS_LIBRARY_PACKAGE_SUGGESTS "mpi-default-dev")
set(CPACK_COMPONENT_KARPOS_LIBRARY_DESCRIPTION
  "Hash maps, joins, aggregation, breadth-first search and ranked queries,
 written once on Kokkos for CPUs and GPUs. Headers only.")
set(CPACK_DEBIAN_KARPOS_LIBRARY_DESCRIPTION "${CPACK_COMPONENT_KARPOS_LIBRARY_DESCRIPTION}")

if(KARPOS_ENABLE_COMPILED)
  list(APPEND CPACK_COMPONENTS_ALL karpos_compiled)
  set(CPACK_DEBIAN_KARPOS_COMPILED_PACKAGE_NAME libkarpos-compiled-dev)
  set(CPACK_DEBIAN_KARPOS_COMPILED_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_KARPOS_COMPILED_PACKAGE_DEPENDS "libkarpos-dev (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_KARPOS_COMPILED_DESCRIPTION
    "Karpos' calls for the usual types, compiled, and their C interface.
 Compiled with Kokkos ${KARPOS_KOKKOS_VERSION} (${KARPOS_KOKKOS_SPACES}), which programs need.")
endif()

# The tree as it lies there, without what was built in it.
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME karpos-${PROJECT_VERSION})
string(REGEX REPLACE "([][+.*()^])" "\\\\\\1" karpos_source_pattern "${PROJECT_SOURCE_DIR}")
set(CPACK_SOURCE_IGNORE_FILES
  "^${karpos_source_pattern}/build" "^${karpos_source_pattern}/\\.git(/|$)" "^${karpos_source_pattern}/\\.(cache|dev)(/|$)" "/__pycache__(/|$)")

include(CPack)
