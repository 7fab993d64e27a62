// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Abort.hpp>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

// Contracts of in-kernel calls, where no exception can be thrown. -DKARPOS_CONTRACTS=ON turns them on;
// off they cost nothing. Bulk calls from the host always check their arguments and throw.
#if defined(KARPOS_CONTRACTS) && KARPOS_CONTRACTS
#define KARPOS_EXPECTS(condition, sentence) \
  ((condition) ? void() : ::Kokkos::abort("karpos: contract violated: " sentence "\n"))
#else
#define KARPOS_EXPECTS(condition, sentence) void()
#endif

namespace karpos {

/// Thrown when keys did not fit, or pairs of a multimap: `limit` names what was too small. The container is valid and keeps
/// everything that it accepted.
class capacity_error : public std::runtime_error {
 public:
  capacity_error(std::string const& what, std::uint64_t asked, std::uint64_t held,
                 std::uint64_t would_do, char const* limit = "max_keys")
      : std::runtime_error("karpos: " + what + " (asked for " + std::to_string(asked) +
                           ", found room for " + std::to_string(held) +
                           "): construct or rehash with " + limit +
                           " >= " + std::to_string(would_do)),
        m_asked(asked),
        m_held(held),
        m_would_do(would_do) {}

  std::uint64_t asked() const noexcept { return m_asked; }  ///< keys, or pairs, that were offered
  std::uint64_t found() const noexcept { return m_held; }   ///< those that fitted
  std::uint64_t would_do() const noexcept { return m_would_do; }  ///< what would have done

 private:
  std::uint64_t m_asked, m_held, m_would_do;
};

/// Thrown when a hash function sends so many keys to the same places that no table can hold them.
class hash_error : public std::runtime_error {
 public:
  hash_error(std::string const& what, std::string const& why, std::string const& suggestion)
      : std::runtime_error("karpos: " + what + " (" + why + "): " + suggestion) {}
};

/// Thrown when memory for a container cannot be had; names the bytes and the memory space.
class allocation_error : public std::bad_alloc {
 public:
  explicit allocation_error(std::string what) : m_what("karpos: " + std::move(what)) {}
  char const* what() const noexcept override { return m_what.c_str(); }

 private:
  std::string m_what;
};

namespace detail {

/// Grammar of every message: problem (why): suggestion.
[[noreturn]] inline void reject(std::string const& problem, std::string const& why,
                                std::string const& suggestion) {
  throw std::invalid_argument("karpos: " + problem + " (" + why + "): " + suggestion);
}

inline void require_same_extent(char const* what, std::uint64_t a, char const* other,
                                std::uint64_t b) {
  if (a != b)
    reject(std::string(what) + " and " + other + " differ in extent",
           std::to_string(a) + " against " + std::to_string(b), "pass views of the same length");
}

/// Throws std::invalid_argument where an output shares memory with another view. Of strided views, whose elements may lie
/// between those of others, nothing is known.
template <class Out, class... Views>
void require_apart(std::string const& what, Out const& out, Views const&... others) {
  auto const begin = [](auto const& v) { return reinterpret_cast<char const*>(v.data()); };
  auto const end = [&](auto const& v) { return begin(v) + v.span() * sizeof(*v.data()); };
  auto const overlaps = [&](auto const& v) {
    return out.span_is_contiguous() && v.span_is_contiguous() && begin(v) < end(out) &&
           begin(out) < end(v);
  };
  if ((overlaps(others) || ...))
    reject(what + " overlaps another view of the call", "one memory for both",
           "pass memory of its own");
}

/// Throws std::invalid_argument for a view that has a length, but no memory.
template <class View>
void require_data(std::string const& what, View const& view) {
  std::uint64_t const n = view.extent(0);  // size() may be 0 then
  if (view.data() == nullptr && n > 0)
    reject(what + " have no memory", "a null pointer for " + std::to_string(n) + " elements",
           "allocate them");
}

/// what: "distances of a search", say.
template <class View>
void require_contiguous(std::string const& what, View const& view) {
  if (!view.span_is_contiguous())
    reject(what + " do not lie side by side", "a strided view", "pass a contiguous one");
}

}  // namespace detail
}  // namespace karpos
