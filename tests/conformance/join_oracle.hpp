// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tables of two columns, and their joins by a loop over a map of the right rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <karpos/join.hpp>
#include <karpos/rows.hpp>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/keys.hpp"
#include "support/space.hpp"
#include "support/strings.hpp"

namespace karpos_test {

using karpos::join_kind;

inline constexpr join_kind every_kind[] = {
    join_kind::inner,     join_kind::left,      join_kind::right,      join_kind::full,
    join_kind::left_semi, join_kind::left_anti, join_kind::right_semi, join_kind::right_anti};
inline constexpr std::uint64_t missing = karpos::no_row<std::uint64_t>;

/// A table of two columns, (id % 3, id), where some ids are null.
struct table {
  std::vector<std::uint64_t> ids;
  std::vector<bool> null;

  std::size_t size() const { return ids.size(); }
  auto rows(karpos::null_equality nulls = karpos::null_equality::equal) const {
    std::size_t const n = ids.size();
    std::vector<std::int16_t> thirds(n);
    std::vector<int> valid(n);
    for (std::size_t i = 0; i < n; ++i) {
      thirds[i] = static_cast<std::int16_t>(ids[i] % 3);
      valid[i] = !null[i];
    }
    return karpos::rows(to_space(thirds), karpos::nullable(to_space(ids), to_space(valid)))
        .with_nulls(nulls);
  }
  /// Returns the rows as two columns of strings, equal if the numbers are. Some have equal
  /// prefixes, some are empty, some have bytes that are 0.
  auto names(karpos::null_equality nulls = karpos::null_equality::equal) const {
    std::vector<std::string> thirds, all;
    std::vector<int> valid;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      thirds.emplace_back(ids[i] % 3, '\0');
      std::string const digits = ids[i] == 0 ? "" : std::to_string(ids[i]);
      all.push_back(ids[i] % 4 == 0 ? "a prefix of a quarter of them " + digits : digits);
      valid.push_back(!null[i]);
    }
    return karpos::rows(
               strings_in_space<std::int64_t>(thirds),
               karpos::nullable(strings_in_space<std::uint32_t>(all, "x"), to_space(valid)))
        .with_nulls(nulls);
  }
  std::tuple<std::uint64_t, bool, std::uint64_t> key(std::size_t i) const {
    return {ids[i] % 3, null[i], null[i] ? 0 : ids[i]};
  }
};

template <class Id>
table table_of(std::size_t n, Id const& id) {
  table t{std::vector<std::uint64_t>(n), std::vector<bool>(n, false)};
  for (std::size_t i = 0; i < n; ++i) t.ids[i] = id(i);
  return t;
}
inline table draws(std::size_t n, std::uint64_t different, std::uint64_t seed,
                   std::uint64_t nulls_one_in = 0) {
  random_numbers random(seed);
  table t = table_of(n, [&](std::size_t) { return permute(random.below(different)); });
  if (nulls_one_in > 0)
    for (std::size_t i = 0; i < n; ++i) t.null[i] = random.below(nulls_one_in) == 0;
  return t;
}

struct any_pair {
  bool operator()(std::uint64_t, std::uint64_t) const { return true; }
};

using pair_list = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// The matches of each left row, in order, and the right rows that have a match.
struct oracle {
  std::vector<std::vector<std::uint64_t>> of_left;
  std::vector<bool> right_matched;

  template <class Accepts>
  oracle(table const& left, table const& right, karpos::null_equality nulls, Accepts const& accepts)
      : of_left(left.size()),
        right_matched(right.size(), false) {
    bool const equal_nulls = nulls == karpos::null_equality::equal;
    std::map<std::tuple<std::uint64_t, bool, std::uint64_t>, std::vector<std::uint64_t>> index;
    for (std::size_t r = 0; r < right.size(); ++r)
      if (equal_nulls || !right.null[r]) index[right.key(r)].push_back(r);
    for (std::size_t l = 0; l < left.size(); ++l) {
      auto const at = index.find(left.key(l));
      if (at == index.end()) continue;
      for (auto const r : at->second)
        if (accepts(l, r)) {
          of_left[l].push_back(r);
          right_matched[r] = true;
        }
    }
  }

  /// Returns the rows of a join. For semi and anti joins, a row's number appears twice.
  pair_list rows(join_kind kind) const {
    pair_list list;
    bool const left = kind == join_kind::left || kind == join_kind::full;
    for (std::size_t l = 0; l < of_left.size(); ++l) {
      bool const matched = !of_left[l].empty();
      if (kind <= join_kind::full)
        for (auto const r : of_left[l]) list.emplace_back(l, r);
      if (left && !matched) list.emplace_back(l, missing);
      if ((kind == join_kind::left_semi && matched) || (kind == join_kind::left_anti && !matched))
        list.emplace_back(l, l);
    }
    for (std::size_t r = 0; r < right_matched.size(); ++r) {
      bool const matched = right_matched[r];
      if ((kind == join_kind::right || kind == join_kind::full) && !matched)
        list.emplace_back(missing, r);
      if ((kind == join_kind::right_semi && matched) || (kind == join_kind::right_anti && !matched))
        list.emplace_back(r, r);
    }
    return list;
  }
};

template <class Number>
std::uint64_t widened(Number n) {
  return n == karpos::no_row<Number> ? missing : static_cast<std::uint64_t>(n);
}

}  // namespace karpos_test
