// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace karpos::perf {

/// Returns whether Kokkos itself interprets an argument, which is then hidden from the option
/// parser.
bool is_kokkos_argument(std::string const& argument);

/// Refuses arguments at which Kokkos would abort.
/// Throws: bad_input that quotes one.
void check_kokkos_arguments(std::vector<std::string> const& arguments);

/// Refuses environment variables at which Kokkos would abort, and more threads than Kokkos can run,
/// however they were requested.
/// Throws: bad_input that quotes the source of the request.
void check_kokkos_environment(std::vector<std::string> const& arguments);

/// Sets OMP_PROC_BIND and OMP_PLACES if the user has set neither. If there are as many threads as
/// processors, each thread is bound to a processor. Fewer threads stay unbound, so that several
/// programs need not share a processor. OpenMP reads these variables when the program is loaded, so
/// the program may restart itself.
void choose_thread_binding(std::vector<std::string> const& arguments, char** argv);

/// Returns whether the arguments request the help of Kokkos, for which no command is needed.
bool asks_kokkos_for_help(std::vector<std::string> const& arguments);

}  // namespace karpos::perf
