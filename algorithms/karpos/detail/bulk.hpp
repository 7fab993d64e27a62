// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/slot_protocol.hpp"
#include "karpos/detail/walk.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/hash.hpp"
#include "karpos/map_operation.hpp"
#include "karpos/outcome.hpp"

// Bodies of the bulk kernels: one key each, staged so that launch.hpp can prefetch ahead of the work.

/// Lets tallies be summed by Kokkos reductions.
template <>
struct Kokkos::reduction_identity<karpos::insert_report> {
  KOKKOS_FUNCTION static karpos::insert_report sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<karpos::erase_report> {
  KOKKOS_FUNCTION static karpos::erase_report sum() { return {}; }
};

namespace karpos::detail {

/// Stencil that lets every key through.
struct everything {
  KOKKOS_FUNCTION constexpr bool operator()(std::uint64_t) const { return true; }
};
/// Stencil: predicate(stencil(i)).
template <class View, class Predicate>
struct where {
  View stencil;
  Predicate predicate;
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const { return predicate(stencil(i)); }
};
struct as_bool {
  template <class X>
  KOKKOS_FUNCTION constexpr bool operator()(X const& x) const {
    return static_cast<bool>(x);
  }
};

/// The same value for every key.
template <class T>
struct constant {
  T value;
  KOKKOS_FUNCTION constexpr T operator()(std::uint64_t) const { return value; }
};

/// How far a call goes: bucket by bucket where many keys are in flight.
template <int Distance>
inline constexpr walk reach_of = Distance == 0 ? walk::to_the_end : walk::one_bucket;

/// What every body shares: hash a key and start to fetch its bucket, now or after a bucket that was full.
template <int Distance, class Ref, class Keys>
struct keyed_body {
  using path = typename Ref::path;
  static constexpr unsigned threads_at_once = Ref::threads_at_once;
  Ref ref;
  Keys keys;

  KOKKOS_FUNCTION path prepare(std::uint64_t i) const {
    path const p = ref.start(keys(i));
    device::prefetch(ref.bucket(p));
    return p;
  }
  static constexpr walk reach = reach_of<Distance>;
  KOKKOS_FUNCTION int again(path const& p) const {
    device::prefetch(ref.bucket(p));
    return device::undecided;
  }
};

template <int Distance, class Ref, class Keys, class Values, class Combine, class Stencil>
struct insert_body : keyed_body<Distance, Ref, Keys> {
  Values values;
  Combine combine;
  Stencil stencil;

  KOKKOS_FUNCTION int operator()(std::uint64_t i, typename Ref::path& p) const {
    if (!stencil(i)) return device::uncounted;
    auto const key = this->keys(i);
    if (this->ref.reserved(key)) return insert_report::invalid_key;
    auto const value = values(i);
    outcome result = outcome::full;
    bool const decided = this->ref.template upsert_along<insert_body::reach>(
        device::thread_tile{}, p, this->ref.holds(key), Ref::protocol::item(key, value), value,
        combine, result);
    return decided ? static_cast<int>(result) : this->again(p);
  }
};

/// What a lookup writes: the value or a stand-in, or whether there is one.
template <class T>
struct value_or {
  T missing;
  KOKKOS_FUNCTION constexpr T operator()(found<T> const& answer) const {
    return answer.value_or(missing);
  }
};
struct presence {
  template <class T>
  KOKKOS_FUNCTION constexpr bool operator()(found<T> const& answer) const {
    return answer.present;
  }
};

template <int Distance, class Ref, class Keys, class T, class Out, class Write, class Stencil>
struct lookup_body : keyed_body<Distance, Ref, Keys> {
  static constexpr unsigned threads_at_once = 0;
  Out out;
  Write write;
  Stencil stencil;

  KOKKOS_FUNCTION int operator()(std::uint64_t i, typename Ref::path& p) const {
    auto const query = this->keys(i);
    found<T> answer;
    if (stencil(i) && !this->ref.reserved(query)) {
      bool const decided =
          this->ref.template find_along<lookup_body::reach, device::access::frozen>(
              device::thread_tile{}, p, this->ref.holds(query), answer);
      if (!decided) return this->again(p);
    }
    out(i) = write(answer);
    return device::uncounted;
  }
};

template <int Distance, class Ref, class Keys>
struct erase_body : keyed_body<Distance, Ref, Keys> {
  KOKKOS_FUNCTION int operator()(std::uint64_t i, typename Ref::path& p) const {
    auto const query = this->keys(i);
    bool erased = false;
    if (this->ref.reserved(query)) return device::uncounted;
    bool const decided = this->ref.template erase_along<erase_body::reach>(
        device::thread_tile{}, p, this->ref.holds(query), erased);
    return !decided ? this->again(p) : erased ? 0 : device::uncounted;
  }
};

/// One operation each, whichever it is. They run at once: lookups read as beside writers. An operation is read once: on
/// GPUs the writes of others empty the caches again and again.
template <int Distance, class Ref, class Operations, class Results>
struct apply_body {
  using operation = typename Operations::non_const_value_type;
  using result = typename Results::value_type;
  using path = typename Ref::path;
  static constexpr unsigned threads_at_once = Ref::threads_at_once;
  static constexpr walk reach = reach_of<Distance>;
  struct stage {
    operation asked;
    path where;
  };
  Ref ref;
  Operations operations;
  Results results;

