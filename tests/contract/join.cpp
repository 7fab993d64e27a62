// SPDX-License-Identifier: Apache-2.0
/// \file
/// A join as a profiler sees it: labels, instances, fences.
#include <karpos/join.hpp>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::check_call;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::view;
using karpos_test::waits;

void joins(space const& exec) {
  std::size_t const n = 20'000;
  auto keys = karpos_test::unique_keys<std::uint64_t>(n);
  auto const left = karpos::rows(to_space(keys));
  for (std::size_t i = n / 2; i < n; ++i) keys[i] = keys[i - n / 2];
  karpos::row_index const index(exec, karpos::rows(to_space(keys)));
  auto const kind = karpos::join_kind::full;
  using join_type = decltype(karpos::join(exec, left, index, kind));
  std::size_t const bytes = join_type::bytes_for(n, n, kind);
  view<std::byte> const memory("memory", bytes);
  karpos::join_options const options{.memory = {memory.data(), bytes}};
  Kokkos::fence();
  check_call("match", exec, waits::on_the_instance,
             [&] { join_type(exec, left, index, kind, options); });
  join_type const join(exec, left, index, kind, options);
  view<std::uint32_t> const l("left", join.size()), r("right", join.size());
  view<std::uint64_t> const column = to_space(keys), values("values", join.size());
  Kokkos::fence();
  check_call("write", exec, waits::never, [&] { join.write(exec, l, r); });
  check_call("gather", exec, waits::never,
             [&] { karpos::gather(exec, r, column, std::uint64_t(0), values); });
}

}  // namespace

TEST_CASE("a join in the caller's memory: matching waits, writing does not; none allocates") {
  joins(space());
  auto const instances = Kokkos::Experimental::partition_space(space(), 1, 1);
  if (karpos_test::id_of(instances[0]) == karpos_test::id_of(space()))
    MESSAGE("skipped: " KARPOS_TEST_SPACE_NAME " has one instance only");
  else
    joins(instances[1]);
}
