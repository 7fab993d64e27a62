// SPDX-License-Identifier: Apache-2.0
/// \file
/// Slots of 16 bytes that are claimed and then published, as on machines without a compare-and-swap
/// of 16 bytes. The test forces this, so that it runs on every machine.
#include "conformance/ref_suite.hpp"

namespace {

using karpos_test::same;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::view;

/// A hash_map that claims slots in one step or in two, regardless of the machine.
template <class Key, class T, class Probing, int B, bool OneStep>
class table_of
    : public karpos::hash_table<
          karpos::detail::open_addressing::storage<karpos::detail::open_addressing::traits<
              Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>, Probing, B, OneStep>>> {
  using base = typename table_of::hash_table;

 public:
  using raw_ref_type =
      karpos::detail::open_addressing::table_ref<karpos::detail::open_addressing::traits<
          Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>, Probing, B, OneStep>>;
  static constexpr bool one_step = raw_ref_type::protocol::one_step;
  explicit table_of(std::uint64_t max_keys, typename base::options const& o = {})
      : base(space{}, max_keys, o) {}
  raw_ref_type raw() const { return this->m_storage.ref(); }
};

static_assert(!table_of<std::uint64_t, std::uint64_t, karpos::linear_probing, 4, false>::one_step);
static_assert(table_of<std::uint32_t, std::uint32_t, karpos::linear_probing, 4, false>::one_step,
              "eight bytes always go in one step");

template <class Key, class T, class Probing, int B, int W>
void check_two_step() {
  using table_type = table_of<Key, T, Probing, B, false>;
  table_type table(2000);
  karpos_test::table_under_test<Key, T> under_test;
  under_test.name = "two steps, B = " + std::to_string(B) + ", W = " + std::to_string(W);
  under_test.run = [&](karpos_test::operation what, std::vector<Key> const& keys,
                       std::vector<T> const& values) {
    return karpos_test::run_kernel<W, Key, T>(
        karpos::table_ref<typename table_type::raw_ref_type>(table.raw()), what, keys, values);
  };
  under_test.retrieve_all = [&](std::vector<Key>& keys, std::vector<T>& values) {
    view<Key> const keys_out("keys", table.capacity());
    view<T> const values_out("values", table.capacity());
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
  table_type table(500);
  std::uint64_t const slots = table.capacity();
  auto const keys = karpos_test::unique_keys<std::uint64_t>(3 * slots);
  karpos::insert_report const report = table.insert(space{}, to_space(keys), 5u);
  CHECK(bool(report == karpos::insert_report{slots, 0, 2 * slots, 0}));
  using ref = karpos::table_ref<table_type::raw_ref_type>;
  auto const found =
      karpos_test::run_kernel<1>(ref{table.raw()}, karpos_test::operation::find, keys, keys);
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
    table_type const table(10, o);
    one_step_table const same_keys(10, o);
    auto const s = table.raw().slot().reserved_keys();
    CHECK(same_keys.raw().slot().reserved_keys().busy ==
          s.busy);  // every machine reserves the same keys
    CHECK(s.empty == empty);
    CHECK(s.erased == erased);
    CHECK(s.busy != empty);
    CHECK(s.busy != erased);
    CHECK(s.busy >= largest - 2);
  }
}

// A table filled in one step and then used in two: its tombstones must not look like slots that a
// thread is about to publish.
TEST_CASE("a table changes from one step to two and back") {
  using one_step = table_of<std::uint64_t, std::uint64_t, karpos::linear_probing, 4, true>;
  using two_step = table_of<std::uint64_t, std::uint64_t, karpos::linear_probing, 4, false>;
  one_step source(100);
  two_step copy(100);
  deep_copy(space{}, copy, source);
  auto const s = copy.raw().slot().reserved_keys();
  CHECK(s.busy != s.erased);
  CHECK(s.busy != s.empty);
  deep_copy(space{}, source, copy);
  CHECK(source.raw().slot().reserved_keys().busy == s.busy);
}

}  // namespace
