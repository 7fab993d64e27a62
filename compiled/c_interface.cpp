// SPDX-License-Identifier: Apache-2.0
#include "compiled/c_interface.hpp"

#include <limits>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"

namespace karpos::compiled::c {
namespace {

struct not_initialized : std::logic_error {
  using std::logic_error::logic_error;
};

struct registry {
  std::mutex mutex;
  bool is_initialized = false, owns_kokkos = false;
  std::uintptr_t last = 0;  ///< the handle that was made last
  std::unordered_map<std::uintptr_t, std::shared_ptr<object>> objects;
};
registry& all() {
  static registry& r = *new registry;  // kept: memory of kernels cannot be freed after main
  return r;
}
thread_local std::string last_error;

/// Frees all handles, before Kokkos ends.
void end() {
  auto objects = [] {
    std::scoped_lock const lock(all().mutex);
    all().is_initialized = false;
    return std::exchange(all().objects, {});
  }();
}

std::uintptr_t number_of(void const* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

karpos_status record(karpos_status status, char const* call, char const* what) noexcept {
  try {
    last_error = std::string(call) + ": " + what;
  } catch (...) {
    last_error.clear();
  }
  return status;
}

}  // namespace

karpos_status failed(char const* call) noexcept {
  try {
    throw;
  } catch (not_initialized const& e) {
    return record(KARPOS_NOT_INITIALIZED, call, e.what());
  } catch (invalid_handle const& e) {
    return record(KARPOS_INVALID_HANDLE, call, e.what());
  } catch (capacity_error const& e) {
    return record(KARPOS_CAPACITY, call, e.what());
  } catch (std::range_error const& e) {
    return record(KARPOS_RANGE, call, e.what());
  } catch (std::bad_alloc const& e) {
    return record(KARPOS_OUT_OF_MEMORY, call, e.what());
  } catch (std::invalid_argument const& e) {
    return record(KARPOS_INVALID_ARGUMENT, call, e.what());
  } catch (std::length_error const& e) {
    return record(KARPOS_INVALID_ARGUMENT, call, e.what());
  } catch (std::exception const& e) {
    return record(KARPOS_ERROR, call, e.what());
  } catch (...) {
    return record(KARPOS_ERROR, call, "an unknown exception");
  }
}

void require_initialized() {
  std::scoped_lock const lock(all().mutex);
  if (!all().is_initialized)
    reject<not_initialized>("Karpos is not ready", "before karpos_initialize, or after the end",
                            "call karpos_initialize first");
}

void* add_object(std::shared_ptr<object> o) {
  std::scoped_lock const lock(all().mutex);
  std::uintptr_t const handle = ++all().last;
  all().objects.emplace(handle, std::move(o));
  return reinterpret_cast<void*>(handle);
}
std::shared_ptr<object> find_object(void const* handle) {
  std::scoped_lock const lock(all().mutex);
  auto const found = all().objects.find(number_of(handle));
  return found == all().objects.end() ? nullptr : found->second;
}

array_memory::array_memory(context const& c, std::uint64_t n, std::size_t element, void* data,
                           bool is_read, char const* what, bool is_kept)
    : m_context(&c),
      m_callers(data),
      m_data(data) {
  if (data == nullptr && n > 0)
    reject(std::string(what) + " are missing",
           "a null pointer for " + std::to_string(n) + " elements", "pass an array");
  constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max();
  if (n > most / element)
    reject(std::string(what) + " are too many", std::to_string(n) + " elements",
           "pass the size of the array, which is in elements");
  if (n == 0 || !(c.copies() || (is_kept && c.on_host))) return;
  m_copy = karpos::detail::allocate_byte_array<memory_space>(
      c.exec, "karpos::compiled: array", n * element, what, "pass fewer elements at once");
  m_data = m_copy.data();
  if (is_read)
    Kokkos::deep_copy(c.exec, m_copy,
                      Kokkos::View<std::byte const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          static_cast<std::byte const*>(data), n * element));
}
void array_memory::write_back(std::size_t bytes) const {
  if (m_copy.extent(0) > 0)
    Kokkos::deep_copy(m_context->exec,
                      Kokkos::View<std::byte*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          static_cast<std::byte*>(m_callers), bytes),
                      Kokkos::subview(m_copy, std::pair<std::size_t, std::size_t>(0, bytes)));
  m_context->exec.fence("karpos::compiled: results of a call");
}

}  // namespace karpos::compiled::c

using namespace karpos::compiled::c;

char const* karpos_last_error() { return last_error.c_str(); }

karpos_status karpos_initialize() {
  try {
    std::scoped_lock const lock(all().mutex);
    if (all().is_initialized) return KARPOS_OK;
    if (Kokkos::is_finalized())
      reject<not_initialized>("Kokkos has been finalized", "it cannot be initialized again",
                              "finalize once, at the end of the program");
    if (!Kokkos::is_initialized()) {
      Kokkos::initialize();
      all().owns_kokkos = true;
    }
    Kokkos::push_finalize_hook(end);
    all().is_initialized = true;
    return KARPOS_OK;
  } catch (...) {
    return failed("karpos_initialize");
  }
}
karpos_status karpos_finalize() {
  return guarded("karpos_finalize", [] {
    end();
    if (std::exchange(all().owns_kokkos, false)) Kokkos::finalize();
  });
}

karpos_status karpos_context_create(karpos_memory memory, karpos_context* to) {
  return guarded("karpos_context_create", [&] {
    if (memory != KARPOS_HOST_MEMORY && memory != KARPOS_DEVICE_MEMORY)
      reject("there is no such memory",
             "number " + std::to_string(static_cast<int>(memory)) + "; valid are 0 and 1",
             "choose one of karpos_memory");
    make_object(to, [&] {
      auto const made = std::make_shared<context>();
      made->on_host = memory == KARPOS_HOST_MEMORY;
      return made;
    });
  });
}

karpos_status karpos_free(void const* handle) {
  if (handle == nullptr) return KARPOS_OK;
  return guarded("karpos_free", [&] {
    auto const freed = object_of<object>(handle, "handle");  // destroyed outside of the lock
    std::scoped_lock const lock(all().mutex);
    all().objects.erase(number_of(handle));
  });
}
