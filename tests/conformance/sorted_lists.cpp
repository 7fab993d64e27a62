// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sorted lists: what they wrap, and what they reject.
#include <doctest/doctest.h>

#include <cstdint>
#include <karpos/sorted_lists.hpp>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_space;
using karpos_test::view;
using memory = space::memory_space;

template <class X, class Layout = Kokkos::LayoutRight>
using matrix = Kokkos::View<X**, Layout, memory>;
using lists_type = karpos::sorted_lists<std::uint32_t, float, memory>;

lists_type ragged(std::uint64_t entries, std::vector<std::uint64_t> const& offsets) {
  return lists_type(view<std::uint32_t>("ids", entries), view<float>("scores", entries),
                    to_space(offsets));
}

template <class... Words>
void refused(std::uint64_t entries, std::vector<std::uint64_t> const& offsets,
             Words const&... words) {
  throws<std::invalid_argument>([&] { ragged(entries, offsets); }, words...);
}

}  // namespace

TEST_CASE("lists of one length") {
  matrix<std::uint32_t> const ids("ids", 3, 7);
  matrix<float> const scores("scores", 3, 7);
  karpos::sorted_lists const l(ids, scores);
  static_assert(std::is_same_v<std::remove_const_t<decltype(l)>, lists_type>);
  same("lists", static_cast<std::uint64_t>(l.lists()), 3);
  same("longest", l.longest(), 7);
  same("entries", l.entries(), 21);
  same("objects", l.objects(), 21);
  CHECK(!l.is_dense());
  for (int i = 0; i < 3; ++i) {
    same("length", l.length(i), 7);
    CHECK(l.ref()[i].ids == ids.data() + 7 * i);
    CHECK(l.ref()[i].scores == scores.data() + 7 * i);
  }
  CHECK(lists_type::bytes_for(21) == 21 * 8);
}

TEST_CASE("rows of wider views, which cannot be written") {
  matrix<std::uint32_t const> const ids = matrix<std::uint32_t>("ids", 3, 10);
  matrix<float const> const scores = matrix<float>("scores", 3, 20);
  std::pair<int, int> const rows{1, 3}, part{2, 6}, other{5, 9};
  lists_type const l(Kokkos::subview(ids, rows, part), Kokkos::subview(scores, rows, other));
  same("lists", static_cast<std::uint64_t>(l.lists()), 2);
  same("longest", l.longest(), 4);
  CHECK(l.ref()[1].ids == ids.data() + 22);
  CHECK(l.ref()[1].scores == scores.data() + 45);
}

TEST_CASE("lists of different lengths") {
  lists_type const l = ragged(9, {0, 4, 4, 9});
  same("lists", static_cast<std::uint64_t>(l.lists()), 3);
  same("longest", l.longest(), 5);
  same("entries", l.entries(), 9);
  same("first", l.length(0), 4);
  same("second", l.length(1), 0);
  same("third", l.length(2), 5);
  CHECK(l.ref()[2].ids == l.ref()[0].ids + 4);
  CHECK(l.ref()[2].scores == l.ref()[0].scores + 4);
}

TEST_CASE("nothing at all") {
  same("lists", static_cast<std::uint64_t>(lists_type().lists()), 0);
  same("objects", lists_type().objects(), 0);
  same("no lists", static_cast<std::uint64_t>(ragged(0, {0}).lists()), 0);
  same("empty lists", static_cast<std::uint64_t>(ragged(0, {0, 0, 0}).lists()), 2);
  matrix<std::uint32_t> const ids("ids", 4, 0);
  matrix<float> const scores("scores", 4, 0);
  same("rows of nothing", static_cast<std::uint64_t>(lists_type(ids, scores).lists()), 4);
}

TEST_CASE("dense and sparse ids") {
  lists_type const l = ragged(9, {0, 4, 9});
  CHECK(l.dense(5).is_dense());
  same("dense", l.dense(5).objects(), 5);
  same("more than entries", l.dense(1000).objects(), 1000);
  same("sparse", l.sparse(6).objects(), 6);
  same("at most the entries", l.sparse(100).objects(), 9);
  CHECK(!l.dense(5).sparse(5).is_dense());
  std::uint64_t const most = (std::uint64_t(1) << 32) - 64;
  same("most", l.dense(most).objects(), most);
  throws<std::invalid_argument>([&] { l.dense(most + 1); }, "too many objects", "4294967233",
                                "2^32 - 64");
}

