// SPDX-License-Identifier: Apache-2.0
/// \file
/// Invariants of a hopscotch table that no thread is changing: slots, bits, counts and marks agree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <karpos/detail/tables/hopscotch/ref.hpp>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

namespace karpos_test {

namespace hopscotch = karpos::detail::hopscotch;

/// The result of an inspection of a table.
struct hopscotch_inspection {
  std::uint64_t keys = 0, far_keys = 0;
  std::vector<std::string> wrong;  ///< a sentence for each violation, the first ones only

  /// Returns all sentences; empty if the table is in order.
  std::string text() const {
    std::string all;
    for (std::string const& sentence : wrong) all += "\n  " + sentence;
    return all;
  }
};

/// Inspects every word of a table whose lines the host can read.
template <class Ref>  // hopscotch::lines
class hopscotch_inspector {
  using layout = typename Ref::layout;
  using word = typename Ref::word;
  using key_bits = typename layout::key_bits;
  using u64 = std::uint64_t;

 public:
  explicit hopscotch_inspector(Ref const& table) : m_table(table) {}

  hopscotch_inspection inspect() {
    for (u64 l = 0; l < lines(); ++l)
      for (int s = 0; s < hopscotch::line_slots; ++s) check_slot(l, s);
    for (u64 l = 0; l < lines(); ++l) check_hop_word(l);
    return m_found;
  }

 private:
  u64 lines() const { return m_table.geometry().lines(); }
  u64 hop_word(u64 l) const { return Ref::protocol::hop_word_of(*m_table.line(l)); }
  static u64 bits_of(word w) { return static_cast<u64>(layout::key_of(w)); }

  template <class... Parts>
  void say(Parts const&... parts) {
    if (m_found.wrong.size() >= 20) return;
    std::ostringstream text;
    (text << ... << parts);
    m_found.wrong.push_back(text.str());
  }

  auto path_of(word w) const {
    using Key = typename Ref::key_type;
    return m_table.start(karpos::from_bits<Key>(layout::key_of(w)));
  }

  void check_slot(u64 l, int s) {
    word const w = m_table.line(l)[1 + s];
    if (!m_table.slot().live(w)) {
      if (bits_of(w) != bits_of(m_table.slot().empty_slot()))
        say("slot ", s, " of line ", l, " is busy still");
      return;
    }
    ++m_found.keys;
    if (!m_seen.insert(layout::key_of(w)).second)
      say("key ", bits_of(w), " is there twice, once in slot ", s, " of line ", l);
    auto const p = path_of(w);
    int const j = m_table.geometry().index_of(p.home, l);
    int const i = m_table.geometry().line(p.home, j) == l ? hopscotch::slot_in_neighbourhood(j, s)
                                                          : hopscotch::no_slot;
    m_found.far_keys += j > 0;
    if (i == hopscotch::no_slot)
      say("key ", bits_of(w), " of home ", p.home, " is not in its neighbourhood but in slot ", s,
          " of line ", l);
    else if ((hop_word(p.home) & hopscotch::slot_bit(i)) == 0)
      say("the hop word of line ", p.home, " does not have the bit of key ", bits_of(w),
          ", which is in slot ", s, " of line ", l);
  }

  void check_hop_word(u64 home) {
    u64 const hop_word = this->hop_word(home);
    std::vector<std::uint32_t> keys(hopscotch::key_classes, 0), far(hopscotch::key_classes, 0);
    for (int i = 0; i < hopscotch::neighbourhood_slots; ++i) {
      if ((hop_word & hopscotch::slot_bit(i)) == 0) continue;
      word const w = *m_table.slot_of(home, i);
      if (!m_table.slot().live(w) || path_of(w).home != home) {
        say("bit ", i, " of line ", home, " is set, and the slot holds no key of that home");
        continue;
      }
      auto const c = static_cast<std::size_t>(path_of(w).key_class);
      ++keys[c];
      far[c] += i >= hopscotch::line_slots;
    }
    for (int c = 0; c < hopscotch::key_classes; ++c) {
      auto const n = keys[static_cast<std::size_t>(c)];
      auto const n_far = far[static_cast<std::size_t>(c)];
      if ((hop_word & hopscotch::lock_bit(c)) != 0)
        say("class ", c, " of line ", home, " is locked still");
      if (hopscotch::count_in(hop_word, c) != std::min(n, hopscotch::saturated_count))
        say("class ", c, " of line ", home, " counts ", hopscotch::count_in(hop_word, c),
            " keys of ", n);
      if (n_far > 0 && (hop_word & hopscotch::far_bit(c)) == 0)
        say("class ", c, " of line ", home, " has ", n_far, " far keys, and its flag is not set");
      if (n == 0 && (hop_word & hopscotch::far_bit(c)) != 0)
        say("class ", c, " of line ", home, " is empty, and its far flag is set");
    }
  }

  Ref m_table;
  std::unordered_set<key_bits> m_seen;
  hopscotch_inspection m_found;
};

/// Inspects a table whose lines the host can read.
template <class Traits>
hopscotch_inspection inspect(hopscotch::lines<Traits> const& table) {
  return hopscotch_inspector(table).inspect();
}

}  // namespace karpos_test
