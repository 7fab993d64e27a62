// SPDX-License-Identifier: Apache-2.0
/// \file
/// The main function of every test executable: doctest, inside a Kokkos scope unless the test is
/// host-only.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#ifndef KARPOS_TEST_HOST_ONLY
#include <Kokkos_Core.hpp>
#endif

int main(int argc, char** argv) {
#ifndef KARPOS_TEST_HOST_ONLY
  Kokkos::ScopeGuard const kokkos(argc, argv);
#endif
  return doctest::Context(argc, argv).run();
}
