// SPDX-License-Identifier: Apache-2.0
//
// Orders of a shop: what has each customer spent? Then the orders are split by customer, so that a
// team, a cache or a rank can work on one partition at a time.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/partition.hpp>
#include <karpos/reduce_by_key.hpp>

using order = karpos::key_value<std::uint32_t, std::uint32_t>;  // a customer and a price
using column = Kokkos::View<std::uint32_t*>;
using offsets = Kokkos::View<std::uint64_t*>;

struct make_orders {
  column customer, price;
  KOKKOS_FUNCTION void operator()(std::uint32_t i) const {
    customer(i) = i * 7 % 5000;
    price(i) = i % 100;
  }
};

struct sum_spent {
  column spent;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& sum) const { sum += spent(i); }
};

/// Sums the prices of one partition, whose rows are contiguous.
struct sum_partition {
  Kokkos::View<order*> orders;
  offsets begin;
  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& sum) const {
    for (std::uint64_t i = begin(p); i < begin(p + 1); ++i) sum += orders(i).value;
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  std::uint32_t const n = 100'000, partitions = 64;
  column const customer("customer", n), price("price", n);
  Kokkos::parallel_for(Kokkos::RangePolicy(exec, 0u, n), make_orders{customer, price});

  column const customers("customers", n), spent("spent", n);  // n: every row may have its own key
  std::uint64_t const groups = karpos::reduce_by_key(exec, customer, price, customers, spent);

  Kokkos::View<order*> const orders("orders", n);
  offsets const begin("begin", partitions + 1);
  karpos::partition(exec, customer, price, orders, begin);
  // Partition p is orders(begin(p)) … orders(begin(p + 1) - 1), with all orders of its customers.

  std::uint64_t by_customer = 0, by_partition = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy(exec, 0, groups), sum_spent{spent}, by_customer);
  Kokkos::parallel_reduce(Kokkos::RangePolicy(exec, 0, partitions), sum_partition{orders, begin},
                          by_partition);
  std::printf("%lu customers spent %lu\n", static_cast<unsigned long>(groups),
              static_cast<unsigned long>(by_customer));
  return groups == 5000 && by_customer == by_partition && by_customer == 4'950'000 ? 0 : 1;
}
