// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/join/word_labels.hpp"

#include "karpos/row_index.hpp"
#include "perf/tool/join/text_column.hpp"

namespace karpos::perf {

Kokkos::View<std::uint32_t*, Kokkos::HostSpace> label_words(
    space const& exec, std::vector<std::string_view> const& words) {
  auto const labels = make_array<std::uint32_t>("labels of texts", words.size());
  text_column const texts(exec, words);
  label(exec, rows(texts.strings), labels);
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), labels);
}

}  // namespace karpos::perf
