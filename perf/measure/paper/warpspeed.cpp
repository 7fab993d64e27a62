// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "perf/measure/paper/papers.hpp"
#include "perf/measure/paper/report.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/mixed_run.hpp"
#include "perf/measure/support/mixed_workload.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"

// Ageing: a table is kept at load 0.85 while its keys are replaced, a hundredth of the slots a
// round. Adversarial: threads insert one key at once while others erase keys, so that free slots
// come up on its path, and a table may store it twice. Both are those of the programs that were
// published with the article, whose text is not here.

namespace karpos::perf::paper {

using warpspeed_key = std::uint64_t;  // of tables that age, as published; values are as wide
using warpspeed_operation = map_operation<warpspeed_key, warpspeed_key>;
using warpspeed_result = map_result<warpspeed_key>;
inline constexpr warpspeed_key warpspeed_absent = ~warpspeed_key(0);

/// Keys that are inserted, looked up or erased together: the keys from number * size on.
struct warpspeed_slice {
  key_sequence<warpspeed_key> key;
  std::uint64_t size, number;

  KOKKOS_FUNCTION std::uint64_t index(std::uint64_t i) const { return number * size + i; }
  KOKKOS_FUNCTION warpspeed_key operator()(std::uint64_t i) const { return key(index(i)); }
};

struct warpspeed_pairs {
  warpspeed_slice slice;
  array<warpspeed_key> keys, values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    keys(i) = slice(i);
    values(i) = value_of(keys(i));
  }
};
struct warpspeed_operations {
  warpspeed_slice slice;
  map_op op;
  array<warpspeed_operation> operations;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    operations(i) = {op, slice(i), op == map_op::insert ? value_of(slice(i)) : warpspeed_key(0)};
  }
};

/// Answers of a table: wrong ones, and insertions that it refused.
struct warpspeed_tally {
  std::uint64_t wrong = 0, refused = 0;
  KOKKOS_FUNCTION warpspeed_tally& operator+=(warpspeed_tally const& other) {
    wrong += other.wrong;
    refused += other.refused;
    return *this;
  }
};

/// Checks what a lookup of each key of a slice has found. Notes first, if the slice was just
/// inserted, that each key is stored, and if it was erased, that none is.
struct warpspeed_check_lookups {
  warpspeed_slice slice;
  map_op after;
  array<warpspeed_key> answers;
  array<std::uint8_t> stored;  // whether each key is
  KOKKOS_FUNCTION void operator()(std::uint64_t i, warpspeed_tally& tally) const {
    std::uint8_t& is_stored = stored(slice.index(i));
    if (after != map_op::find) is_stored = after == map_op::insert;
    tally.wrong += answers(i) != (is_stored != 0 ? value_of(slice(i)) : warpspeed_absent);
  }
};

/// Checks the results of one kind of operations on a slice while others change other keys.
struct warpspeed_check_results {
  warpspeed_slice slice;
  map_op op;
  array<warpspeed_result> results;
  array<std::uint8_t> stored;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, warpspeed_tally& tally) const {
    std::uint8_t& is_stored = stored(slice.index(i));
    warpspeed_result const got = results(i);
    outcome expected = outcome::absent;
    if (op == map_op::insert) {
      tally.refused += got.outcome == outcome::full;
      expected = got.outcome == outcome::full ? outcome::full : outcome::inserted;
    } else if (is_stored != 0) {
      expected = op == map_op::erase ? outcome::erased : outcome::found;
    }
    warpspeed_key const value = expected == outcome::found ? value_of(slice(i)) : 0;
    tally.wrong += got.outcome != expected || got.value != value;
    if (op != map_op::find) is_stored = got.outcome == outcome::inserted;
  }
};

struct warpspeed_count_stored {
  array<std::uint8_t> stored;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const { n += stored(i); }
};

