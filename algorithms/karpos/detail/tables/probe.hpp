// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/map_operation.hpp"
#include "karpos/outcome.hpp"

// The probe loop: how an operation goes along the probe path of a key, in the user's kernels and in
// bulk. A table as kernels see it (open_addressing::table_ref, hopscotch::table_ref,
// cuckoo::two_level_ref and cuckoo::dense_ref) offers:
//
//   types        key_type, mapped_type, path, layout (key_of, value_of, has_value), protocol (item)
//   a path       start(query), or start_at(hash(query));
//                fetch(path): prefetches its bucket; advance(path): goes on to the next bucket;
//                past_end(path): whether there is no bucket left; home_of(hash): the first bucket
//                of a path, in 64 bits; at_home(home): a path that has only this bucket;
//                region_of(hash, n): in which of n equal regions of the table a path begins
//   a key        reserved(query): whether it is a sentinel; holds(query): a predicate of slots
//   steps        insert_step, find_step<access>, erase_step: search one bucket of the path, and
//                return a probe_step or its like; operate_step, if there is one, does any of the
//                three
//   scans        slot_at(i), slot().live(word)
//
// A tile is a group of threads of a warp that run one operation together (CUDA: a cooperative
// group).

/// Lets Kokkos reductions sum reports.
template <>
struct Kokkos::reduction_identity<karpos::insert_report> {
  KOKKOS_FUNCTION static karpos::insert_report sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<karpos::erase_report> {
  KOKKOS_FUNCTION static karpos::erase_report sum() { return {}; }
};

namespace karpos::detail {

/// Fails to compile, with an explanation, if the query of a cuckoo table would be converted.
template <class Key, class Query>
KOKKOS_FUNCTION constexpr void require_query_type() {
  static_assert(std::is_same_v<Query, Key>,
                "karpos: a cuckoo table takes queries of its key type only; others would be "
                "converted, 2^32 + 5 to 5");
}

/// The result of one step of a probe, which searches one bucket: the answer, or that the probe goes
/// on to the next bucket. A step may be of another type with the same three members, which probe
/// calls in this order, each once. Each member leads out of the loop at once. If a step evaluated
/// all three together, nvcc would merge its branches again in every turn of the loop (H200, 2^20
/// keys in the cache: lookups at 0.83 to 0.90 of the rate, insertions at 0.87, erasures at 0.76).
template <class Answer>
class probe_step {
 public:
  /// Makes the result of a step. `a` is the answer if `decided`, else ignored.
  KOKKOS_FUNCTION constexpr probe_step(bool decided, Answer const& a)
      : m_decided(decided),
        m_answer(a) {}
  KOKKOS_FUNCTION static constexpr probe_step undecided() { return {false, Answer{}}; }
  KOKKOS_FUNCTION static constexpr probe_step decide(Answer const& a) { return {true, a}; }

  KOKKOS_FUNCTION constexpr bool decided() const { return m_decided; }
  /// Returns the answer of a decided step. Other types of steps may do their work here.
  KOKKOS_FUNCTION constexpr Answer answer() const { return m_answer; }
  /// Returns, for a step that is not decided, whether the path ends here for the key.
  KOKKOS_FUNCTION static constexpr bool ended() { return false; }

