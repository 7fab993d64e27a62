// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/join/text_column.hpp"

#include "perf/measure/support/on_device.hpp"

namespace karpos::perf {

text_column::text_column(space const& exec, std::vector<std::string_view> const& texts)
    : strings(make_array<string_ref>("texts", texts.size())) {
  auto const list = Kokkos::create_mirror_view(strings);
  if constexpr (on_host) {
    for (std::size_t i = 0; i < texts.size(); ++i) list(i) = texts[i];
  } else {
    std::vector<char> all;
    for (std::string_view const t : texts) all.insert(all.end(), t.begin(), t.end());
    bytes = on_device(exec, all);
    std::size_t at = 0;
    for (std::size_t i = 0; i < texts.size(); at += texts[i++].size())
      list(i) = {bytes.data() + at, texts[i].size()};
    Kokkos::deep_copy(exec, strings, list);
    exec.fence("karpos::perf: texts");
  }
}

}  // namespace karpos::perf
