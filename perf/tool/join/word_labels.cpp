// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/join/word_labels.hpp"

#include <type_traits>

#include "karpos/row_index.hpp"
#include "perf/measure/support/on_device.hpp"

namespace karpos::perf {
namespace {

/// A text in memory that kernels of a device can access.
struct device_word {
  char const* begin;
  std::uint64_t length;

  KOKKOS_FUNCTION std::uint64_t size() const { return length; }
  KOKKOS_FUNCTION char operator[](std::uint64_t i) const { return begin[i]; }
};
/// A text that kernels can access: on hosts the caller's view, which is not copied.
using word = std::conditional_t<on_host, std::string_view, device_word>;

struct hash_of_text {
  using is_avalanching = std::true_type;

  KOKKOS_FUNCTION std::uint64_t operator()(word const& w) const {
    std::uint64_t h = w.size(), bytes = 0;
    for (std::uint64_t i = 0; i < w.size(); ++i) {
      bytes = bytes << 8 | static_cast<unsigned char>(w[i]);
      if (i % 8 == 7 || i + 1 == w.size()) h = mix(h ^ bytes);
    }
    return h;
  }
};
struct equality_of_text {
  KOKKOS_FUNCTION bool operator()(word const& a, word const& b) const {
    if (a.size() != b.size()) return false;
    for (std::uint64_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
};

/// Returns the texts one after another, for a device that cannot access those on the host.
std::vector<char> joined(std::vector<std::string_view> const& words) {
  std::vector<char> text;
  for (std::string_view const w : words) text.insert(text.end(), w.begin(), w.end());
  return text;
}

/// Returns the texts in memory that kernels can access. `text` holds their characters on a device.
template <class Word>
array<Word const> make_accessible(space const& exec, std::vector<std::string_view> const& words,
                                  array<char const>& text) {
  if constexpr (std::is_same_v<Word, std::string_view>) {
    return on_device(exec, words);
  } else {
    text = on_device(exec, joined(words));
    std::vector<Word> list;
    list.reserve(words.size());
    std::uint64_t at = 0;
    for (std::string_view const w : words) {
      list.push_back({text.data() + at, w.size()});
      at += w.size();
    }
    return on_device(exec, list);
  }
}

}  // namespace

Kokkos::View<std::uint32_t*, Kokkos::HostSpace> label_words(
    space const& exec, std::vector<std::string_view> const& words) {
  auto const labels = make_array<std::uint32_t>("labels of texts", words.size());
  array<char const> text;
  array<word const> const column = make_accessible<word>(exec, words, text);
  label(exec, rows(column).with_functions(hash_of_text{}, equality_of_text{}), labels);
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), labels);
}

}  // namespace karpos::perf