namespace {

constexpr std::uint64_t warpspeed_live = 85;  // slices that are stored; a hundred fill the slots

/// The seconds of each round of a map, of the operations that have names.
struct warpspeed_times {
  std::string name;
  origin from;
  std::map<std::string, std::vector<double>> seconds;
  warpspeed_tally tally;
  std::string missing;
};

/// A table that ages: each round looks up a slice that is stored and one that is not, erases the
/// slice that was inserted first, and inserts a new one.
class warpspeed_ageing {
 public:
  warpspeed_ageing(subject_entry const& entry, std::uint64_t slots, std::uint64_t rounds,
                   warpspeed_times& times)
      : m_timer(m_exec),
        m_slice(slots / 100),
        m_rounds(rounds),
        m_times(times),
        m_keys(make_array<warpspeed_key>("keys", m_slice)),
        m_values(make_array<warpspeed_key>("values", m_slice)),
        m_answers(make_array<warpspeed_key>("answers", m_slice)),
        m_stored(make_array<std::uint8_t>("stored", (warpspeed_live + 2 * rounds) * m_slice)),
        m_operations(make_array<warpspeed_operation>("operations", 4 * m_slice)),
        m_results(make_array<warpspeed_result>("results", 4 * m_slice)) {
    // While a round is under way, both its erased and its new keys may be stored.
    std::uint64_t const most = (warpspeed_live + 1) * m_slice;
    m_map = make<warpspeed_key>(entry, m_exec, most, (warpspeed_live + 1) / 100.0);
  }

  /// Measures all rounds: the operations of one at once, or kind by kind.
  void run(bool at_once, std::function<void(double)> const& progress) {
    Kokkos::deep_copy(m_exec, m_stored, std::uint8_t(0));
    m_map->clear(m_exec);
    for (std::uint64_t s = 0; s < warpspeed_live; ++s) insert(slice(s));
    m_times.seconds.clear();
    for (std::uint64_t r = 0; r < m_rounds; ++r) {
      progress(static_cast<double>(r) / static_cast<double>(m_rounds));
      at_once ? replace_at_once(r) : replace(r);
    }
    for (std::uint64_t s = 0; s < warpspeed_live; ++s) find("", slice(m_rounds + s));
    std::uint64_t stored = 0;
    Kokkos::parallel_reduce("warpspeed::stored", range(m_exec, m_stored.extent(0)),
                            warpspeed_count_stored{m_stored}, stored);
    std::uint64_t const size = m_map->size(m_exec);
    m_times.tally.wrong += size > stored ? size - stored : stored - size;
  }

 private:
  warpspeed_slice slice(std::uint64_t number) const {
    return {key_sequence<warpspeed_key>{1}, m_slice, number};
  }
  /// Return the slices of a round: keys that were inserted two rounds before, the oldest keys, new
  /// ones, and keys that are never stored.
  warpspeed_slice hits(std::uint64_t r) const { return slice(warpspeed_live + r - 2); }
  warpspeed_slice oldest(std::uint64_t r) const { return slice(r); }
  warpspeed_slice added(std::uint64_t r) const { return slice(warpspeed_live + r); }
  warpspeed_slice misses(std::uint64_t r) const { return slice(warpspeed_live + m_rounds + r); }

  void replace(std::uint64_t r) {
    find("hits", hits(r));
    find("misses", misses(r));
    erase(oldest(r));
    insert(added(r));
  }
  void replace_at_once(std::uint64_t r) {
    std::pair<warpspeed_slice, map_op> const parts[] = {{hits(r), map_op::find},
                                                        {oldest(r), map_op::erase},
                                                        {added(r), map_op::insert},
                                                        {misses(r), map_op::find}};
    std::uint64_t n = 0;
    for (auto const& [keys, op] : parts) write_operations(keys, op, n++);
    measure_apply("all", n);
    n = 0;
    for (auto const& [keys, op] : parts) {
      array<warpspeed_result> const results(m_results.data() + n++ * m_slice, m_slice);
      tally("warpspeed::check results", warpspeed_check_results{keys, op, results, m_stored});
    }
  }

