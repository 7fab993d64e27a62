// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"

// Arrays in a memory space: allocating them or explaining why not, filling them, reading them back.
//
//   arena   | array 0 … | array 1 … |     one allocation; arrays begin at multiples of 256 bytes
//
// A call works in the caller's memory or its own (workspace.hpp). Views on the host go through
// staging buffers in batches (host_views.hpp). Tests: arrays, host_views.

namespace karpos::detail {

/// Memory of the host that copies to and from a device reach directly.
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
using pinned_space = Kokkos::SharedHostPinnedSpace;
#else
using pinned_space = Kokkos::HostSpace;
#endif

/// Returns make(), which allocates `bytes` in MemorySpace. If it throws, explains that.
template <class MemorySpace, class Make>
auto allocate_or_explain(std::size_t bytes, std::string const& what, char const* suggestion,
                         Make const& make) {
  try {
    return make();
  } catch (std::exception const& e) {
    throw allocation_error("out of memory (" + std::to_string(bytes) + " bytes in " +
                           MemorySpace::name() + " for " + what + "): " + suggestion + "; " +
                           e.what());
  }
}

/// Returns an array with unspecified contents. Advises huge pages for it, on hosts that have them.
template <class View, class ExecSpace, class... Extents>
View uninitialized_array(ExecSpace const& exec, std::string const& label, Extents... extents) {
  View const array(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), extents...);
  device::advise_huge_pages<typename View::memory_space>(
      array.data(), array.size() * sizeof(typename View::value_type));
  return array;
}

/// Returns an array with unspecified contents. Throws an allocation_error that explains.
template <class View, class ExecSpace, class... Extents>
View allocate_array(ExecSpace const& exec, std::string const& label, std::string const& what,
                    char const* suggestion, Extents... extents) {
  return allocate_or_explain<typename View::memory_space>(
      (std::uint64_t(extents) * ... * sizeof(typename View::value_type)), what, suggestion,
      [&] { return uninitialized_array<View>(exec, label, extents...); });
}
template <class MemorySpace, class ExecSpace>
Kokkos::View<std::byte*, MemorySpace> allocate_byte_array(ExecSpace const& exec,
                                                          std::string const& label,
                                                          std::size_t bytes, char const* what,
                                                          char const* suggestion) {
  return allocate_array<Kokkos::View<std::byte*, MemorySpace>>(exec, label, what, suggestion,
                                                               bytes);
}

/// Cuts arrays out of one allocation, each at a multiple of 256 bytes. Without an allocation it
/// only adds up their bytes, and stops at the largest std::size_t.
class arena {
 public:
  explicit arena(std::byte* base = nullptr) : m_base(base) {}

  template <class T>
  void allocate(T*& array, std::uint64_t n) {
    array = m_base == nullptr ? nullptr : reinterpret_cast<T*>(m_base + m_bytes);
    constexpr std::size_t most = ~std::size_t(0) / 256 * 256;
    bool const fits = n <= (most - m_bytes) / 256 * 256 / sizeof(T);
    m_bytes = fits ? m_bytes + (n * sizeof(T) + 255) / 256 * 256 : most;
  }
  std::size_t bytes() const { return m_bytes; }

 private:
  std::byte* m_base;
  std::size_t m_bytes = 0;
};

/// Writes make(i) to every element of an array in stores of 16 bytes. A GPU thread's narrower
/// stores leave two thirds of the memory's rate unused. H200, 8 GiB: 3,394 GB/s; Kokkos::deep_copy
/// of a value 1,701, of zero (a memset) 4,559.
template <class Word, class Make>
struct fill_body {
  static constexpr std::uint64_t words = 16 % sizeof(Word) == 0 ? 16 / sizeof(Word) : 1;
  struct alignas(words == 1 ? alignof(Word) : 16) chunk {
    Word word[words];
  };
  Word* to;
  Make make;
  std::uint64_t n;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const first = i * words;
    if (first + words <= n) {
      chunk c;
      for (std::uint64_t j = 0; j < words; ++j) c.word[j] = make(first + j);
      *reinterpret_cast<chunk*>(to + first) = c;
    } else {
      for (std::uint64_t j = first; j < n; ++j) to[j] = make(j);
    }
  }
};

/// Writes make(i) to element i; CPUs vectorise it. 2^23 words, 2 cores: 0.85 ms, by fill_body 1.3.
template <class Word, class Make>
struct fill_element {
  Word* to;
  Make make;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to[i] = make(i); }
};

/// Sets element i of n to make(i). Asynchronous on devices, which write chunks of 16 bytes; wrapped
/// memory that is not aligned to 16 bytes, as Kokkos' allocations are, is filled by element.
template <class ExecSpace, class Word, class Make>
void fill_with(std::string const& label, ExecSpace const& exec, Word* to, std::uint64_t n,
               Make const& make) {
  if constexpr (device::is_device<ExecSpace>) {
    using body = fill_body<Word, Make>;
    if (reinterpret_cast<std::uintptr_t>(to) % alignof(typename body::chunk) == 0) {
      device::loop_over(label, exec, (n + body::words - 1) / body::words, body{to, make, n});
      return;
    }
  }
  device::loop_over(label, exec, n, fill_element<Word, Make>{to, make});
}
template <class ExecSpace, class Word, class... P, class Make>
void fill_with(std::string const& label, ExecSpace const& exec,
               Kokkos::View<Word*, P...> const& array, Make const& make) {
  fill_with(label, exec, array.data(), array.extent(0), make);
}

/// Function that returns one value for every element, or key.
template <class T>
struct constant {
  T value;
  KOKKOS_FUNCTION constexpr T operator()(std::uint64_t) const { return value; }
};
template <class ExecSpace, class Word, class... P>
void fill(std::string const& label, ExecSpace const& exec, Kokkos::View<Word*, P...> const& array,
          std::type_identity_t<Word> const& value) {
  fill_with(label, exec, array, constant<Word>{value});
}
/// Fills an array with one word, whatever the array's type is: one kernel serves all types.
template <class ExecSpace, class T>
void fill_words(char const* label, ExecSpace const& exec, T* array, std::uint64_t n,
                std::uint32_t word) {
  static_assert(sizeof(T) % sizeof(word) == 0);
  fill_with(label, exec, reinterpret_cast<std::uint32_t*>(array), n * (sizeof(T) / sizeof(word)),
            constant<std::uint32_t>{word});
}

/// Returns a view of n elements in the memory of a space.
template <class Space, class T>
auto unmanaged(T* data, std::uint64_t n) {
  return Kokkos::View<T*, typename Space::memory_space, Kokkos::MemoryUnmanaged>(data, n);
}

/// Returns the object at `from` in ExecSpace's memory. Waits for exec; `why` labels the fence.
template <class ExecSpace, class T>
T read_back(ExecSpace const& exec, T const* from, std::string const& why) {
  using memory_space = typename ExecSpace::memory_space;
  if constexpr (device::is_device<ExecSpace>) {
    T value{};
    Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const to(&value);
    Kokkos::deep_copy(exec, to, Kokkos::View<T const, memory_space, Kokkos::MemoryUnmanaged>(from));
    exec.fence(why);
    return value;
  } else {
    exec.fence(why);
    return *from;
  }
}

}  // namespace karpos::detail
