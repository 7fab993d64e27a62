// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "compiled/bits.hpp"
#include "compiled/karpos.h"
#include "karpos/compiled.hpp"

// Errors, handles, arrays and types of all calls of karpos.h.

namespace karpos::compiled::c {

using compiled::bits;

struct invalid_handle : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
/// Throws Exception with the message "problem (why): suggestion". The call's name comes before it.
template <class Exception = std::invalid_argument>
[[noreturn]] void reject(std::string const& problem, std::string const& why,
                         std::string const& suggestion) {
  throw Exception(problem + " (" + why + "): " + suggestion);
}
template <class T>
void require_pointer(T const* p, char const* what) {
  if (p == nullptr) reject(std::string(what) + " is missing", "a null pointer", "pass its address");
}

void require_initialized();
/// Records the exception that is being handled as the thread's last error of this call.
karpos_status failed(char const* call) noexcept;
/// Runs f, and returns its status: no exception leaves it.
template <class F>
karpos_status guarded(char const* call, F const& f) noexcept {
  try {
    require_initialized();
    f();
    return KARPOS_OK;
  } catch (...) {
    return failed(call);
  }
}

/// An object with a handle. Handles are numbers that are not used again, no addresses.
struct object {
  virtual ~object() = default;
};
void* add_object(std::shared_ptr<object> o);
std::shared_ptr<object> find_object(void const* handle);

/// Returns the object of a handle. `kind` says what it should be.
template <class T>
std::shared_ptr<T> object_of(void const* handle, char const* kind) {
  auto o = std::dynamic_pointer_cast<T>(find_object(handle));
  if (!o)
    reject<invalid_handle>(std::string("this is no ") + kind,
                           handle == nullptr ? "a null handle" : "freed, or of another kind",
                           "pass a handle that is in use");
  return o;
}
/// Makes an object, and writes its handle to *to.
template <class Handle, class Make>
void make_object(Handle* to, Make const& make) {
  require_pointer(to, "the variable for the handle");
  *to = static_cast<Handle>(add_object(make()));
}

struct context : object {
  execution_space exec;
  bool on_host = false;  ///< whether the caller's arrays are on the host
  /// Returns whether kernels cannot reach the caller's arrays.
  bool copies() const {
    return on_host && !Kokkos::SpaceAccessibility<execution_space, Kokkos::HostSpace>::accessible;
  }
};
inline std::shared_ptr<context> context_of(karpos_context handle) {
  return object_of<context>(handle, "context");
}

/// An array of the caller where kernels reach it: the array itself, or a copy. `is_kept`: whether
/// it is read after the call, too; then an array on the host is always copied.
class array_memory {
 public:
  array_memory(context const& c, std::uint64_t n, std::size_t element, void* data, bool is_read,
               char const* what, bool is_kept);
  void* data() const { return m_data; }
  /// Copies bytes to the caller's array. Blocks.
  void write_back(std::size_t bytes) const;

 private:
  context const* m_context;
  void *m_callers, *m_data;
  Kokkos::View<std::byte*, memory_space> m_copy;
};
/// An array of n elements that a call reads (T is const) or writes. `what` names it for errors.
template <class T>
struct array {
  array(context const& c, std::uint64_t n,
        std::conditional_t<std::is_const_v<T>, void const*, void*> data, char const* what,
        bool is_kept = false)
      : memory(c, n, sizeof(T), const_cast<void*>(data), std::is_const_v<T>, what, is_kept),
        view(static_cast<T*>(memory.data()), n) {}
  /// Gives the caller the first n elements of an output, by default all. Blocks.
  void write_back(std::uint64_t n) const { memory.write_back(n * sizeof(T)); }
  void write_back() const { write_back(view.extent(0)); }

  array_memory memory;
  Kokkos::View<T*, memory_space> view;
};

/// Calls f with a number of the type that `type` names, one of Types.
template <class... Types, class F>
void with_type_of(karpos_type type, char const* what, F const& f) {
  constexpr auto name = []<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      return sizeof(T) == 4 ? KARPOS_F32 : KARPOS_F64;
    else if constexpr (std::is_signed_v<T>)
      return sizeof(T) == 4 ? KARPOS_I32 : KARPOS_I64;
    else
      return sizeof(T) == 4 ? KARPOS_U32 : KARPOS_U64;
  };
  bool const is_known = ((type == name(Types{}) && (f(Types{}), true)) || ...);
  if (!is_known)
    reject(std::string(what) + " are of a type that this call does not take",
           "karpos_type " + std::to_string(static_cast<int>(type)),
           "karpos.h says which types there are");
}
template <class F>
void with_key(karpos_type type, F const& f) {
  with_type_of<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>(type, "keys", f);
}
template <class F>
void with_value(karpos_type type, F const& f) {
  with_type_of<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>(
      type, "values", f);
}
}  // namespace karpos::compiled::c
