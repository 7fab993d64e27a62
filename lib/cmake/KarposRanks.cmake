# SPDX-License-Identifier: Apache-2.0
#
# How the tests and examples of this build start ranks on this machine: more than it has cores, each of one thread, also as root.
#
#   karpos_on_ranks(result n)     the beginning of a command line that runs a program on n ranks
#   KARPOS_RANKS_ENVIRONMENT      the environment of such a test

set(KARPOS_RANKS_ENVIRONMENT OMP_PROC_BIND=false OMP_NUM_THREADS=1)
set(karpos_mpiexec_flags "")
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE karpos_mpiexec ERROR_QUIET)
if(karpos_mpiexec MATCHES "Open MPI|OpenRTE|PRRTE")
  set(karpos_mpiexec_flags --oversubscribe --bind-to none)
  # Containers often forbid that one process reads another's memory.
  list(APPEND KARPOS_RANKS_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1 KOKKOS_DISABLE_WARNINGS=1)
endif()

function(karpos_on_ranks result ranks)
  set(${result} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${karpos_mpiexec_flags} PARENT_SCOPE)
endfunction()