 private:
  // Aligned to its size: clang then returns a step in two registers. An answer that lay in both
  // went through memory, and was read back in other pieces (64 instead of 155 M hits/s).
  bool m_decided;
  alignas(Kokkos::max(alignof(Answer), Kokkos::min(std::bit_ceil(sizeof(Answer)),
                                                   sizeof(std::uint64_t)))) Answer m_answer;
};
using outcome_step = probe_step<outcome>;
template <class T>
using lookup_step = probe_step<found<T>>;

/// How far a probe runs before it returns to its caller.
enum class probe_reach {
  whole_path,  ///< until it is decided
  one_bucket   ///< one step: the caller goes on later, so that it can keep many keys in flight
};

/// The probe loop: runs step(path) for one bucket after another. Returns the first decided step, or
/// a decided step with the answer `exhausted` at the end of the path. With probe_reach::one_bucket
/// it may also return a step that is not decided.
template <probe_reach Reach, class Table, class Answer, class Step>
KARPOS_STEP_FUNCTION probe_step<Answer> probe(Table const& table, typename Table::path& p,
                                              Answer const& exhausted, Step const& step) {
  KARPOS_INLINE_CALLS for (;;) {
    if constexpr (Reach == probe_reach::one_bucket) {
      if (table.past_end(p)) return probe_step<Answer>::decide(exhausted);
    }
    auto s = step(p);
    if (s.decided()) return probe_step<Answer>::decide(s.answer());
    if constexpr (Reach == probe_reach::one_bucket) return probe_step<Answer>::undecided();
    if (s.ended()) return probe_step<Answer>::decide(exhausted);
    table.advance(p);
    if (table.past_end(p)) return probe_step<Answer>::decide(exhausted);
  }
}

/// A tile of one thread in the table's execution space. Table may be a reference type.
template <class Table>
using one_thread = device::tile_for<typename std::remove_cvref_t<Table>::execution_space, 1>;

/// Looks a key up. Tables that choose a layout at run time have a `find` of their own.
template <device::access Access, class Table, device::tile Tile, class Query>
KARPOS_STEP_FUNCTION found<typename Table::mapped_type> find_in(Table const& table, Tile const& t,
                                                                Query const& query) {
  if constexpr (requires { table.template find<Access>(t, query); }) {
    return table.template find<Access>(t, query);
  } else {
    auto p = table.start(query);
    auto const holds = table.holds(query);
    auto const step = [&](auto& at) { return table.template find_step<Access>(t, at, holds); };
    return probe<probe_reach::whole_path>(table, p, found<typename Table::mapped_type>{}, step)
        .answer();
  }
}
/// Erases a key. Returns: outcome::erased or outcome::absent.
template <class Table, device::tile Tile, class Query>
KARPOS_STEP_FUNCTION outcome erase_from(Table const& table, Tile const& t, Query const& query) {
  auto p = table.start(query);
  auto const holds = table.holds(query);
  return probe<probe_reach::whole_path>(table, p, outcome::absent,
                                        [&](auto& at) { return table.erase_step(t, at, holds); })
      .answer();
}

// Bodies of the bulk kernels. Each call handles one key, in stages, so that pipeline.hpp can
// prefetch ahead of the work. Distance is the number of keys that a thread keeps in flight; 0
// handles one key after another, each to the end of its path. The bodies test `reach` with `if
// constexpr`, because nvcc does not see that a probe of the whole path is always decided, and would
// copy the probe (28 to 32 registers, 173 to 307 lines of PTX a lookup).

/// Base of all bodies: computes where the search for a key begins.
template <int Distance, class Table, class Keys>
struct keyed_body {
  using path = typename Table::path;
  static constexpr probe_reach reach =
      Distance == 0 ? probe_reach::whole_path : probe_reach::one_bucket;
  static constexpr unsigned threads_at_once = Table::threads_at_once;
  device::held_by_loop<typename Table::execution_space, Table> table;
  Keys keys;

  KOKKOS_FUNCTION path stage(std::uint64_t i) const {
    return table.start_at(table.hash(device::element(keys, i)));
  }
  KOKKOS_FUNCTION std::uint64_t home(std::uint64_t i) const {
    return table.home_of(table.hash(device::element(keys, i)));
  }
  KOKKOS_FUNCTION path first_stage(std::uint64_t /*i*/, std::uint64_t home) const {
    return table.at_home(home);
  }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(path const& p) const { table.fetch(p); }
  KOKKOS_FUNCTION void move_on(path& p) const { table.advance(p); }
};

template <int Distance, class Table, class Keys, class Values, class Combine, class Stencil>
struct insert_body : keyed_body<Distance, Table, Keys> {
  Values values;
  Combine combine;
  Stencil stencil;

  KARPOS_STEP_FUNCTION device::staged_result operator()(std::uint64_t i,
                                                        typename Table::path& p) const {
    auto const count = [](outcome o) {
      return device::staged_result::counted(insert_report::counter_of(o));
    };
    auto const& in = this->table;
    if (!stencil(i)) return device::staged_result::done();
    auto const key = device::element(this->keys, i);
    if (in.reserved(key)) return count(outcome::invalid);
    auto const value = device::element(values, i);
    auto const holds = in.holds(key);
    auto const item = Table::protocol::item(key, value);
    one_thread<Table> const t{};
    outcome_step const s = probe<insert_body::reach>(in, p, outcome::full, [&](auto& at) {
      return in.insert_step(t, at, holds, item, value, combine);
    });
    if constexpr (insert_body::reach == probe_reach::one_bucket) {
      if (!s.decided()) return device::staged_result::again();
    }
    return count(s.answer());
  }
};

/// Stencil that selects the keys which another stencil selects and which are not in a table.
/// Requires: no thread changes that table meanwhile.
template <class Table, class Keys, class Stencil>
struct absent_from {
  Table table;
  Keys keys;
  Stencil stencil;
  KARPOS_STEP_FUNCTION bool operator()(std::uint64_t i) const {
    using device::access;
    using thread = one_thread<Table>;
    return stencil(i) &&
           !find_in<access::frozen>(table, thread{}, device::element(keys, i)).present;
  }
  template <class F>
  auto transformed(F const& f) const {
    return absent_from<decltype(f(table)), decltype(f(keys)), decltype(f(stencil))>{
        f(table), f(keys), f(stencil)};
  }
};

/// Writes an answer, unless the key is searched `again`: the output may be the view of the queries.
/// On CPUs without a branch.
template <int Distance, class To, class T>
KOKKOS_FUNCTION void write_unless(bool again, To&& to, T const& value) {
  if constexpr (Distance > 0 && std::is_lvalue_reference_v<To>) {
    std::decay_t<To> nowhere;
    *device::select(again, &nowhere, &to) = value;
  } else if (!again) {
    to = value;
  }
}

template <int Distance, class Table, class Keys, class Out, class Write, class Stencil>
struct lookup_body : keyed_body<Distance, Table, Keys> {
  static constexpr unsigned threads_at_once = 0;
  Out out;
  Write write;
  Stencil stencil;

