// SPDX-License-Identifier: Apache-2.0
#include "karpos/cuckoo_map.hpp"

#include "perf/measure/subjects/subject.hpp"

namespace karpos::perf {
namespace {

/// A map that is built as a whole: insert() replaces all pairs.
template <class Key, cuckoo_layout Layout>
class karpos_cuckoo_map : public subject<Key> {
  using map = cuckoo_map<Key, Key, space>;

 public:
  karpos_cuckoo_map(space const& exec, std::uint64_t max_keys, double load)
      : m_bytes(map::bytes_for(max_keys, options_for(max_keys, load))),
        m_map(exec, array<Key>("no keys", 0), array<Key>("no values", 0),
              options_for(max_keys, load)) {}

  std::size_t bytes() const override { return m_bytes; }
  bool erases() const override { return false; }
  bool supports_load() const override { return Layout == cuckoo_layout::dense; }
  std::vector<fact> facts(space const& exec) const override {
    cuckoo_stats const stats = m_map.stats(exec);
    return {{"space_factor", stats.space_factor},
            {"restarts", std::uint64_t(stats.restarts)},
            {"group_restarts", std::uint64_t(stats.group_restarts)}};
  }
  void clear(space const&) override {}
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    m_map.build(exec, keys, values);
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    m_map.find(exec, queries, answers, static_cast<Key>(~Key(0)));
  }
  std::uint64_t size(space const&) override { return m_map.size(); }

 private:
  static cuckoo_map_options<Key> options_for(std::uint64_t max_keys, double load) {
    return {.layout = Layout, .load = load, .capacity = max_keys, .keep_workspace = true};
  }

  std::size_t m_bytes;
  map m_map;
};

template <class Key>
struct two_level_map : karpos_cuckoo_map<Key, cuckoo_layout::two_level> {
  using karpos_cuckoo_map<Key, cuckoo_layout::two_level>::karpos_cuckoo_map;
};
template <class Key>
struct dense_map : karpos_cuckoo_map<Key, cuckoo_layout::dense> {
  using karpos_cuckoo_map<Key, cuckoo_layout::dense>::karpos_cuckoo_map;
};

register_subject<two_level_map> const two_level("cuckoo", "karpos::cuckoo_map two_level", false,
                                                {"cuckoo", "two_level"});
register_subject<dense_map> const dense("cuckoo-dense", "karpos::cuckoo_map dense", false,
                                        {"cuckoo", "dense"});

}  // namespace
}  // namespace karpos::perf
