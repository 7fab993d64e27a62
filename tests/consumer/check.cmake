# SPDX-License-Identifier: Apache-2.0
#
# cmake -D CASE=... -D SETTINGS=file -P check.cmake, one case of tests/consumer/CMakeLists.txt. SETTINGS holds what the
# build under test knows: source and build folder, compiler, where Kokkos is, which options executables need to link with it.
cmake_policy(VERSION 3.24)
include(${SETTINGS})
set(prefix ${WORK}/prefix)
set(binary ${WORK}/${CASE})

if(CASE STREQUAL "install")
  # Installed in one place and moved to another: a package that remembers the first does not work in the second.
  file(REMOVE_RECURSE ${WORK})
  execute_process(
    COMMAND ${CMAKE_COMMAND} --install ${KARPOS_BINARY_DIR} --prefix ${WORK}/first ${INSTALL_COMPONENT}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(RENAME ${WORK}/first ${prefix})
  file(GLOB_RECURSE files ${prefix}/*.cmake)
  # Not in the middle of a path: the sources may lie in /karpos, and headers in <prefix>/include/karpos.
  string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" source "${KARPOS_SOURCE_DIR}")
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(FIND "${text}" "${WORK}/first" first)
    if("${text}" MATCHES "(^|[^A-Za-z0-9_.}-]|-[A-Z]|-isystem|-include)${source}/" OR NOT first EQUAL -1)
      message(FATAL_ERROR "${file} names a folder of the machine that it was built on")
    endif()
  endforeach()
  if(NOT EXISTS ${prefix}/include/karpos/version.hpp)
    message(FATAL_ERROR "the package has no include/karpos/version.hpp")
  endif()
  return()
endif()

# The library lies in a folder of its own: other consumers have the headers alone.
if(CASE STREQUAL "compiled")
  set(prefix ${WORK}/prefix_compiled)
  file(REMOVE_RECURSE ${prefix})
  foreach(component IN ITEMS karpos_library karpos_compiled)
    execute_process(
      COMMAND ${CMAKE_COMMAND} --install ${KARPOS_BINARY_DIR} --prefix ${prefix} --component ${component}
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()

# The files below a folder, with what is in them, as one text.
function(content_of folder result)
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${folder} ${folder}/*)
  set(text "")
  foreach(file IN LISTS files)
    file(SHA256 ${folder}/${file} hash)
    string(APPEND text "${hash} ${file}\n")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
function(require_content_of_prefix folder)
  content_of(${folder} packed)
  content_of(${prefix} installed)
  if(installed STREQUAL "" OR NOT packed STREQUAL installed)
    message(FATAL_ERROR "not what was installed:\n${packed}instead of\n${installed}")
  endif()
endfunction()

# Packages hold what consumers of an installed Karpos are tested with.
if(CASE MATCHES "_package$" AND NOT CASE STREQUAL "find_package")
  set(configuration CPackConfig.cmake)
  if(CASE STREQUAL "source_package")
    set(configuration CPackSourceConfig.cmake)
  endif()
  file(REMOVE_RECURSE ${binary})
  execute_process(
    COMMAND ${CMAKE_CPACK_COMMAND} --config ${KARPOS_BINARY_DIR}/${configuration} -B ${binary}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE ${binary}/_CPack_Packages)
  if(CASE STREQUAL "debian_package")
    file(GLOB package ${binary}/libkarpos-dev_*.deb)
    execute_process(COMMAND dpkg-deb -x ${package} ${binary}/root COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND dpkg-deb -f ${package} Depends OUTPUT_VARIABLE depends OUTPUT_STRIP_TRAILING_WHITESPACE
      COMMAND_ERROR_IS_FATAL ANY)
    if(depends)
      message(FATAL_ERROR "the package needs others, which stable releases do not have: ${depends}")
    endif()
    require_content_of_prefix(${binary}/root/usr)
    file(GLOB package ${binary}/libkarpos-compiled-dev_*.deb)
    if(COMPILED)  # beside what libkarpos-dev has, what is installed for consumer.compiled
      execute_process(COMMAND dpkg-deb -x ${package} ${binary}/root COMMAND_ERROR_IS_FATAL ANY)
      set(prefix ${WORK}/prefix_compiled)
      require_content_of_prefix(${binary}/root/usr)
    endif()
  else()
    file(GLOB package ${binary}/*.tar.gz)
    file(ARCHIVE_EXTRACT INPUT ${package} DESTINATION ${binary})
    string(REGEX REPLACE "\\.tar\\.gz$" "" sources ${package})
    if(EXISTS ${sources}/build OR EXISTS ${sources}/.git)
      message(FATAL_ERROR "${package} holds more than sources")
    endif()
    execute_process(
      COMMAND ${CMAKE_COMMAND} -S ${sources} -B ${binary}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
        -D Kokkos_DIR=${KOKKOS_DIR} -D KARPOS_FETCH_KOKKOS=OFF -D KARPOS_ENABLE_TESTS=OFF -D KARPOS_ENABLE_PERF=OFF
        -D KARPOS_ENABLE_EXAMPLES=OFF -D KARPOS_NATIVE=${NATIVE} -D KARPOS_CONTRACTS=${CONTRACTS}
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    execute_process(
      COMMAND ${CMAKE_COMMAND} --install ${binary}/build --prefix ${binary}/root ${INSTALL_COMPONENT}
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    require_content_of_prefix(${binary}/root)
  endif()
  return()
endif()

# find_package with a parameter that must be refused shares the project of find_package.
if(NOT WITHOUT)
  set(WITHOUT nothing)  # a package that is not to be found
endif()
string(REGEX REPLACE "^missing_.*" "find_package" project ${CASE})
if(CASE STREQUAL "kokkos_of_build")
  set(EXPECTED_KOKKOS_DIR ${KOKKOS_DIR})
  set(KOKKOS_DIR "")
endif()
file(REMOVE_RECURSE ${binary})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${project} -B ${binary} -G ${GENERATOR}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D KARPOS_DEVICE=${DEVICE} "-D KARPOS_LINK_OPTIONS=${LINK_OPTIONS}" -D CMAKE_PREFIX_PATH=${prefix}
    -D Kokkos_DIR=${KOKKOS_DIR} -D KARPOS_SOURCE_DIR=${KARPOS_SOURCE_DIR} -D EXPECTED_KOKKOS_DIR=${EXPECTED_KOKKOS_DIR}
    -D CMAKE_DISABLE_FIND_PACKAGE_${WITHOUT}=ON -D KARPOS_VERSION=${VERSION} -D KARPOS_COMPONENT=${COMPONENT}
  RESULT_VARIABLE result OUTPUT_VARIABLE log ERROR_VARIABLE log)
if(EXPECT)
  string(REGEX REPLACE "[ \n]+" " " log "${log}")  # CMake wraps its messages
  if(result EQUAL 0 OR NOT log MATCHES "${EXPECT}")
    message(FATAL_ERROR "expected a refusal with '${EXPECT}', got ${result}:\n${log}")
  endif()
  return()
endif()
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the consumer does not configure:\n${log}")
endif()
if(log MATCHES "CMake Warning (\\([a-z]*\\) )?(at|in) ")  # one without a place is about variables that a case does not use
  message(FATAL_ERROR "the consumer configures with a warning:\n${log}")
endif()
if(CASE STREQUAL "kokkos_of_build")
  return()
endif()
string(REGEX MATCHALL "SKIP: [^\n]*" skipped "${log}")
if(skipped)
  message(STATUS "${skipped}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${binary} RESULT_VARIABLE result OUTPUT_VARIABLE log ERROR_VARIABLE log)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the consumer does not build:\n${log}")
endif()
if(RUN AND CASE STREQUAL "compiled")
  execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${binary} --output-on-failure --no-tests=error
    COMMAND_ERROR_IS_FATAL ANY)
elseif(RUN)
  execute_process(COMMAND ${binary}/consumer COMMAND_ERROR_IS_FATAL ANY)
endif()
