// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/map_operation.hpp"

// Kernels of the tables written from published descriptions: one thread performs each operation. A
// table has find(key, value), and some have insert(key, value, i) and erase(key), which return an
// outcome; i is the number of the operation.

namespace karpos::perf {

template <class Table, class Keys>
struct table_insert {
  Table table;
  Keys keys, values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { table.insert(keys(i), values(i), i); }
};
template <class Table, class Keys>
struct table_erase {
  Table table;
  Keys keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { table.erase(keys(i)); }
};
template <class Table, class Keys>
struct table_find {
  Table table;
  Keys queries, answers;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto value = static_cast<typename Keys::non_const_value_type>(~std::uint64_t(0));
    table.find(queries(i), value);
    answers(i) = value;
  }
};
template <class Table, class Operations, class Results>
struct table_apply {
  Table table;
  Operations operations;
  Results results;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const o = operations(i);
    auto value = o.value;
    outcome what = outcome::absent;
    if (o.op == map_op::insert)
      what = table.insert(o.key, o.value, i);
    else if (o.op == map_op::erase)
      what = table.erase(o.key);
    else if (table.find(o.key, value))
      what = outcome::found;
    results(i) = {what, what == outcome::found ? value : 0};
  }
};

}  // namespace karpos::perf
