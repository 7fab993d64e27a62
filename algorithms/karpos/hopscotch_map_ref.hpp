// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/hopscotch/ref.hpp"
#include "karpos/detail/map_ref.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos {

/// All of a frozen ref of a hopscotch_map: find and contains, for kernels during which nobody changes the map.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual>
class hopscotch_map_reader
    : public detail::map_reader<detail::hopscotch::hopscotch_ref<Key, T, ExecSpace, Hash, KeyEqual>,
                                device::access::frozen> {
  using reader =
      detail::map_reader<detail::hopscotch::hopscotch_ref<Key, T, ExecSpace, Hash, KeyEqual>,
                         device::access::frozen>;

 public:
  using reader::reader;
};

/// The view of a hopscotch_map that kernels take by value: trivially copyable, valid while the map lives and is not
/// rehashed (bulk insertions into a full map rehash it). Every operation (find, contains, insert, insert_or_assign,
/// insert_or_apply, erase) comes for one thread and, with a tile first, for W lanes that work on one key together
/// and all receive the answer. The slot of an erased key is free at once.
///
/// Complexity: find reads the home line, rarely up to 25 slots more. Insertions into a full neighbourhood move other
///   keys: a few lines in general, some thousand when they return `full`.
/// Requires: keys and queries are not equal to a sentinel (checked with KARPOS_CONTRACTS). Functions of the user do not
///   throw, and an op of insert_or_apply does not use the map: both run while a mark is held.
/// Concurrency: every operation may run concurrently with every other; per key, histories are linearizable. find and
///   contains are wait-free (16-byte slots where they are read in halves, as on CPUs: lock-free) and write nothing; the
///   others block on whoever changes keys of the same home and class (one of eight), for as long as it takes to look
///   through one neighbourhood and write a slot. A key that is found does not order other memory.
/// Source: GLHT; Herlihy, Shavit, Tzafrir, "Hopscotch hashing", DISC 2008; docs/hopscotch_map.md.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual>
class hopscotch_map_ref
    : public detail::map_ref<detail::hopscotch::hopscotch_ref<Key, T, ExecSpace, Hash, KeyEqual>> {
  using ref = detail::map_ref<detail::hopscotch::hopscotch_ref<Key, T, ExecSpace, Hash, KeyEqual>>;

 public:
  using ref::ref;
};

}  // namespace karpos
