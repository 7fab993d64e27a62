# SPDX-License-Identifier: Apache-2.0
#
# karpos_docs: the reference, in docs/html of the build tree. A warning of Doxygen fails it.
find_package(Doxygen REQUIRED)
configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
add_custom_target(karpos_docs
  COMMAND Doxygen::doxygen ${PROJECT_BINARY_DIR}/Doxyfile
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