  void find(std::string const& name, warpspeed_slice const& keys) {
    write_pairs(keys);
    measure(name, [&] { m_map->find(m_exec, m_keys, m_answers); });
    check_lookups(keys, map_op::find);
  }
  void erase(warpspeed_slice const& keys) {
    write_pairs(keys);
    measure("erase", [&] { m_map->erase(m_exec, m_keys); });
    m_map->find(m_exec, m_keys, m_answers);
    check_lookups(keys, map_op::erase);
  }
  /// Inserts by apply if the map has it, which frees slots of erased keys where insertions alone do
  /// not, and says which keys it refuses. Other maps refuse none.
  void insert(warpspeed_slice const& keys) {
    write_pairs(keys);
    bool const applies = m_map->applies();
    if (applies) {
      write_operations(keys, map_op::insert, 0);
      measure_apply("insert", 1);
      array<warpspeed_result> const results(m_results.data(), m_slice);
      tally("warpspeed::check results",
            warpspeed_check_results{keys, map_op::insert, results, m_stored});
    } else {
      measure("insert", [&] { m_map->insert(m_exec, m_keys, m_values); });
    }
    m_map->find(m_exec, m_keys, m_answers);
    check_lookups(keys, applies ? map_op::find : map_op::insert);
  }

  void write_pairs(warpspeed_slice const& keys) {
    Kokkos::parallel_for("warpspeed::pairs", range(m_exec, m_slice),
                         warpspeed_pairs{keys, m_keys, m_values});
  }
  void write_operations(warpspeed_slice const& keys, map_op op, std::uint64_t part) {
    Kokkos::parallel_for("warpspeed::operations", range(m_exec, m_slice),
                         warpspeed_operations{keys, op, operations(part, 1)});
  }
  array<warpspeed_operation> operations(std::uint64_t part, std::uint64_t parts) const {
    return array<warpspeed_operation>(m_operations.data() + part * m_slice, parts * m_slice);
  }
  void measure_apply(std::string const& name, std::uint64_t parts) {
    auto const some = operations(0, parts);
    array<warpspeed_result> const results(m_results.data(), parts * m_slice);
    m_map->prepare_apply(m_exec, some);
    measure(name, [&] { m_map->apply(m_exec, some, results); });
    m_map->finish_apply(m_exec, results);
  }
  template <class Work>
  void measure(std::string const& name, Work const& work) {
    m_times.seconds[name].push_back(m_timer.once([] {}, work));
  }
  void check_lookups(warpspeed_slice const& keys, map_op after) {
    tally("warpspeed::check lookups", warpspeed_check_lookups{keys, after, m_answers, m_stored});
  }
  template <class Check>
  void tally(char const* label, Check const& check) {
    warpspeed_tally more;
    Kokkos::parallel_reduce(label, range(m_exec, m_slice), check, more);
    m_times.tally += more;
  }

