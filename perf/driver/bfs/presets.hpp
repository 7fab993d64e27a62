// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <karpos/bfs_options.hpp>
#include <string>
#include <vector>

namespace karpos::perf {

/// A published set of techniques, which `karpos bfs --preset` measures beside the usual search.
struct bfs_preset {
  char const *name, *adds;
  bool status_array;  ///< status_array_bfs, not the library's search
  bfs_options options;
};

/// Enterprise's techniques, one added to the other: a status array; a queue that scans of the status generate; classes
/// of degrees; the hub cache, and the direction by what part of the hubs the frontier holds.
std::vector<bfs_preset> const& bfs_presets();

/// The presets that a word names: one, or all of them by `enterprise`. Returns: none for an empty word.
std::vector<bfs_preset> presets_called(std::string const& word);

}  // namespace karpos::perf
