// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"

// Bulk operations on host views while the kernels run on a device: in batches, through staging
// buffers, on execution space instances of their own. So the copies of one batch overlap the
// kernels of another.
//
//   instance 0   copy in 0 | kernel 0 | copy out 0 | copy in 2 | …
//   instance 1             | copy in 1 | kernel 1  | copy out 1 | …
//
//   copy in: host memory → (pinned memory →) device;   copy out: the way back
//
// in_batches calls the operation, which is written for views on the device, once for each batch. If
// kernels can use all views where they are, as on CPUs, in_batches calls it once, with these views.

namespace karpos::detail {

/// How the elements of a view get to kernels.
enum class staging {
  none,           ///< kernels use the view where it is
  direct,         ///< copied between the view, in pinned memory, and the device
  through_pinned  ///< copied by host threads to pinned memory, and from there to the device
};

#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
using pinned_space = Kokkos::SharedHostPinnedSpace;
#else
using pinned_space = Kokkos::HostSpace;
#endif

/// How a view of a memory space is staged. Kernels reach pinned memory, but slower than copies do.
/// Tests specialise this for memory spaces of their own, so that CPUs run batches.
template <class ExecSpace, class MemorySpace>
inline constexpr staging staging_of =
    !device::is_device<ExecSpace> ||
            Kokkos::SpaceAccessibility<ExecSpace, Kokkos::HostSpace>::accessible
        ? staging::none
    : std::is_same_v<MemorySpace, Kokkos::HostSpace> ? staging::through_pinned
    : std::is_same_v<MemorySpace, pinned_space>      ? staging::direct
                                                     : staging::none;

/// Elements of a batch, and the number of staging buffers: two or more.
struct batch_plan {
  std::uint64_t elements;
  std::size_t buffers;
};
/// The batch plan of an execution space. Large batches hide launches and waits, but the first copy
/// and the last kernel overlap nothing, and pinned memory takes long to allocate. H200, 2^26 pairs,
/// pinned: 10.7 ms to insert and 6.4 to find; with batches half and twice as large 11.1 and 6.8,
/// with two buffers 10.7 and 7.4. Pageable: 33.6 and 25.2 ms; with batches of 2^21 41.7 and 35.8.
template <class ExecSpace, staging Mode>
inline constexpr batch_plan batch_plan_for = {
    Mode == staging::direct ? std::uint64_t(1) << 21 : std::uint64_t(1) << 19, 3};

/// An argument of an operation: a view, a stencil over one, or something that is the same for every
/// element. The operation reads inputs, and writes every element of outputs.
template <class X>
struct input {
  using type = X;
  static constexpr bool is_output = false;
  X const& given;
};
template <class X>
input(X const&) -> input<X>;
template <class X>
struct output {
  using type = X;
  static constexpr bool is_output = true;
  X const& given;
};
template <class X>
output(X const&) -> output<X>;

template <class To, class From>
struct copy_elements {
  To to;
  From from;
  void operator()(std::uint64_t i) const { to(i) = from(i); }
};

/// The share of one argument in a staging buffer. Empty if kernels use the argument itself.
template <class ExecSpace, class Argument>
class staged_argument {
  using given_type = typename Argument::type;
  using view_type = view_type_of<given_type>;
  using element = typename view_type::non_const_value_type;
  using kernel_element = std::conditional_t<Argument::is_output, element, element const>;
  template <class T, class Space>
  using unowned = Kokkos::View<T*, Space, Kokkos::MemoryUnmanaged>;
  using kernel_view = unowned<kernel_element, typename ExecSpace::memory_space>;
  static constexpr staging of_space = staging_of<ExecSpace, typename view_type::memory_space>;
  static constexpr bool is_strided =
      std::is_same_v<typename view_type::array_layout, Kokkos::LayoutStride>;

 public:
  static constexpr bool is_output = Argument::is_output;
  static constexpr staging mode =
      of_space == staging::direct && is_strided ? staging::through_pinned : of_space;

