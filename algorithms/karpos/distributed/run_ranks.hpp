// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>

// Ends a program of several ranks, with one message, when one of them fails.

namespace karpos::distributed {

/// Thrown by the collective operations of karpos::distributed on every rank of their communicator:
/// if on some rank an argument is refused or memory is short, if arguments differ between ranks, or
/// if a search was stopped. Has the message of the lowest rank that failed. Every rank may catch it
/// and go on. Make communicators outside of the try block: a communicator that is destroyed while a
/// collective_error is thrown is not given back to MPI.
///
/// The operations of a communicator itself, such as all_reduce, throw other exceptions, on the rank
/// concerned alone (communicator.hpp).
class collective_error : public std::runtime_error {
 public:
  /// rank: the rank of communicator `of` that failed; -1 if the error is not that of one rank:
  /// arguments that differ, and checks that all ranks make together.
  template <class Ranks>
  collective_error(std::string const& what, int rank, Ranks const& of)
      : std::runtime_error(what),
        m_rank(rank),
        m_ranks(of.size()),
        m_is_first(of.rank() == 0) {}
  /// Returns the rank that failed; -1 if the error is not that of one rank.
  int rank() const noexcept { return m_rank; }
  /// Returns how many ranks throw it: the size of the communicator.
  int ranks() const noexcept { return m_ranks; }
  /// Returns whether this is the communicator's first rank.
  bool is_first() const noexcept { return m_is_first; }

 private:
  int m_rank, m_ranks;
  bool m_is_first;
};

}  // namespace karpos::distributed

namespace karpos::detail::distributed {

/// Returns "karpos: rank 2 of 4: what", or "karpos::call: rank 2 of 4: why" if `what` is the
/// library's message "karpos::call: why".
inline std::string message_of_rank(int rank, int size, std::string const& what) {
  std::string const ours = "karpos: ";
  auto const begin = what.rfind("karpos:", 0) == 0 ? what.find(": ") + 2 : 0;
  return (begin == 0 ? ours : what.substr(0, begin)) + "rank " + std::to_string(rank) + " of " +
         std::to_string(size) + ": " + what.substr(begin);
}

/// Returns the message of the exception that is being handled.
inline std::string current_message() {
  try {
    throw;
  } catch (std::exception const& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// Prints the message with this rank's number in `comm`, and ends all processes.
[[noreturn]] inline void end_all_ranks(MPI_Comm comm, std::string const& what) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::fprintf(stderr, "%s\n", message_of_rank(rank, size, what).c_str());
  std::fflush(nullptr);
  MPI_Abort(comm, 1);
  std::abort();
}

}  // namespace karpos::detail::distributed

namespace karpos::distributed {

/// Runs f() on every rank, and ends all ranks when one of them fails. If an exception other than
/// collective_error leaves f on any rank, all processes end (MPI_Abort): the others may wait in an
/// operation that this rank will never join. The first rank prints a collective_error, which every
/// rank throws, and the program may end as usual. A collective_error of a communicator of only some
/// ranks ends all processes, too, with the message of its first rank.
///
/// Returns: what f returns if that is an int, else 0; 1 after a collective_error.
/// Requires: MPI is initialised; f returns void or int. Every rank of `comm` calls it.
template <class F>
int run_ranks(MPI_Comm comm, F const& f) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F const&>>) {
      f();
      return 0;
    } else {
      return f();
    }
  } catch (collective_error const& e) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    if (e.ranks() < size) {
      if (e.is_first()) karpos::detail::distributed::end_all_ranks(comm, e.what());
      MPI_Barrier(comm);  // never returns: the first rank does not join it, and ends all
    }
    if (e.is_first()) std::fprintf(stderr, "%s\n", e.what());
    return 1;
  } catch (...) {
    karpos::detail::distributed::end_all_ranks(comm,
                                               karpos::detail::distributed::current_message());
  }
}

}  // namespace karpos::distributed