TEST_CASE("the views keep the memory") {
  lists_type l;
  {
    matrix<std::uint32_t> const ids("ids", 1, 3);
    matrix<float> const scores("scores", 1, 3);
    Kokkos::deep_copy(ids, 7u);
    l = lists_type(ids, scores);
  }
  Kokkos::View<std::uint32_t const*, memory, Kokkos::MemoryUnmanaged> const ids(l.ref()[0].ids, 3);
  CHECK(karpos_test::to_host(ids) == std::vector<std::uint32_t>{7, 7, 7});
}

TEST_CASE("as many lists as there may be") {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i <= 32; ++i) offsets.push_back(i);
  same("32", static_cast<std::uint64_t>(ragged(32, offsets).lists()), 32);
  offsets.push_back(33);
  refused(33, offsets, "too many sorted lists", "33", "at most 32");
  matrix<std::uint32_t> const ids("ids", 33, 2);
  matrix<float> const scores("scores", 33, 2);
  throws<std::invalid_argument>([&] { lists_type(ids, scores); }, "too many", "33", "at most 32");
}

TEST_CASE("views that are refused") {
  matrix<std::uint32_t> const ids("ids", 2, 5);
  throws<std::invalid_argument>([&] { lists_type(ids, matrix<float>("scores", 3, 5)); }, "lists",
                                "2 against 3");
  throws<std::invalid_argument>([&] { lists_type(ids, matrix<float>("scores", 2, 4)); }, "entries",
                                "5 against 4");
  using columns = Kokkos::LayoutLeft;
  matrix<float, columns> const scores("scores", 2, 5);
  throws<std::invalid_argument>([&] { lists_type(ids, scores); }, "side by side", "LayoutRight");
  throws<std::invalid_argument>(
      [&] { lists_type(matrix<std::uint32_t, columns>("ids", 2, 5), matrix<float>("s", 2, 5)); },
      "side by side", "LayoutRight");
  throws<std::invalid_argument>(
      [&] {
        lists_type(view<std::uint32_t>("ids", 3), view<float>("scores", 4),
                   to_space(std::vector<int>{0, 3}));
      },
      "ids", "3 against 4");
  auto const column = Kokkos::subview(matrix<float>("scores", 5, 2), Kokkos::ALL, 1);
  throws<std::invalid_argument>(
      [&] {
        lists_type(view<std::uint32_t>("ids", 5), column, to_space(std::vector<int>{0, 5}));
      },
      "side by side", "contiguous");
}

TEST_CASE("offsets that are refused") {
  refused(5, {}, "no offsets", "n + 1");
  refused(5, {1, 5}, "offset 0", "1 with 5 entries");
  refused(5, {0, 3}, "offset 1", "3 with 5 entries");
  refused(5, {0, 3, 2, 5}, "offset 2", "2 with 5 entries");
  refused(5, {0, 6, 5}, "offset 1", "6 with 5 entries");
  refused(5, {0, 5, 7}, "offset 2", "7 with 5 entries");
  refused(5, {0}, "offset 0", "0 with 5 entries");
  throws<std::invalid_argument>(
      [] {
        lists_type(view<std::uint32_t>("ids", 5), view<float>("scores", 5),
                   to_space(std::vector<int>{0, -1, 5}));
      },
      "offset 1");
}

TEST_CASE("offsets of any integers, and other types of lists") {
  auto const offsets = to_space(std::vector<std::int32_t>{0, 2, 3});
  karpos::sorted_lists const l(view<std::int64_t>("ids", 3), view<double>("scores", 3), offsets);
  static_assert(std::is_same_v<std::remove_const_t<decltype(l)>,
                               karpos::sorted_lists<std::int64_t, double, memory>>);
  same("length", l.length(0), 2);
}
