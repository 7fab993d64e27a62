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
#include "karpos/table_options.hpp"

// Bulk operations on host views while the kernels run on a device: in batches, through staging
// buffers, on several instances, so that the copies of one batch overlap the kernels of another.
//
//   instance 0   copy in 0 | kernel 0 | copy out 0 | copy in 2 | …
//   instance 1             | copy in 1 | kernel 1  | copy out 1 | …
//
//   copy in: host memory → (pinned memory →) device;   copy out: the way back
//
// in_batches calls the operation, which is written for views on the device, once for each batch; or
// once, if kernels can use all views where they are, as on CPUs.

namespace karpos::detail {

/// How the elements of a view get to kernels.
enum class staging {
  none,           ///< kernels use the view where it is
  direct,         ///< copied between the view, in pinned memory, and the device
  through_pinned  ///< copied by host threads to pinned memory, and from there to the device
};

/// How a view of a memory space is staged. Kernels reach pinned memory, but slower than copies do.
/// Tests specialise this, so that CPUs run batches.
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

/// An argument of an operation: a view, a stencil, or something that is the same for every element.
/// The operation reads inputs, and writes every element of outputs.
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
  using device_memory = typename ExecSpace::memory_space;
  template <class T, class Space>
  using unowned = Kokkos::View<T*, Space, Kokkos::MemoryUnmanaged>;
  static constexpr bool is_output = Argument::is_output;
  static constexpr staging of_space = staging_of<ExecSpace, typename view_type::memory_space>;
  static constexpr bool is_strided =
      std::is_same_v<typename view_type::array_layout, Kokkos::LayoutStride>;

 public:
  static constexpr staging mode =
      of_space == staging::direct && is_strided ? staging::through_pinned : of_space;

  explicit staged_argument(Argument const& argument) : m_given(argument.given) {}

  void lay_out(arena& on_device, arena& pinned, std::uint64_t elements) {
    if constexpr (mode != staging::none) on_device.allocate(m_on_device, elements);
    if constexpr (mode == staging::through_pinned) pinned.allocate(m_pinned, elements);
  }
  /// Copies elements [first, last) to the device. Requires: nothing else waits in pinned memory.
  void load(ExecSpace const& exec, std::uint64_t first, std::uint64_t last) const {
    if constexpr (mode == staging::direct && !is_output)
      Kokkos::deep_copy(exec, device_buffer(last - first), in_view(first, last));
    if constexpr (mode == staging::through_pinned && !is_output) {
      copy("karpos::copy to pinned memory", pinned_buffer(last - first), in_view(first, last));
      Kokkos::deep_copy(exec, device_buffer(last - first), pinned_buffer(last - first));
    }
  }
  /// Returns what the operation is given for elements [first, last).
  auto kernel_argument(std::uint64_t first, std::uint64_t last) const {
    using kernel_view =
        unowned<std::conditional_t<is_output, element, element const>, device_memory>;
    if constexpr (mode == staging::none)
      return slice_of(m_given, first, last);
    else if constexpr (Kokkos::is_view_v<given_type>)
      return kernel_view(m_on_device, last - first);
    else
      return where<kernel_view, decltype(m_given.predicate)>{kernel_view(m_on_device, last - first),
                                                             m_given.predicate};
  }
  /// Starts to copy elements [first, last) back to the host.
  void store(ExecSpace const& exec, std::uint64_t first, std::uint64_t last) const {
    if constexpr (mode == staging::direct && is_output)
      Kokkos::deep_copy(exec, in_view(first, last), device_buffer(last - first));
    if constexpr (mode == staging::through_pinned && is_output)
      Kokkos::deep_copy(exec, pinned_buffer(last - first), device_buffer(last - first));
  }
  /// Copies elements [first, last) from pinned memory to the host view. Requires: exec is done.
  void finish(std::uint64_t first, std::uint64_t last) const {
    if constexpr (mode == staging::through_pinned && is_output)
      copy("karpos::copy from pinned memory", in_view(first, last), pinned_buffer(last - first));
  }

