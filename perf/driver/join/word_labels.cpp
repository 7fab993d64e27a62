// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/join/word_labels.hpp"

#include "karpos/row_index.hpp"
#include "perf/support/on_device.hpp"

namespace karpos::perf {
namespace {

/// A text where kernels reach it.
struct device_word {
  char const* begin;
  std::uint64_t size;
};

struct hash_of_text {
  using is_avalanching = std::true_type;

  KOKKOS_FUNCTION std::uint64_t operator()(device_word const& w) const {
    std::uint64_t h = w.size, bytes = 0;
    for (std::uint64_t i = 0; i < w.size; ++i) {
      bytes = bytes << 8 | static_cast<unsigned char>(w.begin[i]);
      if (i % 8 == 7 || i + 1 == w.size) h = mix(h ^ bytes);
    }
    return h;
  }
};
struct equality_of_text {
  KOKKOS_FUNCTION bool operator()(device_word const& a, device_word const& b) const {
    if (a.size != b.size) return false;
    for (std::uint64_t i = 0; i < a.size; ++i)
      if (a.begin[i] != b.begin[i]) return false;
    return true;
  }
};

/// The texts one behind the other, for a device that does not reach those of the host.
std::vector<char> joined(std::vector<std::string_view> const& words) {
  std::vector<char> text;
  for (std::string_view const w : words) text.insert(text.end(), w.begin(), w.end());
  return text;
}

}  // namespace

Kokkos::View<std::uint32_t*, Kokkos::HostSpace> label_words(
    space const& exec, std::vector<std::string_view> const& words) {
  std::vector<char> const text = on_host ? std::vector<char>() : joined(words);
  array<char const> const there = on_device(exec, text);
  std::vector<device_word> list;
  list.reserve(words.size());
  std::uint64_t at = 0;
  for (std::string_view const w : words) {
    list.push_back({on_host ? w.data() : there.data() + at, w.size()});
    at += w.size();
  }
  array<device_word const> const column = on_device(exec, list);
  auto const labels = make_array<std::uint32_t>("labels of texts", words.size());
  label(exec, rows(column).with_functions(hash_of_text{}, equality_of_text{}), labels);
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), labels);
}

}  // namespace karpos::perf
