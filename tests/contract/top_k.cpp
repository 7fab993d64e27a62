// SPDX-License-Identifier: Apache-2.0
/// \file
/// A ranked query as a profiler sees it, and the memory that it allocates.
#include <karpos/top_k.hpp>

#include "support/listener.hpp"
#include "support/top_k_checks.hpp"

namespace {

using karpos_test::draw_lists;
using karpos_test::draw_spec;
using karpos_test::id_kind;
using karpos_test::id_of;
using karpos_test::listener;
using karpos_test::record;
using karpos_test::recorded;
using karpos_test::space;
using karpos_test::view;
using karpos_test::waits;
using u32 = std::uint32_t;
using lists_type = karpos::sorted_lists<u32, float, space::memory_space>;
using query_workspace = karpos::top_k_workspace<space, lists_type>;

constexpr std::uint64_t k = 10;

lists_type uniform(id_kind ids, std::uint64_t objects) {
  draw_spec spec;
  spec.lists = 3;
  spec.objects = objects;
  spec.ids = ids;
  return karpos_test::to_space(draw_lists<u32, float>(spec));
}

void holds_for_labels(std::string const& what, recorded const& seen) {
  for (auto const& launch : seen.launches)
    karpos_test::holds(what + ": the label '" + launch.label + "' starts with karpos::top_k",
                       launch.label.rfind("karpos::top_k", 0) == 0);
  for (std::string const& label : seen.regions)
    karpos_test::holds(what + ": the region '" + label + "' starts with karpos::top_k",
                       label.rfind("karpos::top_k", 0) == 0);
  for (std::string const& label : seen.allocations)
    karpos_test::holds(what + ": the allocation '" + label + "' starts with karpos::top_k",
                       label.rfind("karpos::top_k", 0) == 0);
}

/// Checks queries with a workspace: on the instance, with labels of top_k, without allocations.
void every_query(space const& exec) {
  for (id_kind const ids : {id_kind::dense, id_kind::sparse}) {
    auto const lists = uniform(ids, 20000);
    query_workspace workspace(exec, lists, k);
    view<u32> const out("ids", k);
    view<double> const scores("scores", k);
    for (auto const result : {karpos::top_k_result::exact, karpos::top_k_result::set}) {
      karpos::top_k_options<> o;
      o.result = result;
      o.validate = false;  // validation allocates
      std::string const what =
          std::string(ids == id_kind::dense ? "dense" : "sparse") + ", " + karpos_test::print(o);
      auto const query = [&] { karpos::top_k(exec, workspace, lists, k, out, scores, o); };
      Kokkos::fence();
      karpos_test::check_call(what, exec, waits::on_the_instance, query);
      holds_for_labels(what, record);
    }
  }
}

TEST_CASE("ranked queries on the default instance") { every_query(space{}); }

TEST_CASE("ranked queries on an instance of the user's") {
  auto const instances = Kokkos::Experimental::partition_space(space{}, 1, 1);
  if (id_of(instances[0]) == id_of(space{}))
    MESSAGE("skipped: " KARPOS_TEST_SPACE_NAME " has one instance only");
  else
    every_query(instances[1]);
}

TEST_CASE("a query for more results than there are objects allocates no score vectors") {
  constexpr std::uint64_t objects = 1000, wanted = 4000;
  for (id_kind const ids : {id_kind::dense, id_kind::sparse}) {
    auto const lists = uniform(ids, objects);
    CHECK(lists.objects() < wanted);
    query_workspace const workspace(space{}, lists, wanted);
    view<u32> const out("ids", wanted);
    view<double> const scores("scores", wanted);
    karpos::top_k_options<> o;
    o.validate = false;  // validation allocates
    listener const recorder;
    auto const report = karpos::top_k(space{}, workspace, lists, wanted, out, scores, o);
    CHECK(report.found == objects);
    for (std::string const& label : record.allocations)
      karpos_test::holds("'" + label + "' is no memory of score vectors",
                         label.find("score_vectors") == std::string::npos);
  }
}

TEST_CASE("a workspace of a ranked query is made on the instance, of memory with names") {
  auto const exec = Kokkos::Experimental::partition_space(space{}, 1, 1)[0];
  auto const lists = uniform(id_kind::dense, 20000);
  { query_workspace const warm(exec, lists, k); }  // Kokkos allocates scratch memory of its own
  exec.fence();
  recorded seen;
  {
    listener const recorder;
    query_workspace const w(exec, lists, k);
    seen = record;
  }
  exec.fence();
  for (auto const& [label, device] : seen.launches) {
    karpos_test::holds("the label '" + label + "' names karpos::",
                       label.find("karpos::") != std::string::npos);
    karpos_test::same("'" + label + "' runs on the instance that was passed", device, id_of(exec));
  }
  for (std::string const& label : seen.allocations)
    karpos_test::holds("the label '" + label + "' starts with karpos::",
                       label.rfind("karpos::", 0) == 0);
  CHECK(seen.allocations.size() > 0);
}

TEST_CASE("a workspace of a ranked query takes the memory that it says, and gives it back") {
  for (id_kind const ids : {id_kind::dense, id_kind::sparse})
    for (std::uint64_t const objects : {1, 1000, 300000}) {
      auto const lists = uniform(ids, objects);
      std::uint64_t const said = karpos::top_k_workspace_bytes(space{}, lists, k);
      listener const recorder;
      {
        query_workspace const w(space{}, lists, k);
        Kokkos::fence();
        std::uint64_t const held = record.allocated - record.freed;
        INFO("objects: ", objects, ", said: ", said, ", held: ", held);
        CHECK(held >= said);
        CHECK(held <= said + 1024);  // Kokkos rounds up each array
      }
      CHECK(record.allocated == record.freed);
    }
}

}  // namespace
