// SPDX-License-Identifier: Apache-2.0
/// \file
/// Insertions and lookups of a hash_map on a device from views on the host, by the size of batches
/// and the number of staging buffers, and copies of the same bytes in the same run. Answers are
/// checked. Prints medians in ms; the argument is the number of keys, 2^26 by default. These
/// figures justify batch_plan_for (karpos/detail/common/host_views.hpp).
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <karpos/hash_map.hpp>
#include <string>

#include "perf/measure/bench/median.hpp"

namespace {

using space = KARPOS_DRIVER_SPACE;
using key = std::uint32_t;
using karpos::detail::batch_plan;
using karpos::detail::input;
using karpos::detail::output;
using on_device = Kokkos::View<key*, space::memory_space>;
template <class Memory>
using on_host = Kokkos::View<key*, Memory>;

template <class Prepare, class F>
double median_ms(Prepare const& prepare, F const& f, int times = 5) {
  return 1e3 * karpos::perf::median_seconds(prepare, f, times);
}

/// Milliseconds of copying the bytes that insertions and lookups move over the link: to the device
/// only, and both ways at once.
struct link_times {
  double in, in_and_out;
};

template <class Memory>
struct bench {
  space exec;
  std::uint64_t n;
  karpos::hash_map<key, key, space> map{exec, n, {.load = 0.5}};
  on_host<Memory> keys = make_view("keys"), values = make_view("values"), out = make_view("out");

  on_host<Memory> make_view(std::string const& label) const {
    return on_host<Memory>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), n);
  }
  link_times link() const {
    on_device const a("a", n), b("b", n);
    auto const none = [] {};
    auto const both = Kokkos::Experimental::partition_space(exec, 1, 1);
    double const in = median_ms(none, [&] {
      Kokkos::deep_copy(exec, a, keys);
      Kokkos::deep_copy(exec, b, values);
    });
    double const in_and_out = median_ms(none, [&] {
      Kokkos::deep_copy(both[0], a, keys);
      Kokkos::deep_copy(both[1], out, b);
    });
    return {in, in_and_out};
  }
  void fill() const {
    for (std::uint64_t i = 0; i < n; ++i) {
      keys(i) = static_cast<key>(i * 2654435761u);
      values(i) = static_cast<key>(i);
    }
  }
  std::uint64_t wrong() const {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < n; ++i) count += out(i) != values(i);
    return count;
  }
  void insert(batch_plan const& plan) {
    using view = on_host<Memory>;
    karpos::detail::batches<space, input<view>, input<view>>(exec, n, plan, input<view>{keys},
                                                             input<view>{values})
        .run([&](space const& e, auto const& k, auto const& v) { map.insert(e, k, v); });
  }
  void find(batch_plan const& plan) const {
    using view = on_host<Memory>;
    karpos::detail::batches<space, input<view>, output<view>>(exec, n, plan, input<view>{keys},
                                                              output<view>{out})
        .run([&](space const& e, auto const& q, auto const& o) { map.find(e, q, o, key(~0u)); });
  }
  /// Prints a line. Returns the number of wrong answers.
  template <class Insert, class Find>
  std::uint64_t report(std::string const& what, link_times const& link, Insert const& insert,
                       Find const& find) {
    double const inserted = median_ms([&] { map.clear(exec); }, insert);
    std::uint64_t const in = map.size(exec);
    Kokkos::deep_copy(out, key(0));
    double const found = median_ms([] {}, find);
    std::uint64_t const bad = wrong() + (in > n ? in - n : n - in);
    std::printf("%-34s insert %9.3f ms %6.2f of link   find %9.3f ms %6.2f of in and out%s\n",
                what.c_str(), inserted, link.in / inserted, found, link.in_and_out / found,
                bad == 0 ? "" : "   WRONG");
    return bad;
  }
};

/// Runs all measurements of one kind of host memory. Pageable memory is also compared with
/// `pinned_link`, since the link itself is as fast for it.
template <class Memory>
std::uint64_t run(char const* memory, std::uint64_t n, link_times& pinned_link) {
  bench<Memory> b{space{}, n};
  b.fill();
  link_times const own = b.link();
  if (pinned_link.in == 0) pinned_link = own;
  std::printf("%s: deep_copy in %.3f ms (%.1f GB/s), in and out %.3f ms\n", memory, own.in,
              8e-6 * static_cast<double>(n) / own.in, own.in_and_out);
  std::uint64_t wrong = 0;
  wrong += b.report(
      "  as the library does", pinned_link, [&] { b.map.insert(b.exec, b.keys, b.values); },
      [&] { b.map.find(b.exec, b.keys, b.out, key(~0u)); });
  for (int log = 16; log <= 24; log += 1)
    for (std::size_t const buffers : {2u, 3u, 4u}) {
      batch_plan const plan{std::uint64_t(1) << log, buffers};
      wrong += b.report(
          "  batches of 2^" + std::to_string(log) + ", " + std::to_string(buffers) + " buffers",
          pinned_link, [&] { b.insert(plan); }, [&] { b.find(plan); });
    }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::uint64_t const n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::uint64_t(1) << 26;
  if constexpr (karpos::detail::staging_of<space, Kokkos::HostSpace> ==
                karpos::detail::staging::none) {
    std::printf("%s reaches the host's memory: there are no batches\n", space::name());
    return 0;
  } else {
    link_times link{};
    std::uint64_t wrong = run<karpos::detail::pinned_space>("pinned", n, link);
    wrong += run<Kokkos::HostSpace>("pageable", n, link);
    return wrong == 0 ? 0 : 1;
  }
}
