// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "karpos/detail/distributed/device_engine.hpp"
#include "karpos/detail/distributed/engine.hpp"
#include "karpos/device/peers.hpp"

namespace karpos::detail::distributed {

/// The identity of a rank's device, and whether the rank wants to exchange through the host.
struct device_of_rank {
  device::device_identity id;
  bool stage_on_host;
};
/// Returns whether each rank has a device of its own, and none wants to exchange through the host.
/// Libraries between devices, and kernels that span them, wait for each other: two on one device
/// would wait forever. Collective.
inline bool have_devices_of_their_own(engine& host, int ranks, device::device_identity const& mine,
                                      bool stage_on_host) {
  device_of_rank const of_this{mine, stage_on_host};
  std::vector<device_of_rank> all(static_cast<std::size_t>(ranks));
  host.all_gather(&of_this, all.data(), blocks(std::vector<std::uint64_t>(all.size(), 1)),
                  sizeof of_this);
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].stage_on_host) return false;
    for (std::size_t q = 0; q < r; ++q)
      if (std::memcmp(all[r].id.bytes, all[q].id.bytes, sizeof all[r].id.bytes) == 0) return false;
  }
  return true;
}

/// Returns: the engine that moves data between the devices of all ranks by itself; null if there is
/// none. Collective. Requires: each rank has a device of its own. Throws: std::runtime_error if the
/// engine's library cannot be used; this ends all ranks (run_ranks).
template <class ExecSpace>
std::unique_ptr<engine> make_device_engine([[maybe_unused]] ExecSpace const& exec,
                                           [[maybe_unused]] engine& host, [[maybe_unused]] int rank,
                                           [[maybe_unused]] int ranks) {
  if constexpr (device::has_collectives<ExecSpace>) {
    using collectives = device::collectives<ExecSpace>;
    std::string const obstacle = collectives::obstacle();
    if (!obstacle.empty())
      throw std::runtime_error("karpos: " + obstacle +
                               ": install one release of both, or set "
                               "communicator_options::stage_on_host");
    typename collectives::id id{};
    if (rank == 0) id = collectives::make_id();
    host.broadcast(&id, sizeof id, 0);
    return std::make_unique<device_engine<ExecSpace>>(exec, id, rank, ranks);
  } else {
    return nullptr;
  }
}

}  // namespace karpos::detail::distributed
