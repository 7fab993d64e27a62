// SPDX-License-Identifier: Apache-2.0
/// \file
/// Messages of errors begin with the call that the user wrote: not with an inner one, and not with
/// none. Each row of a list is a wrong call of a public function.
#include <cstdint>
#include <exception>
#include <functional>
#include <karpos/bfs.hpp>
#include <karpos/bfs_batch.hpp>
#include <karpos/build_csr.hpp>
#include <karpos/build_sorted_lists.hpp>
#include <karpos/connected_components.hpp>
#include <karpos/count_distinct.hpp>
#include <karpos/cuckoo_map.hpp>
#include <karpos/cuckoo_set.hpp>
#include <karpos/for_each_until_placed.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/hash_multimap.hpp>
#include <karpos/hash_multiset.hpp>
#include <karpos/hash_set.hpp>
#include <karpos/hopscotch_map.hpp>
#include <karpos/join.hpp>
#include <karpos/partition.hpp>
#include <karpos/partitioned_join.hpp>
#include <karpos/reduce_by_key.hpp>
#include <karpos/row_index.hpp>
#include <karpos/select_k.hpp>
#include <karpos/sssp.hpp>
#include <karpos/top_k.hpp>
#include <karpos/unordered_map.hpp>
#include <karpos/validate_bfs.hpp>
#include <karpos/validate_sorted_lists.hpp>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::space;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
template <class T>
using matrix = Kokkos::View<T**, Kokkos::LayoutRight, space::memory_space>;

struct insert_index {
  template <class Ref>
  KOKKOS_FUNCTION karpos::outcome operator()(Ref const& ref, u64 i) const {
    return ref.insert(static_cast<u32>(i), 1u);
  }
};

struct wrong_call {
  char const* name;
  std::function<void()> call;
};

void begin_with_names(std::vector<wrong_call> const& calls) {
  for (wrong_call const& c : calls) {
    std::string message = "no error";
    try {
      c.call();
    } catch (std::exception const& e) {
      message = e.what();
    }
    std::string const name = std::string("karpos::") + c.name + ": ";
    CAPTURE(name);
    CAPTURE(message);
    CHECK(message.rfind(name, 0) == 0);
    CHECK(message.find(": karpos") == std::string::npos);  // named once
  }
  // Calls that threw have ended.
  CHECK(karpos::detail::user_call::name() == "karpos");
}

/// A number beyond the enumerators of any enumeration of options.
template <class Enum>
constexpr auto none_of = static_cast<Enum>(9);
constexpr auto unknown = none_of<karpos::bulk_strategy>;
view<u32> numbers(u64 n) {
  std::vector<u32> v(n);
  for (u64 i = 0; i < n; ++i) v[i] = static_cast<u32>(i);
  return karpos_test::to_space(v);
}
struct always {
  KOKKOS_FUNCTION bool operator()(u32, u32) const { return true; }
};
struct add_values {
  KOKKOS_FUNCTION void operator()(u32, u32 value, u64& sum) const { sum += value; }
};

}  // namespace

