// SPDX-License-Identifier: Apache-2.0
/// \file
/// An index of rows as a profiler sees it: labels, instances, fences.
#include <karpos/row_index.hpp>

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

void queries_an_index(space const& exec) {
  std::size_t const n = 20'000;
  auto keys = karpos_test::unique_keys<std::uint64_t>(n);
  for (std::size_t i = n / 2; i < n; ++i) keys[i] = keys[i - n / 2];
  auto const rows = karpos::rows(to_space(keys));
  using index_type = karpos::row_index<decltype(rows), space>;
  std::size_t const bytes = index_type::bytes_for(n), work = index_type::workspace_bytes(exec, n);
  view<std::byte> const memory("memory", bytes), workspace("workspace", work);
  karpos::row_index_options const options{.memory = {memory.data(), bytes},
                                          .workspace = {workspace.data(), work}};
  view<std::uint32_t> const out("out", n);
  view<bool> const flags("flags", n);
  Kokkos::fence();
  check_call("build", exec, waits::on_the_instance, [&] { index_type(exec, rows, options); });
  index_type const index(exec, rows, options);
  check_call("find", exec, waits::never, [&] { index.find(exec, rows, out); });
  check_call("count", exec, waits::never, [&] { index.count(exec, rows, out); });
  check_call("contains", exec, waits::never, [&] { index.contains(exec, rows, flags); });
  check_call("label", exec, waits::never, [&] { index.label(exec, rows, out); });
  check_call("labels", exec, waits::never, [&] { index.label(exec, out); });
  check_call("distinct", exec, waits::never, [&] { index.distinct(exec, out); });
}

}  // namespace

TEST_CASE("an index in the caller's memory: its build waits, its lookups do not; none allocates") {
  queries_an_index(space());
  auto const instances = Kokkos::Experimental::partition_space(space(), 1, 1);
  if (karpos_test::id_of(instances[0]) == karpos_test::id_of(space()))
    MESSAGE("skipped: " KARPOS_TEST_SPACE_NAME " has one instance only");
  else
    queries_an_index(instances[1]);
}
