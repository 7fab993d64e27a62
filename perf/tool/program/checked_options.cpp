// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/program/checked_options.hpp"

#include <filesystem>

#include "perf/tool/command.hpp"

namespace karpos::perf {

void require_none(std::vector<CLI::Option*> const& options, std::string const& why,
                  std::string const& what_to_choose) {
  for (CLI::Option const* const option : options)
    if (option->count() > 0)
      throw bad_input(option->get_name() + " does not apply (" + why +
                      "): leave it out, or choose " + what_to_choose);
}

void require_output(std::string const& output, std::vector<std::string> const& inputs,
                    std::string const& what) {
  if (output == "-")
    throw bad_input(
        "--output - names no file, and standard output has the report: name a file, or in bash "
        "'--output >(karpos groupby - ...)' for another program");
  for (std::string const& input : inputs) {
    std::error_code none_there;
    std::string const read = input == "-" ? "/dev/stdin" : input;
    if (std::filesystem::equivalent(output, read, none_there))
      throw bad_input("--output " + output + " is " + what + " itself (" + read +
                      "): choose another file, or " + what + " is lost");
  }
}

}  // namespace karpos::perf