TEST_CASE("tables name the call in their errors") {
  space const exec;
  view<u32> const three = numbers(3), two = numbers(2);
  view<bool> const few("few", 2);
  karpos::hash_map<u32, u32, space> map(exec, 10);
  karpos::hash_set<u32, space> set(exec, 10);
  karpos::hopscotch_map<u32, u32, space> hopscotch(exec, 10);
  karpos::cuckoo_map<u32, u32, space> cuckoo(exec, three, three);
  karpos::hash_multimap<u32, u32, space> multi(exec, 10);
  karpos::unordered_map<u32, u32, space> unordered(10);
  map.insert(exec, three, three);
  multi.insert(exec, three, three);
  set.insert(exec, three);
  view<karpos::map_operation<u32, u32>> const operations("operations", 3);
  view<karpos::map_result<u32>> const results("results", 2);
  decltype(map)::report_view const report("report");
  decltype(map) empty;
  decltype(map) const& const_empty = empty;
  karpos::hash_map<u32, u32, Kokkos::DefaultHostExecutionSpace> const host_empty;
  decltype(multi) pending(exec, 10);
  pending.insert_async(exec, three, three);
  using multiset = karpos::hash_multiset<u32, space>;
  using cuckoo_options = decltype(cuckoo)::options;
  cuckoo_options const crowded = {.layout = karpos::cuckoo_layout::dense, .load = 2},
                       no_layout = {.layout = none_of<karpos::cuckoo_layout>},
                       no_duplicates = {.duplicates = none_of<karpos::duplicate_keys>};
  decltype(unordered) larger(5000);
  decltype(unordered)::const_map_type const unmade;
  constexpr u64 too_many = u64(1) << 40;
  u64 sum = 0;
  begin_with_names({
      {"hash_map", [&] { decltype(map)(exec, 10, {.growth = none_of<karpos::growth>}); }},
      {"hash_map::bytes_for", [&] { (void)decltype(map)::bytes_for(10, 2.0); }},
      {"hash_map::bytes_for", [&] { (void)decltype(map)::bytes_for(~u64(0)); }},
      {"hash_map::find", [&] { (void)host_empty.find(3u); }},
      {"hash_map::contains", [&] { (void)host_empty.contains(3u); }},
      {"hash_map::for_each", [&] { empty.for_each(exec, always{}); }},
      {"hash_map::for_each", [&] { const_empty.for_each(exec, always{}); }},
      {"hash_map::reduce", [&] { empty.reduce(exec, add_values{}, Kokkos::Sum<u64>(sum)); }},
      {"hash_map::tombstones", [&] { (void)empty.tombstones(exec); }},
      {"hash_set::bytes_for", [&] { (void)decltype(set)::bytes_for(10, 2.0); }},
      {"hopscotch_map::bytes_for", [&] { (void)decltype(hopscotch)::bytes_for(10, 2.0); }},
      {"cuckoo_map", [&] { decltype(cuckoo)(exec, three, two); }},
      {"cuckoo_map", [&] { decltype(cuckoo)(exec, three, three, crowded); }},
      {"cuckoo_map", [&] { decltype(cuckoo)(exec, three, three, no_layout); }},
      {"cuckoo_map", [&] { decltype(cuckoo)(exec, three, three, no_duplicates); }},
      {"cuckoo_set", [&] { karpos::cuckoo_set<u32, space>(exec, three, {.empty_key = 1u}); }},
      {"cuckoo_map::bytes_for", [&] { (void)decltype(cuckoo)::bytes_for(3, crowded); }},
      {"cuckoo_map::bytes_for", [&] { (void)decltype(cuckoo)::bytes_for(3, no_layout); }},
      {"cuckoo_map::workspace_bytes_for",
       [&] { (void)decltype(cuckoo)::workspace_bytes_for(3, crowded); }},
      {"hash_multimap", [&] { decltype(multi)(exec, u64(1) << 33); }},
      {"hash_multimap", [&] { decltype(multi)(exec, 10, decltype(multi)::options{.load = 2}); }},
      {"hash_multimap::bytes_for", [&] { (void)decltype(multi)::bytes_for(4, 4, 2.0); }},
      {"hash_multiset", [&] { multiset(exec, 10, {.load = 2}); }},
      {"hash_multiset::bytes_for", [&] { (void)multiset::bytes_for(4, 2.0); }},
      {"create_host_mirror", [&] { (void)create_host_mirror(exec, pending); }},
      {"unordered_map", [&] { decltype(unordered){too_many}; }},
      {"unordered_map", [&] { decltype(unordered)(Kokkos::view_alloc("map"), too_many); }},
      {"unordered_map::rehash", [&] { unordered.rehash(too_many); }},
      {"unordered_map::bytes_for", [&] { (void)decltype(unordered)::bytes_for(too_many); }},
      {"unordered_map::deep_copy_view", [&] { larger.deep_copy_view(unordered); }},
      {"deep_copy", [&] { deep_copy(larger, unordered); }},
      {"find", [&] { find(exec, unmade, three, three, 0u); }},
      {"hash_map", [&] { decltype(map)(exec, 10, {.load = 2}); }},
      {"hash_map::find", [&] { map.find(exec, three, two, 0u); }},
      {"hash_map::find", [&] { empty.find(exec, three, three, 0u); }},
      {"hash_map::find", [&] { map.find(exec, three, three, 0u, {unknown}); }},
      {"hash_map::find_if", [&] { map.find_if(exec, three, three, 0u, few); }},
      {"hash_map::contains", [&] { map.contains(exec, three, few); }},
      {"hash_map::contains_if", [&] { map.contains_if(exec, three, three, few); }},
      {"hash_map::count", [&] { map.count(exec, three, {unknown}); }},
      {"hash_map::lookup_bytes", [&] { (void)map.lookup_bytes(exec, three, unknown); }},
      {"hash_map::insert_bytes", [&] { (void)map.insert_bytes(exec, 3, unknown); }},
      {"hash_map::insert_or_apply_bytes",
       [&] { (void)map.insert_or_apply_bytes(exec, 3, unknown); }},
      {"hash_map::insert", [&] { map.insert(exec, three, two); }},
      {"hash_map::insert_if", [&] { map.insert_if(exec, three, three, few); }},
      {"for_each_until_placed",
       [&] { karpos::for_each_until_placed(exec, map, 100'000, insert_index{}); }},
      {"hash_map::insert_or_throw", [&] { map.insert_or_throw(exec, three, two); }},
      {"hash_map::insert_or_throw", [&] { map.insert_or_throw(exec, numbers(100), 1u); }},
      {"hash_map::insert_or_assign", [&] { map.insert_or_assign(exec, three, two); }},
      {"hash_map::insert_or_apply", [&] { map.insert_or_apply(exec, three, two, karpos::plus{}); }},
      {"hash_map::find_or_insert", [&] { map.find_or_insert(exec, three, three, two); }},
      {"hash_map::find_or_insert", [&] { map.find_or_insert(exec, three, two, three); }},
      {"hash_map::insert_async", [&] { map.insert_async(exec, three, two, report); }},
      {"hash_map::insert_or_assign_async",
       [&] { map.insert_or_assign_async(exec, three, two, report); }},
      {"hash_map::insert_or_apply_async",
       [&] { map.insert_or_apply_async(exec, three, two, karpos::plus{}, report); }},
      {"hash_map::erase", [&] { map.erase(exec, three, {unknown}); }},
      {"hash_map::erase_if", [&] { empty.erase_if(exec, always{}); }},
      {"hash_map::apply", [&] { map.apply(exec, operations, results); }},
      {"hash_map::apply_async", [&] { map.apply_async(exec, operations, results); }},
      {"hash_map::retrieve_all", [&] { map.retrieve_all(exec, three, two); }},
      {"hash_map::retrieve_all", [&] { map.retrieve_all(exec, two, two); }},
      {"hash_map::rehash", [&] { map.rehash(exec, 1); }},
      {"hash_map::compact", [&] { empty.compact(exec); }},
      {"hash_set::retrieve_all", [&] { set.retrieve_all(exec, two); }},
      {"hash_set::insert", [&] { set.insert(exec, three, {unknown}); }},
      {"hopscotch_map::insert", [&] { hopscotch.insert(exec, three, two); }},
      {"cuckoo_map::build", [&] { cuckoo.build(exec, three, two); }},
      {"cuckoo_map::insert", [&] { cuckoo.insert(exec, three, three); }},
      {"cuckoo_map::find", [&] { cuckoo.find(exec, three, two, 0u); }},
      {"hash_multimap::insert", [&] { multi.insert(exec, three, two); }},
      {"hash_multimap::insert_async", [&] { multi.insert_async(exec, three, two); }},
      {"hash_multimap::count", [&] { multi.count(exec, three, two); }},
      {"hash_multimap::contains", [&] { multi.contains(exec, three, few); }},
      {"hash_multimap::find_any", [&] { multi.find_any(exec, three, two, 0u); }},
      {"hash_multimap::lookup_bytes", [&] { (void)multi.lookup_bytes(exec, three, unknown); }},
      {"hash_multimap::retrieve", [&] { multi.retrieve(exec, three, three, two); }},
      {"hash_multimap::retrieve_outer", [&] { multi.retrieve_outer(exec, three, two, two, 0u); }},
      {"hash_multimap::retrieve_all", [&] { multi.retrieve_all(exec, two, two); }},
      {"hash_multimap::rehash", [&] { multi.rehash(exec, 1, 1); }},
      {"find", [&] { find(exec, unordered, three, two, 0u); }},
      {"contains", [&] { contains(exec, unordered, three, few); }},
      {"lookup_bytes", [&] { (void)lookup_bytes(exec, unordered, three, unknown); }},
  });
}

TEST_CASE("joins, reductions and partitions name the call in their errors") {
  space const exec;
  view<u32> const three = numbers(3), two = numbers(2), none = numbers(0);
  view<bool> const few("few", 2);
  auto const rows = karpos::rows(three);
  using index_type = karpos::row_index<decltype(rows), space>;
  auto const make = [&](karpos::row_index_options const& o) { index_type(exec, rows, o); };
  index_type const index(exec, rows);
  index_type appended(exec, rows, {.duplicates = karpos::duplicates::dropped});
  using karpos::join_kind;
  karpos::join const pairs(exec, rows, index, join_kind::inner);
  karpos::join const single(exec, rows, index, join_kind::left_semi);
  auto const no_kind = none_of<join_kind>;
  karpos::wrapped_memory const little = {three.data(), 1};
  auto const no_duplicates = none_of<karpos::duplicates>;
  auto const no_nulls = none_of<karpos::null_equality>,
             below = static_cast<karpos::null_equality>(-1);
  auto const three_columns = karpos::columns(three), two_columns = karpos::columns(two);
  begin_with_names({
      {"rows", [&] { (void)karpos::rows(three, two); }},
      {"nullable", [&] { (void)karpos::nullable(three, few); }},
      {"row_view::with_nulls", [&] { (void)rows.with_nulls(no_nulls); }},
      {"row_view::with_nulls", [&] { (void)rows.with_nulls(below); }},
      {"rows", [&] { karpos::row_view(karpos::row_hash{}, karpos::row_equal{}, no_nulls, three); }},
      {"row_index", [&] { make({.strategy = unknown}); }},
      {"row_index", [&] { make({.duplicates = no_duplicates}); }},
      {"row_index::bytes_for", [&] { (void)index_type::bytes_for(3, no_duplicates); }},
      {"row_index::workspace_bytes",
       [&] { (void)index_type::workspace_bytes(exec, 3, no_duplicates); }},
      {"row_index", [&] { make({.rows = 4}); }},
      {"row_index", [&] { make({.memory = little}); }},
      {"row_index", [&] { make({.workspace = little}); }},
      {"row_index", [&] { index_type(exec, rows, few); }},
      {"row_index::workspace_bytes",
       [&] { (void)index_type::workspace_bytes(exec, 3, karpos::duplicates::kept, unknown); }},
      {"row_index::insert", [&] { appended.insert(exec, 1); }},
      {"row_index::find", [&] { index.find(exec, rows, two); }},
      {"row_index::count", [&] { index.count(exec, rows, two); }},
      {"row_index::contains", [&] { index.contains(exec, rows, few); }},
      {"row_index::label", [&] { index.label(exec, rows, two); }},
      {"row_index::label", [&] { index.label(exec, two); }},
      {"row_index::distinct", [&] { index.distinct(exec, two); }},
      {"label", [&] { karpos::label(exec, rows, two); }},
      {"distinct_indices", [&] { karpos::distinct_indices(exec, rows, two); }},
      {"join", [&] { karpos::join(exec, rows, index, no_kind); }},
      {"join::bytes_for", [&] { (void)decltype(pairs)::bytes_for(4, 4, no_kind); }},
      {"join", [&] { karpos::join(exec, rows, index, join_kind::inner, {.memory = little}); }},
      {"join::write", [&] { pairs.write(exec, three, two); }},
      {"join::write", [&] { single.write(exec, two); }},
      {"join::pairs", [&] { (void)single.pairs(exec); }},
      {"join::rows", [&] { (void)pairs.rows(exec); }},
      {"join_size", [&] { (void)karpos::join_size(exec, rows, index, no_kind); }},
      {"gather", [&] { karpos::gather(exec, three, three, 0u, two); }},
      {"partitioned_join",
       [&] { karpos::partitioned_join(exec, rows, rows, join_kind::inner, three, two); }},
      {"partitioned_join",
       [&] { karpos::partitioned_join(exec, rows, rows, join_kind::left_semi, two); }},
      {"partitioned_join",
       [&] {
         karpos::partitioned_join(exec, rows, rows, join_kind::inner, two_columns, three_columns,
                                  three_columns, three_columns);
       }},
      {"partitioned_join",
       [&] { karpos::partitioned_join(exec, rows, rows, no_kind, three, three); }},
      {"partitioned_join_size",
       [&] { (void)karpos::partitioned_join_size(exec, rows, rows, no_kind); }},
      {"partitioned_join_size",
       [&] {
         (void)karpos::partitioned_join_size(exec, rows, rows, join_kind::inner,
                                             {.workspace = little});
       }},
      {"reduce_by_key", [&] { karpos::reduce_by_key(exec, three, two, numbers(3), numbers(3)); }},
      {"reduce_by_key", [&] { karpos::reduce_by_key(exec, three, three, numbers(2), numbers(2)); }},
      {"reduce_by_key",
       [&] {
         karpos::reduce_by_key(
             exec, three, numbers(3),
             karpos::aggregates(karpos::aggregate(two, karpos::plus{}, numbers(3))));
       }},
      {"count_by_key", [&] { karpos::count_by_key(exec, three, numbers(2), numbers(2)); }},
      {"count_distinct_by_key",
       [&] { karpos::count_distinct_by_key(exec, three, two, numbers(3), numbers(3)); }},
      {"distinct", [&] { karpos::distinct(exec, three, numbers(2)); }},
      {"distinct", [&] { karpos::distinct(exec, three, numbers(3), {.workspace = little}); }},
      {"partition", [&] { karpos::partition(exec, three, two, numbers(3)); }},
      {"partition", [&] { karpos::partition(exec, three, numbers(3), none); }},
      {"partition_bytes", [&] { (void)karpos::partition_bytes<u32>(exec, 3, 0); }},
  });
}

TEST_CASE("graph searches and rankings name the call in their errors") {
  space const exec;
  view<u32> const three = numbers(3), two = numbers(2);
  view<std::int32_t> const distances("distances", 3), few("few", 2);
  view<float> const weights("weights", 3), costs("costs", 3), negative("negative", 3);
  Kokkos::deep_copy(negative, -1.0f);
  auto const graph = karpos::build_csr(exec, 3, three, three, {.remove_self_loops = false});
  karpos::csr_graph const wrong(view<u64>("offsets", 4), three);
  karpos::bfs_batch_workspace const batch(exec, graph);
  karpos::bfs_workspace workspace(exec, graph);
  matrix<float> const scores("scores", 3, 2), nan("NaNs", 3, 2);
  auto const lists = karpos::build_sorted_lists(exec, scores);
  Kokkos::deep_copy(nan, Kokkos::Experimental::quiet_NaN_v<float>);
  matrix<u32> const ids("ids", 3, 2);
  constexpr auto no_mode = none_of<karpos::launch_mode>;
  auto const search = [&](karpos::bfs_options const& o) {
    karpos::bfs(exec, graph, 0u, distances, view<u32>(), o);
  };
  auto const rank = [&](karpos::top_k_options<> const& o) {
    karpos::top_k(exec, lists, 2, two, view<double>(), o);
  };
  karpos::sorted_lists<u32, float, space::memory_space> const wrong_lists(ids, nan);
  karpos::csr_graph const smaller(view<u64>("offsets", 3), two);
  using lists_type = decltype(lists);
  view<u64> const falling = karpos_test::to_space(std::vector<u64>{0, 2, 1, 3}),
                  no_offsets("none", 0);
  std::vector<double> const many(33, 1);
  begin_with_names({
      {"csr_graph", [&] { karpos::csr_graph(no_offsets, three); }},
      {"csr_graph::with_transpose", [&] { (void)wrong.with_transpose(smaller); }},
      {"csr_graph::validate", [&] { wrong.validate(exec); }},
      {"csr_graph::validate", [&] { graph.with_transpose(wrong).validate(exec); }},
      {"csr_graph::validate_unless_trusted", [&] { wrong.validate_unless_trusted(exec); }},
      {"sorted_lists", [&] { lists_type(ids, matrix<float>("scores", 2, 2)); }},
      {"sorted_lists",
       [&] { lists_type(matrix<u32>("ids", 33, 0), matrix<float>("scores", 33, 0)); }},
      {"sorted_lists", [&] { lists_type(three, costs, no_offsets); }},
      {"sorted_lists", [&] { lists_type(three, costs, falling); }},
      {"sorted_lists::dense", [&] { (void)lists.dense(u64(1) << 32); }},
      {"weighted_sum", [&] { karpos::weighted_sum{-1.0}; }},
      {"weighted_sum", [&] { (void)karpos::weighted_sum(many); }},
      {"stride_policy", [&] { (void)karpos::stride_policy({.growth = 0.5}); }},
      {"stride_policy", [&] { (void)karpos::stride_policy(karpos::stride_policy::fixed{0}); }},
      {"build_csr", [&] { karpos::build_csr(exec, 3, three, two); }},
      {"build_csr", [&] { karpos::build_csr(exec, 2, three, three); }},
      {"build_csr", [&] { karpos::build_csr(exec, 3, three, three, two); }},
      {"transpose", [&] { karpos::transpose(exec, wrong); }},
      {"transpose", [&] { karpos::transpose(exec, graph, two); }},
      {"bfs", [&] { karpos::bfs(exec, graph, 3u, distances); }},
      {"bfs", [&] { karpos::bfs(exec, graph, 0u, few); }},
      {"bfs", [&] { karpos::bfs(exec, wrong, 0u, distances); }},
      {"bfs", [&] { search({.direction = none_of<karpos::bfs_direction>}); }},
      {"bfs", [&] { search({.queue = none_of<karpos::bfs_queue>}); }},
      {"bfs", [&] { search({.driver = no_mode}); }},
      {"bfs_search::start",
       [&] { karpos::bfs_search(exec, workspace).start(0u, few, view<u32>()); }},
      {"bfs_workspace", [&] { karpos::bfs_workspace(exec, wrong); }},
      {"bfs_workspace::pad_rows", [&] { workspace.pad_rows(exec, 3); }},
      {"bfs_batch",
       [&] { karpos::bfs_batch(exec, batch, three, matrix<std::int32_t>("distances", 2, 3)); }},
      {"bfs_batch", [&] { karpos::bfs_batch(exec, batch, numbers(4)); }},
      {"bfs_batch", [&] { karpos::bfs_batch(exec, batch, three, {.driver = no_mode}); }},
      {"bfs_batch_workspace", [&] { karpos::bfs_batch_workspace(exec, wrong); }},
      {"sssp", [&] { karpos::sssp(exec, graph, weights, 3u, costs); }},
      {"sssp", [&] { karpos::sssp(exec, graph, negative, 0u, costs); }},
      {"sssp",
       [&] { karpos::sssp(exec, graph, weights, 0u, costs, view<u32>(), {.driver = no_mode}); }},
      {"sssp_workspace", [&] { karpos::sssp_workspace(exec, graph, view<float>("few", 2)); }},
      {"connected_components", [&] { karpos::connected_components(exec, graph, two); }},
      {"connected_components",
       [&] {
         karpos::connected_components(exec, graph, three, {.workspace = {costs.data(), 1}});
       }},
      {"validate_bfs", [&] { karpos::validate_bfs(exec, graph, 0u, few); }},
      {"validate_bfs", [&] { karpos::validate_bfs(exec, graph, 3u, distances); }},
      {"build_sorted_lists", [&] { karpos::build_sorted_lists(exec, nan); }},
      {"top_k", [&] { karpos::top_k(exec, lists, 3, two); }},
      {"top_k_batch",
       [&] {
         karpos::top_k_workspace<space, std::remove_const_t<decltype(lists)>> const memory(
             exec, lists, 3);
         matrix<u32> const of_one("ids", 1, 3);
         karpos::top_k_batch(exec, memory, lists, 3, {{}, {}}, of_one);
       }},
      {"top_k", [&] { rank({.result = none_of<karpos::top_k_result>}); }},
      {"top_k", [&] { rank({.ties = none_of<karpos::top_k_ties>}); }},
      {"top_k", [&] { rank({.bail_out = none_of<karpos::top_k_bail_out>}); }},
      {"top_k", [&] { rank({.driver = no_mode}); }},
      {"validate_sorted_lists", [&] { karpos::validate_sorted_lists(exec, wrong_lists); }},
      {"select_k", [&] { karpos::select_k(exec, costs, 4, three, costs); }},
      {"select_k_rows",
       [&] {
         Kokkos::View<int**, space> const table("table", 3, 3);
         karpos::select_k_rows(exec, table, 4, table, table);
       }},
  });
}
