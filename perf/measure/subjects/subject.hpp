// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "karpos/map_operation.hpp"
#include "perf/measure/subjects/fact.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// A hash map that can be measured, of this library or a peer. Keys and values have the same type.
/// Calls only enqueue work if the map can do so; the caller fences.
template <class Key>
class subject {
 public:
  virtual ~subject() = default;
  /// Returns the number of threads that work on one call; 0 if the device decides.
  virtual int threads(space const& exec) const { return exec.concurrency(); }
  virtual std::size_t bytes() const { return 0; }      ///< of the table; 0: unknown
  virtual bool erases() const { return true; }         ///< whether erase works
  virtual bool reduces() const { return false; }       ///< whether insert_or_add works
  virtual bool applies() const { return false; }       ///< whether apply works
  virtual bool supports_load() const { return true; }  ///< whether it has the load asked for
  /// Returns further numbers about the map's state. Fences exec.
  virtual std::vector<fact> facts(space const&) const { return {}; }

  virtual void clear(space const& exec) = 0;
  virtual void insert(space const& exec, array<Key> const& keys, array<Key> const& values) = 0;
  /// Writes the value of each query, or all ones if the key is absent.
  virtual void find(space const& exec, array<Key> const& queries, array<Key> const& answers) = 0;
  virtual void erase(space const&, array<Key> const&) {}
  /// Adds 1 to the value of each key.
  virtual void insert_or_add(space const&, array<Key> const&) {}
  /// Runs operations of all kinds concurrently, and writes a result for each. prepare_apply comes
  /// before, finish_apply after; their time is not measured.
  virtual void apply(space const&, array<map_operation<Key, Key>> const&,
                     array<map_result<Key>> const&) {}
  virtual void prepare_apply(space const&, array<map_operation<Key, Key>> const&) {}
  virtual void finish_apply(space const&, array<map_result<Key>> const&) {}
  virtual std::uint64_t size(space const& exec) = 0;
};

template <class Key>
using subject_factory = std::unique_ptr<subject<Key>> (*)(space const&, std::uint64_t max_keys,
                                                          double load);

/// A layout of a map that has several; each layout is an entry of its own.
struct map_layout {
  std::string map;  ///< the id of the entry with the usual layout
  std::string name;
};

/// A map that can be measured. Every file of this folder registers one or more.
struct subject_entry {
  std::string id;    ///< its name on the command line
  std::string name;  ///< its name in reports
  bool peer;
  map_layout layout;  ///< empty: the map has one layout only
  subject_factory<std::uint32_t> narrow;
  subject_factory<std::uint64_t> wide;
  bool only_if_named = false;  ///< not one of "all peers": measured if its id is given
};

template <class Key>
std::unique_ptr<subject<Key>> make(subject_entry const& entry, space const& exec,
                                   std::uint64_t max_keys, double load) {
  if constexpr (sizeof(Key) == 4)
    return entry.narrow(exec, max_keys, load);
  else
    return entry.wide(exec, max_keys, load);
}

/// Returns all maps that this build can measure, sorted by name, this library's first.
std::vector<subject_entry>& subjects();
/// Returns whether this build can measure the map with that id.
bool has_subject(std::string const& id);
/// Returns the entry with that id. Throws std::invalid_argument that names the known ones.
subject_entry const& find_subject(std::string const& id);
/// Returns the entry of that layout of a map. Throws std::invalid_argument that names the known
/// ones.
subject_entry const& subject_with_layout(std::string const& map, std::string const& layout);
/// Returns the ids of this library's maps with their usual layouts.
std::vector<std::string> our_subjects();
/// Returns whether a map has the load asked for.
bool supports_load(subject_entry const& entry);
/// Returns whether a map can run operations of all kinds concurrently.
bool can_apply(subject_entry const& entry);

/// Makes a Map<Key>(exec, max_keys, load).
template <template <class> class Map, class Key>
std::unique_ptr<subject<Key>> make_subject(space const& exec, std::uint64_t max_keys, double load) {
  return std::make_unique<Map<Key>>(exec, max_keys, load);
}

template <template <class> class Map>
struct register_subject {
  register_subject(char const* id, char const* name, bool peer, map_layout const& layout = {}) {
    subjects().push_back({id, name, peer, layout, make_subject<Map, std::uint32_t>,
                          make_subject<Map, std::uint64_t>});
  }
};
/// Registers a table written from a published description, for the figures of that publication.
template <template <class> class Map>
struct register_published {
  register_published(char const* id, char const* name) {
    register_subject<Map>(id, name, true);
    subjects().back().only_if_named = true;
  }
};
/// Registers a map of plain host code, if the measured space is accessible from the host.
template <template <class> class Map>
struct register_host_peer {
  register_host_peer(char const* id, char const* name) {
    if constexpr (on_host) register_subject<Map>(id, name, true);
  }
};

}  // namespace karpos::perf
