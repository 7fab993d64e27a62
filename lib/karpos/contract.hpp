// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Abort.hpp>
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

// Contracts of calls in kernels, where no exception can be thrown: a violation aborts the program.
// The CMake option KARPOS_CONTRACTS=ON (without Karpos' CMake targets: the macro
// KARPOS_CONTRACTS=1) turns them on; without it they cost nothing.
//
// Calls from the host always check what they can without reading the data, such as lengths and
// options, and throw. A Requires clause is checked only if a Throws clause names the violation, or
// if the clause names KARPOS_CONTRACTS (then only if that is on). Overlaps of strided views are not
// checked.
#if defined(KARPOS_CONTRACTS) && KARPOS_CONTRACTS
#define KARPOS_EXPECTS(condition, sentence) \
  ((condition) ? void() : ::Kokkos::abort("karpos: contract violated: " sentence "\n"))
#else
#define KARPOS_EXPECTS(condition, sentence) void()
#endif

namespace karpos {

namespace detail {

/// While it lives, messages of errors on its thread begin with the name of the user's call, and
/// labels of workspaces are that name. If calls are nested, it is the outermost one.
class user_call {
 public:
  /// A function `name`, or the member of a class `name`.
  explicit user_call(char const* name, char const* member = nullptr)
      : m_is_outermost(s_call.name == nullptr) {
    if (m_is_outermost) s_call = {name, member};
  }
  ~user_call() {
    if (m_is_outermost) s_call = {};
  }
  user_call(user_call const&) = delete;
  user_call& operator=(user_call const&) = delete;

  /// Returns, for example, "karpos::hash_map::find"; "karpos" outside of calls.
  static std::string name() {
    std::string all = "karpos";
    for (char const* const part : {s_call.name, s_call.member})
      if (part != nullptr) all.append("::").append(part);
    return all;
  }

 private:
  struct names {
    char const *name, *member;
  };
  inline static thread_local names s_call{};
  bool m_is_outermost;
};

/// Returns the message "call: problem (why): suggestion".
inline std::string message_of(std::string const& problem, std::string const& why,
                              std::string const& suggestion) {
  return user_call::name() + ": " + problem + " (" + why + "): " + suggestion;
}

}  // namespace detail

/// Thrown if keys, or pairs of a multimap, do not fit; `limit` names the parameter that was too
/// small. The container stays valid and keeps everything that it accepted.
class capacity_error : public std::runtime_error {
 public:
  capacity_error(std::string const& what, std::uint64_t asked, std::uint64_t held,
                 std::uint64_t would_do, char const* limit = "max_keys")
      : std::runtime_error(detail::message_of(
            what,
            "asked for " + std::to_string(asked) + ", found space for " + std::to_string(held),
            std::string("construct or rehash with ") + limit + " >= " + std::to_string(would_do))),
        m_asked(asked),
        m_held(held),
        m_would_do(would_do) {}

  /// Returns how many keys, or pairs, the table would have had to hold.
  std::uint64_t asked() const noexcept { return m_asked; }
  /// Returns how many keys, or pairs, are stored, with two exceptions. If a rehash was asked for
  /// too few keys, or pairs, returns the new maximum. If keys found no slot during compact, rehash
  /// or deep_copy, returns how many found one in the new copy. That copy was discarded, and the
  /// table keeps its keys.
  std::uint64_t found() const noexcept { return m_held; }
  /// Returns a value of the parameter named by `limit` that suffices. If hashes crowd, so that keys
  /// find no slot although slots are free, it is an estimate and may be too small.
  std::uint64_t would_do() const noexcept { return m_would_do; }

 private:
  std::uint64_t m_asked, m_held, m_would_do;
};

/// Thrown when a hash function sends so many keys to the same places that no table can hold them.
class hash_error : public std::runtime_error {
 public:
  hash_error(std::string const& what, std::string const& why, std::string const& suggestion)
      : std::runtime_error(detail::message_of(what, why, suggestion)) {}
};

/// Thrown if memory for a table, graph, workspace or exchange cannot be allocated; names the bytes
/// and the memory space.
class allocation_error : public std::bad_alloc {
 public:
  explicit allocation_error(std::string const& what)
      : m_what(detail::user_call::name() + ": " + what) {}
  char const* what() const noexcept override { return m_what.c_str(); }

