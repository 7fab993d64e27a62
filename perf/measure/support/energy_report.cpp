// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/energy_report.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

std::string human_joules(double joules) {
  constexpr char const* units[] = {"J", "mJ", "uJ", "nJ"};
  int i = 0;
  for (; joules < 1 && i < 3; ++i) joules *= 1000;
  return three_digits(joules) + " " + units[i];
}

}  // namespace

json to_json(energy_use const& e) {
  json j = json::object();
  if (!e.device_obstacle.empty()) j["device_obstacle"] = e.device_obstacle;
  if (!e.host_obstacle.empty()) j["host_obstacle"] = e.host_obstacle;
  if (!e.is_measured()) return j;
  j["seconds"] = e.seconds;
  if (e.device_joules) j["device_joules"] = *e.device_joules;
  if (e.host_joules) j["host_joules"] = *e.host_joules;
  j["watts"] = e.joules() / e.seconds;
  return j;
}

void print(energy_use const& e, std::string const& operation, double operations) {
  auto const print_energy = [&](char const* what, double joules) {
    std::printf("energy of the %s: %s a %s (%s W)\n", what,
                human_joules(joules / operations).c_str(), operation.c_str(),
                three_digits(joules / e.seconds).c_str());
  };
  auto const print_obstacle = [](char const* what, std::string const& why) {
    if (!why.empty()) std::printf("energy of the %s: not measured (%s)\n", what, why.c_str());
  };
  if (e.device_joules) print_energy("GPU", *e.device_joules);
  if (e.host_joules) print_energy("processors", *e.host_joules);
  print_obstacle("GPU", e.device_obstacle);
  print_obstacle("processors", e.host_obstacle);
}

}  // namespace karpos::perf
