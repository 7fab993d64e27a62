// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/backend/memory.hpp"
#include "karpos/detail/open_addressing.hpp"
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

/// What a body returns when an index counts for nothing.
inline constexpr int uncounted = -1;

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

/// What every body shares: hash a key, start to fetch its home bucket.
template <class Ref, class Keys>
struct keyed_body {
  Ref ref;
  Keys keys;

  KOKKOS_FUNCTION std::uint64_t prepare(std::uint64_t i) const {
    std::uint64_t const hash = ref.hash(keys(i));
    prefetch(ref.home(hash));
    return hash;
  }
};

template <class Ref, class Keys, class Values, class Combine, class Stencil>
struct insert_body : keyed_body<Ref, Keys> {
  Values values;
  Combine combine;
  Stencil stencil;

  KOKKOS_FUNCTION int operator()(std::uint64_t i, std::uint64_t hash) const {
    if (!stencil(i)) return uncounted;
    auto const key = this->keys(i);
    if (this->ref.reserved(key)) return insert_report::invalid_key;
    return static_cast<int>(this->ref.upsert(thread_tile{}, hash, key, values(i), combine));
  }
};

template <class Ref, class Keys, class Out, class T, class Stencil>
struct find_body : keyed_body<Ref, Keys> {
  Out out;
  T missing;
  Stencil stencil;

  KOKKOS_FUNCTION int operator()(std::uint64_t i, std::uint64_t hash) const {
    auto const query = this->keys(i);
    bool const askable = stencil(i) && !this->ref.reserved(query);
    out(i) = askable ? this->ref.template find<access::frozen>(thread_tile{}, hash, query).value_or(missing)
                     : missing;
    return uncounted;
  }
};

template <class Ref, class Keys, class Out, class Stencil>
struct contains_body : keyed_body<Ref, Keys> {
  Out out;
  Stencil stencil;

  KOKKOS_FUNCTION int operator()(std::uint64_t i, std::uint64_t hash) const {
    auto const query = this->keys(i);
    bool const askable = stencil(i) && !this->ref.reserved(query);
    out(i) = askable && this->ref.template find<access::frozen>(thread_tile{}, hash, query).present;
    return uncounted;
  }
};

template <class Ref, class Keys>
struct erase_body : keyed_body<Ref, Keys> {
  KOKKOS_FUNCTION int operator()(std::uint64_t i, std::uint64_t hash) const {
    auto const query = this->keys(i);
    return !this->ref.reserved(query) && this->ref.erase(thread_tile{}, hash, query) ? 0 : uncounted;
  }
};

/// Fills a table with empty slots.
template <class Word>
struct fill_body {
  Word* slots;
  Word value;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { slots[i] = value; }
};

template <class Ref>
struct count_body {
  Ref ref;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    n += ref.live(load_relaxed(ref.slots() + i));
  }
};

/// visit(key, value), or visit(key) for a set, for every live slot.
template <class Ref, class Key, class Visit>
struct visit_body {
  Ref ref;
  Visit visit;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    using layout = typename Ref::layout;
    auto const slot = load_relaxed(ref.slots() + i);
    if (!ref.live(slot)) return;
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
    auto const slot = load_relaxed(ref.slots() + i);
    if (!ref.live(slot)) return;
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

  KOKKOS_FUNCTION std::uint64_t prepare(std::uint64_t) const { return 0; }
  KOKKOS_FUNCTION int operator()(std::uint64_t i, std::uint64_t) const {
    using layout = typename Ref::layout;
    auto const slot = load_relaxed(from.slots() + i);
    if (!from.live(slot)) return uncounted;
    auto const key = from_bits<Key>(layout::key_of(slot));
    return static_cast<int>(
        to.upsert(thread_tile{}, to.hash(key), key, layout::value_of(slot), keep_stored{}));
  }
};

}  // namespace karpos::detail
