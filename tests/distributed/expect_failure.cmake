# SPDX-License-Identifier: Apache-2.0
#
# cmake -D EXPECT=message -P expect_failure.cmake -- command...: it must end with another status than 0, and say the message
# once.
cmake_policy(VERSION 3.24)
set(command "")
set(behind OFF)
foreach(i RANGE 1 ${CMAKE_ARGC})
  if(behind AND i LESS CMAKE_ARGC)
    list(APPEND command ${CMAKE_ARGV${i}})
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(behind ON)
  endif()
endforeach()
execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE log ERROR_VARIABLE log)
if(result EQUAL 0)
  message(FATAL_ERROR "it should have failed:\n${log}")
endif()
string(FIND "${log}" "${EXPECT}" first)
string(FIND "${log}" "${EXPECT}" last REVERSE)
if(first EQUAL -1 OR NOT first EQUAL last)
  message(FATAL_ERROR "expected, once, '${EXPECT}', got ${result}:\n${log}")
endif()
