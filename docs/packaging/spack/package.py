# SPDX-License-Identifier: Apache-2.0
"""Spack recipe. Put this folder into a repository of yours as packages/karpos/package.py."""

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Karpos(CMakePackage, CudaPackage):
    """Irregular parallel algorithms on Kokkos: hash maps, joins, aggregation, graph traversal and
    ranked queries, written once and fast on every backend."""

    # No release has an address yet: build from a checkout, "spack dev-build karpos@0.1.0 +openmp".
    version("0.1.0")

    license("Apache-2.0")

    variant("serial", default=False, description="Require Kokkos' Serial execution space")
    variant("openmp", default=True, description="Require Kokkos' OpenMP execution space")
    variant("threads", default=False, description="Require Kokkos' Threads execution space")
    variant("contracts", default=False, description="Check preconditions inside kernels")
    variant("mpi", default=False, description="Several ranks: karpos::distributed")
    variant("compiled", default=False, description="The library karpos::compiled, with a C interface")
    variant("driver", default=False, description="Build the command karpos and the benchmarks")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    generator("ninja")

    depends_on("kokkos@4.6:5")
    for backend in ("serial", "openmp", "threads"):
        depends_on(f"kokkos+{backend}", when=f"+{backend}")
    conflicts("+openmp", when="+threads", msg="Kokkos has one of them")
    depends_on("kokkos+cuda+wrapper", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    depends_on("mpi", when="+mpi")
    conflicts("^kokkos@:4.6 ^cuda@13:", msg="Kokkos before 4.7 does not compile with CUDA 13")

    with when("+driver"):
        depends_on("benchmark")
        depends_on("cli11")
        depends_on("nlohmann-json")

    with default_args(type="test"):
        depends_on("doctest")
        depends_on("python@3.8:")

    def cmake_args(self):
        args = [
            self.define_from_variant("KARPOS_CONTRACTS", "contracts"),
            self.define_from_variant("KARPOS_ENABLE_DISTRIBUTED", "mpi"),
            self.define_from_variant("KARPOS_ENABLE_COMPILED", "compiled"),
            self.define_from_variant("KARPOS_ENABLE_PERF", "driver"),
            self.define("KARPOS_ENABLE_TESTS", self.run_tests),
            self.define("KARPOS_ENABLE_EXAMPLES", False),
            self.define("KARPOS_ENABLE_NATIVE", False),
            self.define("KARPOS_FETCH_KOKKOS", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        return args