  KARPOS_STEP_FUNCTION device::staged_result operator()(std::uint64_t i,
                                                        typename Table::path& p) const {
    answer found_value;
    std::uint32_t again = 0;
    auto const query = device::element(this->keys, i);
    bool const asked = stencil(i) && !this->table.reserved(query);
    if (asked && (Distance == 0 || !this->table.past_end(p))) {
      auto const holds = this->table.holds(query);
      auto const step = [&](auto const& at) {
        return this->table.template find_step<device::access::frozen>(one_thread<Table>{}, at,
                                                                      holds);
      };
      if constexpr (Distance == 0) {
        found_value = probe<probe_reach::whole_path>(this->table, p, answer{}, step).answer();
      } else {
        auto const s = step(p);
        found_value = s.answer();
        again = !s.decided();
      }
    }
    write_unless<Distance>(again, out(i), write(found_value));
    return device::staged_result::done_unless(again);
  }

 private:
  using answer = found<typename Table::mapped_type>;
};

template <int Distance, class Table, class Keys>
struct erase_body : keyed_body<Distance, Table, Keys> {
  KARPOS_STEP_FUNCTION device::staged_result operator()(std::uint64_t i,
                                                        typename Table::path& p) const {
    auto const& in = this->table;
    auto const query = device::element(this->keys, i);
    if (in.reserved(query)) return device::staged_result::done();
    auto const holds = in.holds(query);
    one_thread<Table> const t{};
    outcome_step const s = probe<erase_body::reach>(
        in, p, outcome::absent, [&](auto& at) { return in.erase_step(t, at, holds); });
    if constexpr (erase_body::reach == probe_reach::one_bucket) {
      if (!s.decided()) return device::staged_result::again();
    }
    return s.answer() == outcome::erased ? device::staged_result::counted(0)
                                         : device::staged_result::done();
  }
};

/// Handles one operation of any kind, keys(i). Operations run concurrently, so lookups read shared.
template <int Distance, class Table, class Operations, class Results>
struct apply_body : keyed_body<Distance, Table, Operations> {
  using operation = typename std::remove_cvref_t<Operations>::non_const_value_type;
  using result = typename std::remove_cvref_t<Results>::value_type;
  using base = keyed_body<Distance, Table, Operations>;
  using base::keys, base::reach, base::table;
  using typename base::path;
  /// Whether CPUs search the home bucket before they operate. Tables whose operate_step is one
  /// piece of code for all kinds of operation do not.
  static constexpr bool searches_home_first =
      reach == probe_reach::one_bucket &&
      !requires(Table const& t, path& p, operation const& o, typename Table::mapped_type& value) {
        t.operate_step(one_thread<Table>{}, p, t.holds(o.key), o.op,
                       Table::protocol::item(o.key, o.value), value);
      };
  /// GPUs copy an operation once, because writes of other threads empty their caches. CPUs read its
  /// members in place: a copy would be stored in other pieces than it is loaded in.
  using operation_handle = std::conditional_t<Distance == 0, operation, operation const*>;
  struct progress {
    operation_handle asked;
    path where;
    bool searched_home;  // whether the home bucket was searched
  };
  Results results;

