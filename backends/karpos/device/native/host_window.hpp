// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "karpos/device/peer_distances.hpp"

// Windows on memory that the processes of a host share: files in memory (memfd_create), which the
// processes open through /proc. They count as memory of their process, whatever the size of
// /dev/shm is, and go with the processes.

namespace karpos::device::host {

/// Memory of this process that other processes address: see device/peers.hpp.
class peer_window {
  /// A page before the user's bytes. It tells whether an opened file is the window that was shared.
  static constexpr std::size_t page = 4096;

 public:
  struct handle {
    std::int64_t process, file;
    std::uint64_t bytes, cookie;
  };

  peer_window() = default;
  template <class ExecSpace>
  peer_window(ExecSpace const&, std::size_t bytes) : m_handle{0, -1, page + bytes, new_cookie()} {
#if defined(__linux__)
    m_handle.process = getpid();
    m_handle.file = memfd_create("karpos", MFD_CLOEXEC);
    bool const made = m_handle.file >= 0 && allocate(file(), m_handle);
    m_base = made ? map(file(), m_handle) : nullptr;
    if (m_base != nullptr) std::memcpy(m_base, &m_handle.cookie, sizeof m_handle.cookie);
#endif
    if (m_base != nullptr) return;
    free();
    throw std::runtime_error("karpos: processes cannot share " + std::to_string(bytes) + " bytes");
  }
  peer_window(peer_window&& other) noexcept { swap(other); }
  peer_window& operator=(peer_window&& other) noexcept {
    swap(other);
    return *this;
  }

  handle share() const { return m_handle; }
  /// Opens the windows of the other ranks. Throws: std::runtime_error if one cannot be addressed.
  void open(std::vector<handle> const& all, int rank) {
    m_distances = {{}, static_cast<int>(all.size()), rank};
    m_all = all;
    for (int r = 0; r < m_distances.count; ++r) {
      std::byte* const other = r == rank ? m_base : open_other(all[static_cast<std::size_t>(r)]);
      if (other == nullptr) {
        m_distances.count = r;
        throw std::runtime_error("karpos: a window of another process cannot be opened");
      }
      m_distances.bytes[r] = other - m_base;
    }
  }
  /// Closes the windows of the other ranks.
  void close() noexcept {
    for (int r = 0; r < m_distances.count; ++r)
      if (r != m_distances.rank)
        unmap(m_base + m_distances.bytes[r], m_all[static_cast<std::size_t>(r)]);
    m_distances = {};
  }
  /// Frees this window; its memory goes when no process has it open.
  void free() noexcept {
    if (m_base != nullptr) unmap(std::exchange(m_base, nullptr), m_handle);
#if defined(__linux__)
    if (m_handle.file >= 0) ::close(file());
#endif
    m_handle.file = -1;
  }

  std::byte* data() const { return m_base + page; }
  peer_distances distances() const { return m_distances; }

 private:
  static std::uint64_t new_cookie() {
    std::random_device random;
    return std::uint64_t(random()) << 32 | random();
  }
  static std::ptrdiff_t size(handle const& h) { return static_cast<std::ptrdiff_t>(h.bytes); }
  int file() const { return static_cast<int>(m_handle.file); }
  /// Gives a file its memory. Returns false if there is too little. A signal interrupts the call,
  /// which then undoes its work: pieces are so small that one is done between two signals.
  static bool allocate([[maybe_unused]] int file, [[maybe_unused]] handle const& h) {
#if defined(__linux__)
    struct rlimit longest;  // longer files end the process
    if (getrlimit(RLIMIT_FSIZE, &longest) != 0 || longest.rlim_cur < h.bytes) return false;
    constexpr std::ptrdiff_t piece = 4 << 20;
    for (std::ptrdiff_t at = 0; at < size(h);) {
      int const error = posix_fallocate(file, at, std::min(piece, size(h) - at));
      if (error == 0)
        at += piece;
      else if (error != EINTR)
        return false;
    }
    return true;
#else
    return false;
#endif
  }
  /// Maps a file, which has the length of the handle. Returns null if it cannot be mapped.
  static std::byte* map([[maybe_unused]] int file, [[maybe_unused]] handle const& h) {
#if defined(__linux__)
    void* const p = mmap(nullptr, h.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
#else
    return nullptr;
#endif
  }
  static void unmap([[maybe_unused]] std::byte* base, [[maybe_unused]] handle const& h) noexcept {
#if defined(__linux__)
    munmap(base, h.bytes);
#endif
  }
  /// Maps the window of another process. Returns null if it is not that window: a process of
  /// another container may have the same number.
  static std::byte* open_other([[maybe_unused]] handle const& h) {
    std::byte* base = nullptr;
#if defined(__linux__)
    char name[64];
    std::snprintf(name, sizeof name, "/proc/%lld/fd/%lld", static_cast<long long>(h.process),
                  static_cast<long long>(h.file));
    int const other = ::open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (other < 0) return nullptr;
    struct stat found;
    if (fstat(other, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == size(h))
      base = map(other, h);
    ::close(other);
    if (base != nullptr && std::memcmp(base, &h.cookie, sizeof h.cookie) != 0) {
      unmap(base, h);
      base = nullptr;
    }
#endif
    return base;
  }
  void swap(peer_window& other) noexcept {
    std::swap(m_base, other.m_base);
    std::swap(m_handle, other.m_handle);
    std::swap(m_all, other.m_all);
    std::swap(m_distances, other.m_distances);
  }
  std::byte* m_base = nullptr;
  handle m_handle{0, -1, 0, 0};
  std::vector<handle> m_all;
  peer_distances m_distances{};
};

}  // namespace karpos::device::host