 private:
  std::string m_what;
};

namespace detail {

/// True if calls from the host also check what their callers may declare valid, such as a trusted
/// graph.
#if defined(KARPOS_CONTRACTS) && KARPOS_CONTRACTS
inline constexpr bool checks_always = true;
#else
inline constexpr bool checks_always = false;
#endif

/// Throws an exception with the message "call: problem (why): suggestion".
template <class Exception = std::invalid_argument>
[[noreturn]] void reject(std::string const& problem, std::string const& why,
                         std::string const& suggestion) {
  throw Exception(message_of(problem, why, suggestion));
}

inline void require_same_extent(char const* what, std::uint64_t a, char const* other,
                                std::uint64_t b) {
  if (a != b)
    reject(std::string(what) + " and " + other + " differ in extent",
           std::to_string(a) + " against " + std::to_string(b), "pass views of the same length");
}

/// Throws std::invalid_argument if a view has fewer elements than there are `units`.
inline void require_length(std::string const& what, std::uint64_t elements, std::uint64_t n,
                           char const* units = "rows") {
  if (elements < n)
    reject(what + " is too short",
           std::to_string(elements) + " elements for " + std::to_string(n) + " " + units,
           "pass a view of at least " + std::to_string(n) + " elements");
}
/// Throws std::invalid_argument if Integer does not hold `largest`.
template <class Integer>
void require_holds(std::string const& what, std::uint64_t largest,
                   char const* suggestion = "pass a view of 64-bit integers") {
  constexpr std::uint64_t most = std::numeric_limits<Integer>::max();
  if (largest > most)
    reject(what + " has too small a type",
           std::to_string(largest) + " must fit, at most " + std::to_string(most) + " does",
           suggestion);
}
/// Describes an enumeration of options for errors: its meaning, name and last enumerator.
template <class Enum>
struct enumeration {
  char const *what = nullptr, *name = nullptr;
  Enum last{};
};
/// Specialised beside each enumeration of options (a rule of tests/rules/rules.py).
template <class Enum>
inline constexpr enumeration<Enum> enumeration_of = {};

/// Throws std::invalid_argument unless each option is an enumerator of its type. Every call checks
/// its options in this way.
template <class... Enums>
void require_enumerators(Enums... options) {
  auto const require = [](auto e) {
    constexpr auto of = enumeration_of<decltype(e)>;
    static_assert(of.name != nullptr, "karpos: specialise enumeration_of for this enumeration");
    int const number = static_cast<int>(e), last = static_cast<int>(of.last);
    if (number < 0 || number > last)
      reject(std::string("there is no such ") + of.what,
             "number " + std::to_string(number) + "; valid are 0 to " + std::to_string(last),
             std::string("choose one of karpos::") + of.name);
  };
  (require(options), ...);
}

/// Memory that a call uses: bytes [begin, end).
struct memory_range {
  char const* begin = nullptr;
  char const* end = nullptr;
  bool overlaps(memory_range const& other) const {
    return begin < end && other.begin < other.end && begin < other.end && other.begin < end;
  }
};
inline memory_range range_of(memory_range const& r) { return r; }
/// Returns the memory of a view; an empty range if the view is strided, because its elements may
/// lie between those of other views.
template <class View>
  requires requires(View const& v) { v.span_is_contiguous(); }
memory_range range_of(View const& v) {
  if (!v.span_is_contiguous()) return {};
  auto const* const begin = reinterpret_cast<char const*>(v.data());
  return {begin, begin + v.span() * sizeof(*v.data())};
}

/// Returns the memory of a view's first element, by which strided views are compared.
template <class View>
memory_range first_element_of(View const& v) {
  auto const* const begin = reinterpret_cast<char const*>(v.data());
  return {begin, begin + (v.extent(0) > 0 ? sizeof(*v.data()) : 0)};
}

/// Throws std::invalid_argument if one of several outputs shares memory with another output, or
/// with `others`.
inline void require_apart(std::string const& what, std::initializer_list<memory_range> outputs,
                          std::vector<memory_range> const& others) {
  for (auto const* out = outputs.begin(); out != outputs.end(); ++out) {
    auto const shares = [&](memory_range const& r) { return out->overlaps(r); };
    if (std::any_of(outputs.begin(), out, shares) ||
        std::any_of(others.begin(), others.end(), shares))
      reject(what + " overlaps another view of the call", "one memory for both",
             "pass memory of its own");
  }
}
/// Throws std::invalid_argument if an output shares memory with one of the others: views and memory
/// ranges.
template <class Out, class... Others>
void require_apart(std::string const& what, Out const& out, Others const&... others) {
  require_apart(what, {range_of(out)}, {range_of(others)...});
}

/// Throws as require_apart; if views are strided, compares their first elements.
template <class Out, class Other>
void require_apart_if_strided_too(std::string const& what, Out const& out, Other const& other) {
  require_apart(what, first_element_of(out), first_element_of(other));
  require_apart(what, out, other);
}

/// Throws std::invalid_argument if a view has a length, but no memory.
template <class View>
void require_data(std::string const& what, View const& view) {
  std::uint64_t const n = view.extent(0);  // not size(), which may be 0 then
  if (view.data() == nullptr && n > 0)
    reject(what + " have no memory", "a null pointer for " + std::to_string(n) + " elements",
           "allocate them");
}

/// Throws std::invalid_argument if a view is strided. `what` names it, for example "distances of a
/// search".
template <class View>
void require_contiguous(std::string const& what, View const& view) {
  if (!view.span_is_contiguous())
    reject(what + " do not lie side by side", "a strided view", "pass a contiguous one");
}

}  // namespace detail
}  // namespace karpos