  KOKKOS_FUNCTION progress stage(std::uint64_t i) const {
    operation_handle const q = operation_at(i);
    return {q, table.start_at(table.hash(read(q).key)), false};
  }
  KOKKOS_FUNCTION std::uint64_t home(std::uint64_t i) const {
    return table.home_of(table.hash(keys(i).key));
  }
  KOKKOS_FUNCTION progress first_stage(std::uint64_t i, std::uint64_t home) const {
    return {operation_at(i), table.at_home(home), false};
  }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(progress const& s) const { table.fetch(s.where); }
  KOKKOS_FUNCTION void move_on(progress& s) const {
    if (s.searched_home) table.advance(s.where);
    s.searched_home = true;
  }
  KARPOS_STEP_FUNCTION device::staged_result operator()(std::uint64_t i, progress& s) const {
    result answer{outcome::invalid, {}};
    operation const& o = read(s.asked);
    if (!table.reserved(o.key)) {
      if constexpr (searches_home_first) {
        if (!s.searched_home) return search_home(i, o, s.where);
      }
      outcome_step const step = operate(o, s.where, answer.value);
      if constexpr (reach == probe_reach::one_bucket) {
        if (!step.decided()) return device::staged_result::again();
      }
      answer.outcome = step.answer();
    }
    results(i) = answer;
    return device::staged_result::done();
  }

 private:
  KOKKOS_FUNCTION operation_handle operation_at(std::uint64_t i) const {
    if constexpr (Distance == 0)
      return keys(i);
    else
      return &keys(i);
  }
  KOKKOS_FUNCTION static operation const& read(operation const& o) { return o; }
  KOKKOS_FUNCTION static operation const& read(operation const* o) { return *o; }

  /// Searches the home bucket, first, on CPUs. An operation that changes nothing and is decided
  /// there is answered without a branch, because no predictor knows which operation comes next and
  /// what it finds. All other operations come again later.
  KARPOS_STEP_FUNCTION device::staged_result search_home(std::uint64_t i, operation const& o,
                                                         path const& p) const {
    auto const step = table.template find_step<device::access::shared>(one_thread<Table>{}, p,
                                                                       table.holds(o.key));
    auto const seen = step.answer();
    bool const inserts = o.op == map_op::insert, erases = o.op == map_op::erase,
               finds = o.op == map_op::find;
    bool const changes = (inserts & !seen.present) | (erases & seen.present);
    bool const again = changes | !step.decided();
    using code = std::underlying_type_t<outcome>;
    auto const there = device::select(finds, static_cast<code>(outcome::found),
                                      static_cast<code>(outcome::existing));
    result answer{static_cast<outcome>(
                      device::select(seen.present, there, static_cast<code>(outcome::absent))),
                  {}};
    if constexpr (Table::layout::has_value)
      answer.value = (finds & seen.present) ? seen.value : typename Table::mapped_type{};
    write_unless<Distance>(again, results(i), answer);
    return device::staged_result::done_unless(again);
  }

  /// Executes an operation. Writes the value that a lookup finds to `value`.
  KOKKOS_FUNCTION outcome_step operate(operation const& o, path& p,
                                       typename Table::mapped_type& value) const {
    auto const holds = table.holds(o.key);
    auto const item = Table::protocol::item(o.key, o.value);
    one_thread<Table> const t{};
    if constexpr (requires { table.operate_step(t, p, holds, o.op, item, value); }) {
      return table.operate_step(t, p, holds, o.op, item, value);
    } else if (o.op == map_op::insert) {
      return probe<reach>(table, p, outcome::full, [&](auto& at) {
        return table.insert_step(t, at, holds, item, o.value, keep_stored{});
      });
    } else if (o.op == map_op::erase) {
      return probe<reach>(table, p, outcome::absent,
                          [&](auto& at) { return table.erase_step(t, at, holds); });
    } else {
      auto const s = probe<reach>(table, p, found<typename Table::mapped_type>{}, [&](auto& at) {
        return table.template find_step<device::access::shared>(t, at, holds);
      });
      if (s.decided() && s.answer().present) value = s.answer().value;
      return s.decided()
                 ? outcome_step::decide(s.answer().present ? outcome::found : outcome::absent)
                 : outcome_step::undecided();
    }
  }
};

/// Makes a body of a loop, such as insert_body, from the arguments of a bulk operation. These must
/// outlive the loop: use the body in the expression that makes it.
template <template <int, class...> class Body, int Distance, class Table, class Keys, class... More>
auto make_keyed_body(Table const& table, Keys const& keys, More const&... more) {
  using space = typename Table::execution_space;
  using device::for_loop, device::held_by_loop;
  return Body<Distance, Table, held_by_loop<space, Keys>, held_by_loop<space, More>...>{
      {for_loop<space>(table), for_loop<space>(keys)}, for_loop<space>(more)...};
}

}  // namespace karpos::detail
