// SPDX-License-Identifier: Apache-2.0
//
// The calls of karpos.h on keys: maps, reductions and joins.
#include <algorithm>
#include <memory>
#include <utility>

#include "compiled/c_interface.hpp"

namespace karpos::compiled::c {
namespace {

struct map : object {
  virtual std::uint64_t insert(std::uint64_t n, void const* keys, void const* values,
                               bool assigns) = 0;
  virtual void find(std::uint64_t n, void const* keys, void const* missing, void* values) = 0;
  virtual void contains(std::uint64_t n, void const* keys, bool* stored) = 0;
  virtual std::uint64_t erase(std::uint64_t n, void const* keys) = 0;
  virtual void clear() = 0;
  virtual std::uint64_t size() = 0;
  virtual std::uint64_t retrieve_all(std::uint64_t capacity, void* keys, void* values) = 0;
};

template <class Key, class T>
class map_of : public map {
 public:
  map_of(std::shared_ptr<context> c, std::uint64_t max_keys)
      : m_context(std::move(c)),
        m_map(m_context->exec, max_keys, options()) {}

  std::uint64_t insert(std::uint64_t n, void const* keys, void const* values,
                       bool assigns) override {
    array<Key const> const k(*m_context, n, keys, "keys");
    array<T const> const v(*m_context, n, values, "values");
    auto const& exec = m_context->exec;
    auto const r =
        assigns ? m_map.insert_or_assign(exec, k.view, v.view) : m_map.insert(exec, k.view, v.view);
    if (r.rejected > 0)
      throw capacity_error("keys do not fit", r.inserted + r.existing + r.rejected,
                           r.inserted + r.existing, m_map.max_keys() + r.rejected);
    return r.inserted;
  }
  void find(std::uint64_t n, void const* keys, void const* missing, void* values) override {
    array<Key const> const k(*m_context, n, keys, "keys");
    array<T> const out(*m_context, n, values, "values");
    m_map.find(m_context->exec, k.view, out.view,
               missing == nullptr ? T{} : *static_cast<T const*>(missing));
    out.write_back();
  }
  void contains(std::uint64_t n, void const* keys, bool* stored) override {
    array<Key const> const k(*m_context, n, keys, "keys");
    array<bool> const out(*m_context, n, stored, "results");
    m_map.contains(m_context->exec, k.view, out.view);
    out.write_back();
  }
  std::uint64_t erase(std::uint64_t n, void const* keys) override {
    array<Key const> const k(*m_context, n, keys, "keys");
    return m_map.erase(m_context->exec, k.view);
  }
  void clear() override {
    m_map.clear(m_context->exec);
    m_context->exec.fence("karpos::compiled: clear");
  }
  std::uint64_t size() override { return m_map.size(m_context->exec); }
  std::uint64_t retrieve_all(std::uint64_t capacity, void* keys, void* values) override {
    array<Key> const k(*m_context, capacity, keys, "keys");
    array<T> const v(*m_context, capacity, values, "values");
    std::uint64_t const n = m_map.retrieve_all(m_context->exec, k.view, v.view);
    k.write_back(n);
    v.write_back(n);
    return n;
  }

 private:
  static hash_table_options<Key> options() {
    hash_table_options<Key> o;
    o.growth = growth::automatic;
    return o;
  }
  std::shared_ptr<context> m_context;
  compiled::hash_map<Key, T> m_map;
};

struct join : object {
  virtual std::uint64_t size() const = 0;
  virtual void write(std::uint64_t capacity, std::uint64_t* left, std::uint64_t* right) const = 0;
};

template <class Key>
class join_of : public join {
 public:
  join_of(std::shared_ptr<context> c, join_kind kind, std::uint64_t left_rows, void const* left,
          std::uint64_t right_rows, void const* right)
      : m_context(std::move(c)),
        m_right(*m_context, right_rows, right, "right keys", true),
        m_rows(m_context->exec, array<Key const>(*m_context, left_rows, left, "left keys").view,
               m_right.view, kind) {}

  std::uint64_t size() const override { return m_rows.size(); }
  void write(std::uint64_t capacity, std::uint64_t* left, std::uint64_t* right) const override {
    auto const kind = m_rows.kind();
    bool const is_of_left = kind == join_kind::left_semi || kind == join_kind::left_anti;
    std::uint64_t const n = std::min(capacity, size());  // the join refuses less than its size
    if (kind >= join_kind::left_semi) {
      array<std::uint64_t> const out(*m_context, n, is_of_left ? left : right, "rows");
      m_rows.write(m_context->exec, out.view);
      return out.write_back();
    }
    array<std::uint64_t> const l(*m_context, n, left, "left rows");
    array<std::uint64_t> const r(*m_context, n, right, "right rows");
    m_rows.write(m_context->exec, l.view, r.view);
    l.write_back();
    r.write_back();
  }

 private:
  std::shared_ptr<context> m_context;
  array<Key const> m_right;  // which the join reads
  compiled::join<Key> m_rows;
};

std::shared_ptr<map> map_of_handle(karpos_map handle) { return object_of<map>(handle, "map"); }
void write(std::uint64_t* to, std::uint64_t n) {
  if (to != nullptr) *to = n;
}

}  // namespace
}  // namespace karpos::compiled::c

using namespace karpos::compiled::c;

