// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"
#include "karpos/outcome.hpp"
#include "perf/measure/support/space.hpp"

// The lock-free chained table that GLHT is compared with: a sorted list for each bucket. An erasure
// marks its node, and the next search that passes the node unlinks it. No node is used twice. The
// host allocates the nodes of all insertions before the kernel starts, and one thread performs each
// operation.
// Sources: P. Misra, M. Chaudhuri, "Performance evaluation of concurrent lock-free data structures
// on GPUs", ICPADS 2012, as GLHT describes it; the lists after M. Michael, "High performance
// dynamic lock-free hash tables and list-based sets", SPAA 2002.

namespace karpos::perf {

/// A link is the address of a node; its lowest bit is set if the node that has the link is erased.
template <class Key>
struct chained_node {
  std::uint64_t next;
  Key key, value;
};

template <class Key>
struct chained_lists {
  using node = chained_node<Key>;
  array<std::uint64_t> heads;
  array<std::uint64_t> nodes;  ///< addresses
  array<std::uint64_t> ranks;  ///< the nodes of insertions; if empty, they take one after the other
  std::uint64_t used = 0;      ///< nodes that earlier insertions took

  KOKKOS_FUNCTION static node* at(std::uint64_t link) {
    return reinterpret_cast<node*>(link & ~std::uint64_t(1));
  }
  /// The link that leads to the first node whose key is not less, and what it holds.
  struct position {
    std::uint64_t* link;
    std::uint64_t node;
  };
  KOKKOS_FUNCTION position search(Key key) const {
    std::uint64_t* const head = &heads(multiply_high(mix(key), heads.extent(0)));
    for (;;) {
      position p{head, device::load_acquire(head)};
      bool unlinked = true;
      while (p.node != 0 && unlinked) {
        std::uint64_t const next = device::load_acquire(&at(p.node)->next);
        if ((next & 1) != 0) {
          unlinked = device::compare_and_swap_after_reads(p.link, p.node,
                                                          next & ~std::uint64_t(1)) == p.node;
          p.node = next & ~std::uint64_t(1);
        } else {
          if (at(p.node)->key >= key) return p;
          p = {&at(p.node)->next, next};
        }
      }
      if (unlinked) return p;
    }
  }
  KOKKOS_FUNCTION bool holds(position const& p, Key key) const {
    return p.node != 0 && at(p.node)->key == key;
  }

  KOKKOS_FUNCTION outcome insert(Key key, Key value, std::uint64_t i) const {
    std::uint64_t const link = nodes(used + (ranks.extent(0) == 0 ? i : ranks(i)));
    node* const mine = at(link);
    mine->key = key;
    mine->value = value;
    for (;;) {
      position const p = search(key);
      if (holds(p, key)) return outcome::existing;
      device::store_relaxed(&mine->next, p.node);
      device::release_fence();
      if (device::compare_and_swap_after_reads(p.link, p.node, link) == p.node)
        return outcome::inserted;
    }
  }
  KOKKOS_FUNCTION outcome erase(Key key) const {
    for (;;) {
      position const p = search(key);
      if (!holds(p, key)) return outcome::absent;
      std::uint64_t const next = device::load_acquire(&at(p.node)->next);
      if ((next & 1) != 0 ||
          device::compare_and_swap_after_reads(&at(p.node)->next, next, next | 1) != next)
        continue;
      device::compare_and_swap_after_reads(p.link, p.node, next);  // or a later search does it
      return outcome::erased;
    }
  }
  /// Writes nothing, and passes erased nodes.
  KOKKOS_FUNCTION bool find(Key key, Key& value) const {
    std::uint64_t link = device::load_acquire(&heads(multiply_high(mix(key), heads.extent(0))));
    while (at(link) != nullptr && at(link)->key < key) link = device::load_acquire(&at(link)->next);
    node const* const n = at(link);
    if (n == nullptr || n->key != key || (device::load_acquire(&n->next) & 1) != 0) return false;
    value = n->value;
    return true;
  }
};

}  // namespace karpos::perf
