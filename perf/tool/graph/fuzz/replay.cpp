// SPDX-License-Identifier: Apache-2.0
/// \file
///     karpos_read_graph_replay [--mutations N] FILE_OR_FOLDER...
/// runs the fuzz function on every file, on all its prefixes, and on N mutations of each file
/// (default 5000), which are the same at every run. An allocation of more than 64 MiB ends the
/// program: headers must not claim memory.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace {

constexpr std::size_t max_bytes_at_once = std::size_t(64) << 20;

void* allocate(std::size_t bytes) {
  if (bytes > max_bytes_at_once) {
    std::fprintf(stderr, "%zu bytes are allocated for a small file\n", bytes);
    std::abort();
  }
  if (void* const p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace {

using bytes = std::vector<std::uint8_t>;
using random = std::mt19937;

// Replaces the distributions of the standard library, whose answers differ from one library to the
// next.
std::size_t below(random& next, std::size_t n) { return n == 0 ? 0 : next() % n; }

std::ptrdiff_t place(random& next, bytes const& b) {
  return static_cast<std::ptrdiff_t>(below(next, b.size() + 1));
}

/// Characters that confuse parsers: signs, comment marks, line ends, digits that make numbers
/// large.
constexpr char awkward[] = "-+.%#cpae0199999 \t\r\n\x7f\x01";

void mutate(random& next, bytes& b) {
  if (b.empty()) return;
  std::size_t const at = below(next, b.size());
  std::ptrdiff_t const from = place(next, b);
  std::ptrdiff_t const to =
      std::min(from + static_cast<std::ptrdiff_t>(below(next, 32)), std::ptrdiff_t(b.size()));
  switch (below(next, 7)) {
    case 0:
      b[at] ^= static_cast<std::uint8_t>(1u << below(next, 8));
      break;
    case 1:
      b[at] = static_cast<std::uint8_t>(next());
      break;
    case 2:
      b[at] = static_cast<std::uint8_t>(awkward[below(next, sizeof(awkward) - 1)]);
      break;
    case 3:
      b.resize(at);
      break;
    case 4:
      b.erase(b.begin() + from, b.begin() + to);
      break;
    case 5: {
      bytes const part(b.begin() + from, b.begin() + to);
      b.insert(b.begin() + place(next, b), part.begin(), part.end());
      break;
    }
    default:
      b.insert(b.begin() + from, 1 + below(next, 12),
               static_cast<std::uint8_t>(awkward[below(next, sizeof(awkward) - 1)]));
  }
}

bytes content(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs on a copy of exactly that size, so that the address sanitizer notices reads past the end.
void run(bytes const& b) {
  bytes const exact(b.begin(), b.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

std::size_t replay(bytes const& original, std::size_t mutations) {
  std::size_t runs = 0;
  for (std::size_t n = 0; n <= original.size(); ++n, ++runs)
    run(bytes(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(n)));
  random next(static_cast<random::result_type>(original.size()));
  for (std::size_t i = 0; i < mutations; ++i, ++runs) {
    bytes b = original;
    for (std::size_t times = 1 + below(next, 4); times > 0; --times) mutate(next, b);
    run(b);
  }
  return runs;
}

std::vector<std::filesystem::path> files_of(std::filesystem::path const& root) {
  if (!std::filesystem::is_directory(root)) return {root};
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(root))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t mutations = 5000, files = 0, runs = 0;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (argument == "--mutations" && i + 1 < argc) {
      mutations = std::strtoull(argv[++i], nullptr, 10);
      continue;
    }
    for (auto const& file : files_of(argument)) {
      std::printf("%s\n", file.filename().c_str());
      std::fflush(stdout);  // a crash must not hide which file it was
      runs += replay(content(file), mutations);
      ++files;
    }
  }
  std::printf("%zu files, %zu runs\n", files, runs);
  return files == 0;
}
