// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/outcome.hpp"

// Linear probing over an array of words, each of which is empty or taken for good: the plainest
// concurrent hash set. A word is a key or stands for one, such as an index into an array of keys;
// `matches` compares. Nothing is erased meanwhile, so an empty word ends a probe sequence.

namespace karpos::detail::word_probing {

template <class Word>
struct probe {
  /// inserted, found, absent (find: an empty slot ended the probe) or full (all slots were probed).
  outcome ended;
  std::uint64_t slot;  ///< where the probe ended; meaningless if `full`
  Word word;           ///< the word seen there; for `found`, the one that matches
};

/// The words that probe sequences run over.
template <class Word>
struct table {
  Word* words;
  std::uint64_t slots;
  Word empty;

  /// Probes from slot `first` on for a word that matches, and inserts `word` into the first empty
  /// slot before it by a relaxed compare-and-swap. Of threads with matching words, one inserts.
  /// Requires: first < slots, word != empty. Complexity: at most `slots` probes.
  template <class Matches>
  KOKKOS_FUNCTION probe<Word> insert_or_find(std::uint64_t first, Word word,
                                             Matches const& matches) const {
    return run<true, device::access::shared>(first, word, matches);
  }

  /// Probes from slot `first` on for a word that matches. Requires: first < slots; if Access is
  /// frozen, no thread inserts meanwhile.
  template <device::access Access = device::access::shared, class Matches>
  KOKKOS_FUNCTION probe<Word> find(std::uint64_t first, Matches const& matches) const {
    return run<false, Access>(first, empty, matches);
  }

 private:
  template <bool Inserts, device::access Access, class Matches>
  KOKKOS_FUNCTION probe<Word> run(std::uint64_t first, Word word, Matches const& matches) const {
    std::uint64_t slot = first;
    do {
      Word seen = Access == device::access::frozen ? device::load_frozen(words + slot)
                                                   : device::load_relaxed(words + slot);
      if (seen == empty) {
        if constexpr (!Inserts) return {outcome::absent, slot, seen};
        seen = device::compare_and_swap(words + slot, empty, word);
        if (seen == empty) return {outcome::inserted, slot, word};
      }
      if (matches(seen)) return {outcome::found, slot, seen};
      slot = next(slot);
    } while (slot != first);
    return {outcome::full, slot, empty};
  }
  KOKKOS_FUNCTION std::uint64_t next(std::uint64_t slot) const {
    return slot + 1 == slots ? 0 : slot + 1;
  }
};

}  // namespace karpos::detail::word_probing
