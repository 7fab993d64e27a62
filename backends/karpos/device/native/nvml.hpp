// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

// NVML, the driver's library that reports the state of a GPU, for energy.hpp. It is loaded at run
// time: a build needs neither its header nor the library, and programs start if there is none.

#if defined(KOKKOS_ENABLE_CUDA)

#include <dlfcn.h>

#include <optional>
#include <string>

namespace karpos::device::cuda {

/// The energy that the GPU of an execution space instance has used since its driver was loaded.
class energy_counter {
 public:
  explicit energy_counter(Kokkos::Cuda const& exec) { m_obstacle = open(exec.cuda_device()); }
  energy_counter(energy_counter const&) = delete;
  energy_counter& operator=(energy_counter const&) = delete;
  ~energy_counter() {
    if (m_shutdown != nullptr) m_shutdown();
    if (m_library != nullptr) dlclose(m_library);
  }

  /// Returns why the energy cannot be read; an empty string if it can.
  std::string const& obstacle() const { return m_obstacle; }
  /// Returns the energy used so far; nothing if it cannot be read.
  std::optional<double> joules() const {
    unsigned long long millijoules = 0;
    if (!m_obstacle.empty() || m_energy(m_device, &millijoules) != 0) return {};
    return 1e-3 * static_cast<double>(millijoules);
  }

 private:
  using handle = void*;  // nvmlDevice_t
  using status = int;    // nvmlReturn_t: 0 is success

  template <class F>
  bool find(F*& f, char const* name) {
    f = reinterpret_cast<F*>(dlsym(m_library, name));
    return f != nullptr;
  }
  std::string open(int device) {
    constexpr char const* library = "libnvidia-ml.so.1";
    m_library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (m_library == nullptr) return std::string(library) + " is not there";
    status (*init)() = nullptr;
    status (*by_bus)(char const*, handle*) = nullptr;
    char const* (*text)(status) = nullptr;
    if (!find(init, "nvmlInit_v2") || !find(by_bus, "nvmlDeviceGetHandleByPciBusId_v2") ||
        !find(text, "nvmlErrorString") || !find(m_energy, "nvmlDeviceGetTotalEnergyConsumption"))
      return std::string(library) + " is too old to tell energy";
    if (status const s = init(); s != 0) return std::string("nvmlInit: ") + text(s);
    find(m_shutdown, "nvmlShutdown");
    char bus[32] = "";
    if (cudaDeviceGetPCIBusId(bus, sizeof(bus), device) != cudaSuccess)
      return "the GPU has no PCI bus id";
    if (status const s = by_bus(bus, &m_device); s != 0)
      return "NVML on GPU " + std::string(bus) + ": " + text(s);
    unsigned long long now = 0;
    if (status const s = m_energy(m_device, &now); s != 0)
      return std::string("nvmlDeviceGetTotalEnergyConsumption: ") + text(s);
    return {};
  }

  void* m_library = nullptr;
  handle m_device = nullptr;
  status (*m_energy)(handle, unsigned long long*) = nullptr;
  status (*m_shutdown)() = nullptr;
  std::string m_obstacle;
};

}  // namespace karpos::device::cuda

#endif  // KOKKOS_ENABLE_CUDA
