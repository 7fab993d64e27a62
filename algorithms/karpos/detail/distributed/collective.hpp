// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/distributed/run_ranks.hpp"
#include "karpos/hash.hpp"
#include "karpos/operations.hpp"

// Errors that all ranks of a communicator throw together.

namespace karpos::detail::distributed {

template <class Ranks>
[[noreturn]] void throw_on_all(Ranks const& ranks, std::string const& what) {
  throw karpos::distributed::collective_error(user_call::name() + ": " + what, -1, ranks);
}

/// Throws collective_error unless the ranks' values are equal. Takes their bits, by rank.
template <class T, class Ranks>
void require_equal(Ranks const& ranks, std::string const& what,
                   std::vector<std::uint64_t> const& all) {
  auto const text = [](std::uint64_t bits) {
    auto const v = from_bits<T>(bits);
    if constexpr (std::is_enum_v<T>)
      return std::to_string(static_cast<std::underlying_type_t<T>>(v));
    else
      return std::to_string(v);
  };
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      throw_on_all(ranks, what + " is not the same on all ranks (rank 0 has " + text(all[0]) +
                              ", rank " + std::to_string(r) + " has " + text(all[r]) +
                              "): pass one value on every rank");
}

/// Runs f on every rank, and returns what f returns. If f throws on some ranks, throws
/// collective_error on all, with the message of the lowest of them. Collective. Requires: f calls
/// nothing collective, because a rank on which f throws would not take part.
template <class Ranks, class F>
auto run_collectively(Ranks const& ranks, F const& f) {
  if constexpr (std::is_void_v<std::invoke_result_t<F const&>>) {
    run_collectively(ranks, [&] {
      f();
      return true;
    });
  } else {
    std::optional<std::invoke_result_t<F const&>> answer;
    std::string message;
    int failed = ranks.size();
    try {
      answer.emplace(f());
    } catch (karpos::distributed::collective_error const&) {
      throw;  // on every rank
    } catch (...) {
      message = current_message();
      failed = ranks.rank();
    }
    int const first = ranks.all_reduce(failed, minimum{});
    if (first < ranks.size())
      throw karpos::distributed::collective_error(
          message_of_rank(first, ranks.size(), ranks.broadcast(message, first)), first, ranks);
    return std::move(*answer);
  }
}

}  // namespace karpos::detail::distributed