  void lay_out(arena& on_device, arena& pinned, std::uint64_t elements) {
    if constexpr (mode != staging::none) on_device.allocate(m_on_device, elements);
    if constexpr (mode == staging::through_pinned) pinned.allocate(m_pinned, elements);
  }
  /// Copies elements [first, last) to the device. Requires: earlier contents of the pinned memory
  /// have been copied.
  void load(ExecSpace const& exec, Argument const& argument, std::uint64_t first,
            std::uint64_t last) const {
    if constexpr (mode != staging::none && !is_output)
      Kokkos::deep_copy(exec, buffer(m_on_device, last - first),
                        stage(slice_on_host(argument, first, last)));
  }
  /// Returns what the operation is given for elements [first, last).
  auto kernel_argument(Argument const& argument, std::uint64_t first, std::uint64_t last) const {
    if constexpr (mode == staging::none)
      return slice_of(argument.given, first, last);
    else if constexpr (Kokkos::is_view_v<given_type>)
      return kernel_view(m_on_device, last - first);
    else
      return where<kernel_view, decltype(argument.given.predicate)>{
          kernel_view(m_on_device, last - first), argument.given.predicate};
  }
  /// Starts to copy elements [first, last) back to the host.
  void store(ExecSpace const& exec, Argument const& argument, std::uint64_t first,
             std::uint64_t last) const {
    [[maybe_unused]] auto const from = buffer(m_on_device, last - first);
    if constexpr (mode == staging::direct && is_output)
      Kokkos::deep_copy(exec, slice_on_host(argument, first, last), from);
    if constexpr (mode == staging::through_pinned && is_output)
      Kokkos::deep_copy(exec, unowned<element, Kokkos::HostSpace>(m_pinned, last - first), from);
  }
  /// Copies elements [first, last) from pinned memory to the host view. Requires: exec is done.
  void finish(Argument const& argument, std::uint64_t first, std::uint64_t last) const {
    if constexpr (mode == staging::through_pinned && is_output)
      copy("karpos::copy from pinned memory", slice_on_host(argument, first, last),
           unowned<element, Kokkos::HostSpace>(m_pinned, last - first));
  }

 private:
  static unowned<element, typename ExecSpace::memory_space> buffer(element* data, std::uint64_t n) {
    return unowned<element, typename ExecSpace::memory_space>(data, n);
  }
  /// Returns elements [first, last) of the view, as plain host memory.
  static auto slice_on_host(Argument const& argument, std::uint64_t first, std::uint64_t last) {
    auto const view = view_of(argument.given);
    Kokkos::View<typename view_type::value_type*, typename view_type::array_layout,
                 Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const all(view.data(), view.layout());
    return Kokkos::subview(all, std::pair(first, last));
  }
  /// Returns the elements where a copy to the device may start: in the view, or in pinned memory,
  /// where it copies them.
  template <class Part>
  auto stage(Part const& part) const {
    if constexpr (mode == staging::direct) {
      return part;
    } else {
      unowned<element, Kokkos::HostSpace> const to(m_pinned, part.extent(0));
      copy("karpos::copy to pinned memory", to, part);
      return to;
    }
  }
  template <class To, class From>
  static void copy(char const* label, To const& to, From const& from) {
    using space = Kokkos::DefaultHostExecutionSpace;
    using body = copy_elements<device::held_by_loop<space, To>, device::held_by_loop<space, From>>;
    device::loop_over(label, space(), to.extent(0),
                      body{device::for_loop<space>(to), device::for_loop<space>(from)});
  }

  element* m_on_device = nullptr;
  element* m_pinned = nullptr;
};

/// Returns n instances. On devices, their work may run concurrently.
template <class ExecSpace>
std::vector<ExecSpace> make_instances(ExecSpace const& exec, std::size_t n) {
  if constexpr (device::is_device<ExecSpace>)
    return Kokkos::Experimental::partition_space(exec, std::vector<int>(n, 1));
  else
    return std::vector<ExecSpace>(n, exec);
}

/// Staging buffers, and the loop that passes batches of an operation through them.
template <class ExecSpace, class... Arguments>
class batches {
 public:
  /// Allocates the buffers. Throws allocation_error if there is no memory for buffers that are
  /// 1,024 times smaller either.
  batches(ExecSpace const& exec, std::uint64_t n, batch_plan const& plan,
          Arguments const&... arguments)
      : m_arguments(arguments...),
        m_n(n),
        m_size(Kokkos::min(plan.elements, n)),
        m_exec(exec) {
    for (ExecSpace const& instance : make_instances(exec, plan.buffers))
      m_buffers.push_back({instance, {}, 0, 0});
    std::uint64_t const least = m_size / 1024;
    while (!try_allocate(least)) m_size = (m_size + 1) / 2;
    exec.fence("karpos: what a call with views on the host depends on");
  }
  batches(batches const&) = delete;
  batches& operator=(batches const&) = delete;
  ~batches() {
    for (buffer const& b : m_buffers) b.exec.fence("karpos: before staging buffers are freed");
  }

