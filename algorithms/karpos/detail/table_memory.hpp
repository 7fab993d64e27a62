// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/table_options.hpp"
#include "karpos/device/native/host.hpp"

// What tables do with memory, whatever they keep in it.

namespace karpos::detail {

/// The label of a kernel or an array of a table: karpos::<name>::<what>.
inline std::string table_label(std::string const& name, char const* what) {
  return "karpos::" + name + "::" + what;
}

/// One thread for each of n slots.
template <class ExecSpace>
auto slot_range(ExecSpace const& exec, std::uint64_t n) {
  return Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>>(exec, 0, n);
}

template <class Word>
struct fill_body {
  Word* words;
  Word value;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { words[i] = value; }
};

/// Gives every element of an array the same value. Asynchronous.
template <class ExecSpace, class Word, class... P>
void fill(std::string const& label, ExecSpace const& exec, Kokkos::View<Word*, P...> const& array,
          std::type_identity_t<Word> const& value) {
  Kokkos::parallel_for(label, slot_range(exec, array.extent(0)),
                       fill_body<Word>{array.data(), value});
}

/// Returns: make(), which allocates so many bytes. Throws allocation_error, with the bytes and the space, when
/// there is no memory.
template <class MemorySpace, class Make>
auto allocated(std::size_t bytes, Make const& make) {
  try {
    return make();
  } catch (std::exception const& e) {
    throw allocation_error("out of memory (" + std::to_string(bytes) + " bytes in " +
                           MemorySpace::name() + "): ask for fewer keys or a higher load; " +
                           e.what());
  }
}

/// An array of a table's, not initialised; slots in host memory ask for huge pages.
template <class View, class ExecSpace>
View table_array(ExecSpace const& exec, std::string const& label, std::uint64_t n) {
  return View(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), n);
}
template <class View, class ExecSpace>
View slot_array(ExecSpace const& exec, std::string const& label, std::uint64_t n) {
  auto const slots = table_array<View>(exec, label, n);
  if constexpr (std::is_same_v<typename View::memory_space, Kokkos::HostSpace>)
    device::host::advise_huge_pages(slots.data(), slots.size() * sizeof(typename View::value_type));
  return slots;
}

/// Bytes that a bucket is aligned to: it is read with vector instructions that want its natural alignment; more
/// than a cache line is what no allocation of Kokkos' promises.
constexpr std::size_t bucket_alignment(std::size_t bucket_bytes) {
  std::size_t const natural = bucket_bytes & (~bucket_bytes + 1);
  return natural < 64 ? natural : 64;
}

/// Throws std::invalid_argument for memory of the caller's that is too small or not aligned.
inline void require_wrappable(wrapped_memory memory, std::size_t bytes, std::size_t alignment) {
  if (memory.bytes < bytes)
    reject("the memory to wrap is too small",
           std::to_string(memory.bytes) + " bytes for " + std::to_string(bytes),
           "allocate bytes_for(max_keys, load)");
  if (reinterpret_cast<std::uintptr_t>(memory.data) % alignment != 0)
    reject("the memory to wrap is not aligned",
           "buckets need " + std::to_string(alignment) + " bytes", "align it to that");
}

}  // namespace karpos::detail
