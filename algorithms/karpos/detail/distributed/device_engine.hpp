// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/distributed/engine.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/native/collectives.hpp"
#include "karpos/device/peers.hpp"

namespace karpos::detail::distributed {

/// Computes to[i], the OR of the i-th words of `count` parts, which are stored one after the other.
template <class Word>
struct or_parts {
  Word const* parts;
  std::uint64_t each, count;
  Word* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    Word w = 0;
    for (std::uint64_t r = 0; r < count; ++r) w = static_cast<Word>(w | parts[r * each + i]);
    to[i] = w;
  }
};

/// The engine between devices (device/native/collectives.hpp). It enqueues its operations, and does
/// not block.
template <class ExecSpace>
class device_engine final : public engine {
  using collectives = device::collectives<ExecSpace>;
  using sizes = std::vector<std::uint64_t>;

 public:
  device_engine(ExecSpace const& exec, typename collectives::id const& id, int rank, int ranks)
      : m_exec(exec),
        m_collectives(exec, id, rank, ranks),
        m_rank(static_cast<std::size_t>(rank)),
        m_ranks(static_cast<std::size_t>(ranks)) {}

  char const* name() const override { return collectives::name; }
  bool accepts_device_memory() const override { return true; }
  void barrier() override {}  // the host needs none but MPI's

  void broadcast(void* data, std::uint64_t bytes, int root) override {
    m_collectives.broadcast(data, bytes, root);
  }
  bool reduces(number_kind kind, reduction_kind op) const override {
    return op == reduction_kind::bit_or || collectives::reduces(kind, op);
  }
  void all_reduce(void* data, std::uint64_t n, number_kind kind, reduction_kind op) override {
    std::uint64_t const bytes = n * device::bytes_of(kind);
    if (op != reduction_kind::bit_or)
      m_collectives.all_reduce(data, n, kind, op);
    else if (bytes % sizeof(std::uint32_t) == 0)
      or_bits(static_cast<std::uint32_t*>(data), bytes / sizeof(std::uint32_t));
    else
      or_bits(static_cast<std::uint8_t*>(data), bytes);
  }
  void all_gather(void const* send, void* receive, blocks const& to,
                  std::size_t element_bytes) override {
    sizes const count = in_bytes(to.count, element_bytes),
                begin = in_bytes(to.begin, element_bytes);
    m_collectives.exchange(static_cast<std::byte const*>(send), sizes(m_ranks, 0),
                           sizes(m_ranks, count[m_rank]), static_cast<std::byte*>(receive), begin,
                           count);
  }
  void all_to_all(void const* send, blocks const& from, void* receive, blocks const& to,
                  std::size_t element_bytes) override {
    m_collectives.exchange(static_cast<std::byte const*>(send), in_bytes(from.begin, element_bytes),
                           in_bytes(from.count, element_bytes), static_cast<std::byte*>(receive),
                           in_bytes(to.begin, element_bytes), in_bytes(to.count, element_bytes));
  }

 private:
  static sizes in_bytes(sizes of, std::size_t element) {
    for (auto& n : of) n *= element;
    return of;
  }
  /// Computes the OR of all ranks' words: each rank computes a part, and sends it to the others.
  template <class Word>
  void or_bits(Word* data, std::uint64_t n) {
    if (n == 0) return;
    // Words of a cache line: parts begin at multiples of it.
    std::uint64_t const line = 128 / sizeof(Word);
    std::uint64_t const each = (n + m_ranks * line - 1) / (m_ranks * line) * line;
    sizes part_bytes, begin_bytes, slot_begin;
    for (std::uint64_t r = 0; r < m_ranks; ++r) {
      std::uint64_t const begin = std::min(r * each, n);
      begin_bytes.push_back(begin * sizeof(Word));
      part_bytes.push_back((std::min((r + 1) * each, n) - begin) * sizeof(Word));
      slot_begin.push_back(r * each * sizeof(Word));
    }
    reserve(m_ranks * each * sizeof(Word));
    auto* const bytes = reinterpret_cast<std::byte*>(data);
    std::uint64_t const mine = part_bytes[m_rank];
    m_collectives.exchange(bytes, begin_bytes, part_bytes, m_parts.data(), slot_begin,
                           sizes(m_ranks, mine));
    Word* const own = data + begin_bytes[m_rank] / sizeof(Word);
    device::loop_over(
        "karpos::communicator: or bits", m_exec, mine / sizeof(Word),
        or_parts<Word>{reinterpret_cast<Word const*>(m_parts.data()), each, m_ranks, own});
    m_collectives.exchange(bytes, sizes(m_ranks, begin_bytes[m_rank]), sizes(m_ranks, mine), bytes,
                           begin_bytes, part_bytes);
  }
  void reserve(std::uint64_t bytes) {
    if (m_parts.extent(0) < bytes)
      m_parts = allocate_byte_array<typename ExecSpace::memory_space>(
          m_exec, "karpos::communicator: parts", bytes, "a reduction over ranks",
          "reduce fewer numbers at once");
  }

  ExecSpace m_exec;
  collectives m_collectives;
  std::size_t m_rank, m_ranks;
  Kokkos::View<std::byte*, typename ExecSpace::memory_space> m_parts;
};

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
