// SPDX-License-Identifier: Apache-2.0
/// \file
/// karpos::unordered_map compared with Kokkos::UnorderedMap: both insert, find and erase in kernels
/// of the same run, and both maps are made for as many keys as are inserted. Prints medians in M/s
/// and the ratio; every answer is checked. Arguments: the number of keys (2^26 by default), `host`
/// for the host's execution space, one pair of widths (4+4, 8+8, 16+24) to measure only that.
#include <Kokkos_Core.hpp>
#include <Kokkos_UnorderedMap.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <karpos/hash.hpp>
#include <karpos/unordered_map.hpp>
#include <string>

#include "perf/measure/bench/median.hpp"

namespace {

template <int Words>
struct words_of {
  std::uint64_t w[Words];
  KOKKOS_FUNCTION friend bool operator==(words_of const& a, words_of const& b) {
    bool equal = true;
    for (int i = 0; i < Words; ++i) equal = equal && a.w[i] == b.w[i];
    return equal;
  }
};

/// Returns the i-th object. The objects differ for different i below 2^31.
template <class T>
KOKKOS_FUNCTION T nth(std::uint64_t i) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<T>(static_cast<std::uint32_t>(i) * 0x9e3779b1u);
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<T>(karpos::mix(i));
  } else {
    T t;
    for (std::uint64_t w = 0; w < sizeof(T) / 8; ++w) t.w[w] = karpos::mix(i) + w;
    return t;
  }
}

template <class Map>
struct insert_nth {
  Map map;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    map.insert(nth<typename Map::key_type>(i), nth<typename Map::value_type>(i + 1));
  }
};
/// Looks up key first + i. As the body of a reduction, counts the wrong answers.
template <class Map>
struct find_nth {
  Map map;
  Kokkos::View<typename Map::value_type*, typename Map::execution_space> out;
  std::uint64_t first, in;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const at = map.find(nth<typename Map::key_type>(first + i));
    if (map.valid_at(at))
      out(i) = map.value_at(at);
    else
      out(i) = nth<typename Map::value_type>(~std::uint64_t(0));
  }
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    std::uint64_t const key = first + i;
    wrong += !(out(i) == nth<typename Map::value_type>(key < in ? key + 1 : ~std::uint64_t(0)));
  }
};
template <class Map>
struct erase_nth {
  Map map;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    map.erase(nth<typename Map::key_type>(i));
  }
};

struct rates {
  double insert, hits, misses, const_hits, const_misses, erase, size;
  std::uint64_t wrong = 0;
};

template <class Map>
struct measurement {
  using space = typename Map::execution_space;
  using const_map = typename Map::const_map_type;
  std::uint64_t n;
  Map map{static_cast<typename Map::size_type>(n)};
  Kokkos::View<typename Map::value_type*, space> out{"out", n};
  rates r{};

  auto all() const { return Kokkos::RangePolicy<space, Kokkos::IndexType<std::uint64_t>>(0, n); }
  template <class Prepare, class F>
  double rate(Prepare const& prepare, F const& f, int times = 5) {
    return static_cast<double>(n) / karpos::perf::median_seconds(prepare, f, times) * 1e-6;
  }
  template <class M>
  double measure_find(M const& m, std::uint64_t first) {
    find_nth<M> const f{m, out, first, n};
    double const found = rate([] {}, [&] { Kokkos::parallel_for("find", all(), f); });
    std::uint64_t wrong = 0;
    Kokkos::parallel_reduce("check", all(), f, wrong);
    r.wrong += wrong;
    return found;
  }
  rates run() {
    r.insert = rate([&] { map.clear(); },
                    [&] { Kokkos::parallel_for("insert", all(), insert_nth<Map>{map}); });
    r.wrong += map.size() != n || map.failed_insert();
    r.hits = measure_find(map, 0);
    r.misses = measure_find(map, n);
    r.const_hits = measure_find(const_map(map), 0);
    r.const_misses = measure_find(const_map(map), n);
    r.size = rate(
        [&] {
          Kokkos::parallel_for("insert", Kokkos::RangePolicy<space>(0, 1), insert_nth<Map>{map});
        },
        [&] { r.wrong += map.size() != n; });
    auto const refill = [&] {
      map.clear();
      Kokkos::parallel_for("insert", all(), insert_nth<Map>{map});
    };
    r.erase = rate(
        refill,
        [&] {
          map.begin_erase();
          Kokkos::parallel_for("erase", all(), erase_nth<Map>{map});
          map.end_erase();
        },
        3);
    r.wrong += map.size();
    return r;
  }
};

template <class Map>
rates measure(std::uint64_t n) {
  return measurement<Map>{n}.run();
}

void print(char const* what, double ours, double kokkos) {
  std::printf("  %-22s %10.0f %10.0f  %5.2fx\n", what, ours, kokkos, ours / kokkos);
}
/// Measures both maps and prints the comparison. Returns the number of wrong answers of karpos.
template <class Key, class Value, class Space>
std::uint64_t compare(char const* name, std::uint64_t n) {
  using ours = karpos::unordered_map<Key, Value, Space>;
  using kokkos = Kokkos::UnorderedMap<Key, Value, Space>;
  double bytes = 0;
  {
    kokkos const map(static_cast<std::uint32_t>(n));
    bytes =
        double(map.capacity()) * (sizeof(Key) + sizeof(Value) + 4.125) + 4.0 * map.hash_capacity();
  }
  std::printf(
      "%s bytes, %llu keys on %s; bytes a key: %.1f and %.1f; M/s:  karpos     Kokkos  ratio\n",
      name, static_cast<unsigned long long>(n), Space::name(),
      double(ours::bytes_for(n)) / double(n), bytes / double(n));
  rates const k = measure<kokkos>(n), o = measure<ours>(n);
  print("insert", o.insert, k.insert);
  print("hits", o.hits, k.hits);
  print("misses", o.misses, k.misses);
  print("hits, const map", o.const_hits, k.const_hits);
  print("misses, const map", o.const_misses, k.const_misses);
  print("erase, with begin, end", o.erase, k.erase);
  print("size (keys counted)", o.size, k.size);
  if (o.wrong + k.wrong != 0)
    std::printf("  wrong: karpos %llu, Kokkos %llu\n", static_cast<unsigned long long>(o.wrong),
                static_cast<unsigned long long>(k.wrong));
  std::fflush(stdout);
  return o.wrong;
}

template <class Space>
std::uint64_t compare_all(std::uint64_t n, std::string const& only) {
  std::uint64_t wrong = 0;
  if (only.empty() || only == "4+4")
    wrong += compare<std::uint32_t, std::uint32_t, Space>("4+4", n);
  if (only.empty() || only == "8+8")
    wrong += compare<std::uint64_t, std::uint64_t, Space>("8+8", n);
  if (only.empty() || only == "16+24")
    wrong += compare<words_of<2>, words_of<3>, Space>("16+24", n);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::uint64_t n = std::uint64_t(1) << 26;
  std::string only;
  bool host = false;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "host")
      host = true;
    else if (word.find('+') != std::string::npos)
      only = word;
    else
      n = std::strtoull(word.c_str(), nullptr, 10);
  }
  using device = KARPOS_DRIVER_SPACE;
  if (host) return compare_all<Kokkos::DefaultHostExecutionSpace>(n, only) == 0 ? 0 : 1;
  return compare_all<device>(n, only) == 0 ? 0 : 1;
}