 private:
  auto device_buffer(std::uint64_t n) const {
    return unowned<element, device_memory>(m_on_device, n);
  }
  auto pinned_buffer(std::uint64_t n) const {
    return unowned<element, Kokkos::HostSpace>(m_pinned, n);
  }
  /// Returns elements [first, last) of the view, as plain host memory.
  auto in_view(std::uint64_t first, std::uint64_t last) const {
    auto const view = view_of(m_given);
    Kokkos::View<typename view_type::value_type*, typename view_type::array_layout,
                 Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const all(view.data(), view.layout());
    return Kokkos::subview(all, std::pair(first, last));
  }
  template <class To, class From>
  static void copy(char const* label, To const& to, From const& from) {
    using space = Kokkos::DefaultHostExecutionSpace;
    device::loop_over(label, space(), to.extent(0),
                      device::make_body<space, copy_elements>(to, from));
  }

  given_type const& m_given;
  element* m_on_device = nullptr;
  element* m_pinned = nullptr;
};

/// Staging buffers, and the loop that passes batches of an operation through them.
template <class ExecSpace, class... Arguments>
class batches {
 public:
  /// Allocates buffers. Throws allocation_error if 1,024 times smaller ones do not fit, either.
  batches(ExecSpace const& exec, std::uint64_t n, batch_plan const& plan,
          Arguments const&... arguments)
      : m_n(n),
        m_size(Kokkos::min(plan.elements, n)),
        m_exec(exec) {
    std::vector<ExecSpace> instances(plan.buffers, exec);
    if constexpr (device::is_device<ExecSpace>)  // their work may run concurrently
      instances = Kokkos::Experimental::partition_space(exec, std::vector<int>(plan.buffers, 1));
    for (ExecSpace const& instance : instances)
      m_buffers.push_back({instance, parts(arguments...), 0, 0});
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

  /// Calls f(argument) for each argument's share of buffer b.
  template <class F>
  void for_each_argument(buffer& b, F const& f) {
    std::apply([&](auto&... argument) { (f(argument), ...); }, b.arguments);
  }
  void fill(std::uint64_t batch) {
    buffer& b = buffer_of(batch);
    if constexpr (uses_pinned) finish(b);
    b.first = batch * m_size;
    b.last = Kokkos::min(b.first + m_size, m_n);
    for_each_argument(b, [&](auto const& x) { x.load(b.exec, b.first, b.last); });
  }
  template <class Operation>
  void run_batch(Operation const& operation, buffer& b) {
    auto const run = [&](auto&... x) { operation(b.exec, x.kernel_argument(b.first, b.last)...); };
    std::apply(run, b.arguments);
    for_each_argument(b, [&](auto const& x) { x.store(b.exec, b.first, b.last); });
  }
  /// Waits for the batch in buffer b, and copies its outputs from pinned memory.
  void finish(buffer& b) {
    b.exec.fence("karpos: a batch of views on the host");
    for_each_argument(b, [&](auto const& x) { x.finish(b.first, b.last); });
    b.first = b.last = 0;
  }

  /// Allocates buffers for batches of m_size elements. Returns whether they fit; throws at `least`.
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
      for_each_argument(b, [&](auto& x) { x.lay_out(on_device, pinned, m_size); });
  }
  template <class Bytes>
  void allocate(Bytes& bytes, std::size_t n) {
    if (n == 0) return;
    using memory = typename Bytes::memory_space;
    bytes = allocate_byte_array<memory>(m_exec, "karpos::staging buffers", n, "staging buffers",
                                        "pass views in the memory of the table");
  }

  std::uint64_t m_n, m_size;
  ExecSpace m_exec;
  Kokkos::View<std::byte*, typename ExecSpace::memory_space> m_on_device;
  Kokkos::View<std::byte*, pinned_space> m_pinned;
  std::vector<buffer> m_buffers;
};

/// Calls operation(instance, argument...), with n elements of each input or output. If kernels use
/// all arguments where they are, calls it once, with exec. Otherwise calls it in batches on other
/// instances, after exec, and blocks. Requires: the operation's batches do not disturb each other.
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

/// Returns the options of a batch that runs on `instance`: batches of host views run on several
/// instances, which cannot share a workspace.
template <class ExecSpace>
bulk_options options_of_batch(ExecSpace const& exec, ExecSpace const& instance,
                              bulk_options const& bulk) {
  return instance == exec ? bulk : bulk_options{bulk_strategy::direct};
}

}  // namespace karpos::detail
