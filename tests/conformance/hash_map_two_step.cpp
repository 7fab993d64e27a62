// SPDX-License-Identifier: Apache-2.0
/// \file
/// Slots of 16 bytes that are claimed and then published, as on machines without a compare-and-swap of 16
/// bytes: forced here, so that every machine tests it.
#include "conformance/ref_suite.hpp"
#include "support/raw_ref.hpp"

namespace {

using karpos_test::same;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::view;

template <class Key, class T, class Probing, int B, bool OneStep>
using table_of = karpos::detail::open_addressing::open_addressing_table<
    Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>, Probing, B, OneStep>;

static_assert(
    !table_of<std::uint64_t, std::uint64_t, karpos::linear_probing, 4, false>::ref_type::one_step);
static_assert(
    table_of<std::uint32_t, std::uint32_t, karpos::linear_probing, 4, false>::ref_type::one_step,
    "eight bytes always go in one step");

template <class Key, class T, class Probing, int B, int W>
void check_two_step() {
  using table_type = table_of<Key, T, Probing, B, false>;
  table_type table(space{}, "two_step", 2000, {}, {}, {}, {});
  karpos_test::table_under_test<Key, T> under_test;
  under_test.name = "two steps, B = " + std::to_string(B) + ", W = " + std::to_string(W);
  under_test.run = [&](karpos_test::operation what, std::vector<Key> const& keys,
                       std::vector<T> const& values) {
    return karpos_test::run_kernel<W, Key, T>(
        karpos_test::raw_ref<typename table_type::ref_type, Key, T>{table.ref()}, what, keys,
        values);
  };
  under_test.retrieve_all = [&](std::vector<Key>& keys, std::vector<T>& values) {
    view<Key> const keys_out("keys", table.bucket_count() * B);
    view<T> const values_out("values", table.bucket_count() * B);
    std::uint64_t const n = table.retrieve_all(space{}, keys_out, values_out);
    keys = karpos_test::to_host(keys_out, n);
    values = karpos_test::to_host(values_out, n);
    return n;
  };
  karpos_test::check_operations(under_test);
}

TEST_CASE("claim, then publish: in kernels") {
  check_two_step<std::uint64_t, std::uint64_t, karpos::linear_probing, 1, 1>();
  check_two_step<std::uint64_t, std::uint64_t, karpos::double_hashing, 4, 1>();
  check_two_step<std::uint64_t, std::uint64_t, karpos::double_hashing, 4, 4>();
  check_two_step<std::uint64_t, std::uint64_t, karpos::linear_probing, 32, 32>();
  check_two_step<std::int64_t, double, karpos::double_hashing, 2, 2>();
  check_two_step<std::uint32_t, std::uint64_t, karpos::double_hashing, 8, 4>();
}

TEST_CASE("claim, then publish: a full table keeps what it has and refuses the rest") {
  using table_type = table_of<std::uint64_t, std::uint64_t, karpos::double_hashing, 4, false>;
  table_type table(space{}, "two_step", 500, {}, {}, {}, {});
  std::uint64_t const slots = table.bucket_count() * 4;
  auto const keys = karpos_test::unique_keys<std::uint64_t>(3 * slots);
  using one = karpos::detail::constant<std::uint64_t>;
  karpos::insert_report const report =
      table.insert(space{}, "insert", to_space(keys), one{5}, karpos::detail::keep_stored{},
                   karpos::detail::everything{});
  CHECK(bool(report == karpos::insert_report{slots, 0, 2 * slots, 0}));
  using ref = karpos_test::raw_ref<table_type::ref_type, std::uint64_t, std::uint64_t>;
  auto const found =
      karpos_test::run_kernel<1>(ref{table.ref()}, karpos_test::operation::find, keys, keys);
  std::uint64_t fives = 0, zeros = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    fives += found.answer[i] == 1 && found.seen[i] == 5;
    zeros += found.answer[i] == 0;
  }
  CHECK(fives == slots);
  CHECK(zeros == 2 * slots);
}

TEST_CASE(
    "claim, then publish: three keys are reserved, and sentinels of the user's are not among "
    "them") {
  using table_type = table_of<std::uint64_t, std::uint64_t, karpos::linear_probing, 4, false>;
  using one_step_table = table_of<std::uint64_t, std::uint64_t, karpos::linear_probing, 4, true>;
  constexpr std::uint64_t largest = ~std::uint64_t(0);
  using options = table_type::options;
  for (auto const& [empty, erased] : {std::pair<std::uint64_t, std::uint64_t>{largest, largest - 1},
                                      {largest - 2, largest},
                                      {largest - 2, largest - 1},
                                      {0, largest - 2},
                                      {0, 1}}) {
    options o;
    o.empty_key = empty;
    o.erased_key = erased;
    table_type const table(space{}, "two_step", 10, o, {}, {}, {});
    one_step_table const same_keys(space{}, "one_step", 10, o, {}, {}, {});
    auto const s = table.ref().slot().reserved_keys();
    CHECK(same_keys.ref().slot().reserved_keys().busy ==
          s.busy);  // every machine stores the same keys
    CHECK(s.empty == empty);
    CHECK(s.erased == erased);
    CHECK(s.busy != empty);
    CHECK(s.busy != erased);
    CHECK(s.busy >= largest - 2);
  }
}

// A table that was filled where one step does, and that is then used where it takes two: tombstones must not
// look like slots that somebody is about to publish.
TEST_CASE("a table changes from one step to two and back") {
  using one_step = table_of<std::uint64_t, std::uint64_t, karpos::linear_probing, 4, true>;
  using two_step = table_of<std::uint64_t, std::uint64_t, karpos::linear_probing, 4, false>;
  one_step source(space{}, "one_step", 100, {}, {}, {}, {});
  two_step copy(space{}, "two_step", 100, {}, {}, {}, {});
  copy.copy_from(space{}, source);
  auto const s = copy.ref().slot().reserved_keys();
  CHECK(s.busy != s.erased);
  CHECK(s.busy != s.empty);
  source.copy_from(space{}, copy);
  CHECK(source.ref().slot().reserved_keys().busy == s.busy);
}

}  // namespace