  space m_exec;
  timer<space> m_timer;
  std::uint64_t m_slice, m_rounds;
  warpspeed_times& m_times;
  std::unique_ptr<subject<warpspeed_key>> m_map;
  array<warpspeed_key> m_keys, m_values, m_answers;
  array<std::uint8_t> m_stored;
  array<warpspeed_operation> m_operations;
  array<warpspeed_result> m_results;
};

/// Returns the maps of this build that erase; those that run all operations at once, if asked for.
std::vector<std::string> warpspeed_maps(bool at_once) {
  std::vector<std::string> maps;
  for (char const* const id :
       {"hopscotch", "hash", "unordered", "hopscotch-locked", "kokkos", "tbb", "absl", "boost"}) {
    if (has_subject(id) && (!at_once || can_apply(find_subject(id)))) maps.emplace_back(id);
  }
  return maps;
}

std::uint64_t warpspeed_slots(scale const& s) {
  return s.pick<std::uint64_t>(20000, 10000000, 100000000);
}
std::uint64_t warpspeed_rounds(scale const& s) { return s.pick<std::uint64_t>(40, 1000); }

/// Ages every map, unless a figure before did.
std::vector<warpspeed_times> const& warpspeed_aged(scale const& s, bool at_once,
                                                   reporter const& report) {
  static std::map<std::pair<bool, bool>, std::vector<warpspeed_times>> measured;
  auto const known = measured.find({s.quick, at_once});
  if (known != measured.end()) return known->second;
  std::vector<warpspeed_times> all;
  auto const maps = warpspeed_maps(at_once);
  for (std::string const& id : maps) {
    subject_entry const& entry = find_subject(id);
    warpspeed_times times{entry.name, entry.peer ? origin::peer : origin::ours, {}, {}, {}};
    try {
      warpspeed_ageing(entry, warpspeed_slots(s), warpspeed_rounds(s), times)
          .run(at_once, [&](double part) {
            report((static_cast<double>(all.size()) + part) / static_cast<double>(maps.size()),
                   entry.name);
          });
    } catch (std::exception const& e) {
      if (!is_lack_of_memory(e)) throw;
      times.missing = e.what();
    }
    all.push_back(std::move(times));
  }
  return measured[{s.quick, at_once}] = std::move(all);
}

series warpspeed_published() {
  return {"WarpSpeed",
          origin::published,
          {},
          {},
          "the workload is that of its published program; the article's values are not known here"};
}

/// The rate of one operation, or of `all` at once, while tables age. A point is the mean of a
/// twentieth of the rounds, so that it counts work that is not done in every round.
figure warpspeed_by_round(scale const& s, std::string const& operation, std::string const& title,
                          reporter const& report) {
  bool const at_once = operation == "all";
  std::uint64_t const rounds = warpspeed_rounds(s), each = rounds / 20;
  auto const slice = static_cast<double>(warpspeed_slots(s) / 100);
  figure f;
  f.title = title + ", 8 + 8 bytes, " + grouped(warpspeed_slots(s)) + " slots";
  f.x = {"round, which replaces a hundredth of the slots"};
  f.y = {"operations (10^9/s)", true};
  for (warpspeed_times const& t : warpspeed_aged(s, at_once, report)) {
    series line{t.name, t.from, {}, {}, t.missing};
    if (auto const at = t.seconds.find(operation); at != t.seconds.end())
      for (std::uint64_t r = 0; r + each <= at->second.size(); r += each) {
        auto const first = at->second.begin() + static_cast<std::ptrdiff_t>(r);
        double const seconds =
            std::accumulate(first, first + static_cast<std::ptrdiff_t>(each), 0.0);
        double const operations = (at_once ? 4 : 1) * slice * static_cast<double>(each);
        line.points.push_back({static_cast<double>(r + each), operations / seconds * 1e-9});
      }
    f.lines.push_back(line);
    f.wrong += t.tally.wrong;
    if (t.tally.refused > 0)
      f.notes.push_back(t.name + " refused " + grouped(t.tally.refused) +
                        " insertions, as if it were full; their keys must not be found later");
  }
  f.lines.push_back(warpspeed_published());
  f.notes.emplace_back(
      "load 0.85; a round looks up keys of the round before the last and absent ones, erases the "
      "oldest keys and inserts new ones, a hundredth of the slots each");
  f.notes.emplace_back(
      "hash_map does not use slots of erased keys again before it compacts, within insertions, "
      "which go through apply, not through its bulk insert. Unordered maps erase in phases of "
      "their own");
  if (on_host && !at_once) f.notes.emplace_back("absl and boost maps use one thread, others all");
  return f;
}

figure warpspeed_all(scale const& s, reporter const& report) {
  return warpspeed_by_round(s, "all", "lookups, erasures and insertions at once", report);
}
figure warpspeed_hits(scale const& s, reporter const& report) {
  return warpspeed_by_round(s, "hits", "lookups of stored keys", report);
}
figure warpspeed_misses(scale const& s, reporter const& report) {
  return warpspeed_by_round(s, "misses", "lookups of absent keys", report);
}
figure warpspeed_erase(scale const& s, reporter const& report) {
  return warpspeed_by_round(s, "erase", "erasures", report);
}
figure warpspeed_insert(scale const& s, reporter const& report) {
  return warpspeed_by_round(s, "insert", "insertions", report);
}

/// Measures insertions of one key at once beside each erasure of another.
figure warpspeed_attack(scale const& s, std::vector<std::pair<double, double>> const& keys_copies,
                        bool by_keys, reporter const& report) {
  std::vector<std::string> const maps = [] {
    auto all = warpspeed_maps(true);
    all.emplace_back("chained");
    return all;
  }();
  figure f;
  f.title = by_keys ? "two insertions of a key beside each erasure, by number of keys"
                    : "insertions of a key beside each erasure, by their number";
  f.x = {by_keys ? "keys, in twice as many slots" : "insertions of a key at once", true};
  f.y = {"operations (10^9/s)", true};
  for (std::string const& id : maps)
    f.lines.push_back({find_subject(id).name, find_subject(id).peer ? origin::peer : origin::ours});
  f.lines.push_back(warpspeed_published());
  double done = 0;
  for (auto const& [keys, copies] : keys_copies) {
    mixed_parameters p;
    p.keys = static_cast<std::uint64_t>(keys);
    p.copies = static_cast<std::uint64_t>(copies);
    p.operations = operations_by_copies(p);
    p.slots = 2 * p.keys;
    p.load = 0.5;
    p.repetitions = s.repetitions();
    p.maps = maps;
    mixed_run const run = run_mixed(p, [&](double part, std::string const& what) {
      report((done + part) / static_cast<double>(keys_copies.size()),
             grouped(p.keys) + " keys, " + what);
    });
    for (std::size_t line = 0; line < run.results.size(); ++line)
      f.lines[line].points.push_back({by_keys ? keys : copies, run.results[line].rate() * 1e-9});
    f.wrong += run.wrong();
    ++done;
  }
  f.notes.emplace_back(
      "one half of the keys is stored, in twice as many slots as there are keys, and erased, the "
      "other half inserted, all at once; afterwards every key is erased once, and none may be "
      "found");
  if (on_host) f.notes.emplace_back("neighbouring operations, so those on one key, share a thread");
  return f;
}
figure warpspeed_adversarial(scale const& s, reporter const& report) {
  auto const sweep = s.pick<std::vector<std::pair<double, double>>>(
      {{1e3, 2}, {1e4, 2}}, {{1e4, 2}, {1e5, 2}, {1e6, 2}, {1e7, 2}});
  return warpspeed_attack(s, sweep, true, report);
}
figure warpspeed_copies(scale const& s, reporter const& report) {
  auto const sweep = s.pick<std::vector<std::pair<double, double>>>(
      {{1e3, 2}, {1e3, 32}}, {{1e5, 2}, {1e5, 8}, {1e5, 32}, {1e5, 128}, {1e5, 1024}});
  return warpspeed_attack(s, sweep, false, report);
}

}  // namespace

