# SPDX-License-Identifier: Apache-2.0
#
# Downloads that may fail. FetchContent stops the configure run when a server cannot be reached; Karpos goes on with
# less. So the archive is downloaded first, and FetchContent is given the file.

# karpos_fetch(NAME URL [SHA256 hash]): makes the project available, or says in the log why not.
macro(karpos_fetch name url)
  cmake_parse_arguments(karpos_fetch "" "SHA256" "" ${ARGN})
  set(karpos_fetch_archive ${CMAKE_BINARY_DIR}/_deps/${name}.tar.gz)
  if(NOT karpos_fetch_SHA256)
    message(STATUS "Karpos: ${url} has no recorded hash, its content is not verified")
  endif()
  if(NOT EXISTS ${karpos_fetch_archive})
    # One byte first: a network that swallows packets is found out in seconds.
    file(DOWNLOAD ${url} STATUS karpos_fetch_status TIMEOUT 10 RANGE_START 0 RANGE_END 0)
    list(GET karpos_fetch_status 0 karpos_fetch_code)
    if(karpos_fetch_code EQUAL 0)
      message(STATUS "Karpos: downloading ${url}")
      file(DOWNLOAD ${url} ${karpos_fetch_archive}.part STATUS karpos_fetch_status INACTIVITY_TIMEOUT 30)
      list(GET karpos_fetch_status 0 karpos_fetch_code)
    endif()
    if(karpos_fetch_code EQUAL 0)
      file(RENAME ${karpos_fetch_archive}.part ${karpos_fetch_archive})
    else()
      file(REMOVE ${karpos_fetch_archive}.part)
      list(GET karpos_fetch_status 1 karpos_fetch_reason)
      message(STATUS "Karpos: ${url} cannot be downloaded (${karpos_fetch_reason})")
    endif()
  endif()
  if(EXISTS ${karpos_fetch_archive})
    include(FetchContent)  # here, for it adds cache entries of its own
    set(karpos_fetch_hash "")
    if(karpos_fetch_SHA256)
      set(karpos_fetch_hash URL_HASH SHA256=${karpos_fetch_SHA256})
    endif()
    FetchContent_Declare(${name} URL ${karpos_fetch_archive} ${karpos_fetch_hash} DOWNLOAD_EXTRACT_TIMESTAMP ON)
    FetchContent_MakeAvailable(${name})
  endif()
endmacro()