  KOKKOS_FUNCTION stage prepare(std::uint64_t i) const {
    operation const o = operations(i);
    stage const s{o, ref.start(o.key)};
    device::prefetch(ref.bucket(s.where));
    return s;
  }
  KOKKOS_FUNCTION int operator()(std::uint64_t i, stage& s) const {
    operation const& o = s.asked;
    result answer{map_outcome::invalid, {}};
    if (ref.reserved(o.key)) {
    } else if constexpr (in_one_piece) {
      answer.outcome = ref.apply_along(device::thread_tile{}, s.where, ref.holds(o.key), o.op,
                                       Ref::protocol::item(o.key, o.value), answer.value);
    } else {
      bool const decided = o.op == map_op::insert  ? insert(o, s.where, answer)
                           : o.op == map_op::erase ? erase(o, s.where, answer)
                                                   : find(o, s.where, answer);
      if (!decided) {
        device::prefetch(ref.bucket(s.where));
        return device::undecided;
      }
    }
    results(i) = answer;
    return device::uncounted;
  }

 private:
  /// Whether the table has one function for all operations, which is decided at the first call.
  static constexpr bool in_one_piece =
      requires(Ref const table, operation const o, typename Ref::mapped_type value) {
        table.apply_along(device::thread_tile{}, path{}, table.holds(o.key), o.op,
                          Ref::protocol::item(o.key, o.value), value);
      };

  KOKKOS_FUNCTION bool insert(operation const& o, path& p, result& answer) const {
    outcome what = outcome::full;
    bool const decided = ref.template upsert_along<reach>(
        device::thread_tile{}, p, ref.holds(o.key), Ref::protocol::item(o.key, o.value), o.value,
        keep_stored{}, what);
    answer.outcome = what == outcome::inserted   ? map_outcome::inserted
                     : what == outcome::existing ? map_outcome::existing
                                                 : map_outcome::full;
    return decided;
  }
  KOKKOS_FUNCTION bool erase(operation const& o, path& p, result& answer) const {
    bool erased = false;
    bool const decided =
        ref.template erase_along<reach>(device::thread_tile{}, p, ref.holds(o.key), erased);
    answer.outcome = erased ? map_outcome::erased : map_outcome::absent;
    return decided;
  }
  KOKKOS_FUNCTION bool find(operation const& o, path& p, result& answer) const {
    found<typename Ref::mapped_type> what;
    bool const decided = ref.template find_along<reach, device::access::shared>(
        device::thread_tile{}, p, ref.holds(o.key), what);
    answer.outcome = what.present ? map_outcome::found : map_outcome::absent;
    if (what.present) answer.value = what.value;
    return decided;
  }
};

// Scans: one slot each.

template <class Ref>
struct count_body {
  Ref ref;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    n += ref.slot().live(device::load_relaxed(ref.slot_at(i)));
  }
};

/// visit(key, value), or visit(key) for a set, for every live slot.
template <class Ref, class Key, class Visit>
struct visit_body {
  Ref ref;
  Visit visit;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    using layout = typename Ref::layout;
    auto const slot = device::load_relaxed(ref.slot_at(i));
    if (!ref.slot().live(slot)) return;
    if constexpr (layout::has_value)
      visit(from_bits<Key>(layout::key_of(slot)), layout::value_of(slot));
    else
      visit(from_bits<Key>(layout::key_of(slot)));
  }
};

/// Writes the live slots one after another: the scan gives each its place.
template <class Ref, class Key, class KeysOut, class ValuesOut>
struct retrieve_body {
  Ref ref;
  KeysOut keys;
  ValuesOut values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& place, bool final) const {
    using layout = typename Ref::layout;
    auto const slot = device::load_relaxed(ref.slot_at(i));
    if (!ref.slot().live(slot)) return;
    if (final) {
      keys(place) = from_bits<Key>(layout::key_of(slot));
      if constexpr (layout::has_value) values(place) = layout::value_of(slot);
    }
    ++place;
  }
};

/// Copies the live slots of one table into another.
template <class Ref, class Key>
struct reinsert_body {
  Ref from, to;

  KOKKOS_FUNCTION int prepare(std::uint64_t) const { return 0; }
  KOKKOS_FUNCTION int operator()(std::uint64_t i, int) const {
    using layout = typename Ref::layout;
    auto const slot = device::load_relaxed(from.slot_at(i));
    if (!from.slot().live(slot)) return device::uncounted;
    auto const key = from_bits<Key>(layout::key_of(slot));
    return static_cast<int>(
        to.upsert(device::thread_tile{}, key, layout::value_of(slot), keep_stored{}));
  }
};

}  // namespace karpos::detail
