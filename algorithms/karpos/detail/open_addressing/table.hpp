// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/bulk_table.hpp"
#include "karpos/detail/open_addressing/storage.hpp"
#include "karpos/detail/slot.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos::detail::open_addressing {

/// The owner that hash_map and hash_set share.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing, int B,
          bool OneStep =
              device::is_lock_free<sizeof(typename slot_layout<Key, T>::word), ExecSpace>>
class open_addressing_table
    : public bulk_table<
          open_addressing_storage<Key, T, ExecSpace, Hash, KeyEqual, Probing, B, OneStep>> {
  using table =
      bulk_table<open_addressing_storage<Key, T, ExecSpace, Hash, KeyEqual, Probing, B, OneStep>>;

 public:
  using table::table;
  std::uint64_t bucket_count() const { return this->storage().bucket_count(); }
};

}  // namespace karpos::detail::open_addressing
