// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace karpos::perf {

/// Arguments that Kokkos understands itself are kept from the option parser.
bool meant_for_kokkos(std::string const& argument);

/// Refuses arguments that Kokkos would abort at.
/// Throws: bad_input that quotes one.
void check_kokkos_arguments(std::vector<std::string> const& arguments);

/// The same for variables of the environment; refuses more threads, by whichever way, than Kokkos can run.
/// Throws: bad_input that quotes what asks for it.
void check_kokkos_environment(std::vector<std::string> const& arguments);

/// Chooses OMP_PROC_BIND and OMP_PLACES where the user has chosen neither: as many threads as processors are bound to
/// one each; fewer stay free, so that several programs need not share a processor. Threads of OpenMP read this when the
/// program is loaded, which is why the program may start anew.
void choose_thread_binding(std::vector<std::string> const& arguments, char** argv);

/// Returns whether the arguments request the help of Kokkos, for which no command is needed.
bool asks_kokkos_for_help(std::vector<std::string> const& arguments);

}  // namespace karpos::perf