publication warpspeed_paper() {
  publication paper;
  paper.id = "warpspeed";
  paper.title = "WarpSpeed: a high-performance library for concurrent GPU hash tables";
  paper.reference = "H. McCoy, P. Pandey, ALENEX 2026 (arXiv:2509.16407)";
  paper.hardware = "hardware not known here";
  std::string const attack =
      "karpos mixed --map hopscotch --keys 1e5 --slots 2e5 --load 0.5 "
      "--peers hash,hopscotch-locked,chained";
  auto const alone = [](std::string const& figure) {
    return "karpos paper warpspeed --figure " + figure;
  };
  paper.figures = {
      {"ageing", "all operations at once, while tables age", alone("ageing"), warpspeed_all, 4},
      {"hits", "lookups of stored keys, while tables age", alone("hits"), warpspeed_hits, 6},
      {"misses", "lookups of absent keys", alone("misses"), warpspeed_misses, 0.1},
      {"erase", "erasures", alone("erase"), warpspeed_erase, 0.1},
      {"insert", "insertions", alone("insert"), warpspeed_insert, 0.1},
      {"adversarial", "two insertions of a key beside each erasure", attack + " --copies 2",
       warpspeed_adversarial, 1},
      {"copies", "many insertions of a key beside each erasure", attack + " --copies 32",
       warpspeed_copies, 1}};
  return paper;
}

}  // namespace karpos::perf::paper