  /// Calls operation(instance, argument...) for each batch, in order. Blocks.
  template <class Operation>
  void run(Operation const& operation) {
    std::uint64_t const count = (m_n + m_size - 1) / m_size;
    fill(0);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i + 1 < count) fill(i + 1);  // copied while the operation runs on this batch
      run_batch(operation, buffer_of(i));
    }
    for (buffer& b : m_buffers) finish(b);
  }

 private:
  using parts = std::tuple<staged_argument<ExecSpace, Arguments>...>;
  static constexpr bool uses_pinned =
      ((staged_argument<ExecSpace, Arguments>::mode == staging::through_pinned) || ...);

  struct buffer {
    ExecSpace exec;
    parts arguments;
    std::uint64_t first, last;  // of the elements in the buffer
  };

  buffer& buffer_of(std::uint64_t batch) { return m_buffers[batch % m_buffers.size()]; }

  /// Calls f(share, argument) for each argument and its share of buffer b.
  template <class F>
  void for_each_argument(buffer& b, F const& f) {
    std::apply(
        [&](auto&... share) {
          std::apply([&](auto const&... argument) { (f(share, argument), ...); }, m_arguments);
        },
        b.arguments);
  }
  void fill(std::uint64_t batch) {
    buffer& b = buffer_of(batch);
    if constexpr (uses_pinned) finish(b);
    b.first = batch * m_size;
    b.last = Kokkos::min(b.first + m_size, m_n);
    for_each_argument(b, [&](auto const& share, auto const& argument) {
      share.load(b.exec, argument, b.first, b.last);
    });
  }
  template <class Operation>
  void run_batch(Operation const& operation, buffer& b) {
    std::apply(
        [&](auto&... share) {
          std::apply(
              [&](auto const&... argument) {
                operation(b.exec, share.kernel_argument(argument, b.first, b.last)...);
              },
              m_arguments);
        },
        b.arguments);
    for_each_argument(b, [&](auto const& share, auto const& argument) {
      share.store(b.exec, argument, b.first, b.last);
    });
  }
  /// Waits for the batch in buffer b, and copies its outputs from pinned memory.
  void finish(buffer& b) {
    b.exec.fence("karpos: a batch of views on the host");
    for_each_argument(b, [&](auto const& share, auto const& argument) {
      share.finish(argument, b.first, b.last);
    });
    b.first = b.last = 0;
  }

  /// Allocates buffers for batches of m_size elements. Returns whether there was memory. Throws
  /// instead if there was none and m_size is not above `least`.
  bool try_allocate(std::uint64_t least) {
    arena device_bytes, pinned_bytes;
    lay_out(device_bytes, pinned_bytes);
    try {
      allocate(m_on_device, device_bytes.bytes());
      allocate(m_pinned, pinned_bytes.bytes());
    } catch (allocation_error const&) {
      if (m_size <= least || m_size == 1) throw;
      m_on_device = {};
      return false;
    }
    arena on_device(m_on_device.data()), pinned(m_pinned.data());
    lay_out(on_device, pinned);
    return true;
  }
  void lay_out(arena& on_device, arena& pinned) {
    for (buffer& b : m_buffers)
      for_each_argument(
          b, [&](auto& share, auto const&) { share.lay_out(on_device, pinned, m_size); });
  }
  template <class Bytes>
  void allocate(Bytes& bytes, std::size_t n) {
    if (n == 0) return;
    using memory = typename Bytes::memory_space;
    bytes = allocate_byte_array<memory>(m_exec, "karpos::staging buffers", n, "staging buffers",
                                        "pass views in the memory of the table");
  }

  std::tuple<Arguments...> m_arguments;
  std::uint64_t m_n, m_size;
  ExecSpace m_exec;
  Kokkos::View<std::byte*, typename ExecSpace::memory_space> m_on_device;
  Kokkos::View<std::byte*, pinned_space> m_pinned;
  std::vector<buffer> m_buffers;
};

/// Calls operation(instance, argument...), with n elements of each argument, which is an input or
/// an output. If kernels use all arguments where they are, calls it once, with exec and the
/// arguments. Otherwise calls it in batches on instances of its own, after exec, and blocks. What
/// the operation enqueues and does for one batch must not disturb another batch.
template <class ExecSpace, class Operation, class... Arguments>
void in_batches(ExecSpace const& exec, std::uint64_t n, Operation const& operation,
                Arguments const&... arguments) {
  constexpr staging mode =
      Kokkos::max({staging::none, staged_argument<ExecSpace, Arguments>::mode...});
  if constexpr (mode == staging::none)
    operation(exec, arguments.given...);
  else if (n != 0)
    batches<ExecSpace, Arguments...>(exec, n, batch_plan_for<ExecSpace, mode>, arguments...)
        .run(operation);
}

}  // namespace karpos::detail