karpos_status karpos_map_create(karpos_context handle, karpos_type key, karpos_type value,
                                std::uint64_t max_keys, karpos_map* to) {
  return guarded("karpos_map_create", [&] {
    auto const c = context_of(handle);
    with_key(key, [&]<class Key>(Key) {
      with_value(value, [&]<class T>(T) {
        make_object(to, [&] { return std::make_shared<map_of<Key, bits<T>>>(c, max_keys); });
      });
    });
  });
}
karpos_status karpos_map_insert(karpos_map map, std::uint64_t n, void const* keys,
                                void const* values, std::uint64_t* inserted) {
  return guarded("karpos_map_insert",
                 [&] { write(inserted, map_of_handle(map)->insert(n, keys, values, false)); });
}
karpos_status karpos_map_insert_or_assign(karpos_map map, std::uint64_t n, void const* keys,
                                          void const* values, std::uint64_t* inserted) {
  return guarded("karpos_map_insert_or_assign",
                 [&] { write(inserted, map_of_handle(map)->insert(n, keys, values, true)); });
}
karpos_status karpos_map_find(karpos_map map, std::uint64_t n, void const* keys,
                              void const* missing, void* values) {
  return guarded("karpos_map_find", [&] { map_of_handle(map)->find(n, keys, missing, values); });
}
karpos_status karpos_map_contains(karpos_map map, std::uint64_t n, void const* keys, bool* stored) {
  return guarded("karpos_map_contains", [&] { map_of_handle(map)->contains(n, keys, stored); });
}
karpos_status karpos_map_erase(karpos_map map, std::uint64_t n, void const* keys,
                               std::uint64_t* erased) {
  return guarded("karpos_map_erase", [&] { write(erased, map_of_handle(map)->erase(n, keys)); });
}
karpos_status karpos_map_clear(karpos_map map) {
  return guarded("karpos_map_clear", [&] { map_of_handle(map)->clear(); });
}
karpos_status karpos_map_size(karpos_map map, std::uint64_t* keys) {
  return guarded("karpos_map_size", [&] {
    require_pointer(keys, "the variable for the size");
    *keys = map_of_handle(map)->size();
  });
}
karpos_status karpos_map_retrieve_all(karpos_map map, std::uint64_t capacity, void* keys,
                                      void* values, std::uint64_t* n) {
  return guarded("karpos_map_retrieve_all",
                 [&] { write(n, map_of_handle(map)->retrieve_all(capacity, keys, values)); });
}

karpos_status karpos_reduce_by_key(karpos_context handle, karpos_type key, karpos_type value,
                                   karpos_operation operation, std::uint64_t n, void const* keys,
                                   void const* values, std::uint64_t capacity, void* out_keys,
                                   void* out_values, std::uint64_t* groups) {
  return guarded("karpos_reduce_by_key", [&] {
    auto const c = context_of(handle);
    require_pointer(groups, "the variable for the number of groups");
    with_key(key, [&]<class Key>(Key) {
      with_value(value, [&]<class T>(T) {
        array<bits<Key> const> const k(*c, n, keys, "keys");
        array<T const> const v(*c, n, values, "values");
        array<bits<Key>> const to_keys(*c, capacity, out_keys, "the keys of groups");
        array<T> const to_values(*c, capacity, out_values, "the values of groups");
        auto const reduce = [&](auto const& op) {
          *groups = karpos::compiled::reduce_by_key(c->exec, k.view, v.view, to_keys.view,
                                                    to_values.view, op);
        };
        switch (operation) {
          case KARPOS_SUM:
            reduce(karpos::plus{});
            break;
          case KARPOS_MIN:
            reduce(karpos::minimum{});
            break;
          case KARPOS_MAX:
            reduce(karpos::maximum{});
            break;
          default:
            reject("there is no such operation",
                   "number " + std::to_string(static_cast<int>(operation)) + "; valid are 0 to 2",
                   "choose one of karpos_operation");
        }
        to_keys.write_back(*groups);
        to_values.write_back(*groups);
      });
    });
  });
}
karpos_status karpos_count_by_key(karpos_context handle, karpos_type key, std::uint64_t n,
                                  void const* keys, std::uint64_t capacity, void* out_keys,
                                  std::uint64_t* out_counts, std::uint64_t* groups) {
  return guarded("karpos_count_by_key", [&] {
    auto const c = context_of(handle);
    require_pointer(groups, "the variable for the number of groups");
    with_key(key, [&]<class Key>(Key) {
      array<bits<Key> const> const k(*c, n, keys, "keys");
      array<bits<Key>> const to_keys(*c, capacity, out_keys, "the keys of groups");
      array<std::uint64_t> const counts(*c, capacity, out_counts, "counts");
      *groups = karpos::compiled::count_by_key(c->exec, k.view, to_keys.view, counts.view);
      to_keys.write_back(*groups);
      counts.write_back(*groups);
    });
  });
}

karpos_status karpos_join_create(karpos_context handle, karpos_type key, karpos_join_kind kind,
                                 std::uint64_t left_rows, void const* left_keys,
                                 std::uint64_t right_rows, void const* right_keys,
                                 karpos_join* to) {
  return guarded("karpos_join_create", [&] {
    auto const c = context_of(handle);
    with_key(key, [&]<class Key>(Key) {
      make_object(to, [&] {
        return std::make_shared<join_of<bits<Key>>>(c, static_cast<karpos::join_kind>(kind),
                                                    left_rows, left_keys, right_rows, right_keys);
      });
    });
  });
}
karpos_status karpos_join_size(karpos_join handle, std::uint64_t* rows) {
  return guarded("karpos_join_size", [&] {
    require_pointer(rows, "the variable for the size");
    *rows = object_of<join>(handle, "join")->size();
  });
}
karpos_status karpos_join_write(karpos_join handle, std::uint64_t capacity, std::uint64_t* left,
                                std::uint64_t* right) {
  return guarded("karpos_join_write",
                 [&] { object_of<join>(handle, "join")->write(capacity, left, right); });
}
