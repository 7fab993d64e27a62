// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>

// What happens to a program of several ranks when one of them fails: it ends, with one message, and never waits for ever.

namespace karpos::distributed {

/// Thrown by a collective operation on every rank of its communicator, with the message of the lowest rank that failed: an
/// argument that was refused, memory that could not be had, arguments that differ. Every rank may catch it and go on. Communicators
/// that it destroys on its way are not given back to MPI: make them outside of what may be caught.
class collective_error : public std::runtime_error {
 public:
  /// Of the ranks of a communicator.
  template <class Ranks>
  collective_error(std::string const& what, int rank, Ranks const& of)
      : std::runtime_error(what),
        m_rank(rank),
        m_ranks(of.size()),
        m_is_first(of.rank() == 0) {}
  /// The rank that failed; -1 where several disagree.
  int rank() const noexcept { return m_rank; }
  /// How many ranks throw it: those of the communicator.
  int ranks() const noexcept { return m_ranks; }
  /// Whether this is the first of them.
  bool is_first() const noexcept { return m_is_first; }

 private:
  int m_rank, m_ranks;
  bool m_is_first;
};

}  // namespace karpos::distributed

namespace karpos::detail::distributed {

/// "karpos: rank 2 of 4: what"; the library's own messages begin with "karpos: " already.
inline std::string message_of_rank(int rank, int size, std::string const& what) {
  std::string const ours = "karpos: ";
  return ours + "rank " + std::to_string(rank) + " of " + std::to_string(size) + ": " +
         (what.rfind(ours, 0) == 0 ? what.substr(ours.size()) : what);
}

/// What the exception says that is being handled.
inline std::string current_message() {
  try {
    throw;
  } catch (std::exception const& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// Says what rank of `comm` failed of, and ends all processes.
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

/// Runs f() on every rank, and sees to it that all end when one of them fails: an exception that leaves f on some ranks only
/// ends all processes (MPI_Abort), for the others may wait in an operation that this one will never join. A
/// collective_error, which every rank throws, is printed by the first rank, and the program may end as usual; one of a
/// communicator of some ranks ends all processes, too, with the message of its first rank.
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
      MPI_Barrier(comm);  // which the first never joins: until it has ended all
    }
    if (e.is_first()) std::fprintf(stderr, "%s\n", e.what());
    return 1;
  } catch (...) {
    karpos::detail::distributed::end_all_ranks(comm,
                                               karpos::detail::distributed::current_message());
  }
}

}  // namespace karpos::distributed
