// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/context.hpp"

#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "karpos/version.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

std::string& command_line() {
  static std::string words;
  return words;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "unknown processor";
}

std::string now() {
  std::time_t const t = std::time(nullptr);
  char text[32];
  std::tm utc{};
  gmtime_r(&t, &utc);
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) +
         "." + std::to_string(KOKKOS_VERSION % 100);
}

}  // namespace

void remember_command_line(int argc, char const* const* argv) {
  std::string program = argc > 0 ? argv[0] : "karpos";
  command_line() = program.substr(program.find_last_of('/') + 1);
  for (int i = 1; i < argc; ++i) command_line() += std::string(" ") + argv[i];
}

std::string device_name() {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<space, Kokkos::Cuda>) return Kokkos::Cuda().cuda_device_prop().name;
#endif
  return processor_name();
}

std::string run_description(int repetitions) {
  auto const threads = static_cast<std::uint64_t>(space().concurrency());
  return device_name() + ", " + space::name() + ", " + counted(threads, "thread", "threads") +
         (repetitions == 1 ? ", one reading" : ", medians of " + std::to_string(repetitions));
}

std::vector<std::string> backends() {
  std::vector<std::string> names;
#if defined(KOKKOS_ENABLE_SERIAL)
  names.push_back("serial");
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  names.push_back("openmp");
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  names.push_back("threads");
#endif
#if defined(KOKKOS_ENABLE_CUDA)
  names.push_back("cuda");
#endif
  return names;
}

void print_json(json const& report) {
  std::printf("%s\n", report.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

json context() {
  return {{"version", version_string},
          {"commit", build_info::commit},
          {"date", now()},
          {"command", command_line()},
          {"device", device_name()},
          {"backend", space::name()},
          {"concurrency", space().concurrency()},
          {"backends", backends()},
          {"kokkos", kokkos_version()},
          {"compiler", build_info::compiler},
          {"build_type", build_info::build_type},
          {"flags", build_info::flags}};
}

}  // namespace karpos::perf
