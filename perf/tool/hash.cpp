// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/support/hash_input.hpp"
#include "perf/measure/support/hash_report.hpp"
#include "perf/measure/support/hash_run.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/distributed/over_ranks.hpp"
#include "perf/tool/maps/map_arguments.hpp"
#include "perf/tool/option_values.hpp"
#include "perf/tool/program/help_text.hpp"

namespace karpos::perf {
namespace {

struct hash_options {
  hash_parameters parameters;
  map_arguments arguments;
  std::string layout, multiplicity;
  bool distributed = false;
};

/// Refuses --load if no map has the load asked for.
void require_load_support(hash_options const& o) {
  auto const& maps = o.parameters.maps;
  auto const supported = [](std::string const& id) { return supports_load(find_subject(id)); };
  if (o.arguments.with_load->count() > 0 && std::none_of(maps.begin(), maps.end(), supported))
    throw bad_input("--load does not apply (" + find_subject(maps.front()).name +
                    " has its own): leave it out, or choose --layout dense");
}

/// Sets the input to "device", with a message, if maps are in the host's memory: then all input is
/// as well. On other devices, only hash_map takes input from the host.
void resolve_input(hash_parameters& p) {
  if (p.input == "device") return;
  if (!has_remote_input()) {
    std::fprintf(stderr, "karpos: --input %s is the memory that maps lie in: measured as device\n",
                 p.input.c_str());
    p.input = "device";
  } else if (p.maps != std::vector<std::string>{"hash"}) {
    throw bad_input("--input " + p.input + " is measured for --map hash without peers");
  }
}

/// Sets the pairs per key, for a multimap, which is compared with hash_map.
void resolve_multiplicity(hash_options& o) {
  hash_parameters& p = o.parameters;
  if (!p.widths.empty() && o.multiplicity.empty() &&
      (p.maps.front() != "hash" || p.input != "device" || o.distributed))
    throw bad_input(
        "--width is measured for --map hash without --input and --distributed, or with --map multi "
        "--multiplicity");
  if (o.multiplicity.empty()) return;
  p.multiplicity = parse_count(o.multiplicity);
  if (p.multiplicity < 1 || p.multiplicity > p.keys)
    throw bad_input("--multiplicity is out of range (" + o.multiplicity + " of " +
                    std::to_string(p.keys) + " pairs): choose 1 to --keys");
  if (p.maps != std::vector<std::string>{"multi"} || p.input != "device")
    throw bad_input("--multiplicity is measured for --map multi, without peers and --input");
}

void require_energy_support(hash_options const& o) {
  hash_parameters const& p = o.parameters;
  if (p.energy && (o.distributed || p.multiplicity > 0 || p.input != "device"))
    throw bad_input("--energy is measured without --distributed, --multiplicity and --input");
}

void require_16_byte_support(hash_options const& o) {
  hash_parameters const& p = o.parameters;
  if (p.key_bytes == 16 && (p.maps != std::vector<std::string>{"hash"} || p.input != "device" ||
                            o.distributed || p.energy || p.multiplicity > 0 || !p.widths.empty()))
    throw bad_input(
        "--key-bytes 16 is measured for --map hash without --peers, --width, --input, --energy and "
        "--distributed");
}

int hash(hash_options o) {
  o.parameters.keys = parse_count(o.arguments.keys);
  if (!o.layout.empty()) o.arguments.map = subject_with_layout(o.arguments.map, o.layout).id;
  o.parameters.maps = chosen_maps(o.arguments, [](subject_entry const&) { return true; });
  require_load_support(o);
  resolve_multiplicity(o);
  resolve_input(o.parameters);
  require_energy_support(o);
  require_16_byte_support(o);
  if (o.distributed) return hash_over_ranks(o.parameters, o.arguments.as_json);
  return report_run(
      with_progress("karpos hash",
                    [&](reporter const& report) { return run_hash(o.parameters, report); }),
      o.arguments.as_json);
}

action define_hash(CLI::App& app) {
  auto const o = std::make_shared<hash_options>();
  hash_parameters& p = o->parameters;
  o->arguments.key_bytes.push_back("16");
  add_map_options(app, o->arguments, p, "number of keys: 100000, 1e6, 2^27",
                  "keys per slot; a two_level cuckoo map has its own");
  app.add_option("--layout", o->layout,
                 "of a cuckoo map: two_level, which is the usual one, or dense");
  app.add_option("--miss", p.miss, "fraction of the mixed queries that ask for absent keys")
      ->capture_default_str()
      ->check(number_between(0, 1));
  put_in_group(app, "Map and keys");
  app.add_option("--multiplicity", o->multiplicity,
                 "pairs of each key of --map multi: measures insert, count and retrieve, beside\n"
                 "hash_map with as many different keys")
      ->transform(count_validator());
  app.add_option(
         "--width", p.widths,
         "also kernels in which this many lanes of a GPU's warp insert or find one key together,\n"
         "and read as many slots at once: 1,2,4,8,16,32; with --multiplicity kernels in which "
         "they\n"
         "count, or visit the values of, one query")
      ->delimiter(',')
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32}));
  app.add_option(
         "--input", p.input,
         "where keys, values and answers lie: pinned is host memory that copies reach directly,\n"
         "shared is managed memory")
      ->capture_default_str()
      ->check(CLI::IsMember({"device", "host", "pinned", "shared"}));
  app.add_flag(
      "--energy", p.energy,
      "repeat find hits for two seconds, too, and report the joules of each query, if the GPU\n"
      "(NVML) or the processors (RAPL) count them");
  app.add_flag("--distributed", o->distributed,
               "over the ranks of MPI (mpirun -n 4 karpos hash ...): each has a slice of the keys");
  put_in_group(app, "Other measurements");
  add_last_map_options(app, o->arguments, p);
  app.get_option("--key-bytes")
      ->description(
          "bytes of a key, and of a value; 16: keys of 16 bytes with values of 8, beside the rule "
          "of\n"
          "cuCollections' static_map");
  app.footer(
      "G/s: 10^9 keys a second; GB/s: 10^9 bytes of keys and values. Ceilings are what the memory "
      "of\n"
      "this machine allows in loops that do no more than read, or compare and swap, at random.\n"
      "Example: karpos hash --keys 2^18 --load 0.8 --peers kokkos");
  return [o] { return hash(*o); };
}

command const hash_command("hash",
                           "Build and query a hash map; compare every rate with the machine's.",
                           define_hash);

}  // namespace
}  // namespace karpos::perf
